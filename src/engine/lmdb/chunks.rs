//! Large values. LMDB keeps a value above one page in pages that must lie side by side, and looks for such a run under
//! the writer lock; so a value above one page is stored as a head at its key and page-sized chunks right behind it,
//! before the node's children.
//!
//! Head: the byte [`HEAD`], then the value's length (8 bytes, little-endian). Chunk `i`: key, byte 1, `i` as four bytes
//! big-endian; its value is the byte [`CHUNK`] and a piece of the value.

use super::sys::{Cursor, Step};
use crate::error::{Error, Result};

/// First byte of a head.
pub const HEAD: u8 = 0xFE;
/// First byte of a chunk.
pub const CHUNK: u8 = 0xFF;

/// The most bytes an entry's value may have and still take a single page of its own (4,096 less LMDB's page header).
pub const INLINE: usize = 4080;
const PIECE: usize = INLINE - 1;
/// The largest value, 1 GiB and the type byte.
pub const MAX_VALUE: usize = (1 << 30) + 1;

/// What follows a node's key in the keys of its chunks.
const MARK: u8 = 1;
/// How much longer a chunk's key is than its node's.
const SUFFIX: usize = 5;

/// Whether an entry's value is a head.
#[inline]
pub fn is_head(stored: &[u8]) -> bool {
    stored.first() == Some(&HEAD)
}

/// Whether an entry's value is a chunk.
#[inline]
pub fn is_chunk(stored: &[u8]) -> bool {
    stored.first() == Some(&CHUNK)
}

/// The key of the node to which a chunk belongs.
pub fn node_of(chunk_key: &[u8]) -> &[u8] {
    &chunk_key[..chunk_key.len().saturating_sub(SUFFIX)]
}

/// The stretch of keys that holds all chunks of a node: (start, end).
pub fn stretch(node: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let with = |byte| {
        let mut key = Vec::with_capacity(node.len() + 1);
        key.extend_from_slice(node);
        key.push(byte);
        key
    };
    (with(MARK), with(MARK + 1))
}

/// Whether a range is the stretch of one node's chunks. No key of a node ends in the byte that begins it.
pub fn is_stretch(start: &[u8], end: &[u8]) -> bool {
    match (start, end) {
        ([node @ .., MARK], [same @ .., last]) => *last == MARK + 1 && node == same,
        _ => false,
    }
}

/// Refuses a value that is too large, before anything is written.
#[inline]
pub fn check(value: &[u8]) -> Result<()> {
    if value.len() > MAX_VALUE {
        return Err(Error::TooLarge(format!(
            "the value has {} bytes, more than the {} that the engine lmdb takes",
            value.len() - 1,
            MAX_VALUE - 1
        )));
    }
    Ok(())
}

/// Calls `put` with the head and then each chunk of a large value, in key order.
pub fn write(node: &[u8], value: &[u8], mut put: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    let mut head = [HEAD; 9];
    head[1..].copy_from_slice(&(value.len() as u64).to_le_bytes());
    put(node, &head)?;
    let mut key = Vec::with_capacity(node.len() + SUFFIX);
    let mut piece = Vec::with_capacity(INLINE);
    for (number, bytes) in (0u32..).zip(value.chunks(PIECE)) {
        key.clear();
        key.extend_from_slice(node);
        key.push(MARK);
        key.extend_from_slice(&number.to_be_bytes());
        piece.clear();
        piece.push(CHUNK);
        piece.extend_from_slice(bytes);
        put(&key, &piece)?;
    }
    Ok(())
}

/// Reads the value whose head the cursor stands on; afterwards it stands on the last chunk.
pub fn read(cursor: &mut Cursor, head: &[u8], value: &mut Vec<u8>) -> Result<()> {
    let length = head
        .get(1..9)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes)
        .and_then(|length| usize::try_from(length).ok())
        .filter(|length| *length <= MAX_VALUE)
        .ok_or_else(|| Error::Internal("the head of a large value is damaged".to_owned()))?;
    value.clear();
    value.reserve_exact(length);
    while value.len() < length {
        match cursor.go(Step::Next, &[])? {
            Some((_, stored)) if is_chunk(stored) && value.len() + stored.len() - 1 <= length => {
                value.extend_from_slice(&stored[1..]);
            }
            _ => return Err(Error::Internal("a chunk of a large value is missing".to_owned())),
        }
    }
    Ok(())
}
