//! Locks between processes: the same rules, and a process that is killed gives everything back. The other processes are
//! this test program itself, told to run one ignored test.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write, stdin};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use caretdb::key::Key;
use caretdb::lock::Locks;

/// Names the store's folder to another process.
const FOLDER: &str = "CARETDB_TEST_LOCK_FOLDER";
const ONCE: Option<Duration> = Some(Duration::ZERO);
/// What an answer of another process begins with, among the lines of the test harness.
const ANSWER: &str = "answer: ";
const ADDITIONS: u64 = 300;

/// The key of a node spelt `Person/1/city`.
fn node(path: &str) -> Vec<u8> {
    let mut parts = path.split('/');
    let mut key = Key::new();
    key.global(parts.next().unwrap()).unwrap();
    parts.for_each(|subscript| key.text(subscript).unwrap());
    key.as_bytes().to_vec()
}

/// Another process with one connection, which does what it is told.
struct Other {
    process: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(folder: &Path) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "obey_another_process", "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Other { process, orders, answers }
    }

    fn tell(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    fn answer(&mut self) -> String {
        self.answers.by_ref().map(Result::unwrap).find_map(|line| line.strip_prefix(ANSWER).map(str::to_owned)).unwrap()
    }

    fn ask(&mut self, order: &str) -> String {
        self.tell(order);
        self.answer()
    }

    /// Ends the process with SIGKILL, which it cannot notice.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "it is what the other processes of these tests run"]
fn obey_another_process() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let folder = Path::new(&folder);
    let mut locks = Locks::for_folder(folder).unwrap();
    for order in stdin().lines() {
        let order = order.unwrap();
        let answer = match order.split_once(' ').unwrap() {
            ("lock", path) => locks.lock(&node(path), ONCE).unwrap().to_string(),
            ("wait", path) => locks.lock(&node(path), None).unwrap().to_string(),
            ("unlock", path) => locks.unlock(&node(path)).map(|()| "unlocked".to_owned()).unwrap(),
            ("add", path) => add(&mut locks, folder, path),
            _ => panic!("{order}"),
        };
        println!("\n{ANSWER}{answer}");
    }
}

/// Adds 1 to the number in a file, again and again, each time under a lock: nothing else keeps two from adding at once.
fn add(locks: &mut Locks, folder: &Path, path: &str) -> String {
    let file = folder.join("number");
    for _ in 0..ADDITIONS {
        assert!(locks.lock(&node(path), None).unwrap());
        let number: u64 = fs::read_to_string(&file).unwrap().parse().unwrap();
        fs::write(&file, (number + 1).to_string()).unwrap();
        locks.unlock(&node(path)).unwrap();
    }
    "added".to_owned()
}

#[test]
fn processes_keep_each_other_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Other::start(folder.path());
    let mut locks = Locks::for_folder(folder.path()).unwrap();
    assert_eq!(other.ask("lock Person/1"), "true");
    for path in ["Person", "Person/1", "Person/1/city"] {
        assert!(!locks.lock(&node(path), ONCE).unwrap(), "{path}");
    }
    assert!(locks.lock(&node("Person/2"), ONCE).unwrap());
    assert_eq!(other.ask("lock Person"), "false");
    assert_eq!(other.ask("lock Person/1"), "true");
    assert_eq!(other.ask("unlock Person/1"), "unlocked");
    assert!(!locks.lock(&node("Person/1"), ONCE).unwrap(), "it was locked twice");
    assert_eq!(other.ask("unlock Person/1"), "unlocked");
    assert!(locks.lock(&node("Person/1"), ONCE).unwrap());
}

#[test]
fn a_killed_process_gives_its_locks_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Other::start(folder.path());
    assert_eq!(other.ask("lock Person/1/city"), "true");
    assert_eq!(other.ask("lock Person/1/city"), "true");
    assert_eq!(other.ask("lock Order"), "true");
    let mut locks = Locks::for_folder(folder.path()).unwrap();
    assert!(!locks.lock(&node("Person"), ONCE).unwrap());
    other.kill();
    assert!(locks.lock(&node("Person"), ONCE).unwrap());
    assert!(locks.lock(&node("Order"), ONCE).unwrap());
}

#[test]
fn a_waiter_gets_the_lock_of_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = Other::start(folder.path());
    let mut waiter = Other::start(folder.path());
    assert_eq!(holder.ask("lock Person/1"), "true");
    assert_eq!(waiter.ask("lock Person"), "false");
    waiter.tell("wait Person");
    holder.kill();
    assert_eq!(waiter.answer(), "true");
}

#[test]
fn a_killed_waiter_is_in_nobodys_way() {
    let folder = tempfile::tempdir().unwrap();
    let mut locks = Locks::for_folder(folder.path()).unwrap();
    assert!(locks.lock(&node("Person"), ONCE).unwrap());
    let mut waiter = Other::start(folder.path());
    assert_eq!(waiter.ask("lock Person/1"), "false");
    waiter.tell("wait Person/1");
    waiter.kill();
    locks.unlock(&node("Person")).unwrap();
    assert!(Locks::for_folder(folder.path()).unwrap().lock(&node("Person"), ONCE).unwrap());
}

#[test]
fn processes_that_take_turns_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("number"), "0").unwrap();
    let mut others: Vec<Other> = (0..3).map(|_| Other::start(folder.path())).collect();
    for other in &mut others {
        assert_eq!(other.ask("unlock Sum"), "unlocked", "it is up and ready");
    }
    // Parent and child by turns, so that both kinds of conflict occur.
    for (other, path) in others.iter_mut().zip(["Sum", "Sum/1", "Sum/1"]) {
        other.tell(&format!("add {path}"));
    }
    assert_eq!(add(&mut Locks::for_folder(folder.path()).unwrap(), folder.path(), "Sum"), "added");
    for other in &mut others {
        assert_eq!(other.answer(), "added");
    }
    assert_eq!(fs::read_to_string(folder.path().join("number")).unwrap(), (4 * ADDITIONS).to_string());
}
