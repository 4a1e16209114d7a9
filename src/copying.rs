//! Moving a whole store to another one, whatever their engines: its entries as they are, in order, in pages of bytes.
//!
//! While a copy is under way its target holds a mark, so that a copy that was cut short is not taken for a store. The mark
//! itself is no part of what is copied.

use crate::engine::{Batch, Flow, Range};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::store::{Connection, OWN_GLOBAL};
use crate::value::{TEXT, Value};

/// Behind every key.
const END: &[u8] = &[0xFF];
/// What stands before an entry in a page: the lengths of its key and its value, four bytes each, little-endian.
const HEAD: usize = 8;

/// Where the mark is: `^%caretdb("copy")`.
fn mark() -> Result<Key> {
    let mut key = Key::new();
    key.global(OWN_GLOBAL)?;
    key.text("copy")?;
    Ok(key)
}

impl Connection {
    /// Writes the next entries behind a key (empty: the first ones) to `page`, one after the other, until it has `most`
    /// bytes: lengths of key and value, key, value. An empty page is the end.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    ///
    /// ```
    /// # use caretdb::{engine::Options, store::Store};
    /// # let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// # let mut from = Store::open(Some(one.path()), &Options::default())?.connect(false)?;
    /// # let mut to = Store::open(Some(other.path()), &Options::default())?.connect(false)?;
    /// from.set(b"Person\0", b"\x01Rob")?;
    /// to.begin_copy("an example")?;
    /// let mut page = Vec::new();
    /// from.read_entries(b"", 1 << 20, &mut page)?;
    /// to.write_entries(&page)?;
    /// to.end_copy()?;
    /// let mut stored = Vec::new();
    /// assert!(to.get(b"Person\0", &mut stored)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_entries(&mut self, behind: &[u8], most: usize, page: &mut Vec<u8>) -> Result<()> {
        let mark = mark()?;
        let mut start = behind.to_vec();
        if !start.is_empty() {
            start.push(0);
        }
        page.clear();
        self.session.scan(Range::entries(&start, END), &mut |key, value| {
            if key != mark.as_bytes() {
                for length in [key.len(), value.len()] {
                    let length = u32::try_from(length).map_err(|_| too_large(value.len()))?;
                    page.extend_from_slice(&length.to_le_bytes());
                }
                page.extend_from_slice(key);
                page.extend_from_slice(value);
            }
            Ok(if page.len() < most { Flow::Continue } else { Flow::Stop })
        })
    }

    /// Stores the entries of a page, all or none, and answers how many there are.
    ///
    /// # Errors
    /// As [`Connection::set`]; [`Error::Argument`] for what is no page.
    pub fn write_entries(&mut self, page: &[u8]) -> Result<usize> {
        let mut batch = Batch::new();
        let mut rest = page;
        while !rest.is_empty() {
            let (key, value, behind) = first(rest).ok_or_else(no_page)?;
            batch.put(key, value);
            rest = behind;
        }
        self.store_as_it_is(&batch)?;
        Ok(batch.len())
    }

    /// Empties the store and marks it as the target of a copy.
    ///
    /// # Errors
    /// As [`Connection::set`].
    pub fn begin_copy(&mut self, about: &str) -> Result<()> {
        let mut stored = Vec::new();
        Value::Text(about).write(&mut stored);
        let mut batch = Batch::new();
        batch.delete_range(&[], END);
        batch.put(mark()?.as_bytes(), &stored);
        self.store_as_it_is(&batch)
    }

    /// The copy is complete.
    ///
    /// # Errors
    /// As [`Connection::set`].
    pub fn end_copy(&mut self) -> Result<()> {
        let mark = mark()?;
        let mut behind = mark.as_bytes().to_vec();
        behind.push(0);
        let mut batch = Batch::new();
        batch.delete_range(mark.as_bytes(), &behind);
        self.store_as_it_is(&batch)
    }

    /// What [`Connection::begin_copy`] said, where the copy has not come to its end.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn unfinished_copy(&mut self) -> Result<Option<String>> {
        let mut stored = Vec::new();
        let found = self.session.get(mark()?.as_bytes(), &mut stored)?;
        Ok(match stored.split_first() {
            Some((&TEXT, text)) if found => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
    }

    /// Applies a batch that brings the entries of its indexes along, and their definitions.
    fn store_as_it_is(&mut self, batch: &Batch) -> Result<()> {
        let stored = self.within(|connection| {
            connection.store_batch(batch)?;
            connection.replace_definitions();
            Ok(())
        });
        self.forget_definitions();
        stored
    }
}

/// The first entry of a page, and what is behind it.
fn first(page: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (head, rest) = page.split_at_checked(HEAD)?;
    let length = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).ok().map(|length| length as usize);
    let (key, rest) = rest.split_at_checked(length(0)?)?;
    let (value, rest) = rest.split_at_checked(length(4)?)?;
    (!key.is_empty()).then_some((key, value, rest))
}

fn too_large(length: usize) -> Error {
    Error::TooLarge(format!("a value of {length} bytes cannot be copied"))
}

fn no_page() -> Error {
    Error::Argument("these bytes are no page of entries".to_owned())
}
