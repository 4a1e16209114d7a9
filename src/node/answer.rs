//! Making JavaScript values out of stored values and encoded subscripts.

use std::cell::Cell;
use std::ptr;

use napi::sys;

use super::argument::{Charset, Face};
use super::border::{Answer, Failure};
use crate::error::Error;
use crate::key;
use crate::value::{self, Value};

/// A string from ASCII, which is the quickest to make.
#[inline]
pub fn ascii(env: sys::napi_env, text: &[u8]) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: the text is passed with its length.
    made_or_failed(
        unsafe { sys::napi_create_string_latin1(env, text.as_ptr().cast(), text.len() as isize, &raw mut made) },
        made,
    )
}

/// A string from UTF-8.
#[inline]
pub fn utf8(env: sys::napi_env, text: &[u8]) -> Answer {
    if text.is_ascii() {
        return ascii(env, text);
    }
    let mut made = ptr::null_mut();
    // SAFETY: the text is passed with its length.
    made_or_failed(
        unsafe { sys::napi_create_string_utf8(env, text.as_ptr().cast(), text.len() as isize, &raw mut made) },
        made,
    )
}

/// A string in a charset of the mg-dbx face.
#[inline]
pub fn in_charset(env: sys::napi_env, text: &[u8], charset: Charset) -> Answer {
    match charset {
        Charset::Utf8 => utf8(env, text),
        Charset::Binary | Charset::Ascii => ascii(env, text),
    }
}

fn made_or_failed(status: sys::napi_status, made: sys::napi_value) -> Answer {
    match status {
        sys::Status::napi_ok => Ok(made),
        sys::Status::napi_pending_exception => Err(Failure::Pending),
        _ => Err(Error::TooLarge("the value is longer than a JavaScript string may be".to_owned()).into()),
    }
}

/// A number.
pub fn number(env: sys::napi_env, number: f64) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: plain values.
    made_or_failed(unsafe { sys::napi_create_double(env, number, &raw mut made) }, made)
}

/// `true` or `false`.
pub fn boolean(env: sys::napi_env, truth: bool) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: plain values.
    made_or_failed(unsafe { sys::napi_get_boolean(env, truth, &raw mut made) }, made)
}

/// `null`.
pub fn null(env: sys::napi_env) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: plain values.
    made_or_failed(unsafe { sys::napi_get_null(env, &raw mut made) }, made)
}

/// `undefined`.
pub fn undefined(env: sys::napi_env) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: plain values.
    made_or_failed(unsafe { sys::napi_get_undefined(env, &raw mut made) }, made)
}

/// A Uint8Array with a copy of the bytes.
pub fn bytes(env: sys::napi_env, bytes: &[u8]) -> Answer {
    let (mut buffer, mut data, mut made) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the buffer is as long as the bytes copied into it.
    unsafe {
        let status = sys::napi_create_arraybuffer(env, bytes.len(), &raw mut data, &raw mut buffer);
        made_or_failed(status, buffer)?;
        if !bytes.is_empty() {
            ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
        }
        let status =
            sys::napi_create_typedarray(env, sys::TypedarrayType::uint8_array, bytes.len(), buffer, 0, &raw mut made);
        made_or_failed(status, made)
    }
}

/// An object without members.
pub fn object(env: sys::napi_env) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: plain values.
    made_or_failed(unsafe { sys::napi_create_object(env, &raw mut made) }, made)
}

/// An array of values that are made already.
pub fn array(env: sys::napi_env, members: &[sys::napi_value]) -> Answer {
    let mut made = ptr::null_mut();
    // SAFETY: every member is a handle of this environment.
    unsafe {
        let status = sys::napi_create_array_with_length(env, members.len(), &raw mut made);
        made_or_failed(status, made)?;
        for (index, member) in (0u32..).zip(members) {
            sys::napi_set_element(env, made, index, *member);
        }
    }
    Ok(made)
}

/// Makes what [`leaf`] answers: in one call of JavaScript an object, its array and their members cost less than the calls
/// of Node-API that would make them one by one.
const MAKE_LEAF: &str = "(data, ...key) => (data === undefined ? { key } : { key, data })";

thread_local! {
    /// The function of this thread's environment.
    static LEAF_MAKER: Cell<Option<(sys::napi_env, sys::napi_ref)>> = const { Cell::new(None) };
}

/// `{key: [...], data}` for a node that a cursor shows; without data where that is undefined. `parts` are the data and the
/// members of the key.
pub fn leaf(env: sys::napi_env, parts: &[sys::napi_value]) -> Answer {
    let (mut make, mut nothing, mut made) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let reference = match LEAF_MAKER.get() {
        Some((owner, reference)) if owner == env => reference,
        _ => leaf_maker(env)?,
    };
    // SAFETY: the reference and every part belong to this environment.
    unsafe {
        sys::napi_get_reference_value(env, reference, &raw mut make);
        sys::napi_get_undefined(env, &raw mut nothing);
        let status = sys::napi_call_function(env, nothing, make, parts.len(), parts.as_ptr(), &raw mut made);
        if status == sys::Status::napi_ok { Ok(made) } else { Err(Failure::Pending) }
    }
}

#[cold]
fn leaf_maker(env: sys::napi_env) -> std::result::Result<sys::napi_ref, Failure> {
    let (mut make, mut reference) = (ptr::null_mut(), ptr::null_mut());
    let script = ascii(env, MAKE_LEAF.as_bytes())?;
    // SAFETY: the script is a string of this environment; what it answers is kept for as long as the environment lives.
    unsafe {
        if sys::napi_run_script(env, script, &raw mut make) != sys::Status::napi_ok
            || sys::napi_create_reference(env, make, 1, &raw mut reference) != sys::Status::napi_ok
        {
            return Err(Failure::Pending);
        }
    }
    LEAF_MAKER.set(Some((env, reference)));
    Ok(reference)
}

/// A stored value as a face shows it.
#[inline]
pub fn stored(env: sys::napi_env, stored: &[u8], face: Face) -> Answer {
    match (face, stored) {
        (Face::Text(charset), [value::TEXT, text @ ..]) => in_charset(env, text, charset),
        (Face::Typed, [value::TEXT, text @ ..]) => utf8(env, text),
        (Face::Text(charset), _) => {
            let mut text = Vec::new();
            value::write_text(&Value::read(stored)?, &mut text);
            in_charset(env, &text, charset)
        }
        (Face::Typed, _) => match Value::read(stored)? {
            Value::Text(text) => utf8(env, text.as_bytes()),
            Value::Bytes(content) => bytes(env, content),
            Value::Number(n) => number(env, n),
            Value::Bool(truth) => boolean(env, truth),
            Value::Null => null(env),
            Value::EmptyObject | Value::EmptyArray | Value::Object => undefined(env),
        },
    }
}

/// An encoded subscript as a face shows it. `text` is room to spell it in.
#[inline]
pub fn subscript(env: sys::napi_env, encoded: &[u8], face: Face, text: &mut Vec<u8>) -> Answer {
    if face == Face::Typed
        && let Some(n) = key::to_number(encoded)
    {
        return number(env, n);
    }
    text.clear();
    key::write_text(encoded, text)?;
    match face {
        Face::Text(charset) => in_charset(env, text, charset),
        Face::Typed if std::str::from_utf8(text).is_ok() => utf8(env, text),
        Face::Typed => bytes(env, text),
    }
}
