//! Stores that may only be read: on a read-only file system, and as a user who may not write; and stores of other machines.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use caretdb::engine::{Durability, Engine, Options, open};
use caretdb::error::Error;
use caretdb::store::Store;

use crate::child::{backup_of, wait_until};
use crate::kills::Scene;
use crate::model;
use crate::rules::SmallDisk;

const DURABILITIES: [Durability; 3] = [Durability::Process, Durability::Relaxed, Durability::Strict];

fn reading() -> Options {
    Options { create: false, read_only: true, timeout: Some(Duration::from_millis(300)), ..Options::default() }
}

fn error_of(opened: Result<Box<dyn Engine>, Error>) -> String {
    opened.map_or_else(|error| format!("{} {error}", error.code()), |_| "none".to_owned())
}

/// Everything is there, writing is refused, and the folder holds what it held.
fn is_whole(folder: &Path, scene: &Scene) {
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let store = open(folder, &reading()).unwrap();
    assert_eq!(model::verify(&*store, &scene.progress), scene.progress.committed());
    let mut session = store.session().unwrap();
    assert_eq!(session.put(b"n", b"s").unwrap_err().code(), "ERR_READ_ONLY");
    session.begin().unwrap();
    assert_eq!(model::number(&mut *session), scene.progress.committed());
    session.commit().unwrap();
    assert!(!session.seek(caretdb::engine::Bound::Before(b"a"), &mut Vec::new(), None).unwrap());
    assert!(store.stats().unwrap().warnings[0].contains("only be read"));
    assert_eq!(names(), before);
}

/// A store with ten transactions in a folder of its own on `disk`, closed.
fn closed_on(disk: &Path, durability: Durability) -> Scene {
    let scene = Scene::new(durability);
    let folder = disk.join(durability.name());
    fs::create_dir(&folder).unwrap();
    fs::remove_dir(&scene.store).unwrap();
    std::os::unix::fs::symlink(&folder, &scene.store).unwrap();
    assert!(scene.start("once", "", 0).ends_within(Duration::from_secs(60)));
    scene
}

/// Another test's child has this process's files open until it has begun its own program: the disk is busy for that moment.
fn remount(disk: &Path, how: &str) {
    let option = format!("remount,{how}");
    wait_until("the disk", || Command::new("mount").args(["-o", &option]).arg(disk).status().unwrap().success());
}

/// A store that was closed opens on a read-only file system, with `readOnly` only, and is copied from there.
#[test]
fn a_closed_store_opens_on_a_read_only_file_system() {
    let Some(disk) = SmallDisk::mount(64) else { return };
    for durability in DURABILITIES {
        let scene = closed_on(disk.path(), durability);
        remount(disk.path(), "ro");
        is_whole(&scene.store, &scene);
        let refused = error_of(open(&scene.store, &Options { create: false, ..Options::default() }));
        assert!(refused.starts_with("ERR_IO") && refused.contains("readOnly: true"), "{refused}");
        let target = backup_of(&scene.store);
        let store = Store::open(Some(&scene.store), &reading()).unwrap();
        store.backup(&target, None, &mut |_, _| Ok(())).unwrap();
        drop(store);
        let copy = model::store(&target, durability).unwrap();
        assert_eq!(model::verify(&*copy, &scene.progress), scene.progress.committed());
        remount(disk.path(), "rw");
        scene.verify(0, "written again");
    }
}

/// So does a copy of it, which only has the durable file to trust; and a store whose processes were killed, or the error
/// says what must be done first.
#[test]
fn a_store_that_was_not_closed_is_whole_or_refused_on_a_read_only_file_system() {
    let Some(disk) = SmallDisk::mount(64) else { return };
    let scene = closed_on(disk.path(), Durability::Relaxed);
    let child = scene.start("stay", "checkpoint-begun:1:stop", 0);
    wait_until("the child", || scene.progress.committed() == 20);
    child.kill();
    remount(disk.path(), "ro");
    is_whole(&scene.store, &scene);
    remount(disk.path(), "rw");
    // Another machine's: the working file means nothing, and the log waits.
    fs::remove_file(scene.store.join("working.mdb")).unwrap();
    remount(disk.path(), "ro");
    let refused = error_of(open(&scene.store, &reading()));
    assert!(refused.starts_with("ERR_READ_ONLY") && refused.contains("in its log"), "{refused}");
    remount(disk.path(), "rw");
    scene.verify(0, "brought up");
    fs::remove_file(scene.store.join("working.mdb")).unwrap();
    remount(disk.path(), "ro");
    is_whole(&scene.store, &scene);
}

/// Runs `f` on a thread that may do what a user without any rights may. False where this process cannot become one.
fn as_nobody(f: impl FnOnce() + Send) -> bool {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the calls change the rights of this thread only, and only what they are asked for.
            let became = unsafe {
                libc::geteuid() == 0
                    && libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<u32>()) == 0
                    && libc::syscall(libc::SYS_setfsgid, 65_534) >= 0
                    && libc::syscall(libc::SYS_setfsuid, 65_534) >= 0
                    && libc::syscall(libc::SYS_setfsuid, 65_534) == 65_534
            };
            if became {
                f();
            } else {
                println!("SKIPPED: only root can become a user without rights");
            }
            became
        });
        thread.join().unwrap()
    })
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A user who may read a store and not write there reads it while nobody writes, and keeps those out who would.
#[test]
fn a_user_who_may_only_read_reads_and_is_told() {
    let scene = Scene::new(Durability::Relaxed);
    assert!(scene.start("once", "", 0).ends_within(Duration::from_secs(60)));
    allow(scene.store.parent().unwrap(), 0o755);
    allow(&scene.store, 0o755);
    for entry in fs::read_dir(&scene.store).unwrap().flatten() {
        allow(&entry.path(), 0o644);
    }
    let could = as_nobody(|| {
        let refused = error_of(open(&scene.store, &Options { create: false, ..Options::default() }));
        assert!(refused.starts_with("ERR_IO cannot write to the store"), "{refused}");
        assert!(refused.contains(&*scene.store.to_string_lossy()), "{refused}");
        is_whole(&scene.store, &scene);
    });
    if !could {
        return;
    }
    let user = scene.start("stay", "", 0);
    wait_until("the user", || scene.progress.committed() == 20);
    as_nobody(|| assert!(error_of(open(&scene.store, &reading())).starts_with("ERR_LOCKED")));
    user.kill();
    let mut reader = None;
    as_nobody(|| {
        reader = Some(open(&scene.store, &reading()).unwrap());
        is_whole(&scene.store, &scene);
    });
    let hasty = Options { timeout: Some(Duration::from_millis(100)), ..Options::default() };
    let refused = error_of(open(&scene.store, &hasty));
    assert!(refused.starts_with("ERR_LOCKED") && refused.contains("may not write there"), "{refused}");
    drop(reader);
    scene.verify(0, "after readers");

    allow(&scene.store.join("header"), 0o600);
    as_nobody(|| {
        let refused = error_of(open(&scene.store, &reading()));
        assert!(refused.starts_with("ERR_IO") && refused.contains("store/header"), "{refused}");
    });
    allow(&scene.store, 0o700);
    as_nobody(|| {
        for options in [reading(), Options::default()] {
            let refused = error_of(open(&scene.store, &options));
            assert!(refused.starts_with("ERR_IO") && refused.contains(&*scene.store.to_string_lossy()), "{refused}");
        }
        let elsewhere = scene.store.join("new");
        let refused = Store::open(Some(&elsewhere), &Options::default()).map(|_| ()).unwrap_err();
        assert_eq!(refused.code(), "ERR_IO");
        assert!(refused.to_string().contains(&*elsewhere.to_string_lossy()), "{refused}");
    });
    scene.verify(0, "with the owner's rights");
}

/// What came from another machine opens: another boot, other inodes, and the marks of processes in other containers.
#[test]
fn the_files_of_another_machine_open() {
    for durability in [Durability::Relaxed, Durability::Strict] {
        let scene = Scene::new(durability);
        let child = scene.start("stay", "checkpoint-begun:1:stop", 7);
        wait_until("the child", || scene.progress.committed() == 10);
        wait_until("the child to stand still", || child.is_stopped());
        child.kill();
        let there = scene.store.with_extension("there");
        fs::rename(&scene.store, &there).unwrap();
        fs::create_dir(&scene.store).unwrap();
        let copied = Command::new("cp").args(["-r", "--sparse=always"]).arg(there.join(".")).arg(&scene.store).status();
        assert!(copied.unwrap().success());
        for name in ["open.4026530000.1", "open.0.77"] {
            fs::write(scene.store.join(name), "/there/caretdb.node").unwrap();
        }
        assert!(scene.start("once", "", 8).ends_within(Duration::from_secs(60)));
        assert_eq!(scene.progress.committed(), 20, "{}", durability.name());
        assert!(!scene.store.join("open.4026530000.1").exists() && !scene.store.join("open.0.77").exists());
        scene.verify(0, "on another machine");
    }
}
