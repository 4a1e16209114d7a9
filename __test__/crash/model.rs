//! The writes of all these tests. Transaction `i` does what its number and a word say that is drawn for each attempt,
//! and stores the number itself at `n`; so a store's contents must be what transactions 1 to `n` make, whatever happened
//! to the processes that wrote them. The words are noted outside the store: were a dead attempt's effects ever mixed with
//! those of the attempt that took its number, it would show.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use caretdb::engine::{Batch, Durability, Engine, Options, Range, Session, open};
use caretdb::error::Result;

use crate::child::Progress;

/// The contents of a store.
pub type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

/// The key at which the number of the last transaction is.
pub const NUMBER: &[u8] = b"n";
/// As many keys as the transactions use.
const SLOTS: u64 = 120;

/// Options that make the background work often.
pub fn options(durability: Option<Durability>) -> Options {
    Options { durability, flush_interval: Duration::from_millis(3), log_limit: 8 << 20, ..Options::default() }
}

/// Opens a store for these tests.
pub fn store(path: &Path, durability: Durability) -> Result<Box<dyn Engine>> {
    open(path, &options(Some(durability)))
}

/// Spreads numbers.
pub fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

fn slot(number: u64) -> Vec<u8> {
    format!("slot {:04}", number % SLOTS).into_bytes()
}

/// The bytes that a transaction stores; some are larger than a page, and now and then one is larger than a segment.
fn value(number: u64, part: u64) -> Vec<u8> {
    let dice = mixed(number * 8 + part);
    let length = match dice % 40 {
        0 => 30_000 + dice % 9_000,
        1..4 => 3_000 + dice % 2_000,
        _ => dice % 90,
    };
    let length = if number % 701 == 700 && part == 0 { 1_300_000 } else { length };
    std::iter::once(b's').chain((0..length).map(|at| (dice.wrapping_add(at * 7) % 251) as u8)).collect()
}

/// What transaction `number` does in the attempt that drew `word`.
pub fn batch(number: u64, word: u32) -> Batch {
    let mut batch = Batch::new();
    let dice = mixed(number ^ u64::from(word) << 32);
    if dice % 5 == 1 {
        let (from, to) = (dice % SLOTS, dice % SLOTS + dice / 7 % 9);
        batch.delete_range(&slot(from), &slot(to.min(SLOTS - 1)));
    }
    for part in 0..=dice / 3 % 4 {
        batch.put(&slot(dice / 5 + part * 77), &value(number, part));
    }
    batch.put(NUMBER, &number.to_be_bytes());
    batch
}

/// What transactions 1 to `number` make.
pub fn contents(number: u64, progress: &Progress) -> Contents {
    let mut contents = Contents::new();
    for number in 1..=number {
        for operation in batch(number, progress.word(number)).operations() {
            match operation {
                caretdb::engine::Operation::Put(key, value) => drop(contents.insert(key.to_vec(), value.to_vec())),
                caretdb::engine::Operation::DeleteRange(start, end) => {
                    contents.retain(|key, _| &key[..] < start || &key[..] >= end);
                }
            }
        }
    }
    contents
}

/// The number of the last transaction in a store.
pub fn number(session: &mut dyn Session) -> u64 {
    let mut value = Vec::new();
    let found = session.get(NUMBER, &mut value).expect("a read");
    if found { u64::from_be_bytes(value.try_into().expect("a number")) } else { 0 }
}

/// Does the next transaction, in one call where this is the `only` writer. Its number.
pub fn next(session: &mut dyn Session, progress: &Progress, only: bool) -> Result<u64> {
    if !only {
        session.begin()?;
    }
    let number = number(session) + 1;
    let done = session.apply(&batch(number, progress.draw(number)));
    if only {
        return done.map(|()| number);
    }
    match done.and_then(|()| session.commit()) {
        Ok(()) => Ok(number),
        Err(error) => {
            session.abort();
            Err(error)
        }
    }
}

/// Makes sure that a store holds what its last transaction says. That transaction's number.
pub fn verify(store: &dyn Engine, progress: &Progress) -> u64 {
    let mut session = store.session().expect("a session");
    let mut found = Contents::new();
    session
        .scan(Range::entries(b"", &[0xFF]), &mut |key, value| {
            found.insert(key.to_vec(), value.to_vec());
            Ok(caretdb::engine::Flow::Continue)
        })
        .expect("a scan");
    let number = number(&mut *session);
    let expected = contents(number, progress);
    let differing: Vec<String> = expected
        .iter()
        .filter(|(key, value)| found.get(*key) != Some(value))
        .map(|(key, _)| key)
        .chain(found.keys().filter(|key| !expected.contains_key(*key)))
        .map(|key| String::from_utf8_lossy(key).into_owned())
        .collect();
    assert!(differing.is_empty(), "the contents are not those of transaction {number}: {differing:?}");
    number
}
