//! A store in a temporary folder, and short forms of what the tests ask a session.

use std::path::Path;
use std::time::Duration;

use caretdb::engine::postgres::Postgres;
use caretdb::engine::{self, Batch, Bound, Engine, Flow, Options, Range, Secret, Session};
use caretdb::error::{Error, Result};
use tempfile::TempDir;

use crate::server;

/// Above every key of these tests.
pub const END: &[u8] = &[0xFF];

/// An entry.
pub type Entry = (Vec<u8>, Vec<u8>);

/// A store in a folder that goes with it, or in a server's table.
pub struct Store {
    // Declared first, because the store must be closed before its folder is removed.
    opened: Option<Box<dyn Engine>>,
    name: &'static str,
    url: Option<String>,
    folder: TempDir,
}

/// Opens the store in a folder with an engine.
pub fn open(folder: &Path, engine: &str) -> Result<Box<dyn Engine>> {
    engine::open(folder, &Options { engine: engine.to_owned(), ..Options::default() })
}

impl Store {
    /// An empty store of an engine.
    pub fn new(name: &'static str) -> Store {
        if name == "postgres" {
            return Store::served().expect("there was a server before");
        }
        let folder = tempfile::tempdir().unwrap();
        let opened = Some(open(folder.path(), name).unwrap());
        Store { opened, name, url: None, folder }
    }

    /// An empty store of the engine `postgres`; none where there is no server.
    pub fn served() -> Option<Store> {
        let url = server::new_url()?;
        let mut store = Store { opened: None, name: "postgres", url: Some(url), folder: tempfile::tempdir().unwrap() };
        store.reopen();
        Some(store)
    }

    /// Whether a transaction may meet another one, and must be done again then.
    pub fn has_conflicts(&self) -> bool {
        self.url.is_some()
    }

    /// The options that open it.
    pub fn options(&self) -> Options {
        Options { engine: self.name.to_owned(), url: self.url.clone().map(Secret), ..Options::default() }
    }

    /// Opens it with other options, once more.
    pub fn open_with(&self, options: &Options) -> Result<Box<dyn Engine>> {
        match &self.url {
            Some(url) => Ok(Box::new(Postgres::open(url, options)?)),
            None => engine::open(self.path(), options),
        }
    }

    /// The engine's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The opened store.
    pub fn engine(&self) -> &dyn Engine {
        self.opened.as_deref().expect("the store is open")
    }

    /// A new session that waits a fifth of a second for the right to write.
    pub fn session(&self) -> Box<dyn Session> {
        let mut session = self.engine().session().unwrap();
        session.set_timeout(Some(Duration::from_millis(200)));
        session
    }

    /// Closes the store. No session may be left.
    pub fn close(&mut self) {
        self.opened = None;
    }

    /// Closes the store and opens it again.
    pub fn reopen(&mut self) {
        self.close();
        self.opened = Some(self.open_with(&self.options()).unwrap());
    }
}

/// The value at a key.
pub fn get(session: &mut dyn Session, key: &[u8]) -> Option<Vec<u8>> {
    // What was in the buffer must not be seen again.
    let mut value = b"left over".to_vec();
    session.get(key, &mut value).unwrap().then_some(value)
}

/// The entry that a bound finds.
pub fn seek(session: &mut dyn Session, bound: Bound<'_>) -> Option<Entry> {
    let (mut key, mut value) = (b"left over".to_vec(), b"left over".to_vec());
    let found = session.seek(bound, &mut key, Some(&mut value)).unwrap();
    let mut alone = Vec::new();
    assert_eq!(session.seek(bound, &mut alone, None).unwrap(), found, "with and without the value");
    if found {
        assert_eq!(alone, key, "with and without the value");
    }
    found.then_some((key, value))
}

/// At most `most` entries of a range.
pub fn scan_some(session: &mut dyn Session, range: Range<'_>, most: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    session
        .scan(range, &mut |key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            Ok(if entries.len() == most { Flow::Stop } else { Flow::Continue })
        })
        .unwrap();
    entries
}

/// All entries, in order.
pub fn all(session: &mut dyn Session) -> Vec<Entry> {
    scan_some(session, Range::entries(b"", END), usize::MAX)
}

/// The keys of a range.
pub fn keys(session: &mut dyn Session, start: &[u8], end: &[u8], reverse: bool) -> Vec<Vec<u8>> {
    let range = Range { start, end, reverse, values: false };
    let entries = scan_some(session, range, usize::MAX);
    assert!(entries.iter().all(|(_, value)| value.is_empty()), "no values where none were asked for");
    entries.into_iter().map(|(key, _)| key).collect()
}

/// Deletes a range.
pub fn delete(session: &mut dyn Session, start: &[u8], end: &[u8]) -> Result<()> {
    let mut batch = Batch::new();
    batch.delete_range(start, end);
    session.apply(&batch)
}

/// Runs `work` in a transaction and commits it, where `work` says so; again where another transaction was in the way.
pub fn transact(session: &mut dyn Session, mut work: impl FnMut(&mut dyn Session) -> Result<bool>) {
    loop {
        session.begin().unwrap();
        let ended = work(session).and_then(|commit| {
            if commit {
                return session.commit();
            }
            session.abort();
            Ok(())
        });
        match ended {
            Err(Error::Conflict(_)) => session.abort(),
            ended => return ended.unwrap(),
        }
    }
}

/// Adds one to the number at a key, which is kept as eight bytes.
pub fn increment(session: &mut dyn Session, key: &[u8]) -> Result<()> {
    session.update(key, &mut |old, next| {
        next.extend_from_slice(&(old.map_or(0, number) + 1).to_be_bytes());
        Ok(())
    })
}

/// The number at a key, 0 where there is none.
pub fn count(session: &mut dyn Session, key: &[u8]) -> u64 {
    try_count(session, key).unwrap()
}

/// The same inside a transaction that may meet another one.
pub fn try_count(session: &mut dyn Session, key: &[u8]) -> Result<u64> {
    let mut value = Vec::new();
    Ok(if session.get(key, &mut value)? { number(&value) } else { 0 })
}

fn number(value: &[u8]) -> u64 {
    u64::from_be_bytes(value.try_into().expect("eight bytes"))
}

/// A value of `len` bytes in which no two pieces are alike. It never begins with a byte that belongs to the engines.
pub fn long(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut value: Vec<u8> = (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    if let Some(first) = value.first_mut() {
        *first = 2;
    }
    value
}
