//! From the entries of a subtree to JSON text where some node has children that only together tell an array from an
//! object, as programs that write nodes one by one can leave them.

use super::Found;
use super::read::{MAX_HOLES, write_name};
use super::subscript::{Form, encoded_form};
use super::text::write_stored;
use crate::error::{Error, Result};
use crate::key;
use crate::value::{OBJECT, TEXT};

/// The rest of a key, and the value.
type Entry = (Vec<u8>, Vec<u8>);

/// The children of one node: an encoded subscript and the entries below it.
type Children<'a> = Vec<(&'a [u8], &'a [Entry])>;

/// Writes the document with these entries, whose keys begin behind the document's node.
pub fn write(entries: &[Entry], json: &mut Vec<u8>) -> Result<Found> {
    let mut holes = 0;
    Ok(match entries {
        [] => Found::Nothing,
        _ if write_node(entries, 0, &mut holes, json)? => Found::HasBytes,
        _ => Found::Json,
    })
}

/// Writes a node whose key is the first `depth` bytes of its entries' keys, and says whether bytes are in it.
fn write_node(entries: &[Entry], depth: usize, holes: &mut u64, json: &mut Vec<u8>) -> Result<bool> {
    let (own, below) = match entries {
        [(key, value), below @ ..] if key.len() == depth => (Some(value), below),
        _ => (None, entries),
    };
    match own {
        Some(value) if below.is_empty() => return write_stored(value, json),
        _ => {}
    }
    let children = split(below, depth)?;
    let marked = own.is_some_and(|value| value.first() == Some(&OBJECT));
    let elements = if marked { None } else { as_elements(&children, depth, holes) };
    match elements {
        Some(elements) => write_array(&elements, depth, holes, json),
        None => write_object(&children, depth, holes, json),
    }
}

fn split(mut entries: &[Entry], depth: usize) -> Result<Children<'_>> {
    let mut children = Vec::new();
    while let Some((key, _)) = entries.first() {
        let Some(length) = key::subscript_len(&key[depth..]) else {
            return Err(Error::Internal(format!("a stored key is damaged: {:02x?}", &key[..key.len().min(64)])));
        };
        let subscript = &key[depth..depth + length];
        let count = entries.partition_point(|(other, _)| other[depth..].starts_with(subscript));
        let (child, rest) = entries.split_at(count);
        children.push((subscript, child));
        entries = rest;
    }
    Ok(children)
}

/// The children in the order of their indexes, if all of them are elements of one array.
fn as_elements<'a>(children: &Children<'a>, depth: usize, holes: &mut u64) -> Option<Vec<(u64, &'a [Entry])>> {
    let mut elements = Vec::with_capacity(children.len());
    for (subscript, entries) in children {
        match encoded_form(subscript) {
            Form::Element(index) => elements.push((index, *entries)),
            Form::Empty if is_hidden(entries, depth + subscript.len()) => {}
            _ => return None,
        }
    }
    elements.sort_by_key(|(index, _)| *index);
    let distinct = elements.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let length = elements.last().map_or(0, |(index, _)| index + 1);
    let missing = length - elements.len() as u64;
    if !distinct || *holes + missing > MAX_HOLES {
        return None;
    }
    *holes += missing;
    Some(elements)
}

/// Whether these are the entries of the leaf that stands for an empty array.
fn is_hidden(entries: &[Entry], depth: usize) -> bool {
    matches!(entries, [(key, value)] if key.len() == depth && value[..] == [TEXT])
}

fn write_array(elements: &[(u64, &[Entry])], depth: usize, holes: &mut u64, json: &mut Vec<u8>) -> Result<bool> {
    let mut has_bytes = false;
    let mut length = 0;
    json.push(b'[');
    for (index, entries) in elements {
        for _ in length..*index {
            json.extend_from_slice(b"null,");
        }
        length = index + 1;
        let subscript = key::subscript_len(&entries[0].0[depth..]).unwrap_or(0);
        has_bytes |= write_node(entries, depth + subscript, holes, json)?;
        json.push(b',');
    }
    end_with(b']', json);
    Ok(has_bytes)
}

fn write_object(children: &Children<'_>, depth: usize, holes: &mut u64, json: &mut Vec<u8>) -> Result<bool> {
    let mut has_bytes = false;
    json.push(b'{');
    for (subscript, entries) in children {
        write_name(subscript, json)?;
        json.push(b':');
        has_bytes |= write_node(entries, depth + subscript.len(), holes, json)?;
        json.push(b',');
    }
    end_with(b'}', json);
    Ok(has_bytes)
}

/// Ends a container, in place of the comma behind its last child.
fn end_with(end: u8, json: &mut Vec<u8>) {
    json.pop_if(|last| *last == b',');
    json.push(end);
}
