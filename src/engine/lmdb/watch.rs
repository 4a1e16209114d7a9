//! Telling of committed writes: frames are read from the log's files as they are accepted, beside those who write them.
//! A watcher holds no lock and pins nothing but the file it is reading, so it costs the writers nothing; one that comes
//! too late for a removed segment is told so.

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::fence;
use std::thread;
use std::time::{Duration, Instant};

use super::frame::{self, Chain};
use super::header::LogFields;
use super::replay::Replay;
use super::{Hold, Shared, chunks};
use crate::engine::{Batch, News, Operation, Watch};
use crate::error::{Error, Result};
use crate::key;
use crate::patience;

/// How long one sleep at the bell lasts, for writers that died before they rang it.
const SLEEP: Duration = Duration::from_millis(100);
/// How often a busy log wakes a watcher at most: a writer that had to ring for each commit would feel it.
const REST: Duration = Duration::from_millis(2);
/// How long the beginning waits for a process that stands still inside a commit.
const BEGINNING: Duration = Duration::from_secs(10);

/// A watcher of the engine `lmdb`.
pub struct LmdbWatch {
    replay: Replay,
    generation: u64,
    prefix: Vec<u8>,
    /// The least key behind all that begin with the prefix.
    behind: Vec<u8>,
    woken: Instant,
    shared: Arc<Shared>,
    /// The last field: whoever lets go of the hold must have let go of everything else.
    hold: Arc<Hold>,
}

impl LmdbWatch {
    /// Begins where the log ends now.
    pub(super) fn begin(shared: &Arc<Shared>, hold: &Arc<Hold>, prefix: &[u8]) -> Result<LmdbWatch> {
        let Some(log) = &shared.log else {
            return Err(Error::Unsupported(
                "a store with the durability 'process' keeps no log to tell changes from: open it as 'relaxed' or 'strict'"
                    .to_owned(),
            ));
        };
        let fields = &shared.header.fields().log;
        let mut behind = Vec::new();
        key::subtree_end(prefix, &mut behind);
        let generation = fields.generation.load(Acquire);
        let chain = present_end(fields)?;
        Ok(LmdbWatch {
            replay: Replay::new(&log.folder, chain, chain.position)?,
            generation,
            prefix: prefix.to_vec(),
            behind,
            woken: Instant::now(),
            shared: Arc::clone(shared),
            hold: Arc::clone(hold),
        })
    }

    fn fields(&self) -> &LogFields {
        &self.shared.header.fields().log
    }

    /// Reads the next transaction's part below the prefix into `batch`; its number.
    fn read(&mut self, batch: &mut Batch) -> Result<Option<u64>> {
        let Some(operations) = self.replay.next()? else { return Ok(None) };
        let below = Below { prefix: &self.prefix, behind: &self.behind };
        below.gather(operations, batch);
        Ok(Some(self.replay.chain().number))
    }

    /// Goes on as far as the log reaches. False when it has not grown.
    fn go_on(&mut self) -> Result<bool> {
        let (tail, generation) = (self.fields().tail.load(Acquire), self.fields().generation.load(Acquire));
        if generation != self.generation {
            self.replay.look_again()?;
            self.generation = generation;
        }
        self.replay.go_on(tail);
        Ok(tail > self.replay.chain().position)
    }

    /// What the log has to tell now; none where it has not grown. Reads for at most `patience` what is not to be told.
    fn read_news(&mut self, patience: Duration, batch: &mut Batch) -> Result<Option<News>> {
        let begun = Instant::now();
        while self.go_on()? {
            let read = match self.read(batch)? {
                Some(number) => Some(number),
                None => self.look_again(batch)?,
            };
            match read {
                Some(number) if !batch.is_empty() => return Ok(Some(News::Transaction(number))),
                Some(_) if begun.elapsed() >= patience => return Ok(Some(News::Nothing)),
                Some(_) => {}
                None => {
                    self.skip_to_the_end()?;
                    return Ok(Some(News::Lost));
                }
            }
        }
        Ok(None)
    }

    /// Looks once more for the next frame, among the segments that are there now.
    fn look_again(&mut self, batch: &mut Batch) -> Result<Option<u64>> {
        if let Some(log) = &self.shared.log {
            log.check_home()?;
        }
        self.replay.look_again()?;
        self.read(batch)
    }

    fn skip_to_the_end(&mut self) -> Result<()> {
        let Some(log) = &self.shared.log else { return Ok(()) };
        let chain = present_end(&self.shared.header.fields().log)?;
        self.replay = Replay::new(&log.folder, chain, chain.position)?;
        Ok(())
    }

    /// Sleeps until there may be more, or somebody rings.
    fn rest(&mut self, slice: Duration) {
        let busy = REST.saturating_sub(self.woken.elapsed()).min(slice);
        if busy.is_zero() {
            let end = self.replay.chain().position;
            let header = self.shared.header.fields();
            header.bell.sleep(slice, || header.log.tail.load(Acquire) > end);
            self.woken = Instant::now();
        } else {
            thread::sleep(busy);
        }
    }
}

impl Watch for LmdbWatch {
    fn next(&mut self, patience: Duration, batch: &mut Batch) -> Result<News> {
        batch.clear();
        if let Some(news) = self.read_news(patience, batch)? {
            return Ok(news);
        }
        self.let_go();
        self.rest(patience.min(SLEEP));
        Ok(self.read_news(patience, batch)?.unwrap_or(News::Nothing))
    }

    fn let_go(&mut self) {
        self.replay.let_go();
    }

    fn waker(&self) -> Box<dyn Fn() + Send> {
        let hold = Arc::clone(&self.hold);
        Box::new(move || {
            if let Some(shared) = &hold.shared {
                shared.header.fields().bell.wake();
            }
        })
    }
}

/// Where the log ends at a moment in which nothing is being committed.
fn present_end(fields: &LogFields) -> Result<Chain> {
    let mut found = None;
    patience::wait("a moment between two commits", Some(BEGINNING), |_| {
        let tail = fields.tail.load(Acquire);
        let checksum = fields.checksum.load(Acquire);
        // Whoever accepts a frame stores its checksum, then the tail, then empties the slot.
        let is_pending = fields.pending_transaction.load(Acquire) != 0;
        fence(Acquire);
        if is_pending || fields.tail.load(Acquire) != tail {
            thread::yield_now();
            return Ok(false);
        }
        // Numbers only tell frames from such as were cut off, and no frame before the tail was.
        found = Some(Chain { epoch: fields.epoch.load(Acquire), position: tail, number: 0, checksum });
        Ok(true)
    })?;
    found.ok_or_else(|| Error::Internal("the end of the log went missing".to_owned()))
}

/// The keys that begin with a prefix.
struct Below<'a> {
    prefix: &'a [u8],
    behind: &'a [u8],
}

impl Below<'_> {
    /// Puts those operations of a frame that touch these keys into `batch`, with large values in one piece.
    fn gather(&self, frame: &[u8], batch: &mut Batch) {
        let mut operations = frame::operations(frame).peekable();
        let mut large = Vec::new();
        while let Some(operation) = operations.next() {
            match operation {
                Operation::Put(key, _) if !key.starts_with(self.prefix) => {}
                Operation::Put(_, stored) if chunks::is_chunk(stored) => {}
                Operation::Put(key, stored) if chunks::is_head(stored) => {
                    large.clear();
                    while let Some(Operation::Put(_, chunk)) =
                        operations.next_if(|next| matches!(next, Operation::Put(_, stored) if chunks::is_chunk(stored)))
                    {
                        large.extend_from_slice(&chunk[1..]);
                    }
                    batch.put(key, &large);
                }
                Operation::Put(key, stored) => batch.put(key, stored),
                Operation::DeleteRange(start, end) if chunks::is_stretch(start, end) => {}
                Operation::DeleteRange(start, end) if start < self.behind && end > self.prefix => {
                    batch.delete_range(start, end);
                }
                Operation::DeleteRange(..) => {}
            }
        }
    }
}
