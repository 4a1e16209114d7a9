//! Locks where the kernel has none on open file descriptions (everywhere but on Linux): a table in this process, and
//! the plain refusal to let a second process believe that it has locks.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::table::{Seat, Table};
use crate::engine::Place;
use crate::error::{Error, Result};
use crate::patience;

/// The folders whose locks this process has claimed.
static CLAIMED: Mutex<Vec<Arc<Claim>>> = Mutex::new(Vec::new());

/// This process's claim on the locks of a folder. It ends with the file.
struct Claim {
    folder: PathBuf,
    table: Arc<Table>,
    _file: File,
}

/// One connection's locks on a folder.
pub struct OneProcess {
    folder: PathBuf,
    /// Taken with the first lock: most connections never lock.
    seat: Option<(Arc<Claim>, Seat)>,
}

impl OneProcess {
    /// `folder` has no links or dots in it, so that one folder has one table.
    pub fn new(folder: PathBuf) -> OneProcess {
        OneProcess { folder, seat: None }
    }
}

impl Place for OneProcess {
    fn take(&mut self, path: &[&[u8]]) -> Result<bool> {
        if self.seat.is_none() {
            let claim = claim(&self.folder)?;
            let seat = Seat::new(Arc::clone(&claim.table));
            self.seat = Some((claim, seat));
        }
        self.seat.as_mut().map_or(Ok(false), |(_, seat)| seat.take(path))
    }

    fn give(&mut self, path: &[&[u8]]) -> Result<()> {
        self.seat.as_mut().map_or(Ok(()), |(_, seat)| seat.give(path))
    }

    fn give_all(&mut self) {
        if let Some((_, seat)) = &mut self.seat {
            seat.give_all();
        }
    }

    fn longest_pause(&self) -> Duration {
        patience::SLICE
    }
}

impl Drop for OneProcess {
    fn drop(&mut self) {
        if let Some((claim, _)) = self.seat.take() {
            let mut claimed = CLAIMED.lock();
            // The list's own and this one: nobody else uses the claim.
            if Arc::strong_count(&claim) == 2 {
                claimed.retain(|other| !Arc::ptr_eq(other, &claim));
            }
            // Inside the list's lock, so that the next claim finds the file closed.
            drop(claim);
        }
    }
}

fn claim(folder: &Path) -> Result<Arc<Claim>> {
    let mut claimed = CLAIMED.lock();
    if let Some(claim) = claimed.iter().find(|claim| claim.folder == folder) {
        return Ok(Arc::clone(claim));
    }
    let claim = Arc::new(Claim { folder: folder.to_path_buf(), table: Arc::default(), _file: claimed_file(folder)? });
    claimed.push(Arc::clone(&claim));
    Ok(claim)
}

fn claimed_file(folder: &Path) -> Result<File> {
    let path = folder.join("locks");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| Error::io("cannot open", &path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Unsupported(format!(
            "another process uses locks in {}, and on this system they reach no further than one process: \
             let one process do what needs locks, or use Linux",
            folder.display()
        ))),
        Err(TryLockError::Error(e)) => Err(Error::io("cannot lock", &path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: [&[u8]; 1] = [b"A\0"];

    #[test]
    fn connections_of_this_process_see_each_other_and_another_process_is_refused_until_they_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = OneProcess::new(folder.path().to_path_buf());
        let mut other = OneProcess::new(folder.path().to_path_buf());
        assert!(one.take(&NODE).unwrap());
        assert!(!other.take(&NODE).unwrap());
        // Another process would come as far as this.
        assert!(matches!(claimed_file(folder.path()), Err(Error::Unsupported(_))));
        one.give(&NODE).unwrap();
        assert!(other.take(&NODE).unwrap());
        drop(one);
        assert!(!OneProcess::new(folder.path().to_path_buf()).take(&NODE).unwrap());
        assert!(matches!(claimed_file(folder.path()), Err(Error::Unsupported(_))));
        drop(other);
        claimed_file(folder.path()).unwrap();
    }
}
