//! One value at one key: any bytes of any length come back as they went in.

use caretdb::engine::{Bound, Range};

use crate::store::{END, Store, all, delete, get, keys, long, scan_some, seek};

on_every_engine! {
    an_empty_store_holds_nothing
    a_value_comes_back_until_it_is_replaced
    values_of_every_length_come_back
    values_in_a_stretch_of_lengths_come_back
    a_key_of_1019_bytes_works
    large_and_small_values_replace_each_other
    deleting_just_a_node_takes_its_large_value
    deleting_behind_a_node_leaves_its_large_value
    every_look_passes_large_values
    everything_is_there_after_reopening
}

/// Around the piece of a chunk, the page, sled's blobs, and megabytes.
const LENGTHS: [usize; 19] = [
    0, 1, 21, 22, 23, 255, 4_078, 4_079, 4_080, 4_081, 4_096, 8_158, 8_159, 8_160, 8_161, 65_536, 524_288, 1_048_577,
    5_000_000,
];

fn an_empty_store_holds_nothing(store: &mut Store) {
    let mut session = store.session();
    assert_eq!(get(&mut *session, b"a"), None);
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"")), None);
    assert_eq!(seek(&mut *session, Bound::Before(END)), None);
    assert_eq!(all(&mut *session), []);
    assert_eq!(store.engine().name(), store.name());
}

fn a_value_comes_back_until_it_is_replaced(store: &mut Store) {
    let mut session = store.session();
    for value in [&b"one"[..], b"two", b"", b"\0\xF0\0"] {
        session.put(b"a", value).unwrap();
        assert_eq!(get(&mut *session, b"a").as_deref(), Some(value));
    }
    for near in [&b"`"[..], b"a\0", b"b", b""] {
        assert_eq!(get(&mut *session, near), None, "beside it there is nothing");
    }
}

fn values_of_every_length_come_back(store: &mut Store) {
    let mut session = store.session();
    for len in LENGTHS {
        session.put(format!("k{len:08}").as_bytes(), &long(len, len as u64)).unwrap();
    }
    let expected: Vec<_> =
        LENGTHS.iter().map(|len| (format!("k{len:08}").into_bytes(), long(*len, *len as u64))).collect();
    assert!(expected.iter().all(|(key, value)| get(&mut *session, key).as_ref() == Some(value)));
    assert!(all(&mut *session) == expected);
    let backwards = scan_some(&mut *session, Range { reverse: true, ..Range::entries(b"", END) }, usize::MAX);
    assert!(backwards.into_iter().rev().eq(expected.iter().cloned()));
    for (key, value) in &expected {
        assert!(seek(&mut *session, Bound::AtOrAfter(key)) == Some((key.clone(), value.clone())));
    }
}

fn values_in_a_stretch_of_lengths_come_back(store: &mut Store) {
    let mut session = store.session();
    session.begin().unwrap();
    for len in (4_060..4_100).chain(8_140..8_180) {
        session.put(b"a", &long(len, 7)).unwrap();
        assert!(get(&mut *session, b"a") == Some(long(len, 7)), "{len} bytes");
    }
    session.commit().unwrap();
    assert_eq!(all(&mut *session).len(), 1);
}

fn a_key_of_1019_bytes_works(store: &mut Store) {
    let mut session = store.session();
    let longest: Vec<Vec<u8>> = (b'a'..b'e').map(|last| [vec![b'k'; 1_018], vec![last]].concat()).collect();
    for (key, len) in longest.iter().zip([0, 10, 4_081, 100_000]) {
        session.put(key, &long(len, 3)).unwrap();
    }
    assert!(
        longest.iter().zip([0, 10, 4_081, 100_000]).all(|(key, len)| get(&mut *session, key) == Some(long(len, 3)))
    );
    assert_eq!(keys(&mut *session, b"", END, false), longest);
    assert_eq!(seek(&mut *session, Bound::Before(&longest[3])).unwrap().0, longest[2]);
    delete(&mut *session, &longest[1], &longest[3]).unwrap();
    assert_eq!(keys(&mut *session, b"", END, true), [longest[3].clone(), longest[0].clone()]);
}

fn large_and_small_values_replace_each_other(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a\x05x", b"child").unwrap();
    for (turn, len) in [10_000, 3, 100_000, 4_081, 4_080, 0, 1_000_000, 20_000].into_iter().enumerate() {
        session.put(b"a", &long(len, turn as u64)).unwrap();
        let entries = all(&mut *session);
        assert!(entries == [(b"a".to_vec(), long(len, turn as u64)), (b"a\x05x".to_vec(), b"child".to_vec())]);
        assert_eq!(keys(&mut *session, b"", END, true), [&b"a\x05x"[..], b"a"]);
    }
}

/// A large value lies behind its key in some engines: a range that ends right behind the key must still take all of it,
/// or its remains come up when the key is used again.
fn deleting_just_a_node_takes_its_large_value(store: &mut Store) {
    let mut session = store.session();
    let entries = store.engine().stats().unwrap().entries;
    session.put(b"a", &long(50_000, 1)).unwrap();
    delete(&mut *session, b"a", b"a\0").unwrap();
    assert_eq!(get(&mut *session, b"a"), None);
    assert_eq!(all(&mut *session), []);
    assert_eq!(seek(&mut *session, Bound::Before(END)), None);
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"")), None);
    assert_eq!(store.engine().stats().unwrap().entries, entries);
    session.put(b"0", b"before").unwrap();
    assert_eq!(seek(&mut *session, Bound::Before(END)).unwrap().0, b"0");
}

fn deleting_behind_a_node_leaves_its_large_value(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", &long(50_000, 1)).unwrap();
    session.put(b"a\x05x", &long(50_000, 2)).unwrap();
    delete(&mut *session, b"a\0", b"b").unwrap();
    assert!(all(&mut *session) == [(b"a".to_vec(), long(50_000, 1))]);
}

/// From inside the stretch that a large value may take in an engine, only real keys are found.
fn every_look_passes_large_values(store: &mut Store) {
    let mut session = store.session();
    session.put(b"a", &long(50_000, 1)).unwrap();
    session.put(b"b", &long(50_000, 2)).unwrap();
    for inside in [&b"a\0"[..], b"a\x01", b"a\x01\0\0\0\x02", b"a\x02"] {
        assert_eq!(seek(&mut *session, Bound::AtOrAfter(inside)).unwrap().0, b"b");
        assert_eq!(seek(&mut *session, Bound::Before(inside)).unwrap().0, b"a");
        assert_eq!(keys(&mut *session, inside, END, false), [b"b"]);
        assert_eq!(keys(&mut *session, b"", inside, true), [b"a"]);
        assert_eq!(keys(&mut *session, inside, b"b", false), [] as [&[u8]; 0]);
        assert_eq!(keys(&mut *session, inside, b"b", true), [] as [&[u8]; 0]);
    }
    assert_eq!(seek(&mut *session, Bound::AtOrAfter(b"b\0")), None);
}

fn everything_is_there_after_reopening(store: &mut Store) {
    let mut session = store.session();
    let mut expected = Vec::new();
    for number in 0..3_000_u32 {
        let (key, value) = (number.to_be_bytes().map(|byte| byte | 2), long(number as usize % 50, u64::from(number)));
        session.put(&key, &value).unwrap();
    }
    session.put(b"large", &long(3_000_000, 9)).unwrap();
    session.put(b"gone", &long(30_000, 9)).unwrap();
    delete(&mut *session, b"gone", b"gone\0").unwrap();
    expected.append(&mut all(&mut *session));
    drop(session);
    for _ in 0..3 {
        store.reopen();
        let mut session = store.session();
        assert!(all(&mut *session) == expected);
    }
}
