//! What the parts of a store do with files: remove, rename, copy, and make sure that a folder remembers.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::engine::identity;
use crate::error::{Error, Result};

/// Removes a file that may not be there.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("cannot remove", path, error)),
        _ => Ok(()),
    }
}

/// Removes an LMDB file and the lock file beside it. Only while nobody has it open.
pub fn remove_with_lock(path: &Path) -> Result<()> {
    remove(path)?;
    remove(&lock_of(path))
}

/// The lock file that LMDB keeps beside a file.
pub fn lock_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-lock", path.display()))
}

/// Gives a file another name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::io("cannot rename", from, e))
}

/// Whether there is a file of this name.
pub fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|e| Error::io("cannot look at", path, e))
}

/// How many bytes a file has.
pub fn length(path: &Path) -> Result<u64> {
    fs::metadata(path).map(|about| about.len()).map_err(|e| Error::io("cannot look at", path, e))
}

/// Copies by plain reads and writes. The system's own copy may let both files share their blocks, and then a write into
/// a reserved block of one of them would need a new block.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(|e| Error::io("cannot open", from, e))?;
    let mut target = File::create(to).map_err(|e| Error::io("cannot make", to, e))?;
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = source.read(&mut piece).map_err(|e| Error::io("cannot read", from, e))?;
        if count == 0 {
            return Ok(());
        }
        target.write_all(&piece[..count]).map_err(|e| Error::io("cannot write", to, e))?;
    }
}

/// Writes all bytes at an offset.
#[cfg(unix)]
pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes all bytes at an offset.
#[cfg(windows)]
pub fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = &bytes[count..];
        offset += count as u64;
    }
    Ok(())
}

/// Reads up to all of `bytes` at an offset; how many there were.
pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        #[cfg(unix)]
        let answer = std::os::unix::fs::FileExt::read_at(file, &mut bytes[done..], offset + done as u64);
        #[cfg(windows)]
        let answer = std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], offset + done as u64);
        match answer {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// A folder that was opened. Another one may take its name, and then nothing there is this store's.
pub struct Home {
    path: PathBuf,
    identity: (u64, u64),
}

impl Home {
    /// Remembers which folder has the name now.
    pub fn of(path: &Path) -> Result<Home> {
        Ok(Home { path: path.to_path_buf(), identity: identity(path)? })
    }

    /// Makes sure that the folder still has its name.
    pub fn check(&self) -> Result<()> {
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            return Ok(());
        }
        Err(Error::Closed(format!(
            "{} is no longer the folder that was opened: put it back, or close the store and open it where it is now",
            self.path.display()
        )))
    }
}
