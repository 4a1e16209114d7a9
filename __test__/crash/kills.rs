//! Processes killed at named places and at random.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caretdb::engine::Durability;

use crate::child::{Child, Orders, Progress, wait_until};
use crate::model;

/// Places that a writing process passes.
pub const WRITING: &[&str] = &[
    "append-before-pending",
    "append-pending",
    "append-written",
    "segment-created",
    "segment-end",
    "committed",
    "accept-tail",
    "flush-begun",
    "flush-synced",
    "checkpoint-begun",
    "checkpoint-applied",
    "checkpoint-committed",
    "checkpoint-done",
];

/// Places that a process passes which opens and closes.
pub const CYCLING: &[&str] = &[
    "durable-made",
    "open-settled",
    "rebuild-begun",
    "rebuild-drained",
    "rebuild-marked",
    "rebuild-copied",
    "rebuild-renamed",
    "open-finished",
    "close-flushed",
    "close-synced",
    "close-closed",
    "close-marked",
];

/// A store in a folder of its own, and what its processes tell.
pub struct Scene {
    _folder: tempfile::TempDir,
    pub store: std::path::PathBuf,
    pub progress: Progress,
    pub durability: Durability,
}

impl Scene {
    pub fn new(durability: Durability) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        fs::create_dir(&store).unwrap();
        let progress = Progress::of(&store);
        Scene { _folder: folder, store, progress, durability }
    }

    pub fn start(&self, part: &str, fault: &str, boot: u64) -> Child {
        Orders { store: &self.store, durability: self.durability, part, fault, boot }.start()
    }

    /// Opens what is left and makes sure that every write that returned is there, and no more than `writers` others.
    pub fn verify(&self, writers: u64, what: &str) {
        let store = model::store(&self.store, self.durability).unwrap_or_else(|e| panic!("{what}: does not open: {e}"));
        let (found, committed) = (model::verify(&*store, &self.progress), self.progress.committed());
        assert!(found >= committed, "{what}: {found} found, but {committed} had returned");
        assert!(found <= committed + writers, "{what}: {found} found, but only {committed} had returned");
        assert_eq!(self.progress.numbers().failed.load(Ordering::SeqCst), 0, "{what}: a process met an error");
    }
}

/// Kills a writer at the n-th pass of a place, with or `beside` another writer, and looks at the store: in the same boot,
/// or after a restart of the machine that lost nothing, so that the rebuilt working file must have everything too.
pub fn kill_at(place: &str, pass: u64, beside: bool, restart: bool, durability: Durability) {
    let what = format!("killed at pass {pass} of {place}, beside another: {beside}, restart: {restart}");
    let scene = Scene::new(durability);
    let boot = u64::from(restart);
    let part = if beside { "share" } else { "write" };
    let other = beside.then(|| {
        let other = scene.start(part, "", boot);
        wait_until("the other writer", || scene.progress.committed() > 3);
        other
    });
    let mut victim = scene.start(part, &format!("{place}:{pass}:kill"), boot);
    assert!(victim.ends_within(Duration::from_secs(60)), "{what}: it never came there");
    if let Some(other) = other {
        let before = scene.progress.committed();
        wait_until("the survivor to write on", || scene.progress.committed() > before + 20);
        other.kill();
    }
    scene.verify(2, &what);
    let mut again = scene.start("once", "", boot);
    assert!(again.ends_within(Duration::from_secs(60)), "{what}: the next process hangs");
    scene.verify(2, &format!("{what}, then opened again"));
}

/// Kills a process that opens and closes, at the n-th pass of a place. Each opening is another boot for `rebuilding`.
pub fn kill_cycling_at(place: &str, pass: u64, durability: Durability) {
    let what = format!("killed at pass {pass} of {place}");
    let scene = Scene::new(durability);
    for boot in 1..40 {
        let mut child = scene.start("once", &format!("{place}:{pass}:kill"), boot);
        assert!(child.ends_within(Duration::from_secs(60)), "{what}: it hangs");
        if boot % 3 == 0 {
            // Without a clean mark, so that the next boot has to rebuild.
            let writer = scene.start("write", "", boot);
            let before = scene.progress.committed();
            wait_until("a writer", || scene.progress.committed() > before + 5);
            writer.kill();
        }
        if boot % 6 == 0 {
            scene.verify(1, &what);
        }
        if boot > 11 {
            break;
        }
    }
    scene.verify(1, &what);
}

/// Kills writers at random moments, again and again on one store.
pub fn kill_at_random(kills: u64, durability: Durability) {
    let scene = Scene::new(durability);
    for kill in 0..kills {
        let what = format!("random kill {kill}");
        // Without a log a restart of the machine makes a new store.
        let boot = if durability == Durability::Process { 0 } else { kill / 7 };
        let together = kill % 3 == 0;
        let part = if together {
            "share"
        } else if kill % 5 == 1 {
            "cycle"
        } else {
            "write"
        };
        let before = scene.progress.committed();
        let child = scene.start(part, "", boot);
        let other = together.then(|| scene.start(part, "", boot));
        wait_until("a writer", || scene.progress.committed() > before);
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 40_000));
        child.kill();
        if let Some(other) = other {
            other.kill();
        }
        scene.verify(2, &what);
        // The model of a store with many transactions takes long to make.
        if scene.progress.committed() > 4_000 {
            return kill_at_random(kills - kill - 1, durability);
        }
    }
}

#[test]
fn a_writer_killed_at_any_step_loses_no_returned_write() {
    for (index, place) in WRITING.iter().enumerate() {
        let pass = if place.starts_with("segment") { 1 } else { 2 };
        kill_at(place, pass, index % 2 == 0, index % 3 == 0, Durability::Relaxed);
    }
}

/// What a process logged and did not commit must not be taken for committed by those who live on: it would be in the
/// durable file, and not in the working file.
#[test]
fn a_frame_left_pending_is_cut_when_it_was_not_committed() {
    for pass in 2..6 {
        kill_at("append-written", pass, true, true, Durability::Relaxed);
    }
}

/// And what it had committed must be kept, though it never came to say so.
#[test]
fn a_frame_left_pending_is_kept_when_it_was_committed() {
    for pass in 2..6 {
        kill_at("committed", pass, true, true, Durability::Relaxed);
        kill_at("committed", pass, false, true, Durability::Relaxed);
    }
}

#[test]
fn a_process_killed_while_it_opens_or_closes_loses_no_returned_write() {
    for place in CYCLING {
        kill_cycling_at(place, 1, Durability::Relaxed);
    }
}

#[test]
fn writers_killed_at_random_lose_no_returned_write() {
    for durability in [Durability::Relaxed, Durability::Strict, Durability::Process] {
        kill_at_random(12, durability);
    }
}
