//! The threads that an open store has in each process: one lets idle snapshots go, and where there is a log one makes it
//! durable and one brings the durable file up. Each process has them, so that the work goes on when one of them stops.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::log::Log;
use super::sys::Writer;
use super::{Shared, checkpoint, flush};
use crate::error::{Error, Result};

/// A backlog of this size goes into the durable file at once, a smaller one when so many flushes have gone by.
const WORTHWHILE: u64 = 32 << 20;
const PAUSE: u32 = 10;

/// A thread that works at intervals until it is dropped.
pub struct Thread {
    stopping: Arc<AtomicBool>,
    stop: Option<Sender<()>>,
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    /// Calls `work` after each interval; it is told how to see that it should stop.
    fn every(interval: Duration, name: &str, mut work: impl FnMut(&AtomicBool) + Send + 'static) -> Result<Thread> {
        let (stop, stopped) = channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stopping);
        let handle = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    work(&seen);
                }
            })
            .map_err(|e| Error::Internal(format!("cannot start a thread: {e}")))?;
        Ok(Thread { stopping, stop: Some(stop), handle: Some(handle) })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.stopping.store(true, Release);
        self.stop = None;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

/// Starts the threads of a store.
pub fn start(shared: &Arc<Shared>, interval: Duration) -> Result<Vec<Thread>> {
    let mut threads = Vec::new();
    let ticking = Arc::clone(shared);
    threads.push(Thread::every(interval, "caretdb-ticker", move |_| let_readers_go(&ticking))?);
    if shared.log.is_some() {
        let flushing = Arc::clone(shared);
        threads.push(Thread::every(interval, "caretdb-flusher", move |_| flush_now(&flushing, interval))?);
        let checkpointing = Arc::clone(shared);
        let work = move |stop: &AtomicBool| bring_up(&checkpointing, interval * PAUSE, stop);
        threads.push(Thread::every(interval, "caretdb-checkpointer", work)?);
    }
    Ok(threads)
}

/// Each snapshot kept makes the working file grow with every commit. Notes who holds the oldest one that is left.
fn let_readers_go(shared: &Shared) {
    for reader in shared.readers.lock().iter() {
        if let Some(mut kept) = reader.try_lock() {
            kept.let_go();
        }
    }
    shared.pinned.lock().look(&shared.env);
}

/// Makes the log durable, unless another process has just done it. What fails is counted and tried again.
fn flush_now(shared: &Shared, interval: Duration) {
    let Some(log) = &shared.log else { return };
    let fields = &shared.header.fields().log;
    settle_pending(shared, log);
    let since = flush::now().abs_diff(fields.flushed_at.load(Acquire));
    if since * 10 >= interval.as_millis() as u64 * 9 {
        let _ = flush::flush(shared, log);
    }
}

/// Decides about a frame that a dead process left pending, when nobody writes who would do it.
fn settle_pending(shared: &Shared, log: &Log) {
    let header = shared.header.fields();
    if header.log.pending_transaction.load(Acquire) == 0 {
        return;
    }
    if shared.gate.enter(&header.gate, Some(Duration::ZERO)).is_ok() {
        if let Ok(writer) = Writer::begin(&shared.env) {
            let _ = log.resolve(&header.log, writer.transaction() - 1);
        }
        shared.gate.leave(&header.gate);
    }
}

/// Brings the durable file up, if it is worth it and nobody else does.
fn bring_up(shared: &Shared, pause: Duration, stop: &AtomicBool) {
    let Some(log) = &shared.log else { return };
    let header = shared.header.fields();
    let fields = &header.log;
    let backlog = fields.flushed.load(Acquire).saturating_sub(fields.checkpointed.load(Acquire));
    let rested = flush::now().abs_diff(fields.checkpointed_at.load(Acquire)) >= pause.as_millis() as u64;
    log.let_go(fields);
    if backlog == 0 || !(rested || backlog >= WORTHWHILE) || !matches!(header.checkpointing.try_lock(), Ok(true)) {
        return;
    }
    while !stop.load(Acquire) {
        match checkpoint::advance(shared, log) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                fields.checkpoint_failures.fetch_add(1, AcqRel);
                break;
            }
        }
    }
    header.checkpointing.unlock();
}
