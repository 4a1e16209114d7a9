//! One connection's way into sled: the changes of its open transaction, and the moment it holds.

use std::ops::Bound as Edge;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sled::{IVec, Tree};

use super::gate::{Gate, Pass};
use super::moments::{Kept, Moments};
use super::view::{Changes, Entry, Stretch, View};
use crate::engine::{Batch, Bound, Change, Flow, MAX_VALUE, Operation, Range, Session, Visitor};
use crate::error::{Error, Result};

/// A scan copies its entries out in pieces, the first small because many scans stop early. A piece ends at so many
/// entries, or at so many bytes of values.
const FIRST_PIECE: usize = 16;
const MOST_PIECE: usize = 512;
const PIECE_BYTES: usize = 1 << 20;

/// A session of the engine `sled`.
pub struct SledSession {
    moments: Arc<Moments>,
    gate: Arc<Gate>,
    transaction: Option<Transaction>,
    held: Option<Kept>,
    timeout: Option<Duration>,
    strict: bool,
    /// The count of definitions that single writes are made for, where it matters.
    definitions: Option<u64>,
    /// Counts what changes only for this session: the writes of its transactions, and their end.
    changed: u64,
}

struct Transaction {
    changes: Changes,
    _pass: Pass,
}

impl SledSession {
    pub(super) fn new(moments: Arc<Moments>, gate: Arc<Gate>, strict: bool) -> SledSession {
        let timeout = Some(Duration::from_secs(10));
        SledSession { moments, gate, transaction: None, held: None, timeout, strict, definitions: None, changed: 0 }
    }

    /// Goes through the gate for one write, if the definitions of indexes are those that it was made for.
    fn enter(&self) -> Result<Pass> {
        let pass = self.gate.enter(self.timeout)?;
        match self.definitions {
            Some(count) if count != self.gate.definitions.load(Ordering::Relaxed) => Err(Error::Outdated),
            _ => Ok(pass),
        }
    }

    /// A write is done; it may have to be on the disk before it is told.
    fn flushed(&self, written: Result<()>) -> Result<()> {
        written?;
        if self.strict { self.moments.attempt(|db| db.flush().map(drop)) } else { Ok(()) }
    }

    /// Runs `f` on what this session sees: its transaction, else the moment it holds, else the present.
    fn read<R>(&self, f: impl FnOnce(View<'_>) -> sled::Result<R>) -> Result<R> {
        self.moments.read(|tree| self.look(tree, None, f))
    }

    fn look<R>(&self, tree: &Tree, kept: Option<&Kept>, f: impl FnOnce(View<'_>) -> R) -> R {
        if let Some(transaction) = &self.transaction {
            return f(View { tree, over: Some(&transaction.changes) });
        }
        match self.held.as_ref().or(kept) {
            Some(kept) => f(View { tree, over: Some(&kept.replaced()) }),
            None => f(View { tree, over: None }),
        }
    }

    /// Copies out the next piece of a scan. `kept` becomes the moment of the scan when the piece is not all of it.
    fn piece(&self, stretch: Stretch<'_>, most: usize, kept: &mut Option<Kept>) -> Result<(Vec<Entry>, bool)> {
        let alone = self.transaction.is_none() && self.held.is_none() && kept.is_none();
        let (piece, new) = self.moments.read_and_keep(|tree| {
            let piece = self.look(tree, kept.as_ref(), |view| collect(view, stretch, most))?;
            let keep = alone && piece.1;
            Ok((piece, keep))
        })?;
        if new.is_some() {
            *kept = new;
        }
        Ok(piece)
    }
}

/// The first entries of a stretch, and whether there may be more.
fn collect(view: View<'_>, stretch: Stretch<'_>, most: usize) -> sled::Result<(Vec<Entry>, bool)> {
    let (mut piece, mut bytes) = (Vec::new(), 0);
    for entry in view.entries(stretch) {
        let entry = entry?;
        bytes += entry.1.len();
        piece.push(entry);
        if piece.len() >= most || bytes >= PIECE_BYTES {
            return Ok((piece, true));
        }
    }
    Ok((piece, false))
}

fn check(value: &[u8]) -> Result<()> {
    if value.len() > MAX_VALUE {
        return Err(Error::TooLarge(format!(
            "the value has {} bytes, more than the {} that the engine sled takes",
            value.len() - 1,
            MAX_VALUE - 1
        )));
    }
    Ok(())
}

/// Adds a batch's operations to the changes of a transaction: all, or none where the tree cannot be read.
fn stage(moments: &Moments, batch: &Batch, changes: &mut Changes) -> Result<()> {
    let mut deleted = Vec::new();
    for operation in batch.operations() {
        match operation {
            Operation::Put(_, value) => check(value)?,
            Operation::DeleteRange(start, end) => {
                let stretch = Stretch { lower: Edge::Included(start), end: Some(end), reverse: false };
                let keys = |tree: &Tree| {
                    let entries = View { tree, over: None }.entries(stretch);
                    entries.map(|entry| entry.map(|(key, _)| key)).collect::<sled::Result<Vec<IVec>>>()
                };
                deleted.push(moments.read(keys)?);
            }
        }
    }
    let mut deleted = deleted.into_iter();
    for operation in batch.operations() {
        match operation {
            Operation::Put(key, value) => changes.set(key.into(), Some(value.into())),
            Operation::DeleteRange(start, end) => changes.hide(start, end, deleted.next().unwrap_or_default()),
        }
    }
    Ok(())
}

impl Session for SledSession {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        let found = self.read(|view| view.get(key))?;
        if let Some(bytes) = &found {
            value.extend_from_slice(bytes);
        }
        Ok(found.is_some())
    }

    fn seek(&mut self, bound: Bound<'_>, key: &mut Vec<u8>, value: Option<&mut Vec<u8>>) -> Result<bool> {
        let stretch = match bound {
            Bound::AtOrAfter(start) => Stretch { lower: Edge::Included(start), end: None, reverse: false },
            Bound::Before(end) => Stretch { lower: Edge::Unbounded, end: Some(end), reverse: true },
        };
        let Some((found, bytes)) = self.read(|view| view.entries(stretch).next().transpose())? else {
            return Ok(false);
        };
        key.clear();
        key.extend_from_slice(&found);
        if let Some(value) = value {
            value.clear();
            value.extend_from_slice(&bytes);
        }
        Ok(true)
    }

    fn scan(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let (mut kept, mut most) = (None, FIRST_PIECE);
        let mut last: Option<IVec> = None;
        loop {
            let (lower, end) = match (&last, range.reverse) {
                (None, _) => (Edge::Included(range.start), range.end),
                (Some(key), false) => (Edge::Excluded(&**key), range.end),
                (Some(key), true) => (Edge::Included(range.start), &**key),
            };
            let stretch = Stretch { lower, end: Some(end), reverse: range.reverse };
            let (piece, more) = self.piece(stretch, most, &mut kept)?;
            for (key, value) in &piece {
                let shown = if range.values { &**value } else { &[] };
                if visit(key, shown)? == Flow::Stop {
                    return Ok(());
                }
            }
            if !more {
                return Ok(());
            }
            last = piece.into_iter().next_back().map(|(key, _)| key);
            most = (most * 2).min(MOST_PIECE);
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(value)?;
        if let Some(transaction) = &mut self.transaction {
            transaction.changes.set(key.into(), Some(value.into()));
            self.changed += 1;
            return Ok(());
        }
        let _pass = self.enter()?;
        self.flushed(self.moments.put(key, Some(value.into())))
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        if let Some(transaction) = &mut self.transaction {
            self.changed += 1;
            return stage(&self.moments, batch, &mut transaction.changes);
        }
        let _pass = self.enter()?;
        let mut changes = Changes::default();
        stage(&self.moments, batch, &mut changes)?;
        self.flushed(self.moments.commit(&changes))
    }

    fn update(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        let mut next = Vec::new();
        if let Some(transaction) = &mut self.transaction {
            let old = self.moments.read(|tree| View { tree, over: Some(&transaction.changes) }.get(key))?;
            change(old.as_deref(), &mut next)?;
            check(&next)?;
            transaction.changes.set(key.into(), Some(next.into()));
            self.changed += 1;
            return Ok(());
        }
        let _pass = self.enter()?;
        let old = self.moments.read(|tree| tree.get(key))?;
        change(old.as_deref(), &mut next)?;
        check(&next)?;
        self.flushed(self.moments.put(key, Some(next.into())))
    }

    fn begin(&mut self) -> Result<()> {
        if self.transaction.is_some() {
            return Err(Error::Transaction("this connection has a transaction open already".to_owned()));
        }
        let pass = self.gate.enter(self.timeout)?;
        self.transaction = Some(Transaction { changes: Changes::default(), _pass: pass });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(transaction) = self.transaction.take() else {
            return Err(Error::Transaction("no transaction is open".to_owned()));
        };
        self.changed += 1;
        self.flushed(self.moments.commit(&transaction.changes))
    }

    fn abort(&mut self) {
        if self.transaction.take().is_some() {
            self.changed += 1;
        }
    }

    fn in_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    fn hold(&mut self) -> Result<()> {
        self.held = None;
        self.held = self.moments.read_and_keep(|_| Ok(((), true)))?.1;
        Ok(())
    }

    fn release(&mut self) {
        self.held = None;
    }

    fn version(&mut self) -> u64 {
        (self.moments.commits() << 24).wrapping_add(self.changed)
    }

    fn definitions(&self) -> u64 {
        self.gate.definitions.load(Ordering::Relaxed)
    }

    fn count_definitions(&mut self) {
        self.gate.definitions.fetch_add(1, Ordering::Relaxed);
    }

    fn expect_definitions(&mut self, count: u64) {
        self.definitions = Some(count);
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }
}
