//! Entries: the nodes `^%caretdb("entry", <index>, <kind>, <value>, <child>)`, whose order is that of the values, then of the
//! children. A kind that has one value only has no subscript for it.

use super::{Error, Result, Value};
use crate::key::{self, Key};

/// The kinds of values, in their order.
const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
const EMPTY_TEXT: u8 = 5;
const TEXT: u8 = 6;
const EMPTY_BYTES: u8 = 7;
const BYTES: u8 = 8;

/// The key of an entry. Entries of one index are in the order of their keys.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    key: Vec<u8>,
    /// Where the child begins in it.
    child: usize,
}

impl Entry {
    pub fn new(key: Vec<u8>, child: usize) -> Entry {
        Entry { key, child }
    }

    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// What all entries with the same value begin with.
    pub fn value(&self) -> &[u8] {
        &self.key[..self.child]
    }

    /// The encoded subscript of the child.
    pub fn child(&self) -> &[u8] {
        &self.key[self.child..]
    }
}

/// What the keys of the entries with a stored value begin with; none for a value that no index holds.
///
/// # Errors
/// [`Error::TooLarge`] where it is longer than a key may be.
pub fn begin(entries: &[u8], stored: &[u8]) -> Result<Option<Vec<u8>>> {
    let (kind, payload): (u8, &[u8]) = match Value::read(stored)? {
        Value::Null => (NULL, b""),
        Value::Bool(false) => (FALSE, b""),
        Value::Bool(true) => (TRUE, b""),
        Value::Number(n) => (NUMBER, &ordered(n)),
        Value::Text("") => (EMPTY_TEXT, b""),
        Value::Text(text) => (TEXT, text.as_bytes()),
        Value::Bytes(b"") => (EMPTY_BYTES, b""),
        Value::Bytes(bytes) => (BYTES, bytes),
        Value::EmptyObject | Value::EmptyArray | Value::Object => return Ok(None),
    };
    key_of(entries, kind, payload).map(Some)
}

/// What the keys of the entries begin with whose value is a string that begins with `prefix`.
///
/// # Errors
/// As [`begin`].
pub fn begin_text(entries: &[u8], prefix: &str) -> Result<Vec<u8>> {
    let mut key = key_of(entries, TEXT, prefix.as_bytes())?;
    // Without its terminator it is what all longer strings begin with.
    key.pop();
    Ok(key)
}

/// The encoded subscript of the child in an entry, of which `below` is what follows the index.
pub fn child_in(below: &[u8]) -> Option<&[u8]> {
    let kind = key::subscript_len(below)?;
    #[allow(clippy::float_cmp)] // small integers
    let has_value = [NUMBER, TEXT, BYTES].iter().any(|one| key::to_number(&below[..kind]) == Some(f64::from(*one)));
    let value = if has_value { key::subscript_len(&below[kind..])? } else { 0 };
    Some(&below[kind + value..])
}

fn key_of(entries: &[u8], kind: u8, payload: &[u8]) -> Result<Vec<u8>> {
    let mut key = Key::new();
    key.copy_from(entries);
    key.number(f64::from(kind))?;
    if !payload.is_empty() {
        key.raw(payload).map_err(|error| match error {
            Error::KeyTooLong(bytes) => Error::TooLarge(format!(
                "a value that takes {bytes} bytes in an index is too long for it: {} is the most",
                key::MAX_KEY
            )),
            other => other,
        })?;
    }
    Ok(key.as_bytes().to_vec())
}

/// Bytes whose order is that of the numbers. -0 is 0, as JavaScript's `===` has it; what is no number comes last.
fn ordered(n: f64) -> [u8; 8] {
    const SIGN: u64 = 1 << 63;
    let n = if n == 0.0 { 0.0 } else { n };
    let bits = if n.is_nan() { f64::NAN.to_bits() & !SIGN } else { n.to_bits() };
    (if bits & SIGN == 0 { bits | SIGN } else { !bits }).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_order_of_their_values_and_give_their_child_back() {
        let long = "z".repeat(300);
        let values = [
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Number(f64::NEG_INFINITY),
            Value::Number(-1e300),
            Value::Number(-2.0),
            Value::Number(-1.5),
            Value::Number(-5e-324),
            Value::Number(0.0),
            Value::Number(5e-324),
            Value::Number(1.0),
            Value::Number(1e300),
            Value::Number(f64::INFINITY),
            Value::Number(f64::NAN),
            Value::Text(""),
            Value::Text("\0"),
            Value::Text("\0\0"),
            Value::Text("\0\u{1}"),
            Value::Text("\u{1}"),
            Value::Text("10"),
            Value::Text("9"),
            Value::Text("a"),
            Value::Text("a\0"),
            Value::Text("aa"),
            Value::Text(&long),
            Value::Bytes(b""),
            Value::Bytes(b"\0"),
            Value::Bytes(b"\xFF"),
        ];
        let children = [&b"\x60"[..], b"\x8D\x2B\0", b"\xC0a\0"];
        let mut last = Vec::new();
        for value in values {
            let mut stored = Vec::new();
            value.write(&mut stored);
            for child in children {
                let mut key = begin(b"x", &stored).unwrap().unwrap();
                key.extend_from_slice(child);
                assert!(last < key, "{value:?}");
                assert_eq!(child_in(&key[1..]), Some(child), "{value:?}");
                last = key;
            }
        }
    }

    #[test]
    fn negative_zero_is_zero() {
        assert_eq!(ordered(-0.0), ordered(0.0));
        assert_eq!(ordered(f64::NAN), ordered(-f64::NAN));
    }
}
