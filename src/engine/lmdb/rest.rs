//! A store that may only be read here: on a read-only file system, or in a folder where this user may not write. Nothing is
//! made or changed there, not even a lock file, so it is opened only while nobody has it open to write, and those who
//! would open it so have to wait.
//!
//! What is read is the working file where it can be trusted, which has everything. Else it is the durable file, if
//! the log has nothing beyond it: what waits in the log cannot be brought into it without writing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::durable::{self, MARK, Mark, show_all, write_compact};
use super::folder::Quiet;
use super::header::Facts;
use super::pages::Pages;
use super::session::{get_at, scan_at, seek_at};
use super::space::Place;
use super::sys::{Env, Reader};
use super::{HEADER, PAGE, backup, check, disk_bytes, files, opening, segment, space, structure};
use crate::engine::{Batch, Bound, Change, Durability, Engine, Options, Range, Report, Session, Stats, Visitor, Watch};
use crate::error::{Error, Result};

/// The first key that may be a node's: the durable file's own mark comes before it.
const FIRST: &[u8] = &[0, 0];

/// What of a store this user may not write, and the system's answer: the folder or one of the files that each opener writes.
pub fn hindrance(path: &Path) -> Option<(PathBuf, io::Error)> {
    let names = [path.to_path_buf(), path.join(HEADER), path.join(opening::WORKING), path.join(durable::NAME)];
    names.into_iter().find_map(|name| writing_refused(&name).map(|error| (name, error)))
}

#[cfg(unix)]
fn writing_refused(path: &Path) -> Option<io::Error> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the name ends in NUL, and the call only looks at the file.
    let code = unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
    let error = (code != 0).then(io::Error::last_os_error)?;
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::EROFS)).then_some(error)
}

#[cfg(not(unix))]
fn writing_refused(_path: &Path) -> Option<io::Error> {
    None
}

/// The engine of such a store.
pub struct Rest {
    files: Arc<Files>,
}

struct Files {
    env: Env,
    path: PathBuf,
    durability: Durability,
    _quiet: Quiet,
}

impl Rest {
    /// Opens the store in the folder `path`.
    ///
    /// # Errors
    /// [`Error::Locked`] where somebody has it open to write, [`Error::ReadOnly`] where not all of it can be read
    /// without writing, [`Error::Corrupt`], [`Error::Format`], or the system's answer.
    pub fn open(path: &Path, options: &Options) -> Result<Rest> {
        if space::place(path)? == Place::Network {
            return Err(Error::Unsupported(format!(
                "{} is on a network file system, where locks and mapped files cannot be trusted: use a local disk",
                path.display()
            )));
        }
        let quiet = Quiet::with(path, options.timeout)?;
        let facts = Facts::read(&path.join(HEADER))?;
        let env = Env::open_at_rest(&choose(path, &facts)?)?;
        let durability = facts.durability.unwrap_or(Durability::Relaxed);
        Ok(Rest { files: Arc::new(Files { env, path: path.to_path_buf(), durability, _quiet: quiet }) })
    }
}

/// The file that has everything.
fn choose(path: &Path, facts: &Facts) -> Result<PathBuf> {
    let (working, durable) = (path.join(opening::WORKING), path.join(durable::NAME));
    if files::exists(&working)? && opening::is_trusted(&working, facts) {
        Pages::open(&working, None)?;
        return Ok(working);
    }
    if !files::exists(&durable)? {
        return Err(Error::ReadOnly(format!(
            "{} may be torn, since the machine was restarted or the folder copied while it was in use, and cannot be made anew \
             where nothing may be written",
            working.display()
        )));
    }
    let mark = check::mark_of(&Pages::open(&durable, None)?)?;
    let waiting = check::count_frames(path, mark.chain)?;
    if waiting > 0 {
        return Err(Error::ReadOnly(format!(
            "{} was not closed, and {waiting} transactions in its log must be written to its file first: open it once \
             where it may be written, or make a copy of the folder and open that",
            path.display()
        )));
    }
    structure::require_sound(&durable)?;
    Ok(durable)
}

impl Files {
    fn refuse<T>(&self) -> Result<T> {
        Err(Error::ReadOnly(format!("{} may only be read here", self.path.display())))
    }
}

impl Engine for Rest {
    fn name(&self) -> &'static str {
        "lmdb"
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        let reader = Reader::begin(&self.files.env)?;
        Ok(Box::new(RestSession { reader, in_transaction: false, files: Arc::clone(&self.files) }))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn watch(&self, _prefix: &[u8]) -> Result<Box<dyn Watch>> {
        self.files.refuse()
    }

    fn durability(&self) -> Option<Durability> {
        Some(self.files.durability)
    }

    fn is_at_rest(&self) -> bool {
        true
    }

    fn stats(&self) -> Result<Stats> {
        let files = &self.files;
        let (entries, depth) = files.env.tree();
        let has_mark = Reader::begin(&files.env)?.cursor().go(super::sys::Step::Exact, MARK)?.is_some();
        let details = vec![("usedBytes", files.env.used_pages() * PAGE), ("depth", depth)];
        let warning = "the store may only be read here, and nobody can open it to write meanwhile".to_owned();
        Ok(Stats {
            entries: entries - u64::from(has_mark),
            disk_bytes: disk_bytes(&files.path)?,
            details,
            warnings: vec![warning],
        })
    }

    fn backup(&self, target: &Path, report: &mut Report<'_>) -> Result<()> {
        let env = &self.files.env;
        let mut reader = Reader::begin(env)?;
        let map_size = (env.used_pages() * PAGE * 4).next_power_of_two().max(1 << 30);
        // Whether values lie in chunks nobody wrote down here; to say so costs a look with each write.
        let mark = Mark::fresh(segment::FIRST, true);
        let source = |visit: &mut Visitor<'_>| show_all(&mut reader, visit);
        write_compact(source, env.tree().0, &target.join(durable::NAME), map_size, mark, report)?;
        backup::write_header(target, self.files.durability)
    }
}

/// A session of such a store: one snapshot, since nothing changes.
struct RestSession {
    reader: Reader,
    in_transaction: bool,
    /// The last field: the reader must go first.
    files: Arc<Files>,
}

impl Session for RestSession {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        get_at(self.reader.cursor(), key, value)
    }

    fn seek(&mut self, bound: Bound<'_>, key: &mut Vec<u8>, value: Option<&mut Vec<u8>>) -> Result<bool> {
        let bound = match bound {
            Bound::AtOrAfter(start) => Bound::AtOrAfter(start.max(FIRST)),
            Bound::Before(end) => Bound::Before(end),
        };
        let found = seek_at(self.reader.cursor(), bound, key, value)?;
        Ok(found && key.as_slice() != MARK)
    }

    fn scan(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let start = range.start.max(FIRST);
        scan_at(self.reader.cursor(), Range { start, ..range }, visit)
    }

    fn put(&mut self, _key: &[u8], _value: &[u8]) -> Result<()> {
        self.files.refuse()
    }

    fn apply(&mut self, _batch: &Batch) -> Result<()> {
        self.files.refuse()
    }

    fn update(&mut self, _key: &[u8], _change: &mut Change<'_>) -> Result<()> {
        self.files.refuse()
    }

    fn begin(&mut self) -> Result<()> {
        if self.in_transaction {
            return Err(Error::Transaction("this connection has a transaction open already".to_owned()));
        }
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.in_transaction) {
            return Err(Error::Transaction("no transaction is open".to_owned()));
        }
        Ok(())
    }

    fn abort(&mut self) {
        self.in_transaction = false;
    }

    fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    fn hold(&mut self) -> Result<()> {
        Ok(())
    }

    fn release(&mut self) {}

    fn version(&mut self) -> u64 {
        self.files.env.last_transaction()
    }

    fn definitions(&self) -> u64 {
        0
    }

    fn count_definitions(&mut self) {}

    fn expect_definitions(&mut self, _count: u64) {}

    fn set_timeout(&mut self, _timeout: Option<Duration>) {}
}
