//! The default engine: LMDB, for many threads and processes of one machine.
//!
//! A store's folder holds the [`header`], the working file with LMDB's lock file beside it, and the locks of
//! [`folder`]; unless its durability is `process` also the log, cut into [`segment`]s, and the [`durable`] file.
//!
//! A write enters the [`gate`], reserves [`space`], appends its [`frame`] to the [`log`], commits, and leaves; a read
//! uses a snapshot that its session keeps while nothing changes (see [`session`]). Threads of each process make the log
//! durable ([`flush`]) and bring the durable file up ([`checkpoint`]). [`opening`] decides what to trust.

mod background;
mod checkpoint;
mod chunks;
mod durable;
mod exit;
mod fault;
mod files;
mod flush;
mod folder;
mod frame;
mod gate;
mod header;
mod log;
mod opening;
mod reduce;
mod replay;
mod segment;
mod session;
mod space;
mod sys;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use self::background::Thread;
use self::durable::Durable;
use self::folder::Folder;
use self::gate::Gate;
use self::header::Header;
use self::log::Log;
use self::opening::Opened;
use self::session::{KeptReader, LmdbSession};
use self::space::Place;
use super::{Durability, Engine, Options, Session, Stats};
use crate::error::{Error, Result};

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
    path: PathBuf,
    durability: Durability,
    /// None with the durability `process`.
    log: Option<Log>,
    /// Opened again after an error.
    durable: Mutex<Option<Durable>>,
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
        let (folder, opened) = Folder::enter(path, |alone| opening::prepare(path, alone, place, options))?;
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
            path: path.to_path_buf(),
            durability: opened.durability,
            log: opened.log,
            durable: Mutex::new(opened.durable),
        }
    }

    /// Runs `f` on the durable file. After an error the file is opened anew the next time: LMDB may have given it up.
    fn with_durable<R>(&self, f: impl FnOnce(&Durable) -> Result<R>) -> Result<R> {
        let mut durable = self.durable.lock();
        let open = match durable.take() {
            Some(open) => open,
            None => Durable::open(&self.path, self.map_size)?,
        };
        let answer = f(&open)?;
        *durable = Some(open);
        Ok(answer)
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

    fn durability(&self) -> Option<Durability> {
        Some(Lmdb::durability(self))
    }

    fn stats(&self) -> Result<Stats> {
        let shared = self.shared()?;
        let env = &shared.env;
        let (entries, depth) = env.tree();
        let mut details = vec![
            ("usedBytes", env.used_pages() * PAGE),
            ("reservedBytes", shared.header.fields().reserved()),
            ("mapBytes", shared.map_size),
            ("depth", depth),
            ("readerSlots", env.readers()),
            ("snapshotLag", env.snapshot_lag()),
        ];
        if shared.log.is_some() {
            let log = &shared.header.fields().log;
            let (tail, flushed) = (log.tail.load(Acquire), log.flushed.load(Acquire));
            details.extend([
                ("logBytes", tail),
                ("flushedBytes", flushed),
                ("unflushedBytes", tail.saturating_sub(flushed)),
                ("backlogBytes", tail.saturating_sub(log.checkpointed.load(Acquire))),
                ("flushFailures", log.flush_failures.load(Acquire)),
                ("checkpointFailures", log.checkpoint_failures.load(Acquire)),
            ]);
        }
        Ok(Stats { entries, disk_bytes: disk_bytes(&shared.path)?, details })
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
    if whole && files::sync_folder(&path).is_ok() {
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
