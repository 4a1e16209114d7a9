//! M's locks between machines: rows with a lease.
//!
//! A lock is a row for its node; who wants one looks, in the transaction that makes it, for rows of others on the node, on
//! its ancestors and on its descendants. A row counts until its lease ends. A thread of this process makes the leases
//! longer while anything is locked; when the process dies, or is cut off from the server, its locks end with their leases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::address::Address;
use super::ledger::random;
use super::link::Link;
use super::statements;
use crate::engine::Place;
use crate::error::Result;

/// How long a lock outlives its process, in seconds.
const LEASE: f64 = 15.0;
/// How often leases are made longer.
const RENEWAL: Duration = Duration::from_secs(4);
/// Nobody tells a waiter of another machine, so it looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long to try to reach the server where no connection says it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The locks of this process on a store.
pub struct Keeper {
    address: Arc<Address>,
    /// The process's name in the rows.
    process: Vec<u8>,
    link: Mutex<Option<Link>>,
    held: AtomicUsize,
    renewing: Mutex<bool>,
    /// Rings when the last lock is given back.
    idle: Condvar,
}

impl Keeper {
    /// Nothing is locked, and nothing is connected.
    pub fn new(address: Arc<Address>) -> Keeper {
        Keeper {
            address,
            process: random(),
            link: Mutex::default(),
            held: AtomicUsize::new(0),
            renewing: Mutex::new(false),
            idle: Condvar::new(),
        }
    }

    /// Where the store is.
    pub fn address(&self) -> &Arc<Address> {
        &self.address
    }

    /// Works on a connection that is for the store as a whole.
    ///
    /// # Errors
    /// What the work answers.
    pub fn with<T>(&self, work: impl FnOnce(&mut Link) -> Result<T>) -> Result<T> {
        self.within(Some(PATIENCE), work)
    }

    /// The same, with a timeout.
    fn within<T>(&self, timeout: Option<Duration>, work: impl FnOnce(&mut Link) -> Result<T>) -> Result<T> {
        let mut link = self.link.lock();
        let link = match &mut *link {
            Some(link) => link,
            none => none.insert(Link::new(Arc::clone(&self.address))?),
        };
        link.set_timeout(timeout);
        work(link)
    }

    /// A place for the locks of one connection.
    pub fn seat(self: &Arc<Keeper>) -> Box<dyn Place> {
        Box::new(Seat { keeper: Arc::clone(self), owner: random(), held: 0, timeout: Some(PATIENCE) })
    }

    /// Makes leases longer from now on, as long as there are any.
    fn renew(self: &Arc<Keeper>) {
        let mut renewing = self.renewing.lock();
        if *renewing {
            return;
        }
        let keeper = Arc::clone(self);
        let text = statements::renew_locks(&self.address.table);
        let started = thread::Builder::new().name("caretdb-leases".to_owned()).spawn(move || {
            let mut renewing = keeper.renewing.lock();
            while keeper.held.load(Ordering::Acquire) > 0 {
                keeper.idle.wait_for(&mut renewing, RENEWAL);
                if keeper.held.load(Ordering::Acquire) == 0 {
                    break;
                }
                parking_lot::MutexGuard::unlocked(&mut renewing, || {
                    // Where the server is away, the next turn tries again; the lease allows for that.
                    drop(keeper.with(|link| {
                        link.again(async |live| live.client.execute(&text, &[&keeper.process, &LEASE]).await)
                    }));
                });
            }
            *renewing = false;
        });
        *renewing = started.is_ok();
    }

    fn count(&self, less: usize) {
        if self.held.fetch_sub(less, Ordering::AcqRel) == less {
            self.idle.notify_all();
        }
    }
}

/// The locks of one connection.
struct Seat {
    keeper: Arc<Keeper>,
    owner: Vec<u8>,
    held: usize,
    timeout: Option<Duration>,
}

impl Place for Seat {
    fn take(&mut self, path: &[&[u8]]) -> Result<bool> {
        let Some((node, ancestors)) = path.split_last() else { return Ok(false) };
        let mut end = node.to_vec();
        // No key of a descendant goes on with 0xFF.
        end.push(0xFF);
        let (text, ancestors) = (statements::take_lock(&self.keeper.address.table), ancestors.to_vec());
        let taken = self.keeper.within(self.timeout, |link| {
            link.again(async |live| {
                live.client.execute(&text, &[node, &self.owner, &self.keeper.process, &LEASE, &ancestors, &end]).await
            })
        })?;
        if taken == 0 {
            return Ok(false);
        }
        self.held += 1;
        self.keeper.held.fetch_add(1, Ordering::AcqRel);
        self.keeper.renew();
        Ok(true)
    }

    fn give(&mut self, path: &[&[u8]]) -> Result<()> {
        let Some(node) = path.last() else { return Ok(()) };
        let text = statements::give_lock(&self.keeper.address.table);
        let given = self.keeper.within(self.timeout, |link| {
            link.again(async |live| live.client.execute(&text, &[node, &self.owner]).await.map(drop))
        });
        if self.held > 0 {
            self.held -= 1;
            self.keeper.count(1);
        }
        given
    }

    fn give_all(&mut self) {
        let held = std::mem::take(&mut self.held);
        if held == 0 {
            return;
        }
        let text = statements::give_locks(&self.keeper.address.table);
        // What cannot be given back ends with its lease.
        drop(self.keeper.with(|link| link.again(async |live| live.client.execute(&text, &[&self.owner]).await)));
        self.keeper.count(held);
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) {
        // An attempt waits for other attempts too, also where the program waits for nothing.
        self.timeout = timeout.map(|timeout| timeout.max(PATIENCE));
    }

    fn longest_pause(&self) -> Duration {
        LONGEST_PAUSE
    }
}
