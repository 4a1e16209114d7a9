//! Places at which a test can make this process die, stop or fail. Only builds with the feature `faults` have them.
//!
//! `CARETDB_FAULT=<place>:<n>:<what>` acts at the n-th pass of a place: `kill` ends the process as SIGKILL does, `stop`
//! halts it as SIGSTOP does, `fail` lets the place fail from then on as a disk that answers an input/output error, and
//! `full` as one that has no room.

/// Names a place in the code.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn point(_place: &'static str) {}

/// Names a place at which the system may answer an error.
///
/// # Errors
/// The one a test asked for.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn may_fail(_place: &'static str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub use armed::{may_fail, point};

#[cfg(feature = "faults")]
mod armed {
    use std::io;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Fault {
        place: String,
        pass: u64,
        what: String,
    }

    static FAULT: LazyLock<Option<Fault>> = LazyLock::new(|| {
        let text = std::env::var("CARETDB_FAULT").ok()?;
        let mut parts = text.split(':');
        let (place, pass, what) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?, parts.next()?.to_owned());
        Some(Fault { place, pass, what })
    });
    static PASSES: AtomicU64 = AtomicU64::new(0);

    /// Dies or stops here, if a test wants it.
    pub fn point(place: &'static str) {
        let Some(fault) = FAULT.as_ref().filter(|fault| fault.place == place) else { return };
        if PASSES.fetch_add(1, Ordering::SeqCst) + 1 != fault.pass {
            return;
        }
        let signal = if fault.what == "stop" { libc::SIGSTOP } else { libc::SIGKILL };
        // To this thread: sent to the process, another thread may take it, and this one would go on for a moment.
        // SAFETY: a thread may send itself a signal.
        unsafe { libc::raise(signal) };
    }

    /// Fails here, if a test wants it.
    ///
    /// # Errors
    /// The one the test asked for.
    pub fn may_fail(place: &'static str) -> io::Result<()> {
        let Some(fault) = FAULT.as_ref().filter(|fault| fault.place == place) else { return Ok(()) };
        if PASSES.fetch_add(1, Ordering::SeqCst) + 1 < fault.pass {
            return Ok(());
        }
        Err(io::Error::from_raw_os_error(if fault.what == "full" { libc::ENOSPC } else { libc::EIO }))
    }
}
