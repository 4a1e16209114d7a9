//! What must hold for any bytes at all, of keys, values and documents. The fuzzer looks for bytes for which it does not; a
//! test runs these on the corpus.
#![allow(dead_code, reason = "each fuzz target uses one of these")]

use std::cell::RefCell;

use caretdb::document::Found;
use caretdb::engine::{Durability, Options};
use caretdb::key::{Key, Subscript, first_subscript, split, subscript_len, subscripts, to_number, write_text};
use caretdb::number::{Decimal, increment};
use caretdb::store::{Connection, Store};
use caretdb::value::{self, Value};

/// Bytes read as a key give the same bytes when what was read is written; text written as a subscript reads as that text.
pub fn keys(data: &[u8]) {
    if let Some((name, rest)) = split(data) {
        let mut key = Key::new();
        if key.global(name).is_ok() {
            read_key(key, rest);
        }
    }
    text_subscript(data);
    if let Some(bits) = data.first_chunk() {
        number_subscript(f64::from_le_bytes(*bits));
    }
    let (left, right) = data.split_at(data.len() / 2);
    order(left, right);
}

fn read_key(mut key: Key, rest: &[u8]) {
    let before = key.len();
    let mut read = subscripts(rest);
    for encoded in read.by_ref() {
        assert_eq!(subscript_len(encoded), Some(encoded.len()));
        let mut text = Vec::new();
        let is_whole = write_text(encoded, &mut text).is_ok();
        let Some((length, subscript)) = first_subscript(encoded) else { continue };
        assert!(is_whole && length == encoded.len());
        key.truncate(before);
        let written = match &subscript {
            Subscript::Number(number) => key.decimal(number),
            Subscript::Text(text) => key.text(text),
            Subscript::Bytes(bytes) => key.raw(bytes),
        };
        if written.is_ok() {
            assert_eq!(&key.as_bytes()[before..], encoded, "{subscript:?}");
        }
    }
    assert!(rest.ends_with(read.rest()));
}

fn text_subscript(text: &[u8]) {
    let mut key = Key::new();
    if key.text_bytes(text).is_ok() {
        let mut again = Vec::new();
        write_text(key.as_bytes(), &mut again).unwrap();
        assert_eq!(again, text);
        assert_eq!(subscript_len(key.as_bytes()), Some(key.len()));
    }
}

fn number_subscript(number: f64) {
    let mut key = Key::new();
    if key.number(number).is_ok() {
        let again = to_number(key.as_bytes());
        if number.abs() <= 9_007_199_254_740_991.0 {
            assert_eq!(again, Some(number));
        }
    }
}

/// Two encoded subscripts are in the order of what they are: numbers by value before strings by bytes.
fn order(left: &[u8], right: &[u8]) {
    let encode = |text: &[u8]| {
        let mut key = Key::new();
        key.text_bytes(text).ok().map(|()| key.as_bytes().to_vec())
    };
    let (Some(first), Some(second)) = (encode(left), encode(right)) else { return };
    let as_number = |text: &[u8]| Decimal::from_canonical(text).map(|number| number.to_f64());
    match (as_number(left), as_number(right)) {
        (Some(a), Some(b)) if a != b => assert_eq!(first < second, a < b),
        (Some(_), None) => assert!(first < second),
        (None, Some(_)) => assert!(first > second),
        (None, None) => assert_eq!(first.cmp(&second), left.cmp(right)),
        (Some(_), Some(_)) => {}
    }
}

/// Bytes read as a stored value give the same bytes when it is written, and have a text and a number.
pub fn values(data: &[u8]) {
    if let Ok(read) = Value::read(data) {
        let mut stored = Vec::new();
        read.write(&mut stored);
        assert_eq!(stored, data);
        value::write_text(&read, &mut stored);
    }
    let Ok(amount) = Decimal::from_text_prefix(data) else { return };
    let mut spelt = Vec::new();
    amount.write_canonical(&mut spelt);
    assert_eq!(Decimal::from_canonical(&spelt), Some(amount), "{}", String::from_utf8_lossy(&spelt));
    let (left, right) = data.split_at(data.len() / 2);
    if let Ok(by) = Decimal::from_text_prefix(right) {
        let _ = increment(left, &by);
    }
}

/// A document is refused where it is no JSON, and otherwise comes back equal to it.
pub fn documents(data: &[u8]) {
    thread_local! {
        static DATABASE: RefCell<(Connection, tempfile::TempDir)> = RefCell::new(database());
    }
    let Ok(json) = std::str::from_utf8(data) else { return };
    DATABASE.with_borrow_mut(|(connection, _)| {
        let mut node = Key::new();
        node.global("fuzz").unwrap();
        let stored = connection.set_document(node.as_bytes(), json);
        // serde_json's own reader stops at 128 levels; what is deeper is left to other tests.
        let expected = serde_json::from_str::<serde_json::Value>(json);
        if stored.is_err() {
            return;
        }
        let mut text = Vec::new();
        assert_eq!(connection.document(node.as_bytes(), &mut text).unwrap(), Found::Json);
        match expected {
            Ok(expected) => {
                let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
                assert_eq!(as_doubles(read), as_doubles(expected), "{json}");
            }
            Err(error) => assert!(error.to_string().contains("recursion limit"), "{json} was taken: {error}"),
        }
    });
}

fn database() -> (Connection, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Some(Durability::Process), ..Options::default() };
    (Store::open(Some(folder.path()), &options).unwrap().connect(false).unwrap(), folder)
}

/// JavaScript has one kind of number.
fn as_doubles(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::Number(number) => number.as_f64().map_or(Json::Number(number), Json::from),
        Json::Array(members) => members.into_iter().map(as_doubles).collect(),
        Json::Object(members) => members.into_iter().map(|(name, member)| (name, as_doubles(member))).collect(),
        other => other,
    }
}
