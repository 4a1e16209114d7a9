//! A PostgreSQL server of the tests' own, on a port of loopback that nobody else has. It ends with the process.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A URL that names a server to use instead.
const VARIABLE: &str = "CARETDB_TEST_POSTGRES";

static SERVER: OnceLock<Option<String>> = OnceLock::new();
static TABLES: AtomicU64 = AtomicU64::new(0);

/// The URL of a table that nobody has used; none where there is no PostgreSQL.
///
/// # Panics
/// Under `CI=true` where there is none, because the skipped tests would not be missed.
pub fn new_url() -> Option<String> {
    let server = SERVER.get_or_init(|| std::env::var(VARIABLE).ok().or_else(start)).as_ref();
    if server.is_none() {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "PostgreSQL is missing: apt-get install postgresql"
        );
        eprintln!("SKIPPED: needs PostgreSQL: apt-get install postgresql, or name a server in {VARIABLE}");
    }
    let number = TABLES.fetch_add(1, Ordering::Relaxed);
    server.map(|url| {
        let sign = if url.contains('?') { '&' } else { '?' };
        format!("{url}{sign}table=t_{}_{number}", std::process::id())
    })
}

/// The folder of the newest PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    folders.retain(|folder| folder.join("initdb").exists() && folder.join("postgres").exists());
    folders.sort();
    folders.pop()
}

/// PostgreSQL does not run as root: another user to run it, where this is root.
fn user() -> Option<(u32, u32)> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0);
    let users = fs::read_to_string("/etc/passwd").ok().filter(|_| is_root)?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    })
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = user() {
        command.uid(user).gid(group);
    }
    command.current_dir("/");
    command
}

#[allow(clippy::zombie_processes)] // the shell ends when this process does
fn start() -> Option<String> {
    let programs = programs()?;
    // Its owner is who runs the server, so that it can be removed afterwards.
    let folder = tempfile::tempdir().unwrap().path().to_path_buf();
    assert!(command(Path::new("mkdir")).arg(&folder).status().unwrap().success());
    let data = folder.join("data");
    let made = command(&programs.join("initdb"))
        .args(["-U", "caretdb", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // The shell's standard input ends when this process does, however it ends.
    let script = "\"$0\" -D \"$1\" -p \"$2\" -h 127.0.0.1 -k \"$3\" -c fsync=off -c max_connections=300 >\"$3/log\" 2>&1 & \
                  server=$!; echo; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf \"$3\"";
    let mut shell = command(Path::new("/bin/sh"))
        .args(["-c", script])
        .arg(programs.join("postgres"))
        .arg(&data)
        .arg(port.to_string())
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0];
    shell.stdout.take().unwrap().read_exact(&mut line).unwrap();
    // Never dropped, so that it stays open as long as this process lives.
    std::mem::forget(shell.stdin.take());
    for _ in 0..600 {
        let ready =
            Command::new(programs.join("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]).status();
        if ready.is_ok_and(|status| status.success()) {
            return Some(format!("postgres://caretdb@127.0.0.1:{port}/postgres"));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the server did not start: {}", fs::read_to_string(folder.join("log")).unwrap_or_default());
}
