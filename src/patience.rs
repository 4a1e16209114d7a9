//! Waiting for something another thread or process holds, so that no wait lasts for ever and a thread that should stop
//! notices.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How long one slice of a native wait lasts.
pub const SLICE: Duration = Duration::from_millis(100);

thread_local! {
    static STOPPING: Cell<fn() -> bool> = const { Cell::new(|| false) };
}

/// Tells the waits of this thread how to learn that the thread should stop. It is asked once a slice.
pub fn ask_whether_stopping(question: fn() -> bool) {
    STOPPING.set(question);
}

/// Whether this thread should stop.
#[must_use]
pub fn is_stopping() -> bool {
    STOPPING.get()()
}

/// Calls `attempt` with the length of one slice until it answers true, `timeout` passes (`None`: never), or this
/// thread should stop. `what` names what is waited for in the error.
///
/// # Errors
/// [`Error::Busy`] when the wait ended without success, or the attempt's error.
///
/// ```
/// use std::time::Duration;
/// let mut tries = 0;
/// caretdb::patience::wait("the door", Some(Duration::from_secs(1)), |_slice| {
///     tries += 1;
///     Ok(tries == 3)
/// })?;
/// # Ok::<(), caretdb::error::Error>(())
/// ```
pub fn wait(what: &str, timeout: Option<Duration>, mut attempt: impl FnMut(Duration) -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    loop {
        let left = timeout.map_or(SLICE, |all| all.saturating_sub(begun.elapsed()));
        if attempt(left.min(SLICE))? {
            return Ok(());
        }
        if is_stopping() {
            return Err(Error::Busy(format!("the wait for {what} ended because its thread is stopping")));
        }
        if timeout.is_some_and(|all| begun.elapsed() >= all) {
            return Err(Error::Busy(format!(
                "{what} was not free within {:.1} s: wait for the other connection, or raise the timeout",
                begun.elapsed().as_secs_f64()
            )));
        }
    }
}

/// How long to go on doing something again, and how long to rest in between.
pub struct Retry {
    begun: Instant,
    timeout: Option<Duration>,
    rest: Duration,
}

/// The rests between attempts grow from the first to the last.
const FIRST_REST: Duration = Duration::from_micros(300);
const LAST_REST: Duration = Duration::from_millis(50);

impl Retry {
    /// Begins now; `None` goes on for ever.
    #[must_use]
    pub fn new(timeout: Option<Duration>) -> Retry {
        Retry { begun: Instant::now(), timeout, rest: FIRST_REST }
    }

    /// Whether there may be another attempt.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.timeout.is_none_or(|timeout| self.begun.elapsed() < timeout) && !is_stopping()
    }

    /// Rests, for `least` at least, before another attempt; false, at once, where there may be none. The rests grow, up to
    /// eight times the least one where there is one.
    pub fn rest(&mut self, least: Duration) -> bool {
        if !self.goes_on() {
            return false;
        }
        self.rest = self.rest.max(least);
        // Of two that met, one should come back sooner.
        let share = 0.5 + f64::from(RandomState::new().hash_one(self.begun) as u32) / f64::from(u32::MAX);
        let mut left = self.rest.mul_f64(share);
        while !left.is_zero() && !is_stopping() {
            let slice = left.min(SLICE);
            std::thread::sleep(slice);
            left -= slice;
        }
        self.rest = (self.rest * 2).min(LAST_REST.max(least * 8));
        true
    }
}
