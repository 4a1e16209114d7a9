//! The engine `sled`: pure Rust, for the threads of one process.
//!
//! What it promises. A write that has returned is seen by every thread at once; a batch and a transaction are seen and
//! recovered as a whole; scans and held snapshots show one moment (see [`moments`]), and nobody waits for them. Only
//! writers wait for each other (see [`gate`]).
//!
//! What it does not promise. sled keeps new writes in memory and writes them out every flush interval: what returned
//! before the last flush, or before [`Engine::sync`], survives a killed process, what came later may be gone. With the
//! durability `strict` each write is flushed before it returns. There are
//! open reports of sled stores that do not open after an abrupt stop (spacejam/sled issues 1527 and 1533), and a store
//! whose files were damaged may open with entries missing, since sled drops the records it cannot verify: keep backups, or
//! use the engine `lmdb`. A second process gets [`Error::Locked`].
//!
//! After a full disk sled refuses every write until the store is closed and opened again; what was flushed before is
//! there.
//!
//! A transaction's writes stay in memory until it commits, and a very large value takes several times its size there while
//! it is written. sled's files lie in the folder `sled` below the store's.

mod failure;
mod gate;
mod moments;
mod session;
mod view;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::gate::Gate;
use self::moments::Moments;
use self::session::SledSession;
use super::{Batch, Durability, Engine, Flow, Options, Range, Report, Session, Stats};
use crate::error::{Error, Result};
use crate::patience;

/// Where sled's files lie in a store's folder.
pub const FOLDER: &str = "sled";

/// A store that this process has just closed is let go by sled's own threads a moment later.
const CLOSING: Duration = Duration::from_secs(1);
/// How many bytes of a backup go into one batch.
const BACKUP_PIECE: usize = 1 << 20;
/// How long between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// The engine `sled`.
pub struct Sled {
    moments: Arc<Moments>,
    gate: Arc<Gate>,
    /// Whether each write is flushed before it returns.
    strict: bool,
}

impl Sled {
    /// Opens or makes the store in the folder `path`.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has it open, [`Error::Corrupt`], or the system's answer.
    pub fn open(path: &Path, options: &Options) -> Result<Sled> {
        let folder = path.join(FOLDER);
        if !options.create && !folder.is_dir() {
            return Err(Error::io("cannot find a sled store in", path, std::io::ErrorKind::NotFound.into()));
        }
        let milliseconds = u64::try_from(options.flush_interval.as_millis()).unwrap_or(u64::MAX).max(1);
        let config = sled::Config::new().path(&folder).flush_every_ms(Some(milliseconds));
        let mut opened = None;
        let waited = patience::wait("the closing of the store", Some(CLOSING), |slice| {
            opened = attempt(&folder, &config)?;
            if opened.is_none() {
                std::thread::sleep(slice.min(LOOK));
            }
            Ok(opened.is_some())
        });
        match (waited, opened) {
            (Ok(()), Some(db)) => {
                let strict = options.durability == Some(Durability::Strict);
                Ok(Sled { moments: Arc::new(Moments::new(db, folder)), gate: Arc::new(Gate::default()), strict })
            }
            (Err(Error::Busy(_)) | Ok(()), _) => Err(failure::locked(path)),
            (Err(error), _) => Err(error),
        }
    }
}

/// Opens the files; none when somebody has them open.
fn attempt(folder: &Path, config: &sled::Config) -> Result<Option<sled::Db>> {
    match catch_unwind(AssertUnwindSafe(|| config.open())) {
        Ok(Ok(db)) => Ok(Some(db)),
        Ok(Err(error)) if failure::is_lock(&error) => Ok(None),
        Ok(Err(error)) => Err(failure::error(folder, error)),
        Err(panic) => Err(failure::panic(folder, panic.as_ref())),
    }
}

impl Engine for Sled {
    fn name(&self) -> &'static str {
        "sled"
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(SledSession::new(Arc::clone(&self.moments), Arc::clone(&self.gate), self.strict)))
    }

    fn sync(&self) -> Result<()> {
        self.moments.attempt(|db| db.flush().map(|_| ()))
    }

    fn durability(&self) -> Option<Durability> {
        self.strict.then_some(Durability::Strict)
    }

    /// Counting the entries reads every one of them.
    fn stats(&self) -> Result<Stats> {
        self.moments.attempt(|db| {
            Ok(Stats {
                entries: db.len() as u64,
                disk_bytes: db.size_on_disk()?,
                details: vec![("recovered", u64::from(db.was_recovered()))],
                warnings: Vec::new(),
            })
        })
    }

    fn backup(&self, target: &Path, report: &mut Report<'_>) -> Result<()> {
        let copy = Sled::open(target, &Options { engine: "sled".to_owned(), ..Options::default() })?;
        let (mut from, mut to) = (self.session()?, copy.session()?);
        let (mut batch, mut done, expected) = (Batch::new(), 0, self.stats()?.entries);
        from.hold()?;
        from.scan(Range::entries(&[], &[0xFF]), &mut |key, value| {
            batch.put(key, value);
            done += 1;
            if batch.size() >= BACKUP_PIECE {
                to.apply(&batch)?;
                batch.clear();
                report(done, expected.max(done))?;
            }
            Ok(Flow::Continue)
        })?;
        to.apply(&batch)?;
        report(done, done)?;
        copy.sync()
    }
}
