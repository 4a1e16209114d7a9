//! JSON text of scalars.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::bytes_name;
use crate::error::Result;
use crate::number::write_integer;
use crate::value::Value;

/// The largest integer up to which every integer is a double of its own.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Appends the JSON of a stored value and says whether it was bytes.
#[inline]
pub fn write_stored(stored: &[u8], json: &mut Vec<u8>) -> Result<bool> {
    match Value::read(stored)? {
        Value::Text(text) => write_string(text, json),
        Value::Number(n) => write_number(n, json),
        Value::Bool(true) => json.extend_from_slice(b"true"),
        Value::Bool(false) => json.extend_from_slice(b"false"),
        Value::Null => json.extend_from_slice(b"null"),
        // A mark on a node without children: they have been deleted since.
        Value::EmptyObject | Value::Object => json.extend_from_slice(b"{}"),
        Value::EmptyArray => json.extend_from_slice(b"[]"),
        Value::Bytes(bytes) => {
            json.push(b'{');
            write_string(bytes_name(), json);
            json.push(b':');
            write_string(&STANDARD.encode(bytes), json);
            json.push(b'}');
            return Ok(true);
        }
    }
    Ok(false)
}

/// The bytes whose base64 form this is.
pub fn read_base64(text: &str, bytes: &mut Vec<u8>) -> bool {
    STANDARD.decode_vec(text, bytes).is_ok()
}

/// Appends a number as JavaScript spells it, -0 as `-0`, so that it reads back as the same double.
fn write_number(n: f64, json: &mut Vec<u8>) {
    if n.abs() <= MAX_SAFE_INTEGER && n.trunc() == n {
        if n.is_sign_negative() {
            json.push(b'-');
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an integer within 53 bits
        write_integer(n.abs() as u64, json);
    } else if n.is_finite() {
        json.extend_from_slice(ryu_js::Buffer::new().format_finite(n).as_bytes());
    } else {
        // As JSON.stringify does: JSON has no other word for it.
        json.extend_from_slice(b"null");
    }
}

/// Appends a string with its quotes.
#[inline]
pub fn write_string(text: &str, json: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    json.reserve(rest.len() + 2);
    json.push(b'"');
    loop {
        let clean = clean_len(rest);
        json.extend_from_slice(&rest[..clean]);
        let Some(byte) = rest.get(clean) else { break };
        write_escape(*byte, json);
        rest = &rest[clean + 1..];
    }
    json.push(b'"');
}

/// How many bytes at the start need no escape in a JSON string.
#[inline]
pub fn clean_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // The highest bit of each byte that is below 0x20, or that is zero; a borrow only reaches bytes after a hit.
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let hits = (control | quote | backslash) & HIGHS;
        if hits != 0 {
            return at * 8 + (hits.trailing_zeros() / 8) as usize;
        }
    }
    let stop = rest.iter().position(|byte| matches!(*byte, 0..0x20 | b'"' | b'\\'));
    bytes.len() - rest.len() + stop.unwrap_or(rest.len())
}

#[cold]
fn write_escape(byte: u8, json: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        b'"' | b'\\' => byte,
        _ => {
            let digit = |four_bits: u8| HEX[usize::from(four_bits & 15)];
            json.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            return;
        }
    };
    json.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_needs_an_escape_is_found_at_every_place() {
        for byte in 0..=0xFF_u8 {
            let escaped = matches!(byte, 0..0x20 | b'"' | b'\\');
            for length in 1..20 {
                for at in 0..length {
                    let mut bytes = vec![0xFF; length];
                    bytes[at] = byte;
                    assert_eq!(clean_len(&bytes), if escaped { at } else { length }, "{byte:#04x} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn numbers_read_back_as_the_same_double() {
        for (n, spelt) in [
            (-0.0, "-0"),
            (0.0, "0"),
            (-17.0, "-17"),
            (0.1, "0.1"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (1e21, "1e+21"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            let mut json = Vec::new();
            write_number(n, &mut json);
            assert_eq!(std::str::from_utf8(&json).unwrap(), spelt);
        }
    }
}
