//! A database with one global for documents, and what documents are compared with.

use std::cell::RefCell;
use std::rc::Rc;

use caretdb::document::{Bytes, Change, Found};
use caretdb::engine::Options;
use caretdb::error::Result;
use caretdb::key::Key;
use caretdb::store::{Connection, Store};
use caretdb::value::Value as Stored;
use serde_json::Value;

/// A connection, and the node `^doc`.
pub struct Database {
    pub connection: Connection,
    pub node: Vec<u8>,
    _folder: tempfile::TempDir,
}

impl Database {
    pub fn open() -> Database {
        let folder = tempfile::tempdir().unwrap();
        let connection = Store::open(Some(folder.path()), &Options::default()).unwrap().connect(false).unwrap();
        let mut key = Key::new();
        key.global("doc").unwrap();
        Database { connection, node: key.as_bytes().to_vec(), _folder: folder }
    }

    /// [`Database::open`] once for each thread: the documents of many cases go to one store, each in place of the last.
    pub fn shared() -> Rc<RefCell<Database>> {
        thread_local! {
            static SHARED: Rc<RefCell<Database>> = Rc::new(RefCell::new(Database::open()));
        }
        SHARED.with(Rc::clone)
    }

    pub fn key(&self, path: &[&str]) -> Vec<u8> {
        let mut key = Key::new();
        key.copy_from(&self.node);
        for subscript in path {
            key.text(subscript).unwrap();
        }
        key.as_bytes().to_vec()
    }

    pub fn change(&mut self, json: &str, change: Change, bytes: Bytes) -> Result<()> {
        self.connection.change_document(&self.node, json, change, bytes)
    }

    pub fn set(&mut self, json: &str) {
        self.connection.set_document(&self.node, json).unwrap();
    }

    pub fn set_at(&mut self, path: &[&str], json: &str) {
        let node = self.key(path);
        self.connection.set_document(&node, json).unwrap();
    }

    pub fn merge(&mut self, json: &str) -> Result<()> {
        self.connection.merge_document(&self.node, json)
    }

    pub fn patch(&mut self, json: &str) -> Result<()> {
        self.connection.patch_document(&self.node, json)
    }

    pub fn clear(&mut self) {
        self.connection.delete(&self.node).unwrap();
    }

    pub fn read(&mut self) -> (Found, String) {
        let mut json = Vec::new();
        let found = self.connection.document(&self.node, &mut json).unwrap();
        (found, String::from_utf8(json).unwrap())
    }

    pub fn text(&mut self) -> Option<String> {
        self.text_at(&[])
    }

    pub fn text_at(&mut self, path: &[&str]) -> Option<String> {
        let node = self.key(path);
        let mut json = Vec::new();
        let found = self.connection.document(&node, &mut json).unwrap();
        (found != Found::Nothing).then(|| String::from_utf8(json).unwrap())
    }

    pub fn json(&mut self) -> Value {
        serde_json::from_str(&self.read().1).unwrap()
    }

    pub fn round_trip(&mut self, json: &str) -> Value {
        self.set(json);
        self.json()
    }

    /// Stores a string as the mg-dbx face does.
    pub fn put(&mut self, path: &[&str], text: &str) {
        let node = self.key(path);
        self.put_at(&node, text);
    }

    pub fn put_raw(&mut self, subscript: &[u8], text: &str) {
        let mut key = Key::new();
        key.copy_from(&self.node);
        key.raw(subscript).unwrap();
        self.put_at(key.as_bytes(), text);
    }

    /// Stores each subscript as its own value.
    pub fn put_all(&mut self, subscripts: &[String]) {
        self.connection.start().unwrap();
        for subscript in subscripts {
            self.put(&[subscript], subscript);
        }
        self.connection.commit().unwrap();
    }

    fn put_at(&mut self, node: &[u8], text: &str) {
        let mut stored = Vec::new();
        Stored::Text(text).write(&mut stored);
        self.connection.set(node, &stored).unwrap();
    }

    pub fn stored(&mut self, path: &[&str]) -> Option<Vec<u8>> {
        let node = self.key(path);
        let mut stored = Vec::new();
        self.connection.get(&node, &mut stored).unwrap().then_some(stored)
    }

    pub fn value(&mut self, path: &[&str]) -> Option<String> {
        let stored = self.stored(path)?;
        match Stored::read(&stored).unwrap() {
            Stored::Text(text) => Some(text.to_owned()),
            other => panic!("{other:?} is no text"),
        }
    }

    /// Everything below the global: the subscripts, encoded, and the stored values.
    pub fn entries(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut entries = Vec::new();
        let mut waiting = vec![self.node.clone()];
        while let Some(node) = waiting.pop() {
            let mut stored = Vec::new();
            if self.connection.get(&node, &mut stored).unwrap() {
                entries.push((node.clone(), stored));
            }
            let (mut after, mut child) = (None::<Vec<u8>>, Vec::new());
            while self.connection.next(&node, after.as_deref(), &mut child).unwrap() {
                let whole = [&node[..], &child].concat();
                waiting.push(whole.clone());
                after = Some(whole);
            }
        }
        entries.sort();
        entries
    }
}

/// The bits of a number.
pub fn bits(number: &Value) -> u64 {
    number.as_f64().unwrap().to_bits()
}

/// Whether two documents are the same to a JavaScript program: numbers are doubles, and the order of members counts for
/// nothing.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => bits(one) == bits(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|((a, one), (b, other))| a == b && same(one, other))
        }
        _ => one == other,
    }
}
