//! Finding documents by an index.

use super::definition::{self, Index};
use super::entry;
use super::{Error, Result, key};
use crate::document::Found;
use crate::engine::{Flow, Range};
use crate::key::CHILDREN;
use crate::store::Connection;

/// Which entries of an index are wanted. Values are stored values.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Only this value.
    pub equals: Option<&'a [u8]>,
    /// The least value, and whether it belongs to what is wanted.
    pub low: Option<(&'a [u8], bool)>,
    /// The greatest value, likewise.
    pub high: Option<(&'a [u8], bool)>,
    /// Only strings that begin so; empty for all values.
    pub prefix: &'a str,
    /// From the greatest value to the least.
    pub reverse: bool,
    /// At most so many.
    pub limit: usize,
    /// Only what comes behind this position in the direction of travel.
    pub behind: Option<&'a [u8]>,
}

impl Default for Query<'_> {
    fn default() -> Self {
        Query { equals: None, low: None, high: None, prefix: "", reverse: false, limit: usize::MAX, behind: None }
    }
}

/// One document that was found.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// Where it is in the index, for [`Query::behind`].
    pub position: &'a [u8],
    /// The encoded subscript of the child.
    pub child: &'a [u8],
    /// Its document.
    pub json: &'a [u8],
    /// Whether the document has bytes in it.
    pub found: Found,
}

impl Connection {
    /// Shows the children of a node whose indexed values are wanted, with their documents, in the order of the values, then
    /// of the children, all of one moment, until `show` says false.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is no such index, or a wanted value is none that an index holds;
    /// [`Error::TooLarge`] where one is too long; as [`Connection::document`].
    pub fn find(
        &mut self,
        node: &[u8],
        name: &str,
        query: &Query<'_>,
        show: &mut dyn FnMut(Hit<'_>) -> Result<bool>,
    ) -> Result<()> {
        // Inside a transaction nobody else writes, and a moment that is held already is the one to look at.
        let hold = !self.holds && !self.session.in_transaction();
        if hold {
            self.session.hold()?;
        }
        let shown = self.find_now(node, name, query, show);
        if hold {
            self.session.release();
        }
        shown
    }

    fn find_now(
        &mut self,
        node: &[u8],
        name: &str,
        query: &Query<'_>,
        show: &mut dyn FnMut(Hit<'_>) -> Result<bool>,
    ) -> Result<()> {
        let key = definition::key(node, name)?;
        let mut stored = Vec::new();
        if !self.session.get(&key, &mut stored)? {
            return Err(definition::missing(node, name));
        }
        let index = Index::read(&key, &stored)?;
        let (start, end) = stretch(&index, query)?;
        let mut positions: Vec<Vec<u8>> = Vec::new();
        if start < end && query.limit > 0 {
            let range = Range { start: &start, end: &end, reverse: query.reverse, values: false };
            self.session.scan(range, &mut |found, _| {
                positions.push(found[index.entries.len()..].to_vec());
                Ok(if positions.len() < query.limit { Flow::Continue } else { Flow::Stop })
            })?;
        }
        let (mut child_key, mut json) = (Vec::new(), Vec::new());
        for position in &positions {
            let damaged = || Error::Internal(format!("the index {name:?} has a damaged entry"));
            let child = entry::child_in(position).ok_or_else(damaged)?;
            child_key.clear();
            child_key.extend_from_slice(node);
            child_key.extend_from_slice(child);
            json.clear();
            let found = self.document(&child_key, &mut json)?;
            if !show(Hit { position, child, json: &json, found })? {
                break;
            }
        }
        Ok(())
    }
}

/// The half-open stretch of keys that holds the wanted entries.
fn stretch(index: &Index, query: &Query<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let entries = &index.entries;
    let mut start = entries.clone();
    start.push(CHILDREN);
    let mut end = behind(entries);
    let mut narrow = |first: Vec<u8>, last: Vec<u8>| {
        start = first.max(std::mem::take(&mut start));
        end = last.min(std::mem::take(&mut end));
    };
    if let Some(value) = query.equals {
        let value = bound(entries, value)?;
        narrow(value.clone(), behind(&value));
    }
    if let Some((value, inclusive)) = query.low {
        let value = bound(entries, value)?;
        narrow(if inclusive { value } else { behind(&value) }, behind(entries));
    }
    if let Some((value, inclusive)) = query.high {
        let value = bound(entries, value)?;
        narrow(Vec::new(), if inclusive { behind(&value) } else { value });
    }
    if !query.prefix.is_empty() {
        let first = entry::begin_text(entries, query.prefix)?;
        narrow(first.clone(), behind(&first));
    }
    if let Some(position) = query.behind {
        let mut key = [entries, position].concat();
        if query.reverse {
            narrow(Vec::new(), key);
        } else {
            key.push(0);
            narrow(key, behind(entries));
        }
    }
    Ok((start, end))
}

fn bound(entries: &[u8], stored: &[u8]) -> Result<Vec<u8>> {
    entry::begin(entries, stored)?.ok_or_else(|| Error::Argument("an index holds no such value".to_owned()))
}

fn behind(key: &[u8]) -> Vec<u8> {
    let mut end = Vec::new();
    key::subtree_end(key, &mut end);
    end
}
