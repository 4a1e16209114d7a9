//! The gate of a store's writers: one mutex in the header, shared by all processes and recovered when its holder dies.
//!
//! LMDB's own writer lock has no timeout and is let go inside commit; whoever holds the gate holds it from before the
//! write transaction begins until after everything that belongs to its commit is done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::patience;

pub use imp::SharedMutex;

/// This process's side of the gate.
pub struct Gate {
    /// The thread of this process that is inside; 0 when none is.
    owner: AtomicU64,
}

thread_local! {
    static MARK: u8 = const { 0 };
}

/// A number no other living thread of this process has: the address of a thread-local byte.
fn this_thread() -> u64 {
    MARK.with(|mark| std::ptr::from_ref(mark) as u64)
}

impl Gate {
    /// A gate nobody of this process is inside of.
    pub fn new() -> Gate {
        Gate { owner: AtomicU64::new(0) }
    }

    /// Goes in, after at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Transaction`] at once when this thread is inside already, through another connection: waiting could
    /// never end. [`Error::Busy`] when the timeout passes.
    #[inline]
    pub fn enter(&self, mutex: &SharedMutex, timeout: Option<Duration>) -> Result<()> {
        if !mutex.try_lock()? {
            self.wait(mutex, timeout)?;
        }
        self.owner.store(this_thread(), Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn wait(&self, mutex: &SharedMutex, timeout: Option<Duration>) -> Result<()> {
        if self.owner.load(Ordering::Relaxed) == this_thread() {
            return Err(Error::Transaction(
                "another connection of this thread has a transaction open on this store: commit or roll it back first"
                    .to_owned(),
            ));
        }
        patience::wait("the right to write", timeout, |slice| mutex.lock_for(slice))
    }

    /// Goes out.
    #[inline]
    pub fn leave(&self, mutex: &SharedMutex) {
        self.owner.store(0, Ordering::Relaxed);
        mutex.unlock();
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;
    use std::time::Duration;

    use crate::error::{Error, Result};

    /// A robust mutex in shared memory.
    #[repr(C, align(64))]
    pub struct SharedMutex(UnsafeCell<libc::pthread_mutex_t>);

    // SAFETY: the C library synchronises all access to an initialised process-shared mutex.
    unsafe impl Sync for SharedMutex {}
    // SAFETY: as above.
    unsafe impl Send for SharedMutex {}

    impl SharedMutex {
        /// Makes it anew. Only for a store that nobody else has open.
        pub fn reset(&self) -> Result<()> {
            // SAFETY: the memory belongs to this mutex and nobody uses it now (the caller's promise).
            unsafe {
                let mut attributes = MaybeUninit::uninit();
                let mut code = libc::pthread_mutexattr_init(attributes.as_mut_ptr());
                if code == 0 {
                    code = libc::pthread_mutexattr_setpshared(attributes.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED);
                }
                if code == 0 {
                    code = libc::pthread_mutexattr_setrobust(attributes.as_mut_ptr(), libc::PTHREAD_MUTEX_ROBUST);
                }
                if code == 0 {
                    code = libc::pthread_mutex_init(self.0.get(), attributes.as_ptr());
                }
                libc::pthread_mutexattr_destroy(attributes.as_mut_ptr());
                answer(code).map(|_| ())
            }
        }

        /// Takes it if it is free.
        #[inline]
        pub fn try_lock(&self) -> Result<bool> {
            // SAFETY: the mutex was initialised by the opener.
            self.taken(unsafe { libc::pthread_mutex_trylock(self.0.get()) })
        }

        /// Takes it, waiting for a while.
        pub fn lock_for(&self, slice: Duration) -> Result<bool> {
            // SAFETY: the structure is plain data; the mutex was initialised by the opener.
            unsafe {
                let mut at: libc::timespec = std::mem::zeroed();
                libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut at);
                let nanos = i64::from(slice.subsec_nanos()) + at.tv_nsec as i64;
                at.tv_sec += (slice.as_secs() as i64 + nanos / 1_000_000_000) as libc::time_t;
                at.tv_nsec = (nanos % 1_000_000_000) as _;
                self.taken(libc::pthread_mutex_timedlock(self.0.get(), &raw const at))
            }
        }

        #[inline]
        fn taken(&self, code: i32) -> Result<bool> {
            if code == libc::EOWNERDEAD {
                // SAFETY: this thread holds the mutex now. What its dead holder left is mended by the new holder.
                return answer(unsafe { libc::pthread_mutex_consistent(self.0.get()) });
            }
            answer(code)
        }

        /// Lets it go.
        #[inline]
        pub fn unlock(&self) {
            // SAFETY: this thread holds the mutex.
            unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        }
    }

    fn answer(code: i32) -> Result<bool> {
        match code {
            0 => Ok(true),
            libc::EBUSY | libc::ETIMEDOUT | libc::EDEADLK => Ok(false),
            code => Err(Error::Internal(format!(
                "the gate of the writers does not work: {}",
                std::io::Error::from_raw_os_error(code)
            ))),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use crate::error::Result;

    /// A lock word in shared memory that holds its owner's process number, polled. LMDB's own writer lock below it still
    /// recovers from a dead holder; this one is taken over when its process is gone.
    #[repr(C, align(64))]
    pub struct SharedMutex(AtomicU64);

    impl SharedMutex {
        /// Makes it anew. Only for a store that nobody else has open.
        pub fn reset(&self) -> Result<()> {
            self.0.store(0, Ordering::Release);
            Ok(())
        }

        /// Takes it if it is free.
        pub fn try_lock(&self) -> Result<bool> {
            let me = u64::from(std::process::id());
            match self.0.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => Ok(true),
                Err(holder) if holder != me && is_gone(holder) => {
                    Ok(self.0.compare_exchange(holder, me, Ordering::AcqRel, Ordering::Acquire).is_ok())
                }
                Err(_) => Ok(false),
            }
        }

        /// Takes it, waiting for a while.
        pub fn lock_for(&self, slice: Duration) -> Result<bool> {
            let begun = Instant::now();
            loop {
                if self.try_lock()? {
                    return Ok(true);
                }
                if begun.elapsed() >= slice {
                    return Ok(false);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        /// Lets it go.
        pub fn unlock(&self) {
            self.0.store(0, Ordering::Release);
        }
    }

    #[cfg(unix)]
    fn is_gone(process: u64) -> bool {
        // SAFETY: signal 0 only asks whether the process exists.
        unsafe { libc::kill(process as libc::pid_t, 0) != 0 }
        &&std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
    }

    #[cfg(not(unix))]
    fn is_gone(_process: u64) -> bool {
        false
    }
}
