//! Power cuts, simulated: see [`crate::disk`].

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caretdb::engine::Durability;

use crate::child::{Orders, Progress};
use crate::{disk, model};

/// What a cut has shown.
#[derive(Default)]
pub struct Told {
    pub cuts: u64,
    pub committed: u64,
    pub lost: u64,
}

/// Lets three threads write until the power fails at the n-th sync, opens what the disk held, and makes sure that nothing
/// is missing that was promised.
pub fn cut(n: u64, durability: Durability, told: &mut Told) {
    cut_on(n, durability, false, told);
}

/// The same on a file system where a reservation of blocks is no promise, if that is wanted.
fn cut_on(n: u64, durability: Durability, unreserved: bool, told: &mut Told) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    fs::create_dir(&store).unwrap();
    let part = format!("{} {n}", if unreserved { "cut-unreserved" } else { "cut" });
    let mut child = Orders { store: &store, durability, part: &part, fault: "", boot: 1 }.start();
    assert!(child.ends_within(Duration::from_secs(120)), "the power was never cut");
    drop(child);
    let progress = Progress::of(&store);
    let numbers = progress.numbers();
    assert_eq!(numbers.failed.load(Ordering::SeqCst), 0, "the child met an error");
    let image = disk::image_of(&store);
    assert!(image.join("complete").exists(), "the disk was not copied");
    fs::remove_file(image.join("complete")).unwrap();

    let found = reopen(&image, durability, &progress);
    let committed = progress.committed();
    let (synced, flushed) = (numbers.synced.load(Ordering::SeqCst), numbers.flushed.load(Ordering::SeqCst));
    let kept = folder.path().display();
    assert!(found >= synced, "{kept}: {found} found, but {synced} was acknowledged by a sync");
    assert!(found >= flushed, "{kept}: {found} found, but {flushed} was flushed");
    assert!(found <= committed + 2, "{kept}: {found} found, but only {committed} were ever committed");
    told.cuts += 1;
    told.committed += committed;
    told.lost += committed.saturating_sub(found);
}

/// Opens what is left, verifies it, goes on writing, and makes sure that the next opening finds that too.
fn reopen(image: &Path, durability: Durability, progress: &Progress) -> u64 {
    let store = match model::store(image, durability) {
        Ok(store) => store,
        Err(error) => panic!("{}: does not open: {error}", image.display()),
    };
    let found = model::verify(&*store, progress);
    let mut session = store.session().unwrap();
    for _ in 0..10 {
        model::next(&mut *session, progress, true).unwrap();
    }
    drop(session);
    drop(store);
    let store = model::store(image, durability).unwrap();
    assert_eq!(model::verify(&*store, progress), found + 10, "{}: what was written afterwards", image.display());
    found
}

/// After a power cut the store opens at a state that some prefix of the transactions made, with everything that a flush
/// or a sync had made durable.
#[test]
fn a_power_cut_loses_nothing_that_was_flushed() {
    let mut told = Told::default();
    for n in [1, 2, 3, 5, 7, 8, 9, 10, 11, 13, 17, 23, 31, 40, 55, 70, 90, 120, 160, 220] {
        cut(n, Durability::Relaxed, &mut told);
    }
    assert!(told.lost < told.committed, "nothing was ever flushed");
}

/// The same with `strict`: nothing that a sync acknowledged is missing.
#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let mut told = Told::default();
    for n in [6, 12, 19, 26, 37, 48, 66, 84, 130, 250] {
        cut(n, Durability::Strict, &mut told);
    }
    assert!(told.committed > 0);
}

/// The same where blocks cannot be reserved, so that log and working file are written with system calls.
#[test]
fn a_power_cut_loses_nothing_where_blocks_cannot_be_reserved() {
    let mut told = Told::default();
    for n in [9, 21, 33, 58, 99, 170] {
        cut_on(n, Durability::Relaxed, true, &mut told);
    }
    assert!(told.lost < told.committed, "nothing was ever flushed");
}
