//! Who has a store's folder open, told by kernel locks that end with their process.
//!
//! `open.lock` is held only while a process opens or closes the store, `users.lock` is shared by all who have it open,
//! and `open.<pid namespace>.<pid>` marks each process, so that a second copy of the addon in one process, or a process
//! that LMDB's locks by process number cannot tell apart, is refused.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{files, space};
use crate::error::{Error, Result};
use crate::patience;

/// How long one process may take to open or close before another that closes does without its turn.
const CLOSING: Duration = Duration::from_secs(10);

/// How long a reader asks whether anybody has the store open.
const ASKING: Duration = Duration::from_millis(500);

/// This process's hold on a store's folder.
pub struct Folder {
    path: PathBuf,
    open_lock: File,
    users: File,
    mark: File,
    mark_path: PathBuf,
}

impl Folder {
    /// Joins the users of the folder, after waiting for at most `timeout` for one that opens or closes it. `prepare` runs while nobody else opens or closes; it learns whether this process is
    /// the only user.
    ///
    /// # Errors
    /// [`Error::Locked`] when the store cannot be shared with this process, and what `prepare` answers.
    pub fn enter<T>(
        path: &Path,
        timeout: Option<Duration>,
        prepare: impl FnOnce(bool) -> Result<T>,
    ) -> Result<(Folder, T)> {
        let open_lock = open(&path.join("open.lock"))?;
        take_turn(&open_lock, path, timeout)?;
        let mark_path = path.join(format!("open.{}.{}", namespace(), std::process::id()));
        let mark = claim(&mark_path)?;
        let entered = check_neighbours(path, &mark_path).and_then(|()| {
            let users = open(&path.join("users.lock"))?;
            let alone = try_lock(&users, path)?;
            if !alone {
                users.lock_shared().map_err(|e| Error::io("cannot lock", path, e))?;
            }
            let prepared = prepare(alone)?;
            if alone {
                users.unlock().and_then(|()| users.lock_shared()).map_err(|e| Error::io("cannot lock", path, e))?;
            }
            Ok((users, prepared))
        });
        let _ = open_lock.unlock();
        match entered {
            Ok((users, prepared)) => {
                Ok((Folder { path: path.to_path_buf(), open_lock, users, mark, mark_path }, prepared))
            }
            Err(error) => {
                let _ = fs::remove_file(&mark_path);
                Err(error)
            }
        }
    }

    /// Leaves. `finish` runs while nobody else opens or closes; it learns whether this process was the last user.
    pub fn leave(&mut self, finish: impl FnOnce(bool)) {
        let turn = take_turn(&self.open_lock, &self.path, Some(CLOSING)).is_ok();
        let last = turn && self.users.unlock().is_ok() && try_lock(&self.users, &self.path).unwrap_or(false);
        finish(last);
        let _ = fs::remove_file(&self.mark_path);
        let _ = self.mark.unlock();
        let _ = self.users.unlock();
        let _ = self.open_lock.unlock();
    }
}

/// Whether any process has the store in a folder open, or opens or closes it now. Asking makes no file.
pub fn is_in_use(path: &Path) -> Result<bool> {
    // Before the users: an opener that found their lock taken would think that it is not alone.
    let Some(open_lock) = open_existing(&path.join("open.lock"))? else { return Ok(false) };
    if take_turn(&open_lock, path, Some(CLOSING)).is_err() {
        return Ok(true);
    }
    match open_existing(&path.join("users.lock"))? {
        Some(users) => Ok(!try_lock(&users, path)?),
        None => Ok(false),
    }
}

/// A store's folder that nobody has open, and that nobody opens while this lives.
pub struct Alone {
    _open_lock: File,
    _users: File,
}

impl Alone {
    /// Makes sure of it.
    ///
    /// # Errors
    /// [`Error::Locked`] where the store is in use.
    pub fn with(path: &Path) -> Result<Alone> {
        let open_lock = open(&path.join("open.lock"))?;
        take_turn(&open_lock, path, Some(CLOSING))?;
        let users = open(&path.join("users.lock"))?;
        if try_lock(&users, path)? { Ok(Alone { _open_lock: open_lock, _users: users }) } else { Err(in_use(path)) }
    }
}

/// A store's folder that may only be read here, that nobody has open to write, and that nobody opens to write while this
/// lives. Others may read it likewise.
pub struct Quiet {
    _open_lock: Option<File>,
}

impl Quiet {
    /// Makes sure of it, after waiting for at most `timeout` for one that opens or closes the store.
    ///
    /// # Errors
    /// [`Error::Locked`] where the store is in use, [`Error::Io`] where nobody could be told that it is read here.
    pub fn with(path: &Path, timeout: Option<Duration>) -> Result<Quiet> {
        let lock_path = path.join("open.lock");
        let Some(open_lock) = open_existing(&lock_path)? else {
            if space::is_read_only(path) {
                return Ok(Quiet { _open_lock: None });
            }
            let action =
                "a store that may only be read here must have been opened before by a user who may write there:";
            return Err(Error::io(action, &lock_path, std::io::ErrorKind::NotFound.into()));
        };
        let used = || {
            Error::Locked(format!(
                "{} is in use, and this user may not write there, which those who share a store must: give the right to, \
                 or let the others close it first",
                path.display()
            ))
        };
        poll(timeout, || was_taken(open_lock.try_lock_shared(), path), used)?;
        if let Some(users) = open_existing(&path.join("users.lock"))? {
            // Another reader may ask the same at this moment.
            poll(Some(ASKING), || try_lock(&users, path), used)?;
        }
        Ok(Quiet { _open_lock: Some(open_lock) })
    }
}

/// Tries a lock until it is taken; `refused` is the error when it is not, within `timeout`.
fn poll(
    timeout: Option<Duration>,
    mut attempt: impl FnMut() -> Result<bool>,
    refused: impl Fn() -> Error,
) -> Result<()> {
    let waited = patience::wait("the opening of the store", timeout, |slice| {
        let taken = attempt()?;
        if !taken {
            std::thread::sleep(slice.min(Duration::from_millis(2)));
        }
        Ok(taken)
    });
    match waited {
        Err(Error::Busy(_)) if !patience::is_stopping() => Err(refused()),
        other => other,
    }
}

/// The error for work that needs a store for itself.
pub fn in_use(path: &Path) -> Error {
    Error::Locked(format!("{} is in use: close it everywhere first", path.display()))
}

fn open_existing(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot open", path, error)),
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| Error::io("cannot open", path, e))
}

fn try_lock(file: &File, path: &Path) -> Result<bool> {
    was_taken(file.try_lock(), path)
}

fn was_taken(answer: std::result::Result<(), TryLockError>, path: &Path) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(Error::io("cannot lock", path, e)),
    }
}

/// Waits for the turn to open or close, and writes down whose it is.
fn take_turn(open_lock: &File, path: &Path, timeout: Option<Duration>) -> Result<()> {
    poll(
        timeout,
        || try_lock(open_lock, path),
        || {
            Error::Locked(format!(
                "the process {} is opening or closing {} and does not get on, or a process that may not write there reads it: \
             wait for it, or end it if it stands still",
                holder(open_lock),
                path.display()
            ))
        },
    )?;
    // Only for a message: a full disk or a file that may only be read are no hindrance.
    let _ = files::write_at(open_lock, format!("{:<10}", std::process::id()).as_bytes(), 0);
    Ok(())
}

/// The number of the process whose turn it is.
fn holder(open_lock: &File) -> String {
    let mut digits = [0; 10];
    let read = files::read_at(open_lock, &mut digits, 0).unwrap_or(0);
    String::from_utf8_lossy(&digits[..read]).trim().to_owned()
}

/// Marks this process. A mark that cannot be locked belongs to another copy of the addon in this very process.
fn claim(mark_path: &Path) -> Result<File> {
    let mut mark = open(mark_path)?;
    if !try_lock(&mark, mark_path)? {
        let mut other = String::new();
        let _ = mark.read_to_string(&mut other);
        return Err(Error::Locked(format!(
            "this process has the store open through another copy of the addon ({other}); this copy is {}. \
             Make all packages use one copy of caretdb",
            this_addon()
        )));
    }
    // Only for the message above: a full disk is no hindrance.
    let _ = mark.set_len(0).and_then(|()| mark.rewind()).and_then(|()| mark.write_all(this_addon().as_bytes()));
    Ok(mark)
}

/// Removes the marks of dead processes and refuses to share with a living one of another PID namespace.
fn check_neighbours(folder: &Path, own: &Path) -> Result<()> {
    let ours = format!("open.{}.", namespace());
    let entries = fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if !name.starts_with("open.") || name == "open.lock" || path == own {
            continue;
        }
        let Ok(mark) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if try_lock(&mark, &path)? {
            let _ = fs::remove_file(&path);
        } else if !name.starts_with(&ours) {
            return Err(Error::Locked(format!(
                "a process of another PID namespace has {} open, and the two cannot tell each other's processes apart: \
                 let the containers share one PID namespace, or use one container",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// The PID namespace of this process, as a number.
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() { "0".to_owned() } else { digits }
}

/// The file this code was loaded from.
#[cfg(unix)]
fn this_addon() -> String {
    use std::ffi::CStr;
    // SAFETY: `dladdr` only reads the address it is given; the name it answers lives as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(this_addon as *const () as *const libc::c_void, &raw mut info) != 0 && !info.dli_fname.is_null()
        {
            return CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned();
        }
    }
    String::new()
}

/// The program this code runs in.
#[cfg(not(unix))]
fn this_addon() -> String {
    std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default()
}
