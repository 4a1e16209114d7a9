//! What a writer has to know of the members of an object that is being read: whether a name occurs twice, and what the
//! members came to.

use std::collections::HashSet;

use super::subscript::Form;

/// Up to this many names of an object are compared one by one.
const FEW: usize = 32;

/// What a value did to its node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Something is there.
    Something,
    /// It was deleted.
    Nothing,
}

/// What is known of an object's members so far.
pub struct Members {
    /// Where the hashes of their names begin.
    pub start: usize,
    /// The hashes, when there are more than a few.
    many: Option<HashSet<u64>>,
    pub written: bool,
    pub removed: bool,
    /// Whether a name looks like an index.
    pub need_mark: bool,
}

impl Members {
    pub fn new(start: usize) -> Members {
        Members { start, many: None, written: false, removed: false, need_mark: false }
    }

    pub fn add(&mut self, form: Form, left: Left) {
        match left {
            Left::Nothing => self.removed = true,
            Left::Something => {
                self.written = true;
                self.need_mark |= form != Form::Name;
            }
        }
    }

    /// Whether a name is new, `hashes` being those of the objects that are open. A name that is new may rarely be called old.
    pub fn is_new(&mut self, name: &str, hashes: &mut Vec<u64>) -> bool {
        let hash = hash(name.as_bytes());
        if let Some(many) = &mut self.many {
            return many.insert(hash);
        }
        let few = &hashes[self.start..];
        if few.contains(&hash) {
            return false;
        }
        if few.len() == FEW {
            self.many = Some(few.iter().copied().chain([hash]).collect());
        } else {
            hashes.push(hash);
        }
        true
    }
}

/// A quick hash. Names that share one are only taken for equal until the text is read again.
#[inline]
fn hash(name: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut hash = name.len() as u64;
    for word in words.iter().chain([&last]) {
        hash = (hash.rotate_left(26) ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
    }
    hash
}
