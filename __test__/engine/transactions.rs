//! Transactions: seen by their own session at once, by everybody at commit, by nobody after an abort.

use caretdb::engine::{Bound, Session};
use caretdb::error::Error;

use crate::store::{END, Store, all, count, delete, get, increment, keys, long, seek};

on_every_engine! {
    a_transaction_reads_its_own_writes
    looks_in_order_see_the_open_transaction
    nobody_else_sees_an_open_transaction
    a_commit_makes_everything_visible
    an_abort_forgets_everything
    calls_out_of_order_are_errors
    a_second_writer_of_the_thread_is_refused_at_once
    a_session_that_goes_takes_its_transaction_along
    a_failed_update_leaves_the_rest_of_the_transaction
    a_large_transaction_commits
    an_empty_transaction_commits
}

fn filled(store: &Store) -> Box<dyn Session> {
    let mut session = store.session();
    for key in [b"b", b"d", b"f", b"h"] {
        session.put(key, b"old").unwrap();
    }
    session
}

fn a_transaction_reads_its_own_writes(store: &mut Store) {
    let mut session = filled(store);
    session.begin().unwrap();
    assert!(session.in_transaction());
    session.put(b"a", b"new").unwrap();
    session.put(b"b", &long(20_000, 1)).unwrap();
    increment(&mut *session, b"n").unwrap();
    increment(&mut *session, b"n").unwrap();
    delete(&mut *session, b"d", b"h").unwrap();
    session.put(b"f", b"again").unwrap();
    assert_eq!(get(&mut *session, b"a").as_deref(), Some(&b"new"[..]));
    assert!(get(&mut *session, b"b") == Some(long(20_000, 1)));
    assert_eq!(get(&mut *session, b"d"), None);
    assert_eq!(get(&mut *session, b"f").as_deref(), Some(&b"again"[..]));
    assert_eq!(get(&mut *session, b"h").as_deref(), Some(&b"old"[..]));
    assert_eq!(count(&mut *session, b"n"), 2);
    session.commit().unwrap();
    assert!(!session.in_transaction());
    assert_eq!(keys(&mut *session, b"", END, false), [b"a", b"b", b"f", b"h", b"n"]);
}

fn looks_in_order_see_the_open_transaction(store: &mut Store) {
    let mut session = filled(store);
    session.begin().unwrap();
    session.put(b"a", b"new").unwrap();
    session.put(b"e", b"new").unwrap();
    session.put(b"z", b"new").unwrap();
    delete(&mut *session, b"d", b"e").unwrap();
    delete(&mut *session, b"h", END).unwrap();
    session.put(b"g", b"new").unwrap();
    let expected = [b"a", b"b", b"e", b"f", b"g"];
    assert_eq!(keys(&mut *session, b"", END, false), expected);
    let backwards: Vec<_> = expected.iter().rev().map(|key| key.to_vec()).collect();
    assert_eq!(keys(&mut *session, b"", END, true), backwards);
    for (bound, expected) in [
        (Bound::AtOrAfter(b"c"), Some(b"e")),
        (Bound::AtOrAfter(b"d"), Some(b"e")),
        (Bound::AtOrAfter(b"h"), None),
        (Bound::AtOrAfter(b"b\0"), Some(b"e")),
        (Bound::Before(END), Some(b"g")),
        (Bound::Before(b"e"), Some(b"b")),
        (Bound::Before(b"b"), Some(b"a")),
        (Bound::Before(b"a"), None),
    ] {
        assert_eq!(
            seek(&mut *session, bound).map(|(key, _)| key),
            expected.map(|key: &[u8; 1]| key.to_vec()),
            "{bound:?}"
        );
    }
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"c")).unwrap().1, b"new");
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"f")).unwrap().1, b"old");
}

fn nobody_else_sees_an_open_transaction(store: &mut Store) {
    let (mut session, mut other) = (filled(store), store.session());
    let before = all(&mut *other);
    session.begin().unwrap();
    session.put(b"a", b"new").unwrap();
    session.put(b"b", b"new").unwrap();
    delete(&mut *session, b"d", b"g").unwrap();
    assert_eq!(all(&mut *other), before);
    assert_eq!(get(&mut *other, b"b").as_deref(), Some(&b"old"[..]));
    assert_eq!(seek(&mut *other, Bound::AtOrAfter(b"")).unwrap().0, b"b");
    assert_eq!(all(&mut *store.session()), before, "nor does a new session");
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(all(&mut *store.session()), before, "nor does another thread"));
    });
}

fn a_commit_makes_everything_visible(store: &mut Store) {
    let (mut session, mut other) = (filled(store), store.session());
    session.begin().unwrap();
    session.put(b"a", &long(9_000, 1)).unwrap();
    delete(&mut *session, b"d", b"g").unwrap();
    let inside = all(&mut *session);
    session.commit().unwrap();
    assert!(all(&mut *other) == inside);
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(all(&mut *store.session()) == inside));
    });
    drop((session, other));
    store.reopen();
    assert!(all(&mut *store.session()) == inside);
}

fn an_abort_forgets_everything(store: &mut Store) {
    let (mut session, mut other) = (filled(store), store.session());
    let before = all(&mut *session);
    session.begin().unwrap();
    session.put(b"a", &long(9_000, 1)).unwrap();
    delete(&mut *session, b"", END).unwrap();
    assert_eq!(all(&mut *session), []);
    session.abort();
    assert!(!session.in_transaction());
    assert_eq!(all(&mut *session), before);
    assert_eq!(all(&mut *other), before);
    session.abort();
    session.put(b"a", b"1").unwrap();
    other.put(b"c", b"1").unwrap();
    session.begin().unwrap();
    session.put(b"x", b"1").unwrap();
    session.commit().unwrap();
    assert_eq!(all(&mut *other).len(), before.len() + 3);
}

fn calls_out_of_order_are_errors(store: &mut Store) {
    let mut session = store.session();
    assert!(matches!(session.commit(), Err(Error::Transaction(_))));
    session.begin().unwrap();
    session.put(b"a", b"1").unwrap();
    assert!(matches!(session.begin(), Err(Error::Transaction(_))));
    assert_eq!(get(&mut *session, b"a").as_deref(), Some(&b"1"[..]), "the transaction is still open");
    session.commit().unwrap();
    assert!(matches!(session.commit(), Err(Error::Transaction(_))));
    assert_eq!(get(&mut *session, b"a").as_deref(), Some(&b"1"[..]));
}

/// Waiting for one's own thread would never end, not even with a timeout of `None`.
fn a_second_writer_of_the_thread_is_refused_at_once(store: &mut Store) {
    let (mut session, mut other) = (filled(store), store.session());
    other.set_timeout(None);
    session.begin().unwrap();
    assert!(matches!(other.put(b"a", b""), Err(Error::Transaction(_))));
    assert!(matches!(delete(&mut *other, b"a", b"z"), Err(Error::Transaction(_))));
    assert!(matches!(increment(&mut *other, b"n"), Err(Error::Transaction(_))));
    assert!(matches!(other.begin(), Err(Error::Transaction(_))));
    assert!(!other.in_transaction());
    session.put(b"a", b"mine").unwrap();
    session.commit().unwrap();
    other.put(b"b", b"yours").unwrap();
    assert_eq!(get(&mut *other, b"a").as_deref(), Some(&b"mine"[..]));
    let inside = session.update(b"n", &mut |_, _| other.put(b"c", b""));
    assert!(matches!(inside, Err(Error::Transaction(_))), "nor may a change write through another session");
}

fn a_session_that_goes_takes_its_transaction_along(store: &mut Store) {
    let mut session = filled(store);
    session.begin().unwrap();
    session.put(b"a", b"lost").unwrap();
    drop(session);
    let mut other = store.session();
    assert_eq!(get(&mut *other, b"a"), None);
    other.put(b"a", b"kept").unwrap();
    assert_eq!(all(&mut *other).len(), 5);
}

fn a_failed_update_leaves_the_rest_of_the_transaction(store: &mut Store) {
    let mut session = store.session();
    session.begin().unwrap();
    session.put(b"a", b"1").unwrap();
    let failed = session.update(b"a", &mut |old, next| {
        assert_eq!(old, Some(&b"1"[..]));
        next.push(b'2');
        Err(Error::BadValue("no".to_owned()))
    });
    assert!(matches!(failed, Err(Error::BadValue(_))));
    session.put(b"b", b"1").unwrap();
    session.commit().unwrap();
    assert_eq!(all(&mut *session), [(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), b"1".to_vec())]);
}

fn a_large_transaction_commits(store: &mut Store) {
    let mut session = store.session();
    for round in 0..2_u64 {
        session.begin().unwrap();
        for number in 0..30_000_u32 {
            session.put(format!("k{number:06}").as_bytes(), &long(number as usize % 30, round)).unwrap();
        }
        delete(&mut *session, b"k010000", b"k020000").unwrap();
        session.put(b"large", &long(5_000_000, round)).unwrap();
        session.commit().unwrap();
        assert_eq!(all(&mut *session).len(), 20_001);
        assert!(get(&mut *session, b"k029999") == Some(long(29, round)));
    }
    drop(session);
    store.reopen();
    let mut session = store.session();
    assert_eq!(all(&mut *session).len(), 20_001);
    assert!(get(&mut *session, b"large") == Some(long(5_000_000, 1)));
}

fn an_empty_transaction_commits(store: &mut Store) {
    let mut session = filled(store);
    session.begin().unwrap();
    session.commit().unwrap();
    session.begin().unwrap();
    delete(&mut *session, b"x", b"z").unwrap();
    session.commit().unwrap();
    assert_eq!(all(&mut *session).len(), 4);
}
