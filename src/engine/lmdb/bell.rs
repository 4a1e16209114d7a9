//! The bell of a store: one word in the header on which threads of all processes sleep until the log grows. Whoever
//! writes looks at the word, which is zero while nobody sleeps, and only rings when it is not.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Not zero while somebody may be asleep.
#[repr(transparent)]
pub struct Bell(AtomicU32);

const ASLEEP: u32 = 1;

impl Bell {
    /// Wakes all who sleep. Costs one load where nobody does.
    #[inline]
    pub fn ring(&self) {
        if self.0.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Wakes all who sleep.
    #[cold]
    pub fn wake(&self) {
        if self.0.swap(0, Ordering::AcqRel) == ASLEEP {
            imp::wake_all(&self.0);
        }
    }

    /// Sleeps until the bell rings, for at most `slice`, unless `is_due` says that there is no need to. A writer that died
    /// before it rang, or looked at the word a moment too early, costs one slice.
    pub fn sleep(&self, slice: Duration, is_due: impl Fn() -> bool) {
        self.0.swap(ASLEEP, Ordering::SeqCst);
        if !is_due() {
            imp::wait(&self.0, ASLEEP, slice);
        }
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// Sleeps while the word has the value.
    pub fn wait(word: &AtomicU32, value: u32, slice: Duration) {
        // SAFETY: the structure is plain data.
        let mut time: libc::timespec = unsafe { std::mem::zeroed() };
        time.tv_sec = slice.as_secs() as libc::time_t;
        time.tv_nsec = slice.subsec_nanos() as _;
        // SAFETY: the word lies in memory that all processes map; the system compares it and reads the time.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time) };
    }

    /// Wakes everybody who sleeps on the word.
    pub fn wake_all(word: &AtomicU32) {
        // SAFETY: the system only takes the word's address.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// Where no bell of several processes can be had, sleepers look often.
    pub fn wait(_word: &AtomicU32, _value: u32, slice: Duration) {
        std::thread::sleep(slice.min(Duration::from_millis(5)));
    }

    pub fn wake_all(_word: &AtomicU32) {}
}
