//! The end of a process that does not close its stores. JavaScript's `process.exit()` ends a program without giving the
//! addon its turn, but the C library still calls what asked to be called: what was written is flushed then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::{Shared, flush};

/// The stores that this process has open.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());
static ASKED: Once = Once::new();

/// Flushes this store too when the process ends.
pub fn flush_at_exit(shared: &Arc<Shared>) {
    let mut open = OPEN.lock();
    open.retain(|shared| shared.strong_count() > 0);
    open.push(Arc::downgrade(shared));
    ASKED.call_once(|| {
        // SAFETY: the function takes nothing and catches its own panics. The C library calls it when the process ends, or
        // when this library goes, whichever comes first. Where it has no room for it, nothing is lost but this flush.
        let _ = unsafe { libc::atexit(flush_all) };
    });
}

extern "C" fn flush_all() {
    // Another thread may have been stopped while it held the list.
    let Some(open) = OPEN.try_lock_for(Duration::from_millis(100)) else { return };
    for shared in open.iter().filter_map(Weak::upgrade) {
        if let Some(log) = &shared.log {
            // There is nobody left to tell of an error.
            let _ = catch_unwind(AssertUnwindSafe(|| flush::flush(&shared, log)));
        }
    }
}
