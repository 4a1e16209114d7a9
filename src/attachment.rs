//! The last step of an attachment's way into a store: a file that has all its bytes gets the name under which it is found.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

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
            make_folder(folder, durable)?;
            fs::rename(partial, file).map_err(|e| Error::io("cannot rename", partial, e))?;
        }
        renamed => renamed.map_err(|e| Error::io("cannot rename", partial, e))?,
    }
    if durable { sync_folder(folder) } else { Ok(()) }
}

/// Makes a folder, and what is missing of the folders that it is in.
fn make_folder(folder: &Path, durable: bool) -> Result<()> {
    let Some(above) = folder.parent() else { return Ok(()) };
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(above, durable)?;
            fs::create_dir(folder).or_else(unless_there).map_err(|e| Error::io("cannot make", folder, e))?;
        }
        made => made.or_else(unless_there).map_err(|e| Error::io("cannot make", folder, e))?,
    }
    if durable { sync_folder(above) } else { Ok(()) }
}

/// Another thread or process may have been faster.
fn unless_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}
