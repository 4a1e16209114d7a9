//! An LMDB file read with plain reads. Nothing here trusts the bytes: damage becomes an error and never a crash, which
//! LMDB's own reading, straight from the mapped file, cannot promise.
//!
//! A page has 4,096 bytes. It begins with its own number (8 bytes), 2 unused bytes, its kind (2), and for a page of a tree
//! the end of the table of nodes (2) and the beginning of the nodes (2), for a run of pages with one large value their
//! number (4). The table has the offsets of the nodes (2 each) in the order of their keys. A node has 8 bytes, then its
//! key, and in a leaf its value: size of the value or lower half of the child's number (4), kind or the rest of that number
//! (2), length of the key (2).

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::files;
use crate::engine::{Flow, Visitor};
use crate::error::{Error, Result};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// The bytes before a page's contents.
pub const HEAD: usize = 16;
/// The bytes before a node's key.
pub const NODE: usize = 8;
/// Pages that hold no tree: the two that tell where the trees are.
pub const METAS: u64 = 2;
/// The most levels of pages that LMDB follows.
pub const MOST_DEPTH: u16 = 32;

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const META: u16 = 8;
/// A page that was changed and not yet written; it means nothing in a file.
const DIRTY: u16 = 0x10;
/// The kind of a node whose value lies in pages of its own.
const BIG: u16 = 1;
/// The root of a tree without pages.
const NOWHERE: u64 = u64::MAX;

/// A tree, as a meta page tells of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree {
    /// How many levels of pages it has.
    pub depth: u16,
    /// How many pages of each kind.
    pub branches: u64,
    /// See `branches`.
    pub leaves: u64,
    /// See `branches`.
    pub overflow: u64,
    /// How many entries.
    pub entries: u64,
    /// Its first page; none where it is empty.
    pub root: Option<u64>,
}

/// A meta page.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// The transaction that wrote it.
    pub transaction: u64,
    /// The last page that is in use.
    pub last_page: u64,
    /// The tree of free pages.
    pub free: Tree,
    /// The tree of entries.
    pub main: Tree,
}

/// One page.
pub struct Page(pub Box<[u8; PAGE]>);

/// What a leaf has for a key.
#[derive(Clone, Debug)]
pub enum Stored {
    /// The value, as a stretch of the page.
    Here(Range<usize>),
    /// The first page of its own and its length.
    Apart(u64, usize),
}

/// A node of a page.
pub struct Node {
    /// Its key, as a stretch of the page.
    pub key: Range<usize>,
    /// In a leaf its value.
    pub stored: Stored,
    /// In a branch its child.
    pub child: u64,
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn quarter(bytes: &[u8], at: usize) -> u32 {
    u32::from(half(bytes, at)) | u32::from(half(bytes, at + 2)) << 16
}

impl Page {
    /// The number it says it has.
    pub fn number(&self) -> u64 {
        word(&self.0[..], 0)
    }

    fn kind(&self) -> u16 {
        half(&self.0[..], 10) & !DIRTY
    }

    /// Whether it is a branch of a tree; none where it is no page of a tree.
    pub fn is_branch(&self) -> Option<bool> {
        match self.kind() {
            BRANCH => Some(true),
            LEAF => Some(false),
            _ => None,
        }
    }

    /// How many pages a large value has that begins here; none where none does.
    pub fn overflow(&self) -> Option<u64> {
        (self.kind() == OVERFLOW).then(|| quarter(&self.0[..], 12).into())
    }

    /// How many nodes it has, and where they begin; none where that makes no sense.
    pub fn nodes(&self) -> Option<(usize, usize)> {
        let (end, begin) = (usize::from(half(&self.0[..], 12)), usize::from(half(&self.0[..], 14)));
        let sound = end >= HEAD && end.is_multiple_of(2) && end <= begin && begin <= PAGE;
        sound.then(|| ((end - HEAD) / 2, begin))
    }

    /// A node of a branch or leaf; none where it does not lie within the page.
    pub fn node(&self, index: usize, branch: bool) -> Option<Node> {
        let (count, begin) = self.nodes()?;
        let at = usize::from(half(&self.0[..], HEAD + index * 2));
        if index >= count || at < begin || at + NODE > PAGE {
            return None;
        }
        let bytes = &self.0[..];
        let key = at + NODE..at + NODE + usize::from(half(bytes, at + 6));
        let (size, kind) = (quarter(bytes, at), half(bytes, at + 4));
        let child = u64::from(size) | u64::from(kind) << 32;
        let stored = match kind {
            _ if branch => Stored::Here(key.end..key.end),
            BIG => Stored::Apart(word(bytes, key.end), size as usize),
            0 => Stored::Here(key.end..key.end + size as usize),
            _ => return None,
        };
        let end = match &stored {
            Stored::Here(value) => value.end,
            Stored::Apart(..) => key.end + 8,
        };
        (end <= PAGE).then_some(Node { key, stored, child })
    }
}

/// An LMDB file and one state of it.
pub struct Pages {
    file: File,
    path: PathBuf,
    /// How many whole pages the file has.
    pub count: u64,
    /// What it holds.
    pub meta: Meta,
}

impl Pages {
    /// Opens the file, at its last state or at that of a `transaction`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where its first pages make no sense, [`Error::Format`].
    pub fn open(path: &Path, transaction: Option<u64>) -> Result<Pages> {
        let file = File::open(path).map_err(|e| Error::io("cannot open", path, e))?;
        let count = file.metadata().map_err(|e| Error::io("cannot look at", path, e))?.len() / PAGE as u64;
        let none = Meta { transaction: 0, last_page: 0, free: Tree::default(), main: Tree::default() };
        let mut pages = Pages { file, path: path.to_path_buf(), count, meta: none };
        let metas = [pages.read_meta(0)?, pages.read_meta(1)?];
        let newest = if metas[1].transaction > metas[0].transaction { metas[1] } else { metas[0] };
        pages.meta = match transaction {
            Some(wanted) => metas
                .into_iter()
                .find(|meta| meta.transaction == wanted)
                .ok_or_else(|| Error::Busy(format!("{} changes too fast to be looked at", path.display())))?,
            None => newest,
        };
        if pages.meta.last_page >= count {
            return Err(pages.damaged("it is shorter than what it says it holds"));
        }
        Ok(pages)
    }

    fn read_meta(&self, number: u64) -> Result<Meta> {
        let page = self.read(number)?;
        let bytes = &page.0[HEAD..];
        let tree = |at: usize| Tree {
            depth: half(bytes, at + 6),
            branches: word(bytes, at + 8),
            leaves: word(bytes, at + 16),
            overflow: word(bytes, at + 24),
            entries: word(bytes, at + 32),
            root: Some(word(bytes, at + 40)).filter(|root| *root != NOWHERE),
        };
        if page.kind() & META == 0 || quarter(bytes, 0) != MAGIC {
            return Err(self.damaged(&format!("page {number} is not the beginning of an LMDB file")));
        }
        let version = quarter(bytes, 4);
        if version != VERSION {
            return Err(self.damaged(&format!("page {number} is of version {version} of LMDB's format, not {VERSION}")));
        }
        if quarter(bytes, 24) as usize != PAGE {
            return Err(self.damaged(&format!("page {number} says that pages have {} bytes", quarter(bytes, 24))));
        }
        // Entries have no order of their own and one value each; free pages are listed by number.
        if half(bytes, 72 + 4) & 0x7FFF != 0 || half(bytes, 24 + 4) & 0x3E != 8 {
            return Err(self.damaged(&format!("page {number} tells of trees of another kind")));
        }
        Ok(Meta { transaction: word(bytes, 128), last_page: word(bytes, 120), free: tree(24), main: tree(72) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error for damage in the file.
    pub fn damaged(&self, what: &str) -> Error {
        Error::Corrupt {
            path: self.path.clone(),
            what: format!("{what}. Restore a backup into an empty folder, or copy the folder and ask for help"),
        }
    }

    /// Reads a page.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where the file has no such page.
    pub fn read(&self, number: u64) -> Result<Page> {
        let mut page = Page(Box::new([0; PAGE]));
        if number >= self.count {
            return Err(self.damaged(&format!("page {number} lies behind its end")));
        }
        let read = files::read_at(&self.file, &mut page.0[..], number * PAGE as u64)
            .map_err(|e| Error::io("cannot read", &self.path, e))?;
        if read == PAGE { Ok(page) } else { Err(self.damaged(&format!("page {number} is cut short"))) }
    }

    /// Reads the page of a tree; whether it is a branch.
    pub fn read_node_page(&self, number: u64) -> Result<(Page, bool)> {
        let page = self.read(number)?;
        match page.is_branch() {
            Some(branch) if page.number() == number && page.nodes().is_some() => Ok((page, branch)),
            _ => Err(self.damaged(&format!("page {number} is no page of a tree"))),
        }
    }

    /// The value of a node, in `room` where it lies apart.
    pub fn value<'a>(&self, page: &'a Page, node: &Node, room: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        match &node.stored {
            Stored::Here(range) => Ok(&page.0[range.clone()]),
            Stored::Apart(first, length) => {
                let needed = (HEAD - 1 + length) / PAGE + 1;
                if first.saturating_add(needed as u64) > self.count {
                    return Err(self.damaged(&format!("the value at page {first} reaches behind its end")));
                }
                room.resize(*length, 0);
                let read = files::read_at(&self.file, room, first * PAGE as u64 + HEAD as u64)
                    .map_err(|e| Error::io("cannot read", &self.path, e))?;
                if read == *length { Ok(room) } else { Err(self.damaged("a value is cut short")) }
            }
        }
    }

    /// Shows the entries `start <= key < end` in the order in which the tree has them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] at the first damage met, or the visitor's error.
    pub fn scan(&self, start: &[u8], end: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        match self.meta.main.root {
            Some(root) => self.scan_page(root, 0, start, end, visit).map(|_| ()),
            None => Ok(()),
        }
    }

    fn scan_page(&self, number: u64, depth: u16, start: &[u8], end: &[u8], visit: &mut Visitor<'_>) -> Result<Flow> {
        if depth >= MOST_DEPTH {
            return Err(self.damaged("its tree has no end"));
        }
        let (page, branch) = self.read_node_page(number)?;
        let count = page.nodes().map_or(0, |(count, _)| count);
        let broken = || self.damaged(&format!("page {number} has a node outside of it"));
        let mut room = Vec::new();
        let mut next = page.node(0, branch);
        for index in 0..count {
            let node = next.ok_or_else(broken)?;
            next = if index + 1 < count { page.node(index + 1, branch) } else { None };
            let key = &page.0[node.key.clone()];
            if branch {
                // The key of the next child is above everything in this one.
                let ends_before = next.as_ref().is_some_and(|next| &page.0[next.key.clone()] <= start);
                if (index > 0 && key >= end) || ends_before {
                    continue;
                }
                if self.scan_page(node.child, depth + 1, start, end, visit)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            } else if key >= start && key < end {
                let value = self.value(&page, &node, &mut room)?;
                if visit(key, value)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Reads the entry with a key. False when there is none.
    ///
    /// # Errors
    /// As [`Pages::scan`].
    pub fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let (end, mut found) = ([key, &[0]].concat(), false);
        self.scan(key, &end, &mut |_, stored| {
            value.clear();
            value.extend_from_slice(stored);
            found = true;
            Ok(Flow::Stop)
        })?;
        Ok(found)
    }
}
