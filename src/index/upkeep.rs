//! What a batch means for the indexes it concerns: which entries go, which come, and which values must be alone.

use std::collections::BTreeMap;

use super::definition::{self, Index};
use super::{Result, Single, TEXT, key};
use crate::engine::{Batch, Flow, Operation, Range, Session};
use crate::key::CHILDREN;

/// Which indexed values of an index a stretch of keys holds.
enum Reach {
    None,
    /// At most the one at this key.
    One(Vec<u8>),
    /// Those in this stretch.
    Some(Vec<u8>, Vec<u8>),
    All,
}

/// Whether a batch concerns an index, or writes where only this room does.
pub fn concerns(list: &[Index], batch: &Batch) -> bool {
    batch.operations().any(|operation| match operation {
        Operation::Put(key, _) => {
            (key.first() == Some(&b'%') && definition::is_reserved(key))
                || list.iter().any(|index| index.child_of(key).is_some())
        }
        Operation::DeleteRange(start, end) => {
            list.iter().any(|index| !matches!(reach(index, start, end), Reach::None))
                || (!list.is_empty() && definition::is_reserved_in(start, end))
        }
    })
}

/// Refuses a batch that writes where only this room does. Deleting nothing there is allowed, so that the whole of a store
/// without indexes can be deleted.
pub fn guard(list: &[Index], batch: &Batch) -> Result<()> {
    let forbidden = batch.operations().any(|operation| match operation {
        Operation::Put(key, _) => definition::is_reserved(key),
        Operation::DeleteRange(start, end) => !list.is_empty() && definition::is_reserved_in(start, end),
    });
    if forbidden { Err(definition::is_ours()) } else { Ok(()) }
}

fn reach(index: &Index, start: &[u8], end: &[u8]) -> Reach {
    let mut behind = Vec::new();
    if let Some(below) = start.strip_prefix(&*index.node)
        && let Some(length) = key::subscript_len(below)
    {
        key::subtree_end(&start[..index.node.len() + length], &mut behind);
        if end <= &*behind {
            let value = index.value_key(&below[..length]);
            return if start <= &*value && &*value < end { Reach::One(value) } else { Reach::None };
        }
    }
    let mut first = index.node.clone();
    first.push(CHILDREN);
    key::subtree_end(&index.node, &mut behind);
    match (start <= &*first, end >= &*behind) {
        (true, true) => Reach::All,
        _ if end <= &*first || start >= &*behind => Reach::None,
        (from_first, to_last) => {
            let start = if from_first { first } else { start.to_vec() };
            Reach::Some(start, if to_last { behind } else { end.to_vec() })
        }
    }
}

/// A batch together with what it does to entries.
pub struct Plan {
    pub batch: Batch,
    /// The values that must be alone in their unique index afterwards.
    pub singles: Vec<Single>,
}

impl Plan {
    /// Works out what a batch does to the entries of the indexes. The session's transaction is open, and nothing of the
    /// batch has been applied.
    pub fn make(list: &[Index], batch: &Batch, session: &mut dyn Session) -> Result<Plan> {
        let mut plan = Plan { batch: Batch::new(), singles: Vec::new() };
        for operation in batch.operations() {
            match operation {
                Operation::Put(key, value) => plan.batch.put(key, value),
                Operation::DeleteRange(start, end) => plan.batch.delete_range(start, end),
            }
        }
        for index in list {
            Change::of(index, batch, session)?.carry_out(index, session, &mut plan)?;
        }
        Ok(plan)
    }
}

/// What a batch does to the indexed values of one index.
#[derive(Default)]
struct Change {
    /// All that were there are deleted first.
    cleared: bool,
    /// By key: what is stored there afterwards.
    next: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Change {
    fn of(index: &Index, batch: &Batch, session: &mut dyn Session) -> Result<Change> {
        let mut change = Change::default();
        for operation in batch.operations() {
            match operation {
                Operation::Put(key, value) if index.child_of(key).is_some() => {
                    change.next.insert(key.to_vec(), Some(value.to_vec()));
                }
                Operation::Put(..) => {}
                Operation::DeleteRange(start, end) => change.delete(index, start, end, session)?,
            }
        }
        Ok(change)
    }

    fn delete(&mut self, index: &Index, start: &[u8], end: &[u8], session: &mut dyn Session) -> Result<()> {
        match reach(index, start, end) {
            Reach::None => {}
            Reach::One(key) => {
                self.next.insert(key, None);
            }
            Reach::All => {
                self.cleared = true;
                self.next.clear();
            }
            Reach::Some(start, end) => {
                for (_, next) in self.next.range_mut(start.clone()..end.clone()) {
                    *next = None;
                }
                session.scan(Range::keys(&start, &end), &mut |found, _| {
                    if index.child_of(found).is_some() {
                        self.next.insert(found.to_vec(), None);
                    }
                    Ok(Flow::Continue)
                })?;
            }
        }
        Ok(())
    }

    /// Adds to the plan which entries go and come. Those that go are first, since two values may share an entry.
    fn carry_out(self, index: &Index, session: &mut dyn Session, plan: &mut Plan) -> Result<()> {
        let (mut end, mut stored, mut coming) = (Vec::new(), Vec::new(), Vec::new());
        if self.cleared {
            key::subtree_end(&index.entries, &mut end);
            plan.batch.delete_range(&index.entries, &end);
        }
        for (key, next) in &self.next {
            let Some(child) = index.child_of(key) else { continue };
            let found = !self.cleared && session.get(key, &mut stored)?;
            if found && next.as_ref() == Some(&stored) {
                continue;
            }
            if found && let Some(entry) = index.entry(&stored, child)? {
                end.clear();
                end.extend_from_slice(entry.key());
                end.push(0);
                plan.batch.delete_range(entry.key(), &end);
            }
            if let Some(next) = next {
                coming.extend(index.entry(next, child)?);
            }
        }
        for entry in coming {
            plan.batch.put(entry.key(), &[TEXT]);
            if index.unique {
                let (name, node) = (index.name.clone(), index.node.clone());
                plan.singles.push(Single { name, node, entries: entry.value().to_vec() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Options;
    use crate::index::Query;
    use crate::key::Key;
    use crate::store::Store;

    fn child(number: f64) -> Key {
        let mut key = Key::new();
        key.global("P").unwrap();
        key.number(number).unwrap();
        key
    }

    /// No operation deletes half of a node yet, but a batch may.
    #[test]
    fn a_stretch_that_begins_and_ends_among_the_children_takes_theirs_along() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Store::open(Some(folder.path()), &Options::default()).unwrap().connect(false).unwrap();
        let mut node = Key::new();
        node.global("P").unwrap();
        db.set_document(node.as_bytes(), r#"{"1": "a", "2": "b", "3": "c", "4": "d"}"#).unwrap();
        db.create_index(node.as_bytes(), "own", "[]", true).unwrap();
        let mut batch = Batch::new();
        batch.put(child(2.5).as_bytes(), b"\x01e");
        batch.delete_range(child(2.0).as_bytes(), child(4.0).as_bytes());
        batch.put(child(3.0).as_bytes(), b"\x01b");
        db.apply(&batch).unwrap();
        let mut shown = Vec::new();
        db.find(node.as_bytes(), "own", &Query::default(), &mut |hit| {
            shown.push(String::from_utf8(hit.json.to_vec()).unwrap());
            Ok(true)
        })
        .unwrap();
        assert_eq!(shown, [r#""a""#, r#""b""#, r#""d""#]);
    }
    #[test]
    fn what_a_batch_puts_and_then_deletes_leaves_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Store::open(Some(folder.path()), &Options::default()).unwrap().connect(false).unwrap();
        let mut node = Key::new();
        node.global("P").unwrap();
        db.create_index(node.as_bytes(), "own", "[]", false).unwrap();
        let (mut batch, mut end) = (Batch::new(), Vec::new());
        batch.put(child(1.0).as_bytes(), b"\x01a");
        key::subtree_end(node.as_bytes(), &mut end);
        batch.delete_range(node.as_bytes(), &end);
        batch.put(child(2.0).as_bytes(), b"\x01b");
        batch.put(child(3.0).as_bytes(), b"\x01c");
        key::subtree_end(child(3.0).as_bytes(), &mut end);
        batch.delete_range(child(3.0).as_bytes(), &end);
        db.apply(&batch).unwrap();
        let mut shown = Vec::new();
        db.find(node.as_bytes(), "own", &Query::default(), &mut |hit| {
            shown.push(hit.json.to_vec());
            Ok(true)
        })
        .unwrap();
        assert_eq!(shown, [br#""b""#]);
    }
}
