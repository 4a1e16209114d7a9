//! Many threads, each with a session of its own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use caretdb::engine::{Batch, Bound, Range};
use caretdb::error::Error;

use crate::store::{END, Store, all, count, delete, get, increment, scan_some, seek, transact, try_count};

on_every_engine! {
    four_threads_count_together
    transactions_of_threads_do_not_mix
    a_write_waits_for_a_transaction_until_its_timeout
    a_waiting_write_goes_on_after_the_commit
    a_patient_writer_gets_its_turn_beside_a_busy_one
    nobody_sees_half_a_batch
    a_session_moves_to_another_thread
    many_sessions_read_while_one_writes
}

const THREADS: u64 = 4;
/// How often each of them writes; a server is asked over the line.
fn each(store: &Store) -> u64 {
    if store.has_conflicts() { 60 } else { 500 }
}

fn four_threads_count_together(store: &mut Store) {
    let store = &*store;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut session = store.session();
                session.set_timeout(None);
                for _ in 0..each(store) {
                    increment(&mut *session, b"n").unwrap();
                }
            });
        }
    });
    assert_eq!(count(&mut *store.session(), b"n"), THREADS * each(store));
}

fn transactions_of_threads_do_not_mix(store: &mut Store) {
    let store = &*store;
    let turns = if store.has_conflicts() { 20 } else { 100 };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let mut session = store.session();
                session.set_timeout(None);
                for turn in 0..turns {
                    transact(&mut *session, |session| {
                        // Both counts stay equal for everybody, because each transaction changes both or none.
                        assert_eq!(try_count(session, b"a")?, try_count(session, b"b")?);
                        increment(session, b"a")?;
                        increment(session, b"b")?;
                        Ok(turn % 4 != thread)
                    });
                }
            });
        }
    });
    let mut session = store.session();
    assert_eq!((count(&mut *session, b"a"), count(&mut *session, b"b")), (turns * 3, turns * 3));
}

fn a_write_waits_for_a_transaction_until_its_timeout(store: &mut Store) {
    let mut session = store.session();
    session.begin().unwrap();
    session.put(b"a", b"mine").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = store.session();
            for timeout in [Duration::ZERO, Duration::from_millis(20)] {
                other.set_timeout(Some(timeout));
                assert!(matches!(other.put(b"a", b"yours"), Err(Error::Busy(_))));
                if store.has_conflicts() {
                    // Only what the transaction has written is in the way.
                    continue;
                }
                assert!(matches!(delete(&mut *other, b"", END), Err(Error::Busy(_))));
                assert!(matches!(increment(&mut *other, b"n"), Err(Error::Busy(_))));
                assert!(matches!(other.begin(), Err(Error::Busy(_))));
                assert!(!other.in_transaction());
            }
            assert_eq!(all(&mut *other), [], "it can still read");
        });
    });
    session.commit().unwrap();
    assert_eq!(all(&mut *session), [(b"a".to_vec(), b"mine".to_vec())]);
}

fn a_waiting_write_goes_on_after_the_commit(store: &mut Store) {
    let store = &*store;
    let mut session = store.session();
    session.begin().unwrap();
    let (waiting, begun) = channel();
    std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            let mut other = store.session();
            other.set_timeout(None);
            waiting.send(()).unwrap();
            increment(&mut *other, b"n").unwrap();
        });
        begun.recv().unwrap();
        for _ in 0..10 {
            increment(&mut *session, b"n").unwrap();
            std::thread::yield_now();
        }
        assert!(!other.is_finished());
        session.commit().unwrap();
        other.join().unwrap();
    });
    assert_eq!(count(&mut *session, b"n"), 11);
}

fn a_patient_writer_gets_its_turn_beside_a_busy_one(store: &mut Store) {
    let store = &*store;
    let (done, started) = (AtomicBool::new(false), Barrier::new(2));
    std::thread::scope(|scope| {
        let (ended, started) = (&done, &started);
        scope.spawn(move || {
            let mut busy = store.session();
            busy.set_timeout(None);
            started.wait();
            while !ended.load(Ordering::Relaxed) {
                increment(&mut *busy, b"n").unwrap();
            }
        });
        let _done = Done(&done);
        let mut patient = store.session();
        patient.set_timeout(Some(Duration::from_secs(10)));
        started.wait();
        for _ in 0..20 {
            increment(&mut *patient, b"m").unwrap();
        }
    });
    assert_eq!(count(&mut *store.session(), b"m"), 20);
}

/// Says that the writer is done, also when it failed.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn nobody_sees_half_a_batch(store: &mut Store) {
    let store = &*store;
    let (done, started) = (AtomicBool::new(false), Barrier::new(3));
    let write = |number: u32, batch: &mut Batch| {
        batch.clear();
        batch.delete_range(b"k", b"l");
        for key in 0..300_u32 {
            batch.put(format!("k{:05}", key + number % 7).as_bytes(), &number.to_be_bytes());
        }
    };
    let mut writer = store.session();
    let mut batch = Batch::new();
    write(0, &mut batch);
    writer.apply(&batch).unwrap();
    std::thread::scope(|scope| {
        for reverse in [false, true] {
            let (done, started) = (&done, &started);
            scope.spawn(move || {
                let mut reader = store.session();
                started.wait();
                while !done.load(Ordering::Relaxed) {
                    let entries = scan_some(&mut *reader, Range { reverse, ..Range::entries(b"", END) }, usize::MAX);
                    assert_eq!(entries.len(), 300);
                    assert!(entries.iter().all(|(_, value)| *value == entries[0].1), "all of one batch");
                }
            });
        }
        let _done = Done(&done);
        started.wait();
        for number in 1..if store.has_conflicts() { 40 } else { 300 } {
            write(number, &mut batch);
            if number % 2 == 0 {
                writer.apply(&batch).unwrap();
                continue;
            }
            writer.begin().unwrap();
            writer.apply(&batch).unwrap();
            writer.commit().unwrap();
        }
    });
}

fn a_session_moves_to_another_thread(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", b"1").unwrap();
    session.hold().unwrap();
    store.session().put(b"a", b"2").unwrap();
    let mut session = std::thread::scope(|scope| {
        let moved = scope.spawn(move || {
            assert_eq!(get(&mut *session, b"a").as_deref(), Some(&b"1"[..]));
            session.release();
            session.begin().unwrap();
            session.put(b"b", b"3").unwrap();
            session.commit().unwrap();
            session
        });
        moved.join().unwrap()
    });
    session.put(b"c", b"4").unwrap();
    assert_eq!(all(&mut *session).len(), 3);
}

fn many_sessions_read_while_one_writes(store: &mut Store) {
    // A server has fewer connections to give.
    let most = if store.has_conflicts() { 20 } else { 200 };
    let mut sessions: Vec<_> = (0..most).map(|_| store.session()).collect();
    let mut writer = store.session();
    for number in 0..20_u8 {
        writer.put(b"a", &[number]).unwrap();
        for session in &mut sessions {
            assert_eq!(get(&mut **session, b"a"), Some(vec![number]));
            assert_eq!(seek(&mut **session, Bound::Before(END)).unwrap().1, [number]);
        }
    }
}
