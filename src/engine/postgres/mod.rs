//! The engine `postgres`: a store in a table of a server that speaks PostgreSQL's protocol, for programs on many machines.
//!
//! What it promises. A write that has returned is committed by the server, and survives what the server's own settings
//! say: with a synchronous standby also the loss of the primary. Everything is serializable. A call that meets another
//! transaction, or whose connection breaks, is done again until it succeeds or the timeout passes; a write that must not
//! be done twice leaves a trace by which a second attempt knows the first one (see [`ledger`]).
//!
//! What it does not promise. A transaction that meets another one may have to be done again by its program
//! ([`Error::Conflict`]). Walks in order read ahead, see [`ahead`].
//!
//! Each session has a connection of its own, driven by the thread that waits for it; a held moment has one more.

mod address;
mod ahead;
mod failure;
mod ledger;
mod link;
mod locks;
mod session;
mod statements;
mod tls;
mod turns;
mod window;
mod writers;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub use address::is_url;

use self::address::Address;
use self::failure::Trouble;
use self::link::Link;
use self::locks::Keeper;
use self::session::PostgresSession;
use self::writers::{Queues, Writers};
use super::{Engine, Options, Place, Session, Stats};
use crate::error::{Error, Result};
use crate::patience::Retry;

/// The format of the tables that this version makes and reads.
const FORMAT: i32 = 1;
/// How long tables may take to be made, while others make them too.
const MAKING: Duration = Duration::from_secs(10);

/// The engine `postgres`.
pub struct Postgres {
    shared: Arc<Shared>,
    keeper: Arc<Keeper>,
    /// The connection that the opening left, for the first session.
    spare: Mutex<Option<Link>>,
}

/// What the sessions of a store share.
struct Shared {
    writers: Writers,
    queues: Queues,
    /// How often this process has written.
    writes: AtomicU64,
    opened: Instant,
}

impl Shared {
    /// Changes when this process writes, or a session does what only it sees.
    fn version(&self, changed: u64) -> u64 {
        ((self.writes.load(Ordering::Acquire) << 16) ^ (changed & 0xFFFF)) + 1
    }

    fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Release);
    }

    /// Changes as time passes, since others may have written.
    fn age(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis() / 50).unwrap_or(u64::MAX)
    }
}

impl Postgres {
    /// Opens the store at a URL, and makes its tables where they are missing and may be made.
    ///
    /// # Errors
    /// [`Error::Argument`] for a wrong URL, [`Error::Io`] where no host can be reached, or takes writes, within the timeout, or
    /// there is no such store and none may be made, [`Error::Format`].
    pub fn open(url: &str, options: &Options) -> Result<Postgres> {
        let address = Arc::new(Address::read(url)?);
        let mut link = Link::new(Arc::clone(&address))?;
        link.set_timeout(options.timeout);
        let mut retry = Retry::new(options.timeout);
        let mut making = Retry::new(Some(MAKING));
        while let Err(trouble) = settle(&mut link, options.create) {
            // Somebody else makes the tables, or no host takes writes yet: one of them starts, or takes over from another.
            let retry = if matches!(trouble, Trouble::Conflict(_)) { &mut making } else { &mut retry };
            link::rest_after(trouble, retry, &address)?;
        }
        let shared = Shared {
            writers: Writers::default(),
            queues: Queues::default(),
            writes: AtomicU64::new(0),
            opened: Instant::now(),
        };
        Ok(Postgres { shared: Arc::new(shared), keeper: Arc::new(Keeper::new(address)), spare: Mutex::new(Some(link)) })
    }

    /// The address without its secrets.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.keeper.address().shown
    }
}

/// Comes to a connection to the store, whose tables are made where they are missing and `create` allows it.
fn settle(link: &mut Link, create: bool) -> std::result::Result<(), Trouble> {
    let address = Arc::clone(link.address());
    match found(link)? {
        Some(FORMAT) => {}
        Some(format) => {
            return Err(Trouble::Fatal(Error::Format {
                path: address.shown.clone().into(),
                found: u32::try_from(format).unwrap_or(u32::MAX),
                known: FORMAT as u32,
            }));
        }
        None if !create => {
            let missing = std::io::ErrorKind::NotFound.into();
            return Err(Trouble::Fatal(Error::io("cannot find a store in", Path::new(&address.shown), missing)));
        }
        None => make(link)?,
    }
    link.connect()
}

/// Which format the store has; none where there is no store.
fn found(link: &mut Link) -> std::result::Result<Option<i32>, Trouble> {
    let table = &link.address().table;
    let (text, cleaning) = (statements::format(table), statements::cleaning(table));
    link.bare(async |client| match client.query_opt(&text, &[]).await {
        Ok(row) => {
            // A user who may not has nothing to clear away either.
            let _ = client.batch_execute(&cleaning).await;
            Ok(row.map(|row| row.get(0)))
        }
        // No such table, no such schema.
        Err(error) if error.code().is_some_and(|code| matches!(code.code(), "42P01" | "3F000")) => Ok(None),
        Err(error) => Err(error),
    })
}

/// Makes the tables. What somebody else has made in the same moment is there, which the next look finds.
fn make(link: &mut Link) -> std::result::Result<(), Trouble> {
    let texts = statements::creation(&link.address().table);
    link.bare(async |client| {
        for text in &texts {
            client.batch_execute(text).await?;
        }
        Ok(())
    })
}

impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn session(&self) -> Result<Box<dyn Session>> {
        let link = match self.spare.lock().take() {
            Some(link) => link,
            None => Link::new(Arc::clone(self.keeper.address()))?,
        };
        Ok(Box::new(PostgresSession::new(Arc::clone(&self.shared), link)))
    }

    /// The server has committed what has returned.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn locks(&self) -> Option<Box<dyn Place>> {
        Some(self.keeper.seat())
    }

    /// Counting the entries makes the server read every one of them.
    fn stats(&self) -> Result<Stats> {
        let address = Arc::clone(self.keeper.address());
        let (count, size) = (statements::count(&address.table), statements::size(&address.table));
        let (entries, bytes) = self.keeper.with(|link| {
            link.again(async |live| {
                let entries: i64 = live.client.query_one(&count, &[]).await?.get(0);
                // Only PostgreSQL's family tells.
                let bytes: i64 = live.client.query_one(&size, &[]).await.map_or(0, |row| row.get(0));
                Ok((entries, bytes))
            })
        })?;
        let figure = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(Stats { entries: figure(entries), disk_bytes: figure(bytes), ..Stats::default() })
    }
}
