//! What crossing from JavaScript into native code takes, with nothing behind it: functions that read arguments of the
//! same shapes as the hot calls and answer values of the same shapes. `bench/floor.mjs` loads and times it; it is no part
//! of the addon.

use std::ptr;

use napi::JsValue;
use napi::bindgen_prelude::Object;
use napi::sys;

type Raw = sys::napi_value;

/// The arguments of a call and what it was called on.
unsafe fn arguments(env: sys::napi_env, info: sys::napi_callback_info) -> ([Raw; 4], Raw) {
    let (mut values, mut count, mut this) = ([ptr::null_mut(); 4], 4, ptr::null_mut());
    // SAFETY: there is room for as many handles as `count` says.
    unsafe { sys::napi_get_cb_info(env, info, &raw mut count, values.as_mut_ptr(), &raw mut this, ptr::null_mut()) };
    (values, this)
}

unsafe fn number(env: sys::napi_env, value: Raw) -> f64 {
    let mut number = 0.0;
    // SAFETY: the handle belongs to the environment.
    unsafe { sys::napi_get_value_double(env, value, &raw mut number) };
    number
}

unsafe fn text(env: sys::napi_env, value: Raw, room: &mut [u8; 256]) -> usize {
    let mut length = 0;
    // SAFETY: the room is as long as the call is told.
    unsafe { sys::napi_get_value_string_utf8(env, value, room.as_mut_ptr().cast(), room.len(), &raw mut length) };
    length
}

unsafe fn answer(env: sys::napi_env, bytes: &[u8]) -> Raw {
    let mut made = ptr::null_mut();
    // SAFETY: the text is passed with its length.
    unsafe { sys::napi_create_string_latin1(env, bytes.as_ptr().cast(), bytes.len() as isize, &raw mut made) };
    made
}

/// `nothing()`.
unsafe extern "C" fn nothing(_env: sys::napi_env, _info: sys::napi_callback_info) -> Raw {
    ptr::null_mut()
}

/// `set(number, text)` answers a short text, as `mglobal` does.
unsafe extern "C" fn set(env: sys::napi_env, info: sys::napi_callback_info) -> Raw {
    let mut room = [0; 256];
    // SAFETY: called by Node-API with its own handles.
    unsafe {
        let (values, _) = arguments(env, info);
        std::hint::black_box(number(env, values[0]));
        std::hint::black_box(text(env, values[1], &mut room));
        answer(env, b"0")
    }
}

/// `get(number)` answers a text of eleven characters.
unsafe extern "C" fn get(env: sys::napi_env, info: sys::napi_callback_info) -> Raw {
    // SAFETY: as above.
    unsafe {
        let (values, _) = arguments(env, info);
        std::hint::black_box(number(env, values[0]));
        answer(env, b"hello world")
    }
}

/// `next(text)` answers a text of seven characters.
unsafe extern "C" fn next(env: sys::napi_env, info: sys::napi_callback_info) -> Raw {
    let mut room = [0; 256];
    // SAFETY: as above.
    unsafe {
        let (values, _) = arguments(env, info);
        std::hint::black_box(text(env, values[0], &mut room));
        answer(env, b"1000000")
    }
}

/// `increment(text, number)` answers a text of seven characters.
unsafe extern "C" fn increment(env: sys::napi_env, info: sys::napi_callback_info) -> Raw {
    let mut room = [0; 256];
    // SAFETY: as above.
    unsafe {
        let (values, _) = arguments(env, info);
        std::hint::black_box(text(env, values[0], &mut room));
        std::hint::black_box(number(env, values[1]));
        answer(env, b"1000000")
    }
}

#[napi_derive::napi(module_exports)]
pub fn register(exports: Object<'_>, env: napi::Env) -> napi::Result<()> {
    let functions: [(&std::ffi::CStr, sys::napi_callback); 5] = [
        (c"nothing", Some(nothing)),
        (c"set", Some(set)),
        (c"get", Some(get)),
        (c"next", Some(next)),
        (c"increment", Some(increment)),
    ];
    for (name, function) in functions {
        let mut made = ptr::null_mut();
        // SAFETY: the names end in NUL and the handles belong to this environment.
        unsafe {
            sys::napi_create_function(env.raw(), name.as_ptr(), -1, function, ptr::null_mut(), &raw mut made);
            sys::napi_set_named_property(env.raw(), exports.raw(), name.as_ptr(), made);
        }
    }
    Ok(())
}
