//! The class `server`: one connection as JavaScript holds it, opened and closed by the program. The other classes refer
//! to it.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::ptr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use napi::sys;

use super::answer;
use super::argument::{self, Charset, Face};
use super::border::{self, Answer, Call, Class, Entry, Failure, entry, reading, wrong_argument};
use super::copying;
use super::long_work;
use super::opening;
use super::queue::{Listener, Queue, Task};
use super::request::{Reply, Request, Verb, answer};
use super::settings;
use super::watch::Watcher;
use crate::engine::Durability;
use crate::error::Error;
use crate::key::Key;
use crate::patience;
use crate::store::Connection;

/// This version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A connection as JavaScript holds it.
#[derive(Default)]
pub struct Server {
    open: RefCell<Open>,
    /// How the mg-dbx face writes text.
    pub(super) charset: Cell<Charset>,
    /// The last failure, for `geterrormessage()`.
    pub(super) error: RefCell<String>,
    /// How long a write waits for another connection's; none waits for ever.
    pub(super) timeout: Cell<Option<Duration>>,
    /// What answers later; started with the first of these calls.
    queue: RefCell<Option<Rc<Queue>>>,
    /// Who is told of changes through this connection.
    watchers: RefCell<Vec<Weak<Watcher>>>,
}

/// What a call works with, borrowed once for each call.
#[derive(Default)]
struct Open {
    connection: Option<Connection>,
    request: Request,
    out: Vec<u8>,
}

impl Class for Rc<Server> {
    const NAME: &'static str = "server";
    const MARK: u64 = 0xCA2E_7DB0_5E2F_E201;
}

thread_local! {
    /// The servers of this thread, to be closed when its environment ends.
    static ALL: RefCell<Vec<Weak<Server>>> = const { RefCell::new(Vec::new()) };
    static ENVIRONMENT: Cell<sys::napi_env> = const { Cell::new(ptr::null_mut()) };
}

/// Prepares this thread: its connections close when its environment ends, and its waits notice when it should stop. A thread
/// that loads the addon again, for another context or after it forgot its modules, has more than one environment; they end
/// together.
pub fn attach(env: sys::napi_env) {
    patience::ask_whether_stopping(is_stopping);
    if ENVIRONMENT.replace(env).is_null() {
        // SAFETY: the hook needs no data.
        unsafe { sys::napi_add_env_cleanup_hook(env, Some(detach), ptr::null_mut()) };
    }
}

unsafe extern "C" fn detach(_data: *mut std::ffi::c_void) {
    ENVIRONMENT.set(ptr::null_mut());
    let _ = std::panic::catch_unwind(|| {
        for server in ALL.take().iter().filter_map(Weak::upgrade) {
            server.shut();
        }
    });
}

/// Whether this thread's JavaScript was told to stop: then it runs no more code, not even the least.
fn is_stopping() -> bool {
    let env = ENVIRONMENT.get();
    if env.is_null() {
        return false;
    }
    let (mut script, mut value, mut scope) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the environment is this thread's own and lives until `detach`.
    unsafe {
        sys::napi_open_handle_scope(env, &raw mut scope);
        sys::napi_create_string_utf8(env, c"0".as_ptr(), 1, &raw mut script);
        let status = sys::napi_run_script(env, script, &raw mut value);
        sys::napi_close_handle_scope(env, scope);
        status != sys::Status::napi_ok
    }
}

/// The methods of the class.
pub fn methods() -> Vec<(&'static str, Entry)> {
    vec![
        ("open", entry!(opening::open)),
        ("close", entry!(close)),
        ("version", entry!(|call| answer::utf8(call.env, VERSION.as_bytes()))),
        ("dbversion", entry!(settings::database_version)),
        ("get", reading!(|call| on_global(call, Verb::Get))),
        ("set", entry!(|call| on_global(call, Verb::Set))),
        ("delete", entry!(|call| on_global(call, Verb::Delete))),
        ("defined", reading!(|call| on_global(call, Verb::Defined))),
        ("next", reading!(|call| on_global(call, Verb::Next))),
        ("previous", reading!(|call| on_global(call, Verb::Previous))),
        ("increment", entry!(|call| on_global(call, Verb::Increment))),
        ("lock", entry!(|call| on_global(call, Verb::Lock))),
        ("unlock", entry!(|call| on_global(call, Verb::Unlock))),
        ("tstart", entry!(|call| transact(call, "tstart", Connection::start))),
        ("tcommit", entry!(|call| transact(call, "tcommit", Connection::commit))),
        ("trollback", entry!(|call| transact(call, "trollback", Connection::rollback))),
        ("tlevel", reading!(level)),
        ("start", entry!(|call| strictly(call, "transaction", Connection::start))),
        ("commit", entry!(|call| strictly(call, "transaction", Connection::commit))),
        ("rollback", entry!(|call| strictly(call, "transaction", Connection::rollback))),
        ("hold", entry!(|call| strictly(call, "snapshot", Connection::hold))),
        (
            "release",
            entry!(|call| strictly(call, "snapshot", |connection| {
                connection.release();
                Ok(())
            })),
        ),
        ("changes", reading!(changes)),
        ("readEntries", entry!(copying::read_entries)),
        ("writeEntries", entry!(copying::write_entries)),
        ("beginCopy", entry!(copying::begin_copy)),
        ("endCopy", entry!(copying::end_copy)),
        ("unfinishedCopy", entry!(copying::unfinished_copy)),
        ("syncLater", entry!(sync_later)),
        ("sync", entry!(sync)),
        ("stats", entry!(stats)),
        ("backupLater", entry!(backup)),
        ("path", entry!(path)),
        ("durability", entry!(durability)),
        ("unlockAll", entry!(unlock_all)),
        ("geterrormessage", entry!(settings::error_message)),
        ("charset", entry!(settings::charset)),
        ("settimeout", entry!(settings::set_timeout)),
        ("namespace", entry!(settings::namespace)),
        ("function", entry!(|call| unsupported(call, "function", "M routines"))),
        ("sql", entry!(|call| unsupported(call, "sql", "SQL"))),
        ("classmethod", entry!(|call| unsupported(call, "classmethod", "classes"))),
    ]
}

/// `new server()`.
pub const CONSTRUCTOR: Entry = entry!(|call| {
    let server = Rc::new(Server::default());
    server.timeout.set(Some(Duration::from_secs(10)));
    ALL.with_borrow_mut(|all| {
        all.retain(|server| server.strong_count() > 0);
        all.push(Rc::downgrade(&server));
    });
    border::wrap(call, server)
});

/// The server that a method was called on.
pub fn server<'a>(call: Call<'_>) -> Result<&'a Rc<Server>, Failure> {
    border::this::<Rc<Server>>(call)
}

impl Server {
    /// The face of the mg-dbx classes, with the charset in force.
    #[inline]
    pub fn text_face(&self) -> Face {
        Face::Text(self.charset.get())
    }

    /// Performs an operation on the node with the key `prefix` and what the arguments add to it. `place` spells the node
    /// for an error message.
    #[inline]
    pub fn operate(
        self: &Rc<Self>,
        call: Call<'_>,
        verb: Verb,
        face: Face,
        prefix: &[u8],
        arguments: &[sys::napi_value],
        place: impl Fn() -> String,
    ) -> Answer {
        let mut open = self.open.try_borrow_mut().map_err(|_| in_use())?;
        let Open { connection, request, out } = &mut *open;
        let Some(connection) = connection else {
            drop(open);
            return self.closed(call, verb, face);
        };
        let performed = match request.read(call.env, verb, face, prefix, arguments) {
            Ok(()) => request.perform(verb, face, connection, out).map_err(Failure::from),
            // No function is a subscript or a value, so a call with a callback always comes by here.
            Err(_) if face != Face::Typed && wants_callback(call) && !arguments.is_empty() => {
                drop(open);
                return self
                    .defer(call, verb, face, prefix, arguments)
                    .map_err(|failure| self.failed(failure.at(place)));
            }
            Err(failure) => Err(failure),
        };
        let answered = performed.and_then(|reply| {
            if reply == Reply::Missing {
                self.note(request.missing(verb));
            } else {
                self.note("");
            }
            answer(call.env, verb, face, reply, out, &mut request.text)
        });
        answered.map_err(|failure| self.failed(failure.at(place)))
    }

    /// Performs an operation later and calls the last argument back. Wrong arguments are told at once; other failures
    /// reach the callback.
    fn defer(
        self: &Rc<Self>,
        call: Call<'_>,
        verb: Verb,
        face: Face,
        prefix: &[u8],
        arguments: &[sys::napi_value],
    ) -> Answer {
        let Some((callback, arguments)) = arguments.split_last() else { return Err(Failure::Pending) };
        let mut request = Request::default();
        let refused = match request.read(call.env, verb, face, prefix, arguments) {
            Ok(()) => None,
            Err(Failure::Error(error, _)) if !matches!(error, Error::Argument(_)) => Some(error),
            Err(failure) => return Err(failure),
        };
        let listener = Listener::Callback(keep(call, *callback));
        match refused {
            None => self.enqueue(call, verb, face, request, listener)?,
            Some(error) => self.push(call.env, verb, face, request, listener, None, Some((Err(error), Vec::new())))?,
        }
        answer::null(call.env)
    }

    /// Performs an operation later and answers with a promise.
    pub fn promise(self: &Rc<Self>, call: Call<'_>, verb: Verb, face: Face, request: Request) -> Answer {
        if !self.is_open() {
            return Err(not_open());
        }
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: plain out-pointers.
        unsafe { sys::napi_create_promise(call.env, &raw mut deferred, &raw mut promise) };
        self.enqueue(call, verb, face, request, Listener::Promise(deferred))?;
        Ok(promise)
    }

    fn enqueue(
        self: &Rc<Self>,
        call: Call<'_>,
        verb: Verb,
        face: Face,
        request: Request,
        listener: Listener,
    ) -> Result<(), Failure> {
        let mut open = self.open.try_borrow_mut().map_err(|_| in_use())?;
        let connection = open.connection.as_mut().ok_or_else(not_open)?;
        let performed = (connection.level() > 0).then(|| {
            let mut out = Vec::new();
            (request.perform(verb, face, connection, &mut out), out)
        });
        let is_connected = self.queue.borrow().as_ref().is_some_and(|queue| queue.is_connected());
        let beside = if performed.is_some() || is_connected { None } else { Some(connection.beside()?) };
        drop(open);
        self.push(call.env, verb, face, request, listener, beside, performed)
    }

    /// Adds a task to the queue, which is started with the first one.
    #[allow(clippy::too_many_arguments)] // they are the parts of a task
    pub(super) fn push(
        self: &Rc<Self>,
        env: sys::napi_env,
        verb: Verb,
        face: Face,
        request: Request,
        listener: Listener,
        connection: Option<Connection>,
        performed: Option<(crate::error::Result<Reply>, Vec<u8>)>,
    ) -> Result<(), Failure> {
        let mut queue = self.queue.borrow_mut();
        let queue = match &mut *queue {
            Some(queue) => queue,
            none => none.insert(Queue::start(env, self)?),
        };
        queue.push(Task { verb, face, request, listener, timeout: self.timeout.get(), connection, performed });
        Ok(())
    }

    /// What an operation answers without an open store: the mg-dbx face stays silent, as mg-dbx-napi does before `open`.
    /// Documents are no part of that face.
    #[cold]
    fn closed(self: &Rc<Self>, call: Call<'_>, verb: Verb, face: Face) -> Answer {
        if face == Face::Typed || verb.is_about_documents() {
            return Err(self.failed(not_open().at(|| verb.name().to_owned())));
        }
        self.note("the connection is closed: call open first");
        let Some(callback) = call.arguments.last().filter(|_| wants_callback(call)) else {
            return answer::ascii(call.env, b"");
        };
        let listener = Listener::Callback(keep(call, *callback));
        let error = Error::Closed("the connection is closed: call open first".to_owned());
        self.push(call.env, verb, face, Request::default(), listener, None, Some((Err(error), Vec::new())))?;
        answer::null(call.env)
    }

    /// Runs `work` on the open connection.
    ///
    /// # Errors
    /// [`Error::Closed`] where none is open, and what `work` answers.
    pub fn with<R>(&self, work: impl FnOnce(&mut Connection) -> crate::error::Result<R>) -> Result<R, Failure> {
        let mut open = self.open.try_borrow_mut().map_err(|_| in_use())?;
        let connection = open.connection.as_mut().ok_or_else(not_open)?;
        work(connection).map_err(|error| self.failed(error.into()))
    }

    /// Takes an opened connection as this server's own.
    pub(super) fn take(&self, connection: Connection) -> Result<(), Failure> {
        self.open.try_borrow_mut().map_err(|_| in_use())?.connection = Some(connection);
        Ok(())
    }

    /// Whether a store is open.
    pub fn is_open(&self) -> bool {
        self.open.try_borrow().is_ok_and(|open| open.connection.is_some())
    }

    /// Keeps a message for `geterrormessage()`.
    pub fn note(&self, message: &str) {
        let mut error = self.error.borrow_mut();
        error.clear();
        error.push_str(message);
    }

    /// Keeps the message of a failure on its way out.
    pub fn failed(&self, failure: Failure) -> Failure {
        self.note(&failure.message());
        failure
    }

    /// Makes a watcher end with the connection.
    pub fn keep(&self, watcher: &Rc<Watcher>) {
        let mut watchers = self.watchers.borrow_mut();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(Rc::downgrade(watcher));
    }

    /// Closes the connection: its transaction is rolled back and its locks are released.
    fn shut(&self) {
        for watcher in self.watchers.take().iter().filter_map(Weak::upgrade) {
            watcher.close();
        }
        if let Ok(mut open) = self.open.try_borrow_mut()
            && let Some(mut connection) = open.connection.take()
        {
            connection.rollback_all();
            connection.unlock_all();
        }
        // After the rollback, so that what was asked for need not wait for this connection's own transaction.
        if let Some(queue) = self.queue.take() {
            queue.finish();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut();
    }
}

/// Keeps a callback until it is called.
pub fn keep(call: Call<'_>, callback: sys::napi_value) -> sys::napi_ref {
    let mut reference = ptr::null_mut();
    // SAFETY: the caller has seen that it is a function.
    unsafe { sys::napi_create_reference(call.env, callback, 1, &raw mut reference) };
    reference
}

fn in_use() -> Failure {
    Error::Busy("the connection is inside another call".to_owned()).into()
}

fn not_open() -> Failure {
    Error::Closed("the connection is closed: call open first".to_owned()).into()
}

/// Whether the last argument is a callback: a function that is not the only argument.
fn wants_callback(call: Call<'_>) -> bool {
    call.arguments.len() >= 2 && call.arguments.last().is_some_and(|last| argument::is_function(call.env, *last))
}

/// An operation whose first argument names the global.
fn on_global(call: Call<'_>, verb: Verb) -> Answer {
    let server = server(call)?;
    if !server.is_open() {
        return server.closed(call, verb, server.text_face());
    }
    let refused = |failure: Failure| server.failed(failure.at(|| verb.name().to_owned()));
    let Some((name, arguments)) = call.arguments.split_first() else {
        return Err(refused(wrong_argument("the global's name is missing")));
    };
    let name = argument::text(call.env, *name, "the global's name").map_err(refused)?;
    let mut key = Key::new();
    key.global(&name).map_err(|error| refused(error.into()))?;
    server.operate(call, verb, server.text_face(), key.as_bytes(), arguments, || {
        format!(
            "{} {}",
            verb.name(),
            argument::spell_node(call, name.trim_start_matches('^'), &[], verb.subscripts(call.env, arguments))
        )
    })
}

fn close(call: Call<'_>) -> Answer {
    let server = server(call)?;
    server.shut();
    server.note("");
    answer::ascii(call.env, b"1")
}

fn transact(call: Call<'_>, name: &str, work: impl FnOnce(&mut Connection) -> crate::error::Result<()>) -> Answer {
    let server = server(call)?;
    if !server.is_open() {
        return answer::ascii(call.env, b"");
    }
    let level = server.with(|connection| Ok(connection.level()))?;
    match server.with(work) {
        Ok(()) => {
            server.note("");
            answer::ascii(call.env, b"0")
        }
        // Only an end without a start is silent on this face; a start that is refused is not.
        Err(Failure::Error(Error::Transaction(_), _)) if level == 0 && name != "tstart" => answer::ascii(call.env, b""),
        Err(failure) => Err(server.failed(failure.at(|| name.to_owned()))),
    }
}

/// A call of the native face on the whole connection: every failure throws.
fn strictly(call: Call<'_>, name: &str, work: impl FnOnce(&mut Connection) -> crate::error::Result<()>) -> Answer {
    let server = server(call)?;
    server.with(work).map_err(|failure| server.failed(failure.at(|| name.to_owned())))?;
    answer::undefined(call.env)
}

/// A number that changes when anything in the store changed.
fn changes(call: Call<'_>) -> Answer {
    #[allow(clippy::cast_precision_loss)] // only the last changes count
    let version = server(call)?.with(|connection| Ok((connection.version() & ((1 << 52) - 1)) as f64))?;
    answer::number(call.env, version)
}

fn level(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if !server.is_open() {
        return answer::ascii(call.env, b"");
    }
    let level = server.with(|connection| Ok(connection.level()))?;
    answer::ascii(call.env, level.to_string().as_bytes())
}

/// `sync` that answers with a promise.
fn sync_later(call: Call<'_>) -> Answer {
    server(call)?
        .promise(call, Verb::Sync, Face::Typed, Request::default())
        .map_err(|failure| failure.at(|| Verb::Sync.name().to_owned()))
}

fn sync(call: Call<'_>) -> Answer {
    let server = server(call)?;
    server.with(|connection| connection.store().sync()).map_err(|failure| failure.at(|| "sync".to_owned()))?;
    answer::undefined(call.env)
}

fn stats(call: Call<'_>) -> Answer {
    let stats = server(call)?.with(|connection| connection.store().stats())?;
    let object = answer::object(call.env)?;
    let figures = [("entries", stats.entries), ("diskBytes", stats.disk_bytes)];
    for (name, figure) in figures.into_iter().chain(stats.details) {
        #[allow(clippy::cast_precision_loss)] // figures of files and counts, far below 2^53
        let figure = answer::number(call.env, figure as f64)?;
        // SAFETY: both handles were made just now in this environment.
        unsafe { border::set_property(call.env, object, name, figure) };
    }
    let warnings = stats.warnings.iter().map(|warning| answer::utf8(call.env, warning.as_bytes()));
    let warnings = answer::array(call.env, &warnings.collect::<Result<Vec<_>, _>>()?)?;
    // SAFETY: as above.
    unsafe { border::set_property(call.env, object, "warnings", warnings) };
    Ok(object)
}

/// `backupLater(path, report)`: see [`long_work::start`].
fn backup(call: Call<'_>) -> Answer {
    let server = server(call)?;
    let [path, report] = call.arguments else { return Err(wrong_argument("backupLater takes two arguments")) };
    let path = PathBuf::from(argument::text(call.env, *path, "the path of a backup")?);
    let store = server.with(|connection| Ok(Arc::clone(connection.store())))?;
    let timeout = server.timeout.get();
    long_work::start(call.env, "backup", *report, move |report| {
        store.backup(&path, timeout, report).map(|()| String::new())
    })
}

/// What the store promises, by name; empty where the engine has no choice, or nothing is open.
fn durability(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if !server.is_open() {
        return answer::ascii(call.env, b"");
    }
    let durability = server.with(|connection| Ok(connection.store().durability()))?;
    answer::ascii(call.env, durability.map_or("", Durability::name).as_bytes())
}

/// Gives all locks of the connection back.
fn unlock_all(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if server.is_open() {
        server.with(|connection| {
            connection.unlock_all();
            Ok(())
        })?;
    }
    answer::undefined(call.env)
}

fn path(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if !server.is_open() {
        return answer::ascii(call.env, b"");
    }
    let path = server.with(|connection| Ok(connection.store().path().display().to_string()))?;
    answer::utf8(call.env, path.as_bytes())
}

/// What belongs to M products and not to a store.
pub fn unsupported(call: Call<'_>, name: &str, what: &str) -> Answer {
    let failure = Failure::from(Error::Unsupported(format!("{name}: CaretDB keeps globals and has no {what}")));
    Err(match server(call) {
        Ok(server) => server.failed(failure),
        Err(_) => failure,
    })
}

/// The `server` given as a constructor's first argument.
pub fn first_argument(call: Call<'_>, class: &str) -> Result<Rc<Server>, Failure> {
    call.arguments
        .first()
        .and_then(|value| border::unwrap::<Rc<Server>>(call.env, *value))
        .map(Rc::clone)
        .ok_or_else(|| wrong_argument(format!("new {class}: the first argument must be a server")))
}
