//! Work on a whole store, such as a backup: it runs on a thread of its own, tells how far it has come, and settles a
//! promise. It ends early when whoever is told says so, or when its environment ends.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use napi::sys;

use super::answer;
use super::argument;
use super::border::{Answer, Call, Failure, make_error};
use crate::engine::Report;
use crate::error::{Error, Result};
use crate::patience;

/// How often progress is told.
const EVERY: Duration = Duration::from_millis(50);

/// One piece of work, as the thread of its JavaScript sees it.
struct Work {
    name: &'static str,
    promise: sys::napi_deferred,
    report: sys::napi_ref,
    teller: Cell<sys::napi_threadsafe_function>,
    cancelled: Arc<AtomicBool>,
    thread: RefCell<Option<JoinHandle<()>>>,
    hooked: Cell<bool>,
}

/// What the thread has to tell.
enum News {
    Progress(u64, u64),
    Done(Result<String>),
}

/// What the thread tells it with; it may be used by any thread.
struct Teller(sys::napi_threadsafe_function);

// SAFETY: that is what a thread-safe function is for.
unsafe impl Send for Teller {}

impl Teller {
    fn tell(&self, news: News) {
        let data = Box::into_raw(Box::new(news));
        // SAFETY: the work's thread is the one user that was counted, and it has not released the function yet.
        let status = unsafe {
            sys::napi_call_threadsafe_function(self.0, data.cast(), sys::ThreadsafeFunctionCallMode::nonblocking)
        };
        if status != sys::Status::napi_ok {
            // SAFETY: the runtime did not take it.
            drop(unsafe { Box::from_raw(data) });
        }
    }
}

/// Runs `work` on a thread of its own. `report`, a function, is called with how much is done and of how much, and ends the
/// work by answering false. The promise becomes the text that the work answers, undefined where it is empty.
pub fn start(
    env: sys::napi_env,
    name: &'static str,
    report: sys::napi_value,
    work: impl FnOnce(&mut Report<'_>) -> Result<String> + Send + 'static,
) -> Answer {
    let (mut deferred, mut promise, mut reference) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    if !argument::is_function(env, report) {
        return Err(Error::Argument(format!("{name} needs a function to report to")).into());
    }
    // SAFETY: plain out-pointers, and `report` is a function.
    unsafe {
        sys::napi_create_promise(env, &raw mut deferred, &raw mut promise);
        sys::napi_create_reference(env, report, 1, &raw mut reference);
    }
    let cancelled = Arc::new(AtomicBool::new(false));
    let known = Rc::new(Work {
        name,
        promise: deferred,
        report: reference,
        teller: Cell::new(ptr::null_mut()),
        cancelled: Arc::clone(&cancelled),
        thread: RefCell::new(None),
        hooked: Cell::new(true),
    });
    let teller = make_teller(env, &known)?;
    let spawned =
        std::thread::Builder::new().name(format!("caretdb-{name}")).spawn(move || perform(&teller, &cancelled, work));
    match spawned {
        Ok(thread) => {
            *known.thread.borrow_mut() = Some(thread);
            RUNNING.with_borrow_mut(|running| running.push(Rc::downgrade(&known)));
            Ok(promise)
        }
        Err(error) => {
            // SAFETY: the thread that would have released it never ran.
            unsafe {
                sys::napi_release_threadsafe_function(known.teller.get(), sys::ThreadsafeFunctionReleaseMode::release)
            };
            Err(Error::Internal(format!("cannot start a thread: {error}")).into())
        }
    }
}

fn make_teller(env: sys::napi_env, work: &Rc<Work>) -> std::result::Result<Teller, Failure> {
    let name = answer::ascii(env, b"caretdb")?;
    let context = Rc::into_raw(Rc::clone(work)).cast_mut().cast::<c_void>();
    let mut teller = ptr::null_mut();
    // SAFETY: `forget` takes the context back when no more calls can come. The one user counted is the thread.
    let status = unsafe {
        sys::napi_create_threadsafe_function(
            env,
            ptr::null_mut(),
            ptr::null_mut(),
            name,
            0,
            1,
            context,
            Some(forget),
            context,
            Some(receive),
            &raw mut teller,
        )
    };
    if status != sys::Status::napi_ok {
        // SAFETY: nobody else took the context.
        drop(unsafe { Rc::from_raw(context.cast_const().cast::<Work>()) });
        return Err(Error::Internal("the runtime gives no thread-safe function".to_owned()).into());
    }
    work.teller.set(teller);
    // SAFETY: the hook runs before the one of the thread-safe function, which was added first, and `forget` removes it.
    unsafe { sys::napi_add_env_cleanup_hook(env, Some(stop), context) };
    Ok(Teller(teller))
}

/// The environment ends: so does the work.
unsafe extern "C" fn stop(data: *mut c_void) {
    // SAFETY: the context holds the work, and removes this hook before it lets go.
    let work = unsafe { &*data.cast_const().cast::<Work>() };
    work.hooked.set(false);
    work.cancelled.store(true, Ordering::Relaxed);
    if let Some(thread) = work.thread.take() {
        let _ = thread.join();
    }
}

unsafe extern "C" fn forget(env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: this is the one place that takes the context back.
    let work = unsafe { Rc::from_raw(data.cast_const().cast::<Work>()) };
    if work.hooked.replace(false) {
        // SAFETY: the hook was added with this very data.
        unsafe { sys::napi_remove_env_cleanup_hook(env, Some(stop), data) };
    }
    if !env.is_null() {
        // SAFETY: the reference was made for this work.
        unsafe { sys::napi_delete_reference(env, work.report) };
    }
}

thread_local! {
    /// The work that the JavaScript of this thread has started.
    static RUNNING: RefCell<Vec<Weak<Work>>> = const { RefCell::new(Vec::new()) };
}

/// `breakOff(report)`: ends the work that reports to this function, as soon as it notices.
pub fn break_off(call: Call<'_>) -> Answer {
    RUNNING.with_borrow_mut(|running| {
        running.retain(|work| work.strong_count() > 0);
        for work in running.iter().filter_map(Weak::upgrade) {
            let (mut report, mut same) = (ptr::null_mut(), false);
            // SAFETY: the reference lives as long as the work, and the arguments are handles of this call.
            unsafe {
                sys::napi_get_reference_value(call.env, work.report, &raw mut report);
                if let Some(given) = call.arguments.first() {
                    sys::napi_strict_equals(call.env, report, *given, &raw mut same);
                }
            }
            if same {
                work.cancelled.store(true, Ordering::Relaxed);
            }
        }
    });
    answer::undefined(call.env)
}

thread_local! {
    static CANCELLED: RefCell<Arc<AtomicBool>> = RefCell::default();
}

/// The thread.
fn perform(
    teller: &Teller,
    cancelled: &Arc<AtomicBool>,
    work: impl FnOnce(&mut Report<'_>) -> Result<String> + Send + 'static,
) {
    CANCELLED.set(Arc::clone(cancelled));
    patience::ask_whether_stopping(|| CANCELLED.with_borrow(|cancelled| cancelled.load(Ordering::Relaxed)));
    let mut told = Instant::now();
    let mut report = |done, of| {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Error::Busy("the work was broken off".to_owned()));
        }
        if told.elapsed() >= EVERY || (done == of && of > 0) {
            told = Instant::now();
            teller.tell(News::Progress(done, of));
        }
        Ok(())
    };
    // What the work holds, a store perhaps, goes before JavaScript can hear that all is done.
    let result = catch_unwind(AssertUnwindSafe(|| work(&mut report)))
        .unwrap_or_else(|_| Err(Error::Internal("the addon met a state it did not expect".to_owned())));
    teller.tell(News::Done(result));
    // SAFETY: this thread does not use the function after this.
    unsafe { sys::napi_release_threadsafe_function(teller.0, sys::ThreadsafeFunctionReleaseMode::release) };
}

/// News have come to the thread of JavaScript. Without an environment nobody is left to be told.
unsafe extern "C" fn receive(env: sys::napi_env, _function: sys::napi_value, context: *mut c_void, data: *mut c_void) {
    // SAFETY: the news were boxed by `tell`, and each come here once. The context lives until `forget`.
    let (news, work) = unsafe { (Box::from_raw(data.cast::<News>()), &*context.cast_const().cast::<Work>()) };
    if env.is_null() {
        return;
    }
    match *news {
        News::Progress(done, of) => {
            if !tell_progress(env, work, done, of) {
                work.cancelled.store(true, Ordering::Relaxed);
            }
        }
        News::Done(result) => settle(env, work, result),
    }
}

/// Calls the function that reports are for. False when it answers that, or fails.
#[allow(clippy::cast_precision_loss)] // counts of entries, far below 2^53
fn tell_progress(env: sys::napi_env, work: &Work, done: u64, of: u64) -> bool {
    let (Ok(done), Ok(of)) = (answer::number(env, done as f64), answer::number(env, of as f64)) else { return false };
    // SAFETY: the reference was made for this function and lives until `forget`.
    unsafe {
        let (mut function, mut this, mut answered) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        sys::napi_get_reference_value(env, work.report, &raw mut function);
        sys::napi_get_undefined(env, &raw mut this);
        let arguments = [done, of];
        let status = sys::napi_call_function(env, this, function, 2, arguments.as_ptr(), &raw mut answered);
        if status == sys::Status::napi_pending_exception {
            let mut exception = ptr::null_mut();
            sys::napi_get_and_clear_last_exception(env, &raw mut exception);
        }
        status == sys::Status::napi_ok && argument::boolean(env, answered)
    }
}

fn settle(env: sys::napi_env, work: &Work, result: Result<String>) {
    let answered = match result {
        Ok(text) if text.is_empty() => answer::undefined(env),
        Ok(text) => answer::utf8(env, text.as_bytes()),
        Err(error) => Err(Failure::from(error)),
    };
    // SAFETY: the promise is settled once, here.
    unsafe {
        match answered.map_err(|failure| failure.at(|| work.name.to_owned())) {
            Ok(value) => sys::napi_resolve_deferred(env, work.promise, value),
            Err(failure) => {
                let error = make_error(env, &failure).unwrap_or(ptr::null_mut());
                sys::napi_reject_deferred(env, work.promise, error)
            }
        }
    };
}
