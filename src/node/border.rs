//! The border itself: how a JavaScript call comes in, how its answer or error goes out, and how a class is made.
//!
//! The hot calls take any number of arguments and must not pay for conversions they do not need, so they use the raw
//! calls of Node-API. Nothing that happens behind the border can unwind into JavaScript.

use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::sys;

use crate::error::Error;

/// What a method answers.
pub type Answer = std::result::Result<sys::napi_value, Failure>;

/// Why a call fails.
pub enum Failure {
    /// An error of ours, and where it happened as far as that is known.
    Error(Error, String),
    /// JavaScript has an exception pending already, or its thread is being stopped.
    Pending,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error, String::new())
    }
}

impl Failure {
    /// Says where the error happened, unless that is known already.
    pub fn at(self, place: impl FnOnce() -> String) -> Failure {
        match self {
            Failure::Error(error, known) if known.is_empty() => Failure::Error(error, place()),
            other => other,
        }
    }

    /// The message that JavaScript sees.
    pub fn message(&self) -> String {
        match self {
            Failure::Error(error, place) if place.is_empty() => error.to_string(),
            Failure::Error(error, place) => format!("{place}: {error}"),
            Failure::Pending => String::new(),
        }
    }
}

/// A wrong argument: a `TypeError` with the code `ERR_ARG`.
pub fn wrong_argument(message: impl Into<String>) -> Failure {
    Error::Argument(message.into()).into()
}

/// One call from JavaScript.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The environment of the calling thread.
    pub env: sys::napi_env,
    /// What Node-API knows of the call.
    pub info: sys::napi_callback_info,
    /// The object the method was called on.
    pub this: sys::napi_value,
    /// The arguments.
    pub arguments: &'a [sys::napi_value],
}

/// The arguments that fit without allocation.
const FEW: usize = 16;

/// Takes a call from JavaScript, runs `method`, and gives its answer back or throws.
///
/// # Safety
/// Only Node-API may call this, with its own handles.
#[inline]
pub unsafe fn enter(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    method: impl FnOnce(Call<'_>) -> Answer,
) -> sys::napi_value {
    let mut few = [ptr::null_mut(); FEW];
    let mut count = FEW;
    let mut this = ptr::null_mut();
    // SAFETY: `few` has room for `count` handles.
    let status =
        unsafe { sys::napi_get_cb_info(env, info, &raw mut count, few.as_mut_ptr(), &raw mut this, ptr::null_mut()) };
    if status != sys::Status::napi_ok {
        return ptr::null_mut();
    }
    let mut many = Vec::new();
    let arguments = if count <= FEW {
        &few[..count]
    } else {
        many.resize(count, ptr::null_mut());
        // SAFETY: `many` has room for `count` handles.
        unsafe {
            sys::napi_get_cb_info(env, info, &raw mut count, many.as_mut_ptr(), ptr::null_mut(), ptr::null_mut());
        }
        &many[..]
    };
    let call = Call { env, info, this, arguments };
    match catch_unwind(AssertUnwindSafe(|| method(call))) {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => {
            throw(env, &failure);
            ptr::null_mut()
        }
        Err(_) => {
            throw(env, &Error::Internal("the addon met a state it did not expect".to_owned()).into());
            ptr::null_mut()
        }
    }
}

/// Turns a function that takes a [`Call`] into what Node-API calls, where it changes nothing that a read sees.
macro_rules! reading {
    ($method:expr) => {{
        unsafe extern "C" fn entry(
            env: napi::sys::napi_env,
            info: napi::sys::napi_callback_info,
        ) -> napi::sys::napi_value {
            // SAFETY: only Node-API gets to know this function.
            unsafe { $crate::node::border::enter(env, info, $method) }
        }
        Some(entry as unsafe extern "C" fn(_, _) -> _)
    }};
}
pub(crate) use reading;

/// The same for any other function: the call is counted, see [`super::activity`].
macro_rules! entry {
    ($method:expr) => {
        $crate::node::border::reading!($crate::node::activity::counted($method))
    };
}
pub(crate) use entry;

/// Throws the failure as a JavaScript error with its code.
#[cold]
fn throw(env: sys::napi_env, failure: &Failure) {
    if let Some(error) = make_error(env, failure) {
        // SAFETY: `error` is an error object of this environment.
        unsafe { sys::napi_throw(env, error) };
    }
}

/// The JavaScript error for a failure; none where an exception is pending already.
pub fn make_error(env: sys::napi_env, failure: &Failure) -> Option<sys::napi_value> {
    let Failure::Error(error, _) = failure else { return None };
    let message = failure.message();
    let code = error.code();
    let mut made = ptr::null_mut();
    // SAFETY: the strings are passed with their lengths; every handle comes from this environment.
    unsafe {
        let message = string(env, message.as_bytes());
        let code = string(env, code.as_bytes());
        if matches!(error, Error::Argument(_)) {
            sys::napi_create_type_error(env, code, message, &raw mut made);
        } else {
            sys::napi_create_error(env, code, message, &raw mut made);
        }
    }
    if matches!(error, Error::Conflict(_))
        && let Ok(conflict) = super::answer::boolean(env, true)
    {
        // What a transaction's function is run again for.
        // SAFETY: both handles were made just now in this environment.
        unsafe { set_property(env, made, "conflict", conflict) };
    }
    (!made.is_null()).then_some(made)
}

/// A JavaScript string from UTF-8.
///
/// # Safety
/// `env` must be the environment of the calling thread.
unsafe fn string(env: sys::napi_env, text: &[u8]) -> sys::napi_value {
    let mut made = ptr::null_mut();
    // SAFETY: the text is passed with its length.
    unsafe { sys::napi_create_string_utf8(env, text.as_ptr().cast(), text.len() as isize, &raw mut made) };
    made
}

/// A native value that JavaScript objects of a class carry.
pub trait Class: Sized + 'static {
    /// The class's name in JavaScript.
    const NAME: &'static str;
    /// Tells the objects of this class from those of others.
    const MARK: u64;
}

/// What a JavaScript object really points to: the mark comes first, so that another class's object is recognised.
#[repr(C)]
struct Carried<T> {
    mark: u64,
    value: T,
}

/// Puts a native value into the object under construction.
pub fn wrap<T: Class>(call: Call<'_>, value: T) -> Answer {
    let mut target = ptr::null_mut();
    // SAFETY: the call information is the one this call came with.
    unsafe { sys::napi_get_new_target(call.env, call.info, &raw mut target) };
    if target.is_null() {
        return Err(wrong_argument(format!("{} must be called with new", T::NAME)));
    }
    let carried = Box::into_raw(Box::new(Carried { mark: T::MARK, value }));
    // SAFETY: `finalize` gets the same pointer back exactly once.
    let status = unsafe {
        sys::napi_wrap(call.env, call.this, carried.cast(), Some(finalize::<T>), ptr::null_mut(), ptr::null_mut())
    };
    if status != sys::Status::napi_ok {
        // SAFETY: Node-API did not take the pointer.
        drop(unsafe { Box::from_raw(carried) });
        return Err(wrong_argument(format!("{} must be called with new", T::NAME)));
    }
    Ok(call.this)
}

unsafe extern "C" fn finalize<T>(_env: sys::napi_env, carried: *mut c_void, _hint: *mut c_void) {
    // A panic in a destructor must not reach JavaScript either.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the pointer was made by `wrap` for this type.
        drop(unsafe { Box::from_raw(carried.cast::<Carried<T>>()) });
    }));
}

/// The native value inside an object, if it is one of the class `T`.
#[inline]
pub fn unwrap<'a, T: Class>(env: sys::napi_env, object: sys::napi_value) -> Option<&'a T> {
    let mut carried = ptr::null_mut();
    // SAFETY: an object that carries something of this addon points to a `Carried`, whose first field is the mark.
    unsafe {
        if sys::napi_unwrap(env, object, &raw mut carried) != sys::Status::napi_ok || carried.is_null() {
            return None;
        }
        let carried = carried.cast_const().cast::<Carried<T>>();
        ((*carried).mark == T::MARK).then(|| &(*carried).value)
    }
}

/// The native value of the object a method was called on.
#[inline]
pub fn this<'a, T: Class>(call: Call<'_>) -> std::result::Result<&'a T, Failure> {
    unwrap(call.env, call.this)
        .ok_or_else(|| wrong_argument(format!("the method belongs to {} and was called on something else", T::NAME)))
}

/// What Node-API calls for a method.
pub type Entry = Option<unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value>;

/// Makes a class with these methods and puts it on `exports`.
pub fn define_class<T: Class>(
    env: sys::napi_env,
    exports: sys::napi_value,
    constructor: Entry,
    methods: &[(&str, Entry)],
) {
    let names: Vec<CString> = methods.iter().filter_map(|(name, _)| CString::new(*name).ok()).collect();
    let properties: Vec<sys::napi_property_descriptor> = names
        .iter()
        .zip(methods)
        .map(|(name, (_, method))| sys::napi_property_descriptor {
            utf8name: name.as_ptr(),
            name: ptr::null_mut(),
            method: *method,
            getter: None,
            setter: None,
            value: ptr::null_mut(),
            attributes: sys::PropertyAttributes::writable | sys::PropertyAttributes::configurable,
            data: ptr::null_mut(),
        })
        .collect();
    let mut class = ptr::null_mut();
    let name = T::NAME.as_bytes();
    // SAFETY: names and properties live through the call, which copies them.
    unsafe {
        sys::napi_define_class(
            env,
            name.as_ptr().cast::<c_char>(),
            name.len() as isize,
            constructor,
            ptr::null_mut(),
            properties.len(),
            properties.as_ptr(),
            &raw mut class,
        );
        set_property(env, exports, T::NAME, class);
    }
}

/// Makes a function and puts it on `exports`.
pub fn define_function(env: sys::napi_env, exports: sys::napi_value, name: &str, function: Entry) {
    let mut made = ptr::null_mut();
    // SAFETY: the name is passed with its length.
    unsafe {
        sys::napi_create_function(
            env,
            name.as_ptr().cast::<c_char>(),
            name.len() as isize,
            function,
            ptr::null_mut(),
            &raw mut made,
        );
        set_property(env, exports, name, made);
    }
}

/// Sets a named property.
///
/// # Safety
/// The handles must belong to `env`, the environment of the calling thread.
pub unsafe fn set_property(env: sys::napi_env, object: sys::napi_value, name: &str, value: sys::napi_value) {
    if let Ok(name) = CString::new(name) {
        // SAFETY: the name ends in NUL; the caller vouches for the handles.
        unsafe { sys::napi_set_named_property(env, object, name.as_ptr(), value) };
    }
}
