//! One test for each promise that is no kill and no power cut.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caretdb::engine::{Durability, Engine, Options, open};

use crate::child::{figure, wait_until};
use crate::kills::Scene;
use crate::model;

/// Does some transactions. The number of the last one.
fn fill(store: &dyn Engine, scene: &Scene, count: u64) -> u64 {
    let mut session = store.session().unwrap();
    (0..count).map(|_| model::next(&mut *session, &scene.progress, true).unwrap()).last().unwrap()
}

/// Copies a store's folder as a person would, once nobody writes there.
fn copy(store: Option<&dyn Engine>, from: &Path, to: &Path) {
    if let Some(store) = store {
        store.sync().unwrap();
        wait_until("the checkpointer", || figure(store, "backlogBytes") == 0);
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_name() == "working.mdb" {
            // The beginning is enough: this copy must never be used.
            let mut pages = vec![0; 1 << 20];
            std::os::unix::fs::FileExt::read_at(&fs::File::open(entry.path()).unwrap(), &mut pages, 0).unwrap();
            fs::write(target, pages).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn error_of(folder: &Path) -> String {
    match model::store(folder, Durability::Relaxed) {
        Ok(_) => "no error".to_owned(),
        Err(error) => format!("{} {error}", error.code()),
    }
}

/// A process that stands still while it flushes keeps nobody from flushing.
#[test]
fn a_stopped_flusher_keeps_nobody_waiting() {
    let scene = Scene::new(Durability::Strict);
    let child = scene.start("flush", "flush-begun:4:stop", 0);
    wait_until("the child to stand still", || child.is_stopped());
    let store = model::store(&scene.store, Durability::Strict).unwrap();
    let mut session = store.session().unwrap();
    let number = model::next(&mut *session, &scene.progress, false).unwrap();
    store.sync().unwrap();
    assert_eq!(figure(&*store, "unflushedBytes"), 0);
    assert_eq!(model::verify(&*store, &scene.progress), number);
    child.kill();
}

/// A process that stands still while it checkpoints lets the others write until the backlog is full, then they get an
/// error, and when it goes on they can write again.
#[test]
fn a_stopped_checkpointer_ends_in_an_error_and_not_in_a_hang() {
    let scene = Scene::new(Durability::Relaxed);
    let child = scene.start("stay", "checkpoint-begun:1:stop", 0);
    wait_until("the child to stand still", || child.is_stopped());
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    session.set_timeout(Some(Duration::from_millis(200)));
    let mut code = "";
    for _ in 0..2_000 {
        if let Err(error) = model::next(&mut *session, &scene.progress, false) {
            code = error.code();
            break;
        }
    }
    assert_eq!(code, "ERR_BUSY");
    child.signal(libc::SIGCONT);
    session.set_timeout(Some(Duration::from_secs(30)));
    model::next(&mut *session, &scene.progress, false).unwrap();
    model::verify(&*store, &scene.progress);
}

/// A transaction whose commit failed was told to have failed: it must not come back from the log.
#[test]
fn a_failed_commit_never_comes_back() {
    for boot in [0, 1] {
        let scene = Scene::new(Durability::Relaxed);
        let mut child = scene.start("write", "commit:5:fail", boot);
        assert!(child.ends_within(Duration::from_secs(30)));
        assert_eq!(scene.progress.committed(), 4);
        let store = model::store(&scene.store, Durability::Relaxed).unwrap();
        assert_eq!(model::verify(&*store, &scene.progress), 4);
    }
}

/// What a transaction rolled back, another one of the same length may take the place of.
#[test]
fn an_aborted_transaction_leaves_no_trace() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    for round in 0..20_u8 {
        session.begin().unwrap();
        session.put(b"same length", &[b's', round, 1]).unwrap();
        session.abort();
        session.put(b"same length", &[b's', round, 2]).unwrap();
    }
    let copied = scene.store.with_extension("copied");
    copy(Some(&*store), &scene.store, &copied);
    let store = model::store(&copied, Durability::Relaxed).unwrap();
    let mut value = Vec::new();
    assert!(store.session().unwrap().get(b"same length", &mut value).unwrap());
    assert_eq!(value, [b's', 19, 2]);
}

/// One transaction may be larger than the whole log may be.
#[test]
fn a_transaction_larger_than_the_log_is_whole() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    session.begin().unwrap();
    for number in 0..20_000_u32 {
        session.put(format!("large {number:06}").as_bytes(), &[b's'; 1000]).unwrap();
    }
    session.commit().unwrap();
    session.put(b"after", b"s").unwrap();
    let copied = scene.store.with_extension("copied");
    copy(Some(&*store), &scene.store, &copied);
    drop((session, store));
    for folder in [&copied, &scene.store] {
        let store = model::store(folder, Durability::Relaxed).unwrap();
        assert_eq!(store.stats().unwrap().entries, 20_001, "{}", folder.display());
        wait_until("the checkpointer", || figure(&*store, "backlogBytes") == 0);
    }
}

/// A copy of a store's folder has everything, though the file it uses is another one; so has the durable file alone,
/// once the store is closed.
#[test]
fn a_copied_folder_and_a_copied_durable_file_have_everything() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let number = fill(&*store, &scene, 400);
    let open_copy = scene.store.with_extension("open");
    copy(Some(&*store), &scene.store, &open_copy);
    drop(store);
    let closed_copy = scene.store.with_extension("closed");
    copy(None, &scene.store, &closed_copy);
    let durable = scene.store.with_extension("durable");
    fs::create_dir(&durable).unwrap();
    fs::copy(scene.store.join("durable.mdb"), durable.join("durable.mdb")).unwrap();
    for folder in [&open_copy, &closed_copy, &durable] {
        let store = model::store(folder, Durability::Relaxed).unwrap();
        assert_eq!(model::verify(&*store, &scene.progress), number, "{}", folder.display());
        fill(&*store, &scene, 5);
    }
}

/// The mark of a clean close goes before the first write: torn pages are never taken for whole ones.
#[test]
fn a_clean_mark_does_not_outlive_the_next_opening() {
    let scene = Scene::new(Durability::Relaxed);
    let mut first = scene.start("once", "", 1);
    assert!(first.ends_within(Duration::from_secs(30)));
    let writer = scene.start("write", "", 2);
    let before = scene.progress.committed();
    wait_until("the writer", || scene.progress.committed() > before + 20);
    writer.kill();
    let file = fs::OpenOptions::new().write(true).open(scene.store.join("working.mdb")).unwrap();
    for page in 0..8 {
        std::os::unix::fs::FileExt::write_all_at(&file, &[0xA5; 2048], page * 4096 + 1024).unwrap();
    }
    scene.verify(1, "torn pages in a file that was clean once");
}

/// A clean close makes the next opening use the working file as it is, after a restart too.
#[test]
fn a_clean_close_spares_the_rebuild() {
    let scene = Scene::new(Durability::Relaxed);
    for boot in 1..4 {
        let mut child = scene.start("once", "rebuild-begun:1:kill", boot);
        assert!(child.ends_within(Duration::from_secs(30)));
        // The first opening has to make the working file, which is a rebuild.
        let mut again = scene.start("once", "", boot);
        assert!(again.ends_within(Duration::from_secs(30)));
    }
    assert_eq!(scene.progress.numbers().closed.load(Ordering::SeqCst), 5);
    scene.verify(0, "after clean closes");
}

/// Durability belongs to the store: another one converts it, while nobody else has it open.
#[test]
fn another_durability_converts_the_store_when_nobody_else_has_it_open() {
    let scene = Scene::new(Durability::Process);
    let kinds = [Durability::Process, Durability::Relaxed, Durability::Strict, Durability::Process, Durability::Strict];
    let mut number = 0;
    for durability in kinds {
        let store = model::store(&scene.store, durability).unwrap();
        assert_eq!(store.durability(), Some(durability));
        assert_eq!(model::verify(&*store, &scene.progress), number);
        number = fill(&*store, &scene, 60);
        let has_durable_file = scene.store.join("durable.mdb").exists();
        assert_eq!(has_durable_file, durability != Durability::Process);
    }
    // Nothing said: the store keeps what it has.
    let store = open(&scene.store, &model::options(None)).unwrap();
    assert_eq!(store.durability(), Some(Durability::Strict));
    drop(store);
    let scene = Scene::new(Durability::Relaxed);
    let writer = scene.start("write", "", 0);
    wait_until("the writer", || scene.progress.committed() > 0);
    let refused = model::store(&scene.store, Durability::Strict).err().map(|error| error.code());
    assert_eq!(refused, Some("ERR_LOCKED"));
    writer.kill();
}

/// A disk that fails to sync the log once has perhaps forgotten what it was to write: the frames go to a new file.
#[test]
fn a_failed_sync_is_not_trusted_again() {
    let scene = Scene::new(Durability::Relaxed);
    let child = scene.start("write", "flush-sync:3:fail", 1);
    let numbers = scene.progress.numbers();
    wait_until("syncs that succeed all the same", || numbers.synced.load(Ordering::SeqCst) > 100);
    child.kill();
    scene.verify(1, "a disk that fails to sync");
}

/// No room for the log: the write fails with a code, nothing of it is stored, and the store works again later.
#[test]
fn a_full_disk_refuses_writes_and_loses_none() {
    let scene = Scene::new(Durability::Relaxed);
    let mut child = scene.start("write", "segment-create:2:full", 1);
    assert!(child.ends_within(Duration::from_secs(60)));
    assert_eq!(scene.progress.numbers().failed.swap(0, Ordering::SeqCst), 1);
    scene.verify(0, "a full disk");
    let mut again = scene.start("once", "", 1);
    assert!(again.ends_within(Duration::from_secs(30)));
    scene.verify(0, "room again");
}

/// A durable file that cannot be written stops the writers with its own error once the backlog is full, and loses nothing.
#[test]
fn a_durable_file_that_cannot_be_written_loses_nothing() {
    let scene = Scene::new(Durability::Relaxed);
    let mut child = scene.start("write", "checkpoint-commit:3:fail", 1);
    assert!(child.ends_within(Duration::from_secs(60)));
    assert_eq!(scene.progress.numbers().failed.swap(0, Ordering::SeqCst), 1);
    scene.verify(0, "a durable file that cannot be written");
}

/// A frame that was damaged on the disk, and all behind it, are left out; what comes before is there.
#[test]
fn a_damaged_frame_ends_the_replay() {
    let scene = Scene::new(Durability::Relaxed);
    let mut child = scene.start("write", "checkpoint-begun:1:kill", 1);
    assert!(child.ends_within(Duration::from_secs(60)));
    let log = fs::read_dir(&scene.store).unwrap().flatten().map(|e| e.path());
    let log = log.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log."))).min();
    let mut bytes = fs::read(log.as_ref().unwrap()).unwrap();
    bytes[3_000] ^= 1;
    fs::write(log.unwrap(), bytes).unwrap();
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    assert!(model::verify(&*store, &scene.progress) < scene.progress.committed());
}

/// Where the log is gone and the machine was not restarted, the working file has everything, and the durable file is made
/// anew from it.
#[test]
fn a_lost_log_is_made_up_for_by_the_working_file() {
    let scene = Scene::new(Durability::Relaxed);
    let writer = scene.start("write", "", 0);
    wait_until("the writer", || scene.progress.committed() > 50);
    writer.kill();
    for entry in fs::read_dir(&scene.store).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("log.") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    scene.verify(1, "without its log");
    fs::remove_file(scene.store.join("working.mdb")).unwrap();
    scene.verify(1, "from the new durable file");
}

/// What is damaged is said with the file's path and what to do, and nothing is changed.
#[test]
fn damage_is_told_with_path_and_advice() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let number = fill(&*store, &scene, 50);
    drop(store);
    let header = fs::read(scene.store.join("header")).unwrap();
    let durable = fs::read(scene.store.join("durable.mdb")).unwrap();

    let spoilt = |at: usize, with: &[u8]| {
        let mut bytes = header.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        fs::write(scene.store.join("header"), bytes).unwrap();
        error_of(&scene.store)
    };
    assert!(spoilt(0, b"GARBAGE!").starts_with("ERR_CORRUPT"));
    assert!(spoilt(8, &9_u32.to_le_bytes()).starts_with("ERR_FORMAT"));
    assert!(spoilt(16, &12_345_u64.to_le_bytes()).starts_with("ERR_CORRUPT"));
    fs::write(scene.store.join("header"), &header[..100]).unwrap();
    assert!(error_of(&scene.store).starts_with("ERR_CORRUPT"));
    // The header counts again when it is the same file with the same bytes; the working file is rebuilt in any case.
    fs::write(scene.store.join("header"), &header).unwrap();

    for bytes in [vec![0xA5; durable.len()], durable[..2_000].to_vec()] {
        fs::write(scene.store.join("durable.mdb"), bytes).unwrap();
        let error = error_of(&scene.store);
        assert!(error.starts_with("ERR_CORRUPT") && error.contains("durable.mdb"), "{error}");
    }
    fs::remove_file(scene.store.join("durable.mdb")).unwrap();
    let error = error_of(&scene.store);
    assert!(error.starts_with("ERR_CORRUPT") && error.contains("it is missing"), "{error}");
    fs::write(scene.store.join("durable.mdb"), &durable).unwrap();
    assert_eq!(model::verify(&*model::store(&scene.store, Durability::Relaxed).unwrap(), &scene.progress), number);
}

/// The last thing a process does is to flush: a normal end loses nothing, whoever else has the store open.
#[test]
fn a_normal_end_flushes_first() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let mut other = scene.start("once", "", 0);
    assert!(other.ends_within(Duration::from_secs(30)));
    let flushed = figure(&*store, "flushedBytes");
    assert_eq!(flushed, figure(&*store, "logBytes"));
    assert_eq!(model::verify(&*store, &scene.progress), 10);
}

/// So it is with `process.exit()`, which closes nothing.
#[test]
fn an_abrupt_exit_flushes_too() {
    let scene = Scene::new(Durability::Relaxed);
    let mut child = scene.start("exit", "", 0);
    assert!(child.ends_within(Duration::from_secs(30)));
    let slow = Options { flush_interval: Duration::from_secs(600), ..model::options(None) };
    let store = open(&scene.store, &slow).unwrap();
    let end = figure(&*store, "logBytes");
    assert!(end > 4096 && figure(&*store, "flushedBytes") == end);
    assert_eq!(model::verify(&*store, &scene.progress), 10);
}

/// Another folder that takes the store's name gets nothing of it.
#[test]
fn a_folder_replaced_underneath_is_left_alone() {
    let scene = Scene::new(Durability::Relaxed);
    let store = model::store(&scene.store, Durability::Relaxed).unwrap();
    let number = fill(&*store, &scene, 20);
    store.sync().unwrap();
    let moved = scene.store.with_extension("moved");
    fs::rename(&scene.store, &moved).unwrap();
    fs::create_dir(&scene.store).unwrap();
    let mut session = store.session().unwrap();
    // The segment in use is still there; the next one cannot be made.
    let refused =
        (0..3_000).find_map(|_| model::next(&mut *session, &scene.progress, true).err().map(|error| error.code()));
    assert_eq!(refused, Some("ERR_CLOSED"));
    assert_eq!(fs::read_dir(&scene.store).unwrap().count(), 0);
    drop((session, store));
    let store = model::store(&moved, Durability::Relaxed).unwrap();
    assert!(model::verify(&*store, &scene.progress) >= number);
}

/// A small file system in memory, for as long as this lives. None where this process may not mount one.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    pub fn mount(megabytes: u32) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]).arg(folder.path());
        let mounted = command.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success());
        if !mounted {
            println!("skipped: this process may not mount a file system");
        }
        mounted.then_some(SmallDisk(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// A disk that really is full: the writes get their code, what was stored stays, and with room again all goes on.
#[test]
fn a_small_disk_fills_and_nothing_breaks() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let folder = disk.path().join("store");
    fs::create_dir(&folder).unwrap();
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 8 << 20]).unwrap();
    let store = model::store(&folder, Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    let value = |number: u32| [b"s".as_slice(), &number.to_be_bytes(), &[7; 900]].concat();
    let mut stored = 0;
    let code = loop {
        match session.put(format!("key {stored:08}").as_bytes(), &value(stored)) {
            Ok(()) => stored += 1,
            Err(error) => break error.code(),
        }
    };
    assert_eq!(code, "ERR_DISK_FULL");
    let whole = |session: &mut dyn caretdb::engine::Session| {
        let mut found = Vec::new();
        (0..stored).all(|n| session.get(format!("key {n:08}").as_bytes(), &mut found).unwrap() && found == value(n))
    };
    assert!(stored > 1_000 && whole(&mut *session), "{stored}");
    fs::remove_file(&ballast).unwrap();
    session.put(b"room again", b"s").unwrap();
    store.sync().unwrap();
    wait_until("the checkpointer", || figure(&*store, "backlogBytes") == 0);
    drop((session, store));
    let store = model::store(&folder, Durability::Relaxed).unwrap();
    let mut session = store.session().unwrap();
    assert!(whole(&mut *session) && session.get(b"room again", &mut Vec::new()).unwrap());
}
