//! Who has a store's folder open, told by kernel locks that end with their process.
//!
//! `open.lock` is held only while a process opens or closes the store, `users.lock` is shared by all who have it open,
//! and `open.<pid namespace>.<pid>` marks each process, so that a second copy of the addon in one process, or a process
//! that LMDB's locks by process number cannot tell apart, is refused.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::patience;

/// How long one process may take to open or close before another gives up.
const OPENING: Duration = Duration::from_secs(60);

/// This process's hold on a store's folder.
pub struct Folder {
    path: PathBuf,
    open_lock: File,
    users: File,
    mark: File,
    mark_path: PathBuf,
}

impl Folder {
    /// Joins the users of the folder. `prepare` runs while nobody else opens or closes; it learns whether this process is
    /// the only user.
    ///
    /// # Errors
    /// [`Error::Locked`] when the store cannot be shared with this process, and what `prepare` answers.
    pub fn enter<T>(path: &Path, prepare: impl FnOnce(bool) -> Result<T>) -> Result<(Folder, T)> {
        let open_lock = open(&path.join("open.lock"))?;
        take_turn(&open_lock, path)?;
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
        let turn = take_turn(&self.open_lock, &self.path).is_ok();
        let last = turn && self.users.unlock().is_ok() && try_lock(&self.users, &self.path).unwrap_or(false);
        finish(last);
        let _ = fs::remove_file(&self.mark_path);
        let _ = self.mark.unlock();
        let _ = self.users.unlock();
        let _ = self.open_lock.unlock();
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
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(Error::io("cannot lock", path, e)),
    }
}

fn take_turn(open_lock: &File, path: &Path) -> Result<()> {
    patience::wait("the opening of the store", Some(OPENING), |slice| {
        let taken = try_lock(open_lock, path)?;
        if !taken {
            std::thread::sleep(slice.min(Duration::from_millis(2)));
        }
        Ok(taken)
    })
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
    let written = mark.set_len(0).and_then(|()| mark.rewind()).and_then(|()| mark.write_all(this_addon().as_bytes()));
    written.map_err(|e| Error::io("cannot write", mark_path, e))?;
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
