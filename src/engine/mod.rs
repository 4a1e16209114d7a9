//! The seam between the operations and whatever keeps the bytes: an ordered map with transactions.
//!
//! An [`Engine`] is one opened store, shared by every connection of the process. A [`Session`] is one connection's way
//! into it. Each read sees the session's open transaction, else the latest commit of any thread or process; each write
//! belongs to the open transaction, else it commits before it returns. Keys and values are plain bytes here: what they
//! mean is the business of the rooms above.

pub mod lmdb;
pub mod postgres;
mod reduce;
pub mod sled;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

/// The longest value an engine without chunks takes: 256 MiB and the type byte.
pub const MAX_VALUE: usize = (256 << 20) + 1;

/// Value type bytes from here up belong to the engines; no value of [`crate::value`] begins with one.
pub const ENGINE_TAGS: u8 = 0xF1;

/// The least [`Options::log_limit`], in bytes (8 MiB).
pub const LEAST_LOG_LIMIT: u64 = 8 << 20;

/// One opened store.
pub trait Engine: Send + Sync {
    /// The engine's name as `open({engine})` spells it.
    fn name(&self) -> &'static str;

    /// A new way in, for one connection.
    ///
    /// # Errors
    /// [`Error::Busy`] when the engine has no room for another reader.
    fn session(&self) -> Result<Box<dyn Session>>;

    /// Waits until every write that has returned is on the disk.
    ///
    /// # Errors
    /// The system's answer.
    fn sync(&self) -> Result<()>;

    /// Tells from now on of every committed write to the keys that begin with `prefix`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the engine keeps no record of them, [`Error::Busy`] where a process stands still inside
    /// a commit.
    fn watch(&self, prefix: &[u8]) -> Result<Box<dyn Watch>> {
        let _ = prefix;
        Err(Error::Unsupported(format!("the engine '{}' does not tell of changes: use the engine 'lmdb'", self.name())))
    }

    /// A place for the locks of one connection, where the engine has one of its own that all machines share; without one
    /// they are where its processes meet on this machine.
    fn locks(&self) -> Option<Box<dyn Place>> {
        None
    }

    /// What the store promises; none where the engine has no choice.
    fn durability(&self) -> Option<Durability> {
        None
    }

    /// Whether nobody can write to the store while it is open here.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// What the store holds and takes.
    ///
    /// # Errors
    /// The system's answer.
    fn stats(&self) -> Result<Stats>;

    /// Writes a small store of this engine into the empty folder `target`, and syncs it: all that was committed when this
    /// was called, and perhaps more, as of one moment. Others read and write meanwhile.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the engine cannot, [`Error::DiskFull`], the system's answer, or that of `report`.
    fn backup(&self, _target: &Path, _report: &mut Report<'_>) -> Result<()> {
        Err(Error::Unsupported(format!(
            "the engine '{}' makes no backups of its own: use those of its database (pg_dump), or `caretdb export`",
            self.name()
        )))
    }
}

/// What long work calls now and then: how many entries are done, and of how many, as far as that is known. Its error ends
/// the work.
pub type Report<'a> = dyn FnMut(u64, u64) -> Result<()> + 'a;

/// Where the connections of a store see each other's locks. It knows each held node once; [`crate::lock::Locks`] counts.
pub trait Place: Send {
    /// Takes a node that this connection does not hold, or nothing at all. `path` is the node's key behind those of its
    /// ancestors, the global first. False when another connection is in the way.
    ///
    /// # Errors
    /// The system's answer.
    fn take(&mut self, path: &[&[u8]]) -> Result<bool>;

    /// Gives a node back that [`Place::take`] took.
    ///
    /// # Errors
    /// The system's answer.
    fn give(&mut self, path: &[&[u8]]) -> Result<()>;

    /// Gives everything back.
    fn give_all(&mut self);

    /// How long one call may go on trying to reach what knows the locks, where that is elsewhere; `None` for ever.
    fn set_timeout(&mut self, _timeout: Option<Duration>) {}

    /// How long a waiter may sleep when nothing in this process is given back.
    fn longest_pause(&self) -> Duration;
}

/// One connection's way into an engine. Not shared between threads, but it may move to another one while no transaction
/// is open.
pub trait Session: Send {
    /// Reads the value of `key` into `value` (cleared first). False when there is none.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool>;

    /// Finds the first key at or after, or the last key before, a bound and copies it to `key`, and its value to `value`
    /// where one is wanted. False when there is none.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    fn seek(&mut self, bound: Bound<'_>, key: &mut Vec<u8>, value: Option<&mut Vec<u8>>) -> Result<bool>;

    /// Shows the entries of a range in order, all of one moment, until `visit` says [`Flow::Stop`] or fails.
    ///
    /// # Errors
    /// Damage, the system's answer, or the visitor's error.
    fn scan(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()>;

    /// Stores one value.
    ///
    /// # Errors
    /// [`Error::Busy`] when another connection writes past the timeout, [`Error::DiskFull`], [`Error::TooLarge`].
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Applies the operations of a batch in their order, all or none.
    ///
    /// # Errors
    /// As [`Session::put`].
    fn apply(&mut self, batch: &Batch) -> Result<()>;

    /// Reads one value, lets `change` write its successor, and stores that, with nobody in between.
    ///
    /// # Errors
    /// As [`Session::put`], or what `change` answers, in which case nothing is stored.
    fn update(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()>;

    /// The same for a change that depends on the value alone. It may be asked about values that are not stored; the last
    /// call is the one that counts.
    ///
    /// # Errors
    /// As [`Session::update`].
    fn calculate(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        self.update(key, change)
    }

    /// Copies the stretch `source.0 <= key < source.1` to the keys that begin with `target` where those began with
    /// `source.0`, if the engine can do that by itself, at once and in one go. False where it cannot, or will not because
    /// a key would be too long or the definitions are others (see [`Session::expect_definitions`]): nothing is copied then.
    ///
    /// # Errors
    /// As [`Session::put`].
    fn copy(&mut self, _source: (&[u8], &[u8]), _target: &[u8]) -> Result<bool> {
        Ok(false)
    }

    /// Says what the transaction that is about to begin will read, so that a distant engine can bring it along.
    fn foresee(&mut self, _start: &[u8], _end: &[u8]) {}

    /// Opens the transaction of this session.
    ///
    /// # Errors
    /// [`Error::Busy`] after the timeout; [`Error::Transaction`] when one is open already on this session or another
    /// session of this thread.
    fn begin(&mut self) -> Result<()>;

    /// Makes the open transaction's writes visible to everybody.
    ///
    /// # Errors
    /// [`Error::Transaction`] without one; [`Error::DiskFull`], in which case nothing of it was written; [`Error::Conflict`]
    /// where another transaction was in the way: nothing of it was written either, and it may be done again. The engines of
    /// one machine let one transaction in at a time, and have no conflicts.
    fn commit(&mut self) -> Result<()>;

    /// Forgets the open transaction's writes. Nothing happens without one.
    fn abort(&mut self);

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Keeps every later read at this moment, until [`Session::release`].
    ///
    /// # Errors
    /// The system's answer; [`Error::Unsupported`] where the engine cannot.
    fn hold(&mut self) -> Result<()>;

    /// Lets reads see the latest commit again.
    fn release(&mut self);

    /// A number that changes when anything in the store changed, as cheap to ask as the engine can make it.
    fn version(&mut self) -> u64;

    /// How often the definitions of indexes have changed, a count that all connections of all processes share. It only
    /// ever means something beside an earlier count of the same opened store, and changes only while somebody may write.
    fn definitions(&self) -> u64;

    /// Counts one more change of the definitions, before the open transaction that makes it commits.
    fn count_definitions(&mut self);

    /// From now on a write outside a transaction answers [`Error::Outdated`], and writes nothing, where the count of
    /// [`Session::definitions`] is another one at the moment of the write.
    fn expect_definitions(&mut self, count: u64);

    /// How long a write may wait for another connection's transaction; `None` waits for ever.
    fn set_timeout(&mut self, timeout: Option<Duration>);
}

/// Tells of committed writes, by all threads and processes, in the order of their commits.
pub trait Watch: Send {
    /// Waits at most about `patience` for the next transaction that wrote below the prefix, and puts what it did there
    /// into `batch` (cleared first). It may answer [`News::Nothing`] earlier.
    ///
    /// # Errors
    /// The system's answer.
    fn next(&mut self, patience: Duration, batch: &mut Batch) -> Result<News>;

    /// Keeps nothing on the disk from being freed until the next call of [`Watch::next`].
    fn let_go(&mut self);

    /// What ends a wait in [`Watch::next`] early, from another thread.
    fn waker(&self) -> Box<dyn Fn() + Send>;
}

/// What [`Watch::next`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A transaction. Its number is greater than that of any one before.
    Transaction(u64),
    /// Nothing yet.
    Nothing,
    /// So much was written since the last call that some of it cannot be told any more. The next call goes on with what
    /// is written from now on.
    Lost,
}

/// What [`Session::scan`] calls with each key and value. The value is empty where the range asked for keys only.
pub type Visitor<'a> = dyn FnMut(&[u8], &[u8]) -> Result<Flow> + 'a;

/// What [`Session::update`] calls with the present value and room for the next one.
pub type Change<'a> = dyn FnMut(Option<&[u8]>, &mut Vec<u8>) -> Result<()> + 'a;

/// Whether a scan goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Show the next entry.
    Continue,
    /// That was enough.
    Stop,
}

/// Where [`Session::seek`] looks.
#[derive(Clone, Copy, Debug)]
pub enum Bound<'a> {
    /// The first key that is this one or comes after it.
    AtOrAfter(&'a [u8]),
    /// The last key before this one.
    Before(&'a [u8]),
}

/// A half-open stretch of keys, `start <= key < end`.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// The first key that may belong to it.
    pub start: &'a [u8],
    /// The first key behind it.
    pub end: &'a [u8],
    /// From the end to the start.
    pub reverse: bool,
    /// Whether the visitor wants the values too.
    pub values: bool,
}

impl<'a> Range<'a> {
    /// The entries of a stretch with their values, forwards.
    #[must_use]
    pub fn entries(start: &'a [u8], end: &'a [u8]) -> Self {
        Range { start, end, reverse: false, values: true }
    }

    /// The keys of a stretch, forwards.
    #[must_use]
    pub fn keys(start: &'a [u8], end: &'a [u8]) -> Self {
        Range { start, end, reverse: false, values: false }
    }
}

/// Writes to apply together, kept in one buffer that can be used again.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    operations: Vec<Span>,
}

/// Where an operation's two byte strings lie in the batch's buffer.
struct Span {
    start: usize,
    middle: usize,
    end: usize,
    delete: bool,
}

/// One operation of a [`Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Store a value at a key.
    Put(&'a [u8], &'a [u8]),
    /// Delete the keys `start <= key < end`.
    DeleteRange(&'a [u8], &'a [u8]),
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the operations and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.operations.clear();
    }

    /// Adds a put.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.push(key, value, false);
    }

    /// Adds the deletion of `start <= key < end`.
    pub fn delete_range(&mut self, start: &[u8], end: &[u8]) {
        self.push(start, end, true);
    }

    fn push(&mut self, first: &[u8], second: &[u8], delete: bool) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(first);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(second);
        self.operations.push(Span { start, middle, end: self.bytes.len(), delete });
    }

    /// How many operations it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The bytes of all its keys and values together.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The operations in their order.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = Operation<'_>> {
        self.operations.iter().map(|span| {
            let first = &self.bytes[span.start..span.middle];
            let second = &self.bytes[span.middle..span.end];
            if span.delete { Operation::DeleteRange(first, second) } else { Operation::Put(first, second) }
        })
    }
}

/// What a store holds and takes.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Entries as the engine counts them (a large value may count as several).
    pub entries: u64,
    /// Bytes of disk the store's files take now.
    pub disk_bytes: u64,
    /// Figures of this engine alone, by name.
    pub details: Vec<(&'static str, u64)>,
    /// What somebody should look after, in words.
    pub warnings: Vec<String>,
}

/// What a returned write survives besides killed processes, which it always survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing: for caches, tests and peak rates.
    Process,
    /// A power cut loses at most what was written in the last [`Options::flush_interval`] and one disk flush.
    Relaxed,
    /// A power cut loses nothing that was acknowledged by [`Engine::sync`].
    Strict,
}

impl Durability {
    /// The durability with this name in the options of `open`.
    ///
    /// # Errors
    /// [`Error::Argument`] for another name.
    ///
    /// ```
    /// use caretdb::engine::Durability;
    /// assert_eq!(Durability::named("strict")?, Durability::Strict);
    /// # Ok::<(), caretdb::error::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Durability> {
        match name {
            "process" => Ok(Durability::Process),
            "relaxed" => Ok(Durability::Relaxed),
            "strict" => Ok(Durability::Strict),
            _ => Err(Error::Argument(format!("there is no durability {name:?}: use 'relaxed', 'strict' or 'process'"))),
        }
    }

    /// Its name in the options of `open`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Durability::Process => "process",
            Durability::Relaxed => "relaxed",
            Durability::Strict => "strict",
        }
    }
}

/// A text that is never shown, because there is a password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engine's name: `lmdb`, `sled` or `postgres`.
    pub engine: String,
    /// Where the server is (engine `postgres`), see [`postgres`].
    pub url: Option<Secret>,
    /// Make the folder and the store where there is none.
    pub create: bool,
    /// How often idle snapshots are let go and unsynced data is flushed.
    pub flush_interval: Duration,
    /// What the store promises (engine `lmdb`); none takes the one it has, and for a new store [`Durability::Relaxed`].
    pub durability: Option<Durability>,
    /// How many bytes of the log may wait for the durable file before writers wait for it (engine `lmdb`).
    pub log_limit: u64,
    /// How long to wait for another process that opens or closes the store; none waits for ever.
    pub timeout: Option<Duration>,
    /// Open the store also where it may only be read (engine `lmdb`): nothing there is changed then.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: "lmdb".to_owned(),
            url: None,
            create: true,
            flush_interval: Duration::from_millis(100),
            durability: None,
            log_limit: 512 << 20,
            timeout: Some(Duration::from_secs(10)),
            read_only: false,
        }
    }
}

/// What tells a file or folder from another that took its name.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(path).map_err(|e| Error::io("cannot look at", path, e))?;
    Ok((about.dev(), about.ino()))
}

/// What tells a file or folder from another that took its name: here only that it exists.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Result<(u64, u64)> {
    std::fs::metadata(path).map(|_| (1, 1)).map_err(|e| Error::io("cannot look at", path, e))
}

/// Opens the store in the folder `path`.
///
/// # Errors
/// [`Error::Unsupported`] for an unknown engine, [`Error::Locked`] when the store is held in a way that cannot be
/// shared, and what the system or the engine answers.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let other = |engine: &str| {
        Error::Unsupported(format!("{} holds a store of the engine '{engine}': open it with that", path.display()))
    };
    let header = path.join(lmdb::HEADER);
    let has_header = header.try_exists().map_err(|e| Error::io("cannot look at", &header, e))?;
    match options.engine.as_str() {
        "lmdb" if path.join(sled::FOLDER).exists() => Err(other("sled")),
        "sled" if has_header => Err(other("lmdb")),
        "lmdb" if !options.create && !has_header => {
            Err(Error::io("cannot find a store in", path, std::io::ErrorKind::NotFound.into()))
        }
        "lmdb" => lmdb::open(path, options),
        "sled" if options.durability.is_some_and(|wanted| wanted != Durability::Strict) => Err(Error::Unsupported(
            "of the durabilities the engine 'sled' has only 'strict': name that or none".to_owned(),
        )),
        "sled" => Ok(Box::new(sled::Sled::open(path, options)?)),
        "postgres" => Err(Error::Argument("the engine 'postgres' is opened with a URL, not a folder".to_owned())),
        other => Err(Error::Unsupported(format!("there is no engine {other:?}: use 'lmdb', 'sled' or 'postgres'"))),
    }
}
