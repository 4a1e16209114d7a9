//! Values <-> bytes: one byte says the type, the rest is the payload.

use crate::error::{Error, Result};

/// Type byte of a string; its UTF-8 bytes follow.
pub const TEXT: u8 = 0x01;
/// Type byte of bytes; they follow as they are.
pub const BYTES: u8 = 0x02;
/// Type byte of a number; the eight bytes of the double follow, lowest first.
pub const NUMBER: u8 = 0x03;
/// Type byte of `false`; nothing follows.
pub const FALSE: u8 = 0x04;
/// Type byte of `true`; nothing follows.
pub const TRUE: u8 = 0x05;
/// Type byte of `null`; nothing follows.
pub const NULL: u8 = 0x06;
/// Type byte of the mark "an empty object is here"; nothing follows.
pub const EMPTY_OBJECT: u8 = 0x07;
/// Type byte of the mark "an empty array is here"; nothing follows.
pub const EMPTY_ARRAY: u8 = 0x08;
/// Type byte of the mark "the children are an object, whatever their keys look like"; nothing follows.
pub const OBJECT: u8 = 0x09;

/// A value, borrowed from where it is stored or from where it comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A string.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A JavaScript number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// Mark: an empty object.
    EmptyObject,
    /// Mark: an empty array.
    EmptyArray,
    /// Mark: the children are an object.
    Object,
}

impl Value<'_> {
    /// Writes the stored form to `out`, in place of what was there.
    ///
    /// ```
    /// use caretdb::value::Value;
    /// let mut stored = Vec::new();
    /// Value::Text("Redhill").write(&mut stored);
    /// assert_eq!(Value::read(&stored).unwrap(), Value::Text("Redhill"));
    /// ```
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        let (tag, payload): (u8, &[u8]) = match self {
            Value::Text(text) => (TEXT, text.as_bytes()),
            Value::Bytes(bytes) => (BYTES, bytes),
            Value::Number(n) => (NUMBER, &n.to_le_bytes()),
            Value::Bool(false) => (FALSE, &[]),
            Value::Bool(true) => (TRUE, &[]),
            Value::Null => (NULL, &[]),
            Value::EmptyObject => (EMPTY_OBJECT, &[]),
            Value::EmptyArray => (EMPTY_ARRAY, &[]),
            Value::Object => (OBJECT, &[]),
        };
        out.reserve(1 + payload.len());
        out.push(tag);
        out.extend_from_slice(payload);
    }

    /// The value whose stored form this is.
    ///
    /// # Errors
    /// [`Error::Internal`] where the bytes are no stored value, which only damage or a newer version can cause.
    pub fn read(stored: &[u8]) -> Result<Value<'_>> {
        let Some((tag, payload)) = stored.split_first() else {
            return Err(Error::Internal("a stored value has no type byte".into()));
        };
        match (*tag, payload) {
            (TEXT, text) => std::str::from_utf8(text)
                .map(Value::Text)
                .map_err(|_| Error::Internal("a stored string is not UTF-8".into())),
            (BYTES, bytes) => Ok(Value::Bytes(bytes)),
            (NUMBER, payload) => match payload.try_into() {
                Ok(bytes) => Ok(Value::Number(f64::from_le_bytes(bytes))),
                Err(_) => Err(Error::Internal(format!("a stored number has {} bytes instead of 8", payload.len()))),
            },
            (FALSE, []) => Ok(Value::Bool(false)),
            (TRUE, []) => Ok(Value::Bool(true)),
            (NULL, []) => Ok(Value::Null),
            (EMPTY_OBJECT, []) => Ok(Value::EmptyObject),
            (EMPTY_ARRAY, []) => Ok(Value::EmptyArray),
            (OBJECT, []) => Ok(Value::Object),
            (tag, rest) => {
                Err(Error::Internal(format!("a stored value has the type byte {tag:#04x} and {} more", rest.len())))
            }
        }
    }
}

/// Appends a value as the mg-dbx face spells it: a number is JavaScript's `String(n)`, booleans and `null` are as JSON
/// has them, marks are the empty string, strings and bytes stay as they are.
///
/// ```
/// use caretdb::value::{Value, write_text};
/// let mut text = Vec::new();
/// write_text(&Value::Number(0.5), &mut text);
/// assert_eq!(text, b"0.5");
/// ```
pub fn write_text(v: &Value, out: &mut Vec<u8>) {
    match v {
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        Value::Number(n) => out.extend_from_slice(ryu_js::Buffer::new().format(*n).as_bytes()),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Null => out.extend_from_slice(b"null"),
        Value::EmptyObject | Value::EmptyArray | Value::Object => {}
    }
}
