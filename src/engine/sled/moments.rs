//! The states of the tree in time. A commit replaces one by the next under a lock that reads share, so that nobody sees
//! half of it; whoever needs an older state registers a snapshot, for which each commit keeps what it replaces.
//!
//! sled's own iterators see commits that happen while they run; this is what scans and snapshots stand on instead. A
//! snapshot makes nobody wait; while it is there it costs memory for each key that is changed for the first time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use sled::{Db, IVec, Tree};

use super::failure;
use super::view::Changes;
use crate::error::Result;

/// The tree of a store and its moments.
pub struct Moments {
    /// Taken out when the store closes.
    db: Option<Db>,
    path: PathBuf,
    present: RwLock<()>,
    snapshots: Mutex<Vec<Arc<Snapshot>>>,
    commits: AtomicU64,
}

/// What later commits have replaced since a moment.
#[derive(Default)]
struct Snapshot(Mutex<Changes>);

/// A moment kept for one session, until it is dropped.
pub struct Kept {
    snapshot: Arc<Snapshot>,
    moments: Arc<Moments>,
}

impl Moments {
    /// Begins with what the database holds now.
    pub fn new(db: Db, path: PathBuf) -> Moments {
        Moments {
            db: Some(db),
            path,
            present: RwLock::default(),
            snapshots: Mutex::default(),
            commits: AtomicU64::new(1),
        }
    }

    /// How many commits there have been, and one.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Runs `f` on the tree while nobody commits. It must be short and must not call foreign code.
    ///
    /// # Errors
    /// What sled answers, also where it panics.
    pub fn read<R>(&self, f: impl FnOnce(&Tree) -> sled::Result<R>) -> Result<R> {
        let _present = self.present.read();
        self.attempt(|db| f(db))
    }

    /// Runs `f` as [`Moments::read`] does, and keeps the moment if it says so.
    ///
    /// # Errors
    /// What sled answers.
    pub fn read_and_keep<R>(
        self: &Arc<Moments>,
        f: impl FnOnce(&Tree) -> sled::Result<(R, bool)>,
    ) -> Result<(R, Option<Kept>)> {
        let _present = self.present.read();
        let (result, keep) = self.attempt(|db| f(db))?;
        let kept = keep.then(|| {
            let snapshot = Arc::new(Snapshot::default());
            self.snapshots.lock().push(Arc::clone(&snapshot));
            Kept { snapshot, moments: Arc::clone(self) }
        });
        Ok((result, kept))
    }

    /// Stores one value, or removes it. The caller is inside the gate.
    ///
    /// # Errors
    /// What sled answers.
    pub fn put(&self, key: &[u8], value: Option<IVec>) -> Result<()> {
        let _present = self.present.write();
        self.attempt(|db| {
            let snapshots = self.snapshots.lock();
            if !snapshots.is_empty() {
                remember(&snapshots, db, &IVec::from(key))?;
            }
            drop(snapshots);
            match value {
                Some(value) => db.insert(key, value)?,
                None => db.remove(key)?,
            };
            self.commits.fetch_add(1, Ordering::Release);
            Ok(())
        })
    }

    /// Makes the changes part of the tree, all at once. The caller is inside the gate.
    ///
    /// # Errors
    /// What sled answers.
    pub fn commit(&self, changes: &Changes) -> Result<()> {
        let mut each = changes.iter();
        match (each.len(), each.next()) {
            (0, _) => return Ok(()),
            (1, Some((key, value))) => return self.put(key, value.clone()),
            _ => {}
        }
        let mut batch = sled::Batch::default();
        for (key, value) in changes.iter() {
            match value {
                Some(value) => batch.insert(key, value.clone()),
                None => batch.remove(key),
            }
        }
        let _present = self.present.write();
        self.attempt(|db| {
            let snapshots = self.snapshots.lock();
            if !snapshots.is_empty() {
                changes.iter().try_for_each(|(key, _)| remember(&snapshots, db, key))?;
            }
            drop(snapshots);
            db.apply_batch(batch)?;
            self.commits.fetch_add(1, Ordering::Release);
            Ok(())
        })
    }

    /// Runs `f` on the database and turns sled's errors, and its panics on damage, into ours.
    ///
    /// # Errors
    /// What sled answers.
    pub fn attempt<R>(&self, f: impl FnOnce(&Db) -> sled::Result<R>) -> Result<R> {
        let Some(db) = &self.db else { return Err(failure::closed(&self.path)) };
        // What sled may leave half-done inside is its own: it refuses further work after an error of its files.
        match catch_unwind(AssertUnwindSafe(|| f(db))) {
            Ok(result) => result.map_err(|error| failure::error(&self.path, error)),
            Err(panic) => Err(failure::panic(&self.path, panic.as_ref())),
        }
    }
}

/// Keeps for each snapshot what the tree holds at a key that is about to change.
fn remember(snapshots: &[Arc<Snapshot>], db: &Db, key: &IVec) -> sled::Result<()> {
    let old = db.get(key)?;
    for snapshot in snapshots {
        snapshot.0.lock().set_first(key, old.clone());
    }
    Ok(())
}

impl Kept {
    /// What to lay over the tree to see this moment. Ask while the present is held still, inside [`Moments::read`].
    pub fn replaced(&self) -> MutexGuard<'_, Changes> {
        self.snapshot.0.lock()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.moments.snapshots.lock().retain(|snapshot| !Arc::ptr_eq(snapshot, &self.snapshot));
    }
}

impl Drop for Moments {
    fn drop(&mut self) {
        let db = self.db.take();
        // sled writes what is left while it closes, and panics where the disk refuses. Nobody is there to be told.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if let Some(db) = db {
                let _ = db.flush();
            }
        }));
    }
}
