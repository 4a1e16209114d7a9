//! Encoded keys read back. Nothing here trusts its bytes: damage gives `None` or an error, never a panic.

use std::borrow::Cow;

use super::{
    COMPLEMENT, END, END_NEGATIVE, ESCAPE, FIRST_PAIR, MAX_NUMBER, NEGATIVE, POSITIVE, SHORT, SMALL_DIGITS, STRING,
    UNITS, ZERO, is_clean,
};
use crate::error::{Error, Result};
use crate::number::{Decimal, MIN_EXPONENT, write_integer};

/// The first byte of the negative number with the largest magnitude.
const LOWEST: u8 = super::CHILDREN;
/// The first byte of the positive number with the largest magnitude.
const HIGHEST: u8 = 0xBB;

/// One subscript as it comes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript<'a> {
    /// A number.
    Number(Decimal),
    /// A string.
    Text(Cow<'a, str>),
    /// A string that cannot go back in as text: it is not UTF-8, or it was given as bytes that spell a number.
    Bytes(Cow<'a, [u8]>),
}

/// Splits the first subscript off: its encoded length, and what it is. `None` where there is none or it is damaged.
///
/// ```
/// use caretdb::key::{Subscript, first_subscript};
/// assert_eq!(first_subscript(b"\xC0city\0\xC0x\0"), Some((6, Subscript::Text("city".into()))));
/// ```
#[must_use]
pub fn first_subscript(bytes: &[u8]) -> Option<(usize, Subscript<'_>)> {
    let len = subscript_len(bytes)?;
    let encoded = &bytes[..len];
    if !is_string(encoded) {
        return Some((len, Subscript::Number(decode_number(encoded)?)));
    }
    let subscript = match decode_string(encoded)? {
        Cow::Borrowed(string) => match std::str::from_utf8(string) {
            Ok(text) if Decimal::from_canonical(string).is_none() => Subscript::Text(Cow::Borrowed(text)),
            _ => Subscript::Bytes(Cow::Borrowed(string)),
        },
        // It had an escape, so it holds a control character and spells no number.
        Cow::Owned(string) => match String::from_utf8(string) {
            Ok(text) => Subscript::Text(Cow::Owned(text)),
            Err(not_text) => Subscript::Bytes(Cow::Owned(not_text.into_bytes())),
        },
    };
    Some((len, subscript))
}

/// The length of the first encoded subscript; `None` where there is none or it has no end.
#[must_use]
pub fn subscript_len(bytes: &[u8]) -> Option<usize> {
    let (tag, rest) = bytes.split_first()?;
    let last = match *tag {
        ZERO => return Some(1),
        STRING | POSITIVE..=HIGHEST => END,
        LOWEST..=NEGATIVE => END_NEGATIVE,
        _ => return None,
    };
    Some(find(last, rest)? + 2)
}

/// Appends one encoded subscript as text: the canonical spelling of a number, or the bytes of a string.
///
/// # Errors
/// [`Error::Internal`] where `encoded` is not exactly one subscript.
///
/// ```
/// let mut text = Vec::new();
/// caretdb::key::write_text(b"\x8D\x2B\0", &mut text).unwrap();
/// assert_eq!(text, b"42");
/// ```
pub fn write_text(encoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if is_string(encoded) {
        out.extend_from_slice(&decode_string(encoded).ok_or_else(|| damaged(encoded))?);
    } else if let Some(integer) = small_integer(encoded) {
        write_integer(integer, out);
    } else {
        decode_number(encoded).ok_or_else(|| damaged(encoded))?.write_canonical(out);
    }
    Ok(())
}

/// The number that the native face gives for one encoded subscript: `None` for strings, and for numbers above the safe
/// integers or that no double spells.
#[must_use]
pub fn to_number(encoded: &[u8]) -> Option<f64> {
    match small_integer(encoded) {
        #[allow(clippy::cast_precision_loss)] // at most eight digits
        Some(integer) => Some(integer as f64),
        None if is_string(encoded) => None,
        None => decode_number(encoded)?.to_safe_f64(),
    }
}

/// Whether the encoded subscript is a string.
#[must_use]
pub fn is_string(encoded: &[u8]) -> bool {
    encoded.first() == Some(&STRING)
}

/// The global name, without caret, and the encoded subscripts of a key; `None` where it has no name.
///
/// ```
/// assert_eq!(caretdb::key::split(b"Person\0\xC0a\0"), Some(("Person", &b"\xC0a\0"[..])));
/// ```
#[must_use]
pub fn split(key: &[u8]) -> Option<(&str, &[u8])> {
    let end = find(END, key)?;
    let name = std::str::from_utf8(&key[..end]).ok()?;
    (!name.is_empty()).then_some((name, &key[end + 1..]))
}

/// The encoded subscripts, one after the other.
///
/// ```
/// let (_, rest) = caretdb::key::split(b"Person\0\xC0a\0\x60").unwrap();
/// assert_eq!(caretdb::key::subscripts(rest).collect::<Vec<_>>(), [&b"\xC0a\0"[..], b"\x60"]);
/// ```
#[must_use]
pub fn subscripts(encoded: &[u8]) -> Subscripts<'_> {
    Subscripts { rest: encoded }
}

/// Iterator over encoded subscripts, see [`subscripts`]. It stops where something else begins.
#[derive(Clone, Debug)]
pub struct Subscripts<'a> {
    rest: &'a [u8],
}

impl<'a> Subscripts<'a> {
    /// What has not been read: empty at the end of a whole key, else an engine's bytes or damage.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Subscripts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (subscript, rest) = self.rest.split_at(subscript_len(self.rest)?);
        self.rest = rest;
        Some(subscript)
    }
}

/// Where `byte` is first, in bytes that mostly are few.
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let (near, far) = bytes.split_at(bytes.len().min(SHORT));
    near.iter().position(|one| *one == byte).or_else(|| Some(memchr::memchr(byte, far)? + near.len()))
}

fn damaged(encoded: &[u8]) -> Error {
    Error::Internal(format!("a stored key is damaged: {:02x?} is no subscript", &encoded[..encoded.len().min(32)]))
}

/// The bytes of exactly one encoded string.
fn decode_string(encoded: &[u8]) -> Option<Cow<'_, [u8]>> {
    let [STRING, body @ .., END] = encoded else { return None };
    if body.is_empty() {
        return None;
    }
    if is_clean(body) {
        return Some(Cow::Borrowed(body));
    }
    let mut string = Vec::with_capacity(body.len());
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        string.push(match *byte {
            END => return None,
            ESCAPE => match bytes.next() {
                Some(escaped @ 1..=2) => escaped - 1,
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(Cow::Owned(string))
}

/// Exactly one encoded number.
fn decode_number(encoded: &[u8]) -> Option<Decimal> {
    let (tag, body) = encoded.split_first()?;
    let (negative, exponent) = match *tag {
        ZERO => return body.is_empty().then_some(Decimal::ZERO),
        POSITIVE..=HIGHEST => (false, tag - POSITIVE),
        LOWEST..=NEGATIVE => (true, NEGATIVE - tag),
        _ => return None,
    };
    let (end, pairs) = body.split_last()?;
    if *end != if negative { END_NEGATIVE } else { END } || pairs.len() > MAX_NUMBER - 2 {
        return None;
    }
    let mut digits = 0;
    let mut worth = FIRST_PAIR;
    let mut pair = 0;
    for byte in pairs {
        pair = if negative { COMPLEMENT.checked_sub(*byte)? } else { byte.checked_sub(1)? };
        if pair > 99 {
            return None;
        }
        digits += u64::from(pair) * worth;
        worth /= 100;
    }
    // A number has one encoding only: it does not begin with a zero, nor end in a pair of them.
    if pair == 0 {
        return None;
    }
    Decimal::from_parts(negative, i16::from(exponent) + MIN_EXPONENT, digits)
}

/// The number, where it is a whole one of up to eight digits: most subscripts are, and these need no general arithmetic.
fn small_integer(encoded: &[u8]) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation)] // 8
    const HIGHEST_SMALL: u8 = UNITS + SMALL_DIGITS as u8 - 1;
    let [tag @ UNITS..=HIGHEST_SMALL, pairs @ .., END] = encoded else { return None };
    // It has one spelling only: neither the first digit nor the last pair is zero.
    if pairs.len() > SMALL_DIGITS / 2 || pairs.first().is_none_or(|first| *first < 11) || pairs.last() == Some(&1) {
        return None;
    }
    let mut value = 0;
    for byte in pairs {
        value = value * 100 + u64::from(byte.checked_sub(1).filter(|pair| *pair < 100)?);
    }
    let (digits, given) = (usize::from(tag - UNITS) + 1, pairs.len() * 2);
    match digits.checked_sub(given) {
        #[allow(clippy::cast_possible_truncation)] // up to 8
        Some(zeros) => Some(value * 10_u64.pow(zeros as u32)),
        // The last digit only fills its pair.
        None if digits + 1 == given && value.is_multiple_of(10) => Some(value / 10),
        None => None,
    }
}
