//! What LMDB alone takes, called from Rust, for the operations that the hot calls make: the same keys and values, one
//! commit for each put, no disk flush (`process`). Prints one JSON object: the name of an operation and the median of
//! its nanoseconds. `bench/floor.mjs` sets these beside what crossing into native code takes.
//!
//!     cargo run --release --example floor_lmdb -- [keys] [rounds]

use std::ffi::{CString, c_int};
use std::path::Path;
use std::ptr;
use std::time::Instant;

use caretdb::key::Key;
use lmdb_master_sys as ffi;

const MAP_SIZE: usize = 1 << 40;
const VALUE: &[u8] = b"\x01hello world";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u32| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (keys, rounds) = (number(1_000_000), number(5));
    let mut samples: Vec<(&str, Vec<f64>)> = Vec::new();
    for _ in 0..rounds.max(1) {
        for (name, nanoseconds) in measure(keys) {
            match samples.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(nanoseconds),
                None => samples.push((name, vec![nanoseconds])),
            }
        }
    }
    let medians = samples.into_iter().map(|(name, mut all)| {
        all.sort_by(f64::total_cmp);
        (name.to_owned(), serde_json::Value::from(all[all.len() / 2].round()))
    });
    println!("{}", serde_json::Value::Object(medians.collect()));
}

/// One round: nanoseconds for each operation.
fn measure(keys: u32) -> Vec<(&'static str, f64)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Lmdb::open(folder.path());
    let set = timed(keys, |n| store.put(&key(n + 1), VALUE));
    let reader = Reader::begin(&store);
    let get = timed(keys, |n| assert!(reader.go(ffi::MDB_SET_KEY, &key(n + 1))));
    let random = timed(keys, |n| assert!(reader.go(ffi::MDB_SET_KEY, &key(scramble(n, keys)))));
    assert!(reader.go(ffi::MDB_SET_KEY, &key(1)));
    let next = timed(keys - 1, |_| assert!(reader.go(ffi::MDB_NEXT, &[])));
    drop(reader);
    let increment = timed(keys, |n| store.put(b"keyvalue\0\xC0counter\0", n.to_string().as_bytes()));
    drop(store);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Lmdb::open(folder.path());
    let insert = timed(keys, |n| store.put(&key(scramble(n, keys)), VALUE));
    vec![
        ("set", set),
        ("set, random", insert),
        ("get", get),
        ("get, random", random),
        ("next", next),
        ("increment", increment),
    ]
}

fn timed(operations: u32, mut operation: impl FnMut(u32)) -> f64 {
    let begun = Instant::now();
    for n in 0..operations {
        operation(n);
    }
    begun.elapsed().as_nanos() as f64 / f64::from(operations)
}

/// Every key once, in no order.
fn scramble(n: u32, keys: u32) -> u32 {
    1 + (u64::from(n) * 2_654_435_761 % u64::from(keys)) as u32
}

fn key(n: u32) -> Vec<u8> {
    let mut key = Key::new();
    key.global("keyvalue").and_then(|()| key.number(f64::from(n))).expect("a key");
    key.as_bytes().to_vec()
}

fn check(code: c_int) {
    assert_eq!(code, 0, "LMDB answered {code}");
}

fn val(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

struct Lmdb(*mut ffi::MDB_env);

impl Lmdb {
    fn open(folder: &Path) -> Lmdb {
        let name = CString::new(folder.join("floor.mdb").as_os_str().as_encoded_bytes()).expect("a path without NUL");
        let flags = ffi::MDB_NOSUBDIR | ffi::MDB_NOTLS | ffi::MDB_NOSYNC | ffi::MDB_WRITEMAP;
        let mut env = ptr::null_mut();
        // SAFETY: the environment is made, set up and opened here, and the name ends in NUL.
        unsafe {
            check(ffi::mdb_env_create(&raw mut env));
            check(ffi::mdb_env_set_mapsize(env, MAP_SIZE as ffi::mdb_size_t));
            check(ffi::mdb_env_open(env, name.as_ptr(), flags, 0o660));
            let (mut txn, mut main) = (ptr::null_mut(), 0);
            check(ffi::mdb_txn_begin(env, ptr::null_mut(), 0, &raw mut txn));
            check(ffi::mdb_dbi_open(txn, ptr::null(), 0, &raw mut main));
            check(ffi::mdb_txn_commit(txn));
        }
        Lmdb(env)
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        let (mut txn, mut key, mut value) = (ptr::null_mut(), val(key), val(value));
        // SAFETY: the environment is open; the transaction begins and ends here.
        unsafe {
            check(ffi::mdb_txn_begin(self.0, ptr::null_mut(), 0, &raw mut txn));
            check(ffi::mdb_put(txn, 1, &raw mut key, &raw mut value, 0));
            check(ffi::mdb_txn_commit(txn));
        }
    }
}

impl Drop for Lmdb {
    fn drop(&mut self) {
        // SAFETY: opened once; no transaction is left.
        unsafe { ffi::mdb_env_close(self.0) };
    }
}

/// A snapshot that is kept, with a cursor.
struct Reader {
    txn: *mut ffi::MDB_txn,
    cursor: *mut ffi::MDB_cursor,
}

impl Reader {
    fn begin(store: &Lmdb) -> Reader {
        let (mut txn, mut cursor) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the environment outlives the reader, which `measure` drops first.
        unsafe {
            check(ffi::mdb_txn_begin(store.0, ptr::null_mut(), ffi::MDB_RDONLY, &raw mut txn));
            check(ffi::mdb_cursor_open(txn, 1, &raw mut cursor));
        }
        Reader { txn, cursor }
    }

    fn go(&self, operation: ffi::MDB_cursor_op, key: &[u8]) -> bool {
        let (mut key, mut value) = (val(key), val(&[]));
        // SAFETY: the cursor is open.
        unsafe { ffi::mdb_cursor_get(self.cursor, &raw mut key, &raw mut value, operation) == 0 }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: both are open, and closed in this order.
        unsafe {
            ffi::mdb_cursor_close(self.cursor);
            ffi::mdb_txn_abort(self.txn);
        }
    }
}
