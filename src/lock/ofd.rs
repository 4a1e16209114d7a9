//! The locks of a store that many processes share: kernel locks on bytes of one file that stays empty.
//!
//! Each node has a byte, whose offset is a hash of its key. A lock holds the node's byte exclusively and those of its
//! ancestors shared, so two locks meet exactly where one node is the other or lies above it. They belong to an open file
//! description ("OFD"), one for each connection: connections of one process keep each other out too, and however a
//! process ends, the kernel gives its bytes back. Two nodes whose hashes are equal keep each other's connections out
//! for nothing, which 63 bits make rare; nothing is ever granted wrongly by it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Place;
use crate::error::{Error, Result};

/// The kernel has no timed wait and tells no other process: this is how long one may sleep after a lock came free.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// What spreads the keys over the file.
pub type Hash = fn(&[u8]) -> u64;

/// The hash of a key: FNV-1a, and a last mix for keys that differ in few bits. All versions of this program that may
/// share a store must agree on it.
pub fn hash(key: &[u8]) -> u64 {
    let sum = key
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum: u64, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3));
    let mixed = (sum ^ (sum >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}

/// One connection's bytes.
pub struct Bytes {
    path: PathBuf,
    /// Opened with the first lock: most connections never lock.
    file: Option<File>,
    hash: Hash,
    held: HashMap<u64, Byte>,
}

/// What one connection needs of a byte, and what it has. Several of its nodes may need the same one.
#[derive(Default)]
struct Byte {
    exclusive: u32,
    shared: u32,
    kernel: Mode,
}

/// How a byte is held, weakest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    #[default]
    Free,
    Shared,
    Exclusive,
}

impl Byte {
    fn needed(&self) -> Mode {
        match (self.exclusive, self.shared) {
            (0, 0) => Mode::Free,
            (0, _) => Mode::Shared,
            _ => Mode::Exclusive,
        }
    }
}

impl Bytes {
    pub fn new(folder: &Path, hash: Hash) -> Bytes {
        Bytes { path: folder.join("locks"), file: None, hash, held: HashMap::new() }
    }

    /// The offsets of a path, the node's own first: that is where another connection is most likely in the way.
    fn offsets(&self, path: &[&[u8]]) -> Vec<u64> {
        path.iter().rev().map(|key| (self.hash)(key) >> 1).collect()
    }

    /// Counts a node in at its bytes.
    fn count_in(&mut self, offsets: &[u64]) {
        for (depth, offset) in offsets.iter().enumerate() {
            let byte = self.held.entry(*offset).or_default();
            *if depth == 0 { &mut byte.exclusive } else { &mut byte.shared } += 1;
        }
    }

    /// Undoes [`Bytes::count_in`], and lets the kernel have what is no longer needed. Goes on after an error.
    fn count_out(&mut self, file: &File, offsets: &[u64]) -> io::Result<()> {
        let mut first_error = Ok(());
        for (depth, offset) in offsets.iter().enumerate() {
            let Some(byte) = self.held.get_mut(offset) else { continue };
            *if depth == 0 { &mut byte.exclusive } else { &mut byte.shared } -= 1;
            if byte.needed() < byte.kernel {
                match set(file, *offset, byte.needed()) {
                    Ok(_) => byte.kernel = byte.needed(),
                    Err(error) => first_error = first_error.and(Err(error)),
                }
            }
            if byte.needed() == Mode::Free && byte.kernel == Mode::Free {
                self.held.remove(offset);
            }
        }
        first_error
    }

    /// Takes from the kernel what the counts need; false when another connection has one of them.
    fn raise(&mut self, file: &File, offsets: &[u64]) -> io::Result<bool> {
        let lacks = |held: &HashMap<u64, Byte>, offset: &u64| held[offset].needed() > held[offset].kernel;
        let lacking: Vec<u64> = offsets.iter().copied().filter(|offset| lacks(&self.held, offset)).collect();
        // Asked before anything is taken, so that a vain attempt is hardly ever in the way of somebody else's. The first
        // one is taken first and need not be asked for.
        for offset in lacking.iter().skip(1) {
            if !could_set(file, *offset, self.held[offset].needed())? {
                return Ok(false);
            }
        }
        for offset in lacking {
            let Some(byte) = self.held.get_mut(&offset) else { continue };
            if !set(file, offset, byte.needed())? {
                return Ok(false);
            }
            byte.kernel = byte.needed();
        }
        Ok(true)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("cannot lock a node through", &self.path, error)
    }
}

impl Place for Bytes {
    fn take(&mut self, path: &[&[u8]]) -> Result<bool> {
        let file = match self.file.take() {
            Some(file) => file,
            None => open(&self.path)?,
        };
        let offsets = self.offsets(path);
        self.count_in(&offsets);
        let mut taken = self.raise(&file, &offsets);
        if !matches!(taken, Ok(true)) {
            let given = self.count_out(&file, &offsets);
            taken = taken.and_then(|taken| given.map(|()| taken));
        }
        self.file = Some(file);
        taken.map_err(|error| self.failed(error))
    }

    fn give(&mut self, path: &[&[u8]]) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let given = self.count_out(&file, &self.offsets(path));
        self.file = Some(file);
        given.map_err(|error| self.failed(error))
    }

    fn give_all(&mut self) {
        self.held.clear();
        if let Some(file) = self.file.take() {
            // Closing gives the bytes back as well, unless a child process was just forked and has the description too.
            let _ = command(&file, libc::F_OFD_SETLK, libc::F_UNLCK, 0, 0);
        }
    }

    fn longest_pause(&self) -> Duration {
        LONGEST_PAUSE
    }
}

/// The file is never removed: two connections that opened a different file would not see each other.
fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| Error::io("cannot open", path, e))
}

/// Holds one byte as `mode` says, instead of how it was held; false, and nothing changes, when another description is in
/// the way.
fn set(file: &File, offset: u64, mode: Mode) -> io::Result<bool> {
    match command(file, libc::F_OFD_SETLK, kind(mode), offset, 1) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether [`set`] would be granted now.
fn could_set(file: &File, offset: u64, mode: Mode) -> io::Result<bool> {
    Ok(command(file, libc::F_OFD_GETLK, kind(mode), offset, 1)? == libc::F_UNLCK)
}

fn kind(mode: Mode) -> i32 {
    match mode {
        Mode::Free => libc::F_UNLCK,
        Mode::Shared => libc::F_RDLCK,
        Mode::Exclusive => libc::F_WRLCK,
    }
}

/// One call of the kernel for `len` bytes from `offset`, 0 for all that follow. Answers the kind of lock it put into the
/// structure.
fn command(file: &File, command: i32, kind: i32, offset: u64, len: libc::off_t) -> io::Result<i32> {
    // SAFETY: the structure is plain data, for which zeros are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    // Three small constants.
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    lock.l_len = len;
    // SAFETY: the descriptor is open, and the structure is the one these commands take and outlives the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } {
        0 => Ok(i32::from(lock.l_type)),
        _ => Err(io::Error::last_os_error()),
    }
}
