//! The bytes of the log: one frame is one whole transaction.
//!
//! A frame has 20 bytes of its own, all numbers little-endian, then its operations, and ends at a multiple of 4:
//!
//! | at | bytes | what |
//! | --- | --- | --- |
//! | 0 | 4 | CRC-32C of all that follows, begun from the epoch and the frame's position |
//! | 4 | 4 | the checksum of the frame before |
//! | 8 | 4 | length of the frame without the padding at its end |
//! | 12 | 8 | a number greater than that of the frame before, never given twice |
//!
//! An operation: length of the first byte string (2 bytes, the highest bit set for the deletion of a range), length of
//! the second (2 bytes), both strings. They are entries as the working file holds them: large values lie in chunks.

use crate::engine::Operation;
use crate::error::{Error, Result};

/// The bytes before a frame's operations.
pub const HEAD: usize = 20;
/// Frames begin at multiples of this.
const STEP: u64 = 4;
const DELETE: u16 = 0x8000;
/// A buffer above this is given back after its transaction.
const KEPT: usize = 1 << 20;

/// What a reader of the log knows about the frame it has reached: the next one must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The epoch of all frames.
    pub epoch: u64,
    /// Where the last frame ended.
    pub position: u64,
    /// Its number.
    pub number: u64,
    /// Its checksum.
    pub checksum: u32,
}

/// The operations of the transaction that is open, on their way to the log.
pub struct Redo {
    bytes: Vec<u8>,
    /// Whether anybody wants them.
    wanted: bool,
    /// Something could not be noted: the transaction must not commit.
    broken: bool,
}

/// How a frame is told from every other one.
#[derive(Clone, Copy)]
pub struct Seal {
    /// The epoch of the log.
    pub epoch: u64,
    /// Where the frame begins.
    pub position: u64,
    /// Its own number.
    pub number: u64,
    /// The checksum of the frame before.
    pub previous: u32,
}

impl Redo {
    /// An empty one. One that is not `wanted` stays empty.
    pub fn new(wanted: bool) -> Redo {
        Redo { bytes: vec![0; if wanted { HEAD } else { 0 }], wanted, broken: false }
    }

    /// Notes a put that the working file has taken.
    #[inline]
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.wanted { self.push(key, value, 0) } else { Ok(()) }
    }

    /// Notes the deletion of `start <= key < end`.
    #[inline]
    pub fn delete_range(&mut self, start: &[u8], end: &[u8]) -> Result<()> {
        if self.wanted { self.push(start, end, DELETE) } else { Ok(()) }
    }

    #[inline]
    fn push(&mut self, first: &[u8], second: &[u8], mark: u16) -> Result<()> {
        let first_length = u16::try_from(first.len()).ok().filter(|length| length & DELETE == 0);
        let fits = self.bytes.len() + first.len() + second.len() < u32::MAX as usize - 64;
        let (Some(first_length), Ok(second_length), true) = (first_length, u16::try_from(second.len()), fits) else {
            self.broken = true;
            return Err(Error::TooLarge("the transaction is larger than the log takes: commit more often".to_owned()));
        };
        self.bytes.extend_from_slice(&(first_length | mark).to_le_bytes());
        self.bytes.extend_from_slice(&second_length.to_le_bytes());
        self.bytes.extend_from_slice(first);
        self.bytes.extend_from_slice(second);
        Ok(())
    }

    /// Whether there is nothing to log.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= HEAD
    }

    /// Refuses to go on with a transaction that is not noted whole.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.broken { Err(Error::TooLarge("a part of the transaction was refused".to_owned())) } else { Ok(()) }
    }

    /// How many bytes the frame will take in the log.
    #[inline]
    pub fn size(&self) -> u64 {
        padded(self.bytes.len() as u64)
    }

    /// Forgets the operations.
    #[inline]
    pub fn clear(&mut self) {
        if self.wanted {
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
            self.bytes.resize(HEAD, 0);
            self.broken = false;
        }
    }

    /// Makes the frame whole: its bytes and its checksum.
    #[inline]
    pub fn seal(&mut self, seal: Seal) -> (&[u8], u32) {
        let bytes = &mut self.bytes;
        let length = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&seal.previous.to_le_bytes());
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes[12..20].copy_from_slice(&seal.number.to_le_bytes());
        let checksum = checksum(seal.epoch, seal.position, &bytes[4..]);
        bytes[..4].copy_from_slice(&checksum.to_le_bytes());
        (&self.bytes, checksum)
    }
}

/// Rounds a frame's length up to where the next one may begin.
#[inline]
pub fn padded(length: u64) -> u64 {
    length.next_multiple_of(STEP)
}

#[inline]
fn checksum(epoch: u64, position: u64, bytes: &[u8]) -> u32 {
    let mixed = (epoch ^ position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    crc32c::crc32c_append((mixed >> 32) as u32 ^ mixed as u32, bytes)
}

/// The length that a frame's own bytes give, if it is one at all that may follow `chain` and end within `room` bytes.
pub fn length(head: &[u8], chain: &Chain, room: u64) -> Option<u64> {
    let length = u64::from(half(head, 8)?);
    let fits =
        length >= HEAD as u64 && length <= room && half(head, 4)? == chain.checksum && word(head, 12)? > chain.number;
    fits.then_some(length)
}

/// The chain behind a frame that begins at `position`, if its checksum is right. The caller has found its length to fit.
pub fn follow(frame: &[u8], chain: &Chain, position: u64) -> Option<Chain> {
    let found = half(frame, 0)?;
    (checksum(chain.epoch, position, frame.get(4..)?) == found).then_some(Chain {
        epoch: chain.epoch,
        position: position + padded(frame.len() as u64),
        number: word(frame, 12)?,
        checksum: found,
    })
}

/// The operations of a frame, given without its own 20 bytes. Ends early where they make no sense, which a right
/// checksum rules out.
pub fn operations(mut bytes: &[u8]) -> impl Iterator<Item = Operation<'_>> {
    std::iter::from_fn(move || {
        let first_length = u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?);
        let second_length = u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?);
        let (first, rest) = bytes.get(4..)?.split_at_checked((first_length & !DELETE).into())?;
        let (second, rest) = rest.split_at_checked(second_length.into())?;
        bytes = rest;
        Some(if first_length & DELETE == 0 {
            Operation::Put(first, second)
        } else {
            Operation::DeleteRange(first, second)
        })
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: Chain = Chain { epoch: 7, position: 4096, number: 3, checksum: 99 };

    fn sealed(position: u64, number: u64, previous: u32) -> Vec<u8> {
        let mut redo = Redo::new(true);
        redo.put(b"^A", b"1").unwrap();
        redo.delete_range(b"", b"^B").unwrap();
        redo.seal(Seal { epoch: 7, position, number, previous }).0.to_vec()
    }

    #[test]
    fn a_frame_reads_back_and_leads_to_its_end() {
        let frame = sealed(4096, 5, 99);
        assert_eq!(length(&frame, &CHAIN, 4096), Some(frame.len() as u64));
        let next = follow(&frame, &CHAIN, 4096).unwrap();
        assert_eq!((next.number, next.position), (5, 4096 + padded(frame.len() as u64)));
        let operations: Vec<_> = operations(&frame[HEAD..]).collect();
        assert_eq!(operations, [Operation::Put(b"^A", b"1"), Operation::DeleteRange(b"", b"^B")]);
    }

    /// A frame of another place, with an old number, or behind another frame must never be replayed.
    #[test]
    fn a_frame_that_belongs_elsewhere_does_not_fit() {
        assert!(follow(&sealed(8192, 5, 99), &CHAIN, 4096).is_none());
        assert!(length(&sealed(4096, 3, 99), &CHAIN, 4096).is_none());
        assert!(length(&sealed(4096, 5, 98), &CHAIN, 4096).is_none());
        assert!(follow(&sealed(4096, 5, 99), &Chain { epoch: 8, ..CHAIN }, 4096).is_none());
        assert!(length(&sealed(4096, 5, 99), &CHAIN, 30).is_none());
        assert!(length(&[0; HEAD], &CHAIN, 4096).is_none());
    }

    #[test]
    fn a_frame_with_one_bit_changed_does_not_fit() {
        let frame = sealed(4096, 5, 99);
        for bit in 0..frame.len() * 8 {
            let mut torn = frame.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            let fits = length(&torn, &CHAIN, 4096)
                .is_some_and(|length| length == torn.len() as u64 && follow(&torn, &CHAIN, 4096).is_some());
            assert!(!fits, "bit {bit}");
        }
    }
}
