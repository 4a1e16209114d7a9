//! A disk that loses what was not synced. This test program has functions with the names of the C library's own, so that
//! the syncs, renames and removals of the store and of LMDB come here first. When the power is cut, the store's folder
//! is copied as such a disk might hold it: of each file every sector is as the last sync left it or as it was last
//! written, and of the names only the first few changes since the folder was synced have happened.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::{self, File};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const SECTOR: usize = 512;
/// Where the header keeps device and inode of the working file.
const IDENTITY: u64 = 32;

/// Stands for the folder among the inodes of its files.
const FOLDER: u64 = 0;

static DISK: OnceLock<Mutex<Disk>> = OnceLock::new();

struct Disk {
    store: PathBuf,
    /// How many more syncs and changes of names happen.
    left: u64,
    /// What the last sync of a file left, by inode.
    synced: HashMap<u64, Vec<u8>>,
    /// Which look at a file that was, so that an older one that comes late does not count.
    looks: HashMap<u64, u64>,
    look: u64,
    /// Removed files are kept open, so that no new one takes their inode.
    removed: HashMap<u64, File>,
    /// The names in the folder, at its last sync and after each change since.
    names: Vec<BTreeMap<String, u64>>,
    dice: u64,
}

/// Cuts the power of this process at the n-th sync or change of names from now on. The copy is [`image_of`] the store.
pub fn arm(store: &Path, n: u64) {
    let dice = std::process::id() as u64 ^ n << 32 ^ store.as_os_str().len() as u64;
    let mut disk = Disk {
        store: store.to_path_buf(),
        left: n,
        synced: HashMap::new(),
        looks: HashMap::new(),
        look: 0,
        removed: HashMap::new(),
        names: Vec::new(),
        dice,
    };
    disk.names.push(disk.list());
    assert!(DISK.set(Mutex::new(disk)).is_ok());
}

/// The folder to which the cut copies.
pub fn image_of(store: &Path) -> PathBuf {
    store.with_extension("image")
}

impl Disk {
    fn roll(&mut self, limit: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % limit
    }

    fn list(&self) -> BTreeMap<String, u64> {
        let entries = fs::read_dir(&self.store).unwrap().flatten();
        entries.filter_map(|e| Some((e.file_name().into_string().ok()?, e.metadata().ok()?.ino()))).collect()
    }

    /// One more thing has happened. The last one never ends.
    fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.cut();
        }
    }

    fn cut(&mut self) -> ! {
        let image = image_of(&self.store);
        fs::create_dir_all(&image).unwrap();
        let now = self.list();
        self.names.push(now.clone());
        let chosen = self.roll(self.names.len() as u64) as usize;
        let paths: HashMap<u64, PathBuf> = now.iter().map(|(name, inode)| (*inode, self.store.join(name))).collect();
        for (name, inode) in self.names[chosen].clone() {
            if name.starts_with("working") || name.ends_with("lock") || name.starts_with("open.") {
                continue;
            }
            let written = match (self.removed.get(&inode), paths.get(&inode)) {
                (Some(file), _) => read(file),
                (None, Some(path)) => fs::read(path).unwrap_or_default(),
                (None, None) => Vec::new(),
            };
            let synced = self.synced.get(&inode).cloned().unwrap_or_default();
            let mixed = self.mix(&synced, &written);
            fs::write(image.join(name), mixed).unwrap();
        }
        self.spoil_working_file(&image);
        fs::write(image.join("complete"), b"").unwrap();
        // SAFETY: ends the process at once, with all its threads.
        unsafe {
            libc::kill(libc::getpid(), libc::SIGKILL);
            libc::_exit(1)
        }
    }

    /// What the disk may hold of a file.
    fn mix(&mut self, synced: &[u8], written: &[u8]) -> Vec<u8> {
        match self.roll(6) {
            0 => return synced.to_vec(),
            1 => return written.to_vec(),
            _ => {}
        }
        let length = if self.roll(2) == 0 { synced.len() } else { written.len() };
        let grain = if self.roll(2) == 0 { SECTOR } else { 8 * SECTOR };
        let odds = 1 + self.roll(9);
        let torn_at =
            if self.roll(3) == 0 { self.roll(1 + (length / SECTOR) as u64) as usize * SECTOR } else { length };
        let mut mixed = synced.to_vec();
        mixed.resize(length, 0);
        for at in (0..length.min(written.len())).step_by(grain) {
            let end = (at + grain).min(length).min(written.len());
            if at < torn_at && self.roll(10) < odds {
                mixed[at..end].copy_from_slice(&written[at..end]);
            }
        }
        mixed
    }

    /// Whatever lies there as the working file, only the boot says that it cannot be trusted.
    fn spoil_working_file(&mut self, image: &Path) {
        let path = image.join("working.mdb");
        let bytes = match self.roll(4) {
            0 => return,
            1 => (0..65_536).map(|at| (at * 31 % 253) as u8).collect(),
            2 => Vec::new(),
            _ => {
                let mut pages = vec![0; 1 << 20];
                if let Ok(file) = File::open(self.store.join("working.mdb")) {
                    let _ = file.read_at(&mut pages, 0);
                }
                let torn = self.roll(200) as usize * 4096;
                pages[torn..torn + 4096].fill(7);
                pages
            }
        };
        fs::write(&path, bytes).unwrap();
        let about = fs::metadata(&path).unwrap();
        if fs::read(image.join("header")).is_ok_and(|bytes| bytes.starts_with(b"CARETDB")) {
            let header = fs::OpenOptions::new().write(true).open(image.join("header")).unwrap();
            header.write_at(&about.dev().to_le_bytes(), IDENTITY).unwrap();
            header.write_at(&about.ino().to_le_bytes(), IDENTITY + 8).unwrap();
        }
    }

    /// A sync of `fd` has begun: what is in it now will be on the disk.
    fn content_of(&self, fd: c_int) -> Option<(u64, Vec<u8>)> {
        let path = fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
        let about = fs::metadata(format!("/proc/self/fd/{fd}")).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let ours = path.parent() == Some(&self.store) && about.is_file() && !name.starts_with("working");
        ours.then(|| (about.ino(), fs::read(format!("/proc/self/fd/{fd}")).unwrap_or_default()))
    }

    fn is_folder(&self, fd: c_int) -> bool {
        fs::read_link(format!("/proc/self/fd/{fd}")).is_ok_and(|path| path == self.store)
    }

    /// Whether no later look at this file has come in before.
    fn is_newest(&mut self, inode: u64, look: u64) -> bool {
        let newest = self.looks.entry(inode).or_default();
        let newer = *newest < look;
        *newest = look.max(*newest);
        newer
    }

    fn keep(&mut self, path: &Path) {
        if path.parent() == Some(&self.store)
            && let Ok(file) = File::open(path)
        {
            let inode = file.metadata().map(|about| about.ino()).unwrap_or_default();
            self.removed.insert(inode, file);
        }
    }
}

fn read(file: &File) -> Vec<u8> {
    fs::read(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

fn sync(fd: c_int) -> c_int {
    let Some(disk) = DISK.get() else {
        // SAFETY: the descriptor is the caller's.
        return unsafe { libc::syscall(libc::SYS_fdatasync, fd) as c_int };
    };
    let (content, look, names, late, wait) = {
        let mut disk = disk.lock().unwrap();
        disk.step();
        disk.look += 1;
        let content = disk.content_of(fd);
        let names = disk.is_folder(fd).then(|| disk.list());
        (content, disk.look, names, disk.roll(2) == 0, disk.roll(3))
    };
    // The sync takes a while. The power may fail before anything of it is done, or after all of it is.
    if late {
        std::thread::sleep(Duration::from_millis(wait));
    }
    {
        let mut disk = disk.lock().unwrap();
        if let Some((inode, content)) = content
            && disk.is_newest(inode, look)
        {
            disk.synced.insert(inode, content);
        }
        if let Some(names) = names
            && disk.is_newest(FOLDER, look)
        {
            disk.names = vec![names];
        }
    }
    if !late {
        std::thread::sleep(Duration::from_millis(wait));
    }
    0
}

fn rename_or_remove(paths: &[*const c_char], act: impl FnOnce() -> c_int) -> c_int {
    let Some(disk) = DISK.get() else { return act() };
    let mut disk = disk.lock().unwrap();
    disk.step();
    for path in paths {
        // SAFETY: the caller gives paths that end in NUL.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(*path) }.to_bytes())).to_path_buf();
        disk.keep(&path);
    }
    let before = disk.list();
    let answer = act();
    // SAFETY: the thread's own error number, which the look at the folder must not change.
    let error = unsafe { *libc::__errno_location() };
    let after = disk.list();
    disk.names.extend([before, after]);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
    answer
}

fn write_through(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    // SAFETY: the caller's own arguments.
    let written = unsafe { libc::syscall(libc::SYS_pwrite64, fd, bytes, count, offset) } as isize;
    let Some(disk) = DISK.get() else { return written };
    // SAFETY: asks for the flags of the caller's descriptor.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if written <= 0 || flags & libc::O_DSYNC == 0 {
        return written;
    }
    let mut disk = disk.lock().unwrap();
    // SAFETY: the descriptor is open for as long as this call.
    let file = unsafe { BorrowedFd::borrow_raw(fd) };
    let inode = fs::metadata(format!("/proc/self/fd/{}", file.as_raw_fd())).map_or(0, |about| about.ino());
    // SAFETY: the caller gives `count` bytes, of which `written` were taken.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), written as usize) };
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    let synced = disk.synced.entry(inode).or_default();
    if synced.len() < end {
        synced.resize(end, 0);
    }
    synced[start..end].copy_from_slice(bytes);
    disk.step();
    written
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd)
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd)
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn pwrite(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    write_through(fd, bytes, count, offset)
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    write_through(fd, bytes, count, offset)
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's own argument.
    rename_or_remove(&[path], || unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0) as c_int })
}

/// The C library's function of this name.
#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    rename_or_remove(&[to], || unsafe {
        libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) as c_int
    })
}
