//! Documents: JSON text <-> the nodes below one node, one leaf per scalar. `docs/documents.md` shows each form.
//!
//! Text goes straight into a batch and comes straight out of a scan; no tree of values is built on the way.

mod gather;
mod members;
mod read;
mod standing;
mod subscript;
mod text;
mod unique;
mod write;

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

pub(crate) use standing::spell;
pub use subscript::{Form, element, form, member, name};

use crate::engine::{Flow, Range};
use crate::error::Result;
use crate::key;
use crate::store::Connection;

/// What [`Connection::document`] found at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Neither a value nor children; no text was written.
    Nothing,
    /// A document, now in the text.
    Json,
    /// A document with bytes in it, which stand in the text as [`bytes_name`] says.
    HasBytes,
}

/// What becomes of the document that is there when another one is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It goes away, the node's own value included.
    Replace,
    /// It stays where the new one names nothing. Objects are merged member by member and arrays element by element;
    /// everything else is replaced.
    Merge,
    /// It is patched by JSON Merge Patch, RFC 7396: as [`Change::Merge`], but `null` deletes a member, and arrays are
    /// replaced.
    Patch,
}

/// Whether JSON text being written may hold bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// All of it is taken literally.
    Literal,
    /// An object whose only member has the name [`bytes_name`] is the bytes whose base64 form is its value.
    Marked,
}

/// The member name that stands for bytes in JSON text, both ways: `{"<name>": "<base64>"}`.
///
/// It holds a random number, new for each process, so that no stored document can have it by accident or intent.
#[must_use]
pub fn bytes_name() -> &'static str {
    static NAME: LazyLock<String> =
        LazyLock::new(|| format!("\0caretdb:bytes:{:016x}", RandomState::new().hash_one("bytes")));
    &NAME
}

impl Connection {
    /// Writes the JSON text as the document at `node`, in place of the node's own value and everything below it.
    ///
    /// Where a name occurs twice in an object the last one counts. All of it is visible at once, or, on an error, none.
    ///
    /// # Errors
    /// [`crate::error::Error::Argument`] for text that is no JSON or has a lone surrogate,
    /// [`crate::error::Error::PathTooLong`], and as [`Connection::set`].
    ///
    /// ```
    /// use caretdb::{document::Found, engine::Options, key::Key, store::Store};
    /// # let folder = tempfile::tempdir()?;
    /// let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// let mut node = Key::new();
    /// node.global("Person")?;
    /// db.set_document(node.as_bytes(), r#"{"name": "Rob", "tags": ["a", null], "age": 42.0}"#)?;
    /// let mut json = Vec::new();
    /// assert_eq!(db.document(node.as_bytes(), &mut json)?, Found::Json);
    /// assert_eq!(json, br#"{"age":42,"name":"Rob","tags":["a",null]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_document(&mut self, node: &[u8], json: &str) -> Result<()> {
        self.change_document(node, json, Change::Replace, Bytes::Literal)
    }

    /// Merges the JSON text into the document at `node`, which keeps what the text does not name; see [`Change::Merge`].
    ///
    /// # Errors
    /// As [`Connection::set_document`].
    ///
    /// ```
    /// # use caretdb::{document::Found, engine::Options, key::Key, store::Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// # let mut node = Key::new();
    /// # node.global("Person")?;
    /// db.set_document(node.as_bytes(), r#"{"name": "Rob", "tags": [1, 2, 3]}"#)?;
    /// db.merge_document(node.as_bytes(), r#"{"city": "Redhill", "tags": [9]}"#)?;
    /// let mut json = Vec::new();
    /// db.document(node.as_bytes(), &mut json)?;
    /// assert_eq!(json, br#"{"city":"Redhill","name":"Rob","tags":[9,2,3]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge_document(&mut self, node: &[u8], json: &str) -> Result<()> {
        self.change_document(node, json, Change::Merge, Bytes::Literal)
    }

    /// Patches the document at `node` by JSON Merge Patch, RFC 7396.
    ///
    /// # Errors
    /// As [`Connection::set_document`].
    ///
    /// ```
    /// # use caretdb::{document::Found, engine::Options, key::Key, store::Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// # let mut node = Key::new();
    /// # node.global("Person")?;
    /// db.set_document(node.as_bytes(), r#"{"name": "Rob", "tags": [1, 2, 3]}"#)?;
    /// db.patch_document(node.as_bytes(), r#"{"name": null, "tags": [9]}"#)?;
    /// let mut json = Vec::new();
    /// db.document(node.as_bytes(), &mut json)?;
    /// assert_eq!(json, br#"{"tags":[9]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn patch_document(&mut self, node: &[u8], patch: &str) -> Result<()> {
        self.change_document(node, patch, Change::Patch, Bytes::Literal)
    }

    /// Changes the document at `node` by JSON text in which bytes may stand.
    ///
    /// # Errors
    /// As [`Connection::set_document`], and [`crate::error::Error::Argument`] for marked bytes that are no base64.
    pub fn change_document(&mut self, node: &[u8], json: &str, change: Change, bytes: Bytes) -> Result<()> {
        write::change(self, node, json, change, bytes)
    }

    /// Appends the text of the document at `node` to `json`: the node's children, or its own value where it has none.
    ///
    /// Members come in collation order, numbers are spelt as JavaScript spells them (and -0 as `-0`), all of one moment.
    ///
    /// # Errors
    /// [`crate::error::Error::BadKey`] for a subscript that is not UTF-8, which no JSON text can name; damage, or the
    /// system's answer. `json` is then as it was.
    pub fn document(&mut self, node: &[u8], json: &mut Vec<u8>) -> Result<Found> {
        let before = json.len();
        let found = self.read_document(node, json);
        if found.is_err() {
            json.truncate(before);
        }
        found
    }

    fn read_document(&mut self, node: &[u8], json: &mut Vec<u8>) -> Result<Found> {
        let before = json.len();
        let mut room = Room::take();
        key::subtree_end(node, &mut room.end);
        let mut reader = read::Reader::new(node, &mut room.last, json);
        let range = Range::entries(node, &room.end);
        self.session.scan(range, &mut |key, stored| reader.take(key, stored))?;
        let found = match reader.finish() {
            Some(found) => found,
            None => {
                // Some array was none. What has been written cannot be told from the text, so look again.
                json.truncate(before);
                let mut entries = Vec::new();
                self.session.scan(range, &mut |key, stored| {
                    entries.push((key[node.len()..].to_vec(), stored.to_vec()));
                    Ok(Flow::Continue)
                })?;
                gather::write(&entries, json)?
            }
        };
        room.give_back();
        Ok(found)
    }
}

/// Memory that documents are read and written with, kept by each thread from one to the next.
#[derive(Default)]
struct Room {
    key: key::Key,
    end: Vec<u8>,
    last: Vec<u8>,
    stored: Vec<u8>,
    names: Vec<u64>,
    batch: crate::engine::Batch,
    /// The most bytes a batch has had that was cleared since.
    batch_peak: usize,
}

impl Room {
    /// More than this is given back to the system.
    const KEPT: usize = 1 << 20;

    fn take() -> Box<Room> {
        ROOM.take().unwrap_or_default()
    }

    fn clear_batch(&mut self) {
        self.batch_peak = self.batch_peak.max(self.batch.size());
        self.batch.clear();
    }

    fn give_back(mut self: Box<Room>) {
        self.clear_batch();
        let large = self.batch_peak + self.stored.capacity() + self.names.capacity() * size_of::<u64>();
        if large <= Room::KEPT {
            self.names.clear();
            ROOM.set(Some(self));
        }
    }
}

thread_local! {
    static ROOM: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}
