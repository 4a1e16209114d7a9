//! Waiting for something another thread or process holds, so that no wait lasts for ever and a thread that should stop
//! notices.

use std::cell::Cell;
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
        if STOPPING.get()() {
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
