//! Which threads of this process are writing: a second session of one thread must not wait for the first, since that could
//! never end.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::patience;

/// The threads that write, or have a transaction open.
#[derive(Clone, Default)]
pub struct Writers(Arc<Mutex<HashSet<ThreadId>>>);

/// A thread's turn, until it is dropped, by whichever thread.
pub struct Turn {
    writers: Writers,
    thread: Option<ThreadId>,
}

impl Writers {
    /// Begins this thread's turn.
    ///
    /// # Errors
    /// [`Error::Transaction`] when it has begun already, through another connection.
    pub fn enter(&self) -> Result<Turn> {
        let thread = thread::current().id();
        if !self.0.lock().insert(thread) {
            return Err(Error::Transaction(
                "another connection of this thread is writing to this store: let it commit or roll back first"
                    .to_owned(),
            ));
        }
        Ok(Turn { writers: self.clone(), thread: Some(thread) })
    }

    /// A turn inside one that the same session has begun.
    pub fn again(&self) -> Turn {
        Turn { writers: self.clone(), thread: None }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(thread) = self.thread {
            self.writers.0.lock().remove(&thread);
        }
    }
}

/// Where sessions of this process take turns at a value that they calculate: the server would let one through and turn the
/// others away.
pub struct Queues {
    hasher: RandomState,
    queues: [Mutex<()>; 64],
}

impl Default for Queues {
    fn default() -> Self {
        Queues { hasher: RandomState::new(), queues: [const { Mutex::new(()) }; 64] }
    }
}

impl Queues {
    /// Waits for the turn at a key, for `timeout` at most.
    ///
    /// # Errors
    /// [`Error::Busy`] when the time is up.
    pub fn enter(&self, key: &[u8], timeout: Option<Duration>) -> Result<MutexGuard<'_, ()>> {
        let number = usize::try_from(self.hasher.hash_one(key) % self.queues.len() as u64).unwrap_or_default();
        let mut guard = None;
        patience::wait("the value", timeout, |slice| {
            guard = self.queues[number].try_lock_for(slice);
            Ok(guard.is_some())
        })?;
        guard.ok_or_else(|| Error::Internal("nobody's turn came".to_owned()))
    }
}
