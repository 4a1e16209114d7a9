//! Random sequences of calls on three sessions of one store, against maps in memory that share no code with an engine.

use std::collections::BTreeMap;

use caretdb::engine::{Batch, Bound, Operation, Range, Session};
use caretdb::error::Error;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::store::{END, Entry, Store, all, get, long, scan_some, seek};

on_every_engine! {
    random_calls_answer_as_the_model_does
}

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

const SESSIONS: usize = 3;
/// Keys that lie near each other: nodes, their children, and children's children.
const KEYS: [&[u8]; 12] =
    [b"a", b"a\x05", b"a\x05x", b"a\x05x\x05y", b"a\x05y", b"aa", b"b", b"b\x60", b"b\xC0a\0", b"b\xC0b\0", b"c", b"d"];
/// Bounds that lie on, between, and around them.
const BOUNDS: [&[u8]; 12] =
    [b"", b"a", b"a\0", b"a\x01\0", b"a\x05", b"a\x06", b"ab", b"b", b"b\x05", b"b\xC0b\x01", b"c\0", END];
const LENGTHS: [usize; 10] = [0, 1, 5, 30, 4_079, 4_080, 4_081, 8_160, 9_000, 40_000];

/// A value, told by its length and seed so that a failing case can be read.
#[derive(Clone, Copy, Debug)]
struct Value(usize, u64);

impl Value {
    fn bytes(self) -> Vec<u8> {
        long(self.0, self.1)
    }
}

#[derive(Clone, Debug)]
enum Write {
    Put(&'static [u8], Value),
    Delete(&'static [u8], &'static [u8]),
}

#[derive(Clone, Debug)]
enum Call {
    Put(&'static [u8], Value),
    Apply(Vec<Write>),
    Update(&'static [u8], Option<Value>),
    Begin,
    Commit,
    Abort,
    Hold,
    Release,
    Scan { start: &'static [u8], end: &'static [u8], reverse: bool, most: usize },
    Reopen,
}

fn value() -> impl Strategy<Value = Value> {
    (prop::sample::select(&LENGTHS[..]), 0..100_u64).prop_map(|(len, seed)| Value(len, seed))
}

fn key() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(&KEYS[..])
}

fn bound() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![prop::sample::select(&BOUNDS[..]), key()]
}

fn call() -> impl Strategy<Value = Call> {
    let write = prop_oneof![
        3 => (key(), value()).prop_map(|(key, value)| Write::Put(key, value)),
        1 => (bound(), bound()).prop_map(|(start, end)| Write::Delete(start, end)),
    ];
    prop_oneof![
        8 => (key(), value()).prop_map(|(key, value)| Call::Put(key, value)),
        4 => prop::collection::vec(write, 0..6).prop_map(Call::Apply),
        2 => (key(), prop::option::weighted(0.8, value())).prop_map(|(key, value)| Call::Update(key, value)),
        4 => Just(Call::Begin),
        3 => Just(Call::Commit),
        1 => Just(Call::Abort),
        1 => Just(Call::Hold),
        1 => Just(Call::Release),
        4 => (bound(), bound(), any::<bool>(), 1..8_usize)
            .prop_map(|(start, end, reverse, most)| Call::Scan { start, end, reverse, most }),
        1 => Just(Call::Reopen),
    ]
}

/// What the store should hold and show.
#[derive(Default)]
struct Model {
    committed: Map,
    open: Option<(usize, Map)>,
    held: [Option<Map>; SESSIONS],
}

/// Why a call should fail.
#[derive(PartialEq, Debug)]
enum Refusal {
    Transaction,
    Changer,
}

impl Model {
    /// What a session sees.
    fn seen(&self, session: usize) -> &Map {
        match &self.open {
            Some((owner, map)) if *owner == session => map,
            _ => self.held[session].as_ref().unwrap_or(&self.committed),
        }
    }

    /// What a session's write changes.
    fn written(&mut self, session: usize) -> Result<&mut Map, Refusal> {
        match &mut self.open {
            Some((owner, map)) if *owner == session => Ok(map),
            Some(_) => Err(Refusal::Transaction),
            None => Ok(&mut self.committed),
        }
    }

    fn make(&mut self, session: usize, call: &Call) -> Result<(), Refusal> {
        match call {
            Call::Put(key, value) => {
                self.written(session)?.insert(key.to_vec(), value.bytes());
            }
            Call::Apply(writes) => {
                let map = self.written(session)?;
                writes.iter().for_each(|write| write.apply(map));
            }
            Call::Update(key, next) => {
                let map = self.written(session)?;
                let next = next.ok_or(Refusal::Changer)?;
                let joined =
                    [map.get(*key).map_or(&[][..], |old| &old[..old.len().min(50_000)]), &next.bytes()].concat();
                map.insert(key.to_vec(), joined);
            }
            Call::Begin if self.open.is_some() => return Err(Refusal::Transaction),
            Call::Begin => self.open = Some((session, self.committed.clone())),
            Call::Commit => match self.open.take() {
                Some((owner, map)) if owner == session => self.committed = map,
                other => {
                    self.open = other;
                    return Err(Refusal::Transaction);
                }
            },
            Call::Abort => self.open = self.open.take().filter(|(owner, _)| *owner != session),
            Call::Hold => self.held[session] = Some(self.committed.clone()),
            Call::Release => self.held[session] = None,
            Call::Scan { .. } => {}
            Call::Reopen => {
                self.open = None;
                self.held = Default::default();
            }
        }
        Ok(())
    }
}

impl Write {
    fn apply(&self, map: &mut Map) {
        match self {
            Write::Put(key, value) => {
                map.insert(key.to_vec(), value.bytes());
            }
            Write::Delete(start, end) => map.retain(|key, _| !(*start..*end).contains(&&key[..])),
        }
    }
}

/// The store's sessions, and what each showed at which version.
struct Real<'a> {
    store: &'a mut Store,
    sessions: Vec<Box<dyn Session>>,
    shown: Vec<Option<(u64, Vec<Entry>)>>,
    held: [bool; SESSIONS],
}

impl Real<'_> {
    fn connect(&mut self) {
        self.sessions = (0..SESSIONS).map(|_| self.store.session()).collect();
        self.shown = vec![None; SESSIONS];
        self.held = [false; SESSIONS];
    }

    fn make(&mut self, session: usize, call: &Call) -> Result<(), Error> {
        if matches!(call, Call::Reopen) {
            self.sessions.clear();
            self.store.reopen();
            self.connect();
            return Ok(());
        }
        if self.held[session] || matches!(call, Call::Hold) {
            // Its own calls may show a held session another moment without any change in the store.
            self.shown[session] = None;
            self.held[session] = !matches!(call, Call::Release);
        }
        let session = &mut self.sessions[session];
        match call {
            Call::Put(key, value) => session.put(key, &value.bytes()),
            Call::Apply(writes) => session.apply(&batch(writes)),
            Call::Update(key, next) => session.update(key, &mut |old, room| {
                room.extend_from_slice(old.map_or(&[], |old| &old[..old.len().min(50_000)]));
                let next = next.ok_or(Error::BadValue("refused".to_owned()))?;
                room.extend_from_slice(&next.bytes());
                Ok(())
            }),
            Call::Begin => session.begin(),
            Call::Commit => session.commit(),
            Call::Abort => {
                session.abort();
                Ok(())
            }
            Call::Hold => session.hold(),
            Call::Release => {
                session.release();
                Ok(())
            }
            Call::Scan { .. } | Call::Reopen => Ok(()),
        }
    }

    /// Compares all that a session shows, and holds it to its version.
    fn check(&mut self, number: usize, expected: &Map) -> Result<(), TestCaseError> {
        let session = &mut *self.sessions[number];
        let version = session.version();
        let entries = all(session);
        prop_assert!(
            entries.iter().map(|(key, value)| (key, value)).eq(expected),
            "session {number} shows {}",
            spelt(&entries)
        );
        for key in KEYS {
            prop_assert!(get(session, key).as_ref() == expected.get(key), "session {number}, get {key:?}");
        }
        for bound in BOUNDS {
            let after = expected.range(bound.to_vec()..).next();
            let before = expected.range(..bound.to_vec()).next_back();
            let found = [seek(session, Bound::AtOrAfter(bound)), seek(session, Bound::Before(bound))];
            for (found, expected) in found.iter().zip([after, before]) {
                let found = found.as_ref().map(|(key, value)| (key, value));
                prop_assert!(found == expected, "session {number}, seek {bound:?}: {:?}", found.map(|(key, _)| key));
            }
        }
        if let Some((last, before)) = &self.shown[number] {
            prop_assert!(*last != version || *before == entries, "session {number} shows a change at the old version");
        }
        self.shown[number] = Some((version, entries));
        Ok(())
    }
}

fn batch(writes: &[Write]) -> Batch {
    let mut batch = Batch::new();
    for write in writes {
        match write {
            Write::Put(key, value) => batch.put(key, &value.bytes()),
            Write::Delete(start, end) => batch.delete_range(start, end),
        }
    }
    assert_eq!(batch.len(), writes.len());
    let puts = batch.operations().filter(|operation| matches!(operation, Operation::Put(..))).count();
    assert_eq!(puts, writes.iter().filter(|write| matches!(write, Write::Put(..))).count());
    batch
}

/// Entries short enough to read in a report.
fn spelt(entries: &[Entry]) -> String {
    entries.iter().map(|(key, value)| format!("{}:{} ", key.escape_ascii(), value.len())).collect()
}

fn expected_scan(map: &Map, start: &[u8], end: &[u8], reverse: bool, most: usize) -> Vec<Entry> {
    let inside = map.iter().filter(|(key, _)| (start..end).contains(&&key[..]));
    let inside = inside.map(|(key, value)| (key.clone(), value.clone()));
    if reverse { inside.rev().take(most).collect() } else { inside.take(most).collect() }
}

fn run(store: &mut Store, calls: &[(usize, Call)]) -> Result<(), TestCaseError> {
    let (mut model, mut real) =
        (Model::default(), Real { store, sessions: Vec::new(), shown: Vec::new(), held: [false; SESSIONS] });
    real.connect();
    for (session, call) in calls {
        let (expected, answered) = (model.make(*session, call), real.make(*session, call));
        match (&expected, &answered) {
            (Ok(()), Ok(()))
            | (Err(Refusal::Transaction), Err(Error::Transaction(_)))
            | (Err(Refusal::Changer), Err(Error::BadValue(_))) => {}
            _ => prop_assert!(false, "{call:?} by session {session}: expected {expected:?}, answered {answered:?}"),
        }
        if let Call::Scan { start, end, reverse, most } = *call {
            let range = Range { reverse, ..Range::entries(start, end) };
            let seen = scan_some(&mut *real.sessions[*session], range, most);
            let expected = expected_scan(model.seen(*session), start, end, reverse, most);
            prop_assert!(seen == expected, "{call:?} by session {session} shows {}", spelt(&seen));
        }
        for number in 0..SESSIONS {
            real.check(number, model.seen(number))?;
        }
    }
    Ok(())
}

fn random_calls_answer_as_the_model_does(store: &mut Store) {
    let name = store.name();
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        // A server is asked over the line, many times for each call.
        config.cases = if store.has_conflicts() { 3 } else { 60 };
    }
    let calls = prop::collection::vec((0..SESSIONS, call()), 1..60);
    let result = TestRunner::new(config).run(&calls, |calls| run(&mut Store::new(name), &calls));
    if let Err(error) = result {
        panic!("{error}");
    }
}
