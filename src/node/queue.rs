//! Operations that answer later: the callback forms of the mg-dbx face and the promises of the native one. They run in
//! call order on a thread that each connection has for them, so that long work and long waits block neither the event
//! loop nor the runtime's pool, whose few threads other connections may need to end the very wait.
//!
//! Inside a transaction they run at once on the calling thread, because a transaction belongs to one thread, and only
//! the answer comes later.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use napi::sys;

use super::argument::Face;
use super::border::{Answer, Failure, make_error};
use super::request::{Reply, Request, Verb, answer};
use super::server::Server;
use super::{activity, answer};
use crate::error::{Error, Result};
use crate::patience;
use crate::store::Connection;

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
    /// How long it may wait for another connection's write.
    pub timeout: Option<Duration>,
    /// A connection for this task and the later ones, where the thread has none yet.
    pub connection: Option<Connection>,
    /// The result, where it was performed at once.
    pub performed: Option<(Result<Reply>, Vec<u8>)>,
}

// SAFETY: the thread passes the listener on and never touches it; all else may move between threads.
unsafe impl Send for Task {}

/// Work as asked for.
const GO_ON: u8 = 0;
/// The connection closes: do what was asked for, but wait for nothing.
const HURRY: u8 = 1;
/// The environment ends: do nothing more.
const STOP: u8 = 2;

/// A connection's thread for operations that answer later, as the thread of its JavaScript sees it.
pub struct Queue {
    env: sys::napi_env,
    server: Weak<Server>,
    teller: Cell<sys::napi_threadsafe_function>,
    /// How many answers are due. The event loop stays alive for them.
    due: Cell<usize>,
    pace: Arc<AtomicU8>,
    sender: RefCell<Option<Sender<Task>>>,
    thread: RefCell<Option<JoinHandle<()>>>,
    connected: Cell<bool>,
    hooked: Cell<bool>,
}

/// What the thread tells its answers with; it may be used by any thread.
struct Teller(sys::napi_threadsafe_function);

// SAFETY: that is what a thread-safe function is for.
unsafe impl Send for Teller {}

impl Queue {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Internal`] when the runtime or the system refuses.
    pub fn start(env: sys::napi_env, server: &Rc<Server>) -> std::result::Result<Rc<Queue>, Failure> {
        let (sender, tasks) = channel();
        let queue = Rc::new(Queue {
            env,
            server: Rc::downgrade(server),
            teller: Cell::new(ptr::null_mut()),
            due: Cell::new(0),
            pace: Arc::new(AtomicU8::new(GO_ON)),
            sender: RefCell::new(Some(sender)),
            thread: RefCell::new(None),
            connected: Cell::new(false),
            hooked: Cell::new(true),
        });
        let context = Rc::into_raw(Rc::clone(&queue));
        let mut teller = ptr::null_mut();
        let name = answer::ascii(env, b"caretdb")?;
        // SAFETY: `forget` takes the context back when no more calls can come. The one user counted is the thread.
        let status = unsafe {
            sys::napi_create_threadsafe_function(
                env,
                ptr::null_mut(),
                ptr::null_mut(),
                name,
                0,
                1,
                context.cast_mut().cast(),
                Some(forget),
                context.cast_mut().cast(),
                Some(receive),
                &raw mut teller,
            )
        };
        if status != sys::Status::napi_ok {
            // SAFETY: nobody else took the context.
            drop(unsafe { Rc::from_raw(context) });
            return Err(Error::Internal("the runtime gives no thread-safe function".to_owned()).into());
        }
        queue.teller.set(teller);
        // SAFETY: the hook runs before the one of the thread-safe function, which was added first, and `forget` removes it.
        unsafe {
            sys::napi_unref_threadsafe_function(env, teller);
            sys::napi_add_env_cleanup_hook(env, Some(stop), context.cast_mut().cast());
        }
        let (pace, teller) = (Arc::clone(&queue.pace), Teller(teller));
        let thread =
            std::thread::Builder::new().name("caretdb-later".to_owned()).spawn(move || work(&tasks, pace, teller));
        match thread {
            Ok(thread) => *queue.thread.borrow_mut() = Some(thread),
            Err(error) => {
                // SAFETY: the thread that would have released it never ran.
                unsafe {
                    sys::napi_release_threadsafe_function(
                        queue.teller.get(),
                        sys::ThreadsafeFunctionReleaseMode::release,
                    )
                };
                return Err(Error::Internal(format!("cannot start a thread: {error}")).into());
            }
        }
        Ok(queue)
    }

    /// Whether the thread has a connection.
    pub fn is_connected(&self) -> bool {
        self.connected.get()
    }

    /// Adds an operation.
    pub fn push(&self, task: Task) {
        if task.connection.is_some() {
            self.connected.set(true);
        }
        let sender = self.sender.borrow();
        if let Some(sender) = &*sender
            && sender.send(task).is_ok()
        {
            if self.due.get() == 0 {
                // SAFETY: the function lives until the thread lets it go, which is after its last answer.
                unsafe { sys::napi_ref_threadsafe_function(self.env, self.teller.get()) };
            }
            self.due.set(self.due.get() + 1);
        }
    }

    /// Performs what was asked for without waiting for anybody, and ends the thread. The answers still come.
    pub fn finish(&self) {
        self.end(HURRY);
    }

    fn end(&self, pace: u8) {
        self.pace.store(pace, Ordering::Relaxed);
        self.sender.borrow_mut().take();
        if let Some(thread) = self.thread.borrow_mut().take() {
            let _ = thread.join();
        }
    }
}

/// The environment ends: nobody is left to tell, and nothing may wait.
unsafe extern "C" fn stop(data: *mut c_void) {
    // SAFETY: the context holds the queue, and removes this hook before it lets go.
    let queue = unsafe { &*data.cast_const().cast::<Queue>() };
    queue.hooked.set(false);
    let _ = catch_unwind(AssertUnwindSafe(|| queue.end(STOP)));
}

unsafe extern "C" fn forget(env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: this is the one place that takes the context back.
    let queue = unsafe { Rc::from_raw(data.cast_const().cast::<Queue>()) };
    if queue.hooked.replace(false) {
        // SAFETY: the hook was added with this very data.
        unsafe { sys::napi_remove_env_cleanup_hook(env, Some(stop), data) };
    }
}

thread_local! {
    static PACE: RefCell<Arc<AtomicU8>> = RefCell::default();
}

/// The thread: it performs the tasks and hands each to the teller.
fn work(tasks: &Receiver<Task>, pace: Arc<AtomicU8>, teller: Teller) {
    let Teller(teller) = teller;
    PACE.set(Arc::clone(&pace));
    patience::ask_whether_stopping(|| PACE.with_borrow(|pace| pace.load(Ordering::Relaxed) != GO_ON));
    let mut connection = None;
    let mut waited_in_vain = false;
    while let Ok(mut task) = tasks.recv() {
        if task.connection.is_some() {
            connection = task.connection.take();
        }
        let pace = pace.load(Ordering::Relaxed);
        if task.performed.is_none() {
            task.performed = Some(if pace == STOP || (pace == HURRY && waited_in_vain) {
                (Err(Error::Closed("the connection was closed before its turn came".to_owned())), Vec::new())
            } else {
                perform(&task, &mut connection)
            });
        }
        waited_in_vain = matches!(task.performed, Some((Err(Error::Busy(_)), _)));
        if pace == STOP {
            continue;
        }
        let data = Box::into_raw(Box::new(task)).cast();
        // SAFETY: this thread is the one user that was counted, and has not released the function yet.
        let status =
            unsafe { sys::napi_call_threadsafe_function(teller, data, sys::ThreadsafeFunctionCallMode::nonblocking) };
        if status != sys::Status::napi_ok {
            // SAFETY: the runtime did not take it.
            drop(unsafe { Box::from_raw(data.cast::<Task>()) });
            if status == sys::Status::napi_closing {
                return;
            }
        }
    }
    // The store goes before JavaScript can hear that all is done.
    drop(connection);
    // SAFETY: this thread does not use the function after this.
    unsafe { sys::napi_release_threadsafe_function(teller, sys::ThreadsafeFunctionReleaseMode::release) };
}

fn perform(task: &Task, connection: &mut Option<Connection>) -> (Result<Reply>, Vec<u8>) {
    let mut out = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| match connection {
        Some(connection) => {
            connection.set_timeout(task.timeout);
            task.request.perform(task.verb, task.face, connection, &mut out)
        }
        None => Err(Error::Closed("the connection is closed".to_owned())),
    }));
    let result = result.unwrap_or_else(|_| Err(Error::Internal("the addon met a state it did not expect".to_owned())));
    (result, out)
}

/// An answer has come to the thread of JavaScript. Without an environment nobody is left to be told.
unsafe extern "C" fn receive(env: sys::napi_env, _function: sys::napi_value, context: *mut c_void, data: *mut c_void) {
    // SAFETY: the task was boxed by `work`, and each comes here once. The context lives until `forget`.
    let (task, queue) = unsafe { (Box::from_raw(data.cast::<Task>()), &*context.cast_const().cast::<Queue>()) };
    queue.due.set(queue.due.get().saturating_sub(1));
    if env.is_null() {
        return;
    }
    activity::note();
    if queue.due.get() == 0 {
        // SAFETY: a call was just delivered, so the function lives.
        unsafe { sys::napi_unref_threadsafe_function(env, queue.teller.get()) };
    }
    tell(env, *task, queue.server.upgrade().as_deref());
}

/// Gives the listener its answer.
fn tell(env: sys::napi_env, task: Task, server: Option<&Server>) {
    let (result, out) = task.performed.unwrap_or_else(|| {
        (Err(Error::Closed("the runtime stopped before the operation's turn came".to_owned())), Vec::new())
    });
    let missing = matches!(result, Ok(Reply::Missing));
    let answered = result
        .map_err(Failure::from)
        .and_then(|reply| answer(env, task.verb, task.face, reply, &out, &mut Vec::new()))
        .map_err(|failure| failure.at(|| task.request.operation(task.verb)));
    if let Some(server) = server {
        server.note(&match &answered {
            Err(failure) => failure.message(),
            Ok(_) if missing => task.request.missing(task.verb).to_owned(),
            Ok(_) => String::new(),
        });
    }
    match task.listener {
        Listener::Callback(callback) => call_back(env, callback, missing || answered.is_err(), answered),
        // SAFETY: each promise is settled once.
        Listener::Promise(promise) => unsafe {
            match answered {
                Ok(value) => sys::napi_resolve_deferred(env, promise, value),
                Err(failure) => {
                    sys::napi_reject_deferred(env, promise, make_error(env, &failure).unwrap_or(ptr::null_mut()))
                }
            };
        },
    }
}

fn call_back(env: sys::napi_env, callback: sys::napi_ref, failed: bool, result: Answer) {
    let result = result.or_else(|_| answer::ascii(env, b"")).unwrap_or(ptr::null_mut());
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
