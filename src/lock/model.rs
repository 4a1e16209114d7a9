//! Random calls of three connections on a small tree, against a model that only knows which two nodes exclude each
//! other. It runs on every place that locks can have, also with hashes that collide all the time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::{Locks, Place, Table, elsewhere};
use crate::key::Key;

/// The tree: a global's name and its subscripts. `A` and `AB` share letters, and `x` hangs below two parents.
const NODES: [&[&str]; 11] = [
    &["A"],
    &["A", "1"],
    &["A", "1", "x"],
    &["A", "1", "x", "-2.5"],
    &["A", "1", "xy"],
    &["A", "2"],
    &["A", "2", "x"],
    &["AB"],
    &["AB", "1"],
    &["AB", "1", "x"],
    &["B"],
];
const CONNECTIONS: usize = 3;

#[derive(Clone, Debug)]
enum Call {
    Lock(usize, usize),
    Unlock(usize, usize),
    UnlockAll(usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let (who, what) = (0..CONNECTIONS, 0..NODES.len());
    let call = prop_oneof![
        6 => (who.clone(), what.clone()).prop_map(|(who, what)| Call::Lock(who, what)),
        4 => (who.clone(), what).prop_map(|(who, what)| Call::Unlock(who, what)),
        1 => who.prop_map(Call::UnlockAll),
    ];
    prop::collection::vec(call, 1..80)
}

/// The key of a node.
fn key(node: &[&str]) -> Vec<u8> {
    let mut key = Key::new();
    key.global(node[0]).unwrap();
    node[1..].iter().for_each(|subscript| key.text(subscript).unwrap());
    key.as_bytes().to_vec()
}

/// M's rule: one node is the other one or lies above it.
fn related(one: &[&str], other: &[&str]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Makes the calls and compares each answer; `exclude` is the rule by which two nodes exclude each other.
fn compare(
    calls: &[Call],
    connect: impl Fn() -> Locks,
    exclude: impl Fn(&[&str], &[&str]) -> bool,
) -> Result<(), TestCaseError> {
    let mut locks: Vec<Locks> = (0..CONNECTIONS).map(|_| connect()).collect();
    let mut model: Vec<BTreeMap<usize, u32>> = vec![BTreeMap::new(); CONNECTIONS];
    for call in calls {
        match *call {
            Call::Lock(who, what) => {
                let free = (0..CONNECTIONS)
                    .filter(|other| *other != who)
                    .all(|other| model[other].keys().all(|held| !exclude(NODES[*held], NODES[what])));
                if free {
                    *model[who].entry(what).or_default() += 1;
                }
                let taken = locks[who].lock(&key(NODES[what]), Some(Duration::ZERO)).unwrap();
                prop_assert_eq!(taken, free, "{:?} by {}, with {:?}", NODES[what], who, model);
            }
            Call::Unlock(who, what) => {
                if let Some(count) = model[who].get_mut(&what) {
                    *count -= 1;
                    if *count == 0 {
                        model[who].remove(&what);
                    }
                }
                locks[who].unlock(&key(NODES[what])).unwrap();
            }
            Call::UnlockAll(who) => {
                model[who].clear();
                locks[who].unlock_all();
            }
        }
        for (connection, held) in locks.iter().zip(&model) {
            prop_assert_eq!(connection.held(), held.len());
        }
    }
    drop(locks);
    let mut last = connect();
    for node in NODES {
        prop_assert!(last.lock(&key(node), Some(Duration::ZERO)).unwrap(), "{:?} is free when all are gone", node);
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_table_follows_the_rule(calls in calls()) {
        let table = Arc::new(Table::new());
        compare(&calls, || Locks::in_process(Arc::clone(&table)), related)?;
    }

    #[test]
    fn a_folder_of_one_process_follows_the_rule(calls in calls()) {
        let folder = tempfile::tempdir().unwrap();
        let place = || -> Box<dyn Place> { Box::new(elsewhere::OneProcess::new(folder.path().to_path_buf())) };
        compare(&calls, || Locks::at(place()), related)?;
    }
}

#[cfg(target_os = "linux")]
mod on_bytes {
    use std::path::Path;

    use super::super::ofd::{Bytes, Hash, hash};
    use super::*;

    fn connect(folder: &Path, hash: Hash) -> Locks {
        Locks::at(Box::new(Bytes::new(folder, hash)))
    }

    /// The rule when only bytes are seen: the own byte of one is the own byte of the other, or of one of its ancestors.
    fn bytes_meet(hash: Hash, one: &[&str], other: &[&str]) -> bool {
        let own = |node: &[&str]| hash(&key(node)) >> 1;
        let covers = |node: &[&str], offset: u64| (1..=node.len()).any(|depth| own(&node[..depth]) == offset);
        covers(one, own(other)) || covers(other, own(one))
    }

    fn compare_bytes(calls: &[Call], hash: Hash) -> Result<(), TestCaseError> {
        let folder = tempfile::tempdir().unwrap();
        compare(calls, || connect(folder.path(), hash), |one, other| bytes_meet(hash, one, other))
    }

    proptest! {
        #[test]
        fn the_hash_follows_the_rule(calls in calls()) {
            let folder = tempfile::tempdir().unwrap();
            compare(&calls, || connect(folder.path(), hash), related)?;
        }

        #[test]
        fn a_hash_of_five_values_grants_and_returns_nothing_wrongly(calls in calls()) {
            compare_bytes(&calls, |key| hash(key) % 5 * 2)?;
        }

        #[test]
        fn a_hash_by_the_last_letter_confuses_cousins_and_grants_nothing_wrongly(calls in calls()) {
            compare_bytes(&calls, |key| u64::from(key[key.len() - 2]))?;
        }

        #[test]
        fn one_byte_for_all_lets_one_connection_hold_everything(calls in calls()) {
            compare_bytes(&calls, |_| u64::MAX)?;
        }
    }

    /// What two versions of this program must agree on to see each other's locks.
    #[test]
    fn the_hash_stays_what_it_was() {
        assert_eq!(hash(b"Person\0"), 7_311_263_551_463_171_619);
    }
}
