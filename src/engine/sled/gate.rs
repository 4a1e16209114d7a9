//! The gate of the writers: one session of the process writes at a time, from the start of its transaction, or of its
//! single write, to the end of it.

use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::{Error, Result};
use crate::patience;

/// The gate. It remembers which thread went in, since waiting for oneself could never end.
#[derive(Default)]
pub struct Gate {
    inside: Mutex<Option<ThreadId>>,
    left: Condvar,
}

/// The right to write, until it is dropped.
pub struct Pass {
    gate: Arc<Gate>,
}

thread_local! {
    static THIS: ThreadId = thread::current().id();
}

impl Gate {
    /// Goes in, after at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Transaction`] at once when this thread is inside already, through another connection. [`Error::Busy`]
    /// when the timeout passes.
    pub fn enter(self: &Arc<Gate>, timeout: Option<Duration>) -> Result<Pass> {
        let me = THIS.with(|id| *id);
        let mut inside = self.inside.lock();
        if *inside == Some(me) {
            return Err(Error::Transaction(
                "another connection of this thread is writing to this store: let it commit or roll back first"
                    .to_owned(),
            ));
        }
        if inside.is_some() {
            drop(inside);
            patience::wait("the right to write", timeout, |slice| Ok(self.enter_within(slice, me)))?;
        } else {
            *inside = Some(me);
        }
        Ok(Pass { gate: Arc::clone(self) })
    }

    fn enter_within(&self, slice: Duration, me: ThreadId) -> bool {
        let mut inside = self.inside.lock();
        if inside.is_some() {
            self.left.wait_for(&mut inside, slice);
        }
        let free = inside.is_none();
        if free {
            *inside = Some(me);
        }
        free
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        *self.gate.inside.lock() = None;
        self.gate.left.notify_one();
    }
}
