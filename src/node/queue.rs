//! Operations that answer later: the callback forms of the mg-dbx face and the promises of the native one. They run in
//! call order, one at a time for each connection, on a thread of the runtime's pool, so that long work blocks nobody.
//! Inside a transaction they run at once on the calling thread, because a transaction belongs to one thread, and only
//! the answer comes later.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use napi::sys;
use parking_lot::Mutex;

use super::answer;
use super::argument::Face;
use super::border::{Failure, make_error};
use super::request::{Reply, Request, Verb, answer};
use crate::error::{Error, Result};
use crate::store::Connection;

/// The connection that background operations use, beside the one of the calling thread.
pub type Beside = Arc<Mutex<Option<Connection>>>;

/// Whom to tell.
pub enum Listener {
    /// `cb(isError, result)`.
    Callback(sys::napi_ref),
    /// A promise.
    Promise(sys::napi_deferred),
}

/// One operation that answers later.
pub struct Task {
    /// What to do.
    pub verb: Verb,
    /// For which face.
    pub face: Face,
    /// With what.
    pub request: Request,
    /// For whom.
    pub listener: Listener,
    /// The result, where it was performed at once.
    pub performed: Option<(Result<Reply>, Vec<u8>)>,
}

/// The waiting operations of a connection.
#[derive(Default)]
pub struct Queue {
    waiting: RefCell<VecDeque<Task>>,
    running: RefCell<bool>,
}

/// What the pool's thread works on. The thread touches only `beside` and `task`, and the main thread not until it is
/// done.
struct Running {
    queue: Rc<Queue>,
    beside: Beside,
    task: Task,
    work: sys::napi_async_work,
}

impl Queue {
    /// Adds an operation and starts it when its turn comes.
    pub fn push(self: &Rc<Queue>, env: sys::napi_env, beside: &Beside, task: Task) {
        self.waiting.borrow_mut().push_back(task);
        if !*self.running.borrow() {
            self.start_next(env, beside);
        }
    }

    fn start_next(self: &Rc<Queue>, env: sys::napi_env, beside: &Beside) {
        let Some(task) = self.waiting.borrow_mut().pop_front() else {
            *self.running.borrow_mut() = false;
            return;
        };
        *self.running.borrow_mut() = true;
        let running = Box::into_raw(Box::new(Running {
            queue: Rc::clone(self),
            beside: Arc::clone(beside),
            task,
            work: ptr::null_mut(),
        }));
        // SAFETY: `complete` takes the box back exactly once, on this thread.
        unsafe {
            let mut name = ptr::null_mut();
            sys::napi_create_string_utf8(env, c"caretdb".as_ptr(), 7, &raw mut name);
            let work = &raw mut (*running).work;
            sys::napi_create_async_work(
                env,
                ptr::null_mut(),
                name,
                Some(execute),
                Some(complete),
                running.cast(),
                work,
            );
            sys::napi_queue_async_work(env, *work);
        }
    }
}

unsafe extern "C" fn execute(_env: sys::napi_env, data: *mut c_void) {
    // SAFETY: the main thread leaves the box alone until `complete`.
    let Running { beside, task, .. } = unsafe { &mut *data.cast::<Running>() };
    if task.performed.is_some() {
        return;
    }
    let mut out = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| match beside.lock().as_mut() {
        Some(connection) => task.request.perform(task.verb, task.face, connection, &mut out),
        None => Err(Error::Closed("the connection was closed before its turn came".to_owned())),
    }));
    let result = result.unwrap_or_else(|_| Err(Error::Internal("the addon met a state it did not expect".to_owned())));
    task.performed = Some((result, out));
}

unsafe extern "C" fn complete(env: sys::napi_env, _status: sys::napi_status, data: *mut c_void) {
    // SAFETY: this is the one place that takes the box back.
    let running = unsafe { Box::from_raw(data.cast::<Running>()) };
    let Running { queue, beside, task, work } = *running;
    // SAFETY: the work is complete.
    unsafe { sys::napi_delete_async_work(env, work) };
    queue.start_next(env, &beside);
    tell(env, task);
}

/// Gives the listener its answer.
fn tell(env: sys::napi_env, task: Task) {
    let (result, out) = task.performed.unwrap_or_else(|| {
        (Err(Error::Closed("the runtime stopped before the operation's turn came".to_owned())), Vec::new())
    });
    match task.listener {
        Listener::Callback(callback) => {
            let failed = matches!(result, Err(_) | Ok(Reply::Missing));
            let answered = result
                .map_err(Failure::from)
                .and_then(|reply| answer(env, task.verb, task.face, reply, &out, &mut Vec::new()))
                .or_else(|_| answer::ascii(env, b""));
            call_back(env, callback, failed, answered.unwrap_or(ptr::null_mut()));
        }
        Listener::Promise(promise) => {
            let answered = result
                .map_err(Failure::from)
                .and_then(|reply| answer(env, task.verb, task.face, reply, &out, &mut Vec::new()));
            // SAFETY: each promise is settled once.
            unsafe {
                match answered {
                    Ok(value) => sys::napi_resolve_deferred(env, promise, value),
                    Err(failure) => {
                        let failure = failure.at(|| task.verb.name().to_owned());
                        sys::napi_reject_deferred(env, promise, make_error(env, &failure).unwrap_or(ptr::null_mut()))
                    }
                };
            }
        }
    }
}

fn call_back(env: sys::napi_env, callback: sys::napi_ref, failed: bool, result: sys::napi_value) {
    // SAFETY: the reference was made for this callback and is deleted here, once. What the callback throws becomes an
    // uncaught exception, as from any other callback.
    unsafe {
        let (mut function, mut this, mut answered) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        sys::napi_get_reference_value(env, callback, &raw mut function);
        sys::napi_delete_reference(env, callback);
        sys::napi_get_undefined(env, &raw mut this);
        let arguments = [answer::boolean(env, failed).unwrap_or(ptr::null_mut()), result];
        let status = sys::napi_call_function(env, this, function, 2, arguments.as_ptr(), &raw mut answered);
        if status == sys::Status::napi_pending_exception {
            let mut exception = ptr::null_mut();
            sys::napi_get_and_clear_last_exception(env, &raw mut exception);
            sys::napi_fatal_exception(env, exception);
        }
    }
}
