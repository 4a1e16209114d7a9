//! Reading the log: from a frame that is known, on to the last one that fits.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files;
use super::frame::{self, Chain};
use super::segment::{self, Found};
use crate::error::{Error, Result};

/// How much is read ahead.
const WINDOW: usize = 1 << 20;

/// Reads frames in the order of the log.
pub struct Replay {
    folder: PathBuf,
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
        let segments = segment::list(folder)?;
        Ok(Replay { folder: folder.to_path_buf(), segments, until, chain, open: None })
    }

    /// Goes on as far as `until`, when the log has grown. Nothing was read ahead of where it ended before.
    pub fn go_on(&mut self, until: u64) {
        self.until = until;
    }

    /// Looks anew which segments there are.
    pub fn look_again(&mut self) -> Result<()> {
        self.let_go();
        self.segments = segment::list(&self.folder)?;
        Ok(())
    }

    /// Closes the segment that is being read, so that its blocks are free once it has been removed.
    pub fn let_go(&mut self) {
        self.open = None;
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
        Ok(Some(&open.show(at, length, self.until)?[frame::HEAD..]))
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
        let Some(length) = frame::length(open.show(at, frame::HEAD, end)?, &self.chain, end - at) else {
            return Ok(None);
        };
        let length = length as usize;
        Ok(frame::follow(open.show(at, length, end)?, &self.chain, at).map(|chain| (length, chain)))
    }
}

impl Opened {
    /// Opens a segment; none when it is not sound, or has been removed because nobody needs it to recover.
    fn open(found: &Found) -> Result<Option<Opened>> {
        let file = match File::open(&found.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|e| Error::io("cannot open", &found.path, e))?,
        };
        let mut open = Opened { found: found.clone(), file, window: Vec::new(), at: found.start };
        let sound = segment::is_sound(
            open.show(found.start, segment::HEAD as usize, found.start + segment::HEAD)?,
            found.start,
        );
        Ok(sound.then_some(open))
    }

    /// The bytes of a stretch of the log; fewer where the file ends. Nothing behind `until` is read ahead.
    fn show(&mut self, at: u64, length: usize, until: u64) -> Result<&[u8]> {
        let inside = at >= self.at && at + length as u64 <= self.at + self.window.len() as u64;
        if !inside {
            let ahead = usize::try_from(until.saturating_sub(at)).map_or(WINDOW, |room| room.min(WINDOW));
            self.window.resize(length.max(ahead), 0);
            let count = files::read_at(&self.file, &mut self.window, at - self.found.start)
                .map_err(|e| Error::io("cannot read", &self.found.path, e))?;
            self.window.truncate(count);
            self.at = at;
        }
        let from = (at - self.at) as usize;
        Ok(&self.window[from..(from + length).min(self.window.len())])
    }
}
