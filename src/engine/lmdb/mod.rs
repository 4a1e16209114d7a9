//! The default engine: LMDB, for many threads and processes of one machine.
//!
//! A store's folder holds the [`header`], the working file with LMDB's lock file beside it, and the locks of
//! [`folder`]. A write enters the [`gate`], reserves [`space`], commits, and leaves; a read uses a snapshot that its
//! session keeps while nothing changes (see [`session`]).

mod chunks;
mod folder;
mod gate;
mod header;
mod session;
mod space;
mod sys;

use std::fs::{self, File, OpenOptions};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;

use self::folder::Folder;
use self::gate::Gate;
use self::header::Header;
use self::session::{KeptReader, LmdbSession};
use self::space::Place;
use super::{Engine, Options, Session, Stats};
use crate::error::{Error, Result};

/// LMDB's own default of 126 reader slots is too few for many workers in many processes.
const MAX_READERS: u32 = 4096;
/// The map of a new store, where the file system takes so large a sparse file, and the smallest worth having.
const MAP_SIZE: u64 = 1 << 40;
const LEAST_MAP_SIZE: u64 = 1 << 30;
const PAGE: u64 = 4096;
/// The header's name in a store's folder.
pub const HEADER: &str = "header";

/// The engine `lmdb`.
pub struct Lmdb {
    shared: Arc<Shared>,
}

/// What all sessions of this process share.
struct Shared {
    env: ManuallyDrop<sys::Env>,
    header: Header,
    gate: Gate,
    /// Reserved through this descriptor; none where the file system keeps no reservation.
    reserving: Option<File>,
    map_size: u64,
    readers: Readers,
    folder: Mutex<Folder>,
    path: PathBuf,
    ticker: Mutex<Option<Ticker>>,
}

/// The kept readers of all sessions, for the ticker that resets them.
type Readers = Arc<Mutex<Vec<Arc<Mutex<KeptReader>>>>>;

struct Ticker {
    stop: Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Lmdb {
    /// Opens or makes the store in the folder `path`.
    ///
    /// # Errors
    /// [`Error::Locked`] when the store is held in a way that cannot be shared, [`Error::Unsupported`] on a network file
    /// system, [`Error::Corrupt`], [`Error::Format`], or the system's answer.
    pub fn open(path: &Path, options: &Options) -> Result<Lmdb> {
        let place = space::place(path)?;
        if place == Place::Network {
            return Err(Error::Unsupported(format!(
                "{} is on a network file system, where locks and mapped files cannot be trusted: use a local disk",
                path.display()
            )));
        }
        let (folder, opened) = Folder::enter(path, |alone| Opened::prepare(path, alone, place))?;
        let shared = Arc::new(Shared {
            env: ManuallyDrop::new(opened.env),
            header: opened.header,
            gate: Gate::new(),
            reserving: opened.reserving,
            map_size: opened.map_size,
            readers: Readers::default(),
            folder: Mutex::new(folder),
            path: path.to_path_buf(),
            ticker: Mutex::new(None),
        });
        *shared.ticker.lock() = Some(tick(Arc::clone(&shared.readers), options.flush_interval)?);
        Ok(Lmdb { shared })
    }
}

impl Engine for Lmdb {
    fn name(&self) -> &'static str {
        "lmdb"
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(LmdbSession::new(Arc::clone(&self.shared))?))
    }

    fn sync(&self) -> Result<()> {
        self.shared.env.sync()
    }

    fn stats(&self) -> Result<Stats> {
        let env = &self.shared.env;
        let (entries, depth) = env.tree();
        Ok(Stats {
            entries,
            disk_bytes: disk_bytes(&self.shared.path)?,
            details: vec![
                ("usedBytes", env.used_pages() * PAGE),
                ("reservedBytes", self.shared.header.fields().reserved()),
                ("mapBytes", self.shared.map_size),
                ("depth", depth),
                ("readerSlots", env.readers()),
            ],
        })
    }
}

/// The parts an opener gets ready under the open lock.
struct Opened {
    env: sys::Env,
    header: Header,
    reserving: Option<File>,
    map_size: u64,
}

impl Opened {
    fn prepare(path: &Path, alone: bool, place: Place) -> Result<Opened> {
        let working = path.join("working.mdb");
        let header_path = path.join(HEADER);
        let (header, _) = Header::open(&header_path)?;
        let fields = header.fields();
        if alone {
            fields.gate.reset()?;
            settle_working_file(&working, &header)?;
            header.sync(&header_path)?;
        }
        let file = open_working_file(&working)?;
        if alone && fields.map_size() == 0 {
            fields.set_map_size(choose_map_size(&file, &working)?);
        }
        let map_size = fields.map_size();
        let reserving = (place == Place::Reserves).then_some(file);
        if let Some(file) = reserving.as_ref().filter(|_| alone && fields.reserved() == 0) {
            fields.set_reserved(space::reserve(file, &working, 0, PAGE * 16, map_size)?);
        }
        let env = sys::Env::open(&working, map_size, MAX_READERS, reserving.is_some())?;
        if alone {
            fields.adopt(identity(&working)?, boot());
        }
        Ok(Opened { env, header, reserving, map_size })
    }
}

/// Decides whether the working file that lies there is this store's, whole, and safe to use. If not, it is put aside.
fn settle_working_file(working: &Path, header: &Header) -> Result<()> {
    let fields = header.fields();
    let lock_file = PathBuf::from(format!("{}-lock", working.display()));
    if let Err(error) = fs::remove_file(&lock_file)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::io("cannot remove", &lock_file, error));
    }
    let exists = working.try_exists().map_err(|e| Error::io("cannot look at", working, e))?;
    if !exists || !fields.vouches_for(identity(working)?, boot()) {
        if exists {
            put_aside(working)?;
        }
        fields.disown();
        fields.set_map_size(0);
    }
    fields.set_clean(false);
    Ok(())
}

/// Renames a working file that cannot be trusted, so that nothing is destroyed.
fn put_aside(working: &Path) -> Result<()> {
    let free = (1..)
        .map(|number: u32| PathBuf::from(format!("{}.untrusted-{number}", working.display())))
        .find(|name| !name.exists());
    let free = free.ok_or_else(|| Error::Internal("no name is left for a file put aside".to_owned()))?;
    fs::rename(working, &free).map_err(|e| Error::io("cannot rename", working, e))
}

fn open_working_file(working: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(working)
        .map_err(|e| Error::io("cannot open", working, e))
}

/// The largest sparse size, halved until the file system takes it. The map never changes after that.
fn choose_map_size(file: &File, path: &Path) -> Result<u64> {
    let mut size = MAP_SIZE;
    loop {
        // The file is left empty again: that is how LMDB knows a new one.
        match file.set_len(size).and_then(|()| file.set_len(0)) {
            Ok(()) => return Ok(size),
            Err(_) if size / 2 >= LEAST_MAP_SIZE => size /= 2,
            Err(error) => return Err(Error::io("cannot make a sparse file of 1 GiB at", path, error)),
        }
    }
}

/// What tells one file from another that took its name.
#[cfg(unix)]
fn identity(path: &Path) -> Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(path).map_err(|e| Error::io("cannot look at", path, e))?;
    Ok((about.dev(), about.ino()))
}

/// What tells one file from another that took its name: here only that it exists.
#[cfg(not(unix))]
fn identity(path: &Path) -> Result<(u64, u64)> {
    fs::metadata(path).map(|_| (1, 1)).map_err(|e| Error::io("cannot look at", path, e))
}

/// A number for the time since this machine started: a file left by an earlier boot was perhaps never written whole.
fn boot() -> [u64; 2] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |from: usize| digits.get(from..from + 16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(1);
    [half(0), half(16)]
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

/// Starts the thread that lets idle snapshots go, since each one kept makes the file grow with every commit.
fn tick(readers: Readers, interval: Duration) -> Result<Ticker> {
    let (stop, stopped) = channel();
    let thread = std::thread::Builder::new()
        .name("caretdb-ticker".to_owned())
        .spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                for reader in readers.lock().iter() {
                    if let Some(mut kept) = reader.try_lock() {
                        kept.let_go();
                    }
                }
            }
        })
        .map_err(|e| Error::Internal(format!("cannot start a thread: {e}")))?;
    Ok(Ticker { stop, thread })
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(ticker) = self.ticker.lock().take() {
            drop(ticker.stop);
            let _ = ticker.thread.join();
        }
        let (header, path) = (&self.header, &self.path);
        let env = &mut self.env;
        self.folder.lock().leave(|last| {
            let whole = last && env.sync().is_ok();
            // SAFETY: no session is left, and the environment is not used after this.
            unsafe { ManuallyDrop::drop(env) };
            if whole && File::open(path).and_then(|folder| folder.sync_all()).is_ok() {
                header.fields().set_clean(true);
                let _ = header.sync(&path.join(HEADER));
            }
        });
    }
}
