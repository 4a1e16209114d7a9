//! M's LOCK: names of nodes that one connection at a time may hold, and all the programs of a store agree to respect.
//!
//! A lock says nothing about the data: who does not ask for it may read and write as before. It lasts until it is given
//! back, its connection closes, or its thread or process dies.

mod bell;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code))] // on Linux only its tests use it
mod elsewhere;
#[cfg(test)]
mod model;
#[cfg(target_os = "linux")]
mod ofd;
mod table;

pub use table::Table;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::engine::Place;
use crate::error::{Error, Result};
use crate::{key, patience};

/// How long a waiter sleeps after its first vain attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// One connection's locks on a store.
///
/// A lock on a node keeps every *other* connection, also one of the same thread, from locking that node, its ancestors
/// and its descendants; siblings are free. Locks count: what was locked twice is free after the second
/// [`Locks::unlock`].
///
/// There is no queue. Waiters try again when a connection of their own process gives something back, and every few
/// milliseconds for the sake of the other processes; the first to try wins. A connection that locks again right after
/// it unlocked can keep others waiting, and so can an unbroken series of locks on children keep one from the parent.
/// Where that matters, leave a pause between the two, or give the wait a timeout and do something else meanwhile.
/// Two connections that each wait for what the other holds wait until a timeout ends it: lock in one order.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use caretdb::lock::{Locks, Table};
///
/// let table = Arc::new(Table::new());
/// let (mut one, mut other) = (Locks::in_process(table.clone()), Locks::in_process(table));
/// assert!(one.lock(b"Person\0\x8C\x0B\0", None)?); // ^Person(1)
/// assert!(!other.lock(b"Person\0", Some(Duration::ZERO))?);
/// one.unlock(b"Person\0\x8C\x0B\0")?;
/// assert!(other.lock(b"Person\0", Some(Duration::ZERO))?);
/// # Ok::<(), caretdb::error::Error>(())
/// ```
pub struct Locks {
    /// The nodes held, each with how often it was locked.
    counts: HashMap<Box<[u8]>, u64>,
    place: Box<dyn Place>,
}

impl Locks {
    /// The locks of one connection on the store in `folder`, for engines that many processes share. They meet in the
    /// file `locks` there, which is made with the first lock.
    ///
    /// Elsewhere than on Linux only the connections of one process can meet: there, while one process uses locks,
    /// [`Locks::lock`] in another one is [`Error::Unsupported`].
    ///
    /// # Errors
    /// [`Error::Io`] when there is no such folder.
    pub fn for_folder(folder: &Path) -> Result<Locks> {
        let folder = folder.canonicalize().map_err(|e| Error::io("cannot use locks in", folder, e))?;
        #[cfg(target_os = "linux")]
        let place = ofd::Bytes::new(&folder, ofd::hash);
        #[cfg(not(target_os = "linux"))]
        let place = elsewhere::OneProcess::new(folder);
        Ok(Locks::at(Box::new(place)))
    }

    /// The locks of one connection on a store that belongs to this process: all its connections share one table.
    #[must_use]
    pub fn in_process(table: Arc<Table>) -> Locks {
        Locks::at(Box::new(table::Seat::new(table)))
    }

    /// The locks of one connection at a place of the engine's own.
    #[must_use]
    pub fn at(place: Box<dyn Place>) -> Locks {
        Locks { counts: HashMap::new(), place }
    }

    /// Locks a node, waiting while other connections are in the way: for `timeout` at least, for ever with `None`; with
    /// zero there is one attempt. `node` is its encoded key. False when the time is up, and nothing has changed then.
    ///
    /// A wait for what another connection of this thread holds can only end by its timeout, or with the thread.
    ///
    /// # Errors
    /// [`Error::Busy`] when this thread should stop, [`Error::Io`], [`Error::Unsupported`] as in
    /// [`Locks::for_folder`], [`Error::Internal`] where `node` is no node's key. Nothing has changed then either.
    pub fn lock(&mut self, node: &[u8], timeout: Option<Duration>) -> Result<bool> {
        wait(timeout, self.place.longest_pause(), || self.try_lock(node))
    }

    /// Locks a node if that can be done at once.
    ///
    /// # Errors
    /// As [`Locks::lock`]'s, but for the wait's.
    pub fn try_lock(&mut self, node: &[u8]) -> Result<bool> {
        if let Some(count) = self.counts.get_mut(node) {
            *count += 1;
            return Ok(true);
        }
        let taken = self.place.take(&path(node)?)?;
        if taken {
            self.counts.insert(node.into(), 1);
        }
        Ok(taken)
    }

    /// Takes one [`Locks::lock`] of a node back. Nothing happens where this connection does not hold it.
    ///
    /// # Errors
    /// The system's answer. The connection has given up the node, but others may be kept from it until
    /// [`Locks::unlock_all`] or the end of the connection.
    pub fn unlock(&mut self, node: &[u8]) -> Result<()> {
        match self.counts.get_mut(node) {
            None => return Ok(()),
            Some(count) if *count > 1 => {
                *count -= 1;
                return Ok(());
            }
            Some(_) => {}
        }
        self.counts.remove(node);
        let given = path(node).and_then(|path| self.place.give(&path));
        bell::ring();
        given
    }

    /// Gives everything back, whatever its count.
    pub fn unlock_all(&mut self) {
        self.counts.clear();
        self.place.give_all();
        bell::ring();
    }

    /// How long one call may go on trying to reach what knows the locks, where that is on another machine; `None` for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.place.set_timeout(timeout);
    }

    /// How many nodes this connection holds.
    #[must_use]
    pub fn held(&self) -> usize {
        self.counts.len()
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        self.unlock_all();
    }
}

/// [`Locks::lock`] of locks that several threads use. They may lock and unlock while one of them waits.
///
/// # Errors
/// As [`Locks::lock`]'s.
pub fn lock_shared(locks: &Mutex<Locks>, node: &[u8], timeout: Option<Duration>) -> Result<bool> {
    let longest_pause = locks.lock().place.longest_pause();
    wait(timeout, longest_pause, || locks.lock().try_lock(node))
}

/// Tries until the node is taken or the time is up.
fn wait(timeout: Option<Duration>, longest_pause: Duration, mut take: impl FnMut() -> Result<bool>) -> Result<bool> {
    // A time that the clock cannot show is for ever.
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut pause = FIRST_PAUSE;
    let mut taken = false;
    // The timeout is no error here, so the wait itself has none.
    patience::wait("the lock", None, |slice| {
        let heard = bell::strokes();
        taken = take()?;
        let left = end.map_or(slice, |end| end.saturating_duration_since(Instant::now()));
        if taken || left.is_zero() {
            return Ok(true);
        }
        bell::wait(heard, pause.min(left).min(slice));
        pause = (pause * 2).min(longest_pause);
        Ok(false)
    })?;
    Ok(taken)
}

/// The keys of a node's ancestors from its global down, and its own.
fn path(node: &[u8]) -> Result<Vec<&[u8]>> {
    let damaged = || Error::Internal(format!("{:02x?} is no key of a node", &node[..node.len().min(32)]));
    let (name, encoded) = key::split(node).ok_or_else(damaged)?;
    let mut end = name.len() + 1;
    let mut path = vec![&node[..end]];
    let mut subscripts = key::subscripts(encoded);
    for subscript in subscripts.by_ref() {
        end += subscript.len();
        path.push(&node[..end]);
    }
    if subscripts.rest().is_empty() { Ok(path) } else { Err(damaged()) }
}
