//! Backups of an open store: a folder of its own that opens as any store does. It is written under another name beside
//! the wanted one, synced, and then renamed, so that a backup is there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::sync_folder;
use crate::engine::Report;
use crate::error::{Error, Result};
use crate::fault;
use crate::key::Key;
use crate::store::{OWN_GLOBAL, Store};

/// A store's subfolder for files that belong to it and never change.
pub const ATTACHMENTS: &str = "attachments";
/// Locked while a backup is being written; only a folder with this file is taken for one that was cut short.
const LOCK: &str = "backup.lock";

impl Store {
    /// Copies all that is committed, as of one moment, into the folder `target`, which must not exist or be empty. Others
    /// read and write meanwhile. `timeout` is for the collection of attachments that nothing refers to, which must not run
    /// at the same time.
    ///
    /// # Errors
    /// [`Error::Argument`] where `target` holds something or lies in the store itself, [`Error::Locked`] where another
    /// backup writes there, [`Error::DiskFull`], [`Error::Unsupported`] where the engine cannot, or what `report`
    /// answers. Nothing is left of the backup then.
    ///
    /// ```
    /// use caretdb::{engine::Options, store::Store};
    /// let folder = tempfile::tempdir()?;
    /// let (from, to) = (folder.path().join("data"), folder.path().join("backup"));
    /// let store = Store::open(Some(&from), &Options::default())?;
    /// store.backup(&to, None, &mut |_done, _of| Ok(()))?;
    /// Store::open(Some(&to), &Options { create: false, ..Options::default() })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(self: &Arc<Store>, target: &Path, timeout: Option<Duration>, report: &mut Report<'_>) -> Result<()> {
        let target = settle_target(target)?;
        if target.starts_with(self.path()) {
            return Err(Error::Argument(format!(
                "{} is inside the store itself: name a folder elsewhere",
                target.display()
            )));
        }
        let partial = Partial::make(&target)?;
        let attachments = self.path().join(ATTACHMENTS);
        // Held until the attachments are copied, so that none of those that the copied entries name can go; where there are
        // none yet, too, because the first may come meanwhile.
        let keeper = self.connect(true)?;
        if !self.is_at_rest() && !keeper.lock(collecting()?.as_bytes(), timeout)? {
            return Err(Error::Busy(
                "attachments are being collected: try again, or raise the timeout of the connection".to_owned(),
            ));
        }
        let (mut done, mut expected) = (0, 0);
        self.write_backup(&partial.path, &mut |so_far, of| {
            (done, expected) = (so_far, of);
            report(so_far, of)
        })?;
        if attachments.exists() {
            copy_folder(&attachments, &partial.path.join(ATTACHMENTS), &mut || report(done, expected))?;
        }
        partial.finish(&target)
    }
}

/// The lock that is held while attachments that nothing refers to are removed.
fn collecting() -> Result<Key> {
    let mut key = Key::new();
    key.global(OWN_GLOBAL)?;
    key.text("attachments")?;
    key.text("collect")?;
    Ok(key)
}

/// The absolute path of a folder that is not there yet, or empty.
pub(crate) fn settle_target(target: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(target).map_err(|e| Error::io("cannot find", target, e))?;
    let absolute = match absolute.canonicalize() {
        Ok(existing) => existing,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
                return Err(Error::Argument(format!("{} is no name for a folder", target.display())));
            };
            fs::create_dir_all(parent).map_err(|e| Error::io("cannot make the folder", parent, e))?;
            parent.canonicalize().map_err(|e| Error::io("cannot find", parent, e))?.join(name)
        }
        Err(error) => return Err(Error::io("cannot look at", target, error)),
    };
    match fs::read_dir(&absolute) {
        Ok(mut entries) => match entries.next() {
            None => Ok(absolute),
            Some(_) => Err(Error::Argument(format!(
                "{} is not empty: name a folder that is empty or does not exist",
                absolute.display()
            ))),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(absolute),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(Error::Argument(format!("{} is a file: name a folder", absolute.display())))
        }
        Err(error) => Err(Error::io("cannot look at", &absolute, error)),
    }
}

/// A backup that is being written. It goes when it is not finished.
pub(crate) struct Partial {
    /// Where it is written.
    pub(crate) path: PathBuf,
    lock: File,
    finished: bool,
}

impl Partial {
    /// Makes the folder, and first removes one that a backup left which was cut short.
    pub(crate) fn make(target: &Path) -> Result<Partial> {
        let mut name = target.as_os_str().to_owned();
        name.push(OsString::from(".partial"));
        let path = PathBuf::from(name);
        if path.exists() {
            remove_left_over(&path)?;
        }
        fs::create_dir(&path).map_err(|e| Error::io("cannot make the folder", &path, e))?;
        let lock = File::create(path.join(LOCK)).and_then(|lock| lock.lock().map(|()| lock));
        match lock {
            Ok(lock) => Ok(Partial { path, lock, finished: false }),
            Err(error) => {
                let _ = fs::remove_dir_all(&path);
                Err(Error::io("cannot write in", &path, error))
            }
        }
    }

    /// Gives the backup its name.
    pub(crate) fn finish(mut self, target: &Path) -> Result<()> {
        sync_folder(&self.path)?;
        fault::point("backup-synced");
        fs::rename(&self.path, target).map_err(|e| Error::io("cannot give the backup its name", target, e))?;
        self.finished = true;
        fault::point("backup-renamed");
        let _ = fs::remove_file(target.join(LOCK));
        let _ = self.lock.unlock();
        match target.parent() {
            Some(parent) => sync_folder(parent),
            None => Ok(()),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn remove_left_over(partial: &Path) -> Result<()> {
    let is_empty = fs::read_dir(partial).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        let lock = File::options().read(true).write(true).open(partial.join(LOCK)).map_err(|_| {
            Error::Argument(format!("{} is in the way and no backup: move it elsewhere", partial.display()))
        })?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked(format!("another backup is being written to {}", partial.display())));
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("cannot lock", partial, error)),
        }
    }
    fs::remove_dir_all(partial).map_err(|e| Error::io("cannot remove", partial, e))
}

/// Copies a folder with all that is in it, and syncs it. What vanishes meanwhile was not finished, and is left out.
pub(crate) fn copy_folder(from: &Path, to: &Path, report: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    fs::create_dir(to).map_err(|e| Error::io("cannot make the folder", to, e))?;
    for entry in fs::read_dir(from).map_err(|e| Error::io("cannot read", from, e))? {
        let entry = entry.map_err(|e| Error::io("cannot read", from, e))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| Error::io("cannot look at", &source, e))?;
        if kind.is_dir() {
            copy_folder(&source, &target, report)?;
        } else if kind.is_file() {
            match copy_file(&source, &target) {
                Err(Error::Io { source: error, .. }) if error.kind() == ErrorKind::NotFound => {}
                copied => copied?,
            }
        }
        report()?;
    }
    sync_folder(to)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(|e| Error::io("cannot open", from, e))?;
    let mut target = File::create(to).map_err(|e| Error::io("cannot make", to, e))?;
    std::io::copy(&mut source, &mut target)
        .and_then(|_| target.sync_all())
        .map_err(|e| Error::io("cannot write", to, e))
}
