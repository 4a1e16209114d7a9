//! One connection's way into LMDB: a kept snapshot for reading, and the write transaction while one is open.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::frame::Redo;
use super::segment::Room;
use super::sys::{Cursor, Entry, Hope, Reader, Step, Writer};
use super::{Hold, PAGE, Shared, checkpoint, chunks, fault, log, space};
use crate::engine::{Batch, Bound, Change, Flow, Operation, Range, Session, Visitor};
use crate::error::{Error, Result};

/// A snapshot kept between reads. It is used again while nothing has been committed since; the ticker lets it go when
/// its session is idle.
pub struct KeptReader {
    reader: Reader,
    held: bool,
}

impl KeptReader {
    /// Lets the snapshot go, unless its session holds the moment.
    pub fn let_go(&mut self) {
        if !self.held {
            self.reader.reset();
        }
    }
}

/// A session of the engine `lmdb`.
pub struct LmdbSession {
    shared: Arc<Shared>,
    kept: Arc<Mutex<KeptReader>>,
    writer: Option<Writer>,
    /// What the open transaction has done, for the log.
    redo: Redo,
    /// Puts and bytes of the open transaction, for the reservation of space.
    spent: Spent,
    timeout: Option<Duration>,
    /// The count of definitions that single writes are made for, where it matters.
    definitions: Option<u64>,
    /// Room for what [`Session::update`] stores.
    next: Vec<u8>,
    /// Whether what is written comes behind all other keys.
    at_end: Hope,
    /// Counts the writes of open transactions, which no commit number shows.
    writes: u64,
    /// The last field: whoever lets go of the hold must have let go of everything else.
    _hold: Arc<Hold>,
}

#[derive(Clone, Copy, Default)]
struct Spent {
    puts: u64,
    bytes: u64,
}

impl LmdbSession {
    pub(super) fn new(shared: Arc<Shared>, hold: Arc<Hold>) -> Result<LmdbSession> {
        let mut reader = Reader::begin(&shared.env)?;
        reader.reset();
        let kept = Arc::new(Mutex::new(KeptReader { reader, held: false }));
        shared.readers.lock().push(Arc::clone(&kept));
        let redo = Redo::new(shared.log.is_some());
        Ok(LmdbSession {
            shared,
            kept,
            writer: None,
            redo,
            spent: Spent::default(),
            timeout: Some(Duration::from_secs(10)),
            definitions: None,
            next: Vec::new(),
            at_end: Hope::default(),
            writes: 0,
            _hold: hold,
        })
    }

    /// Runs `f` on a cursor that sees the open transaction, else the latest commit.
    #[inline]
    fn read<R>(&mut self, f: impl FnOnce(&mut Cursor) -> Result<R>) -> Result<R> {
        if let Some(writer) = &mut self.writer {
            return f(writer.cursor(&self.shared.env)?);
        }
        let mut kept = self.kept.lock();
        let env = &self.shared.env;
        let KeptReader { reader, held } = &mut *kept;
        if !reader.is_live() || (!*held && reader.transaction() != env.last_transaction()) {
            reader.renew(env)?;
        }
        f(reader.cursor())
    }

    /// Runs `f` in the open transaction, else in one of its own that commits before this returns.
    #[inline]
    fn write<R>(&mut self, puts: usize, bytes: usize, f: impl FnOnce(&mut Work<'_>) -> Result<R>) -> Result<R> {
        let shared = &*self.shared;
        let (redo, at_end) = (&mut self.redo, &mut self.at_end);
        if let Some(writer) = &mut self.writer {
            let spent = Spent { puts: self.spent.puts + puts as u64, bytes: self.spent.bytes + bytes as u64 };
            make_room(shared, spent)?;
            self.spent = spent;
            self.writes += 1;
            return f(&mut Work { shared, writer, redo, at_end });
        }
        // The commit makes this connection's own snapshot useless, and while it lives no page it shows can be used again.
        self.kept.lock().let_go();
        enter(shared, self.timeout)?;
        let spent = Spent { puts: puts as u64, bytes: bytes as u64 };
        let written =
            check_definitions(shared, self.definitions).and_then(|()| begin(shared, spent)).and_then(|mut writer| {
                let result = f(&mut Work { shared, writer: &mut writer, redo, at_end })?;
                commit(shared, writer, redo)?;
                Ok(result)
            });
        leave(shared);
        redo.clear();
        written
    }

    fn end(&mut self) -> Option<Writer> {
        self.spent = Spent::default();
        self.writer.take()
    }
}

/// A write transaction at work.
struct Work<'a> {
    shared: &'a Shared,
    writer: &'a mut Writer,
    redo: &'a mut Redo,
    at_end: &'a mut Hope,
}

/// Goes through the gate, once the log has room.
#[inline]
fn enter(shared: &Shared, timeout: Option<Duration>) -> Result<()> {
    let fields = shared.header.fields();
    if let Some(log) = &shared.log
        && checkpoint::is_behind(log, &fields.log)
    {
        checkpoint::wait_for_room(shared, log, timeout)?;
    }
    shared.gate.enter(&fields.gate, timeout)
}

/// Goes out through the gate after a write, and wakes those who wait for the log to grow.
#[inline]
fn leave(shared: &Shared) {
    let fields = shared.header.fields();
    shared.gate.leave(&fields.gate);
    fields.bell.ring();
}

/// Begins the write transaction, and first of all decides about what a dead process left. The caller is inside the gate.
#[inline]
fn begin(shared: &Shared, spent: Spent) -> Result<Writer> {
    make_room(shared, spent)?;
    let writer = Writer::begin(&shared.env)?;
    if let Some(log) = &shared.log {
        log.resolve(&shared.header.fields().log, writer.transaction() - 1)?;
    }
    Ok(writer)
}

/// Logs what the transaction did, commits it, and lets the frame count.
#[inline]
fn commit(shared: &Shared, writer: Writer, redo: &mut Redo) -> Result<()> {
    redo.check()?;
    let Some(log) = shared.log.as_ref().filter(|_| !redo.is_empty()) else { return writer.commit(&shared.env) };
    let fields = &shared.header.fields().log;
    with_room_given_back(shared, |room| log.append(fields, redo, writer.transaction(), room))?;
    let committed = fault::may_fail("commit")
        .map_err(|e| Error::io("cannot write", shared.env.path(), e))
        .and_then(|()| writer.commit(&shared.env));
    if let Err(error) = committed {
        log.cut(fields)?;
        return Err(error);
    }
    fault::point("committed");
    log::accept(fields);
    Ok(())
}

/// Does what needs room on the disk, and where there is too little does it again after the log has given back what it
/// takes. The caller is inside the gate.
#[inline]
fn with_room_given_back<R>(shared: &Shared, mut work: impl FnMut(Room) -> Result<R>) -> Result<R> {
    match (work(Room::Ample), &shared.log) {
        (Err(Error::DiskFull { .. }), Some(log)) => {
            // Where that fails, the disk being full is still what the caller must hear of, if it matters at all.
            let _ = checkpoint::give_back(shared, log);
            work(Room::Least)
        }
        (done, _) => done,
    }
}

/// Whether the definitions of indexes are those that a write was made for. The caller is inside the gate.
#[inline]
fn check_definitions(shared: &Shared, expected: Option<u64>) -> Result<()> {
    match expected {
        Some(count) if count != shared.header.fields().definitions() => Err(Error::Outdated),
        _ => Ok(()),
    }
}

/// Reserves the blocks that the next commit may need at most: what is put may be written twice over by splits, and every
/// page that exists may be copied once, but never more of them than the puts can touch.
#[inline]
fn make_room(shared: &Shared, spent: Spent) -> Result<()> {
    const SLACK: u64 = 64;
    let Some(file) = &shared.reserving else { return Ok(()) };
    let used = shared.env.used_pages();
    let copied = (spent.puts * 8).min(used);
    let needed = (used + used / 256 + copied + SLACK) * PAGE + spent.bytes * 3;
    let fields = shared.header.fields();
    if needed > fields.reserved() {
        shared.env.clear_stale_readers();
        let reserved = with_room_given_back(shared, |_| {
            space::reserve(file, shared.env.path(), fields.reserved(), needed, shared.map_size)
        })?;
        fields.set_reserved(reserved);
    }
    Ok(())
}

impl Work<'_> {
    /// Stores one entry; large values go into chunks, and the chunks of the value that was there go away.
    #[inline]
    fn store(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        chunks::check(value)?;
        let fields = self.shared.header.fields();
        if fields.has_chunks() {
            self.drop_chunks(key)?;
        }
        if value.len() <= chunks::INLINE {
            return self.put(key, value);
        }
        fields.set_has_chunks(true);
        chunks::write(key, value, |k, v| self.put(k, v))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let env = &self.shared.env;
        match self.writer.open_cursor() {
            Some(cursor) => cursor.put(key, value)?,
            None => {
                let tries = self.at_end.tries();
                let appended = tries && self.writer.put_last(env, key, value)?;
                if tries {
                    self.at_end.learn(appended);
                }
                if !appended {
                    self.writer.put(env, key, value)?;
                }
            }
        }
        self.redo.put(key, value)
    }

    fn drop_chunks(&mut self, key: &[u8]) -> Result<()> {
        let (shared, writer) = (self.shared, &mut *self.writer);
        let cursor = writer.cursor(&shared.env)?;
        if cursor.go(Step::Exact, key)?.is_some_and(|(_, stored)| chunks::is_head(stored)) {
            let (start, end) = chunks::stretch(key);
            if writer.delete_range(&shared.env, &start, &end)? {
                self.deleted(&start, &end)?;
            }
        }
        Ok(())
    }

    /// Deletes the nodes of a range. A node goes with its chunks and stays with them, also where a bound lies between.
    fn may_have_chunks(&self) -> bool {
        self.shared.header.fields().has_chunks()
    }

    /// Deletes a range except the keys that are about to be put, in order: a document that replaces one of the same shape
    /// then overwrites its leaves where they are, which leaves the tree as it is.
    fn clear_for(&mut self, start: &[u8], end: &[u8], puts: &[(&[u8], &[u8])]) -> Result<()> {
        let cursor = self.writer.cursor(&self.shared.env)?;
        if self.at_end.tries() {
            let behind_all = cursor.go(Step::Last, &[])?.is_none_or(|(last, _)| last < start);
            self.at_end.learn(behind_all);
            if behind_all {
                return Ok(());
            }
        }
        let mut here = cursor.go(Step::AtOrAfter, start)?;
        let mut any = false;
        while let Some((key, _)) = here.filter(|(key, _)| *key < end) {
            if puts.binary_search_by_key(&key, |(key, _)| key).is_err() {
                any = true;
                cursor.delete()?;
            }
            here = cursor.go(Step::Next, &[])?;
        }
        if any { self.deleted(start, end) } else { Ok(()) }
    }

    /// Notes the deletion of a range. It may have moved what is near the cursor.
    fn deleted(&mut self, start: &[u8], end: &[u8]) -> Result<()> {
        self.writer.close_cursor();
        self.redo.delete_range(start, end)
    }

    /// Does a batch that deletes at most its first range, in the order of its keys: then each key is near the one before.
    fn replace(&mut self, batch: &Batch) -> Result<bool> {
        let mut operations = batch.operations();
        let Some(Operation::DeleteRange(start, end)) = operations.next() else { return Ok(false) };
        let mut puts = Vec::with_capacity(batch.len());
        for operation in operations {
            match operation {
                Operation::Put(key, value) => puts.push((key, value)),
                Operation::DeleteRange(..) => return Ok(false),
            }
        }
        // Stable, so that the last of two puts to one key stays the last.
        puts.sort_by_key(|(key, _)| *key);
        self.clear_for(start, end, &puts)?;
        self.writer.cursor(&self.shared.env)?;
        for (key, value) in puts {
            self.store(key, value)?;
        }
        Ok(true)
    }

    fn delete_range(&mut self, start: &[u8], end: &[u8]) -> Result<()> {
        let cursor = self.writer.cursor(&self.shared.env)?;
        let past_start = cursor.go(Step::AtOrAfter, start)?.and_then(past_chunks);
        let start = past_start.as_deref().unwrap_or(start);
        let mut past_end = None;
        let mut here = cursor.go(Step::AtOrAfter, start)?;
        let mut any = false;
        // A chunk met here is one of a node that was deleted just before.
        while let Some(entry) = here.filter(|(key, stored)| *key < end || chunks::is_chunk(stored)) {
            if entry.0 >= end && past_end.is_none() {
                past_end = past_chunks(entry);
            }
            any = true;
            cursor.delete()?;
            here = cursor.go(Step::Next, &[])?;
        }
        // The log tells of entries, not of nodes: the range with all that it really took.
        if any { self.deleted(start, past_end.as_deref().unwrap_or(end)) } else { Ok(()) }
    }
}

/// Where to go on when a look has landed on a chunk.
fn past_chunks((key, stored): Entry<'_>) -> Option<Vec<u8>> {
    chunks::is_chunk(stored).then(|| chunks::stretch(chunks::node_of(key)).1)
}

/// Moves to the last entry before `end` that is a value of a node, not a chunk.
fn before<'a>(cursor: &'a mut Cursor, end: &[u8]) -> Result<Option<(&'a [u8], &'a [u8])>> {
    let step = if cursor.go(Step::AtOrAfter, end)?.is_some() { Step::Previous } else { Step::Last };
    let node = match cursor.go(step, &[])? {
        Some((key, stored)) if chunks::is_chunk(stored) => chunks::node_of(key).to_vec(),
        Some((key, stored)) => {
            // The borrow checker cannot see that this branch ends the borrow: say what is returned again.
            let (key, stored): (*const [u8], *const [u8]) = (key, stored);
            // SAFETY: both point into the map, which stays as it is for as long as the cursor is borrowed.
            return Ok(Some(unsafe { (&*key, &*stored) }));
        }
        None => return Ok(None),
    };
    cursor.go(Step::Exact, &node)
}

/// Copies a value out, putting a large one together.
#[inline]
fn copy_value(cursor: &mut Cursor, stored: *const [u8], value: &mut Vec<u8>) -> Result<()> {
    // SAFETY: `stored` came from this cursor a moment ago and the cursor has not moved since.
    let stored = unsafe { &*stored };
    if chunks::is_head(stored) {
        let head = stored.to_vec();
        return chunks::read(cursor, &head, value);
    }
    value.clear();
    value.extend_from_slice(stored);
    Ok(())
}

impl Session for LmdbSession {
    #[inline]
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.read(|cursor| get_at(cursor, key, value))
    }

    fn seek(&mut self, bound: Bound<'_>, key: &mut Vec<u8>, value: Option<&mut Vec<u8>>) -> Result<bool> {
        self.read(|cursor| seek_at(cursor, bound, key, value))
    }

    fn scan(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        self.read(|cursor| scan_at(cursor, range, visit))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        chunks::check(value)?;
        let pieces = 1 + value.len() / chunks::INLINE;
        // A chunk fills its page, so of a large value only the keys of its chunks can be written twice over by splits.
        let bytes = if pieces == 1 { key.len() + value.len() } else { pieces * key.len() + value.len() / 2 };
        self.write(pieces, bytes, |work| work.store(key, value))
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        let pieces = batch.len() + batch.size() / chunks::INLINE;
        for operation in batch.operations() {
            if let Operation::Put(_, value) = operation {
                chunks::check(value)?;
            }
        }
        self.write(pieces, batch.size(), |work| {
            if !work.may_have_chunks() && work.replace(batch)? {
                return Ok(());
            }
            for operation in batch.operations() {
                match operation {
                    Operation::Put(key, value) => work.store(key, value)?,
                    Operation::DeleteRange(start, end) => work.delete_range(start, end)?,
                }
            }
            Ok(())
        })
    }

    fn update(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        let mut next = std::mem::take(&mut self.next);
        let updated = self.write(1, key.len() + chunks::INLINE, |work| {
            next.clear();
            let cursor = work.writer.cursor(&work.shared.env)?;
            match cursor.go(Step::Exact, key)? {
                Some((_, stored)) if chunks::is_head(stored) => {
                    let stored = std::ptr::from_ref(stored);
                    let mut old = Vec::new();
                    copy_value(cursor, stored, &mut old)?;
                    change(Some(&old), &mut next)?;
                }
                Some((_, stored)) => change(Some(stored), &mut next)?,
                None => change(None, &mut next)?,
            }
            work.store(key, &next)
        });
        if next.capacity() <= chunks::INLINE {
            self.next = next;
        }
        updated
    }

    fn begin(&mut self) -> Result<()> {
        if self.writer.is_some() {
            return Err(Error::Transaction("this connection has a transaction open already".to_owned()));
        }
        let shared = &*self.shared;
        enter(shared, self.timeout)?;
        match begin(shared, Spent::default()) {
            Ok(writer) => {
                self.writer = Some(writer);
                Ok(())
            }
            Err(error) => {
                shared.gate.leave(&shared.header.fields().gate);
                Err(error)
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        let Some(writer) = self.end() else {
            return Err(Error::Transaction("no transaction is open".to_owned()));
        };
        let committed = commit(&self.shared, writer, &mut self.redo);
        leave(&self.shared);
        self.redo.clear();
        committed
    }

    fn abort(&mut self) {
        if let Some(writer) = self.end() {
            drop(writer);
            // What the transaction showed is seen no more.
            self.writes += 1;
            self.redo.clear();
            self.shared.gate.leave(&self.shared.header.fields().gate);
        }
    }

    fn in_transaction(&self) -> bool {
        self.writer.is_some()
    }

    fn hold(&mut self) -> Result<()> {
        let mut kept = self.kept.lock();
        kept.reader.renew(&self.shared.env)?;
        kept.held = true;
        Ok(())
    }

    fn release(&mut self) {
        self.kept.lock().held = false;
    }

    #[inline]
    fn version(&mut self) -> u64 {
        (self.shared.env.last_transaction() << 24).wrapping_add(self.writes)
    }

    fn definitions(&self) -> u64 {
        self.shared.header.fields().definitions()
    }

    fn count_definitions(&mut self) {
        self.shared.header.fields().count_definitions();
    }

    fn expect_definitions(&mut self, count: u64) {
        self.definitions = Some(count);
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }
}

/// What [`Session::get`] does, on a cursor.
#[inline]
pub(super) fn get_at(cursor: &mut Cursor, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
    match cursor.go(Step::Exact, key)? {
        Some((_, stored)) => {
            let stored = std::ptr::from_ref(stored);
            copy_value(cursor, stored, value)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// What [`Session::seek`] does, on a cursor.
#[inline]
pub(super) fn seek_at(
    cursor: &mut Cursor,
    bound: Bound<'_>,
    key: &mut Vec<u8>,
    value: Option<&mut Vec<u8>>,
) -> Result<bool> {
    let found = match bound {
        Bound::AtOrAfter(start) => {
            let entry = cursor.go(Step::AtOrAfter, start)?;
            match entry.and_then(past_chunks) {
                Some(past) => cursor.go(Step::AtOrAfter, &past)?,
                None => entry,
            }
        }
        Bound::Before(end) => before(cursor, end)?,
    };
    let Some((found_key, stored)) = found else { return Ok(false) };
    key.clear();
    key.extend_from_slice(found_key);
    if let Some(value) = value {
        let stored = std::ptr::from_ref(stored);
        copy_value(cursor, stored, value)?;
    }
    Ok(true)
}

/// What [`Session::scan`] does, on a cursor.
#[inline]
pub(super) fn scan_at(cursor: &mut Cursor, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
    if range.reverse { scan_back(cursor, range, visit) } else { scan_on(cursor, range, visit) }
}

fn scan_on(cursor: &mut Cursor, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
    let (mut large, mut node) = (Vec::new(), Vec::new());
    let mut here = cursor.go(Step::AtOrAfter, range.start)?;
    while let Some((key, stored)) = here {
        if key >= range.end {
            break;
        }
        if !chunks::is_head(stored) {
            let shown = if range.values { stored } else { &[] };
            if !chunks::is_chunk(stored) && visit(key, shown)? == Flow::Stop {
                break;
            }
            here = cursor.go(Step::Next, &[])?;
            continue;
        }
        node.clear();
        node.extend_from_slice(key);
        if range.values {
            let stored = std::ptr::from_ref(stored);
            copy_value(cursor, stored, &mut large)?;
        }
        if visit(&node, &large)? == Flow::Stop {
            break;
        }
        here = cursor.go(Step::AtOrAfter, &chunks::stretch(&node).1)?;
    }
    Ok(())
}

fn scan_back(cursor: &mut Cursor, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
    let (mut large, mut node) = (Vec::new(), Vec::new());
    let mut here = before(cursor, range.end)?;
    while let Some((key, stored)) = here {
        if key < range.start {
            break;
        }
        node.clear();
        node.extend_from_slice(key);
        let flow = if !range.values {
            visit(&node, &[])
        } else if chunks::is_head(stored) {
            let stored = std::ptr::from_ref(stored);
            copy_value(cursor, stored, &mut large)?;
            visit(&node, &large)
        } else {
            visit(&node, stored)
        };
        if flow? == Flow::Stop {
            break;
        }
        here = before(cursor, &node)?;
    }
    Ok(())
}

impl Drop for LmdbSession {
    fn drop(&mut self) {
        self.abort();
        // The list is held while the reader leaves it, so that the ticker never keeps one alive longer.
        self.shared.readers.lock().retain(|reader| !Arc::ptr_eq(reader, &self.kept));
    }
}
