//! A held session sees one moment; and the version says when there may be something new to see.

use caretdb::engine::{Bound, Range, Session};

use crate::store::{END, Store, all, delete, get, increment, keys, long, scan_some, seek};

on_every_engine! {
    a_held_session_sees_one_moment
    every_session_holds_its_own_moment
    a_held_session_may_write
    holding_again_takes_a_new_moment
    a_transaction_of_a_held_session_sees_itself
    a_moment_survives_large_changes
    the_version_changes_with_every_change
    the_version_changes_with_what_the_transaction_shows
    the_version_stays_while_nothing_changes
}

fn everything(session: &mut dyn Session) -> impl PartialEq + std::fmt::Debug + use<> {
    let backwards = scan_some(session, Range { reverse: true, ..Range::entries(b"", END) }, usize::MAX);
    let bounds = [Bound::AtOrAfter(b""), Bound::AtOrAfter(b"c"), Bound::Before(END), Bound::Before(b"c")];
    (all(session), backwards, get(session, b"b"), bounds.map(|bound| seek(session, bound)))
}

fn a_held_session_sees_one_moment(store: &mut Store) {
    let (mut held, mut writer) = (store.session(), store.session());
    for key in [b"b", b"c", b"d"] {
        writer.put(key, b"old").unwrap();
    }
    held.hold().unwrap();
    let moment = everything(&mut *held);
    writer.put(b"a", b"new").unwrap();
    writer.put(b"b", b"new").unwrap();
    assert_eq!(everything(&mut *held), moment);
    writer.put(b"b", b"newer").unwrap();
    delete(&mut *writer, b"c", b"d").unwrap();
    increment(&mut *writer, b"n").unwrap();
    writer.begin().unwrap();
    writer.put(b"c", &long(9_000, 1)).unwrap();
    delete(&mut *writer, b"d", END).unwrap();
    assert_eq!(everything(&mut *held), moment);
    writer.commit().unwrap();
    assert_eq!(everything(&mut *held), moment);
    held.release();
    assert_eq!(keys(&mut *held, b"", END, false), [b"a", b"b", b"c"]);
    assert_eq!(everything(&mut *held), everything(&mut *writer));
    held.release();
}

fn every_session_holds_its_own_moment(store: &mut Store) {
    let mut writer = store.session();
    let mut moments = Vec::new();
    for number in 0..5_u8 {
        writer.put(b"a", &[number]).unwrap();
        writer.put(&[b'k', number], &[number]).unwrap();
        let mut session = store.session();
        session.hold().unwrap();
        moments.push((session, number));
    }
    delete(&mut *writer, b"", END).unwrap();
    for (session, number) in &mut moments {
        assert_eq!(get(&mut **session, b"a"), Some(vec![*number]));
        assert_eq!(all(&mut **session).len(), usize::from(*number) + 2);
    }
    moments.remove(2);
    writer.put(b"a", b"again").unwrap();
    assert_eq!(get(&mut *moments[2].0, b"a"), Some(vec![3]));
    moments[0].0.release();
    assert_eq!(get(&mut *moments[0].0, b"a").as_deref(), Some(&b"again"[..]));
}

fn a_held_session_may_write(store: &mut Store) {
    let (mut held, mut other) = (store.session(), store.session());
    held.put(b"a", b"1").unwrap();
    held.hold().unwrap();
    held.put(b"a", b"2").unwrap();
    held.put(b"b", b"2").unwrap();
    assert_eq!(all(&mut *held), [(b"a".to_vec(), b"1".to_vec())], "its reads stay");
    assert_eq!(get(&mut *other, b"a").as_deref(), Some(&b"2"[..]), "others see it");
    held.update(b"a", &mut |old, next| {
        assert_eq!(old, Some(&b"2"[..]), "an update reads the latest");
        next.push(b'3');
        Ok(())
    })
    .unwrap();
    held.release();
    assert_eq!(all(&mut *held), [(b"a".to_vec(), b"3".to_vec()), (b"b".to_vec(), b"2".to_vec())]);
}

fn holding_again_takes_a_new_moment(store: &mut Store) {
    let (mut held, mut writer) = (store.session(), store.session());
    for value in [b"1", b"2", b"3"] {
        writer.put(b"a", value).unwrap();
        held.hold().unwrap();
        writer.put(b"a", b"later").unwrap();
        assert_eq!(get(&mut *held, b"a").as_deref(), Some(&value[..]));
    }
    held.release();
    assert_eq!(get(&mut *held, b"a").as_deref(), Some(&b"later"[..]));
}

fn a_transaction_of_a_held_session_sees_itself(store: &mut Store) {
    let (mut held, mut writer) = (store.session(), store.session());
    writer.put(b"a", b"1").unwrap();
    held.hold().unwrap();
    writer.put(b"a", b"2").unwrap();
    held.begin().unwrap();
    assert_eq!(get(&mut *held, b"a").as_deref(), Some(&b"2"[..]));
    held.put(b"b", b"3").unwrap();
    assert_eq!(keys(&mut *held, b"", END, false), [b"a", b"b"]);
    held.commit().unwrap();
    assert_eq!(all(&mut *held), [(b"a".to_vec(), b"1".to_vec())], "and then the moment again");
    held.release();
    assert_eq!(keys(&mut *held, b"", END, false), [b"a", b"b"]);
}

fn a_moment_survives_large_changes(store: &mut Store) {
    let (mut held, mut writer) = (store.session(), store.session());
    for number in 0..3_000_u32 {
        writer.put(format!("k{number:05}").as_bytes(), &number.to_be_bytes()).unwrap();
    }
    writer.put(b"large", &long(1_000_000, 1)).unwrap();
    held.hold().unwrap();
    let moment = all(&mut *held);
    delete(&mut *writer, b"k00100", b"k02900").unwrap();
    writer.put(b"large", b"small").unwrap();
    for number in 0..3_000_u32 {
        writer.put(format!("k{number:05}x").as_bytes(), b"new").unwrap();
    }
    assert!(all(&mut *held) == moment);
}

fn the_version_changes_with_every_change(store: &mut Store) {
    let (mut session, mut other) = (store.session(), store.session());
    let (mut last, mut last_other) = (session.version(), other.version());
    let mut changed = |session: &mut dyn Session, other: &mut dyn Session, what: &str| {
        let versions = (session.version(), other.version());
        assert_ne!(versions.0, last, "{what}, for the writer");
        assert_ne!(versions.1, last_other, "{what}, for another session");
        (last, last_other) = versions;
    };
    session.put(b"a", b"1").unwrap();
    changed(&mut *session, &mut *other, "put");
    session.put(b"b", &long(9_000, 1)).unwrap();
    changed(&mut *session, &mut *other, "large put");
    increment(&mut *session, b"n").unwrap();
    changed(&mut *session, &mut *other, "update");
    delete(&mut *session, b"a", b"b").unwrap();
    changed(&mut *session, &mut *other, "delete");
    session.begin().unwrap();
    session.put(b"c", b"1").unwrap();
    session.commit().unwrap();
    changed(&mut *session, &mut *other, "commit");
}

fn the_version_changes_with_what_the_transaction_shows(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", b"1").unwrap();
    session.begin().unwrap();
    let empty = session.version();
    session.put(b"a", b"2").unwrap();
    let first = session.version();
    session.put(b"a", b"3").unwrap();
    let second = session.version();
    assert_ne!(empty, first);
    assert_ne!(first, second);
    session.abort();
    assert_ne!(second, session.version(), "the aborted writes are not seen any more");
    session.begin().unwrap();
    session.put(b"a", b"4").unwrap();
    let inside = session.version();
    session.abort();
    session.put(b"a", b"5").unwrap();
    assert_ne!(inside, session.version());
}

fn the_version_stays_while_nothing_changes(store: &mut Store) {
    if store.has_conflicts() {
        // Other machines may write at any time, so it changes with the time.
        return;
    }
    let (mut session, mut other) = (store.session(), store.session());
    session.put(b"a", b"1").unwrap();
    let versions = (session.version(), other.version());
    assert!(all(&mut *session) == all(&mut *other));
    other.hold().unwrap();
    other.release();
    assert_eq!((session.version(), other.version()), versions);
}
