//! Nested transactions of a connection. Engines have one flat transaction each; an inner level is undone from a list of
//! what it replaced.

use std::time::Duration;

use crate::engine::{Batch, Flow, Operation, Range};
use crate::error::{Error, Result};
use crate::key;
use crate::patience::Retry;
use crate::store::Connection;

/// The open levels of a connection, and for each inner one how to undo it.
#[derive(Default)]
pub struct Levels {
    undo: Vec<Vec<Undo>>,
}

/// Puts one key back as it was.
struct Undo {
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

impl Levels {
    /// Whether what a write replaces must be remembered: the outermost level is undone by the engine itself.
    #[inline]
    fn remembers(&self) -> bool {
        self.undo.len() > 1
    }
}

impl Connection {
    /// How many levels of transaction are open.
    ///
    /// ```
    /// # use caretdb::{engine::Options, store::Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// db.start()?;
    /// assert_eq!(db.level(), 1);
    /// db.rollback()?;
    /// assert_eq!(db.level(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn level(&self) -> usize {
        self.levels.undo.len()
    }

    /// Opens one more level.
    ///
    /// # Errors
    /// [`Error::Busy`] when another connection writes past the timeout, [`Error::Transaction`] when another connection of
    /// this thread has a transaction open, [`Error::ReadOnly`].
    pub fn start(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.level() == 0 {
            self.session.begin()?;
            if let Err(error) = self.look_at_indexes() {
                self.session.abort();
                return Err(error);
            }
        }
        self.levels.undo.push(Vec::new());
        Ok(())
    }

    /// Closes the innermost level and keeps its writes; closing the outermost one makes them visible.
    ///
    /// # Errors
    /// [`Error::Transaction`] without an open level; [`Error::DiskFull`], in which case the whole transaction is gone.
    pub fn commit(&mut self) -> Result<()> {
        let Some(undo) = self.levels.undo.pop() else { return Err(none_open()) };
        match self.levels.undo.last_mut() {
            None => {
                let committed = self.session.commit();
                self.indexes_are_settled(committed.is_ok());
                committed
            }
            Some(outer) => {
                outer.extend(undo);
                Ok(())
            }
        }
    }

    /// Closes the innermost level and undoes its writes; the outer levels stay open.
    ///
    /// # Errors
    /// [`Error::Transaction`] without an open level. Where the undoing itself fails all levels are undone, since the
    /// outer ones would otherwise commit what was to be forgotten.
    pub fn rollback(&mut self) -> Result<()> {
        let Some(undo) = self.levels.undo.pop() else { return Err(none_open()) };
        if self.levels.undo.is_empty() {
            self.session.abort();
            self.indexes_are_settled(false);
            return Ok(());
        }
        let mut batch = Batch::new();
        let mut behind = Vec::new();
        for Undo { key, value } in undo.iter().rev() {
            if let Some(value) = value {
                batch.put(key, value);
            } else {
                behind.clear();
                behind.extend_from_slice(key);
                behind.push(0);
                batch.delete_range(key, &behind);
            }
        }
        match self.session.apply(&batch).and_then(|()| self.look_at_indexes_undone()) {
            // All levels are lost already, and the outermost one tells.
            Err(Error::Conflict(_)) => Ok(()),
            undone => undone.inspect_err(|_| self.rollback_all()),
        }
    }

    /// Undoes all levels that are open, as closing a connection does.
    pub fn rollback_all(&mut self) {
        self.levels.undo.clear();
        self.session.abort();
        self.indexes_are_settled(false);
    }

    /// Runs `work` inside a level that commits when it answers and is undone when it fails. What unique indexes allow is
    /// asked at its end, since they may be right again by then. Where this is the outermost level and another transaction
    /// was in the way, the work is done again.
    ///
    /// # Errors
    /// As [`Connection::start`] and [`Connection::commit`], or what `work` answers.
    pub fn within<R>(&mut self, mut work: impl FnMut(&mut Connection) -> Result<R>) -> Result<R> {
        self.again(|connection| connection.within_once(&mut work))
    }

    /// The same for work that reads most of what it reads below `node`.
    ///
    /// # Errors
    /// As [`Connection::within`].
    pub(crate) fn within_node<R>(
        &mut self,
        node: &[u8],
        mut work: impl FnMut(&mut Connection) -> Result<R>,
    ) -> Result<R> {
        self.again(|connection| {
            connection.foresee(node);
            connection.within_once(&mut work)
        })
    }

    /// Says that the level which is about to be opened will read below `node`.
    pub(crate) fn foresee(&mut self, node: &[u8]) {
        if self.level() == 0 {
            let mut end = Vec::with_capacity(node.len());
            key::subtree_end(node, &mut end);
            self.session.foresee(node, &end);
        }
    }

    /// Does `work`, and where it is the outermost level and meets another transaction, does it again until the timeout has
    /// passed.
    pub(crate) fn again<R>(&mut self, mut work: impl FnMut(&mut Connection) -> Result<R>) -> Result<R> {
        let mut retry = Retry::new(self.timeout);
        loop {
            match work(self) {
                Err(Error::Conflict(_)) if self.level() == 0 && retry.rest(Duration::ZERO) => {}
                result => return result,
            }
        }
    }

    fn within_once<R>(&mut self, work: &mut impl FnMut(&mut Connection) -> Result<R>) -> Result<R> {
        self.start()?;
        let outer = self.indexes.suspend();
        self.indexes.defer();
        let result = work(self).and_then(|result| self.check_deferred().map(|()| result));
        self.indexes.resume(outer);
        match result {
            Ok(result) => {
                self.commit()?;
                Ok(result)
            }
            Err(error) => {
                self.rollback()?;
                Err(error)
            }
        }
    }

    /// Stores one value; every single write of a connection comes through here.
    #[inline]
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.check_writable()?;
        if self.indexes.see(key) {
            return self.put_as_batch(key, value);
        }
        if self.levels.remembers() {
            self.remember(key)?;
        }
        match self.session.put(key, value) {
            Err(Error::Outdated) => self.put_as_batch(key, value),
            written => written,
        }
    }

    #[cold]
    fn put_as_batch(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut batch = Batch::new();
        batch.put(key, value);
        self.apply(&batch)
    }

    /// Applies a batch; every larger write of a connection comes through here.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Result<()> {
        self.check_writable()?;
        if self.indexes.see_any(batch) {
            return self.apply_and_index(batch);
        }
        match self.store_batch(batch) {
            Err(Error::Outdated) => self.apply_within(batch),
            written => written,
        }
    }

    /// Applies a batch in a level of its own. What it writes first is what its indexes will read.
    #[cold]
    pub(crate) fn apply_within(&mut self, batch: &Batch) -> Result<()> {
        let node = match batch.operations().next() {
            Some(Operation::Put(node, _) | Operation::DeleteRange(node, _)) => node,
            None => return Ok(()),
        };
        self.within_node(node, |connection| connection.apply(batch))
    }

    /// Applies a batch, whatever indexes there are.
    pub(crate) fn store_batch(&mut self, batch: &Batch) -> Result<()> {
        if self.levels.remembers() {
            for operation in batch.operations() {
                match operation {
                    Operation::Put(key, _) => self.remember(key)?,
                    Operation::DeleteRange(start, end) => self.remember_range(start, end)?,
                }
            }
        }
        self.session.apply(batch)
    }

    /// Remembers what is at a key, for the innermost level.
    pub(crate) fn remember(&mut self, key: &[u8]) -> Result<()> {
        if !self.levels.remembers() {
            return Ok(());
        }
        let mut value = Vec::new();
        let found = self.session.get(key, &mut value)?;
        if let Some(level) = self.levels.undo.last_mut() {
            level.push(Undo { key: key.to_vec(), value: found.then_some(value) });
        }
        Ok(())
    }

    fn remember_range(&mut self, start: &[u8], end: &[u8]) -> Result<()> {
        let Connection { session, levels, .. } = self;
        let Some(level) = levels.undo.last_mut() else { return Ok(()) };
        session.scan(Range::entries(start, end), &mut |key, value| {
            level.push(Undo { key: key.to_vec(), value: Some(value.to_vec()) });
            Ok(Flow::Continue)
        })
    }
}

fn none_open() -> Error {
    Error::Transaction("no transaction is open: call tstart first".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Options;
    use crate::store::Store;

    fn open() -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let connection = Store::open(Some(folder.path()), &Options::default()).unwrap().connect(false).unwrap();
        (folder, connection)
    }

    fn read(connection: &mut Connection, key: &[u8]) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        connection.session.get(key, &mut value).unwrap().then_some(value)
    }

    #[test]
    fn an_inner_rollback_restores_values_deletes_and_ranges_and_leaves_the_outer_level() {
        let (_folder, mut db) = open();
        db.put(b"a1", b"\x01one").unwrap();
        db.put(b"a2", b"\x01two").unwrap();
        db.start().unwrap();
        db.put(b"a3", b"\x01three").unwrap();
        db.start().unwrap();
        db.put(b"a1", b"\x01changed").unwrap();
        db.put(b"a1", b"\x01changed again").unwrap();
        db.put(b"a4", b"\x01new").unwrap();
        let mut batch = Batch::new();
        batch.delete_range(b"a2", b"a4");
        batch.put(b"a2", b"\x01back");
        db.apply(&batch).unwrap();
        assert_eq!(read(&mut db, b"a3"), None);
        db.rollback().unwrap();
        assert_eq!(db.level(), 1);
        assert_eq!(read(&mut db, b"a1").unwrap(), b"\x01one");
        assert_eq!(read(&mut db, b"a2").unwrap(), b"\x01two");
        assert_eq!(read(&mut db, b"a3").unwrap(), b"\x01three");
        assert_eq!(read(&mut db, b"a4"), None);
        db.commit().unwrap();
        assert_eq!(read(&mut db, b"a3").unwrap(), b"\x01three");
    }

    #[test]
    fn a_level_committed_into_one_that_rolls_back_is_undone_with_it() {
        let (_folder, mut db) = open();
        db.start().unwrap();
        db.start().unwrap();
        db.put(b"k", b"\x01second").unwrap();
        db.start().unwrap();
        db.put(b"k", b"\x01third").unwrap();
        db.commit().unwrap();
        db.rollback().unwrap();
        assert_eq!(read(&mut db, b"k"), None);
        db.commit().unwrap();
        assert_eq!(read(&mut db, b"k"), None);
    }

    #[test]
    fn calls_out_of_order_are_errors() {
        let (_folder, mut db) = open();
        assert_eq!(db.commit().unwrap_err().code(), "ERR_TX");
        assert_eq!(db.rollback().unwrap_err().code(), "ERR_TX");
    }
}
