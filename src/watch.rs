//! Changes as a watcher is told of them: what a committed transaction did to a node and below it.

use crate::engine::{Batch, Operation};
use crate::key;
use crate::store::OWN_GLOBAL;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// A node got this value.
    Set(&'a [u8], &'a [u8]),
    /// A node and everything below it was deleted.
    Delete(&'a [u8]),
    /// A node's value was deleted; its children stay. Only an undone inner transaction does that.
    DeleteValue(&'a [u8]),
}

/// What a transaction did to the watched node and below it, in the order in which it was done. Where a node above the
/// watched one was deleted, the watched one was. With an empty key all globals are watched but the product's own.
///
/// ```
/// use caretdb::{engine::Batch, watch::{Change, changes}};
/// let mut batch = Batch::new();
/// batch.delete_range(b"A\0", b"A\x01");
/// batch.put(b"A\0\x8C\x0B\0", b"\x01x");
/// let told: Vec<_> = changes(&batch, b"A\0\x8C\x0B\0").collect();
/// assert_eq!(told, [Change::Delete(b"A\0\x8C\x0B\0"), Change::Set(b"A\0\x8C\x0B\0", b"\x01x")]);
/// ```
pub fn changes<'a>(batch: &'a Batch, node: &'a [u8]) -> impl Iterator<Item = Change<'a>> {
    let mut end = Vec::new();
    batch.operations().filter_map(move |operation| match operation {
        Operation::Put(key, value) => is_shown(key, node).then_some(Change::Set(key, value)),
        Operation::DeleteRange(start, past) => {
            key::subtree_end(start, &mut end);
            if past < &end[..] {
                return is_shown(start, node).then_some(Change::DeleteValue(start));
            }
            let top = if start.starts_with(node) { start } else { node };
            is_shown(top, node).then_some(Change::Delete(top))
        }
    })
}

fn is_shown(key: &[u8], node: &[u8]) -> bool {
    key.starts_with(node) && (!node.is_empty() || key::split(key).is_none_or(|(name, _)| name != OWN_GLOBAL))
}
