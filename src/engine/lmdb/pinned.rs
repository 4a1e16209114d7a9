//! Who keeps pages from being used again: the oldest snapshot, and for how long this process has seen it.

use std::time::{Duration, Instant};

use super::sys::{Env, Snapshot};

/// A snapshot that is older than this, with commits since, makes the file grow in a way that somebody should know of.
const LONG: Duration = Duration::from_secs(3);

/// The oldest snapshot as the ticker last saw it.
#[derive(Default)]
pub struct Pinned(Option<(Snapshot, Instant)>);

impl Pinned {
    /// Looks who is the oldest now.
    pub fn look(&mut self, env: &Env) {
        let known = self.0.take();
        self.0 = env.oldest_snapshot().map(|found| match known {
            Some((snapshot, since)) if snapshot == found => (found, since),
            _ => (found, Instant::now()),
        });
    }

    /// For how long the oldest snapshot has been seen, and what to say about that.
    pub fn report(&self, last: u64) -> (Duration, Option<String>) {
        let Some((snapshot, since)) = self.0 else { return (Duration::ZERO, None) };
        let (age, lag) = (since.elapsed(), last.saturating_sub(snapshot.transaction));
        let warning = (age >= LONG && lag > 0).then(|| {
            format!(
                "process {} has been reading one moment for {:.0} s, and {lag} transactions were committed since: until it is \
                 done the working file cannot use again what they freed, and grows. Make snapshot(fn), exports and backups short",
                snapshot.process,
                age.as_secs_f64()
            )
        });
        (age, warning)
    }
}
