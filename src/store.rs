//! Stores and connections. A store is one opened folder, shared by all threads of the process; a connection is one
//! user's way into it, with a transaction and a timeout of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;
use std::{env, fs};

use parking_lot::Mutex;

use crate::engine::{self, Durability, Engine, Options, Report, Secret, Session, Stats, Watch};
use crate::error::{Error, Result};
use crate::index::{Indexes, UNKNOWN};
use crate::lock::{self, Locks};
use crate::transaction::Levels;

/// The environment variable that names the store's folder where a program does not.
pub const PATH_VARIABLE: &str = "CARETDB_PATH";
/// The folder used where neither the program nor the environment names one.
pub const DEFAULT_PATH: &str = "caretdb-data";

/// The global of the product's own bookkeeping, hidden from directories unless asked for.
pub const OWN_GLOBAL: &str = "%caretdb";

/// One opened folder, or one server's table.
pub struct Store {
    engine: Box<dyn Engine>,
    path: PathBuf,
    /// What tells the folder from another that took its name.
    identity: (u64, u64),
}

/// The stores this process has open on servers, by URL.
static SERVED: LazyLock<Mutex<HashMap<String, Weak<Store>>>> = LazyLock::new(Mutex::default);

/// The stores this process has open, by canonical path. The map is held while one opens, so that two threads share it.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Store>>>> = LazyLock::new(Mutex::default);

impl Store {
    /// Opens the store in a folder, or finds it open in this process. Without a path the folder is `CARETDB_PATH`, else
    /// `./caretdb-data`. A path that is a URL of the engine `postgres` is a server's table.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no folder and none may be made, or where the path is a file; what the engine
    /// answers; [`Error::Argument`] where the store is open in this process with another engine.
    ///
    /// ```
    /// use caretdb::{engine::Options, store::Store};
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(Some(folder.path()), &Options::default())?;
    /// assert!(store.path().is_absolute());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: Option<&Path>, options: &Options) -> Result<Arc<Store>> {
        let path = path.map_or_else(default_path, Path::to_path_buf);
        if let Some(url) = url(&path, options)? {
            return Store::open_served(&url, options);
        }
        let path = settle_folder(&path, options.create)?;
        let mut open = OPEN.lock();
        let identity = engine::identity(&path)?;
        // A folder that was deleted or moved away and made anew is another store.
        let here = open.get(&path).and_then(Weak::upgrade).filter(|store| store.identity == identity);
        if let Some(store) = here {
            if store.engine.name() != options.engine {
                return Err(Error::Argument(format!(
                    "{} is open in this process with the engine '{}', not '{}'",
                    path.display(),
                    store.engine.name(),
                    options.engine
                )));
            }
            if let Some(wanted) = options.durability
                && store.engine.durability() != Some(wanted)
            {
                return Err(Error::Locked(format!(
                    "{} is open in this process with {}, not '{}': close it first",
                    path.display(),
                    store.engine.durability().map_or_else(
                        || "no durability named".to_owned(),
                        |has| format!("the durability '{}'", has.name())
                    ),
                    wanted.name()
                )));
            }
            return Ok(store);
        }
        let store = Arc::new(Store { engine: engine::open(&path, options)?, path: path.clone(), identity });
        open.retain(|_, store| store.strong_count() > 0);
        open.insert(path, Arc::downgrade(&store));
        Ok(store)
    }

    fn open_served(url: &str, options: &Options) -> Result<Arc<Store>> {
        if options.durability.is_some() {
            return Err(Error::Unsupported(
                "the durability of the engine 'postgres' is the server's own: leave the option out".to_owned(),
            ));
        }
        if let Some(store) = SERVED.lock().get(url).and_then(Weak::upgrade) {
            return Ok(store);
        }
        // A server may take its time, and other stores should not wait for it.
        let engine = engine::postgres::Postgres::open(url, options)?;
        let path = PathBuf::from(engine.shown());
        let mut open = SERVED.lock();
        if let Some(store) = open.get(url).and_then(Weak::upgrade) {
            return Ok(store);
        }
        let store = Arc::new(Store { engine: Box::new(engine), path, identity: (0, 0) });
        open.retain(|_, store| store.strong_count() > 0);
        open.insert(url.to_owned(), Arc::downgrade(&store));
        Ok(store)
    }

    /// A new connection.
    ///
    /// # Errors
    /// [`Error::Busy`] when the engine has no room for another reader.
    pub fn connect(self: &Arc<Store>, read_only: bool) -> Result<Connection> {
        let locks = match self.engine.locks() {
            Some(place) => Locks::at(place),
            None => Locks::for_folder(&self.path)?,
        };
        let locks = Arc::new(Mutex::new(locks));
        self.connect_with(read_only, locks)
    }

    fn connect_with(self: &Arc<Store>, read_only: bool, locks: Arc<Mutex<Locks>>) -> Result<Connection> {
        let mut session = self.engine.session()?;
        session.expect_definitions(UNKNOWN);
        Ok(Connection {
            session,
            levels: Levels::default(),
            indexes: Indexes::default(),
            holds: false,
            bound: Vec::new(),
            timeout: Some(Duration::from_secs(10)),
            locks,
            read_only,
            store: Arc::clone(self),
        })
    }

    /// The store's folder, canonical; where it is on a server, the address without anything secret.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The engine's name.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.engine.name()
    }

    /// What the store promises; none where the engine has no choice.
    #[must_use]
    pub fn durability(&self) -> Option<Durability> {
        self.engine.durability()
    }

    /// Waits until every write that has returned is on the disk.
    ///
    /// # Errors
    /// The system's answer.
    pub fn sync(&self) -> Result<()> {
        self.engine.sync()
    }

    /// Whether nobody can write to it while it is open here.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.engine.is_at_rest()
    }

    /// Writes the engine's own part of a backup into an empty folder.
    pub(crate) fn write_backup(&self, target: &Path, report: &mut Report<'_>) -> Result<()> {
        self.engine.backup(target, report)
    }

    /// Tells from now on of every committed write to a node and below it; with an empty key of all globals. See
    /// [`crate::watch::changes`].
    ///
    /// # Errors
    /// As [`Engine::watch`].
    pub fn watch(&self, node: &[u8]) -> Result<Box<dyn Watch>> {
        self.engine.watch(node)
    }

    /// What the store holds and takes.
    ///
    /// # Errors
    /// The system's answer.
    pub fn stats(&self) -> Result<Stats> {
        self.engine.stats()
    }
}

/// The URL of the server where the store is; none where it is a folder.
fn url(path: &Path, options: &Options) -> Result<Option<String>> {
    let is_served = options.engine == "postgres";
    if let Some(Secret(url)) = &options.url {
        return if is_served {
            Ok(Some(url.clone()))
        } else {
            Err(Error::Argument("a url is for the engine 'postgres': name that, or leave the url out".to_owned()))
        };
    }
    let text = path.to_str().filter(|text| engine::postgres::is_url(text));
    match text {
        Some(text) => Ok(Some(text.to_owned())),
        None if is_served => Err(Error::Argument(
            "the engine 'postgres' needs a url: open({engine: 'postgres', url: 'postgres://user@host/database'})"
                .to_owned(),
        )),
        None => match path.to_str().and_then(scheme) {
            // What follows may have a password in it.
            Some(scheme) => Err(Error::Argument(format!(
                "a path that begins with \"{scheme}:\" is no folder of a store, and no URL of a server either: that is written \
                 postgres://user@host:5432/database. For a folder of that name write ./{scheme}:…"
            ))),
            None => Ok(None),
        },
    }
}

/// The scheme of what looks like a URL. A single letter is a drive of Windows.
fn scheme(path: &str) -> Option<&str> {
    let (scheme, rest) = path.trim_start().split_once(':')?;
    let is_word = scheme.len() > 1
        && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_ours = scheme.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("postgres"));
    (is_word && (rest.starts_with('/') || is_ours)).then_some(scheme)
}

fn default_path() -> PathBuf {
    env::var_os(PATH_VARIABLE).filter(|path| !path.is_empty()).map_or_else(|| DEFAULT_PATH.into(), PathBuf::from)
}

/// The folder's canonical path; it is made where it is missing and may be.
fn settle_folder(path: &Path, create: bool) -> Result<PathBuf> {
    if create {
        fs::create_dir_all(path).map_err(|e| Error::io("cannot make the store's folder", path, e))?;
    }
    let path = fs::canonicalize(path).map_err(|e| Error::io("cannot find the store's folder", path, e))?;
    let about = fs::metadata(&path).map_err(|e| Error::io("cannot look at", &path, e))?;
    if !about.is_dir() {
        return Err(Error::io("a store is a folder, not a file:", &path, std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(path)
}

/// One user's way into a store. Operations are in [`crate::global`], [`crate::cursor`], [`crate::document`],
/// [`crate::index`] and [`crate::transaction`].
pub struct Connection {
    // Declared before the store, because it must go before the engine does.
    pub(crate) session: Box<dyn Session>,
    pub(crate) levels: Levels,
    pub(crate) indexes: Indexes,
    /// Whether reads are kept at one moment.
    pub(crate) holds: bool,
    /// Room for the bound of a search, used again by each.
    pub(crate) bound: Vec<u8>,
    /// How long a write waits for others.
    pub(crate) timeout: Option<Duration>,
    locks: Arc<Mutex<Locks>>,
    read_only: bool,
    store: Arc<Store>,
}

impl Connection {
    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// A second way in for the same user, for work on another thread: it shares the locks, not the transaction.
    ///
    /// # Errors
    /// [`Error::Busy`] when the engine has no room for another reader.
    pub fn beside(&self) -> Result<Connection> {
        self.store.connect_with(self.read_only, Arc::clone(&self.locks))
    }

    /// Locks a node, as M's LOCK does (see [`Locks`]). False when `timeout` passed first; `None` waits for ever.
    ///
    /// # Errors
    /// The system's answer; [`Error::Busy`] when the thread should stop.
    pub fn lock(&self, node: &[u8], timeout: Option<Duration>) -> Result<bool> {
        lock::lock_shared(&self.locks, node, timeout)
    }

    /// Gives one lock on a node back. Nothing happens where it is not locked.
    ///
    /// # Errors
    /// The system's answer.
    pub fn unlock(&self, node: &[u8]) -> Result<()> {
        self.locks.lock().unlock(node)
    }

    /// Gives all locks back.
    pub fn unlock_all(&self) {
        self.locks.lock().unlock_all();
    }

    /// Sets how long a write waits for another connection's transaction, and a call for a server that is away; `None` waits
    /// for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
        self.session.set_timeout(timeout);
        self.locks.lock().set_timeout(timeout);
    }

    /// Keeps every later read at this moment, until [`Connection::release`].
    ///
    /// # Errors
    /// The system's answer; [`Error::Unsupported`] where the engine cannot.
    pub fn hold(&mut self) -> Result<()> {
        self.session.hold()?;
        self.holds = true;
        Ok(())
    }

    /// Lets reads see the latest commit again.
    pub fn release(&mut self) {
        self.session.release();
        self.holds = false;
    }

    /// A number that changes when anything in the store changed.
    pub fn version(&mut self) -> u64 {
        self.session.version()
    }

    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.read_only {
            return Err(Error::ReadOnly("this connection was opened read-only".to_owned()));
        }
        Ok(())
    }
}
