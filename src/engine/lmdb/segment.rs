//! The files of the log. The log is one endless line of bytes, cut into segments; a segment is a file named after the
//! position at which it begins, made with all its blocks before a byte is written, and removed once the durable file has
//! what is in it. So the log takes the room that its backlog needs, and a transaction of any size has a segment to fit in.
//!
//! The first 64 bytes of a segment: `CARETLOG`, format (4 bytes), four zero bytes, the position at which it begins (8
//! bytes), zeros. Frames follow one another from there.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::MmapRaw;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use super::{files, header, space};
use crate::error::{Error, Result};

/// The bytes before a segment's first frame.
pub const HEAD: u64 = 64;
/// The first position of a log: 0 means nowhere.
pub const FIRST: u64 = 4096;
const MAGIC: &[u8; 8] = b"CARETLOG";
const PAGE: u64 = 4096;
const LEAST: u64 = 1 << 20;
const MOST: u64 = 64 << 20;

/// How a segment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through a map: its blocks are reserved.
    Mapped,
    /// With system calls, where a reservation is no promise.
    Called,
}

/// How large a segment is to be.
pub struct Wish {
    /// The bytes of the frame that must fit.
    pub frame: u64,
    /// What waits for the durable file: within limits there is room for twice as much, so that a store that is written
    /// seldom has small segments.
    pub backlog: u64,
    /// What to do where there is not so much room.
    pub room: Room,
}

/// What to do on a disk that is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Refuse: something may be given back to the disk first, and bringing the durable file up needs some of what is left.
    Ample,
    /// Take what the frame needs.
    Least,
}

/// A segment opened for writing.
pub struct Segment {
    /// The position at which it begins, and the one at which it ends.
    pub start: u64,
    /// See `start`.
    pub end: u64,
    /// The file, which may be synced while others write.
    pub file: Arc<File>,
    path: PathBuf,
    map: Option<MmapRaw>,
}

/// A segment's file, found by its name.
#[derive(Clone, Debug)]
pub struct Found {
    /// The position at which it begins, and the one at which it ends.
    pub start: u64,
    /// See `start`.
    pub end: u64,
    /// Where it lies.
    pub path: PathBuf,
}

impl Segment {
    /// Makes the segment that begins at `start`.
    ///
    /// # Errors
    /// [`Error::DiskFull`], or the system's answer; no file is left then.
    pub fn create(folder: &Path, start: u64, wish: Wish, way: Way) -> Result<Segment> {
        let needed = (wish.frame + HEAD).next_multiple_of(PAGE);
        let wanted = (wish.backlog * 2).clamp(LEAST, MOST).max(needed);
        // The durable file must still have room for what is to wait for it, or nothing could ever be given back.
        let left = wish.backlog + 2 * wanted;
        if wish.room == Room::Ample && space::left(folder).is_some_and(|bytes| bytes < left) {
            return Err(Error::DiskFull { path: path(folder, start) });
        }
        match Segment::create_with(folder, start, wanted, way) {
            Err(Error::DiskFull { .. }) if wanted > needed && wish.room == Room::Least => {
                Segment::create_with(folder, start, needed, way)
            }
            made => made,
        }
    }

    fn create_with(folder: &Path, start: u64, bytes: u64, way: Way) -> Result<Segment> {
        let path = path(folder, start);
        // Left by a process that died before it could tell anybody of it.
        files::remove(&path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|e| Error::io("cannot make", &path, e))?;
        let made = space::fill(&file, bytes, way == Way::Mapped)
            .map_err(|e| Error::io("cannot reserve space for", &path, e))
            .and_then(|()| Segment::over(file, path.clone(), start, way))
            .and_then(|segment| segment.write(start, &head(start)).map(|()| segment));
        if made.is_err() {
            let _ = fs::remove_file(&path);
        }
        made
    }

    /// Opens the segment that begins at `start`.
    pub fn open(folder: &Path, start: u64, way: Way) -> Result<Segment> {
        let path = path(folder, start);
        let file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(|e| Error::io("cannot open", &path, e))?;
        Segment::over(file, path, start, way)
    }

    fn over(file: File, path: PathBuf, start: u64, way: Way) -> Result<Segment> {
        let bytes = file.metadata().map_err(|e| Error::io("cannot look at", &path, e))?.len();
        let map = match way {
            Way::Mapped => Some(MmapRaw::map_raw(&file).map_err(|e| Error::io("cannot map", &path, e))?),
            Way::Called => None,
        };
        Ok(Segment { start, end: start + bytes, file: Arc::new(file), path, map })
    }

    /// Writes bytes at a position of the log. Only for the holder of the gate.
    #[inline]
    pub fn write(&self, position: u64, bytes: &[u8]) -> Result<()> {
        let offset = position - self.start;
        if offset + bytes.len() as u64 > self.end - self.start {
            return Err(Error::Internal("a frame reaches beyond its segment".to_owned()));
        }
        let Some(map) = &self.map else {
            return files::write_at(&self.file, bytes, offset).map_err(|e| Error::io("cannot write", &self.path, e));
        };
        // SAFETY: the range lies within the map (checked above), its blocks exist, and only the holder of the gate
        // writes; readers check what they read.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), map.as_mut_ptr().add(offset as usize), bytes.len()) };
        Ok(())
    }

    /// Takes what lies between two positions out of this process's memory, to be done before a sync. The bytes stay in the
    /// file. A sync would else take each page's right to be written away on its own, and interrupt the writer as often.
    #[cfg(unix)]
    pub fn let_pages_go(&self, from: u64, end: u64) {
        let Some(map) = &self.map else { return };
        let page_of = |position: u64| position.min(self.end).saturating_sub(self.start) / PAGE * PAGE;
        let (first, last) = (page_of(from), page_of(end));
        if first < last {
            // SAFETY: the map is shared with the file, which keeps every byte, and nobody has a reference into the map.
            // Where the system refuses, the sync only takes longer.
            let _ = unsafe {
                map.unchecked_advise_range(UncheckedAdvice::DontNeed, first as usize, (last - first) as usize)
            };
        }
    }

    /// Nothing to do here.
    #[cfg(not(unix))]
    pub fn let_pages_go(&self, _from: u64, _end: u64) {}
}

/// The segments of a folder in the order of the log.
pub fn list(folder: &Path) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?.flatten() {
        let name = entry.file_name();
        let Some(start) = name.to_str().and_then(|name| name.strip_prefix("log.")).and_then(position) else { continue };
        // A segment that another process removes at this moment has nothing that anybody needs.
        let Ok(about) = entry.metadata() else { continue };
        found.push(Found { start, end: start + about.len(), path: entry.path() });
    }
    found.sort_unstable_by_key(|segment| segment.start);
    Ok(found)
}

/// Whether a segment's own first bytes say that it is the one its name says.
pub fn is_sound(first: &[u8], start: u64) -> bool {
    first == head(start)
}

/// The name of the segment that begins at a position.
pub fn path(folder: &Path, start: u64) -> PathBuf {
    folder.join(format!("log.{start:016x}"))
}

fn position(digits: &str) -> Option<u64> {
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

fn head(start: u64) -> [u8; HEAD as usize] {
    let mut bytes = [0; HEAD as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&header::FORMAT.to_le_bytes());
    bytes[16..24].copy_from_slice(&start.to_le_bytes());
    bytes
}
