//! Opening, closing, and what lies in the folder.

use std::fs;
use std::path::Path;

use caretdb::engine::{self, Options};
use caretdb::error::Error;

use crate::store::{Store, all, long, open};

on_every_engine! {
    a_store_reopens_right_after_it_closed
    sync_and_stats_answer
    another_engine_does_not_open_the_store
    a_flush_interval_of_zero_works
}

#[test]
fn an_unknown_engine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open(folder.path(), "floppy"), Err(Error::Unsupported(text)) if text.contains("floppy")));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn sled_makes_no_store_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { engine: "sled".to_owned(), create: false, ..Options::default() };
    assert!(matches!(engine::open(folder.path(), &options), Err(Error::Io { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(open(folder.path(), "sled").unwrap());
    assert!(engine::open(folder.path(), &options).is_ok());
}

#[test]
fn a_damaged_sled_store_says_what_to_do() {
    let mut store = Store::new("sled");
    store.session().put(b"a", b"1").unwrap();
    store.close();
    fs::write(store.path().join("sled/conf"), "segment_size: no number\nuse_compression: false\nversion: 0.34")
        .unwrap();
    let Err(error) = open(store.path(), "sled") else { panic!("the damage went unnoticed") };
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("backup") && error.to_string().contains("sled"), "{error}");
}

/// sled throws away records that do not fit their checksum when it recovers, and panics at other damage. Whatever it
/// does, it must come out as an answer.
#[test]
fn a_sled_store_with_overwritten_records_never_panics() {
    let mut store = Store::new("sled");
    let mut session = store.session();
    for number in 0..4_000_u64 {
        session.put(format!("k{number:05}").as_bytes(), &long(400, number)).unwrap();
    }
    drop(session);
    store.close();
    let folder = store.path().join("sled");
    let mut refused = 0;
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    for name in names {
        let path = folder.join(&name);
        let Ok(whole) = fs::read(&path) else { continue };
        for place in (0..8).map(|eighth| whole.len() * eighth / 8) {
            let damaged = tempfile::tempdir().unwrap();
            copy(&folder, &damaged.path().join("sled"));
            let mut bytes = whole.clone();
            bytes[place..].iter_mut().take(64).for_each(|byte| *byte ^= 0x5A);
            fs::write(damaged.path().join("sled").join(&name), bytes).unwrap();
            let outcome = open(damaged.path(), "sled").and_then(|opened| Ok(all(&mut *opened.session()?).len()));
            if let Err(error) = outcome {
                refused += 1;
                assert!(matches!(error, Error::Corrupt { .. } | Error::Unsupported(_)), "damage at {place}: {error}");
                assert!(error.to_string().contains("sled"), "{error}");
            }
        }
    }
    assert!(refused > 0, "some of it is noticed");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn a_store_reopens_right_after_it_closed(store: &mut Store) {
    for number in 0..10_u8 {
        store.session().put(&[b'k', number], &long(5_000, 1)).unwrap();
        store.reopen();
        assert_eq!(all(&mut *store.session()).len(), usize::from(number) + 1);
    }
}

fn sync_and_stats_answer(store: &mut Store) {
    let mut session = store.session();
    for number in 0..100_u8 {
        session.put(&[b'k', number], b"v").unwrap();
    }
    store.engine().sync().unwrap();
    let stats = store.engine().stats().unwrap();
    assert_eq!(stats.entries, 100);
    assert!(stats.disk_bytes > 0);
    session.put(b"large", &long(3_000_000, 1)).unwrap();
    store.engine().sync().unwrap();
    assert!(store.engine().stats().unwrap().disk_bytes >= 3_000_000);
}

fn another_engine_does_not_open_the_store(store: &mut Store) {
    if store.name() == "postgres" {
        // It has no folder that could be taken for another engine's.
        return;
    }
    store.session().put(b"a", b"1").unwrap();
    store.close();
    let other = if store.name() == "lmdb" { "sled" } else { "lmdb" };
    let Err(error) = open(store.path(), other) else { panic!("the folder was taken for an empty one") };
    assert!(matches!(&error, Error::Unsupported(text) if text.contains(store.name())), "{error}");
    store.reopen();
    assert_eq!(all(&mut *store.session()).len(), 1);
}

fn a_flush_interval_of_zero_works(store: &mut Store) {
    store.close();
    let options = Options { flush_interval: std::time::Duration::ZERO, ..store.options() };
    let opened = store.open_with(&options).unwrap();
    opened.session().unwrap().put(b"a", b"1").unwrap();
    assert_eq!(all(&mut *opened.session().unwrap()).len(), 1);
}
