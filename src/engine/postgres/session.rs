//! One connection's way to the server.

mod batch;
mod change;
mod scan;
mod transaction;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::batch::pieces;
use self::transaction::Transaction;
use super::Shared;
use super::ahead::{Ahead, Entry, SMALL, Step};
use super::failure::Trouble;
use super::ledger::Ledger;
use super::link::{self, Link, Live};
use super::writers::Turn;
use crate::engine::reduce::reduce;
use crate::engine::{Batch, Bound, Change, MAX_VALUE, Operation, Range, Session, Visitor};
use crate::error::{Error, Result};
use crate::key::MAX_KEY;

/// Stands for any count of definitions.
const ANY: i64 = -2;
/// The longest key.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // far below
const LONGEST_KEY: i32 = MAX_KEY as i32;
/// A statement carries puts of about so many bytes, and so many puts.
const PIECE_BYTES: usize = 16 << 20;

/// A session of the engine `postgres`.
pub struct PostgresSession {
    shared: Arc<Shared>,
    link: Link,
    ledger: Ledger,
    timeout: Option<Duration>,
    transaction: Option<Transaction>,
    /// What the next transaction will read.
    foreseen: Option<(Vec<u8>, Vec<u8>)>,
    held: Option<Held>,
    /// The connection of the last moment, for the next one.
    spare: Option<Link>,
    ahead: Ahead,
    /// What the values were that this session last saw where it calculates.
    remembered: HashMap<Vec<u8>, Vec<u8>>,
    /// The count of definitions that single writes are made for, where it matters.
    expected: i64,
    /// Counts what changes only for this session.
    changed: u64,
}

/// A moment that is held by a transaction of its own.
struct Held {
    link: Link,
    live: Arc<Live>,
}

impl PostgresSession {
    pub(super) fn new(shared: Arc<Shared>, link: Link) -> PostgresSession {
        PostgresSession {
            shared,
            link,
            ledger: Ledger::default(),
            timeout: Some(Duration::from_secs(10)),
            transaction: None,
            foreseen: None,
            held: None,
            spare: None,
            ahead: Ahead::default(),
            remembered: HashMap::new(),
            expected: ANY,
            changed: 0,
        }
    }

    /// What entries that were read ahead must have been read at.
    fn moment(&self) -> u64 {
        if self.held.is_some() && self.transaction.is_none() { 0 } else { self.shared.version(self.changed) }
    }

    fn is_fixed(&self) -> bool {
        self.held.is_some() || self.transaction.is_some()
    }

    /// Runs a read: in the transaction, at the held moment, or alone.
    fn read<T>(
        &mut self,
        mut work: impl AsyncFnMut(&Live) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        if self.transaction.is_some() {
            return self.inside(async |live| work(live).await);
        }
        let Some(held) = &mut self.held else {
            return self.link.again(async |live| work(live).await);
        };
        held.link.set_timeout(self.timeout);
        match held.link.attempt_on(&held.live, async |live| work(live).await) {
            Ok(found) => Ok(found),
            Err(Trouble::Broken(_)) => Err(lost_moment(&held.link)),
            Err(trouble) => Err(link::error(trouble, held.link.address())),
        }
    }

    /// A write outside a transaction is about to be made; nobody else of this thread may be in one.
    fn turn(&self) -> Result<Turn> {
        self.shared.writers.enter()
    }

    fn written(&mut self) {
        self.shared.count_write();
        self.ahead.forget();
    }

    fn outdated(&self, definitions: i64) -> Result<()> {
        if self.expected == ANY || self.expected == definitions { Ok(()) } else { Err(Error::Outdated) }
    }

    fn put_alone(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let expected = self.expected;
        let stored = self
            .link
            .again(async |live| live.client.execute(&live.statements.put, &[&key, &value, &expected]).await)?;
        if stored == 0 { Err(Error::Outdated) } else { Ok(()) }
    }

    /// Reads one value, past what was read ahead.
    fn fetch(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.read(async |live| {
            let row = live.client.query_opt(&live.statements.get, &[&key]).await?;
            Ok(row.map(|row| row.get(0)))
        })
    }
}

fn check(value: &[u8]) -> Result<()> {
    if value.len() > MAX_VALUE {
        return Err(Error::TooLarge(format!(
            "the value has {} bytes, more than the {} that the engine postgres takes",
            value.len() - 1,
            MAX_VALUE - 1
        )));
    }
    Ok(())
}

fn none_open() -> Error {
    Error::Transaction("no transaction is open".to_owned())
}

fn lost_moment(link: &Link) -> Error {
    super::failure::cannot(
        "cannot go on reading from",
        link.address(),
        "the connection that held the moment is gone: take a new snapshot".to_owned(),
    )
}

/// The same error once more.
fn again(error: &Error) -> Error {
    match error {
        Error::Conflict(what) => Error::Conflict(what.clone()),
        Error::Busy(what) => Error::Busy(what.clone()),
        Error::TooLarge(what) => Error::TooLarge(what.clone()),
        Error::ReadOnly(what) => Error::ReadOnly(what.clone()),
        Error::DiskFull { path } => Error::DiskFull { path: path.clone() },
        other => Error::Transaction(format!("the transaction has failed and can only be undone: {other}")),
    }
}

impl Session for PostgresSession {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        if let Some(known) = self.window().and_then(|window| window.get(key)) {
            value.extend_from_slice(known.unwrap_or_default());
            return Ok(known.is_some());
        }
        let moment = self.moment();
        if let Some(found) = self.ahead.get(key, moment) {
            value.extend_from_slice(found);
            return Ok(true);
        }
        let found = self.fetch(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn seek(&mut self, bound: Bound<'_>, key: &mut Vec<u8>, value: Option<&mut Vec<u8>>) -> Result<bool> {
        let (moment, with_value) = (self.moment(), value.is_some());
        let known = self.window().and_then(|window| window.seek(bound, with_value));
        let found = match (known, self.ahead.step(bound, with_value, moment)) {
            (Some(known), _) => known,
            (None, Step::Found(entry)) => Some(entry.clone()),
            (None, Step::End) => None,
            (None, Step::Unknown) => {
                let wanted = self.ahead.wanted(bound);
                let longest = if with_value && wanted == 1 { i32::MAX } else { SMALL };
                let entries = self.read(async |live| {
                    let (statement, from) = match &bound {
                        Bound::AtOrAfter(from) => (&live.statements.seek_after, from),
                        Bound::Before(from) => (&live.statements.seek_before, from),
                    };
                    let rows = live.client.query(statement, &[from, &wanted, &longest]).await?;
                    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<Entry>>())
                })?;
                let is_fixed = self.is_fixed();
                self.ahead.keep(bound, wanted, entries, moment, is_fixed).cloned()
            }
        };
        let Some((found, stored)) = found else { return Ok(false) };
        key.clear();
        key.extend_from_slice(&found);
        if let Some(value) = value {
            let stored = match stored {
                Some(stored) => Some(stored),
                None => self.fetch(&found)?,
            };
            let Some(stored) = stored else {
                // It was deleted between the two looks.
                self.ahead.forget();
                return self.seek(bound, key, Some(value));
            };
            value.clear();
            value.extend_from_slice(&stored);
        }
        Ok(true)
    }

    fn scan(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        if range.start >= range.end {
            return Ok(());
        }
        if let Some(shown) = self.window().and_then(|window| window.scan(range, visit)) {
            return shown;
        }
        // Several pages are of one moment inside a transaction only.
        let hold = !self.is_fixed();
        if hold {
            return self.scan_alone(range, visit);
        }
        self.scan_pages(range, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(value)?;
        self.remembered.remove(key);
        if self.transaction.is_some() {
            self.keep_window(|window| window.put(key, value));
            let (key, value) = (key.to_vec(), value.to_vec());
            return self.send(key.len() + value.len(), |live| {
                Box::pin(async move {
                    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&key, &value, &ANY];
                    live.client.execute(&live.statements.put, &parameters).await.map(drop)
                })
            });
        }
        let _turn = self.turn()?;
        self.link.set_timeout(self.timeout);
        let stored = self.put_alone(key, value);
        self.written();
        stored
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        for operation in batch.operations() {
            if let Operation::Put(_, value) = operation {
                check(value)?;
            }
        }
        let reduced = reduce(batch.operations());
        if self.transaction.is_none() {
            let _turn = self.turn()?;
            self.link.set_timeout(self.timeout);
            let applied = self.apply_alone(&reduced);
            self.written();
            return applied;
        }
        self.keep_window(|window| window.apply(batch));
        for (start, end) in reduced.deletes {
            let (start, end) = (start.to_vec(), end.to_vec());
            self.send(start.len() + end.len(), |live| {
                Box::pin(async move {
                    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&start, &end, &ANY];
                    live.client.execute(&live.statements.delete, &parameters).await.map(drop)
                })
            })?;
        }
        for (keys, values) in pieces(&reduced.puts) {
            let owned = |list: Vec<&[u8]>| list.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
            let (keys, values) = (owned(keys), owned(values));
            let bytes = values.iter().map(Vec::len).sum();
            self.send(bytes, |live| {
                Box::pin(async move {
                    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&keys, &values, &ANY];
                    live.client.execute(&live.statements.put_many, &parameters).await.map(drop)
                })
            })?;
        }
        Ok(())
    }

    fn update(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        if self.transaction.is_some() {
            return self.update_inside(key, change);
        }
        let _turn = self.turn()?;
        self.link.set_timeout(self.timeout);
        let changed = self.change_alone(key, change, false);
        self.written();
        changed
    }

    fn calculate(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        if self.transaction.is_some() {
            return self.update_inside(key, change);
        }
        let _turn = self.turn()?;
        self.link.set_timeout(self.timeout);
        let changed = self.change_alone(key, change, true);
        self.written();
        changed
    }

    fn copy(&mut self, source: (&[u8], &[u8]), target: &[u8]) -> Result<bool> {
        // Where one lies in the other, doing it twice is not the same as doing it once, and nobody knows whether a
        // connection that broke did it.
        let (start, end) = source;
        if self.transaction.is_some() || target.starts_with(start) || start.starts_with(target) {
            return Ok(false);
        }
        let Ok(cut) = i32::try_from(start.len()) else { return Ok(false) };
        let _turn = self.turn()?;
        self.link.set_timeout(self.timeout);
        let expected = self.expected;
        let copied = self.link.again(async |live| {
            let statement = &live.statements.copy;
            let row = live.client.query_one(statement, &[&start, &end, &target, &cut, &LONGEST_KEY, &expected]).await?;
            Ok(row.get::<_, bool>(0))
        });
        self.remembered.clear();
        self.written();
        copied
    }

    fn foresee(&mut self, start: &[u8], end: &[u8]) {
        self.foreseen = Some((start.to_vec(), end.to_vec()));
    }

    fn begin(&mut self) -> Result<()> {
        if self.transaction.is_some() {
            return Err(Error::Transaction("this connection has a transaction open already".to_owned()));
        }
        let turn = self.turn()?;
        self.link.set_timeout(self.timeout);
        self.ledger.introduce(&mut self.link)?;
        self.open(Some(turn))
    }

    fn commit(&mut self) -> Result<()> {
        if self.transaction.is_none() {
            return Err(none_open());
        }
        self.close()
    }

    fn abort(&mut self) {
        let Some(transaction) = self.transaction.take() else { return };
        let same = self.link.live().is_some_and(|live| Arc::ptr_eq(&live, &transaction.live));
        let undo = async |live: &Arc<Live>| live.client.batch_execute("ROLLBACK").await;
        if same && self.link.attempt_on(&transaction.live, undo).is_err() {
            self.link.drop_connection();
        }
        drop(transaction);
        self.end();
    }

    fn in_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    fn hold(&mut self) -> Result<()> {
        self.release();
        let mut link = match self.spare.take() {
            Some(link) => link,
            None => Link::new(Arc::clone(self.link.address()))?,
        };
        link.set_timeout(self.timeout);
        let live = link.again(begin_reading)?;
        self.held = Some(Held { link, live });
        self.ahead.forget();
        Ok(())
    }

    fn release(&mut self) {
        if let Some(mut held) = self.held.take() {
            let live = held.live;
            held.link.begin(async move { live.client.batch_execute("COMMIT").await });
            self.spare = Some(held.link);
        }
        self.ahead.forget();
    }

    fn version(&mut self) -> u64 {
        self.shared.version(self.changed).wrapping_add(self.shared.age() << 40)
    }

    fn definitions(&self) -> u64 {
        #[allow(clippy::cast_sign_loss)] // a count
        self.transaction.as_ref().map_or(0, |open| open.definitions as u64)
    }

    fn count_definitions(&mut self) {
        let counted = self.send(0, |live| {
            Box::pin(async move { live.client.execute(&live.statements.count_definitions, &[]).await.map(drop) })
        });
        if let (Ok(()), Some(open)) = (counted, &mut self.transaction) {
            open.definitions += 1;
        }
    }

    fn expect_definitions(&mut self, count: u64) {
        // The count that no store reaches becomes one that no table has.
        self.expected = i64::try_from(count).unwrap_or(-1);
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
        self.link.set_timeout(timeout);
    }
}

/// Begins to look at one moment.
async fn begin_reading(live: &Arc<Live>) -> std::result::Result<Arc<Live>, tokio_postgres::Error> {
    live.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
    live.client.query_one(&live.statements.definitions, &[]).await?;
    Ok(Arc::clone(live))
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        self.abort();
        self.ledger.close(&mut self.link);
    }
}
