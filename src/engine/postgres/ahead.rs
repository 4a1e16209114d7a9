//! Reading ahead: who walks in order gets the next steps from entries that came with an earlier one.
//!
//! The entries are those of one moment. They serve while this process writes nothing to the store, and for a short time
//! only, since other processes write too; in a transaction and in a held moment nothing of others is seen anyway.

use std::time::{Duration, Instant};

use crate::engine::Bound;

/// How long entries serve where others may write. A walk in a loop is through with them sooner.
const LIFE: Duration = Duration::from_millis(1);
/// The most entries at a time.
const MOST: i64 = 512;
/// Values up to so many bytes come with the keys.
pub const SMALL: i32 = 1024;

/// An entry; the value is missing where it was not asked for.
pub type Entry = (Vec<u8>, Option<Vec<u8>>);

/// What was read ahead, and how well that has served.
#[derive(Default)]
pub struct Ahead {
    page: Option<Page>,
    /// Where the last step came to, and in which direction.
    last: Option<(Vec<u8>, bool)>,
    /// How many entries the next step in the same direction asks for.
    size: i64,
}

struct Page {
    forwards: bool,
    /// The bound that it was read from.
    from: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether there is nothing behind the last one.
    is_whole: bool,
    read: Instant,
    version: u64,
    /// Whether time does nothing to it.
    is_fixed: bool,
    served: usize,
}

/// What a page knows of a step.
pub enum Step<'a> {
    /// The entry.
    Found(&'a Entry),
    /// There is none.
    End,
    /// It lies outside.
    Unknown,
}

impl Ahead {
    /// Forgets what was read.
    pub fn forget(&mut self) {
        self.page = None;
    }

    fn page(&self, version: u64) -> Option<&Page> {
        self.page.as_ref().filter(|page| page.version == version && (page.is_fixed || page.read.elapsed() < LIFE))
    }

    /// The value at a key, where a page has it.
    pub fn get(&self, key: &[u8], version: u64) -> Option<&[u8]> {
        let page = self.page(version)?;
        page.find(key).and_then(|at| page.entries[at].1.as_deref())
    }

    /// What a page knows of a step that goes on where the last one ended.
    pub fn step(&mut self, bound: Bound<'_>, with_value: bool, version: u64) -> Step<'_> {
        let (key, forwards) = split(bound);
        let goes_on = self.last.as_ref().is_some_and(|(last, direction)| {
            *direction == forwards && if forwards { key > &last[..] } else { key <= &last[..] }
        });
        if !goes_on || self.page(version).is_none() {
            return Step::Unknown;
        }
        let Some(page) = self.page.as_mut() else { return Step::Unknown };
        let Some(at) = page.step(key, forwards) else { return Step::Unknown };
        let Some(entry) = page.entries.get(at) else { return Step::End };
        if with_value && entry.1.is_none() {
            return Step::Unknown;
        }
        page.served += 1;
        self.last = Some((entry.0.clone(), forwards));
        Step::Found(entry)
    }

    /// How many entries to ask the server for.
    pub fn wanted(&mut self, bound: Bound<'_>) -> i64 {
        let (key, forwards) = split(bound);
        let goes_on = self.last.as_ref().is_some_and(|(last, direction)| {
            *direction == forwards && if forwards { key > &last[..] } else { key <= &last[..] }
        });
        if !goes_on {
            self.size = 1;
            return 1;
        }
        // As long as most of them are of use, more.
        let useful = self.page.as_ref().is_none_or(|page| page.served * 2 + 2 >= page.entries.len());
        self.size = if useful { (self.size * 8).clamp(8, MOST) } else { (self.size / 8).max(2) };
        self.size
    }

    /// Keeps what came for a step, and answers its entry.
    pub fn keep(
        &mut self,
        bound: Bound<'_>,
        wanted: i64,
        entries: Vec<Entry>,
        version: u64,
        is_fixed: bool,
    ) -> Option<&Entry> {
        let (key, forwards) = split(bound);
        let is_whole = i64::try_from(entries.len()).is_ok_and(|count| count < wanted);
        self.last = entries.first().map(|(key, _)| (key.clone(), forwards));
        let page = Page {
            forwards,
            from: key.to_vec(),
            entries,
            is_whole,
            read: Instant::now(),
            version,
            is_fixed,
            served: 1,
        };
        self.page.insert(page).entries.first()
    }
}

impl Page {
    /// Where the entry of a step is; behind the last one where there is none; nothing where the page does not know.
    fn step(&self, key: &[u8], forwards: bool) -> Option<usize> {
        if forwards != self.forwards || (if forwards { key < &self.from[..] } else { key > &self.from[..] }) {
            return None;
        }
        let at = if forwards {
            self.entries.partition_point(|(found, _)| &found[..] < key)
        } else {
            self.entries.partition_point(|(found, _)| &found[..] >= key)
        };
        (at < self.entries.len() || self.is_whole).then_some(at)
    }

    fn find(&self, key: &[u8]) -> Option<usize> {
        let found = if self.forwards {
            self.entries.binary_search_by(|(found, _)| found[..].cmp(key))
        } else {
            self.entries.binary_search_by(|(found, _)| key.cmp(&found[..]))
        };
        found.ok()
    }
}

fn split(bound: Bound<'_>) -> (&[u8], bool) {
    match bound {
        Bound::AtOrAfter(key) => (key, true),
        Bound::Before(key) => (key, false),
    }
}
