//! Writing the log: a frame goes in before its transaction commits in the working file, and counts once it has.
//!
//! The holder of the gate appends. It first says in the header what it is about to do (the pending slot), so that
//! whoever comes after a process that died can tell whether that frame's transaction was committed, and keeps it or
//! makes it unreadable for good.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;

use parking_lot::Mutex;

use super::files::Home;
use super::frame::{self, Redo, Seal};
use super::header::LogFields;
use super::segment::{self, Found, Room, Segment, Way, Wish};
use super::{fault, files};
use crate::error::{Error, Result};

/// This process's side of the log.
pub struct Log {
    /// The store's folder.
    pub folder: PathBuf,
    /// Makes sure that it still is.
    home: Home,
    /// How segments are written here.
    pub way: Way,
    /// How many bytes may wait for the durable file.
    pub limit: u64,
    current: Mutex<Option<Current>>,
}

/// The segment this process has open.
struct Current {
    segment: Segment,
    generation: u64,
}

impl Log {
    /// The log of the store in `folder`.
    pub fn new(folder: &Path, way: Way, limit: u64) -> Result<Log> {
        Ok(Log { folder: folder.to_path_buf(), home: Home::of(folder)?, way, limit, current: Mutex::new(None) })
    }

    /// Makes sure that the folder still is the store's.
    pub fn check_home(&self) -> Result<()> {
        self.home.check()
    }

    /// The segments in the order of the log.
    pub fn segments(&self) -> Result<Vec<Found>> {
        self.home.check()?;
        segment::list(&self.folder)
    }

    /// Decides about a frame that a dead process left pending: `last` is the last transaction that was committed in the
    /// working file. The caller holds the gate and a write transaction, so that nothing changes meanwhile.
    #[inline]
    pub fn resolve(&self, fields: &LogFields, last: u64) -> Result<()> {
        let pending = fields.pending_transaction.load(Acquire);
        if pending == 0 {
            return Ok(());
        }
        if pending <= last {
            accept(fields);
            return Ok(());
        }
        self.cut(fields)
    }

    /// Puts a transaction's frame into the log. It is pending until [`accept`] or [`Log::cut`]. The caller holds the
    /// gate; `transaction` is the one that is about to commit; `room` says how large a segment must be that it needs.
    ///
    /// # Errors
    /// [`Error::DiskFull`] or the system's answer: nothing is pending then.
    #[inline]
    pub fn append(&self, fields: &LogFields, redo: &mut Redo, transaction: u64, room: Room) -> Result<()> {
        let mut current = self.current.lock();
        let size = redo.size();
        let (segment, position) = self.place(&mut current, fields, size, room)?;
        let number = fields.number.load(Relaxed) + 1;
        let (bytes, checksum) = redo.seal(Seal {
            epoch: fields.epoch.load(Relaxed),
            position,
            number,
            previous: fields.checksum.load(Relaxed),
        });
        // The number first: whatever happens now, it is never given again.
        fields.number.store(number, Release);
        fields.pending_number.store(number, Release);
        fields.pending_start.store(position, Release);
        fields.pending_end.store(position + size, Release);
        fields.pending_checksum.store(checksum.into(), Release);
        fault::point("append-before-pending");
        fields.pending_transaction.store(transaction, Release);
        fault::point("append-pending");
        let written = segment.write(position, bytes);
        fault::point("append-written");
        if written.is_err() {
            drop(current);
            self.cut(fields)?;
        }
        written
    }

    /// Makes a pending frame unreadable, on the disk too, before anybody goes on: a transaction that was told to have
    /// failed must not come back after a power cut.
    #[cold]
    pub fn cut(&self, fields: &LogFields) -> Result<()> {
        let position = fields.pending_start.load(Acquire);
        let mut current = self.current.lock();
        let segment = self.current_segment(&mut current, fields)?;
        segment.write(position, &[0; frame::HEAD])?;
        fault::point("cut-written");
        if segment.file.sync_data().is_err() {
            fields.unsound.store(1, Release);
        }
        fields.pending_transaction.store(0, Release);
        Ok(())
    }

    /// The segment and the position for a frame of `size` bytes.
    #[inline]
    fn place<'a>(
        &self,
        current: &'a mut Option<Current>,
        fields: &LogFields,
        size: u64,
        room: Room,
    ) -> Result<(&'a Segment, u64)> {
        let tail = fields.tail.load(Acquire);
        let start = fields.segment.load(Acquire);
        if start != 0 {
            let end = self.current_segment(current, fields)?.end;
            let position = tail.max(start + segment::HEAD);
            if position + size <= end {
                return Ok((self.current_segment(current, fields)?, position));
            }
        }
        self.next_segment(current, fields, size, room)
    }

    #[cold]
    fn next_segment<'a>(
        &self,
        current: &'a mut Option<Current>,
        fields: &LogFields,
        size: u64,
        room: Room,
    ) -> Result<(&'a Segment, u64)> {
        self.home.check()?;
        let tail = fields.tail.load(Acquire);
        let begin = tail.max(fields.segment_end.load(Acquire));
        let backlog = fields.backlog();
        fault::may_fail("segment-create").map_err(|e| Error::io("cannot reserve space for", &self.folder, e))?;
        let segment = Segment::create(&self.folder, begin, Wish { frame: size, backlog, room }, self.way)?;
        fault::point("segment-created");
        fields.segment_end.store(segment.end, Release);
        fault::point("segment-end");
        fields.segment.store(begin, Release);
        let made = current.insert(Current { segment, generation: fields.generation.load(Acquire) });
        Ok((&made.segment, begin + segment::HEAD))
    }

    /// The segment in use, opened by this process.
    #[inline]
    fn current_segment<'a>(&self, current: &'a mut Option<Current>, fields: &LogFields) -> Result<&'a Segment> {
        let (start, generation) = (fields.segment.load(Acquire), fields.generation.load(Acquire));
        let fits = current.as_ref().is_some_and(|c| c.segment.start == start && c.generation == generation);
        if !fits {
            // The old one goes first, so that it never outlives a failure to open the new one.
            *current = None;
            self.home.check()?;
            *current = Some(Current { segment: Segment::open(&self.folder, start, self.way)?, generation });
        }
        match current {
            Some(current) => Ok(&current.segment),
            None => Err(Error::Internal("a segment went missing".to_owned())),
        }
    }

    /// Removes all segments. The caller is alone, and the durable file has everything.
    pub fn clear(&self, fields: &LogFields) -> Result<()> {
        // The end stays, so that no later segment takes a position again.
        fields.segment.store(0, Release);
        *self.current.lock() = None;
        for found in self.segments()? {
            files::remove(&found.path)?;
        }
        Ok(())
    }

    /// The file of the segment that begins at `start`, if it is the one this process has open, ready for a sync of what
    /// lies between `from` and `end`.
    pub fn file_to_sync(&self, fields: &LogFields, start: u64, from: u64, end: u64) -> Option<Arc<std::fs::File>> {
        let current = self.current.lock();
        let generation = fields.generation.load(Acquire);
        let open = current.as_ref().filter(|c| c.segment.start == start && c.generation == generation)?;
        open.segment.let_pages_go(from, end);
        Some(Arc::clone(&open.segment.file))
    }

    /// Lets go of a segment that is no longer in use, so that its blocks become free once it has been removed.
    pub fn let_go(&self, fields: &LogFields) {
        if let Some(mut current) = self.current.try_lock()
            && current.as_ref().is_some_and(|c| c.segment.start != fields.segment.load(Acquire))
        {
            *current = None;
        }
    }
}

/// Lets the pending frame count: its transaction has been committed. Doing it twice does no harm.
#[inline]
pub fn accept(fields: &LogFields) {
    fields.checksum.store(fields.pending_checksum.load(Relaxed) as u32, Release);
    fields.tail.store(fields.pending_end.load(Relaxed), Release);
    fault::point("accept-tail");
    fields.pending_transaction.store(0, Release);
}

/// Where the log of all that anybody can see ends. A transaction becomes visible a moment before its frame is accepted,
/// and its process may die in that moment; `last` answers the last transaction committed in the working file.
pub fn visible_end(fields: &LogFields, last: impl Fn() -> u64) -> u64 {
    loop {
        let pending = fields.pending_transaction.load(Acquire);
        if pending == 0 {
            return fields.tail.load(Acquire);
        }
        let number = fields.pending_number.load(Acquire);
        let end = fields.pending_end.load(Acquire);
        let committed = pending <= last();
        let tail = fields.tail.load(Acquire);
        fence(Acquire);
        // Transaction numbers are used again after an abort; frame numbers never are.
        let unchanged = fields.pending_transaction.load(Acquire) == pending
            && fields.pending_number.load(Acquire) == number
            && fields.pending_end.load(Acquire) == end;
        if unchanged {
            return if committed { end.max(tail) } else { tail };
        }
    }
}
