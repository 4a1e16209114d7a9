//! Names of members and indexes of elements <-> subscripts.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::key::{self, Key};

/// Stands before the names that would be no subscript, or another one, without it: `""`, and those that begin with it.
const ESCAPE: u8 = 0x1B;
/// Up to this many digits an index is padded with zeros to exactly as many.
const PADDED: usize = 6;
/// The least index that has a letter, which says how many digits it has: `a` for seven, `b` for eight, and so on.
const LETTERED: u64 = 1_000_000;
/// An index has at most this many digits, so that it is a `u64`.
const LONGEST: usize = 19;

/// What a subscript looks like in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The name of an object's member.
    Name,
    /// An index of an array's element, `[000000]`.
    Element(u64),
    /// `[]`, which stands for an empty array.
    Empty,
}

/// Appends the subscript of an object's member.
///
/// # Errors
/// [`Error::KeyTooLong`], and the key stays as it was.
///
/// ```
/// use caretdb::{document, key::Key};
/// let mut key = Key::new();
/// document::member(&mut key, "city").unwrap();
/// document::member(&mut key, "").unwrap();
/// document::element(&mut key, 1).unwrap();
/// assert_eq!(key.as_bytes(), b"\xC0city\0\xC0\x1B\0\xC0[000001]\0");
/// ```
pub fn member(key: &mut Key, name: &str) -> Result<()> {
    match name.as_bytes().first() {
        None | Some(&ESCAPE) => {
            let mut escaped = Vec::with_capacity(1 + name.len());
            escaped.push(ESCAPE);
            escaped.extend_from_slice(name.as_bytes());
            key.raw(&escaped)
        }
        Some(_) => key.text(name),
    }
}

/// Appends the subscript of an array's element.
///
/// # Errors
/// [`Error::KeyTooLong`], and the key stays as it was.
pub fn element(key: &mut Key, index: u64) -> Result<()> {
    if index >= LETTERED {
        let digits = index.to_string();
        let letter = char::from(b'a'.wrapping_add(u8::try_from(digits.len() - PADDED - 1).unwrap_or(0)));
        return key.raw(format!("[{letter}{digits}]").as_bytes());
    }
    let mut subscript = *b"[000000]";
    let mut rest = index;
    for digit in subscript[1..=PADDED].iter_mut().rev() {
        #[allow(clippy::cast_possible_truncation)] // below 10
        let ones = (rest % 10) as u8;
        *digit += ones;
        rest /= 10;
    }
    key.raw(&subscript)
}

/// What a subscript given as text looks like. glsdb writes an index of seven and more digits without a letter.
#[must_use]
#[inline]
pub fn form(subscript: &[u8]) -> Form {
    let [b'[', inside @ .., b']'] = subscript else { return Form::Name };
    let digits = match inside {
        [] => return Form::Empty,
        [letter @ b'a'..=b'm', digits @ ..] if digits.len() == usize::from(letter - b'a') + PADDED + 1 => digits,
        digits => digits,
    };
    let padded = digits.len() == PADDED && digits.len() == inside.len();
    let whole = digits.len() > PADDED && digits.len() <= LONGEST && digits[0] != b'0';
    if !(padded || whole) || !digits.iter().all(u8::is_ascii_digit) {
        return Form::Name;
    }
    Form::Element(digits.iter().fold(0, |index, digit| index * 10 + u64::from(digit - b'0')))
}

/// What an encoded subscript looks like.
#[inline]
pub(super) fn encoded_form(encoded: &[u8]) -> Form {
    // An index has no byte that is escaped, so its text is what stands between the first byte and the last.
    match encoded {
        [_, inside @ .., _] if key::is_string(encoded) => form(inside),
        _ => Form::Name,
    }
}

/// The name of the member with this encoded subscript.
///
/// # Errors
/// [`Error::BadKey`] where it is not UTF-8; [`Error::Internal`] where `encoded` is not exactly one subscript.
///
/// ```
/// use caretdb::document::name;
/// assert_eq!(name(b"\xC0\x1B\0").unwrap(), "");
/// assert_eq!(name(b"\x8D\x2B\0").unwrap(), "42");
/// ```
pub fn name(encoded: &[u8]) -> Result<Cow<'_, str>> {
    let mut text = Vec::new();
    key::write_text(encoded, &mut text)?;
    if let [ESCAPE] | [ESCAPE, ESCAPE, ..] = text[..] {
        text.remove(0);
    }
    String::from_utf8(text).map(Cow::Owned).map_err(|not_text| {
        let shown: String = not_text.as_bytes().iter().take(32).map(|byte| format!("{byte:02x}")).collect();
        Error::BadKey(format!(
            "the subscript of the bytes {shown} is not UTF-8, so no JSON document can name it: read this node with get"
        ))
    })
}
