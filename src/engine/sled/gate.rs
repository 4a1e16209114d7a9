//! The gate of the writers: one session of the process writes at a time, from the start of its transaction, or of its
//! single write, to the end of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{ArcMutexGuard, Mutex, RawMutex};

use crate::error::{Error, Result};
use crate::patience;

/// The gate. Its mutex lets a waiting thread in now and then even if another one comes back at once.
#[derive(Default)]
pub struct Gate {
    mutex: Arc<Mutex<()>>,
    /// Counts changes of the definitions of indexes. Only who is inside changes it.
    pub definitions: AtomicU64,
    /// The thread that is inside, since waiting for oneself could never end; 0 when none is.
    owner: Arc<AtomicU64>,
}

/// The right to write, until it is dropped, by whichever thread.
pub struct Pass {
    owner: Arc<AtomicU64>,
    _guard: ArcMutexGuard<RawMutex, ()>,
}

static THREADS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// A number that no other thread of this process ever has.
    static THIS: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
}

impl Gate {
    /// Goes in, after at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Transaction`] at once when this thread is inside already, through another connection. [`Error::Busy`]
    /// when the timeout passes.
    pub fn enter(&self, timeout: Option<Duration>) -> Result<Pass> {
        let me = THIS.with(|number| *number);
        let guard = match self.mutex.try_lock_arc() {
            Some(guard) => guard,
            None if self.owner.load(Ordering::Relaxed) == me => {
                return Err(Error::Transaction(
                    "another connection of this thread is writing to this store: let it commit or roll back first"
                        .to_owned(),
                ));
            }
            None => self.wait(timeout)?,
        };
        self.owner.store(me, Ordering::Relaxed);
        Ok(Pass { owner: Arc::clone(&self.owner), _guard: guard })
    }

    #[cold]
    fn wait(&self, timeout: Option<Duration>) -> Result<ArcMutexGuard<RawMutex, ()>> {
        let mut guard = None;
        patience::wait("the right to write", timeout, |slice| {
            guard = self.mutex.try_lock_arc_for(slice);
            Ok(guard.is_some())
        })?;
        guard.ok_or_else(|| Error::Internal("the gate of the writers let nobody in".to_owned()))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // The guard goes after this, so the next owner's mark cannot be wiped out.
        self.owner.store(0, Ordering::Relaxed);
    }
}
