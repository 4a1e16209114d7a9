//! Another process at work on a store: this test program, run again. What it has done it tells in a small file that
//! outlives it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use caretdb::engine::{Durability, Engine, Session, open};
use memmap2::MmapRaw;

use crate::{disk, model};

const PART: &str = "CRASH_PART";
const STORE: &str = "CRASH_STORE";
const DURABILITY: &str = "CRASH_DURABILITY";

/// What a process has done, in a file of its own beside the store.
pub struct Progress(MmapRaw);

/// The bytes before the words, and how many words there are.
const WORDS_AT: usize = 4096;
const WORDS: usize = 1 << 17;

/// The numbers in it.
#[repr(C)]
pub struct Numbers {
    /// The last transaction that returned.
    pub committed: AtomicU64,
    /// The last transaction that returned before a sync began that returned too.
    pub synced: AtomicU64,
    /// The last transaction that the flusher made durable, as the statistics tell.
    pub flushed: AtomicU64,
    /// How often the store was opened and how often it was closed.
    pub opened: AtomicU64,
    pub closed: AtomicU64,
    /// Not zero when the process met an error.
    pub failed: AtomicU64,
}

impl Progress {
    pub fn of(store: &Path) -> Progress {
        let file: File = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(store.with_extension("progress"))
            .unwrap();
        file.set_len((WORDS_AT + WORDS * 4) as u64).unwrap();
        Progress(MmapRaw::map_raw(&file).unwrap())
    }

    pub fn numbers(&self) -> &Numbers {
        // SAFETY: the map is longer, aligned, and all fields are atomic.
        unsafe { &*self.0.as_ptr().cast::<Numbers>() }
    }

    fn word_at(&self, number: u64) -> &AtomicU32 {
        let index = number as usize;
        assert!(index < WORDS, "more transactions than words");
        // SAFETY: the map is as long as this, aligned, and the words are atomic.
        unsafe { &*self.0.as_ptr().add(WORDS_AT).cast::<AtomicU32>().add(index) }
    }

    /// The word of the last attempt at a transaction.
    pub fn word(&self, number: u64) -> u32 {
        self.word_at(number).load(Ordering::SeqCst)
    }

    /// Draws a word for a new attempt. The one who attempts it is inside the transaction, or the only writer.
    pub fn draw(&self, number: u64) -> u32 {
        let before = self.word(number);
        let word = model::mixed(u64::from(before) + number + u64::from(std::process::id())) as u32;
        self.word_at(number).store(word, Ordering::SeqCst);
        word
    }

    pub fn committed(&self) -> u64 {
        self.numbers().committed.load(Ordering::SeqCst)
    }
}

/// A running child. It is killed when this goes.
pub struct Child {
    process: Process,
}

/// How to run one.
pub struct Orders<'a> {
    pub store: &'a Path,
    pub durability: Durability,
    /// See [`plays_its_part`].
    pub part: &'a str,
    /// `place:pass:what`, or nothing.
    pub fault: &'a str,
    /// Which boot it believes to live in; 0 is the one that the tests themselves live in.
    pub boot: u64,
}

impl Orders<'_> {
    pub fn start(&self) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "child::plays_its_part", "--nocapture"])
            .env(PART, self.part)
            .env(STORE, self.store)
            .env(DURABILITY, self.durability.name())
            .stdout(Stdio::null());
        if self.boot != 0 {
            command.env("CARETDB_BOOT", self.boot.to_string());
        }
        if !self.fault.is_empty() {
            command.env("CARETDB_FAULT", self.fault);
        }
        Child { process: command.spawn().unwrap() }
    }
}

impl Child {
    /// Whether it stands still.
    pub fn is_stopped(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap_or_default();
        status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    }

    /// Its process number.
    pub fn number(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is a child of this one and has not been waited for.
        unsafe { libc::kill(self.process.id() as libc::pid_t, signal) };
    }

    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for the end of a child with the part `read`: its status, none where a signal ended it.
    pub fn verdict(mut self) -> Option<i32> {
        assert!(self.ends_within(Duration::from_secs(60)), "it hangs");
        self.process.wait().unwrap().code()
    }

    /// Waits for its end, for at most `patience`. True when it was killed or ended well.
    pub fn ends_within(&mut self, patience: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < patience {
            if self.process.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// How the part `read` ends: all was read; the damage was told with its path; it was told without; something else.
pub const READ: i32 = 40;
pub const DAMAGED: i32 = 41;
const NO_PATH: i32 = 42;
const OTHER: i32 = 43;

/// Where a child puts the backup of a store.
pub fn backup_of(store: &Path) -> PathBuf {
    store.with_extension("backup")
}

/// Waits until `ready` says so.
pub fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Not a test of its own: what the other process does.
///
/// - `write`: transactions, one after another, with a sync now and then, until it is killed; `write-unreserved`: the same
///   without reserved blocks;
/// - `share`: the same beside other writers;
/// - `cycle`: opens, writes a little and closes, again and again;
/// - `cut <n>`: as `share`, on two threads, until the power is cut at the n-th sync of any file; `cut-unreserved <n>`: the
///   same without reserved blocks;
/// - `once`: opens, does ten transactions, closes;
/// - `stay`: opens, does ten transactions, and keeps the store open;
/// - `exit`: opens, does ten transactions, and ends as `process.exit()` does, with no flusher at work;
/// - `backup`: copies the store into the folder beside it that [`backup_of`] names;
/// - `restore`: puts that copy back in the place of the store, which is moved aside;
/// - `compact`: makes the store small;
/// - `read`: opens the store, reads it all, and ends with the status that [`Child::verdict`] explains;
/// - `flush`: as `stay`, with a sync after each and no flusher at work.
#[test]
fn plays_its_part() {
    let (Some(store), Ok(part)) = (std::env::var_os(STORE).map(PathBuf::from), std::env::var(PART)) else { return };
    let durability = Durability::named(&std::env::var(DURABILITY).unwrap()).unwrap();
    let progress = Progress::of(&store);
    let numbers = progress.numbers();
    let (part, count) = part.split_once(' ').unwrap_or((&part, "0"));
    if part.ends_with("-unreserved") {
        // SAFETY: no other thread of this process reads or writes the environment yet.
        unsafe { std::env::set_var("CARETDB_NO_RESERVE", "1") };
    }
    if part.starts_with("cut") {
        disk::arm(&store, count.parse().unwrap());
    }
    if part == "read" {
        std::process::exit(read(&store, durability))
    }
    if part == "restore" || part == "compact" {
        let done = match part {
            "restore" => caretdb::restore::restore(&backup_of(&store), &store, true, &mut |_, _| Ok(())).map(|_| ()),
            _ => caretdb::engine::lmdb::compact(&store, &mut |_, _| Ok(())),
        };
        if let Err(error) = done {
            eprintln!("{part}: {error}");
            numbers.failed.store(1, Ordering::SeqCst);
        }
        std::process::exit(0)
    }
    if part == "backup" {
        let store = caretdb::store::Store::open(Some(&store), &model::options(Some(durability))).unwrap();
        let made = store.backup(&backup_of(store.path()), None, &mut |_, _| Ok(()));
        numbers.failed.store(u64::from(made.is_err()), Ordering::SeqCst);
        drop(store);
        std::process::exit(0)
    }
    loop {
        let mut options = model::options(Some(durability));
        if part == "flush" || part == "exit" {
            options.flush_interval = Duration::from_secs(600);
        }
        let opened = match open(&store, &options) {
            Ok(opened) => opened,
            Err(error) => {
                eprintln!("cannot open: {error}");
                numbers.failed.store(1, Ordering::SeqCst);
                std::process::exit(1)
            }
        };
        numbers.opened.fetch_add(1, Ordering::SeqCst);
        match part {
            "write" | "write-unreserved" => write(&*opened, &progress, true, u64::MAX),
            "share" => write(&*opened, &progress, false, u64::MAX),
            "cut" | "cut-unreserved" => std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| write(&*opened, &progress, false, u64::MAX));
                }
                watch(&*opened, numbers);
            }),
            "stay" => {
                write(&*opened, &progress, false, 10);
                std::thread::sleep(Duration::from_secs(600));
            }
            "exit" => {
                write(&*opened, &progress, false, 10);
                std::process::exit(0)
            }
            "flush" => loop {
                write(&*opened, &progress, false, 1);
                opened.sync().unwrap();
            },
            _ => write(&*opened, &progress, true, 10),
        }
        drop(opened);
        numbers.closed.fetch_add(1, Ordering::SeqCst);
        if part == "once" {
            std::process::exit(0)
        }
    }
}

/// Opens a store that may be damaged and reads it.
fn read(store: &Path, durability: Durability) -> i32 {
    let looked = open(store, &model::options(Some(durability))).and_then(|opened| {
        let mut session = opened.session()?;
        session.scan(caretdb::engine::Range::entries(b"", &[0xFF]), &mut |_, _| Ok(caretdb::engine::Flow::Continue))
    });
    match looked {
        Ok(()) => READ,
        Err(error) if !error.to_string().contains(&*store.to_string_lossy()) => NO_PATH,
        Err(error) if ["ERR_CORRUPT", "ERR_FORMAT"].contains(&error.code()) => DAMAGED,
        Err(error) => {
            eprintln!("{} {error}", error.code());
            OTHER
        }
    }
}

fn write(store: &dyn Engine, progress: &Progress, only: bool, count: u64) {
    let numbers = progress.numbers();
    let mut session: Box<dyn Session> = store.session().unwrap();
    session.set_timeout(None);
    for done in 0..count {
        let number = match model::next(&mut *session, progress, only) {
            Ok(number) => number,
            Err(error) => {
                eprintln!("cannot write: {error}");
                numbers.failed.store(1, Ordering::SeqCst);
                std::process::exit(1)
            }
        };
        numbers.committed.fetch_max(number, Ordering::SeqCst);
        if done % 37 == 36 && store.sync().is_ok() {
            numbers.synced.fetch_max(number, Ordering::SeqCst);
        }
    }
}

/// Notes what the flusher has made durable, without asking it to.
fn watch(store: &dyn Engine, numbers: &Numbers) {
    loop {
        let committed = numbers.committed.load(Ordering::SeqCst);
        let end = figure(store, "logBytes");
        while figure(store, "flushedBytes") < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        numbers.flushed.fetch_max(committed, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One of the store's own figures.
pub fn figure(store: &dyn Engine, name: &str) -> u64 {
    let details = store.stats().unwrap().details;
    details.iter().find(|(key, _)| *key == name).map_or(0, |(_, value)| *value)
}
