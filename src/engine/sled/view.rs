//! The tree as one session sees it: some keys may show other values than the tree holds. A transaction shows what it
//! has written so far; a snapshot shows what later commits have replaced.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter;
use std::ops::Bound;

use sled::{IVec, Tree};

/// A key and its value.
pub type Entry = (IVec, IVec);

/// Keys with what is to be seen there instead of the tree's value; `None` where nothing is.
#[derive(Default)]
pub struct Changes(BTreeMap<IVec, Option<IVec>>);

impl Changes {
    /// Shows `value` at `key` from now on.
    pub fn set(&mut self, key: IVec, value: Option<IVec>) {
        self.0.insert(key, value);
    }

    /// Shows `value` at `key` if the key shows the tree's value as yet.
    pub fn set_first(&mut self, key: &IVec, value: Option<IVec>) {
        self.0.entry(key.clone()).or_insert(value);
    }

    /// Hides the keys `start <= key < end`. `below` are those of them that the tree holds.
    pub fn hide(&mut self, start: &[u8], end: &[u8], below: Vec<IVec>) {
        if start >= end {
            return;
        }
        for (_, value) in self.0.range_mut::<[u8], _>((Bound::Included(start), Bound::Excluded(end))) {
            *value = None;
        }
        self.0.extend(below.into_iter().map(|key| (key, None)));
    }

    /// All of them, in key order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&IVec, &Option<IVec>)> {
        self.0.iter()
    }
}

/// A stretch of keys, walked from either end.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    /// Where the keys begin.
    pub lower: Bound<&'a [u8]>,
    /// The first key behind them; without one they go on to the last.
    pub end: Option<&'a [u8]>,
    /// From the end to the start.
    pub reverse: bool,
}

impl<'a> Stretch<'a> {
    fn is_empty(&self) -> bool {
        match (self.lower, self.end) {
            (Bound::Included(lower) | Bound::Excluded(lower), Some(end)) => lower >= end,
            _ => false,
        }
    }

    fn bounds(&self) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
        (self.lower, self.end.map_or(Bound::Unbounded, Bound::Excluded))
    }
}

/// The tree, and the changes laid over it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// What everybody sees.
    pub tree: &'a Tree,
    /// What is seen instead.
    pub over: Option<&'a Changes>,
}

/// Entries in order, from one end of a stretch to the other.
pub type Entries<'a> = Box<dyn Iterator<Item = sled::Result<Entry>> + 'a>;

impl<'a> View<'a> {
    /// The value at a key.
    pub fn get(&self, key: &[u8]) -> sled::Result<Option<IVec>> {
        match self.over.and_then(|changes| changes.0.get(key)) {
            Some(value) => Ok(value.clone()),
            None => self.tree.get(key),
        }
    }

    /// The entries of a stretch.
    pub fn entries(&self, stretch: Stretch<'_>) -> Entries<'a> {
        if stretch.is_empty() {
            return Box::new(iter::empty());
        }
        let bounds = stretch.bounds();
        let tree = self.tree.range::<&[u8], _>(bounds);
        match (self.over, stretch.reverse) {
            (None, false) => Box::new(tree),
            (None, true) => Box::new(tree.rev()),
            (Some(changes), false) => merge(tree, changes.0.range::<[u8], _>(bounds), Ordering::Less),
            (Some(changes), true) => merge(tree.rev(), changes.0.range::<[u8], _>(bounds).rev(), Ordering::Greater),
        }
    }
}

/// Walks the tree and the changes side by side. `first` says how the key that comes first compares with the other.
fn merge<'a>(
    tree: impl Iterator<Item = sled::Result<Entry>> + 'a,
    changes: impl Iterator<Item = (&'a IVec, &'a Option<IVec>)> + 'a,
    first: Ordering,
) -> Entries<'a> {
    let (mut tree, mut changes) = (tree.fuse().peekable(), changes.peekable());
    Box::new(iter::from_fn(move || {
        loop {
            let Some((changed, _)) = changes.peek() else { return tree.next() };
            match tree.peek() {
                Some(Err(_)) => return tree.next(),
                Some(Ok((key, _))) if key.cmp(changed) == first => return tree.next(),
                Some(Ok((key, _))) if key == *changed => drop(tree.next()),
                _ => {}
            }
            if let Some((key, Some(value))) = changes.next() {
                return Some(Ok((key.clone(), value.clone())));
            }
        }
    }))
}
