//! The hot calls, for whatever measures them: a counter of instructions (`bench/hot`) and a clock (`bench/micro.rs`).

use caretdb::document::Found;
use caretdb::engine::{Durability, Options};
use caretdb::key::Key;
use caretdb::number::Decimal;
use caretdb::store::{Connection, Store};
use caretdb::value::Value;
use tempfile::TempDir;

/// What is there before the calls that read.
const FILLED: u32 = 20_000;
const A: &str = r#"{"hello":"world"}"#;
const B: &str = r#"{"name":"Rob","address":{"houseNo":9,"city":"Redhill","county":"Surrey"},"telephone":"0790123456"}"#;

/// A call: what it is called, what it needs, and how it is done.
pub struct Hot {
    /// What it is called.
    pub name: &'static str,
    durability: Durability,
    prepare: fn(&mut Subject),
    /// Does it for the n-th time.
    pub call: fn(&mut Subject, u32),
}

impl Hot {
    /// A store of its own, with what must be there before.
    pub fn prepare(&self) -> Subject {
        let mut subject = Subject::new(self.durability);
        (self.prepare)(&mut subject);
        subject
    }
}

/// All of them.
pub const CALLS: [Hot; 15] = [
    Hot { name: "set-process", durability: Durability::Process, prepare: nothing, call: set },
    Hot { name: "set-relaxed", durability: Durability::Relaxed, prepare: nothing, call: set },
    Hot { name: "set-random", durability: Durability::Process, prepare: filled, call: set_random },
    Hot { name: "get", durability: Durability::Relaxed, prepare: filled, call: get },
    Hot { name: "get-random", durability: Durability::Relaxed, prepare: filled, call: get_random },
    Hot { name: "next", durability: Durability::Relaxed, prepare: filled, call: next },
    Hot { name: "increment-process", durability: Durability::Process, prepare: nothing, call: increment },
    Hot { name: "increment-relaxed", durability: Durability::Relaxed, prepare: nothing, call: increment },
    Hot { name: "write-a", durability: Durability::Relaxed, prepare: nothing, call: |s, n| s.write(n, A) },
    Hot { name: "write-b", durability: Durability::Relaxed, prepare: nothing, call: |s, n| s.write(n, B) },
    Hot { name: "rewrite-b", durability: Durability::Relaxed, prepare: documents_b, call: |s, n| s.write(n, B) },
    Hot { name: "read-a", durability: Durability::Relaxed, prepare: documents_a, call: read },
    Hot { name: "read-b", durability: Durability::Relaxed, prepare: documents_b, call: read },
    Hot { name: "cursor-leaf", durability: Durability::Relaxed, prepare: documents_b, call: leaf },
    Hot { name: "key", durability: Durability::Process, prepare: nothing, call: encode },
];

/// What the calls work with, so that they allocate as little as the addon's do.
pub struct Subject {
    // Goes before the folder does.
    connection: Connection,
    key: Key,
    parent: usize,
    stored: Vec<u8>,
    found: Vec<u8>,
    _folder: TempDir,
}

impl Subject {
    fn new(durability: Durability) -> Subject {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Options { durability: Some(durability), ..Options::default() };
        let store = Store::open(Some(folder.path()), &options).expect("a store");
        let mut key = Key::new();
        key.global("keyvalue").expect("a name");
        Subject {
            connection: store.connect(false).expect("a connection"),
            parent: key.len(),
            key,
            stored: Vec::new(),
            found: Vec::new(),
            _folder: folder,
        }
    }

    fn at(&mut self, n: u32) {
        self.key.truncate(self.parent);
        self.key.number(f64::from(n)).expect("a subscript");
    }

    fn put(&mut self, n: u32) {
        self.at(n);
        Value::Text("hello world").write(&mut self.stored);
        self.connection.set(self.key.as_bytes(), &self.stored).expect("a write");
    }

    fn write(&mut self, n: u32, json: &str) {
        self.at(1 + n % FILLED);
        self.connection.set_document(self.key.as_bytes(), json).expect("a write");
    }
}

fn nothing(_: &mut Subject) {}

fn filled(subject: &mut Subject) {
    subject.connection.start().expect("a transaction");
    for n in 1..=FILLED {
        subject.put(n);
    }
    subject.connection.commit().expect("a commit");
}

fn documents_a(subject: &mut Subject) {
    documents(subject, A);
}

fn documents_b(subject: &mut Subject) {
    documents(subject, B);
}

fn documents(subject: &mut Subject, json: &str) {
    subject.connection.start().expect("a transaction");
    for n in 0..FILLED {
        subject.write(n, json);
    }
    subject.connection.commit().expect("a commit");
}

fn scramble(n: u32) -> u32 {
    1 + n.wrapping_mul(2_654_435_761) % FILLED
}

fn set(subject: &mut Subject, n: u32) {
    subject.put(n + 1);
}

/// Between the keys that are there.
fn set_random(subject: &mut Subject, n: u32) {
    subject.key.truncate(subject.parent);
    subject.key.number(f64::from(scramble(n)) + f64::from(n % 1000) / 1000.0).expect("a subscript");
    Value::Text("hello world").write(&mut subject.stored);
    subject.connection.set(subject.key.as_bytes(), &subject.stored).expect("a write");
}

fn get(subject: &mut Subject, n: u32) {
    subject.at(1 + n % FILLED);
    assert!(subject.connection.get(subject.key.as_bytes(), &mut subject.found).expect("a read"));
}

fn get_random(subject: &mut Subject, n: u32) {
    subject.at(scramble(n));
    assert!(subject.connection.get(subject.key.as_bytes(), &mut subject.found).expect("a read"));
}

fn next(subject: &mut Subject, n: u32) {
    subject.at(1 + n % (FILLED - 1));
    let key = subject.key.as_bytes();
    assert!(subject.connection.next(&key[..subject.parent], Some(key), &mut subject.found).expect("a read"));
}

fn increment(subject: &mut Subject, _: u32) {
    subject.key.truncate(subject.parent);
    subject.key.text("counter").expect("a subscript");
    let one = Decimal::from_f64(1.0).expect("a number");
    subject.connection.increment(subject.key.as_bytes(), &one, false, &mut subject.found).expect("a write");
}

fn read(subject: &mut Subject, n: u32) {
    subject.at(1 + n % FILLED);
    subject.found.clear();
    assert_eq!(subject.connection.document(subject.key.as_bytes(), &mut subject.found).expect("a read"), Found::Json);
}

/// One step of a cursor over the leaves, from one leaf of a document to the next.
fn leaf(subject: &mut Subject, n: u32) {
    use caretdb::cursor::Place;
    if n.is_multiple_of(FILLED) {
        subject.key.truncate(subject.parent);
    }
    let Subject { connection, key, parent, stored, found, .. } = subject;
    let place = Place { root: &key.as_bytes()[..*parent], node: key.as_bytes(), at_end: false };
    assert!(connection.next_valued(place, found, Some(stored)).expect("a read"));
    key.copy_from(found);
}

fn encode(subject: &mut Subject, n: u32) {
    subject.at(n);
    subject.key.text("city").expect("a subscript");
}
