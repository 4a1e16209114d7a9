//! Reading the log: from a frame that is known, on to the last one that fits.

use std::fs::File;
use std::path::Path;

use super::files;
use super::frame::{self, Chain};
use super::segment::{self, Found};
use crate::error::{Error, Result};

/// How much is read ahead.
const WINDOW: usize = 1 << 20;

/// Reads frames in the order of the log.
pub struct Replay {
    segments: Vec<Found>,
    until: u64,
    chain: Chain,
    open: Option<Opened>,
}

/// The segment that is being read, and a piece of it.
struct Opened {
    found: Found,
    file: File,
    window: Vec<u8>,
    /// The position of the window's first byte.
    at: u64,
}

impl Replay {
    /// Reads the log in `folder` from `chain` on, but nothing at or behind `until`.
    pub fn new(folder: &Path, chain: Chain, until: u64) -> Result<Replay> {
        Ok(Replay { segments: segment::list(folder)?, until, chain, open: None })
    }

    /// The chain behind the last frame that was read.
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// The operations of the next frame, for [`frame::operations`]; none when no further one fits.
    ///
    /// # Errors
    /// The system's answer.
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some((at, length, chain)) = self.find()? else { return Ok(None) };
        let Some(open) = &mut self.open else { return Ok(None) };
        self.chain = chain;
        Ok(Some(&open.show(at, length)?[frame::HEAD..]))
    }

    /// Finds the next frame: where the last one ended, else at the beginning of a later segment. A segment may be empty,
    /// when the process that made it died or the next frame was too long for it.
    fn find(&mut self) -> Result<Option<(u64, usize, Chain)>> {
        let here = self.chain.position;
        for index in 0..self.segments.len() {
            let found = &self.segments[index];
            if found.end <= here {
                continue;
            }
            let at = here.max(found.start + segment::HEAD);
            if let Some((length, chain)) = self.look(index, at)? {
                return Ok(Some((at, length, chain)));
            }
        }
        Ok(None)
    }

    /// The length of the frame at a position and the chain behind it, if one fits there.
    fn look(&mut self, index: usize, at: u64) -> Result<Option<(usize, Chain)>> {
        let found = &self.segments[index];
        let end = found.end.min(self.until);
        if at + frame::HEAD as u64 > end {
            return Ok(None);
        }
        if self.open.as_ref().is_none_or(|open| open.found.start != found.start) {
            self.open = Opened::open(found)?;
        }
        let Some(open) = &mut self.open else { return Ok(None) };
        let Some(length) = frame::length(open.show(at, frame::HEAD)?, &self.chain, end - at) else { return Ok(None) };
        let length = length as usize;
        Ok(frame::follow(open.show(at, length)?, &self.chain, at).map(|chain| (length, chain)))
    }
}

impl Opened {
    /// Opens a segment; none when it is not sound.
    fn open(found: &Found) -> Result<Option<Opened>> {
        let file = File::open(&found.path).map_err(|e| Error::io("cannot open", &found.path, e))?;
        let mut open = Opened { found: found.clone(), file, window: Vec::new(), at: found.start };
        let sound = segment::is_sound(open.show(found.start, segment::HEAD as usize)?, found.start);
        Ok(sound.then_some(open))
    }

    /// The bytes of a stretch of the log; fewer where the file ends.
    fn show(&mut self, at: u64, length: usize) -> Result<&[u8]> {
        let inside = at >= self.at && at + length as u64 <= self.at + self.window.len() as u64;
        if !inside {
            self.window.resize(length.max(WINDOW), 0);
            let count = files::read_at(&self.file, &mut self.window, at - self.found.start)
                .map_err(|e| Error::io("cannot read", &self.found.path, e))?;
            self.window.truncate(count);
            self.at = at;
        }
        let from = (at - self.at) as usize;
        Ok(&self.window[from..(from + length).min(self.window.len())])
    }
}
