//! Values come back as what they were, and damage is an error.

use caretdb::value::{Value, write_text};
use proptest::prelude::*;

fn stored(value: &Value) -> Vec<u8> {
    let mut out = b"what was there before".to_vec();
    value.write(&mut out);
    out
}

fn spelt(value: &Value) -> String {
    let mut out = Vec::new();
    write_text(value, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn each_type_has_its_byte() {
    for (value, bytes, text) in [
        (Value::Text("é"), &b"\x01\xC3\xA9"[..], "é"),
        (Value::Text(""), b"\x01", ""),
        (Value::Bytes(b"ab"), b"\x02ab", "ab"),
        (Value::Number(1.0), b"\x03\0\0\0\0\0\0\xF0\x3F", "1"),
        (Value::Bool(false), b"\x04", "false"),
        (Value::Bool(true), b"\x05", "true"),
        (Value::Null, b"\x06", "null"),
        (Value::EmptyObject, b"\x07", ""),
        (Value::EmptyArray, b"\x08", ""),
        (Value::Object, b"\x09", ""),
    ] {
        assert_eq!(stored(&value), bytes);
        assert_eq!(Value::read(bytes).unwrap(), value);
        assert_eq!(spelt(&value), text);
    }
}

#[test]
fn numbers_are_spelt_as_javascript_spells_them() {
    for (n, text) in [
        (0.5, "0.5"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (123_456_789_012_345_680_000.0, "123456789012345680000"),
        (5e-324, "5e-324"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(spelt(&Value::Number(n)), text);
    }
}

#[test]
fn negative_zero_and_the_bits_of_a_number_stay() {
    for n in [-0.0, f64::NAN, f64::MIN_POSITIVE / 3.0, f64::MAX] {
        let bytes = stored(&Value::Number(n));
        let Value::Number(back) = Value::read(&bytes).unwrap() else { panic!("{n} is no number any more") };
        assert_eq!(back.to_bits(), n.to_bits());
    }
}

#[test]
fn what_is_no_value_is_an_error() {
    for bytes in [&b""[..], b"\x00", b"\x01\xFF", b"\x03\0\0", b"\x04x", b"\x09\0", b"\x0A", b"\xFE", b"\xFF1"] {
        assert_eq!(Value::read(bytes).unwrap_err().code(), "ERR_INTERNAL", "{bytes:02x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strings_and_bytes_come_back(text in ".*", bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let as_text = stored(&Value::Text(&text));
        prop_assert_eq!(Value::read(&as_text).unwrap(), Value::Text(&text));
        let as_bytes = stored(&Value::Bytes(&bytes));
        prop_assert_eq!(Value::read(&as_bytes).unwrap(), Value::Bytes(&bytes));
    }

    #[test]
    fn what_is_read_is_written_the_same(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        if let Ok(value) = Value::read(&bytes) {
            prop_assert_eq!(stored(&value), bytes);
        }
    }
}
