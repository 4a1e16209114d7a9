//! A stretch of keys that a transaction has read at its beginning and keeps true through its own writes. Who changes a
//! document by what stands there finds it here, and asks the server nothing more.

use std::collections::BTreeMap;
use std::ops::Bound as Edge;

use super::ahead::{Entry, SMALL};
use super::link::Live;
use super::turns::pair;
use crate::engine::{Batch, Bound, Flow, Operation, Range, Visitor};
use crate::error::Result;

/// So many entries are read with the beginning of a transaction.
const MOST: i64 = 512;
/// A window that has grown to so many bytes is given up.
const LARGE: usize = 1 << 20;

/// A stretch of which everything is known, but for some values.
pub struct Window {
    start: Vec<u8>,
    /// The first key behind it; none where it goes to the end of the store.
    end: Option<Vec<u8>>,
    /// A value is missing where it is long.
    entries: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

impl Window {
    /// Reads a stretch and what follows it, in one round trip.
    pub async fn read(live: &Live, start: &[u8], end: &[u8]) -> std::result::Result<Window, tokio_postgres::Error> {
        let statements = &live.statements;
        let inside: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&start, &end, &MOST, &SMALL];
        let behind: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&end, &1_i64, &-1_i32];
        let inside = live.client.query(&statements.scan, &inside);
        let (inside, behind) = pair(inside, live.client.query(&statements.seek_after, &behind)).await;
        let entries: Vec<Entry> = inside?.iter().map(|row| (row.get(0), row.get(1))).collect();
        let behind: Option<Vec<u8>> = behind?.first().map(|row| row.get(0));
        let is_whole = i64::try_from(entries.len()).is_ok_and(|count| count < MOST);
        Ok(Window::new(start, entries, behind.as_deref(), is_whole))
    }

    /// The entries from `start` on: up to `behind` and with it, or as far as they go.
    fn new(start: &[u8], entries: Vec<Entry>, behind: Option<&[u8]>, is_whole: bool) -> Window {
        let bytes = entries.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum();
        let last = if is_whole { behind } else { entries.last().map(|(key, _)| &key[..]) };
        let end = last.map(|last| [last, &[0]].concat());
        let mut entries: BTreeMap<_, _> = entries.into_iter().collect();
        if let Some(behind) = behind.filter(|_| is_whole) {
            entries.insert(behind.to_vec(), None);
        }
        Window { start: start.to_vec(), end, entries, bytes }
    }

    fn holds(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }

    fn holds_all(&self, start: &[u8], end: &[u8]) -> bool {
        start >= &self.start[..] && self.end.as_ref().is_none_or(|last| end <= &last[..])
    }

    /// What is at a key: `Some(None)` where nothing is, `None` where the window does not know.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        match self.entries.get(key) {
            Some(value) => value.as_deref().map(Some),
            None => self.holds(key).then_some(None),
        }
    }

    /// The entry that a step leads to, its value if that is `wanted`: `Some(None)` where there is none, `None` where the
    /// window does not know.
    pub fn seek(&self, bound: Bound<'_>, wanted: bool) -> Option<Option<Entry>> {
        let found = match bound {
            Bound::AtOrAfter(key) if self.holds(key) => {
                match self.entries.range::<[u8], _>((Edge::Included(key), Edge::Unbounded)).next() {
                    None if self.end.is_none() => return Some(None),
                    found => found,
                }
            }
            Bound::Before(key) if key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key <= &end[..]) => {
                self.entries.range::<[u8], _>((Edge::Unbounded, Edge::Excluded(key))).next_back()
            }
            _ => None,
        };
        let (key, value) = found.filter(|(_, value)| !wanted || value.is_some())?;
        Some(Some((key.clone(), value.clone())))
    }

    /// Shows the entries of a range. `None`, and nothing shown, where the window does not know all of them.
    pub fn scan(&self, range: Range<'_>, visit: &mut Visitor<'_>) -> Option<Result<()>> {
        if range.reverse || !self.holds_all(range.start, range.end) {
            return None;
        }
        let inside = || self.entries.range::<[u8], _>((Edge::Included(range.start), Edge::Excluded(range.end)));
        if range.values && inside().any(|(_, value)| value.is_none()) {
            return None;
        }
        for (key, value) in inside() {
            let shown = if range.values { value.as_deref().unwrap_or_default() } else { &[] };
            match visit(key, shown) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Stop) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }

    /// Takes over a write. False where it has grown too large to be kept.
    #[must_use]
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> bool {
        if self.holds(key) {
            self.bytes += key.len() + value.len();
            self.entries.insert(key.to_vec(), Some(value.to_vec()));
        }
        self.bytes <= LARGE
    }

    /// Takes over the operations of a batch. False where it has grown too large to be kept.
    #[must_use]
    pub fn apply(&mut self, batch: &Batch) -> bool {
        batch.operations().all(|operation| match operation {
            Operation::Put(key, value) => self.put(key, value),
            Operation::DeleteRange(start, end) => {
                self.entries.retain(|key, _| &key[..] < start || &key[..] >= end);
                true
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str) -> Entry {
        (key.as_bytes().to_vec(), Some(b"v".to_vec()))
    }

    fn step(window: &Window, bound: Bound<'_>) -> Option<Option<String>> {
        window.seek(bound, false).map(|found| found.map(|(key, _)| String::from_utf8(key).unwrap()))
    }

    #[test]
    fn it_knows_its_stretch_and_what_follows_and_nothing_else() {
        let window = Window::new(b"b", vec![entry("b"), entry("d")], Some(b"x"), true);
        assert_eq!(window.get(b"b"), Some(Some(&b"v"[..])));
        assert_eq!(window.get(b"c"), Some(None));
        assert_eq!(window.get(b"w"), Some(None), "between the stretch and what follows it nothing is");
        assert_eq!(window.get(b"x"), None, "its value was not read");
        assert_eq!((window.get(b"a"), window.get(b"y")), (None, None));
        assert_eq!(step(&window, Bound::AtOrAfter(b"c")), Some(Some("d".to_owned())));
        assert_eq!(step(&window, Bound::AtOrAfter(b"e")), Some(Some("x".to_owned())));
        assert_eq!(step(&window, Bound::AtOrAfter(b"y")), None);
        assert_eq!(step(&window, Bound::Before(b"e")), Some(Some("d".to_owned())));
        assert_eq!(step(&window, Bound::Before(b"b")), None, "what is before it");
    }

    #[test]
    fn at_the_end_of_the_store_it_knows_that_nothing_follows() {
        let window = Window::new(b"b", vec![entry("b")], None, true);
        assert_eq!(step(&window, Bound::AtOrAfter(b"c")), Some(None));
        let cut = Window::new(b"b", vec![entry("b"), entry("d")], None, false);
        assert_eq!((step(&cut, Bound::AtOrAfter(b"e")), cut.get(b"e")), (None, None), "it was not read that far");
        assert_eq!(step(&cut, Bound::AtOrAfter(b"c")), Some(Some("d".to_owned())));
    }

    #[test]
    fn it_follows_the_writes_and_is_given_up_when_they_are_many() {
        let mut window = Window::new(b"b", vec![entry("b"), entry("d")], Some(b"x"), true);
        let mut batch = Batch::new();
        batch.delete_range(b"a", b"c");
        batch.put(b"e", b"new");
        batch.put(b"z", b"elsewhere");
        assert!(window.apply(&batch));
        assert_eq!((window.get(b"b"), window.get(b"e")), (Some(None), Some(Some(&b"new"[..]))));
        assert_eq!(window.get(b"z"), None);
        let mut shown = Vec::new();
        let whole = window.scan(Range::entries(b"b", b"f"), &mut |key, _| {
            shown.push(key.to_vec());
            Ok(Flow::Continue)
        });
        assert!(matches!(whole, Some(Ok(()))));
        assert_eq!(shown, [b"d", b"e"]);
        assert!(window.scan(Range::entries(b"b", b"y"), &mut |_, _| Ok(Flow::Continue)).is_none());
        assert!(!window.put(b"f", &vec![0; LARGE]));
    }
}
