//! What durability costs, and how the log and the durable file keep up: sequential and random sets with `relaxed` beside
//! `process` in the same run, the time until the durable file has everything, acknowledged sets beside the disk's own
//! syncs, what a minute of random inserts and of overwriting does to the files, without and with a process that reads one
//! moment all the while (which may fill the disk), and how long a store takes to open when its working file must be rebuilt.
//!
//!     cargo run --release --example durability -- [keys] [seconds of growth] [MiB to open]
//!
//! A figure of 0 leaves its part out. One set is one call and one commit. Quote the ratios: they come from one run, the rates depend on the machine.

use std::path::Path;
use std::time::{Duration, Instant};

use caretdb::engine::{Durability, Engine, Options, Session, open};
use caretdb::error::{Error, Result};
use tempfile::TempDir;

/// How often each figure is measured; the median counts.
const ROUNDS: usize = 5;

fn main() {
    if let Some(store) = std::env::var_os(READER) {
        read_one_moment(Path::new(&store));
    }
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (keys, seconds, mebibytes) = (number(1_000_000), number(60), number(1024));
    if keys > 0 {
        println!("{keys} keys of 14 bytes, values of 11 bytes; ns a set, median of {ROUNDS}");
        compare("sequential", keys, |i| i);
        compare("random", keys, scramble);
        acknowledge(16, 500);
    }
    if seconds > 0 {
        for reader in [false, true] {
            for (name, distinct) in [("inserting at random", u64::MAX), ("overwriting 100,000 keys", 100_000)] {
                grow(name, Duration::from_secs(seconds), distinct, reader);
            }
        }
    }
    if mebibytes > 0 {
        reopen(mebibytes);
    }
}

/// Times both durabilities in turns, so that the machine's moods strike both.
fn compare(name: &str, keys: u64, order: fn(u64) -> u64) {
    let (mut process, mut relaxed, mut behind) = (Times::default(), Times::default(), Vec::new());
    for _ in 0..ROUNDS {
        let folder = folder();
        let store = store(folder.path(), Durability::Process);
        process.add(&*store, keys, order);
        drop(store);
        let folder = self::folder();
        let store = self::store(folder.path(), Durability::Relaxed);
        relaxed.add(&*store, keys, order);
        let begun = Instant::now();
        while figure(&*store, "backlogBytes") > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        behind.push(begun.elapsed().as_secs_f64());
    }
    let (process, relaxed) = (process.medians(), relaxed.medians());
    println!(
        "{name}: process {:.0} ns, relaxed {:.0} ns, ratio {:.2}; processor time of the calling thread {:.0} and {:.0} ns, \
         ratio {:.2}; all in the durable file {:.2} s after the last call",
        process.0,
        relaxed.0,
        relaxed.0 / process.0,
        process.1,
        relaxed.1,
        relaxed.1 / process.1,
        median(&mut behind)
    );
}

/// Nanoseconds a set, by the clock and by what the calling thread used of the processor. The second leaves out what the
/// store's own threads take from it where there are too few processors.
#[derive(Default)]
struct Times {
    clock: Vec<f64>,
    processor: Vec<f64>,
}

impl Times {
    fn add(&mut self, store: &dyn Engine, keys: u64, order: fn(u64) -> u64) {
        let mut session = store.session().expect("session");
        let (begun, used) = (Instant::now(), processor_time());
        for i in 0..keys {
            put(&mut *session, order(i));
        }
        self.processor.push((processor_time() - used).as_nanos() as f64 / keys as f64);
        self.clock.push(begun.elapsed().as_nanos() as f64 / keys as f64);
    }

    fn medians(&mut self) -> (f64, f64) {
        (median(&mut self.clock), median(&mut self.processor))
    }
}

/// What this thread has used of the processor.
fn processor_time() -> Duration {
    // SAFETY: the structure is plain data, and the call fills it.
    let at = unsafe {
        let mut at: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut at);
        at
    };
    Duration::new(at.tv_sec as u64, at.tv_nsec as u32)
}

/// Lets threads write and wait for the disk each time, as the workers of a server do, beside what the disk can sync.
fn acknowledge(threads: u64, each: u64) {
    let folder = folder();
    let store = store(folder.path(), Durability::Strict);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                let mut session = store.session().expect("session");
                session.set_timeout(None);
                for i in 0..each {
                    put(&mut *session, thread << 32 | i);
                    store.sync().expect("sync");
                }
            });
        }
    });
    let rate = (threads * each) as f64 / begun.elapsed().as_secs_f64();
    let mut file = std::fs::File::create(folder.path().join("plain")).expect("a file");
    let begun = Instant::now();
    for _ in 0..each {
        std::io::Write::write_all(&mut file, &[7; 4096]).expect("a write");
        file.sync_data().expect("a sync");
    }
    let plain = each as f64 / begun.elapsed().as_secs_f64();
    println!(
        "{threads} threads, each set acknowledged by a sync: {rate:.0} a second; the disk syncs {plain:.0} appends a second, \
         ratio {:.1}",
        rate / plain
    );
}

/// Writes for a while and tells the peaks of the backlog, the memory and the files; with a `reader`, while another process
/// reads one moment.
fn grow(name: &str, time: Duration, distinct: u64, reader: bool) {
    let folder = folder();
    let store = store(folder.path(), Durability::Relaxed);
    let mut session = store.session().expect("session");
    put(&mut *session, 0);
    let reader = reader.then(|| Reader::start(folder.path()));
    let (begun, mut done) = (Instant::now(), 0_u64);
    let (mut backlog, mut log, mut memory, mut longest) = (0, 0, 0, Duration::ZERO);
    let mut is_full = false;
    while begun.elapsed() < time && !is_full {
        for _ in 0..10_000 {
            let call = Instant::now();
            is_full = match try_put(&mut *session, scramble(done % distinct)) {
                Err(Error::DiskFull { .. }) => true,
                put => put.map(|()| false).expect("put"),
            };
            if is_full {
                break;
            }
            longest = longest.max(call.elapsed());
            done += 1;
        }
        backlog = backlog.max(figure(&*store, "backlogBytes"));
        log = log.max(sizes(folder.path(), "log."));
        memory = memory.max(own_memory());
    }
    let warnings = store.stats().expect("stats").warnings;
    let time = begun.elapsed();
    println!(
        "{name} for {time:.0?}{}{}: {done} sets, {:.0} a second, longest call {longest:.1?}; peak backlog {} MiB, peak log on disk \
         {} MiB, working file {} MiB, durable file {} MiB, peak memory besides mapped files {} MiB; warnings: {}",
        if reader.is_some() { " beside a reader of one moment" } else { "" },
        if is_full { ", until the disk was full" } else { "" },
        done as f64 / time.as_secs_f64(),
        backlog >> 20,
        log >> 20,
        sizes(folder.path(), "working") >> 20,
        sizes(folder.path(), "durable") >> 20,
        memory >> 10,
        if warnings.is_empty() { "none".to_owned() } else { warnings.join("; ") }
    );
}

/// Names the store to the process that reads.
const READER: &str = "DURABILITY_READER";

/// This program once more, reading one moment of a store until this goes.
struct Reader(std::process::Child);

impl Reader {
    fn start(store: &Path) -> Reader {
        let program = std::env::current_exe().expect("this program");
        let mut command = std::process::Command::new(program);
        let mut child = command.env(READER, store).stdout(std::process::Stdio::piped()).spawn().expect("a process");
        let mut begun = [0];
        let output = child.stdout.as_mut().expect("its output");
        std::io::Read::read_exact(output, &mut begun).expect("a sign that it reads");
        Reader(child)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn read_one_moment(store: &Path) -> ! {
    let store = self::store(store, Durability::Relaxed);
    let mut session = store.session().expect("session");
    session.hold().expect("a moment");
    println!("!");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Times the opening of a store without a usable working file: with everything in the durable file, and with a part of
/// it only in the log.
fn reopen(mebibytes: u64) {
    let folder = folder();
    let value = [b's'; 4000];
    let fill = |store: &dyn Engine, from: u64, mebibytes: u64| {
        let mut session = store.session().expect("session");
        session.set_timeout(None);
        for number in from..from + mebibytes * 256 {
            session.put(format!("^large {:016x}", scramble(number)).as_bytes(), &value).expect("put");
        }
        store.sync().expect("sync");
    };
    let store = self::store(folder.path(), Durability::Relaxed);
    fill(&*store, 0, mebibytes);
    drop(store);
    // A store whose checkpointer never came: the log holds a tenth.
    let options = Options { flush_interval: Duration::from_secs(3600), ..Options::default() };
    let late = open(folder.path(), &options).expect("a store");
    fill(&*late, 1 << 40, mebibytes / 10);
    let copied = tempfile::tempdir().expect("a temporary folder");
    let begun = Instant::now();
    for entry in std::fs::read_dir(folder.path()).expect("the store's folder").flatten() {
        let name = entry.file_name();
        if name == "durable.mdb" || name.to_string_lossy().starts_with("log.") {
            std::fs::copy(entry.path(), copied.path().join(name)).expect("a copy");
        }
    }
    let copying = begun.elapsed();
    drop(late);
    let begun = Instant::now();
    drop(self::store(copied.path(), Durability::Relaxed));
    let with_log = begun.elapsed();
    std::fs::remove_file(copied.path().join("working.mdb")).expect("removed");
    let begun = Instant::now();
    let store = self::store(copied.path(), Durability::Relaxed);
    println!(
        "opening {} MiB: {:.2} s without a working file, {:.2} s with {} MiB of it only in the log (and closing again); plain \
         copies of these files took {:.2} s",
        sizes(copied.path(), "durable") >> 20,
        begun.elapsed().as_secs_f64(),
        with_log.as_secs_f64(),
        mebibytes / 10,
        copying.as_secs_f64()
    );
    drop(store);
}

fn put(session: &mut dyn Session, number: u64) {
    try_put(session, number).expect("put");
}

fn try_put(session: &mut dyn Session, number: u64) -> Result<()> {
    let mut key = *b"^k\0\0\0\0\0\0\0\0\0\0\0\0";
    key[6..].copy_from_slice(&number.to_be_bytes());
    session.put(&key, b"hello world")
}

/// Spreads numbers over the whole range, each to another one.
fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x81DA_DEF4_BC2D_D44D)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn store(path: &Path, durability: Durability) -> Box<dyn Engine> {
    open(path, &Options { durability: Some(durability), ..Options::default() }).expect("a store")
}

fn figure(store: &dyn Engine, name: &str) -> u64 {
    let details = store.stats().expect("stats").details;
    details.into_iter().find(|(key, _)| *key == name).map_or(0, |(_, value)| value)
}

/// The bytes on disk of the files whose names begin so.
fn sizes(folder: &Path, begin: &str) -> u64 {
    let entries = std::fs::read_dir(folder).expect("the store's folder").flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(begin))
        .filter_map(|entry| entry.metadata().ok())
        .map(|about| std::os::unix::fs::MetadataExt::blocks(&about) * 512)
        .sum()
}

/// The memory that this process has of its own, in KiB.
fn own_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
