//! Secondary indexes: for a node, which of its children have which value at one path inside their documents.
//!
//! Definitions and entries are nodes below `^%caretdb`; `docs/indexes.md` shows them. Every connection keeps a copy of the
//! definitions, so that a write far from any index asks nothing; the engine refuses a single write made for definitions
//! that have changed since (see [`crate::engine::Session::expect_definitions`]), and the start of a transaction looks.

mod check;
mod definition;
mod entry;
mod find;
mod upkeep;

pub use check::{Get, Known};
pub use find::{Hit, Query};

use std::mem;

use self::definition::Index;
use self::upkeep::Plan;
use crate::engine::{Batch, Flow, Range};
use crate::error::{Error, Result};
use crate::key;
use crate::store::Connection;
use crate::value::{TEXT, Value};

/// A count of definitions that no store reaches: the definitions have still to be read.
pub const UNKNOWN: u64 = u64::MAX;

/// What a connection knows of the store's indexes.
pub struct Indexes {
    list: Vec<Index>,
    /// The engine's count of definitions when they were read.
    count: u64,
    /// Whether the open transaction has changed them.
    changed: bool,
    deferred: Option<Deferred>,
}

/// The values that have been put into unique indexes and must be alone there when the level of transaction ends.
#[derive(Default)]
pub struct Deferred(Vec<Single>);

/// A value that may be in an index once.
struct Single {
    /// The index's name, for the message.
    name: String,
    node: Vec<u8>,
    /// What the keys of the value's entries begin with.
    entries: Vec<u8>,
}

impl Default for Indexes {
    fn default() -> Self {
        Indexes { list: Vec::new(), count: UNKNOWN, changed: false, deferred: None }
    }
}

impl Indexes {
    /// Whether a write to this key concerns an index, as far as is known.
    #[inline]
    pub fn see(&self, key: &[u8]) -> bool {
        key.first() == Some(&b'%') && definition::is_reserved(key)
            || !self.list.is_empty() && self.list.iter().any(|index| index.child_of(key).is_some())
    }

    /// Whether a batch concerns an index, as far as is known.
    pub fn see_any(&self, batch: &Batch) -> bool {
        upkeep::concerns(&self.list, batch)
    }

    /// Takes what is deferred away, for [`Indexes::resume`].
    #[inline]
    pub fn suspend(&mut self) -> Option<Deferred> {
        self.deferred.take()
    }

    /// From now on checks of unique indexes wait for [`Connection::check_deferred`].
    pub fn defer(&mut self) {
        self.deferred = Some(Deferred::default());
    }

    /// Puts back what was deferred before.
    #[inline]
    pub fn resume(&mut self, outer: Option<Deferred>) {
        self.deferred = outer;
    }

    fn named(&self, node: &[u8], name: &str) -> Option<&Index> {
        self.list.iter().find(|index| index.node == node && index.name == name)
    }
}

impl Connection {
    /// Makes an index over the children of `node`, on the value at `path` inside each, and fills it, in one write. Nothing
    /// happens where the same one is there already.
    ///
    /// The path is a JSON array: strings are members, numbers are elements of arrays. In a `unique` index no two children
    /// may have the same value.
    ///
    /// # Errors
    /// [`Error::Argument`] for another index of this name, and for what is no path; [`Error::BadValue`] when two children
    /// have the same value and the index is unique; [`Error::TooLarge`] for a value too long for a key; as
    /// [`Connection::set`].
    ///
    /// ```
    /// use caretdb::{engine::Options, index::Query, key::Key, store::Store, value::Value};
    /// # let folder = tempfile::tempdir()?;
    /// let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// let mut person = Key::new();
    /// person.global("Person")?;
    /// db.set_document(person.as_bytes(), r#"{"1": {"city": "Redhill"}, "2": {"city": "Leeds"}}"#)?;
    /// db.create_index(person.as_bytes(), "city", r#"["city"]"#, false)?;
    /// let mut city = Vec::new();
    /// Value::Text("Redhill").write(&mut city);
    /// let mut found = Vec::new();
    /// db.find(person.as_bytes(), "city", &Query { equals: Some(&city), ..Query::default() }, &mut |hit| {
    ///     found.extend_from_slice(hit.json);
    ///     Ok(true)
    /// })?;
    /// assert_eq!(found, br#"{"city":"Redhill"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_index(&mut self, node: &[u8], name: &str, path: &str, unique: bool) -> Result<()> {
        self.within(|connection| {
            let id = connection.indexes.list.iter().map(|index| index.id).max().unwrap_or(0) + 1;
            let index = Index::new(id, node, name, path, unique)?;
            if let Some(present) = connection.indexes.named(node, name) {
                return present.must_equal(&index);
            }
            let mut entries = connection.entries_of(&index)?;
            entries.sort_unstable();
            if unique && let Some(pair) = entries.windows(2).find(|pair| pair[0].value() == pair[1].value()) {
                return Err(index.taken_twice(pair[0].child(), pair[1].child()));
            }
            let mut batch = Batch::new();
            batch.put(&definition::key(node, name)?, &index.stored());
            for entry in &entries {
                batch.put(entry.key(), &[TEXT]);
            }
            connection.store_batch(&batch)?;
            connection.indexes.list.push(index);
            connection.count_definitions();
            Ok(())
        })
    }

    /// Drops an index of a node.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is none of this name; as [`Connection::set`].
    pub fn drop_index(&mut self, node: &[u8], name: &str) -> Result<()> {
        self.within(|connection| {
            let Some(index) = connection.indexes.named(node, name) else { return Err(definition::missing(node, name)) };
            let (id, mut batch, mut end) = (index.id, Batch::new(), Vec::new());
            key::subtree_end(&index.entries, &mut end);
            batch.delete_range(&index.entries, &end);
            let mut key = definition::key(node, name)?;
            let start = key.clone();
            // The definitions of nodes further down lie below this one, and stay.
            key.push(0);
            batch.delete_range(&start, &key);
            connection.store_batch(&batch)?;
            connection.indexes.list.retain(|index| index.id != id);
            connection.count_definitions();
            Ok(())
        })
    }

    /// The entries of an index as the data has them.
    fn entries_of(&mut self, index: &Index) -> Result<Vec<entry::Entry>> {
        let (mut entries, mut end) = (Vec::new(), Vec::new());
        key::subtree_end(&index.node, &mut end);
        self.session.scan(Range::entries(&index.node, &end), &mut |found, stored| {
            if let Some(child) = index.child_of(found) {
                entries.extend(index.entry(stored, child)?);
            }
            Ok(Flow::Continue)
        })?;
        Ok(entries)
    }

    /// Tells everybody that the open transaction changes the definitions.
    fn count_definitions(&mut self) {
        self.session.count_definitions();
        self.indexes.count = self.session.definitions();
        self.indexes.changed = true;
        self.session.expect_definitions(self.indexes.count);
    }

    /// Tells everybody that the open transaction brings other definitions along.
    pub(crate) fn replace_definitions(&mut self) {
        self.session.count_definitions();
        self.indexes.changed = true;
    }

    /// Knows nothing of the definitions any more, so that the next write reads them.
    pub(crate) fn forget_definitions(&mut self) {
        if self.level() == 0 {
            self.indexes = Indexes::default();
            self.session.expect_definitions(UNKNOWN);
        }
    }

    /// Reads the definitions where they have changed. A transaction is open, so nobody changes them meanwhile.
    #[inline]
    pub(crate) fn look_at_indexes(&mut self) -> Result<()> {
        let count = self.session.definitions();
        if count == self.indexes.count { Ok(()) } else { self.read_definitions(count) }
    }

    /// Whether nothing that is written below a node concerns an index, as far as is known.
    pub(crate) fn writes_far_from_indexes(&mut self, node: &[u8]) -> Result<bool> {
        self.check_writable()?;
        let (mut below, mut end) = (Batch::new(), Vec::with_capacity(node.len()));
        key::subtree_end(node, &mut end);
        below.delete_range(node, &end);
        Ok(node.first() != Some(&b'%') && !self.indexes.see_any(&below))
    }

    /// The same after an inner level was undone.
    pub(crate) fn look_at_indexes_undone(&mut self) -> Result<()> {
        if self.indexes.changed { self.read_definitions(self.session.definitions()) } else { Ok(()) }
    }

    #[cold]
    fn read_definitions(&mut self, count: u64) -> Result<()> {
        let mut list = Vec::new();
        let (start, end) = definition::stretch();
        self.session.scan(Range::entries(&start, &end), &mut |found, stored| {
            list.push(Index::read(found, stored)?);
            Ok(Flow::Continue)
        })?;
        self.indexes.list = list;
        self.indexes.count = count;
        self.session.expect_definitions(count);
        Ok(())
    }

    /// The transaction has ended; where it changed the definitions and was undone, they have to be read again.
    #[inline]
    pub(crate) fn indexes_are_settled(&mut self, committed: bool) {
        if mem::take(&mut self.indexes.changed) && !committed {
            self.indexes.list.clear();
            self.indexes.count = UNKNOWN;
            self.session.expect_definitions(UNKNOWN);
        }
    }

    /// Applies a batch that concerns an index, and what follows from it for the entries, all or none.
    #[cold]
    pub(crate) fn apply_and_index(&mut self, batch: &Batch) -> Result<()> {
        if self.level() == 0 {
            return self.apply_within(batch);
        }
        let Connection { session, indexes, .. } = &mut *self;
        upkeep::guard(&indexes.list, batch)?;
        let plan = Plan::make(&indexes.list, batch, &mut **session)?;
        if plan.singles.is_empty() {
            return self.store_batch(&plan.batch);
        }
        if let Some(deferred) = &mut self.indexes.deferred {
            deferred.0.extend(plan.singles);
            return self.store_batch(&plan.batch);
        }
        let Plan { batch, mut singles } = plan;
        self.within(|connection| {
            connection.indexes.deferred.get_or_insert_default().0.append(&mut singles);
            connection.store_batch(&batch)
        })
    }

    /// Asks whether every value that was put into a unique index is alone there.
    ///
    /// # Errors
    /// [`Error::BadValue`] naming two children that have the same.
    #[inline]
    pub(crate) fn check_deferred(&mut self) -> Result<()> {
        match &mut self.indexes.deferred {
            None => Ok(()),
            Some(Deferred(singles)) => {
                let singles = mem::take(singles);
                singles.iter().try_for_each(|single| self.check_single(single))
            }
        }
    }

    fn check_single(&mut self, single: &Single) -> Result<()> {
        let (mut children, mut end) = (Vec::new(), Vec::new());
        key::subtree_end(&single.entries, &mut end);
        self.session.scan(Range::keys(&single.entries, &end), &mut |found, _| {
            children.push(found[single.entries.len()..].to_vec());
            Ok(if children.len() < 2 { Flow::Continue } else { Flow::Stop })
        })?;
        match &children[..] {
            [first, second] => Err(definition::taken_twice(&single.name, &single.node, first, second)),
            _ => Ok(()),
        }
    }
}
