//! Stores that earlier versions wrote. `store-1` has format 1: some entries are in the durable file, the others only in
//! the log, as after a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use caretdb::engine::{Durability, Engine, Options, open};

use crate::model;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("__test__/crash/store-1")
}

fn value(number: u8) -> Vec<u8> {
    let length = if number % 10 == 3 { 9_000 } else { 20 };
    std::iter::once(b's').chain((0..length).map(|at: u32| number.wrapping_add(at as u8))).collect()
}

fn write(store: &dyn Engine, numbers: std::ops::Range<u8>) {
    let mut session = store.session().unwrap();
    for number in numbers {
        session.put(format!("made {number:02}").as_bytes(), &value(number)).unwrap();
    }
    store.sync().unwrap();
}

/// Every version opens what the first one wrote.
#[test]
fn a_store_of_format_1_opens_with_everything() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture()).unwrap().flatten() {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let store = model::store(folder.path(), Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    let mut found = Vec::new();
    for number in 0..40 {
        assert!(session.get(format!("made {number:02}").as_bytes(), &mut found).unwrap(), "{number}");
        assert_eq!(found, value(number), "{number}");
    }
    session.put(b"made 99", b"safter").unwrap();
}

/// Not a test: writes the fixture anew, when a new format makes one necessary.
#[test]
#[ignore = "writes a fixture into the repository"]
fn makes_the_fixture() {
    let folder = tempfile::tempdir().unwrap();
    write(&*model::store(folder.path(), Durability::Relaxed).unwrap(), 0..20);
    let slow = Options { flush_interval: Duration::from_secs(600), ..model::options(None) };
    let store = open(folder.path(), &slow).unwrap();
    write(&*store, 20..40);
    fs::create_dir_all(fixture()).unwrap();
    for entry in fs::read_dir(folder.path()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name == "header" || name == "durable.mdb" || name.starts_with("log.") {
            let mut bytes = fs::read(entry.path()).unwrap();
            // The room behind the last frame says nothing.
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| (at + 1).next_multiple_of(4));
            bytes.truncate(if name.starts_with("log.") { used } else { bytes.len() });
            fs::write(fixture().join(name), bytes).unwrap();
        }
    }
}
