//! Making the log durable. A sync of the segments' files is the durability point of every transaction in them.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::header::LogFields;
use super::log::{Log, visible_end};
use super::replay::Replay;
use super::segment::{self, Found, Way};
use super::sys::Writer;
use super::{Shared, fault, files, space};
use crate::disk::sync_folder;
use crate::error::{Error, Result};
use crate::patience;

/// A flush by another process that takes longer than this has perhaps been stopped: flush beside it.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long writing segments anew waits for the writers.
const MENDING: Duration = Duration::from_secs(1);

/// Milliseconds of the clock that all processes share. Only differences are used, and only to save work.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Waits until everything that anybody could see when this was called is on the disk. Those who wait together share one
/// sync.
///
/// # Errors
/// The system's answer; nothing is promised then.
pub fn barrier(shared: &Shared) -> Result<()> {
    let Some(log) = &shared.log else { return shared.env.sync() };
    let header = shared.header.fields();
    let fields = &header.log;
    let goal = visible_end(fields, || shared.env.last_transaction());
    let is_done = || fields.flushed.load(Acquire) >= goal && fields.unsound.load(Acquire) == 0;
    if is_done() {
        return Ok(());
    }
    let (mut mine, mut waited) = (false, Duration::ZERO);
    patience::wait("the flush of the log", None, |slice| {
        mine = header.flushing.lock_for(slice)?;
        waited += slice;
        Ok(mine || is_done() || waited >= PATIENCE)
    })?;
    let flushed = if is_done() { Ok(()) } else { flush(shared, log) };
    if mine {
        header.flushing.unlock();
    }
    flushed
}

/// Makes the log durable, as far as it reaches now. Safe beside any other flush.
///
/// # Errors
/// The system's answer. A file that failed to sync is never synced again: the kernel may have forgotten what it could
/// not write. Its frames are written to a new file instead, now or at the next flush.
pub fn flush(shared: &Shared, log: &Log) -> Result<()> {
    let fields = &shared.header.fields().log;
    if fields.unsound.load(Acquire) == 0 && sync_files(shared, log).is_ok() {
        return Ok(());
    }
    let mended = mend(shared, log);
    if mended.is_err() {
        fields.flush_failures.fetch_add(1, AcqRel);
    }
    mended
}

/// Syncs the log's files as they are, and notes it when that fails: they must not be synced again then.
///
/// # Errors
/// The system's answer.
pub fn sync_files(shared: &Shared, log: &Log) -> Result<()> {
    let fields = &shared.header.fields().log;
    let end = visible_end(fields, || shared.env.last_transaction());
    let from = fields.flushed.load(Acquire);
    if from >= end {
        return Ok(());
    }
    fault::point("flush-begun");
    if let Err(error) = sync_segments(log, fields, from, end) {
        fields.unsound.store(1, Release);
        return Err(error);
    }
    fault::point("flush-synced");
    fields.flushed.fetch_max(end, AcqRel);
    fields.flushed_at.store(now(), Release);
    Ok(())
}

fn sync_segments(log: &Log, fields: &LogFields, from: u64, end: u64) -> Result<()> {
    let current = fields.segment.load(Acquire);
    let file = if current == 0 { None } else { log.file_to_sync(fields, current, from, end) };
    if from > current
        && let Some(file) = file
    {
        return fault::may_fail("flush-sync")
            .and_then(|()| file.sync_data())
            .map_err(|e| Error::io("cannot sync", &segment::path(&log.folder, current), e));
    }
    for found in log.segments()?.iter().filter(|found| found.end > from && found.start < end) {
        sync_found(fields, found)?;
    }
    // The names of new segments must be found again too.
    sync_folder(&log.folder)
}

fn sync_found(fields: &LogFields, found: &Found) -> Result<()> {
    let synced = fault::may_fail("flush-sync")
        .and_then(|()| OpenOptions::new().read(true).write(true).open(&found.path))
        .and_then(|file| file.sync_data());
    match synced {
        // Removed meanwhile by a checkpoint: then it was flushed by somebody else.
        Err(error) if error.kind() == ErrorKind::NotFound && fields.flushed.load(Acquire) >= found.end => Ok(()),
        other => other.map_err(|e| Error::io("cannot sync", &found.path, e)),
    }
}

/// Writes the segments that are not known to be on the disk to new files, and makes those durable.
#[cold]
fn mend(shared: &Shared, log: &Log) -> Result<()> {
    let header = shared.header.fields();
    shared.gate.enter(&header.gate, Some(MENDING))?;
    let mended = Writer::begin(&shared.env)
        .and_then(|writer| log.resolve(&header.log, writer.transaction() - 1))
        .and_then(|()| write_anew(shared, log));
    shared.gate.leave(&header.gate);
    mended
}

/// The caller holds the gate, and nothing is pending.
fn write_anew(shared: &Shared, log: &Log) -> Result<()> {
    let fields = &shared.header.fields().log;
    let (from, tail) = (fields.flushed.load(Acquire), fields.tail.load(Acquire));
    for found in log.segments()?.iter().filter(|found| found.end > from) {
        let fresh = found.path.with_extension("new");
        files::remove(&fresh)?;
        copy_segment(found, &fresh, log.way)?;
        files::rename(&fresh, &found.path)?;
    }
    sync_folder(&log.folder)?;
    // The old pages were read from memory, where they should still be: make sure that all frames came across.
    let chain = shared.with_durable(|durable| durable.mark())?.chain;
    let mut replay = Replay::new(&log.folder, chain, tail)?;
    while replay.next()?.is_some() {}
    if replay.chain().position < tail {
        return Err(Error::Corrupt {
            path: log.folder.clone(),
            what: "frames of the log were lost when the disk failed. Make a backup and check the disk".to_owned(),
        });
    }
    fields.generation.fetch_add(1, AcqRel);
    fields.flushed.fetch_max(tail, AcqRel);
    fields.flushed_at.store(now(), Release);
    fields.unsound.store(0, Release);
    Ok(())
}

fn copy_segment(found: &Found, fresh: &std::path::Path, way: Way) -> Result<()> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(fresh)
        .map_err(|e| Error::io("cannot make", fresh, e))?;
    space::fill(&file, found.end - found.start, way == Way::Mapped)
        .map_err(|e| Error::io("cannot reserve space for", fresh, e))?;
    let old = std::fs::File::open(&found.path).map_err(|e| Error::io("cannot open", &found.path, e))?;
    let mut piece = vec![0; 1 << 20];
    let mut offset = 0;
    loop {
        let count = files::read_at(&old, &mut piece, offset).map_err(|e| Error::io("cannot read", &found.path, e))?;
        if count == 0 {
            return file.sync_all().map_err(|e| Error::io("cannot sync", fresh, e));
        }
        files::write_at(&file, &piece[..count], offset).map_err(|e| Error::io("cannot write", fresh, e))?;
        offset += count as u64;
    }
}
