//! Bringing the durable file up: synced frames of the log go into it in batches, each batch one durable transaction that
//! also says how far it reached. Segments that hold nothing else go away then.

use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::Duration;

use super::durable::{Durable, Mark};
use super::frame::{self, Chain};
use super::header::LogFields;
use super::log::Log;
use super::replay::Replay;
use super::{Shared, fault, files, flush};
use crate::engine::Report;
use crate::engine::reduce::reduce;
use crate::error::{Error, Result};
use crate::patience;

/// How many bytes of the log go into one batch. More make fewer writes of each page, and more memory.
const BATCH: usize = 32 << 20;
/// How long another process may take for one batch before it is thought to stand still.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a writer that met a full disk waits for another process's batch.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// Applies the next frames before `until` to the durable file. The chain behind them; none when there were none.
pub fn batch(durable: &Durable, folder: &Path, epoch: Option<u64>, until: u64) -> Result<Option<Chain>> {
    let advanced = durable.advance(|mark, apply| {
        if epoch.is_some_and(|epoch| epoch != mark.chain.epoch) {
            return Err(lost(folder, "the durable file belongs to another log"));
        }
        let mut replay = Replay::new(folder, mark.chain, until)?;
        let (mut bytes, mut frames) = (Vec::new(), Vec::new());
        while bytes.len() < BATCH
            && let Some(operations) = replay.next()?
        {
            let from = bytes.len();
            bytes.extend_from_slice(operations);
            frames.push(from..bytes.len());
        }
        if frames.is_empty() {
            return Ok(None);
        }
        apply.apply(&reduce(frames.into_iter().flat_map(|frame| frame::operations(&bytes[frame]))))?;
        Ok(Some(Mark { chain: replay.chain(), ..mark }))
    })?;
    Ok(advanced.map(|mark| mark.chain))
}

fn lost(folder: &Path, what: &str) -> Error {
    Error::Corrupt {
        path: folder.to_path_buf(),
        what: format!("{what}. Make a backup, close the store everywhere and open it again"),
    }
}

/// Brings the durable file on by one batch, as far as the log is synced. True when there may be more. The caller holds
/// the right to checkpoint.
pub fn advance(shared: &Shared, log: &Log) -> Result<bool> {
    let fields = &shared.header.fields().log;
    let (until, epoch) = (fields.flushed.load(Acquire), fields.epoch.load(Acquire));
    if fields.checkpointed.load(Acquire) >= until {
        return Ok(false);
    }
    log.check_home()?;
    fault::point("checkpoint-begun");
    let chain = shared.with_durable(|durable| match batch(durable, &log.folder, Some(epoch), until)? {
        Some(chain) => Ok(chain),
        None => Ok(durable.mark()?.chain),
    })?;
    let before = fields.checkpointed.fetch_max(chain.position, AcqRel);
    if chain.position < until && chain.position <= before {
        return Err(lost(&log.folder, "the log does not go on where the durable file ends"));
    }
    fields.checkpointed_at.store(flush::now(), Release);
    remove_old_segments(log, fields, chain.position)?;
    fault::point("checkpoint-done");
    Ok(chain.position < until)
}

/// Brings the durable file up to all that anybody could see when this was called.
///
/// # Errors
/// What keeps the durable file from being brought up, [`Error::Busy`] when another process does it and does not get on, or
/// the answer of `report`.
pub fn catch_up(shared: &Shared, log: &Log, report: &mut Report<'_>) -> Result<()> {
    flush::barrier(shared)?;
    let header = shared.header.fields();
    let goal = header.log.flushed.load(Acquire);
    while header.log.checkpointed.load(Acquire) < goal {
        let before = header.log.checkpointed.load(Acquire);
        patience::wait("the durable file", Some(PATIENCE), |slice| {
            if header.checkpointing.lock_for(slice)? {
                let advanced = advance(shared, log);
                header.checkpointing.unlock();
                advanced?;
            }
            Ok(header.log.checkpointed.load(Acquire) != before)
        })?;
        report(0, 0)?;
    }
    Ok(())
}

/// Removes the segments that end at or before `position`, but never the one in use.
fn remove_old_segments(log: &Log, fields: &LogFields, position: u64) -> Result<()> {
    let current = fields.segment.load(Acquire);
    for found in log.segments()? {
        if found.end <= position && found.start != current {
            files::remove(&found.path)?;
        }
    }
    log.let_go(fields);
    Ok(())
}

/// Gives a full disk back what the log takes: brings the durable file up to all that is committed, and removes the
/// segments, the one in use too. The caller holds the gate and is about to try again.
///
/// # Errors
/// What keeps the durable file from being brought up; the segments that it needs stay.
#[cold]
pub fn give_back(shared: &Shared, log: &Log) -> Result<()> {
    let header = shared.header.fields();
    let fields = &header.log;
    // Segments that failed to sync are written anew by the next flush, which needs the gate.
    if fields.unsound.load(Acquire) != 0 || !header.checkpointing.lock_for(GIVING_BACK)? {
        return Ok(());
    }
    let brought = flush::sync_files(shared, log).and_then(|()| {
        while advance(shared, log)? {}
        let is_settled = fields.pending_transaction.load(Acquire) == 0;
        if is_settled && fields.checkpointed.load(Acquire) >= fields.tail.load(Acquire) {
            log.clear(fields)
        } else {
            Ok(())
        }
    });
    header.checkpointing.unlock();
    brought
}

/// Whether so much of the log waits for the durable file that writers should wait too.
#[inline]
pub fn is_behind(log: &Log, fields: &LogFields) -> bool {
    fields.backlog() > log.limit
}

/// Waits until the backlog is within its limit, and helps meanwhile. The caller holds neither the gate nor a transaction.
///
/// # Errors
/// What keeps the durable file from being brought up, or [`Error::Busy`] when another process does it and does not get
/// on within `timeout`.
#[cold]
pub fn wait_for_room(shared: &Shared, log: &Log, timeout: Option<Duration>) -> Result<()> {
    let header = shared.header.fields();
    patience::wait("room in the log", timeout, |slice| {
        if is_behind(log, &header.log) && header.checkpointing.lock_for(slice)? {
            let helped = flush::flush(shared, log).and_then(|()| advance(shared, log));
            header.checkpointing.unlock();
            helped?;
        }
        Ok(!is_behind(log, &header.log))
    })
}
