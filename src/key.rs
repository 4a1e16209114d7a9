//! Keys: a global name and subscripts as bytes whose plain order is M's order. `docs/keys.md` shows each byte.
//!
//! A node comes before its children, numbers come before strings, and every subscript ends itself, so the keys of a
//! node's subtree are exactly those that begin with the node's key.

mod read;

pub use read::{
    Subscript, Subscripts, first_subscript, is_string, split, subscript_len, subscripts, to_number, write_text,
};

use crate::error::{Error, Result};
use crate::number::{Decimal, MIN_EXPONENT};

/// The longest key in bytes that every engine must hold.
pub const MAX_KEY: usize = 1019;
/// The longest global name in characters.
pub const MAX_NAME: usize = 255;
/// Node key + this byte is at or below every child of the node, and above what engines keep under the node (0x01…0x04).
pub const CHILDREN: u8 = 0x05;

/// First byte of the number zero, which has no other byte.
const ZERO: u8 = 0x60;
/// First byte of a positive number with exponent -43; each larger exponent is one more.
const POSITIVE: u8 = 0x61;
/// First byte of a negative number with exponent -43; each larger exponent is one less.
const NEGATIVE: u8 = 0x5F;
/// First byte of a string.
const STRING: u8 = 0xC0;
/// Ends a name, a positive number and a string.
const END: u8 = 0x00;
/// Ends a negative number: the one with fewer digits is the larger one.
const END_NEGATIVE: u8 = 0xFF;
/// Before an escaped byte of a string, which is then one more than it was.
const ESCAPE: u8 = 0x01;
/// What the pairs of digits of a negative number are subtracted from.
const COMPLEMENT: u8 = 0xFE;
/// 10^16: what the first two of 18 digits are worth.
const FIRST_PAIR: u64 = 10_000_000_000_000_000;
/// Up to this many bytes a plain loop finds a byte sooner than vector instructions do.
const SHORT: usize = 16;
/// Whole numbers of up to this many digits need no general arithmetic; most subscripts are among them.
const SMALL_DIGITS: usize = 8;
/// The largest of them.
const SMALL: u32 = 99_999_999;
/// First byte of the numbers from 1 up to 10.
#[allow(clippy::cast_possible_truncation)] // 43
const UNITS: u8 = POSITIVE + MIN_EXPONENT.unsigned_abs() as u8;
/// First byte, nine pairs of digits, terminator.
const MAX_NUMBER: usize = 11;

/// A key being built. One that is reused does not allocate.
///
/// ```
/// use caretdb::key::Key;
/// let mut key = Key::new();
/// key.global("^Person").unwrap();
/// key.number(1.0).unwrap();
/// key.text("city").unwrap();
/// assert_eq!(key.as_bytes(), b"Person\0\x8C\x0B\0\xC0city\0");
/// ```
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct Key {
    bytes: Vec<u8>,
}

impl Key {
    /// An empty key: call [`Key::global`] first.
    #[must_use]
    pub fn new() -> Key {
        Key::default()
    }

    /// Empties the key and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Starts the key of the global `name` anew; one leading `^` is dropped.
    ///
    /// # Errors
    /// [`Error::BadName`], and the key stays as it was.
    pub fn global(&mut self, name: &str) -> Result<()> {
        let bare = name.strip_prefix('^').unwrap_or(name);
        if !is_name(bare.as_bytes()) {
            return Err(Error::BadName(name.chars().take(MAX_NAME + 1).collect()));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bare.as_bytes());
        self.bytes.push(END);
        Ok(())
    }

    /// Appends a subscript given as text: the spelling that M gives a number is that number, all else is a string.
    ///
    /// # Errors
    /// [`Error::BadKey`] for the empty string, [`Error::KeyTooLong`]; the key stays as it was.
    pub fn text(&mut self, s: &str) -> Result<()> {
        self.text_bytes(s.as_bytes())
    }

    /// [`Key::text`] for text in any charset: bytes that spell a number are that number.
    ///
    /// # Errors
    /// As [`Key::text`].
    pub fn text_bytes(&mut self, text: &[u8]) -> Result<()> {
        match text.first() {
            Some(b'1'..=b'9') if text.len() <= SMALL_DIGITS && text.iter().all(u8::is_ascii_digit) => {
                self.small(text.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
            }
            Some(b'0'..=b'9' | b'-' | b'.') => match Decimal::from_canonical(text) {
                Some(number) => self.decimal(&number),
                None => self.raw(text),
            },
            _ => self.raw(text),
        }
    }

    /// Appends a JavaScript number, as the shortest decimal that reads back as the same double.
    ///
    /// # Errors
    /// [`Error::BadKey`] for NaN, infinities and magnitudes outside 1E-43 to 1E47, [`Error::KeyTooLong`]; the key stays
    /// as it was.
    pub fn number(&mut self, n: f64) -> Result<()> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // compared with what it was
        let small = n as u32;
        if (1..=SMALL).contains(&small) && f64::from(small) == n {
            return self.small(small);
        }
        match Decimal::from_f64(n) {
            Ok(number) => self.decimal(&number),
            Err(_) => Err(Error::BadKey(format!(
                "{} cannot be a subscript: use a finite number from 1E-43 to 1E47, or a string",
                ryu_js::Buffer::new().format(n)
            ))),
        }
    }

    /// Appends a decimal number.
    ///
    /// # Errors
    /// [`Error::KeyTooLong`], and the key stays as it was.
    pub fn decimal(&mut self, number: &Decimal) -> Result<()> {
        let mut encoded = [0; MAX_NUMBER];
        let len = encode_number(number, &mut encoded);
        self.push_number(&encoded, len)
    }

    /// Appends a whole number from 1 to [`SMALL`].
    fn small(&mut self, number: u32) -> Result<()> {
        let mut encoded = [0; MAX_NUMBER];
        let len = encode_small(number, &mut encoded);
        self.push_number(&encoded, len)
    }

    fn push_number(&mut self, encoded: &[u8; MAX_NUMBER], len: usize) -> Result<()> {
        self.reserve(len)?;
        // A copy of fixed size is two moves; one of `len` bytes would be a call.
        let end = self.bytes.len() + len;
        self.bytes.extend_from_slice(encoded);
        self.bytes.truncate(end);
        Ok(())
    }

    /// Appends bytes as a string subscript, never as a number, whatever they spell.
    ///
    /// # Errors
    /// [`Error::BadKey`] where there are none, [`Error::KeyTooLong`]; the key stays as it was.
    pub fn raw(&mut self, b: &[u8]) -> Result<()> {
        if b.is_empty() {
            return Err(Error::BadKey(
                "the empty string is no subscript: it only starts and ends next and previous".into(),
            ));
        }
        let clean = is_clean(b);
        let escapes = if clean { 0 } else { b.iter().filter(|byte| **byte <= ESCAPE).count() };
        self.reserve(1 + b.len() + escapes + 1)?;
        self.bytes.push(STRING);
        if clean {
            self.bytes.extend_from_slice(b);
        } else {
            for byte in b {
                if *byte <= ESCAPE {
                    self.bytes.extend_from_slice(&[ESCAPE, byte + 1]);
                } else {
                    self.bytes.push(*byte);
                }
            }
        }
        self.bytes.push(END);
        Ok(())
    }

    /// Appends subscripts that are encoded already, as they came out of another key.
    ///
    /// # Errors
    /// [`Error::KeyTooLong`], and the key stays as it was.
    pub fn encoded(&mut self, subscripts: &[u8]) -> Result<()> {
        self.reserve(subscripts.len())?;
        self.bytes.extend_from_slice(subscripts);
        Ok(())
    }

    /// Takes over a whole encoded key.
    pub fn copy_from(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    /// Cuts the key back to `len` bytes, a length it had before.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing has been put into the key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The encoded key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes room for `more` bytes, if the key may grow by them.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let len = self.bytes.len() + more;
        if len > MAX_KEY {
            return Err(Error::KeyTooLong(len));
        }
        self.bytes.reserve(more);
        Ok(())
    }
}

/// Writes to `end` the least bytes that are above the whole subtree of the node with this key; for the empty key, bytes
/// above every global.
///
/// ```
/// use caretdb::key::subtree_end;
/// let mut end = Vec::new();
/// subtree_end(b"Person\0", &mut end);
/// assert_eq!(end, b"Person\x01");
/// ```
pub fn subtree_end(node: &[u8], end: &mut Vec<u8>) {
    end.clear();
    end.extend_from_slice(node);
    while end.pop_if(|last| *last == 0xFF).is_some() {}
    match end.last_mut() {
        Some(last) => *last += 1,
        None => end.push(0xFF),
    }
}

/// Whether `name`, without caret, is `%` or a letter, then letters and digits, with `_`, `.` and `-` inside.
fn is_name(name: &[u8]) -> bool {
    let Some((first, rest)) = name.split_first() else { return false };
    let starts = first.is_ascii_alphabetic() || *first == b'%';
    let goes_on = rest.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    let ends = rest.last().is_none_or(u8::is_ascii_alphanumeric);
    starts && goes_on && ends && name.len() <= MAX_NAME
}

/// Whether a string can be stored as it is. The search that is fast on long strings is slow to start.
fn is_clean(string: &[u8]) -> bool {
    if string.len() < SHORT {
        string.iter().all(|byte| *byte > ESCAPE)
    } else {
        memchr::memchr2(END, ESCAPE, string).is_none()
    }
}

/// [`encode_number`] for a whole number from 1 to [`SMALL`].
fn encode_small(number: u32, out: &mut [u8; MAX_NUMBER]) -> usize {
    let digits = number.ilog10() + 1;
    #[allow(clippy::cast_possible_truncation)] // up to 8
    let tag = UNITS + digits as u8 - 1;
    out[0] = tag;
    // The digits are aligned to the left, in pairs, and pairs of zeros at the end are left out.
    let mut rest = if digits.is_multiple_of(2) { number } else { number * 10 };
    let mut pairs = digits.div_ceil(2) as usize;
    for place in (1..=pairs).rev() {
        #[allow(clippy::cast_possible_truncation)] // below 100
        let pair = (rest % 100) as u8;
        out[place] = pair + 1;
        rest /= 100;
    }
    while out[pairs] == 1 {
        pairs -= 1;
    }
    out[pairs + 1] = END;
    pairs + 2
}

/// Writes the number and says how many bytes it took.
fn encode_number(number: &Decimal, out: &mut [u8; MAX_NUMBER]) -> usize {
    if number.is_zero() {
        out[0] = ZERO;
        return 1;
    }
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)] // 0 to 90, as Decimal guarantees
    let exponent = (number.exponent() - MIN_EXPONENT) as u8;
    out[0] = if number.is_negative() { NEGATIVE - exponent } else { POSITIVE + exponent };
    let mut rest = number.digits();
    let mut len = 1;
    while rest != 0 {
        #[allow(clippy::cast_possible_truncation)] // below 100
        let pair = (rest / FIRST_PAIR) as u8;
        rest = rest % FIRST_PAIR * 100;
        out[len] = if number.is_negative() { COMPLEMENT - pair } else { pair + 1 };
        len += 1;
    }
    out[len] = if number.is_negative() { END_NEGATIVE } else { END };
    len + 1
}
