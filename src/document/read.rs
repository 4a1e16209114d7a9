//! From the entries of a subtree, in key order, straight to JSON text.

use super::Found;
use super::subscript::{self, Form};
use super::text::{clean_len, write_stored, write_string};
use crate::engine::Flow;
use crate::error::{Error, Result};
use crate::key;
use crate::value::{OBJECT, TEXT};

/// An array that misses more elements than this is shown as an object, so that one stray index fills no memory.
pub const MAX_HOLES: u64 = 1_000_000;

/// Writes one document while its entries come in.
///
/// Two things only show later: that a node which had a value has children too, and that what began like an array is none.
/// In the first case the value is taken back; in the second the reader gives up, and [`super::gather`] does it at leisure.
pub struct Reader<'a> {
    json: &'a mut Vec<u8>,
    /// The key of the entry before; at first the node's own.
    last: &'a mut Vec<u8>,
    /// Where in the text the value of `last` begins.
    value_at: usize,
    /// The type byte of that value, 0 where there was none.
    last_type: u8,
    open: Vec<Container>,
    holes: u64,
    /// Whether `last` is the `[]` that an array does not show.
    hidden: bool,
    found: Found,
    irregular: bool,
}

/// An object or array that has been begun.
struct Container {
    /// The length of its node's key.
    key: usize,
    kind: Kind,
}

enum Kind {
    /// Its first child decides.
    Undecided,
    /// It has a mark, and no child yet.
    Marked,
    Object,
    /// How many elements there are so far, holes included.
    Array(u64),
}

impl<'a> Reader<'a> {
    pub fn new(node: &[u8], last: &'a mut Vec<u8>, json: &'a mut Vec<u8>) -> Self {
        last.clear();
        last.extend_from_slice(node);
        Reader {
            value_at: json.len(),
            json,
            last,
            last_type: 0,
            open: Vec::new(),
            holes: 0,
            hidden: false,
            found: Found::Nothing,
            irregular: false,
        }
    }

    /// Takes the next entry.
    pub fn take(&mut self, key: &[u8], stored: &[u8]) -> Result<Flow> {
        if self.found == Found::Nothing {
            self.found = Found::Json;
            if key.len() == self.last.len() {
                return self.value(stored);
            }
        }
        let shared = shared_len(self.last, key);
        if shared == self.last.len() {
            if self.hidden {
                return Ok(self.give_up());
            }
            self.json.truncate(self.value_at);
            let kind = if self.last_type == OBJECT { Kind::Marked } else { Kind::Undecided };
            self.open.push(Container { key: shared, kind });
        } else {
            self.close(shared);
        }
        self.hidden = false;
        let mut at = self.open.last().map_or(shared, |container| container.key);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        loop {
            let rest = &key[at..];
            let Some(length) = key::subscript_len(rest) else {
                return Err(Error::Internal(format!("a stored key is damaged: {:02x?}", &key[..key.len().min(64)])));
            };
            at += length;
            let leaf = at == key.len();
            if !self.begin_child(&rest[..length], leaf, stored)? {
                return Ok(self.give_up());
            }
            if leaf {
                break;
            }
            self.open.push(Container { key: at, kind: Kind::Undecided });
        }
        if self.hidden {
            return Ok(Flow::Continue);
        }
        self.value(stored)
    }

    /// Ends the text. `None` where it has to be made otherwise.
    pub fn finish(mut self) -> Option<Found> {
        if self.irregular {
            return None;
        }
        self.close(0);
        Some(self.found)
    }

    fn value(&mut self, stored: &[u8]) -> Result<Flow> {
        self.value_at = self.json.len();
        self.last_type = stored.first().copied().unwrap_or(0);
        if write_stored(stored, self.json)? {
            self.found = Found::HasBytes;
        }
        Ok(Flow::Continue)
    }

    /// Ends the containers whose keys the next entry does not begin with.
    fn close(&mut self, shared: usize) {
        while let Some(container) = self.open.pop_if(|container| container.key > shared) {
            self.json.push(if matches!(container.kind, Kind::Array(_)) { b']' } else { b'}' });
        }
    }

    /// Writes what stands before a child's value. False where the child does not fit into its array.
    #[inline]
    fn begin_child(&mut self, encoded: &[u8], leaf: bool, stored: &[u8]) -> Result<bool> {
        let Some(container) = self.open.last_mut() else { return Ok(false) };
        match container.kind {
            Kind::Object => self.json.push(b','),
            Kind::Array(length) => return Ok(self.begin_element(encoded, length, leaf, stored)),
            Kind::Undecided if subscript::encoded_form(encoded) != Form::Name => {
                self.json.push(b'[');
                return Ok(self.begin_element(encoded, 0, leaf, stored));
            }
            Kind::Undecided | Kind::Marked => {
                container.kind = Kind::Object;
                self.json.push(b'{');
            }
        }
        write_name(encoded, self.json)?;
        self.json.push(b':');
        Ok(true)
    }

    fn begin_element(&mut self, encoded: &[u8], length: u64, leaf: bool, stored: &[u8]) -> bool {
        let (index, next) = match subscript::encoded_form(encoded) {
            Form::Element(index) if index >= length => (index, index + 1),
            Form::Empty if leaf && stored == [TEXT] => {
                self.hidden = true;
                (length, length)
            }
            _ => return false,
        };
        self.holes += index - length;
        if self.holes > MAX_HOLES {
            return false;
        }
        for at in length..index {
            self.json.extend_from_slice(if at == 0 { b"null" } else { b",null" });
        }
        if index > 0 && !self.hidden {
            self.json.push(b',');
        }
        if let Some(container) = self.open.last_mut() {
            container.kind = Kind::Array(next);
        }
        true
    }

    fn give_up(&mut self) -> Flow {
        self.irregular = true;
        Flow::Stop
    }
}

/// Appends the name of a member with its quotes.
#[inline]
pub fn write_name(encoded: &[u8], json: &mut Vec<u8>) -> Result<()> {
    match encoded {
        // Nothing in it is escaped, neither here nor there.
        [_, body @ .., _] if key::is_string(encoded) && body.is_ascii() && clean_len(body) == body.len() => {
            json.push(b'"');
            json.extend_from_slice(body);
            json.push(b'"');
        }
        _ => write_string(&subscript::name(encoded)?, json),
    }
    Ok(())
}

/// How many bytes two keys have in common at the start.
#[inline]
fn shared_len(one: &[u8], other: &[u8]) -> usize {
    let mut at = 0;
    let (words, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    for (word, other) in words.iter().zip(others) {
        let differ = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return at + (differ.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + one[at..].iter().zip(&other[at..]).take_while(|(one, other)| one == other).count()
}
