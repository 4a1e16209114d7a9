//! Ordered traversal: the steps of a cursor over children, valued nodes or globals, and pages of entries.
//!
//! A cursor keeps a key and nothing else; each step is a search from there, which the engine answers from where its own
//! cursor stands. So a cursor is a live view, costs bytes, and holds no snapshot.

use crate::engine::{Bound, Flow, Range};
use crate::error::Result;
use crate::key::{self, CHILDREN};
use crate::store::Connection;

/// Where a traversal of valued nodes stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The global's key: the traversal never leaves it, and never shows its own value.
    pub root: &'a [u8],
    /// The key of a node.
    pub node: &'a [u8],
    /// Behind the whole subtree of the node (as `previous` sees it), not at the node.
    pub at_end: bool,
}

/// What the entries of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The subscripts of the children.
    Keys,
    /// The subscripts of the children and their values.
    Entries,
    /// All nodes below that have a value, with all their subscripts below the node.
    Leaves,
}

/// A stretch of entries below a node.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The node's key.
    pub node: &'a [u8],
    /// What to show.
    pub shape: Shape,
    /// How many at most.
    pub limit: usize,
    /// From the end.
    pub reverse: bool,
    /// The key of the first entry in the direction of travel, and whether it belongs to the stretch.
    pub from: Option<(&'a [u8], bool)>,
    /// The key of the last entry, and whether it belongs to the stretch.
    pub to: Option<(&'a [u8], bool)>,
    /// What the children's subscripts, as strings, begin with; empty for all of them.
    pub prefix: &'a [u8],
}

/// What [`Connection::page`] calls with the encoded subscripts below the node and the stored value; it answers whether to
/// go on.
pub type Show<'a> = dyn FnMut(&[u8], Option<&[u8]>) -> Result<bool> + 'a;

impl Connection {
    /// Finds the next node with a value behind a place, as M's `$QUERY` does, and writes its key and stored value. False
    /// at the end of the global.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn next_valued(&mut self, place: Place<'_>, found: &mut Vec<u8>, stored: Option<&mut Vec<u8>>) -> Result<bool> {
        self.bound.clear();
        self.bound.extend_from_slice(place.node);
        self.bound.push(CHILDREN);
        Ok(self.session.seek(Bound::AtOrAfter(&self.bound), found, stored)? && is_below(place.root, found))
    }

    /// Finds the node with a value before a place; otherwise as [`Connection::next_valued`].
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn previous_valued(
        &mut self,
        place: Place<'_>,
        found: &mut Vec<u8>,
        stored: Option<&mut Vec<u8>>,
    ) -> Result<bool> {
        if place.at_end {
            key::subtree_end(place.node, &mut self.bound);
        } else {
            self.bound.clear();
            self.bound.extend_from_slice(place.node);
        }
        Ok(self.session.seek(Bound::Before(&self.bound), found, stored)? && is_below(place.root, found))
    }

    /// How many children a node has.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn count(&mut self, node: &[u8]) -> Result<u64> {
        let page =
            Page { node, shape: Shape::Keys, limit: usize::MAX, reverse: false, from: None, to: None, prefix: &[] };
        let mut count = 0;
        self.page(&page, &mut |_, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    /// Shows the entries of a page in order, all of one moment for leaves, and for children as long as their own
    /// subtrees need no search.
    ///
    /// # Errors
    /// Damage, the system's answer, or what `show` answers.
    pub fn page(&mut self, page: &Page<'_>, show: &mut Show<'_>) -> Result<()> {
        let (mut start, mut end) = stretch(page)?;
        let mut left = page.limit;
        while left > 0 && start < end {
            let skipped = match page.shape {
                Shape::Leaves => self.show_leaves(page, &start, &end, &mut left, show)?,
                _ => self.show_children(page, &start, &end, &mut left, show)?,
            };
            match skipped {
                Some(bound) if page.reverse => end = bound,
                Some(bound) => start = bound,
                None => break,
            }
        }
        Ok(())
    }

    fn show_leaves(
        &mut self,
        page: &Page<'_>,
        start: &[u8],
        end: &[u8],
        left: &mut usize,
        show: &mut Show<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let range = Range { start, end, reverse: page.reverse, values: true };
        self.session.scan(range, &mut |found, stored| {
            *left -= 1;
            let go_on = show(&found[page.node.len()..], Some(stored))? && *left > 0;
            Ok(if go_on { Flow::Continue } else { Flow::Stop })
        })?;
        Ok(None)
    }

    /// Shows children until one has a subtree to be jumped over; answers the bound from which to go on.
    fn show_children(
        &mut self,
        page: &Page<'_>,
        start: &[u8],
        end: &[u8],
        left: &mut usize,
        show: &mut Show<'_>,
    ) -> Result<Option<Vec<u8>>> {
        // In reverse a child's descendants come before its own value, so the value needs a look of its own.
        if page.reverse {
            return self.show_child_before(page, start, end, left, show);
        }
        let depth = page.node.len();
        let mut jump = None;
        let mut shown: Vec<u8> = Vec::new();
        let range = Range { start, end, reverse: false, values: page.shape == Shape::Entries };
        self.session.scan(range, &mut |found, stored| {
            let below = &found[depth..];
            let Some(length) = key::subscript_len(below) else { return Ok(Flow::Continue) };
            if !shown.is_empty() && below.starts_with(&shown) {
                // A descendant of the child shown last: jump over what may be a large subtree.
                let mut bound = Vec::new();
                key::subtree_end(&found[..depth + shown.len()], &mut bound);
                jump = Some(bound);
                return Ok(Flow::Stop);
            }
            shown.clear();
            shown.extend_from_slice(&below[..length]);
            *left -= 1;
            let has_value = length == below.len();
            if !show(&below[..length], has_value.then_some(stored))? || *left == 0 {
                return Ok(Flow::Stop);
            }
            if has_value {
                return Ok(Flow::Continue);
            }
            let mut bound = Vec::new();
            key::subtree_end(&found[..depth + length], &mut bound);
            jump = Some(bound);
            Ok(Flow::Stop)
        })?;
        Ok(jump)
    }

    fn show_child_before(
        &mut self,
        page: &Page<'_>,
        start: &[u8],
        end: &[u8],
        left: &mut usize,
        show: &mut Show<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let mut found = Vec::new();
        if !self.session.seek(Bound::Before(end), &mut found, None)? || found.as_slice() < start {
            return Ok(None);
        }
        let depth = page.node.len();
        let Some(length) = found.get(depth..).and_then(key::subscript_len) else { return Ok(None) };
        found.truncate(depth + length);
        let mut stored = Vec::new();
        let has_value = page.shape == Shape::Entries && self.session.get(&found, &mut stored)?;
        *left -= 1;
        Ok(show(&found[depth..], has_value.then_some(&stored))?.then_some(found))
    }
}

fn is_below(root: &[u8], found: &[u8]) -> bool {
    found.len() > root.len() && found.starts_with(root)
}

/// The half-open stretch of keys that holds a page.
fn stretch(page: &Page<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut start = page.node.to_vec();
    start.push(CHILDREN);
    let mut end = Vec::new();
    key::subtree_end(page.node, &mut end);
    let (low, high) = if page.reverse { (page.to, page.from) } else { (page.from, page.to) };
    if let Some((bound, inclusive)) = low {
        if inclusive {
            start = bound.to_vec();
        } else if page.shape == Shape::Leaves {
            start = bound.to_vec();
            start.push(CHILDREN);
        } else {
            key::subtree_end(bound, &mut start);
        }
    }
    if let Some((bound, inclusive)) = high {
        if inclusive {
            key::subtree_end(bound, &mut end);
        } else {
            end = bound.to_vec();
        }
    }
    if !page.prefix.is_empty() {
        let mut strings = key::Key::new();
        strings.copy_from(page.node);
        strings.raw(page.prefix)?;
        // Without its terminator the encoded string is what all longer ones begin with.
        strings.truncate(strings.len() - 1);
        let mut behind = Vec::new();
        key::subtree_end(strings.as_bytes(), &mut behind);
        start = start.max(strings.as_bytes().to_vec());
        end = end.min(behind);
    }
    Ok((start, end))
}
