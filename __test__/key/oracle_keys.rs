//! Subscripts and arithmetic, row by row against what a real M engine answers (`__test__/oracle`).

use std::path::Path;

use caretdb::key::{Key, is_string, write_text};
use caretdb::number::{Decimal, increment};
use serde_json::Value as Json;

fn rows(file: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("__test__/oracle").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn field<'a>(row: &'a Json, name: &str) -> &'a str {
    row[name].as_str().unwrap()
}

fn encoded(subscript: &str) -> Vec<u8> {
    let mut key = Key::new();
    key.text(subscript).unwrap();
    key.as_bytes().to_vec()
}

fn spelt(number: &Decimal) -> String {
    let mut text = Vec::new();
    number.write_canonical(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn subscripts_collate_and_come_back_as_in_m() {
    let rows = rows("collation.json");
    assert_eq!(rows.len(), 490);
    let mut before: Vec<u8> = Vec::new();
    for row in &rows {
        let bytes = encoded(field(row, "in"));
        assert!(before < bytes, "{row} is not above its predecessor: {before:02x?}, {bytes:02x?}");
        assert_eq!(!is_string(&bytes), row["canonical"].as_bool().unwrap(), "{row}");
        let mut out = Vec::new();
        write_text(&bytes, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), field(row, "out"), "{row}");
        before = bytes;
    }
}

#[test]
fn text_counts_as_the_number_m_sees_in_it() {
    let rows = rows("increment.json");
    assert!(rows.len() > 400);
    for row in &rows {
        let value = field(row, "value");
        assert_eq!(spelt(&Decimal::from_text_prefix(value).unwrap()), field(row, "numeric"), "{row}");
        assert_eq!(spelt(&increment(value.as_bytes(), &Decimal::ONE).unwrap()), field(row, "plus1"), "{row}");
    }
}
