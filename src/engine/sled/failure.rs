//! sled's errors and panics, as ours.

use std::any::Any;
use std::io;
use std::path::Path;

use crate::error::Error;

/// What sled says when another process has its file; sled gives it no kind of its own.
const LOCKED: &str = "could not acquire lock";

const ADVICE: &str = "sled is known to lose its files at times when it is stopped abruptly. Copy the folder, then restore \
                      a backup or begin with an empty one; the engine 'lmdb' is made to live through such stops";

/// Whether sled could not open its files because somebody has them open.
pub fn is_lock(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(source) if source.to_string().starts_with(LOCKED))
}

/// Another process, or another copy of the addon, has the store.
pub fn locked(path: &Path) -> Error {
    Error::Locked(format!(
        "{} is open in another process, or through another copy of the addon, and the engine 'sled' serves one: use \
         threads of one process, or the engine 'lmdb', which many processes can share",
        path.display()
    ))
}

/// The store is gone.
pub fn closed(path: &Path) -> Error {
    Error::Closed(format!("{} is closed", path.display()))
}

/// An error that sled answered.
pub fn error(path: &Path, error: sled::Error) -> Error {
    match error {
        sled::Error::Io(source) if source.kind() == io::ErrorKind::StorageFull => {
            Error::DiskFull { path: path.to_path_buf() }
        }
        sled::Error::Io(source) => Error::io("cannot use the sled store in", path, source),
        sled::Error::Corruption { at: Some(at), .. } => {
            damaged(path, &format!("a record does not fit its checksum ({at})"))
        }
        sled::Error::Corruption { .. } => damaged(path, "its files do not hold what they should"),
        sled::Error::Unsupported(what) => Error::Unsupported(format!("{}: sled answered: {what}", path.display())),
        sled::Error::ReportableBug(what) => damaged(path, &format!("sled answered: {what}")),
        sled::Error::CollectionNotFound(_) => Error::Internal("sled lost its tree".to_owned()),
    }
}

/// A panic inside sled, which is its answer to most damage.
pub fn panic(path: &Path, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    damaged(path, &format!("sled stopped: {}", text.unwrap_or("without a reason")))
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::Corrupt { path: path.to_path_buf(), what: format!("{what}. {ADVICE}") }
}
