//! The last step of an attachment's way into a store: all its bytes get the name under which they are found. Until an entry
//! refers to them, which comes after, they may be incomplete: a power cut leaves a file that nobody asks for.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::disk::sync_folder;
use crate::error::{Error, Result};

/// Gives `file`'s name to what is complete in `partial`, and makes the folder of `file` where it is missing. With `durable`
/// the bytes and the names are on the disk when it returns.
///
/// # Errors
/// [`Error::DiskFull`] or the system's answer; what was written is there then, as `partial` or as `file`.
///
/// ```
/// use caretdb::attachment::keep;
/// let folder = tempfile::tempdir()?;
/// let (partial, file) = (folder.path().join("partial"), folder.path().join("attachments/0f/0f3a"));
/// std::fs::write(&partial, "an image")?;
/// keep(&partial, &file, true)?;
/// assert_eq!(std::fs::read(&file)?, b"an image");
/// assert!(!partial.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn keep(partial: &Path, file: &Path, durable: bool) -> Result<()> {
    in_folder_of(file, || fs::rename(partial, file)).map_err(|e| Error::io("cannot rename", partial, e))?;
    if !durable {
        return Ok(());
    }
    let kept = OpenOptions::new().write(true).open(file).map_err(|e| Error::io("cannot open", file, e))?;
    sync(&kept, file)
}

/// Writes `bytes` as `file`, and makes its folder where it is missing. With `durable` the bytes and the names are on the disk
/// when it returns.
///
/// # Errors
/// [`Error::DiskFull`] or the system's answer; part of the file may be there then.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("attachments/0f/0f3a");
/// caretdb::attachment::write(b"an image", &file, true)?;
/// assert_eq!(std::fs::read(&file)?, b"an image");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(bytes: &[u8], file: &Path, durable: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut new = in_folder_of(file, || options.open(file)).map_err(|e| Error::io("cannot make", file, e))?;
    new.write_all(bytes).map_err(|e| Error::io("cannot write", file, e))?;
    if durable { sync(&new, file) } else { Ok(()) }
}

/// Does what puts a file into its folder, which is made where it is missing.
fn in_folder_of<T>(file: &Path, put: impl Fn() -> io::Result<T>) -> io::Result<T> {
    put().or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        let folder = folder_of(file);
        SYNCED.lock().remove(folder);
        fs::create_dir_all(folder)?;
        put()
    })
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// Makes sure that a file is found after a power cut, with all that was written to it.
fn sync(opened: &File, file: &Path) -> Result<()> {
    opened.sync_data().map_err(|e| Error::io("cannot sync", file, e))?;
    sync_names(folder_of(file))
}

/// The folders that are known to be found again after a power cut.
static SYNCED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Makes sure that what is in a folder is found after a power cut. The folder, and the one that it is in, may have been made
/// a moment ago by another thread or process that has not synced them yet.
fn sync_names(folder: &Path) -> Result<()> {
    sync_folder(folder)?;
    if SYNCED.lock().contains(folder) {
        return Ok(());
    }
    folder.ancestors().skip(1).take(2).try_for_each(sync_folder)?;
    SYNCED.lock().insert(folder.to_path_buf());
    Ok(())
}
