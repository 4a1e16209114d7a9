//! From JSON text straight into a batch.
//!
//! Depth needs no limit of its own: each level makes the key longer, and keys are limited. A text that names a member twice
//! is read again with only the last one kept, see [`unique`].

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::members::{Left, Members};
use super::standing::{self, Standing};
use super::subscript::{self, Form};
use super::text::read_base64;
use super::unique;
use super::{Bytes, Change, Room, bytes_name};
use crate::error::{Error, Result};
use crate::key;
use crate::store::Connection;
use crate::value::{BYTES, EMPTY_OBJECT, FALSE, NULL, NUMBER, OBJECT, TEXT, TRUE};

/// When a batch has grown to this many bytes it is applied, inside a transaction.
const ENOUGH: usize = 16 << 20;
/// What an operation takes in a batch beside its bytes.
const OVERHEAD: usize = 32;
/// The subscript of the leaf that stands for an empty array.
const EMPTY_ARRAY: &[u8] = b"[]";
const NOT_BYTES: &str = "bytes are an object with one member, a string of base64";

/// Changes the document at `node`.
pub fn change(connection: &mut Connection, node: &[u8], json: &str, change: Change, bytes: Bytes) -> Result<()> {
    match connection.again(|connection| run(connection, node, json, change, bytes, false))? {
        Outcome::Written => Ok(()),
        Outcome::NameTwice => {
            let json = unique::keep_last(json)?;
            connection.again(|connection| run(connection, node, &json, change, bytes, true)).map(drop)
        }
    }
}

enum Outcome {
    Written,
    /// Nothing was, because an object may have one name twice.
    NameTwice,
}

fn run(
    connection: &mut Connection,
    node: &[u8],
    json: &str,
    change: Change,
    bytes: Bytes,
    names_are_unique: bool,
) -> Result<Outcome> {
    let mut room = Room::take();
    room.key.copy_from(node);
    let outer = connection.indexes.suspend();
    let mut writing =
        Writing { connection, room, bytes, names_are_unique, name_twice: false, in_level: false, failure: None };
    let written = writing.document(json, change);
    let result = match writing.failure.take() {
        None => written.map_err(|error| not_json(&error)).and_then(|()| writing.end()),
        Some(failure) => Err(failure),
    };
    let (name_twice, in_level) = (writing.name_twice, writing.in_level);
    writing.room.give_back();
    connection.indexes.resume(outer);
    if result.is_ok() {
        return Ok(Outcome::Written);
    }
    if in_level {
        connection.rollback()?;
    }
    if name_twice { Ok(Outcome::NameTwice) } else { result.map(|()| Outcome::Written) }
}

/// What the parser says, as an error of an argument.
pub(super) fn not_json(error: &serde_json::Error) -> Error {
    let what = error.to_string();
    if what.contains("surrogate") || what.contains("hex escape") {
        return Error::Argument(format!("the document has a lone surrogate, which is no character: {what}"));
    }
    Error::Argument(format!("the document is not JSON: {what}"))
}

/// One document on its way into a batch.
struct Writing<'c> {
    connection: &'c mut Connection,
    room: Box<Room>,
    bytes: Bytes,
    names_are_unique: bool,
    name_twice: bool,
    /// Whether a level of transaction has been opened for this document.
    in_level: bool,
    /// The error that ended the parser.
    failure: Option<Error>,
}

impl Writing<'_> {
    fn document(&mut self, json: &str, change: Change) -> serde_json::Result<()> {
        let mut parser = serde_json::Deserializer::from_str(json);
        parser.disable_recursion_limit();
        let fresh = change == Change::Replace;
        if fresh {
            self.delete();
        } else {
            self.enter_level().map_err(|error| self.fail(error))?;
        }
        Place { writing: self, change, fresh, member: false }.deserialize(&mut parser)?;
        parser.end()
    }

    /// Applies what is left.
    fn end(&mut self) -> Result<()> {
        self.connection.apply(&self.room.batch)?;
        self.connection.check_deferred()?;
        // A commit ends the level, whether it succeeds or not.
        if std::mem::take(&mut self.in_level) { self.connection.commit() } else { Ok(()) }
    }

    fn enter_level(&mut self) -> Result<()> {
        if !self.in_level {
            self.connection.foresee(self.room.key.as_bytes());
            self.connection.start()?;
            self.in_level = true;
            self.connection.indexes.defer();
        }
        Ok(())
    }

    /// Applies what the batch holds, so that reads see it.
    fn flush(&mut self) -> Result<()> {
        self.enter_level()?;
        self.connection.apply(&self.room.batch)?;
        self.room.clear_batch();
        Ok(())
    }

    /// Keeps an error for the caller and ends the parser.
    #[cold]
    fn fail<E: de::Error>(&mut self, error: Error) -> E {
        self.failure = Some(match error {
            Error::KeyTooLong(bytes) => Error::PathTooLong { path: standing::spell(self.room.key.as_bytes()), bytes },
            other => other,
        });
        E::custom("the document cannot be stored")
    }

    /// Stores a value at the node, of which nothing may be there.
    fn put(&mut self, tag: u8, payload: &[u8]) -> Result<()> {
        let Room { key, stored, batch, .. } = &mut *self.room;
        stored.clear();
        stored.push(tag);
        stored.extend_from_slice(payload);
        batch.put(key.as_bytes(), stored);
        if batch.size() + batch.len() * OVERHEAD > ENOUGH { self.flush() } else { Ok(()) }
    }

    /// Deletes the node, its value and everything below it.
    fn delete(&mut self) {
        let Room { key, end, batch, .. } = &mut *self.room;
        key::subtree_end(key.as_bytes(), end);
        batch.delete_range(key.as_bytes(), end);
    }

    fn standing(&mut self) -> Result<Standing> {
        standing::look(self.connection, self.room.key.as_bytes())
    }
}

/// The node at which the parser's next value belongs.
struct Place<'w, 'c> {
    writing: &'w mut Writing<'c>,
    change: Change,
    /// Whether nothing is there, or all of it is being deleted.
    fresh: bool,
    /// Whether it is a member of an object.
    member: bool,
}

impl Place<'_, '_> {
    fn scalar<E: de::Error>(self, tag: u8, payload: &[u8]) -> std::result::Result<Left, E> {
        if !self.fresh {
            self.writing.delete();
        }
        self.writing.put(tag, payload).map_err(|error| self.writing.fail(error))?;
        Ok(Left::Something)
    }

    /// Whether the children of the array that comes now meet nothing.
    fn begin_array(&mut self) -> Result<bool> {
        if self.fresh {
            return Ok(true);
        }
        let standing = self.writing.standing()?;
        if self.change == Change::Merge && standing == Standing::Array {
            return Ok(false);
        }
        if standing != Standing::Nothing {
            self.writing.delete();
        }
        Ok(true)
    }

    fn end_array(&mut self, empty: bool, fresh: bool) -> Result<()> {
        let writing = &mut *self.writing;
        match (fresh, empty) {
            (true, true) => {
                writing.room.key.raw(EMPTY_ARRAY)?;
                writing.put(TEXT, b"")
            }
            (false, false) => {
                let Room { key, stored, .. } = &mut *writing.room;
                key.raw(EMPTY_ARRAY)?;
                if writing.connection.get(key.as_bytes(), stored)? && stored[..] == [TEXT] {
                    writing.delete();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the object that comes now meets.
    fn begin_object(&mut self) -> Result<Standing> {
        if self.fresh {
            return Ok(Standing::Nothing);
        }
        let writing = &mut *self.writing;
        let standing = writing.standing()?;
        let keeps = match standing {
            Standing::Object { .. } => true,
            // A first and a last child that look like elements are not yet an array.
            Standing::Array => !standing::is_array(writing.connection, writing.room.key.as_bytes())?,
            Standing::Nothing | Standing::Other => false,
        };
        if keeps {
            return Ok(if standing == Standing::Array { Standing::Object { value: false } } else { standing });
        }
        if standing == Standing::Other || standing == Standing::Array {
            writing.delete();
        }
        Ok(Standing::Nothing)
    }

    fn end_object(&mut self, standing: Standing, members: &Members) -> Result<()> {
        let writing = &mut *self.writing;
        if members.need_mark {
            return writing.put(OBJECT, b"");
        }
        let Standing::Object { value } = standing else {
            return if members.written { Ok(()) } else { writing.put(EMPTY_OBJECT, b"") };
        };
        if !members.removed || value {
            return Ok(());
        }
        // The members that were there may all be gone.
        writing.flush()?;
        if writing.standing()? == Standing::Nothing { writing.put(EMPTY_OBJECT, b"") } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_, '_> {
    type Value = Left;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Left, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_, '_> {
    type Value = Left;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> std::result::Result<Left, E> {
        if self.member && self.change == Change::Patch {
            if !self.fresh {
                self.writing.delete();
            }
            return Ok(Left::Nothing);
        }
        self.scalar(NULL, b"")
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> std::result::Result<Left, E> {
        self.scalar(if truth { TRUE } else { FALSE }, b"")
    }

    #[allow(clippy::cast_precision_loss)] // to the nearest double, as JSON.parse does
    fn visit_u64<E: de::Error>(self, n: u64) -> std::result::Result<Left, E> {
        self.visit_f64(n as f64)
    }

    #[allow(clippy::cast_precision_loss)] // as above
    fn visit_i64<E: de::Error>(self, n: i64) -> std::result::Result<Left, E> {
        self.visit_f64(n as f64)
    }

    fn visit_f64<E: de::Error>(self, n: f64) -> std::result::Result<Left, E> {
        self.scalar(NUMBER, &n.to_le_bytes())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Left, E> {
        self.scalar(TEXT, text.as_bytes())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> std::result::Result<Left, A::Error> {
        let fresh = self.begin_array().map_err(|error| self.writing.fail(error))?;
        // What stands in an array is replaced by a patch, so nulls in its objects stay.
        let change = if self.change == Change::Patch { Change::Replace } else { self.change };
        let node = self.writing.room.key.len();
        let mut index = 0;
        while let Some(Left::Something | Left::Nothing) =
            elements.next_element_seed(Element { writing: &mut *self.writing, index, change, fresh })?
        {
            self.writing.room.key.truncate(node);
            index += 1;
        }
        self.end_array(index == 0, fresh).map_err(|error| self.writing.fail(error))?;
        self.writing.room.key.truncate(node);
        Ok(Left::Something)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<Left, A::Error> {
        let standing = self.begin_object().map_err(|error| self.writing.fail(error))?;
        let fresh = standing == Standing::Nothing;
        let node = self.writing.room.key.len();
        let mut members = Members::new(self.writing.room.names.len());
        loop {
            let name = map.next_key_seed(Name { writing: &mut *self.writing, members: &mut members })?;
            match name {
                None => break,
                Some(Named::Bytes) => return self.bytes(map, standing),
                Some(Named::Member(form)) => {
                    let place = Place { writing: &mut *self.writing, change: self.change, fresh, member: true };
                    let left = map.next_value_seed(place)?;
                    members.add(form, left);
                    self.writing.room.key.truncate(node);
                }
            }
        }
        self.writing.room.names.truncate(members.start);
        self.end_object(standing, &members).map_err(|error| self.writing.fail(error))?;
        Ok(Left::Something)
    }
}

impl Place<'_, '_> {
    /// Stores bytes, after the name that stands for them.
    fn bytes<'de, A: MapAccess<'de>>(self, mut map: A, standing: Standing) -> std::result::Result<Left, A::Error> {
        let text: String = map.next_value()?;
        let mut bytes = Vec::new();
        let alone = map.next_key::<de::IgnoredAny>()?.is_none();
        if !alone || !read_base64(&text, &mut bytes) {
            return Err(A::Error::custom(NOT_BYTES));
        }
        if standing != Standing::Nothing {
            self.writing.delete();
        }
        self.writing.put(BYTES, &bytes).map_err(|error| self.writing.fail(error))?;
        Ok(Left::Something)
    }
}

/// One element of an array.
struct Element<'w, 'c> {
    writing: &'w mut Writing<'c>,
    index: u64,
    change: Change,
    fresh: bool,
}

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = Left;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Left, D::Error> {
        let Element { writing, index, change, fresh } = self;
        subscript::element(&mut writing.room.key, index).map_err(|error| writing.fail(error))?;
        Place { writing, change, fresh, member: false }.deserialize(parser)
    }
}

/// A name, which is appended to the key.
struct Name<'w, 'c, 'm> {
    writing: &'w mut Writing<'c>,
    members: &'m mut Members,
}

enum Named {
    Member(Form),
    /// It is the name that stands for bytes.
    Bytes,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_, '_> {
    type Value = Named;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Named, D::Error> {
        parser.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_, '_, '_> {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<Named, E> {
        let Name { writing, members } = self;
        if writing.bytes == Bytes::Marked && name == bytes_name() {
            let first = !members.written && !members.removed;
            return if first { Ok(Named::Bytes) } else { Err(E::custom(NOT_BYTES)) };
        }
        if !writing.names_are_unique && !members.is_new(name, &mut writing.room.names) {
            writing.name_twice = true;
            return Err(E::custom("a name occurs twice"));
        }
        subscript::member(&mut writing.room.key, name).map_err(|error| writing.fail(error))?;
        Ok(Named::Member(subscript::form(name.as_bytes())))
    }
}
