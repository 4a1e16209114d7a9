//! Reading JavaScript values: subscripts, values to store, options. Each reader takes the raw handle and says clearly
//! what it will not take.

use std::ffi::CString;
use std::ptr;

use napi::sys;

use super::border::{Call, Failure, wrong_argument};
use crate::key::Key;
use crate::value;

/// How strings of the mg-dbx face become bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    #[default]
    Utf8,
    /// One character, one byte.
    Binary,
    /// Another name of [`Charset::Binary`].
    Ascii,
}

impl Charset {
    /// The name as programs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Binary => "binary",
            Charset::Ascii => "ascii",
        }
    }
}

/// Which face reads: they differ in what they take as a value and as a subscript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// mg-dbx: everything is text in a charset.
    Text(Charset),
    /// native: typed values.
    Typed,
}

impl Face {
    /// Whether one character is one byte.
    #[inline]
    pub fn is_one_byte(self) -> bool {
        matches!(self, Face::Text(Charset::Binary | Charset::Ascii))
    }
}

type Read<T> = std::result::Result<T, Failure>;

/// What kind of JavaScript value a handle is.
#[inline]
pub fn kind(env: sys::napi_env, value: sys::napi_value) -> sys::napi_valuetype {
    let mut kind = sys::ValueType::napi_undefined;
    // SAFETY: the handle belongs to the environment of the calling thread.
    unsafe { sys::napi_typeof(env, value, &raw mut kind) };
    kind
}

/// Whether the value is a function.
#[inline]
pub fn is_function(env: sys::napi_env, value: sys::napi_value) -> bool {
    kind(env, value) == sys::ValueType::napi_function
}

/// Appends one subscript to a key. `false` when it is the empty string, which is no subscript but may be a seed.
pub fn subscript(
    env: sys::napi_env,
    value: sys::napi_value,
    face: Face,
    text: &mut Vec<u8>,
    key: &mut Key,
) -> Read<bool> {
    match kind(env, value) {
        sys::ValueType::napi_string => {
            text.clear();
            string(env, value, face, text)?;
            if text.is_empty() {
                return Ok(false);
            }
            key.text_bytes(text)?;
        }
        sys::ValueType::napi_number => key.number(number(env, value))?,
        other => {
            text.clear();
            if !bytes(env, value, text) {
                match face {
                    Face::Text(_) if spell(env, value, other, text) => {}
                    _ => {
                        return Err(wrong_argument(format!(
                            "a subscript must be a string, a number or bytes, not {}",
                            describe(env, value)
                        )));
                    }
                }
            }
            if text.is_empty() {
                return Ok(false);
            }
            key.text_bytes(text)?;
        }
    }
    Ok(true)
}

/// Reads a value to store, with its type byte, in place of what `stored` held.
pub fn stored_value(env: sys::napi_env, value: sys::napi_value, face: Face, stored: &mut Vec<u8>) -> Read<()> {
    stored.clear();
    stored.push(value::TEXT);
    let kind = kind(env, value);
    match (kind, face) {
        (sys::ValueType::napi_string, _) => {
            string(env, value, face, stored)?;
            if face.is_one_byte() && !stored[1..].is_ascii() {
                stored[0] = value::BYTES;
            }
        }
        (sys::ValueType::napi_number, Face::Typed) => {
            stored[0] = value::NUMBER;
            stored.extend_from_slice(&number(env, value).to_le_bytes());
        }
        (sys::ValueType::napi_boolean, Face::Typed) => {
            stored[0] = if boolean(env, value) { value::TRUE } else { value::FALSE };
        }
        (sys::ValueType::napi_null, Face::Typed) => stored[0] = value::NULL,
        (sys::ValueType::napi_number, Face::Text(_)) => {
            value::write_text(&value::Value::Number(number(env, value)), stored);
        }
        _ if bytes(env, value, stored) => stored[0] = value::BYTES,
        (_, Face::Text(_)) if spell(env, value, kind, stored) => {}
        _ => {
            return Err(wrong_argument(match face {
                Face::Text(_) => format!(
                    "a value must be a string, a number, a boolean, a bigint or bytes, not {}",
                    describe(env, value)
                ),
                Face::Typed => format!(
                    "a value must be a string, a number, a boolean, null or bytes, not {}; documents go through setDocument",
                    describe(env, value)
                ),
            }));
        }
    }
    Ok(())
}

/// Reads a double.
#[inline]
pub fn number(env: sys::napi_env, value: sys::napi_value) -> f64 {
    let mut number = 0.0;
    // SAFETY: the caller has seen that it is a number.
    unsafe { sys::napi_get_value_double(env, value, &raw mut number) };
    number
}

/// Reads a boolean.
pub fn boolean(env: sys::napi_env, value: sys::napi_value) -> bool {
    let mut truth = false;
    // SAFETY: the caller has seen that it is a boolean.
    unsafe { sys::napi_get_value_bool(env, value, &raw mut truth) };
    truth
}

/// Appends a string's bytes, in UTF-8 or the face's charset.
#[inline]
fn string(env: sys::napi_env, value: sys::napi_value, face: Face, out: &mut Vec<u8>) -> Read<()> {
    if face.is_one_byte() {
        return one_byte_string(env, value, out);
    }
    let start = out.len();
    append_utf8(env, value, out);
    // Node-API writes U+FFFD for a lone surrogate, so only a text that has one needs a closer look.
    const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
    if !out[start..].is_ascii()
        && out[start..].windows(REPLACEMENT.len()).any(|window| window == REPLACEMENT)
        && std::char::decode_utf16(utf16(env, value)).any(|unit| unit.is_err())
    {
        return Err(wrong_argument("a string has a lone surrogate, which no charset can store"));
    }
    Ok(())
}

/// Appends a string in UTF-8 as Node-API gives it.
#[inline]
pub fn append_utf8(env: sys::napi_env, value: sys::napi_value, out: &mut Vec<u8>) {
    let start = out.len();
    if out.capacity() - start < 256 {
        out.reserve(256);
    }
    let room = out.capacity() - start;
    let mut written = 0;
    // SAFETY: `room` bytes follow `start`; Node-API writes at most `room - 1` and a NUL, whole characters only.
    unsafe {
        sys::napi_get_value_string_utf8(env, value, out.as_mut_ptr().add(start).cast(), room, &raw mut written);
        if written + 4 < room {
            out.set_len(start + written);
            return;
        }
        let mut length = 0;
        sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length);
        out.reserve(length + 1);
        sys::napi_get_value_string_utf8(env, value, out.as_mut_ptr().add(start).cast(), length + 1, &raw mut written);
        out.set_len(start + written);
    }
}

fn utf16(env: sys::napi_env, value: sys::napi_value) -> Vec<u16> {
    let mut length = 0;
    // SAFETY: the first call asks for the length, the second has room for it and a NUL.
    unsafe {
        sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut length);
        let mut units = vec![0u16; length + 1];
        sys::napi_get_value_string_utf16(env, value, units.as_mut_ptr(), length + 1, &raw mut length);
        units.truncate(length);
        units
    }
}

fn one_byte_string(env: sys::napi_env, value: sys::napi_value, out: &mut Vec<u8>) -> Read<()> {
    for unit in utf16(env, value) {
        let byte = u8::try_from(unit).map_err(|_| {
            wrong_argument(format!("the character U+{unit:04X} does not fit into one byte: use charset('utf-8')"))
        })?;
        out.push(byte);
    }
    Ok(())
}

/// Appends the text of a boolean or bigint, as the mg-dbx face takes them. False for anything else.
fn spell(env: sys::napi_env, value: sys::napi_value, kind: sys::napi_valuetype, out: &mut Vec<u8>) -> bool {
    if kind != sys::ValueType::napi_boolean && kind != sys::ValueType::napi_bigint {
        return false;
    }
    let mut text = ptr::null_mut();
    // SAFETY: neither kind runs JavaScript when it becomes a string.
    unsafe { sys::napi_coerce_to_string(env, value, &raw mut text) };
    append_utf8(env, text, out);
    true
}

/// Appends the bytes of a Buffer, typed array, DataView or ArrayBuffer. False for anything else.
pub fn bytes(env: sys::napi_env, value: sys::napi_value, out: &mut Vec<u8>) -> bool {
    let Some((start, length)) = byte_span(env, value) else { return false };
    if length > 0 && !start.is_null() {
        // SAFETY: Node-API says where the bytes are; nothing runs between asking and copying.
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(start.cast(), length) });
    }
    true
}

fn byte_span(env: sys::napi_env, value: sys::napi_value) -> Option<(*mut std::ffi::c_void, usize)> {
    let (mut is, mut start, mut length) = (false, ptr::null_mut(), 0);
    // SAFETY: each question is asked before the matching answer is taken.
    unsafe {
        sys::napi_is_typedarray(env, value, &raw mut is);
        if is {
            let mut kind = 0;
            let null = ptr::null_mut();
            sys::napi_get_typedarray_info(
                env,
                value,
                &raw mut kind,
                &raw mut length,
                &raw mut start,
                null,
                ptr::null_mut(),
            );
            return Some((start, length * element_size(kind)));
        }
        sys::napi_is_dataview(env, value, &raw mut is);
        if is {
            let null = ptr::null_mut();
            sys::napi_get_dataview_info(env, value, &raw mut length, &raw mut start, null, ptr::null_mut());
            return Some((start, length));
        }
        sys::napi_is_arraybuffer(env, value, &raw mut is);
        if is {
            sys::napi_get_arraybuffer_info(env, value, &raw mut start, &raw mut length);
            return Some((start, length));
        }
    }
    None
}

/// Bytes per element of a typed array.
fn element_size(kind: sys::napi_typedarray_type) -> usize {
    match kind {
        3 | 4 => 2,
        5..=7 => 4,
        8..=10 => 8,
        _ => 1,
    }
}

/// A word for a value in an error message.
pub fn describe(env: sys::napi_env, value: sys::napi_value) -> &'static str {
    match kind(env, value) {
        sys::ValueType::napi_undefined => "undefined",
        sys::ValueType::napi_null => "null",
        sys::ValueType::napi_boolean => "a boolean",
        sys::ValueType::napi_number => "a number",
        sys::ValueType::napi_string => "a string",
        sys::ValueType::napi_symbol => "a symbol",
        sys::ValueType::napi_function => "a function",
        sys::ValueType::napi_bigint => "a bigint",
        _ => "an object",
    }
}

/// A string argument in UTF-8.
pub fn text(env: sys::napi_env, value: sys::napi_value, what: &str) -> Read<String> {
    let mut bytes = Vec::new();
    text_into(env, value, what, &mut bytes)?;
    String::from_utf8(bytes).map_err(|_| wrong_argument(format!("{what} is not text")))
}

/// Appends a string argument in UTF-8.
pub fn text_into(env: sys::napi_env, value: sys::napi_value, what: &str, out: &mut Vec<u8>) -> Read<()> {
    if kind(env, value) != sys::ValueType::napi_string {
        return Err(wrong_argument(format!("{what} must be a string, not {}", describe(env, value))));
    }
    string(env, value, Face::Typed, out)
}

/// Appends the bytes of a string whose characters stand for one byte each.
pub fn one_byte_text_into(env: sys::napi_env, value: sys::napi_value, out: &mut Vec<u8>) -> Read<()> {
    one_byte_string(env, value, out)
}

/// A member of an object; none where it is undefined or null.
pub fn member(env: sys::napi_env, object: sys::napi_value, name: &str) -> Read<Option<sys::napi_value>> {
    let name = CString::new(name).map_err(|_| wrong_argument("a member's name has NUL"))?;
    let mut value = ptr::null_mut();
    // SAFETY: the name ends in NUL. A getter may throw, which leaves the exception pending.
    if unsafe { sys::napi_get_named_property(env, object, name.as_ptr(), &raw mut value) } != sys::Status::napi_ok {
        return Err(Failure::Pending);
    }
    let kind = kind(env, value);
    Ok((kind != sys::ValueType::napi_undefined && kind != sys::ValueType::napi_null).then_some(value))
}

/// A string member.
pub fn text_member(env: sys::napi_env, object: sys::napi_value, name: &str) -> Read<Option<String>> {
    member(env, object, name)?.map(|value| text(env, value, &format!("the option {name}"))).transpose()
}

/// A number member.
pub fn number_member(env: sys::napi_env, object: sys::napi_value, name: &str) -> Read<Option<f64>> {
    let Some(value) = member(env, object, name)? else { return Ok(None) };
    if kind(env, value) != sys::ValueType::napi_number {
        return Err(wrong_argument(format!("the option {name} must be a number, not {}", describe(env, value))));
    }
    Ok(Some(number(env, value)))
}

/// A boolean member.
pub fn boolean_member(env: sys::napi_env, object: sys::napi_value, name: &str) -> Read<Option<bool>> {
    let Some(value) = member(env, object, name)? else { return Ok(None) };
    if kind(env, value) != sys::ValueType::napi_boolean {
        return Err(wrong_argument(format!("the option {name} must be true or false, not {}", describe(env, value))));
    }
    Ok(Some(boolean(env, value)))
}

/// The node that a call speaks of, spelt as M does, for error messages.
pub fn spell_node(call: Call<'_>, name: &str, fixed: &[u8], arguments: &[sys::napi_value]) -> String {
    let mut parts: Vec<String> = crate::key::subscripts(fixed)
        .map(|encoded| {
            let mut text = Vec::new();
            let _ = crate::key::write_text(encoded, &mut text);
            let text = String::from_utf8_lossy(&text).into_owned();
            if crate::key::is_string(encoded) { format!("{text:?}") } else { text }
        })
        .collect();
    for argument in arguments {
        parts.push(match kind(call.env, *argument) {
            sys::ValueType::napi_string => {
                let mut text = Vec::new();
                append_utf8(call.env, *argument, &mut text);
                let text: String = String::from_utf8_lossy(&text).chars().take(60).collect();
                format!("{text:?}")
            }
            sys::ValueType::napi_number => {
                let mut text = Vec::new();
                value::write_text(&value::Value::Number(number(call.env, *argument)), &mut text);
                String::from_utf8_lossy(&text).into_owned()
            }
            _ => describe(call.env, *argument).to_owned(),
        });
    }
    if parts.is_empty() { format!("^{name}") } else { format!("^{name}({})", parts.join(",")) }
}
