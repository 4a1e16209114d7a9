//! Real processes: this test program runs itself again as another user of the store.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use caretdb::engine::{self, Batch, Durability, Options, Session};

use crate::store::{Store, all, count, delete, get, increment, long, open};

const FOLDER: &str = "CARETDB_TEST_FOLDER";
const PART: &str = "CARETDB_TEST_PART";

/// Another process at work on the store. It is killed when this goes.
struct Other {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(folder: &Path, part: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::plays_its_part", "--nocapture"])
            .env(FOLDER, folder)
            .env(PART, part)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Other { child, lines }
    }

    /// Reads on until the process says `word`.
    fn wait_for(&mut self, word: &str) {
        let said = self.lines.by_ref().map_while(Result::ok).any(|line| line.ends_with(word));
        assert!(said, "the other process ended before it said {word:?}");
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn finish(mut self) {
        self.wait_for("done");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(word: &str) {
    println!("{word}");
    std::io::stdout().flush().unwrap();
}

/// Waits to be killed.
fn wait_for_the_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// Not a test of its own: what the other process does.
#[test]
fn plays_its_part() {
    let (Some(folder), Ok(part)) = (std::env::var_os(FOLDER), std::env::var(PART)) else { return };
    let (engine, part) = part.split_once(' ').expect("engine and part");
    let slowly = part == "die counting slowly";
    let options = Options {
        engine: engine.to_owned(),
        // Nothing is flushed in time by itself, or nearly at once.
        flush_interval: Duration::from_millis(if slowly { 20 } else { 60_000 }),
        durability: (part == "die counting strictly").then_some(Durability::Strict),
        ..Options::default()
    };
    let named = slowly || options.durability.is_some();
    let opened = if named { engine::open(folder.as_ref(), &options) } else { open(folder.as_ref(), engine) };
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => return say(&format!("{} {}", error, error.code())),
    };
    let mut session = opened.session().unwrap();
    session.set_timeout(None);
    say("open");
    match part {
        "count" => (0..10_000).for_each(|_| increment(&mut *session, b"n").unwrap()),
        "die in a transaction" => die_in_a_transaction(&mut *session),
        "die counting" | "die counting strictly" => loop {
            increment(&mut *session, b"n").unwrap();
            say("counted");
        },
        "die counting slowly" => {
            increment(&mut *session, b"n").unwrap();
            // Longer than the interval, many times.
            std::thread::sleep(Duration::from_millis(600));
            say("counted");
            wait_for_the_end();
        }
        "die after a sync" => {
            apply_number(&mut *session, 1);
            increment(&mut *session, b"synced").unwrap();
            session.put(b"large", &long(3_000_000, 1)).unwrap();
            opened.sync().unwrap();
            say("synced");
            for number in 2.. {
                apply_number(&mut *session, number);
                say("applied");
            }
        }
        part => panic!("no part is called {part:?}"),
    }
    drop(session);
    drop(opened);
    say("done");
}

fn die_in_a_transaction(session: &mut dyn Session) {
    (0..100).for_each(|_| increment(session, b"n").unwrap());
    session.begin().unwrap();
    increment(session, b"n").unwrap();
    session.put(b"never", &long(100_000, 1)).unwrap();
    delete(session, b"m", b"o").unwrap();
    say("inside");
    wait_for_the_end()
}

/// Stores one number at a hundred keys, in one batch.
fn apply_number(session: &mut dyn Session, number: u64) {
    let mut batch = Batch::new();
    for key in 0..100 {
        batch.put(format!("k{key:03}").as_bytes(), &number.to_be_bytes());
    }
    session.apply(&batch).unwrap();
}

#[test]
fn lmdb_processes_count_together_although_one_dies_in_a_transaction() {
    let store = Store::new("lmdb");
    let mut session = store.session();
    session.set_timeout(None);
    session.put(b"m", b"stays").unwrap();
    let mut others = [Other::start(store.path(), "lmdb count"), Other::start(store.path(), "lmdb count")];
    others.iter_mut().for_each(|other| other.wait_for("open"));
    (0..500).for_each(|_| increment(&mut *session, b"n").unwrap());
    let mut dying = Other::start(store.path(), "lmdb die in a transaction");
    // Writing before it is killed would wait for it for ever.
    dying.wait_for("inside");
    assert_eq!(get(&mut *session, b"m").as_deref(), Some(&b"stays"[..]));
    dying.kill();
    (0..500).for_each(|_| increment(&mut *session, b"n").unwrap());
    others.into_iter().for_each(Other::finish);
    assert_eq!(count(&mut *session, b"n"), 2 * 10_000 + 2 * 500 + 100);
    assert_eq!(get(&mut *session, b"m").as_deref(), Some(&b"stays"[..]));
    assert_eq!(get(&mut *session, b"never"), None);
    assert_eq!(all(&mut *session).len(), 2);
}

#[test]
fn lmdb_keeps_what_returned_before_all_its_processes_died() {
    let mut store = Store::new("lmdb");
    store.close();
    let mut counted = 0;
    for _ in 0..5 {
        let mut other = Other::start(store.path(), "lmdb die counting");
        for _ in 0..50 {
            other.wait_for("counted");
            counted += 1;
        }
        other.kill();
        let opened = open(store.path(), "lmdb").unwrap();
        let now = count(&mut *opened.session().unwrap(), b"n");
        assert!(now >= counted, "{now} of at least {counted}");
        counted = now;
    }
}

#[test]
fn lmdb_shows_another_process_its_writes_at_once() {
    let store = Store::new("lmdb");
    let mut session = store.session();
    let version = session.version();
    let mut other = Other::start(store.path(), "lmdb die counting");
    other.wait_for("counted");
    assert!(count(&mut *session, b"n") >= 1);
    assert_ne!(session.version(), version);
}

#[test]
fn sled_is_locked_for_a_second_process() {
    let store = Store::new("sled");
    let mut other = Other::start(store.path(), "sled count");
    let said = other.lines.by_ref().map_while(Result::ok).find(|line| line.ends_with("ERR_LOCKED"));
    let said = said.expect("the other process is refused");
    assert!(said.contains("threads") && said.contains("'lmdb'"), "with advice: {said}");
    store.session().put(b"a", b"1").expect("the first process goes on");
    let again = open(store.path(), "sled");
    assert_eq!(again.err().map(|error| error.code()), Some("ERR_LOCKED"), "nor twice in one process");
}

/// What sled promises of an abrupt stop: all that a sync made durable, and no half of any batch.
#[test]
fn sled_keeps_what_it_flushed_before_its_process_died() {
    let mut store = Store::new("sled");
    store.close();
    let mut other = Other::start(store.path(), "sled die after a sync");
    other.wait_for("synced");
    for _ in 0..200 {
        other.wait_for("applied");
    }
    other.kill();
    store.reopen();
    let mut session = store.session();
    assert_eq!(count(&mut *session, b"synced"), 1);
    assert!(get(&mut *session, b"large") == Some(long(3_000_000, 1)));
    let number = count(&mut *session, b"k000");
    assert!(number >= 1);
    assert!((0..100).all(|key| count(&mut *session, format!("k{key:03}").as_bytes()) == number), "all of one batch");
    session.put(b"a", b"goes on").unwrap();
}

/// With `strict` each write is on the disk before it returns, though the next flush by itself is a minute away.
#[test]
fn sled_keeps_every_returned_write_where_it_is_strict() {
    let mut store = Store::new("sled");
    store.close();
    let mut other = Other::start(store.path(), "sled die counting strictly");
    for _ in 0..50 {
        other.wait_for("counted");
    }
    other.kill();
    store.reopen();
    assert!(count(&mut *store.session(), b"n") >= 50);
}

#[test]
fn sled_flushes_by_itself_every_interval() {
    let mut store = Store::new("sled");
    store.close();
    let mut other = Other::start(store.path(), "sled die counting slowly");
    other.wait_for("counted");
    other.kill();
    store.reopen();
    assert_eq!(count(&mut *store.session(), b"n"), 1);
}

#[test]
fn sled_has_no_other_durability() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { engine: "sled".to_owned(), durability: Some(Durability::Relaxed), ..Options::default() };
    let refused = engine::open(folder.path(), &options).err().map(|error| error.code());
    assert_eq!(refused, Some("ERR_UNSUPPORTED"));
}
