//! Backups attacked: processes killed at every step of making one, and disks that fill up.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use caretdb::engine::Durability;
use caretdb::store::Store;

use crate::child::{backup_of, wait_until};
use crate::damage::store_in;
use crate::kills::Scene;
use crate::model;

/// Places that a process passes which makes a backup.
const BACKUP: &[&str] =
    &["backup-begun", "copy-piece", "copy-written", "backup-copied", "backup-synced", "backup-renamed"];

const DURABILITIES: [Durability; 3] = [Durability::Process, Durability::Relaxed, Durability::Strict];

/// Makes a store with more than one piece of a copy in it, with a process that writes on.
fn filled(durability: Durability) -> Scene {
    let scene = Scene::new(durability);
    let store = model::store(&scene.store, durability).unwrap();
    let mut session = store.session().unwrap();
    for number in 0..20_000_u32 {
        session.put(format!("z filler {number:06}").as_bytes(), &[b's'; 500]).unwrap();
    }
    scene
}

fn forget_filler(folder: &std::path::Path, durability: Durability) {
    let store = model::store(folder, durability).unwrap();
    let mut batch = caretdb::engine::Batch::new();
    batch.delete_range(b"z", b"{");
    store.session().unwrap().apply(&batch).unwrap();
}

/// A backup whose process is killed is there whole, or not at all, and the next one takes no notice of it; the store has
/// lost nothing.
#[test]
fn a_killed_backup_leaves_no_half_store() {
    for durability in DURABILITIES {
        for place in BACKUP {
            let what = format!("{} killed at {place}", durability.name());
            let scene = filled(durability);
            let writer = scene.start("write", "", 0);
            wait_until("the writer", || scene.progress.committed() > 5);
            let least = scene.progress.committed();
            let mut child = scene.start("backup", &format!("{place}:1:kill"), 0);
            assert!(child.ends_within(Duration::from_secs(60)), "{what}: it hangs");
            let target = backup_of(&scene.store);
            assert_eq!(target.exists(), *place == "backup-renamed", "{what}");
            if target.exists() {
                forget_filler(&target, durability);
                let copy = model::store(&target, durability).unwrap();
                assert!(model::verify(&*copy, &scene.progress) >= least, "{what}");
                drop(copy);
                fs::remove_dir_all(&target).unwrap();
            }
            let least = scene.progress.committed();
            let mut again = scene.start("backup", "", 0);
            assert!(again.ends_within(Duration::from_secs(60)), "{what}: the next one hangs");
            assert_eq!(scene.progress.numbers().failed.load(Ordering::SeqCst), 0, "{what}: the next one failed");
            assert!(!target.with_extension("backup.partial").exists(), "{what}");
            writer.kill();
            forget_filler(&target, durability);
            let copy = model::store(&target, durability).unwrap();
            assert!(model::verify(&*copy, &scene.progress) >= least, "{what}");
            forget_filler(&scene.store, durability);
            scene.verify(1, &what);
        }
    }
}

/// What a backup of a store without a durable file becomes when its first opening is cut short again and again.
#[test]
fn a_backup_survives_kills_of_its_first_opener() {
    for durability in DURABILITIES {
        for place in crate::kills::CYCLING {
            let scene = Scene::new(durability);
            let mut child = scene.start("once", "", 1);
            assert!(child.ends_within(Duration::from_secs(60)));
            let mut child = scene.start("backup", "", 1);
            assert!(child.ends_within(Duration::from_secs(60)));
            fs::remove_dir_all(&scene.store).unwrap();
            fs::rename(backup_of(&scene.store), &scene.store).unwrap();
            // Without a log a restart of the machine makes a new store.
            let boots = if durability == Durability::Process { [0, 0] } else { [2, 3] };
            for boot in boots {
                let mut child = scene.start("once", &format!("{place}:1:kill"), boot);
                assert!(child.ends_within(Duration::from_secs(60)));
            }
            scene.verify(1, &format!("{} killed at {place} of the first opening", durability.name()));
        }
    }
}

/// A disk that fills up while a backup is written gives the code for that, nothing is left of the backup, and the store
/// has lost nothing.
#[test]
fn a_full_disk_ends_a_backup_and_leaves_nothing() {
    let Some(disk) = crate::rules::SmallDisk::mount(8) else { return };
    for durability in DURABILITIES {
        let scene = filled(durability);
        let store = Store::open(Some(&scene.store), &model::options(Some(durability))).unwrap();
        let target = disk.path().join("backup");
        let error = store.backup(&target, None, &mut |_, _| Ok(())).unwrap_err();
        assert_eq!(error.code(), "ERR_DISK_FULL", "{error}");
        assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0, "something was left");
        store.backup(&backup_of(&scene.store), None, &mut |_, _| Ok(())).unwrap();
    }
}

/// Places that a process passes which makes a store small.
const COMPACT: &[&str] = &[
    "open-settled",
    "copy-piece",
    "copy-written",
    "compact-written",
    "compact-renamed",
    "compact-disowned",
    "rebuild-begun",
    "rebuild-copied",
    "open-finished",
    "close-closed",
];

/// Compacting loses nothing, wherever it is killed, after processes that were killed too.
#[test]
fn a_killed_compact_loses_nothing() {
    for durability in DURABILITIES {
        for place in COMPACT {
            let what = format!("{} killed at {place}", durability.name());
            let scene = filled(durability);
            let writer = scene.start("write", "", 0);
            wait_until("the writer", || scene.progress.committed() > 30);
            writer.kill();
            let mut child = scene.start("compact", &format!("{place}:1:kill"), 0);
            assert!(child.ends_within(Duration::from_secs(60)), "{what}: it hangs");
            let mut again = scene.start("compact", "", 0);
            assert!(again.ends_within(Duration::from_secs(60)), "{what}: the next one hangs");
            forget_filler(&scene.store, durability);
            scene.verify(1, &what);
        }
    }
}

/// A store that shrank takes little room once it is compact, and one in use is refused.
#[test]
fn compacting_gives_space_back_and_refuses_a_store_in_use() {
    for durability in DURABILITIES {
        let scene = filled(durability);
        forget_filler(&scene.store, durability);
        let user = scene.start("stay", "", 0);
        wait_until("the user", || scene.progress.committed() == 10);
        let compact = || caretdb::engine::lmdb::compact(&scene.store, &mut |_, _| Ok(()));
        assert_eq!(compact().unwrap_err().code(), "ERR_LOCKED");
        user.kill();
        let size = || model::store(&scene.store, durability).unwrap().stats().unwrap().disk_bytes;
        let before = size();
        compact().unwrap();
        assert!(size() * 3 < before, "{} from {before}", size());
        scene.verify(0, "compact");
    }
}

/// A store that a check finds sound, and a backup of it.
fn with_backup() -> (Scene, u64) {
    let scene = Scene::new(Durability::Relaxed);
    store_in(scene.store.parent().unwrap(), Durability::Relaxed);
    let mut backup = scene.start("backup", "", 0);
    assert!(backup.ends_within(Duration::from_secs(60)));
    let nodes = nodes_in(&scene.store);
    (scene, nodes)
}

fn nodes_in(folder: &std::path::Path) -> u64 {
    let found = caretdb::check::check(folder, &mut |_, _| Ok(())).unwrap();
    assert_eq!(found.damaged, 0, "{}: {:?}", folder.display(), found.damage);
    found.nodes
}

/// A restore that is killed leaves the old store, the new one, or the old one aside and the new one beside it.
#[test]
fn a_killed_restore_leaves_both_stores_whole() {
    for place in ["copy-written", "restore-aside", "backup-synced", "backup-renamed"] {
        let (scene, nodes) = with_backup();
        let mut child = scene.start("restore", &format!("{place}:1:kill"), 0);
        assert!(child.ends_within(Duration::from_secs(60)), "{place}: it hangs");
        let aside = scene.store.with_file_name("store.replaced-1");
        assert_eq!(aside.exists(), place != "copy-written", "{place}");
        assert_eq!(scene.store.exists(), ["copy-written", "backup-renamed"].contains(&place), "{place}");
        for folder in [&scene.store, &aside, &backup_of(&scene.store)] {
            if folder.exists() {
                assert_eq!(nodes_in(folder), nodes, "{place}: {}", folder.display());
            }
        }
        let mut again = scene.start("restore", "", 0);
        assert!(again.ends_within(Duration::from_secs(60)), "{place}: the next one hangs");
        assert_eq!(scene.progress.numbers().failed.load(Ordering::SeqCst), 0, "{place}: the next one failed");
        assert_eq!(nodes_in(&scene.store), nodes, "{place}");
    }
}

/// A store in use is not restored over, and a damaged backup replaces nothing.
#[test]
fn a_restore_refuses_what_would_lose_something() {
    let (scene, nodes) = with_backup();
    let from = backup_of(&scene.store);
    let restore = |force| {
        let restored = caretdb::restore::restore(&from, &scene.store, force, &mut |_, _| Ok(()));
        restored.map_or_else(|error| error.code(), |_| "none")
    };
    assert_eq!(restore(false), "ERR_ARG");
    let open = Store::open(Some(&scene.store), &model::options(None)).unwrap();
    assert_eq!(restore(true), "ERR_LOCKED");
    drop(open);
    let file = fs::OpenOptions::new().write(true).open(from.join("durable.mdb")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[0; 4096], 5 * 4096).unwrap();
    assert_eq!(restore(true), "ERR_CORRUPT");
    assert_eq!(nodes_in(&scene.store), nodes);
}

/// A process that stands still while it closes the store is named to the next opener, within that one's timeout.
#[test]
fn a_process_that_stands_still_while_it_closes_is_named() {
    let scene = Scene::new(Durability::Relaxed);
    let child = scene.start("cycle", "close-closed:1:stop", 0);
    wait_until("the child to stand still", || child.is_stopped());
    let options = caretdb::engine::Options { timeout: Some(Duration::from_millis(300)), ..model::options(None) };
    let error = caretdb::engine::open(&scene.store, &options).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "ERR_LOCKED");
    assert!(error.to_string().contains(&format!("process {} ", child.number())), "{error}");
    child.signal(libc::SIGCONT);
    wait_until("the child to go on", || scene.progress.committed() > 10);
    child.kill();
    scene.verify(1, "after a process stood still");
}
