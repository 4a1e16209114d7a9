//! What M's LOCK promises inside one process, on both places where a store's locks can be: the folder and the table.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use caretdb::error::Error;
use caretdb::key::Key;
use caretdb::lock::{self, Locks, Table};
use caretdb::patience;
use parking_lot::Mutex;

const ONCE: Option<Duration> = Some(Duration::ZERO);

/// The key of a node, as `["Person", "1"]`.
fn node(path: &[&str]) -> Vec<u8> {
    let mut key = Key::new();
    key.global(path[0]).unwrap();
    path[1..].iter().for_each(|subscript| key.text(subscript).unwrap());
    key.as_bytes().to_vec()
}

/// Runs a test on each place, with something that makes connections to one store.
fn everywhere(test: impl Fn(&(dyn Fn() -> Locks + Sync))) {
    let folder = tempfile::tempdir().unwrap();
    test(&|| Locks::for_folder(folder.path()).unwrap());
    let table = Arc::new(Table::new());
    test(&|| Locks::in_process(Arc::clone(&table)));
}

/// Whether a connection that holds nothing gets the node at once. It gives it back.
fn free(connect: &dyn Fn() -> Locks, path: &[&str]) -> bool {
    connect().lock(&node(path), ONCE).unwrap()
}

#[test]
fn what_was_locked_twice_is_free_after_the_second_unlock() {
    everywhere(|connect| {
        let mut locks = connect();
        let person = node(&["Person", "1"]);
        assert!(locks.lock(&person, None).unwrap());
        assert!(locks.lock(&person, ONCE).unwrap());
        assert_eq!(locks.held(), 1);
        locks.unlock(&person).unwrap();
        assert!(!free(connect, &["Person", "1"]));
        locks.unlock(&person).unwrap();
        assert!(free(connect, &["Person", "1"]));
        assert_eq!(locks.held(), 0);
    });
}

#[test]
fn unlocking_what_is_not_held_changes_nothing() {
    everywhere(|connect| {
        let mut locks = connect();
        locks.unlock(&node(&["Person", "1"])).unwrap();
        assert!(locks.lock(&node(&["Person", "1", "city"]), ONCE).unwrap());
        locks.unlock(&node(&["Person", "1"])).unwrap();
        connect().unlock(&node(&["Person", "1", "city"])).unwrap();
        assert!(!free(connect, &["Person", "1", "city"]));
    });
}

#[test]
fn a_lock_covers_ancestors_and_descendants_and_leaves_siblings_alone() {
    everywhere(|connect| {
        let mut locks = connect();
        assert!(locks.lock(&node(&["Person", "1", "address"]), ONCE).unwrap());
        for path in [
            &["Person"][..],
            &["Person", "1"],
            &["Person", "1", "address"],
            &["Person", "1", "address", "city"],
            &["Person", "1", "address", "city", "\0", "-.5"],
        ] {
            assert!(!free(connect, path), "{path:?} overlaps");
        }
        for path in [
            &["Person", "1", "address1"][..],
            &["Person", "1", "addres"],
            &["Person", "1", "address\0"],
            &["Person", "10"],
            &["Person", "2", "address"],
            &["Person1", "1", "address"],
            &["Perso"],
        ] {
            assert!(free(connect, path), "{path:?} is somebody else");
        }
    });
}

#[test]
fn a_connection_is_never_in_its_own_way() {
    everywhere(|connect| {
        let mut locks = connect();
        let family = [node(&["A", "1"]), node(&["A"]), node(&["A", "1", "2"]), node(&["A", "2"])];
        for member in &family {
            assert!(locks.lock(member, ONCE).unwrap());
        }
        // The parent goes; its byte is still shared by the children, and no more than shared.
        locks.unlock(&family[1]).unwrap();
        assert!(!free(connect, &["A"]));
        assert!(free(connect, &["A", "3"]));
        locks.unlock(&family[0]).unwrap();
        assert!(!free(connect, &["A", "1"]));
        assert!(free(connect, &["A", "1", "3"]));
        locks.unlock(&family[2]).unwrap();
        assert!(free(connect, &["A", "1"]));
        locks.unlock(&family[3]).unwrap();
        assert!(free(connect, &["A"]));
    });
}

#[test]
fn a_lock_that_was_not_given_leaves_nothing_behind() {
    everywhere(|connect| {
        let (mut holder, mut refused) = (connect(), connect());
        assert!(holder.lock(&node(&["A", "1"]), ONCE).unwrap());
        assert!(!refused.lock(&node(&["A", "1", "2", "3"]), ONCE).unwrap());
        assert!(!refused.lock(&node(&["A"]), Some(Duration::from_millis(5))).unwrap());
        assert_eq!(refused.held(), 0);
        for path in [&["A"][..], &["A", "1", "2"], &["A", "1", "2", "3"], &["A", "1", "2", "3", "4"]] {
            assert!(holder.lock(&node(path), ONCE).unwrap(), "{path:?} is in nobody's way");
        }
        holder.unlock_all();
        assert_eq!(holder.held(), 0);
        assert!(free(connect, &["A"]));
    });
}

#[test]
fn a_refused_lock_keeps_what_the_connection_held_before() {
    everywhere(|connect| {
        let (mut one, mut other) = (connect(), connect());
        assert!(one.lock(&node(&["A", "1"]), ONCE).unwrap());
        assert!(other.lock(&node(&["A", "2"]), ONCE).unwrap());
        assert!(!one.lock(&node(&["A"]), ONCE).unwrap());
        assert!(!free(connect, &["A", "1"]));
        assert!(free(connect, &["A", "3"]));
        other.unlock(&node(&["A", "2"])).unwrap();
        assert!(one.lock(&node(&["A"]), ONCE).unwrap());
    });
}

#[test]
fn a_connection_that_closes_gives_everything_back() {
    everywhere(|connect| {
        let mut locks = connect();
        for path in [&["A", "1"][..], &["A", "1"], &["B"], &["C", "x", "y"]] {
            assert!(locks.lock(&node(path), ONCE).unwrap());
        }
        assert_eq!(locks.held(), 3);
        drop(locks);
        for path in [&["A"][..], &["B"], &["C"]] {
            assert!(free(connect, path));
        }
    });
}

#[test]
fn a_timeout_passes_before_the_answer_is_no() {
    everywhere(|connect| {
        let (mut holder, mut waiter) = (connect(), connect());
        assert!(holder.lock(&node(&["A"]), ONCE).unwrap());
        let begun = Instant::now();
        assert!(!waiter.lock(&node(&["A", "1"]), Some(Duration::from_millis(130))).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(130));
    });
}

#[test]
fn a_waiter_gets_the_lock_when_its_holder_lets_go() {
    for timeout in [None, Some(Duration::from_secs(600)), Some(Duration::MAX)] {
        everywhere(|connect| {
            let mut holder = connect();
            assert!(holder.lock(&node(&["A", "1"]), ONCE).unwrap());
            let (tell, told) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(move || {
                    let mut waiter = connect();
                    assert!(!waiter.lock(&node(&["A"]), ONCE).unwrap());
                    tell.send("waiting").unwrap();
                    assert!(waiter.lock(&node(&["A"]), timeout).unwrap());
                    tell.send("taken").unwrap();
                });
                assert_eq!(told.recv().unwrap(), "waiting");
                assert!(told.recv_timeout(Duration::from_millis(30)).is_err(), "it waits while the lock is held");
                holder.unlock(&node(&["A", "1"])).unwrap();
                assert_eq!(told.recv().unwrap(), "taken");
            });
        });
    }
}

#[test]
fn what_several_threads_use_is_free_for_the_others_while_one_waits() {
    everywhere(|connect| {
        let mut holder = connect();
        assert!(holder.lock(&node(&["A"]), ONCE).unwrap());
        let shared = Mutex::new(connect());
        thread::scope(|scope| {
            let waiter = scope.spawn(|| lock::lock_shared(&shared, &node(&["A"]), None).unwrap());
            let mut came_by = 0;
            for _ in 0..100 {
                thread::sleep(Duration::from_millis(1));
                came_by += usize::from(shared.try_lock().is_some_and(|mut locks| {
                    locks.lock(&node(&["B"]), ONCE).unwrap() && locks.unlock(&node(&["B"])).is_ok()
                }));
            }
            assert!(came_by > 50, "{came_by} of 100");
            holder.unlock_all();
            assert!(waiter.join().unwrap());
        });
        assert_eq!(shared.lock().held(), 1);
    });
}

#[test]
fn a_thread_that_should_stop_ends_its_wait_and_holds_nothing() {
    everywhere(|connect| {
        let mut holder = connect();
        assert!(holder.lock(&node(&["A", "1"]), ONCE).unwrap());
        thread::scope(|scope| {
            scope.spawn(|| {
                patience::ask_whether_stopping(|| true);
                let mut waiter = connect();
                assert!(matches!(waiter.lock(&node(&["A", "1", "2"]), None), Err(Error::Busy(_))));
                assert_eq!(waiter.held(), 0);
                assert!(holder.lock(&node(&["A", "1", "2"]), ONCE).unwrap());
            });
        });
    });
}

#[test]
fn threads_that_take_turns_lose_nothing() {
    everywhere(|connect| {
        let total = std::sync::atomic::AtomicU64::new(0);
        thread::scope(|scope| {
            for member in 0..4 {
                let total = &total;
                scope.spawn(move || {
                    let mut locks = connect();
                    // Parent and child by turns, so that both kinds of conflict occur.
                    let path = if member % 2 == 0 { node(&["A"]) } else { node(&["A", "1"]) };
                    for _ in 0..100 {
                        assert!(locks.lock(&path, None).unwrap());
                        // Read and write apart: without the lock, additions of two threads would run into one.
                        let seen = total.load(std::sync::atomic::Ordering::Relaxed);
                        thread::yield_now();
                        total.store(seen + 1, std::sync::atomic::Ordering::Relaxed);
                        locks.unlock(&path).unwrap();
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 400);
    });
}

#[test]
fn what_is_no_node_is_refused() {
    everywhere(|connect| {
        let mut locks = connect();
        for damaged in [&b""[..], b"Person", b"\0", b"Person\0\xC0city", b"Person\0\x01"] {
            assert!(matches!(locks.lock(damaged, ONCE), Err(Error::Internal(_))), "{damaged:?}");
            locks.unlock(damaged).unwrap();
        }
    });
}

#[test]
fn two_stores_have_nothing_to_do_with_each_other() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut here = Locks::for_folder(one.path()).unwrap();
    let mut there = Locks::for_folder(other.path()).unwrap();
    assert!(here.lock(&node(&["A"]), ONCE).unwrap());
    assert!(there.lock(&node(&["A"]), ONCE).unwrap());
}

#[test]
fn one_folder_under_two_names_is_one_store() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    let mut locks = Locks::for_folder(folder.path()).unwrap();
    let mut other = Locks::for_folder(&folder.path().join("inner").join("..")).unwrap();
    assert!(locks.lock(&node(&["A"]), ONCE).unwrap());
    assert!(!other.lock(&node(&["A"]), ONCE).unwrap());
}

#[test]
fn a_connection_that_never_locks_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut locks = Locks::for_folder(folder.path()).unwrap();
    locks.unlock(&node(&["A"])).unwrap();
    assert!(!folder.path().join("locks").exists());
    assert!(locks.lock(&node(&["A"]), ONCE).unwrap());
    assert!(folder.path().join("locks").exists());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = Locks::for_folder(Path::new("no/such/folder")).err().unwrap();
    assert_eq!(error.code(), "ERR_IO");
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}

#[test]
fn a_connection_may_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<Locks>();
}
