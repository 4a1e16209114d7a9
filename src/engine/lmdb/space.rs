//! Disk space reserved before it is needed. A write into a hole of a mapped file on a full disk kills the process; a
//! write into reserved blocks cannot fail.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// The least and the most that is reserved ahead in one go.
const LEAST_STEP: u64 = 1 << 20;
const MOST_STEP: u64 = 256 << 20;

/// What kind of file system a store's folder is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Reserved blocks stay reserved: the file may be written through the map.
    Reserves,
    /// A reservation is no promise (copy-on-write file systems, or a system without one): write with system calls.
    NoReserve,
    /// Shared over a network: locks and maps cannot be trusted, so a store is refused.
    Network,
}

/// Asks what the folder is on.
#[cfg(target_os = "linux")]
pub fn place(folder: &Path) -> Result<Place> {
    use std::os::unix::ffi::OsStrExt;
    const NETWORK: [i64; 7] = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x00C3_6400];
    #[cfg(feature = "faults")]
    if std::env::var_os("CARETDB_NO_RESERVE").is_some() {
        return Ok(Place::NoReserve);
    }
    const COPY_ON_WRITE: [i64; 3] = [0x9123_683E, 0x2FC1_2FC1, 0xCA45_1A4E];
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes())
        .map_err(|_| Error::Argument("a store's path must not hold NUL".to_owned()))?;
    // SAFETY: the structure is plain data and the name ends in NUL.
    let (code, about) = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        (libc::statfs(name.as_ptr(), &raw mut about), about)
    };
    if code != 0 {
        return Err(Error::io("cannot look at", folder, io::Error::last_os_error()));
    }
    #[allow(clippy::unnecessary_cast, reason = "the type differs between C libraries")]
    let kind = about.f_type as i64 & 0xFFFF_FFFF;
    Ok(if NETWORK.contains(&kind) {
        Place::Network
    } else if COPY_ON_WRITE.contains(&kind) {
        Place::NoReserve
    } else {
        Place::Reserves
    })
}

/// Asks what the folder is on.
#[cfg(not(target_os = "linux"))]
pub fn place(_folder: &Path) -> Result<Place> {
    Ok(Place::NoReserve)
}

/// Reserves the bytes from `from` up to at least `needed`, and more ahead where the disk has it, but never past
/// `length`, the file's own. Answers up to which byte blocks are reserved now.
pub fn reserve(file: &File, path: &Path, from: u64, needed: u64, length: u64) -> Result<u64> {
    if needed > length {
        return Err(Error::DiskFull { path: path.to_path_buf() });
    }
    let step = (needed / 8).clamp(LEAST_STEP, MOST_STEP);
    let ahead = (needed + step).next_multiple_of(LEAST_STEP).min(length);
    match allocate(file, from, ahead - from) {
        Ok(()) => Ok(ahead),
        Err(_) => match allocate(file, from, needed - from) {
            Ok(()) => Ok(needed),
            Err(error) => Err(Error::io("cannot reserve space for", path, error)),
        },
    }
}

/// Whether the file system of a file has next to no room left.
pub fn is_full(path: &Path) -> bool {
    left(path).is_some_and(|bytes| bytes < LEAST_STEP)
}

/// How many bytes are free on the file system of a file or folder, where the system tells.
#[cfg(unix)]
pub fn left(path: &Path) -> Option<u64> {
    let about = about(path)?;
    #[allow(clippy::unnecessary_cast, reason = "the types differ between C libraries")]
    Some(about.f_bavail as u64 * about.f_frsize as u64)
}

/// How many bytes are free: here nobody knows.
#[cfg(not(unix))]
pub fn left(_path: &Path) -> Option<u64> {
    None
}

/// Whether the file system of a folder may only be read here.
#[cfg(unix)]
pub fn is_read_only(folder: &Path) -> bool {
    about(folder).is_some_and(|about| about.f_flag & libc::ST_RDONLY != 0)
}

/// Whether the file system of a folder may only be read: here nobody knows.
#[cfg(not(unix))]
pub fn is_read_only(_folder: &Path) -> bool {
    false
}

#[cfg(unix)]
fn about(path: &Path) -> Option<libc::statvfs> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the structure is plain data and the name ends in NUL.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(name.as_ptr(), &raw mut about) == 0).then_some(about)
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    loop {
        // SAFETY: the descriptor is open for writing.
        let code =
            unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, offset as i64, bytes as i64) };
        if code == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _offset: u64, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// Makes a small file of zeros whose blocks exist.
pub fn fill_with_zeros(mut file: &File, bytes: usize) -> io::Result<()> {
    file.write_all(&vec![0; bytes])?;
    file.sync_all()
}

/// Makes LMDB's lock file, where there is none, with the blocks that `readers` slots need: it is mapped, and a slot in a
/// hole would kill the process on a full disk.
pub fn make_lock_file(path: &Path, readers: u32) -> Result<()> {
    const SLOT: u64 = 64;
    const HEAD: u64 = 4096;
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::io("cannot make", path, error)),
        Ok(file) => allocate(&file, 0, HEAD + SLOT * u64::from(readers)).map_err(|error| {
            let _ = std::fs::remove_file(path);
            Error::io("cannot reserve space for", path, error)
        }),
    }
}

/// Gives a new file its length, and its blocks too where they are to be `reserved`.
pub fn fill(file: &File, bytes: u64, reserved: bool) -> io::Result<()> {
    if reserved {
        allocate(file, 0, bytes)?;
    }
    file.set_len(bytes)
}
