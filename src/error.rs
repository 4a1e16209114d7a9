//! Everything that can go wrong, once, each with the code that JavaScript sees.

use std::path::{Path, PathBuf};

/// The result of every fallible operation of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The message says what to do about it; [`Error::code`] is what programs test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Wrong type or number of arguments: a `TypeError` in JavaScript.
    #[error("{0}")]
    Argument(String),
    /// A global name that M and CaretDB do not allow.
    #[error(
        "{0:?} is no global name: a name is '%' or a letter, then letters, digits and '_', '.', '-' inside, at most 255 characters"
    )]
    BadName(String),
    /// A subscript that cannot be stored: the empty string, NaN, a number outside 1E-43 to 1E47.
    #[error("{0}")]
    BadKey(String),
    /// The encoded key is longer than every engine promises to hold.
    #[error("the key takes {0} bytes, more than the {max} allowed: use fewer or shorter subscripts", max = crate::key::MAX_KEY)]
    KeyTooLong(usize),
    /// A place in a document whose encoded key is longer than every engine promises to hold.
    #[error("{path} takes a key of {bytes} bytes, more than the {max} allowed: nest less deeply or use shorter names", max = crate::key::MAX_KEY)]
    PathTooLong {
        /// The place, abbreviated.
        path: String,
        /// How long its key would be.
        bytes: usize,
    },
    /// What cannot be stored as a value.
    #[error("{0}")]
    BadValue(String),
    /// A value or batch over the engine's limit.
    #[error("{0}")]
    TooLarge(String),
    /// The connection or store is closed.
    #[error("{0}")]
    Closed(String),
    /// A write through a read-only connection.
    #[error("{0}")]
    ReadOnly(String),
    /// Another connection writes or holds a lock for longer than the timeout.
    #[error("{0}")]
    Busy(String),
    /// Another transaction changed what this one used; nothing of it was written, and it may be done again.
    #[error("{0}")]
    Conflict(String),
    /// Indexes were made or dropped since this connection last looked. It looks again and repeats the write, so no caller
    /// of a connection meets this.
    #[error("the indexes of the store changed during the write: try again")]
    Outdated,
    /// The store is held in a way that cannot be shared.
    #[error("{0}")]
    Locked(String),
    /// Transaction calls out of order.
    #[error("{0}")]
    Transaction(String),
    /// No room on the disk; nothing of the operation was written.
    #[error("no space left for {path}: free some disk space and try again")]
    DiskFull {
        /// The file that needed room.
        path: PathBuf,
    },
    /// The operating system's answer.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was being done, as "cannot open".
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's own error.
        source: std::io::Error,
    },
    /// The store was written by a newer version.
    #[error("{path} has format {found}, this version reads up to {known}: use a newer CaretDB")]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format number.
        found: u32,
        /// The newest this version knows.
        known: u32,
    },
    /// Damage.
    #[error("{path} is damaged: {what}")]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// What does not fit, and what to do.
        what: String,
    },
    /// Not in this engine or product.
    #[error("{0}")]
    Unsupported(String),
    /// Our fault.
    #[error("internal error: {0}. Please report it")]
    Internal(String),
}

impl Error {
    /// The code that JavaScript sees as `error.code`.
    ///
    /// ```
    /// use caretdb::error::Error;
    /// assert_eq!(Error::KeyTooLong(2000).code(), "ERR_KEY_TOO_LONG");
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Argument(_) => "ERR_ARG",
            Error::BadName(_) => "ERR_BAD_NAME",
            Error::BadKey(_) => "ERR_BAD_KEY",
            Error::KeyTooLong(_) | Error::PathTooLong { .. } => "ERR_KEY_TOO_LONG",
            Error::BadValue(_) => "ERR_BAD_VALUE",
            Error::TooLarge(_) => "ERR_TOO_LARGE",
            Error::Closed(_) => "ERR_CLOSED",
            Error::ReadOnly(_) => "ERR_READ_ONLY",
            Error::Busy(_) | Error::Conflict(_) | Error::Outdated => "ERR_BUSY",
            Error::Locked(_) => "ERR_LOCKED",
            Error::Transaction(_) => "ERR_TX",
            Error::DiskFull { .. } => "ERR_DISK_FULL",
            Error::Io { .. } => "ERR_IO",
            Error::Format { .. } => "ERR_FORMAT",
            Error::Corrupt { .. } => "ERR_CORRUPT",
            Error::Unsupported(_) => "ERR_UNSUPPORTED",
            Error::Internal(_) => "ERR_INTERNAL",
        }
    }

    /// The system's answer to `action` on `path`; a full disk becomes [`Error::DiskFull`].
    #[must_use]
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Error::DiskFull { path: path.to_path_buf() },
            _ => Error::Io { action, path: path.to_path_buf(), source },
        }
    }
}
