//! The definition of an index, and how it is stored: `^%caretdb("index", <global>, <subscripts of the node>, <name>)` holds
//! its number, path and kind as JSON.

use serde_json::{Value as Json, json};

use super::entry::{self, Entry};
use super::{Error, Result, Value};
use crate::document::{element, member, spell};
use crate::key::{self, Key};
use crate::store::OWN_GLOBAL;

/// Below these subscripts of [`OWN_GLOBAL`] nobody but this room writes.
const DEFINITIONS: &str = "index";
const ENTRIES: &str = "entry";

/// One index.
pub struct Index {
    /// Tells it from all others of the store.
    pub id: u64,
    pub name: String,
    /// The key of the node whose children are in it.
    pub node: Vec<u8>,
    /// The path inside each child as JSON, and as encoded subscripts.
    path: Json,
    subscripts: Vec<u8>,
    pub unique: bool,
    /// The key below which its entries are.
    pub entries: Vec<u8>,
}

impl Index {
    /// An index that is not stored yet.
    ///
    /// # Errors
    /// [`Error::Argument`] for a path that is none and for the product's own global, [`Error::KeyTooLong`].
    pub fn new(id: u64, node: &[u8], name: &str, path: &str, unique: bool) -> Result<Index> {
        if name.is_empty() {
            return Err(Error::Argument("the name of an index must not be empty".to_owned()));
        }
        if key::split(node).is_none_or(|(global, _)| global == OWN_GLOBAL) {
            return Err(Error::Argument(format!("^{OWN_GLOBAL} cannot have an index: it is the product's own")));
        }
        let path: Json = serde_json::from_str(path)
            .map_err(|error| Error::Argument(format!("the path of an index cannot be read: {error}")))?;
        let subscripts = encode(&path)?;
        let mut entries = own(ENTRIES)?;
        #[allow(clippy::cast_precision_loss)] // nobody makes 2^53 indexes
        entries.number(id as f64)?;
        Ok(Index {
            id,
            name: name.to_owned(),
            node: node.to_vec(),
            path,
            subscripts,
            unique,
            entries: entries.as_bytes().to_vec(),
        })
    }

    /// Reads a stored definition.
    ///
    /// # Errors
    /// [`Error::Internal`] where it is damaged.
    pub fn read(key: &[u8], stored: &[u8]) -> Result<Index> {
        read(key, stored)
            .ok_or_else(|| Error::Internal(format!("the definition of an index at {} is damaged", spell(key))))
    }

    /// The value of its node.
    pub fn stored(&self) -> Vec<u8> {
        let text = json!({"id": self.id, "path": self.path, "unique": self.unique}).to_string();
        let mut stored = Vec::new();
        Value::Text(&text).write(&mut stored);
        stored
    }

    /// Whether another definition of the same name says the same.
    ///
    /// # Errors
    /// [`Error::Argument`] where it does not.
    pub fn must_equal(&self, other: &Index) -> Result<()> {
        if self.subscripts == other.subscripts && self.unique == other.unique {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "{} has an index {:?} already, {}on the path {}: drop it first, or take another name",
            spell(&self.node),
            self.name,
            if self.unique { "unique, " } else { "" },
            self.path
        )))
    }

    /// The encoded subscript of the child whose indexed value is at this key; none for other keys.
    #[inline]
    pub fn child_of<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let below = key.strip_prefix(&*self.node)?;
        let child = below.strip_suffix(&*self.subscripts)?;
        (key::subscript_len(below) == Some(child.len())).then_some(child)
    }

    /// The key of the indexed value of a child.
    pub fn value_key(&self, child: &[u8]) -> Vec<u8> {
        [&self.node, child, &self.subscripts].concat()
    }

    /// The entry for a child with this stored value; none where it is no value that an index holds.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where the value is too long.
    pub fn entry(&self, stored: &[u8], child: &[u8]) -> Result<Option<Entry>> {
        let Some(mut key) = entry::begin(&self.entries, stored)? else { return Ok(None) };
        let length = key.len();
        key.extend_from_slice(child);
        if key.len() > key::MAX_KEY {
            return Err(Error::TooLarge(format!(
                "the value at {} is too long for the index {:?}: it takes {} bytes there, more than {}",
                spell(&self.value_key(child)),
                self.name,
                key.len(),
                key::MAX_KEY
            )));
        }
        Ok(Some(Entry::new(key, length)))
    }

    /// The error for two children with the same value.
    pub fn taken_twice(&self, first: &[u8], second: &[u8]) -> Error {
        taken_twice(&self.name, &self.node, first, second)
    }
}

/// The error for two children of a node that have the same value in a unique index.
pub fn taken_twice(name: &str, node: &[u8], first: &[u8], second: &[u8]) -> Error {
    Error::BadValue(format!(
        "{} and {} have the same value in the unique index {name:?}",
        spell(&[node, first].concat()),
        spell(&[node, second].concat())
    ))
}

/// The error for an index that is not there.
pub fn missing(node: &[u8], name: &str) -> Error {
    Error::Argument(format!("{} has no index {name:?}: make it with createIndex", spell(node)))
}

/// The key of a definition.
pub fn key(node: &[u8], name: &str) -> Result<Vec<u8>> {
    let (global, subscripts) = key::split(node).ok_or_else(|| Error::Internal("a node has no global".to_owned()))?;
    let mut key = own(DEFINITIONS)?;
    key.text(global)?;
    key.encoded(subscripts)?;
    key.text(name)?;
    Ok(key.as_bytes().to_vec())
}

/// Where all definitions are.
pub fn stretch() -> (Vec<u8>, Vec<u8>) {
    reserved(DEFINITIONS)
}

/// Whether a key is one that only this room writes.
pub fn is_reserved(key: &[u8]) -> bool {
    [DEFINITIONS, ENTRIES].iter().any(|part| key.starts_with(&reserved(part).0))
}

/// Whether a key is that of an entry.
pub fn is_entry(key: &[u8]) -> bool {
    key.starts_with(&reserved(ENTRIES).0)
}

/// Whether a stretch of keys reaches into what only this room writes.
pub fn is_reserved_in(start: &[u8], end: &[u8]) -> bool {
    let meets = |part| {
        let (first, behind) = reserved(part);
        start < &*behind && end > &*first
    };
    start <= &[OWN_GLOBAL.as_bytes(), &[1]].concat()[..]
        && end > OWN_GLOBAL.as_bytes()
        && (meets(DEFINITIONS) || meets(ENTRIES))
}

/// The error for a write there.
pub fn is_ours() -> Error {
    Error::BadKey(format!(
        "^{OWN_GLOBAL}({DEFINITIONS:?}) and ^{OWN_GLOBAL}({ENTRIES:?}) belong to createIndex and dropIndex and cannot be written"
    ))
}

fn reserved(part: &str) -> (Vec<u8>, Vec<u8>) {
    let start = [OWN_GLOBAL.as_bytes(), b"\0\xC0", part.as_bytes(), b"\0"].concat();
    let mut end = Vec::new();
    key::subtree_end(&start, &mut end);
    (start, end)
}

fn own(part: &str) -> Result<Key> {
    let mut key = Key::new();
    key.global(OWN_GLOBAL)?;
    key.text(part)?;
    Ok(key)
}

fn encode(path: &Json) -> Result<Vec<u8>> {
    let wrong = || {
        Error::Argument(format!(
            "the path of an index must be an array of names and of indexes of elements, such as [\"tags\",0], not {path}"
        ))
    };
    let mut key = Key::new();
    for step in path.as_array().ok_or_else(wrong)? {
        match step {
            Json::String(name) => member(&mut key, name)?,
            step => element(&mut key, step.as_u64().ok_or_else(wrong)?)?,
        }
    }
    Ok(key.as_bytes().to_vec())
}

fn read(key: &[u8], stored: &[u8]) -> Option<Index> {
    let (_, subscripts) = key::split(key)?;
    let mut parts: Vec<&[u8]> = key::subscripts(subscripts).collect();
    let name = text(parts.pop()?)?;
    let mut node = Key::new();
    node.global(&text(parts.get(1)?)?).ok()?;
    for subscript in &parts[2..] {
        node.encoded(subscript).ok()?;
    }
    let Ok(Value::Text(definition)) = Value::read(stored) else { return None };
    let definition: Json = serde_json::from_str(definition).ok()?;
    let unique = definition["unique"].as_bool()?;
    Index::new(definition["id"].as_u64()?, node.as_bytes(), &name, &definition["path"].to_string(), unique).ok()
}

fn text(subscript: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    key::write_text(subscript, &mut text).ok()?;
    String::from_utf8(text).ok()
}
