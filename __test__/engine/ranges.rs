//! Looking at keys in order: the next, the one before, and whole stretches, both ways.

use caretdb::engine::{Bound, Flow, Range};
use caretdb::error::Error;

use crate::store::{END, Store, all, get, keys, long, scan_some, seek};

on_every_engine! {
    keys_are_ordered_by_their_bytes
    the_bounds_of_a_seek_are_at_or_after_and_before
    a_stretch_begins_with_its_start_and_ends_before_its_end
    a_visitor_stops_a_scan
    an_error_of_the_visitor_ends_the_scan
    an_empty_or_inverted_stretch_holds_nothing
    a_long_scan_shows_everything_once
    other_sessions_may_write_during_a_scan
}

fn fill(store: &Store, keys: &[&[u8]]) {
    let mut session = store.session();
    for key in keys {
        session.put(key, &[b"v", *key].concat()).unwrap();
    }
}

fn keys_are_ordered_by_their_bytes(store: &mut Store) {
    let sorted: [&[u8]; 9] = [b"\0", b"\x02", b"a", b"a\0", b"a\x05", b"a\x05\xFE", b"b", b"\x80", b"\xFE\xFF"];
    let mut shuffled = sorted;
    shuffled.swap(0, 7);
    shuffled.swap(2, 5);
    shuffled.swap(1, 8);
    fill(store, &shuffled);
    let mut session = store.session();
    assert_eq!(keys(&mut *session, b"", END, false), sorted);
    let backwards: Vec<&[u8]> = sorted.into_iter().rev().collect();
    assert_eq!(keys(&mut *session, b"", END, true), backwards);
}

fn the_bounds_of_a_seek_are_at_or_after_and_before(store: &mut Store) {
    fill(store, &[b"b", b"d", b"f"]);
    let mut session = store.session();
    let mut at = |bound| seek(&mut *session, bound).map(|(key, _)| key);
    for (key, after, before) in [
        (&b""[..], Some(&b"b"[..]), None),
        (b"a", Some(b"b"), None),
        (b"b", Some(b"b"), None),
        (b"b\0", Some(b"d"), Some(&b"b"[..])),
        (b"c", Some(b"d"), Some(b"b")),
        (b"d", Some(b"d"), Some(b"b")),
        (b"f", Some(b"f"), Some(b"d")),
        (b"f\0", None, Some(b"f")),
        (END, None, Some(b"f")),
    ] {
        assert_eq!(at(Bound::AtOrAfter(key)).as_deref(), after, "at or after {key:?}");
        assert_eq!(at(Bound::Before(key)).as_deref(), before, "before {key:?}");
    }
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"c")).unwrap().1, b"vd");
    assert_eq!(seek(&mut *session, Bound::Before(b"c")).unwrap().1, b"vb");
}

fn a_stretch_begins_with_its_start_and_ends_before_its_end(store: &mut Store) {
    fill(store, &[b"a", b"b", b"c", b"d"]);
    let mut session = store.session();
    for (start, end, expected) in [
        (&b"a"[..], &b"d"[..], &[&b"a"[..], b"b", b"c"][..]),
        (b"b", b"c", &[b"b"]),
        (b"b", b"c\0", &[b"b", b"c"]),
        (b"b\0", b"d", &[b"c"]),
        (b"d", END, &[b"d"]),
        (b"", b"a", &[]),
        (b"d\0", END, &[]),
    ] {
        assert_eq!(keys(&mut *session, start, end, false), expected);
        let backwards: Vec<&[u8]> = expected.iter().rev().copied().collect();
        assert_eq!(keys(&mut *session, start, end, true), backwards);
    }
    let entries = scan_some(&mut *session, Range::entries(b"b", b"c"), usize::MAX);
    assert_eq!(entries, [(b"b".to_vec(), b"vb".to_vec())]);
}

fn a_visitor_stops_a_scan(store: &mut Store) {
    fill(store, &[b"a", b"b", b"c", b"d"]);
    let mut session = store.session();
    for most in 1..4 {
        assert_eq!(scan_some(&mut *session, Range::keys(b"", END), most).len(), most);
        let backwards = scan_some(&mut *session, Range { reverse: true, ..Range::keys(b"", END) }, most);
        assert_eq!(backwards.len(), most);
        assert_eq!(backwards[0].0, b"d");
    }
}

fn an_error_of_the_visitor_ends_the_scan(store: &mut Store) {
    fill(store, &[b"a", b"b", b"c"]);
    let mut session = store.session();
    for reverse in [false, true] {
        let mut seen = 0;
        let result = session.scan(Range { reverse, ..Range::keys(b"", END) }, &mut |_, _| {
            seen += 1;
            if seen == 2 { Err(Error::BadValue("enough".to_owned())) } else { Ok(Flow::Continue) }
        });
        assert!(matches!(result, Err(Error::BadValue(_))));
        assert_eq!(seen, 2);
    }
    assert_eq!(all(&mut *session).len(), 3, "the session works on");
}

fn an_empty_or_inverted_stretch_holds_nothing(store: &mut Store) {
    fill(store, &[b"a", b"b", b"c"]);
    let mut session = store.session();
    session.begin().unwrap();
    session.put(b"bb", b"").unwrap();
    for in_transaction in [true, false] {
        for (start, end) in [(&b"b"[..], &b"b"[..]), (b"c", b"a"), (b"", b"")] {
            for reverse in [false, true] {
                assert_eq!(keys(&mut *session, start, end, reverse), [] as [&[u8]; 0], "{in_transaction}");
            }
            crate::store::delete(&mut *session, start, end).unwrap();
        }
        session.abort();
    }
    assert_eq!(all(&mut *session).len(), 3);
}

fn a_long_scan_shows_everything_once(store: &mut Store) {
    let mut session = store.session();
    session.begin().unwrap();
    let expected: Vec<Vec<u8>> = (0..5_000).map(|number| format!("k{number:05}").into_bytes()).collect();
    for (number, key) in expected.iter().enumerate() {
        session.put(key, &long(if number % 500 == 0 { 300_000 } else { 5 }, number as u64)).unwrap();
    }
    for committed in [false, true] {
        if committed {
            session.commit().unwrap();
        }
        assert!(keys(&mut *session, b"", END, false) == expected);
        let mut backwards = keys(&mut *session, b"", END, true);
        backwards.reverse();
        assert!(backwards == expected);
        let entries = all(&mut *session);
        assert!(entries.iter().enumerate().all(|(number, (_, value))| {
            *value == long(if number % 500 == 0 { 300_000 } else { 5 }, number as u64)
        }));
    }
}

/// A visitor may use other sessions; what they write does not come into a scan that has begun.
fn other_sessions_may_write_during_a_scan(store: &mut Store) {
    let (mut reader, mut writer) = (store.session(), store.session());
    let mut expected = Vec::new();
    for number in 0..2_000 {
        let key = format!("k{number:04}").into_bytes();
        writer.put(&key, b"old").unwrap();
        expected.push((key, b"old".to_vec()));
    }
    for reverse in [false, true] {
        let mut seen = Vec::new();
        reader
            .scan(Range { reverse, ..Range::entries(b"", END) }, &mut |key, value| {
                if seen.len() % 100 == 1 {
                    writer.put(b"k0000", b"new")?;
                    writer.put(b"k1000", b"new")?;
                    writer.put(b"k1999", b"new")?;
                    writer.put(format!("k{:04}x", seen.len()).as_bytes(), b"new")?;
                    crate::store::delete(&mut *writer, b"k0500", b"k0700")?;
                    crate::store::delete(&mut *writer, b"k1200", b"k1400")?;
                }
                seen.push((key.to_vec(), value.to_vec()));
                Ok(Flow::Continue)
            })
            .unwrap();
        if reverse {
            seen.reverse();
        }
        assert!(seen == expected, "all of one moment");
        expected = all(&mut *reader);
        assert_eq!(get(&mut *reader, b"k1000").as_deref(), Some(&b"new"[..]));
    }
}
