//! The class `Watcher`: a thread reads what is committed, and JavaScript takes it, one transaction after another, when it
//! likes. What it has not taken waits in memory up to a limit; behind that the thread lets the log go by, and then tells
//! that something was lost.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use napi::sys;
use parking_lot::{Condvar, Mutex};

use super::answer;
use super::argument::{self, Face};
use super::border::{self, Answer, Call, Class, Entry, Failure, entry, wrong_argument};
use super::{reference, server};
use crate::engine::{Batch, News, Watch};
use crate::error::{Error, Result};
use crate::key;
use crate::watch::{Change, changes};

/// How long the thread waits for news before it looks whether it should stop.
const SLICE: Duration = Duration::from_millis(100);
/// How many bytes of changes wait for JavaScript at most, and what each change is taken to add.
const MOST: usize = 64 << 20;
const OVERHEAD: usize = 64;

/// A watcher as JavaScript holds it.
pub struct Watcher {
    env: sys::napi_env,
    node: Vec<u8>,
    waiting: Arc<Waiting>,
    teller: Cell<sys::napi_threadsafe_function>,
    thread: RefCell<Option<JoinHandle<()>>>,
    wake: RefCell<Option<Box<dyn Fn() + Send>>>,
    hooked: Cell<bool>,
}

/// What has been read and not yet taken.
#[derive(Default)]
struct Waiting {
    list: Mutex<List>,
    /// Something was taken, or the thread should stop.
    taken: Condvar,
    stopping: AtomicBool,
}

#[derive(Default)]
struct List {
    told: VecDeque<Told>,
    bytes: usize,
    /// JavaScript found the list empty, and wants to be called when it is not.
    wanted: bool,
}

enum Told {
    Transaction(u64, Batch),
    Lost,
    Failed(Error),
}

impl Told {
    fn size(&self) -> usize {
        match self {
            Told::Transaction(_, batch) => batch.size() + (batch.len() + 1) * OVERHEAD,
            Told::Lost | Told::Failed(_) => OVERHEAD,
        }
    }
}

impl Class for Rc<Watcher> {
    const NAME: &'static str = "Watcher";
    const MARK: u64 = 0xCA2E_7DB0_3A7C_4E01;
}

/// `new Watcher(server, ready [, name, ...subscripts])`: `ready()` is called when there is something to take after
/// `take` has answered undefined.
pub const CONSTRUCTOR: Entry = entry!(|call| {
    let server = server::first_argument(call, "Watcher")?;
    let Some(ready) = call.arguments.get(1).copied().filter(|ready| argument::is_function(call.env, *ready)) else {
        return Err(wrong_argument("the second argument must be a function"));
    };
    let node = match &call.arguments[2..] {
        [] => Vec::new(),
        place => reference::read_key(call, "watch", Face::Typed, place)?,
    };
    let watch = server.with(|connection| connection.store().watch(&node))?;
    let watcher = Watcher::start(call.env, ready, node, watch)?;
    server.keep(&watcher);
    border::wrap(call, watcher)
});

/// The methods of the class.
pub fn methods() -> Vec<(&'static str, Entry)> {
    vec![
        ("take", entry!(take)),
        ("close", entry!(|call| with(call, Watcher::close))),
        ("ref", entry!(|call| with(call, |watcher| watcher.keep_alive(true)))),
        ("unref", entry!(|call| with(call, |watcher| watcher.keep_alive(false)))),
    ]
}

fn with(call: Call<'_>, work: impl FnOnce(&Watcher)) -> Answer {
    work(border::this::<Rc<Watcher>>(call)?);
    answer::undefined(call.env)
}

/// The next transaction as `[number, kind, name, subscripts, value, kind, …]`, null where something was lost, undefined
/// where there is nothing yet.
fn take(call: Call<'_>) -> Answer {
    let watcher = border::this::<Rc<Watcher>>(call)?;
    let told = {
        let mut list = watcher.waiting.list.lock();
        let told = list.told.pop_front();
        match &told {
            Some(told) => list.bytes -= told.size(),
            None => list.wanted = true,
        }
        told
    };
    watcher.waiting.taken.notify_one();
    match told {
        None => answer::undefined(call.env),
        Some(Told::Lost) => answer::null(call.env),
        Some(Told::Failed(error)) => Err(Failure::from(error).at(|| "watch".to_owned())),
        Some(Told::Transaction(number, batch)) => show(call.env, number, &batch, &watcher.node),
    }
}

fn show(env: sys::napi_env, number: u64, batch: &Batch, node: &[u8]) -> Answer {
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let mut members = vec![answer::number(env, number as f64)?];
    let mut text = Vec::new();
    for change in changes(batch, node) {
        let (kind, key, value) = match change {
            Change::Set(key, value) => ("set", key, Some(value)),
            Change::Delete(key) => ("delete", key, None),
            Change::DeleteValue(key) => ("deleteValue", key, None),
        };
        let (name, encoded) = key::split(key).ok_or_else(|| Error::Internal("a key without a name".to_owned()))?;
        let subscripts = key::subscripts(encoded)
            .map(|subscript| answer::subscript(env, subscript, Face::Typed, &mut text))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        members.push(answer::ascii(env, kind.as_bytes())?);
        members.push(answer::ascii(env, name.as_bytes())?);
        members.push(answer::array(env, &subscripts)?);
        members.push(match value {
            // A string longer than this runtime takes is told of without its text.
            Some(value) => answer::stored(env, value, Face::Typed).or_else(|_| answer::undefined(env))?,
            None => answer::undefined(env)?,
        });
    }
    answer::array(env, &members)
}

impl Watcher {
    fn start(
        env: sys::napi_env,
        ready: sys::napi_value,
        node: Vec<u8>,
        watch: Box<dyn Watch>,
    ) -> std::result::Result<Rc<Watcher>, Failure> {
        let watcher = Rc::new(Watcher {
            env,
            node: node.clone(),
            waiting: Arc::default(),
            teller: Cell::new(ptr::null_mut()),
            thread: RefCell::new(None),
            wake: RefCell::new(Some(watch.waker())),
            hooked: Cell::new(true),
        });
        let context = Rc::into_raw(Rc::clone(&watcher)).cast_mut().cast::<c_void>();
        let mut teller = ptr::null_mut();
        let name = answer::ascii(env, b"caretdb-watch")?;
        // SAFETY: `forget` takes the context back when no more calls can come. The one user counted is the thread.
        let status = unsafe {
            sys::napi_create_threadsafe_function(
                env,
                ready,
                ptr::null_mut(),
                name,
                0,
                1,
                context,
                Some(forget),
                context,
                Some(call_ready),
                &raw mut teller,
            )
        };
        if status != sys::Status::napi_ok {
            // SAFETY: nobody else took the context.
            drop(unsafe { Rc::from_raw(context.cast_const().cast::<Watcher>()) });
            return Err(Error::Internal("the runtime gives no thread-safe function".to_owned()).into());
        }
        watcher.teller.set(teller);
        // SAFETY: the hook runs before the one of the thread-safe function, which was added first, and `forget` removes it.
        unsafe { sys::napi_add_env_cleanup_hook(env, Some(stop), context) };
        let (waiting, teller) = (Arc::clone(&watcher.waiting), Teller(teller));
        let thread = std::thread::Builder::new()
            .name("caretdb-watch".to_owned())
            .spawn(move || teller.read_on(&waiting, watch, &node));
        match thread {
            Ok(thread) => *watcher.thread.borrow_mut() = Some(thread),
            Err(error) => {
                // SAFETY: the thread that would have released it never ran.
                unsafe {
                    sys::napi_release_threadsafe_function(
                        watcher.teller.take(),
                        sys::ThreadsafeFunctionReleaseMode::release,
                    )
                };
                return Err(Error::Internal(format!("cannot start a thread: {error}")).into());
            }
        }
        Ok(watcher)
    }

    /// Ends the thread, which lets go of the store. What was not taken is forgotten.
    pub fn close(&self) {
        self.waiting.stopping.store(true, Ordering::Release);
        drop(self.waiting.list.lock());
        self.waiting.taken.notify_one();
        if let Some(wake) = self.wake.borrow_mut().take() {
            wake();
        }
        if let Some(thread) = self.thread.borrow_mut().take() {
            let _ = thread.join();
        }
        *self.waiting.list.lock() = List::default();
    }

    /// Whether the event loop goes on for this watcher's sake.
    fn keep_alive(&self, alive: bool) {
        let teller = self.teller.get();
        if self.thread.borrow().is_none() || teller.is_null() {
            return;
        }
        // SAFETY: the function lives until `forget`, which empties the cell.
        unsafe {
            if alive {
                sys::napi_ref_threadsafe_function(self.env, teller);
            } else {
                sys::napi_unref_threadsafe_function(self.env, teller);
            }
        }
    }
}

/// What calls JavaScript from the thread; it may be used by any one.
struct Teller(sys::napi_threadsafe_function);

// SAFETY: that is what a thread-safe function is for.
unsafe impl Send for Teller {}

impl Teller {
    /// The thread: it reads what is committed until it should stop.
    fn read_on(self, waiting: &Waiting, mut watch: Box<dyn Watch>, node: &[u8]) {
        while !waiting.stopping.load(Ordering::Acquire) {
            let told = catch_unwind(AssertUnwindSafe(|| next(&mut *watch, node)))
                .unwrap_or_else(|_| Err(Error::Internal("the addon met a state it did not expect".to_owned())));
            match told {
                Ok(None) => {}
                Ok(Some(told)) => self.add(waiting, told, &mut *watch),
                Err(error) => {
                    self.add(waiting, Told::Failed(error), &mut *watch);
                    break;
                }
            }
        }
        // The store goes before JavaScript can hear that all is done.
        drop(watch);
        // SAFETY: this thread does not use the function after this.
        unsafe { sys::napi_release_threadsafe_function(self.0, sys::ThreadsafeFunctionReleaseMode::release) };
    }

    /// Adds to the list, once there is room in it.
    fn add(&self, waiting: &Waiting, told: Told, watch: &mut dyn Watch) {
        let size = told.size();
        let mut list = waiting.list.lock();
        if !list.told.is_empty() && list.bytes + size > MOST {
            watch.let_go();
        }
        while !list.told.is_empty() && list.bytes + size > MOST {
            if waiting.stopping.load(Ordering::Acquire) {
                return;
            }
            waiting.taken.wait(&mut list);
        }
        list.bytes += size;
        list.told.push_back(told);
        if std::mem::take(&mut list.wanted) {
            drop(list);
            // SAFETY: this thread is the one user that was counted, and has not released the function yet.
            unsafe {
                sys::napi_call_threadsafe_function(
                    self.0,
                    ptr::null_mut(),
                    sys::ThreadsafeFunctionCallMode::nonblocking,
                )
            };
        }
    }
}

/// What is to be told next, none where there is nothing yet.
fn next(watch: &mut dyn Watch, node: &[u8]) -> Result<Option<Told>> {
    let mut batch = Batch::new();
    Ok(match watch.next(SLICE, &mut batch)? {
        News::Transaction(number) if changes(&batch, node).next().is_some() => Some(Told::Transaction(number, batch)),
        News::Transaction(_) | News::Nothing => None,
        News::Lost => Some(Told::Lost),
    })
}

/// The environment ends: nobody is left to tell.
unsafe extern "C" fn stop(data: *mut c_void) {
    // SAFETY: the context holds the watcher, and removes this hook before it lets go.
    let watcher = unsafe { &*data.cast_const().cast::<Watcher>() };
    watcher.hooked.set(false);
    let _ = catch_unwind(AssertUnwindSafe(|| watcher.close()));
}

unsafe extern "C" fn forget(env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: this is the one place that takes the context back.
    let watcher = unsafe { Rc::from_raw(data.cast_const().cast::<Watcher>()) };
    watcher.teller.set(ptr::null_mut());
    if watcher.hooked.replace(false) {
        // SAFETY: the hook was added with this very data.
        unsafe { sys::napi_remove_env_cleanup_hook(env, Some(stop), data) };
    }
}

/// Tells JavaScript that there is something to take.
unsafe extern "C" fn call_ready(env: sys::napi_env, ready: sys::napi_value, _context: *mut c_void, _data: *mut c_void) {
    if env.is_null() {
        return;
    }
    // SAFETY: both handles are of this environment. What the function throws becomes an uncaught exception.
    unsafe {
        let (mut this, mut answered) = (ptr::null_mut(), ptr::null_mut());
        sys::napi_get_undefined(env, &raw mut this);
        let status = sys::napi_call_function(env, this, ready, 0, ptr::null(), &raw mut answered);
        if status == sys::Status::napi_pending_exception {
            let mut exception = ptr::null_mut();
            sys::napi_get_and_clear_last_exception(env, &raw mut exception);
            sys::napi_fatal_exception(env, exception);
        }
    }
}
