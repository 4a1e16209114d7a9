//! The last step of an attachment's way into a store: a file that has all its bytes gets the name under which it is found.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::disk::sync_folder;
use crate::error::{Error, Result};

/// Gives `file`'s name to what is complete in `partial`, and makes the folder of `file` where it is missing. With `durable`
/// the bytes and the names are on the disk when it returns.
///
/// # Errors
/// [`Error::DiskFull`] or the system's answer; `partial` is still there then, or `file` in its place.
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
    if durable {
        let bytes = OpenOptions::new().write(true).open(partial).map_err(|e| Error::io("cannot open", partial, e))?;
        bytes.sync_data().map_err(|e| Error::io("cannot sync", partial, e))?;
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    match fs::rename(partial, file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            SYNCED.lock().remove(folder);
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot make", folder, e))?;
            fs::rename(partial, file).map_err(|e| Error::io("cannot rename", partial, e))?;
        }
        renamed => renamed.map_err(|e| Error::io("cannot rename", partial, e))?,
    }
    if durable { sync_names(folder) } else { Ok(()) }
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
