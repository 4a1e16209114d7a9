//! Wakes the waiters of this process when one of its connections gives a lock back. One bell serves all stores: a
//! stroke that meant somebody else costs a waiter one vain attempt.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

static STROKES: Mutex<u64> = Mutex::new(0);
static RUNG: Condvar = Condvar::new();

/// How often it has rung. Ask before an attempt, so that a stroke during the attempt is not missed.
pub fn strokes() -> u64 {
    *STROKES.lock()
}

/// Says that something was given back.
pub fn ring() {
    *STROKES.lock() += 1;
    RUNG.notify_all();
}

/// Sleeps until it has rung more than `heard` times, or until `longest` has passed.
pub fn wait(heard: u64, longest: Duration) {
    let mut strokes = STROKES.lock();
    RUNG.wait_while_for(&mut strokes, |strokes| *strokes == heard, longest);
}
