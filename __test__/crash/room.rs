//! Disks that really are full: small file systems in memory, where this process may mount some.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caretdb::engine::{Durability, Engine, Options, Session, open};

use crate::kills::Scene;
use crate::model;
use crate::rules::SmallDisk;

const SIZE: usize = 900;

fn key(number: u32) -> Vec<u8> {
    format!("key {number:08}").into_bytes()
}

fn value(number: u32) -> Vec<u8> {
    [b"s".as_slice(), &number.to_be_bytes(), &[7; SIZE]].concat()
}

/// A store whose threads come too late for everything, so that a writer has to help itself.
fn left_alone(folder: &Path) -> Box<dyn Engine> {
    fs::create_dir(folder).unwrap();
    let options = Options { flush_interval: Duration::from_secs(60), ..model::options(Some(Durability::Relaxed)) };
    open(folder, &Options { log_limit: 512 << 20, ..options }).unwrap()
}

/// Puts until the disk is full. How many values were stored.
fn fill(session: &mut dyn Session) -> u32 {
    for number in 0.. {
        if let Err(error) = session.put(&key(number), &value(number)) {
            assert_eq!(error.code(), "ERR_DISK_FULL");
            return number;
        }
    }
    unreachable!("a disk has an end")
}

/// The log is no reason to refuse a write: before the disk is full it gives back what the durable file has.
#[test]
fn a_log_that_fills_the_disk_gives_way_to_writes() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let folder = disk.path().join("store");
    let store = left_alone(&folder);
    let mut session = store.session().unwrap();
    // Ten times what the disk holds.
    for number in 0..(240 << 20) / SIZE as u32 {
        session.put(&key(number % 1_000), &value(number)).unwrap_or_else(|error| panic!("write {number}: {error}"));
    }
    store.sync().unwrap();
    drop((session, store));
    fs::remove_file(folder.join("working.mdb")).unwrap();
    let store = model::store(&folder, Durability::Relaxed).unwrap();
    let (mut session, mut found) = (store.session().unwrap(), Vec::new());
    let last = (240 << 20) / SIZE as u32 - 1;
    assert!(session.get(&key(last % 1_000), &mut found).unwrap() && found == value(last));
}

/// Deleting makes room for writes on a full disk, at once.
#[test]
fn deletes_on_a_full_disk_make_room_at_once() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let store = left_alone(&disk.path().join("store"));
    let mut session = store.session().unwrap();
    let ballast = disk.path().join("ballast");
    // What the durable file needs before the log gives its files back: as much as they hold, which is up to 3 MiB here.
    fs::write(&ballast, vec![1; 4 << 20]).unwrap();
    let stored = fill(&mut *session);
    let refused = session.put(&key(stored), &value(stored)).unwrap_err();
    assert_eq!(refused.code(), "ERR_DISK_FULL");
    fs::remove_file(&ballast).unwrap();
    let mut batch = caretdb::engine::Batch::new();
    batch.delete_range(&key(0), &key(stored / 2));
    session.apply(&batch).unwrap();
    for number in 0..stored / 4 {
        session.put(&key(number), &value(number)).unwrap_or_else(|error| panic!("write {number} of {stored}: {error}"));
    }
    let mut found = Vec::new();
    assert!((stored / 2..stored).all(|n| session.get(&key(n), &mut found).unwrap() && found == value(n)));
}

/// The same where blocks cannot be reserved, so that the disk is found full while something is written or flushed.
#[test]
fn a_full_disk_without_reserved_blocks_loses_nothing() {
    for fault in ["", "flush-sync:3:full"] {
        let Some(disk) = SmallDisk::mount(24) else { return };
        let ballast = disk.path().join("ballast");
        fs::write(&ballast, vec![1; 18 << 20]).unwrap();
        let folder = disk.path().join("store");
        fs::create_dir(&folder).unwrap();
        let scene = Scene::new(Durability::Relaxed);
        // What the processes tell lies beside the store, and must not need the full disk.
        fs::remove_dir(&scene.store).unwrap();
        std::os::unix::fs::symlink(&folder, &scene.store).unwrap();
        let mut child = scene.start("write-unreserved", fault, 0);
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_secs(3) && !child.ends_within(Duration::from_millis(50)) {}
        child.kill();
        assert!(scene.progress.committed() > 10, "{fault}");
        fs::remove_file(&ballast).unwrap();
        scene.progress.numbers().failed.store(0, Ordering::SeqCst);
        scene.verify(1, &format!("a full disk without reserved blocks, {fault}"));
    }
}
