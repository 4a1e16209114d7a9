//! How often JavaScript has called something that may change what a read sees: a counter in memory of JavaScript's own, so that
//! an iterator can tell without a call whether its loop wrote anything. Calls that only read are not counted.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use napi::sys;

use super::border::{Answer, Call};
use crate::error::Error;

/// The counter of one environment, and the next one of the same thread.
struct Counter {
    count: *mut u32,
    buffer: sys::napi_ref,
    env: sys::napi_env,
    next: *mut Counter,
}

thread_local! {
    /// Those of this thread. There is one, but for programs that load the addon into more than one context.
    static COUNTERS: Cell<*mut Counter> = const { Cell::new(ptr::null_mut()) };
}

/// Counts a call, or the end of an operation that answers later.
#[inline]
pub fn note() {
    let mut counter = COUNTERS.get();
    while !counter.is_null() {
        // SAFETY: a counter is in the list from `share` to `forget`, and its buffer lives as long. Both ends of the memory are
        // used by this thread alone.
        unsafe {
            (*counter).count.write((*counter).count.read().wrapping_add(1));
            counter = (*counter).next;
        }
    }
}

/// A method whose calls are counted.
#[inline]
pub fn counted(method: impl FnOnce(Call<'_>) -> Answer) -> impl FnOnce(Call<'_>) -> Answer {
    move |call| {
        note();
        method(call)
    }
}

/// `activity()`: the counter, an `ArrayBuffer` with one number of 32 bits.
pub fn share(call: Call<'_>) -> Answer {
    let (mut data, mut buffer, mut reference) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: plain out-pointers; the strong reference keeps the buffer, and with it the memory, where it is.
    let status = unsafe {
        match sys::napi_create_arraybuffer(call.env, size_of::<u32>(), &raw mut data, &raw mut buffer) {
            sys::Status::napi_ok => sys::napi_create_reference(call.env, buffer, 1, &raw mut reference),
            status => status,
        }
    };
    if status != sys::Status::napi_ok || data.is_null() {
        return Err(Error::Internal("the runtime gives no memory".to_owned()).into());
    }
    let counter =
        Box::into_raw(Box::new(Counter { count: data.cast(), buffer: reference, env: call.env, next: COUNTERS.get() }));
    COUNTERS.set(counter);
    // SAFETY: the hook runs once, at the end of the environment, and takes the counter back.
    unsafe { sys::napi_add_env_cleanup_hook(call.env, Some(forget), counter.cast()) };
    Ok(buffer)
}

/// The environment ends: its memory goes.
unsafe extern "C" fn forget(data: *mut c_void) {
    let gone = data.cast::<Counter>();
    // SAFETY: `share` boxed it, and nobody else takes it out of the list of this thread.
    let (gone, next) = unsafe { (Box::from_raw(gone), (*gone).next) };
    let address = ptr::from_ref(&*gone).cast_mut();
    if COUNTERS.get() == address {
        COUNTERS.set(next);
    } else {
        let mut before = COUNTERS.get();
        // SAFETY: all that is in the list is alive.
        unsafe {
            while !before.is_null() && (*before).next != address {
                before = (*before).next;
            }
            if !before.is_null() {
                (*before).next = next;
            }
        }
    }
    // SAFETY: the reference was made in this environment, which still takes calls in its hooks.
    unsafe { sys::napi_delete_reference(gone.env, gone.buffer) };
}
