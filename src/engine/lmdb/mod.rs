//! The default engine: LMDB, for many threads and processes of one machine.
//!
//! A store's folder holds the [`header`], the working file with LMDB's lock file beside it, and the locks of
//! [`folder`]; unless its durability is `process` also the log, cut into [`segment`]s, and the [`durable`] file.
//!
//! A write enters the [`gate`], reserves [`space`], appends its [`frame`] to the [`log`], commits, and leaves; a read
//! uses a snapshot that its session keeps while nothing changes (see [`session`]). Threads of each process make the log
//! durable ([`flush`]) and bring the durable file up ([`checkpoint`]). [`opening`] decides what to trust. [`watch`] reads the
//! log to tell of changes. Where nothing may be written, [`rest`] reads what is there.

mod background;
mod backup;
mod bell;
pub mod check;
mod checkpoint;
mod chunks;
mod compact;
mod durable;
mod exit;
mod files;
mod flush;
mod folder;
mod frame;
mod gate;
mod header;
mod log;
mod opening;
mod pages;
mod pinned;
mod replay;
mod rest;
mod segment;
mod session;
mod space;
mod structure;
mod sys;
mod watch;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub use self::backup::write_from_rest;
pub use self::compact::compact;
pub use self::folder::Alone;

use self::background::Thread;
use self::durable::Durable;
use self::folder::Folder;
use self::gate::Gate;
use self::header::Header;
use self::log::Log;
use self::opening::Opened;
use self::pinned::Pinned;
use self::session::{KeptReader, LmdbSession};
use self::space::Place;
use self::watch::LmdbWatch;
use super::{Durability, Engine, Options, Report, Session, Stats, Watch};
use crate::disk::sync_folder;
use crate::error::{Error, Result};
use crate::fault;

/// LMDB's own default of 126 reader slots is too few for many workers in many processes.
const MAX_READERS: u32 = 4096;
const PAGE: u64 = 4096;
/// The header's name in a store's folder.
pub const HEADER: &str = "header";
/// How long the last closer goes on bringing the durable file up; the next opener does the rest.
const DRAINING: Duration = Duration::from_secs(2);

/// The engine `lmdb`.
pub struct Lmdb {
    hold: Arc<Hold>,
}

/// What keeps the store open in this process. The last session or engine to go closes it.
struct Hold {
    /// None once closed.
    shared: Option<Arc<Shared>>,
    folder: Folder,
    threads: Vec<Thread>,
}

/// What all sessions and threads of this process share.
struct Shared {
    env: sys::Env,
    header: Header,
    gate: Gate,
    /// Reserved through this descriptor; none where the file system keeps no reservation.
    reserving: Option<File>,
    map_size: u64,
    readers: Mutex<Vec<Arc<Mutex<KeptReader>>>>,
    pinned: Mutex<Pinned>,
    path: PathBuf,
    durability: Durability,
    /// None with the durability `process`.
    log: Option<Log>,
    /// Opened again after an error.
    durable: Mutex<Option<Arc<Durable>>>,
}

/// Opens the store in the folder `path`, or makes it there; where it may only be read, as [`rest`] says.
///
/// # Errors
/// As [`Lmdb::open`], and [`Error::Io`] where the store may only be read and the options do not allow for that.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    match rest::hindrance(path) {
        None => Ok(Box::new(Lmdb::open(path, options)?)),
        Some(_) if options.read_only => Ok(Box::new(rest::Rest::open(path, options)?)),
        Some((refused, error)) => {
            Err(Error::io("cannot write to the store (allow it, or open it with readOnly: true):", &refused, error))
        }
    }
}

impl Lmdb {
    /// Opens or makes the store in the folder `path`.
    ///
    /// # Errors
    /// [`Error::Locked`] when the store is held in a way that cannot be shared or with another durability,
    /// [`Error::Unsupported`] on a network file system, [`Error::Corrupt`], [`Error::Format`], or the system's answer.
    pub fn open(path: &Path, options: &Options) -> Result<Lmdb> {
        let place = space::place(path)?;
        if place == Place::Network {
            return Err(Error::Unsupported(format!(
                "{} is on a network file system, where locks and mapped files cannot be trusted: use a local disk",
                path.display()
            )));
        }
        let (folder, opened) =
            Folder::enter(path, options.timeout, |alone| opening::prepare(path, alone, place, options))?;
        let shared = Arc::new(Shared::new(path, opened));
        let mut hold = Hold { shared: Some(Arc::clone(&shared)), folder, threads: Vec::new() };
        hold.threads = background::start(&shared, options.flush_interval)?;
        exit::flush_at_exit(&shared);
        Ok(Lmdb { hold: Arc::new(hold) })
    }

    /// What this store promises.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.hold.shared.as_ref().map_or(Durability::Process, |shared| shared.durability)
    }

    fn shared(&self) -> Result<&Arc<Shared>> {
        self.hold.shared.as_ref().ok_or_else(|| Error::Closed("the store is closed".to_owned()))
    }
}

impl Shared {
    fn new(path: &Path, opened: Opened) -> Shared {
        Shared {
            env: opened.env,
            header: opened.header,
            gate: Gate::new(),
            reserving: opened.reserving,
            map_size: opened.map_size,
            readers: Mutex::default(),
            pinned: Mutex::default(),
            path: path.to_path_buf(),
            durability: opened.durability,
            log: opened.log,
            durable: Mutex::new(opened.durable.map(Arc::new)),
        }
    }

    /// Runs `f` on the durable file. After an error the file is opened anew the next time: LMDB may have given it up. But
    /// no process may have it open twice, so while a backup reads it that has to wait.
    fn with_durable<R>(&self, f: impl FnOnce(&Arc<Durable>) -> Result<R>) -> Result<R> {
        let mut durable = self.durable.lock();
        let open = match durable.take() {
            Some(open) => open,
            None => Arc::new(Durable::open(&self.path, self.map_size)?),
        };
        let answer = f(&open);
        if answer.is_ok() || Arc::strong_count(&open) > 1 {
            *durable = Some(open);
        }
        answer
    }
}

impl Engine for Lmdb {
    fn name(&self) -> &'static str {
        "lmdb"
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(LmdbSession::new(Arc::clone(self.shared()?), Arc::clone(&self.hold))?))
    }

    fn sync(&self) -> Result<()> {
        flush::barrier(self.shared()?)
    }

    fn watch(&self, prefix: &[u8]) -> Result<Box<dyn Watch>> {
        Ok(Box::new(LmdbWatch::begin(self.shared()?, &self.hold, prefix)?))
    }

    fn durability(&self) -> Option<Durability> {
        Some(Lmdb::durability(self))
    }

    fn stats(&self) -> Result<Stats> {
        let shared = self.shared()?;
        let env = &shared.env;
        let (entries, depth) = env.tree();
        let last = env.last_transaction();
        let lag = env.oldest_snapshot().map_or(0, |oldest| last.saturating_sub(oldest.transaction));
        let (age, warning) = shared.pinned.lock().report(last);
        let mut details = vec![
            ("usedBytes", env.used_pages() * PAGE),
            ("reservedBytes", shared.header.fields().reserved()),
            ("mapBytes", shared.map_size),
            ("depth", depth),
            ("readerSlots", env.readers()),
            ("snapshotLag", lag),
            ("snapshotAge", age.as_millis() as u64),
        ];
        if shared.log.is_some() {
            let log = &shared.header.fields().log;
            let (tail, flushed) = (log.tail.load(Acquire), log.flushed.load(Acquire));
            details.extend([
                ("logBytes", tail),
                ("flushedBytes", flushed),
                ("unflushedBytes", tail.saturating_sub(flushed)),
                ("backlogBytes", log.backlog()),
                ("flushFailures", log.flush_failures.load(Acquire)),
                ("checkpointFailures", log.checkpoint_failures.load(Acquire)),
            ]);
        }
        Ok(Stats { entries, disk_bytes: disk_bytes(&shared.path)?, details, warnings: warning.into_iter().collect() })
    }

    fn backup(&self, target: &Path, report: &mut Report<'_>) -> Result<()> {
        backup::write(self.shared()?, target, report)
    }
}

fn disk_bytes(folder: &Path) -> Result<u64> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?;
    let sizes = entries.flatten().filter_map(|entry| entry.metadata().ok());
    #[cfg(unix)]
    let total = sizes.map(|about| std::os::unix::fs::MetadataExt::blocks(&about) * 512).sum();
    #[cfg(not(unix))]
    let total = sizes.map(|about| about.len()).sum();
    Ok(total)
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.threads.clear();
        let Some(shared) = self.shared.take() else { return };
        self.folder.leave(|last| close(shared, last));
    }
}

/// Closes the store in this process. Nobody else opens or closes it meanwhile; `last` says that nobody else has it open.
fn close(shared: Arc<Shared>, last: bool) {
    let whole = leave_whole(&shared, last).is_ok() && last;
    // Sessions and threads let go of their share before they let go of the hold, so this one is the last.
    let Ok(shared) = Arc::try_unwrap(shared) else { return };
    let Shared { env, header, path, durable, .. } = shared;
    drop(durable);
    drop(env);
    fault::point("close-closed");
    if whole && sync_folder(&path).is_ok() {
        header.fields().set_clean(true);
        let _ = header.sync(&path.join(HEADER));
        fault::point("close-marked");
    }
}

/// Puts on the disk what this process wrote; the last one leaves nothing that the next opener would have to mend.
fn leave_whole(shared: &Shared, last: bool) -> Result<()> {
    let fields = &shared.header.fields().log;
    if let Some(log) = &shared.log {
        if last {
            log.resolve(fields, sys::Writer::begin(&shared.env)?.transaction() - 1)?;
        }
        flush::barrier(shared)?;
        fault::point("close-flushed");
        let begun = Instant::now();
        while last && checkpoint::advance(shared, log)? && begun.elapsed() < DRAINING {}
        if last && fields.checkpointed.load(Acquire) >= fields.tail.load(Acquire) {
            log.clear(fields)?;
        }
    }
    if last {
        shared.env.sync()?;
        fault::point("close-synced");
    }
    Ok(())
}
