//! Writes that belong together: a batch, and reading and writing one value with nobody in between.

use caretdb::engine::{Batch, MAX_VALUE};
use caretdb::error::Error;

use crate::store::{END, Store, all, get, keys, long};

on_every_engine! {
    operations_apply_in_their_order
    a_batch_can_be_used_again
    an_empty_batch_changes_nothing
    a_batch_takes_many_and_large_values
    a_range_delete_takes_what_the_batch_put_before
    a_refused_batch_leaves_the_store
    an_update_sees_the_value_and_stores_the_next
    a_failed_update_leaves_the_store
    an_update_takes_large_values
}

fn operations_apply_in_their_order(store: &mut Store) {
    let mut session = store.session();
    session.put(b"b", b"old").unwrap();
    session.put(b"e", b"stays").unwrap();
    let mut batch = Batch::new();
    batch.put(b"a", b"1");
    batch.put(b"a", b"2");
    batch.put(b"c", b"gone");
    batch.delete_range(b"b", b"d");
    batch.put(b"d", b"4");
    batch.put(b"c", b"5");
    session.apply(&batch).unwrap();
    let expected = [(b"a", &b"2"[..]), (b"c", b"5"), (b"d", b"4"), (b"e", b"stays")];
    assert_eq!(all(&mut *session), expected.map(|(key, value)| (key.to_vec(), value.to_vec())));
}

fn a_batch_can_be_used_again(store: &mut Store) {
    let mut session = store.session();
    let mut batch = Batch::new();
    batch.put(b"a", b"1");
    session.apply(&batch).unwrap();
    session.apply(&batch).unwrap();
    batch.clear();
    batch.put(b"b", b"2");
    session.apply(&batch).unwrap();
    assert_eq!(keys(&mut *session, b"", END, false), [b"a", b"b"]);
}

fn an_empty_batch_changes_nothing(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", b"1").unwrap();
    session.apply(&Batch::new()).unwrap();
    assert_eq!(all(&mut *session).len(), 1);
}

fn a_batch_takes_many_and_large_values(store: &mut Store) {
    let mut session = store.session();
    let mut batch = Batch::new();
    for number in 0..20_000 {
        batch.put(format!("k{number:05}").as_bytes(), &long(number % 40, number as u64));
    }
    batch.put(b"large", &long(5_000_000, 1));
    session.apply(&batch).unwrap();
    assert_eq!(all(&mut *session).len(), 20_001);
    assert!(get(&mut *session, b"large") == Some(long(5_000_000, 1)));
    assert!(get(&mut *session, b"k12345") == Some(long(12_345 % 40, 12_345)));
    batch.clear();
    batch.delete_range(b"k", b"l");
    batch.delete_range(b"large", b"m");
    session.apply(&batch).unwrap();
    assert_eq!(all(&mut *session), []);
}

fn a_range_delete_takes_what_the_batch_put_before(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a\x05x", &long(9_000, 1)).unwrap();
    let mut batch = Batch::new();
    batch.put(b"a\x05y", &long(9_000, 2));
    batch.put(b"b", b"behind");
    batch.delete_range(b"a", b"b");
    batch.put(b"a\x05y", b"after");
    session.apply(&batch).unwrap();
    let expected = [(b"a\x05y".to_vec(), b"after".to_vec()), (b"b".to_vec(), b"behind".to_vec())];
    assert_eq!(all(&mut *session), expected);
}

fn a_refused_batch_leaves_the_store(store: &mut Store) {
    if store.name() == "lmdb" {
        // Its limit is 1 GiB: more memory than a test should take.
        return;
    }
    let mut session = store.session();
    session.put(b"a", b"1").unwrap();
    let mut batch = Batch::new();
    batch.put(b"b", b"2");
    batch.delete_range(b"a", b"b");
    batch.put(b"c", &vec![2; MAX_VALUE + 1]);
    for in_transaction in [false, true] {
        if in_transaction {
            session.begin().unwrap();
        }
        assert!(matches!(session.apply(&batch), Err(Error::TooLarge(_))));
        assert!(matches!(session.put(b"c", &vec![2; MAX_VALUE + 1]), Err(Error::TooLarge(_))));
        let refused = session.update(b"c", &mut |_, next| {
            next.resize(MAX_VALUE + 1, 2);
            Ok(())
        });
        assert!(matches!(refused, Err(Error::TooLarge(_))));
        assert_eq!(all(&mut *session), [(b"a".to_vec(), b"1".to_vec())]);
    }
    session.commit().unwrap();
    assert_eq!(all(&mut *session), [(b"a".to_vec(), b"1".to_vec())]);
}

fn an_update_sees_the_value_and_stores_the_next(store: &mut Store) {
    let mut session = store.session();
    for expected in [&b"x"[..], b"xx", b"xxx"] {
        session
            .update(b"a", &mut |old, next| {
                assert!(next.is_empty(), "the room for the next value is empty");
                next.extend_from_slice(old.unwrap_or_default());
                next.push(b'x');
                Ok(())
            })
            .unwrap();
        assert_eq!(get(&mut *session, b"a").as_deref(), Some(expected));
    }
}

fn a_failed_update_leaves_the_store(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", b"1").unwrap();
    for key in [b"a", b"b"] {
        let failed = session.update(key, &mut |_, next| {
            next.extend_from_slice(b"half");
            Err(Error::BadValue("no number".to_owned()))
        });
        assert!(matches!(failed, Err(Error::BadValue(_))));
    }
    assert_eq!(all(&mut *session), [(b"a".to_vec(), b"1".to_vec())]);
    session.put(b"a", b"2").unwrap();
    store.session().put(b"c", b"3").expect("the right to write was given back");
}

fn an_update_takes_large_values(store: &mut Store) {
    let mut session = store.session();
    for len in [100_000, 10, 200_000, 0] {
        let before = get(&mut *session, b"a");
        session
            .update(b"a", &mut |old, next| {
                assert!(old == before.as_deref());
                next.extend_from_slice(&long(len, 5));
                Ok(())
            })
            .unwrap();
        assert!(get(&mut *session, b"a") == Some(long(len, 5)));
    }
}
