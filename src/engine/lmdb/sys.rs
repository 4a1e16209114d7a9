//! LMDB's C functions behind types that keep their rules. `heed` wraps the same library, but neither renews a kept
//! reader nor keeps a cursor beside it, and those two make a read cheap.

use std::cmp::Ordering;
use std::ffi::{CString, c_int};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use lmdb_master_sys as ffi;

use super::{PAGE, files, space};
use crate::error::{Error, Result};

/// The environment: one mapped file and its lock file.
pub struct Env {
    env: *mut ffi::MDB_env,
    path: Arc<Path>,
}

// SAFETY: LMDB environments are made to be shared by threads; transactions have types of their own here.
unsafe impl Send for Env {}
// SAFETY: as above.
unsafe impl Sync for Env {}

/// When an environment's commits reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncing {
    /// Each one before it returns.
    EveryCommit,
    /// When the system likes; pages are written through the map.
    NeverMapped,
    /// When the system likes; pages are written with system calls.
    NeverCalled,
}

/// The unnamed database that holds all keys. Its handle is fixed by LMDB.
const MAIN: ffi::MDB_dbi = 1;

impl Env {
    /// Opens or makes the environment in the file `path`, mapped once with `map_size` bytes.
    pub fn open(path: &Path, map_size: u64, max_readers: u32, sync: Syncing) -> Result<Env> {
        space::make_lock_file(&files::lock_of(path), max_readers)?;
        let flags = match sync {
            Syncing::EveryCommit => 0,
            Syncing::NeverMapped => ffi::MDB_NOSYNC | ffi::MDB_WRITEMAP,
            Syncing::NeverCalled => ffi::MDB_NOSYNC,
        };
        Env::open_with(path, map_size, max_readers, flags)
    }

    /// Opens the file `path`, which nobody may write as long as this lives, to read it without a lock file.
    pub fn open_at_rest(path: &Path) -> Result<Env> {
        Env::open_with(path, files::length(path)?, 1, ffi::MDB_RDONLY | ffi::MDB_NOLOCK)
    }

    fn open_with(path: &Path, map_size: u64, max_readers: u32, flags: u32) -> Result<Env> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::Argument("a store's path must not hold NUL".to_owned()))?;
        let mut raw = ptr::null_mut();
        let flags = flags | ffi::MDB_NOSUBDIR | ffi::MDB_NOTLS;
        // SAFETY: `raw` is a fresh handle, owned by `opened` from the first line on, which closes it on any failure.
        unsafe {
            check(ffi::mdb_env_create(&raw mut raw), path)?;
            let opened = Env { env: raw, path: Arc::from(path) };
            let size = usize::try_from(map_size).unwrap_or(usize::MAX);
            check(ffi::mdb_env_set_mapsize(raw, size as ffi::mdb_size_t), path)?;
            check(ffi::mdb_env_set_maxreaders(raw, max_readers), path)?;
            if files::exists(path)? && (1..2 * PAGE).contains(&files::length(path)?) {
                return Err(cut_short(path));
            }
            check(ffi::mdb_env_open(raw, name.as_ptr(), flags, 0o660), path)?;
            // A page behind the file's end would kill the process that reads it through the map.
            if files::length(path)? < opened.used_pages() * PAGE {
                return Err(cut_short(path));
            }
            opened.open_main()?;
            Ok(opened)
        }
    }

    /// Gives the unnamed database its order of keys in this process.
    fn open_main(&self) -> Result<()> {
        let txn = self.begin(ffi::MDB_RDONLY)?;
        let mut main = 0;
        // SAFETY: the transaction was begun above and ends here.
        unsafe {
            let code = ffi::mdb_dbi_open(txn, ptr::null(), 0, &raw mut main);
            ffi::mdb_txn_abort(txn);
            check(code, &self.path)?;
        }
        if main == MAIN { Ok(()) } else { Err(Error::Internal("LMDB numbers its databases anew".to_owned())) }
    }

    fn info(&self) -> ffi::MDB_envinfo {
        // SAFETY: the structure is plain data and `mdb_env_info` fills it all.
        unsafe {
            let mut info = std::mem::zeroed();
            ffi::mdb_env_info(self.env, &raw mut info);
            info
        }
    }

    /// The number of the last committed transaction of any process.
    #[inline]
    pub fn last_transaction(&self) -> u64 {
        self.info().me_last_txnid as u64
    }

    /// How many pages the file uses.
    #[inline]
    pub fn used_pages(&self) -> u64 {
        self.info().me_last_pgno as u64 + 1
    }

    /// The entries and the depth of the tree, as of the last commit.
    pub fn tree(&self) -> (u64, u64) {
        // SAFETY: the structure is plain data and `mdb_env_stat` fills it all.
        let stat = unsafe {
            let mut stat: ffi::MDB_stat = std::mem::zeroed();
            ffi::mdb_env_stat(self.env, &raw mut stat);
            stat
        };
        (stat.ms_entries as u64, u64::from(stat.ms_depth))
    }

    /// How many reader slots are taken.
    pub fn readers(&self) -> u64 {
        u64::from(self.info().me_numreaders)
    }

    /// The oldest snapshot that any process holds.
    pub fn oldest_snapshot(&self) -> Option<Snapshot> {
        let mut oldest = None;
        // SAFETY: the environment is open; the callback gets the context only during the call.
        unsafe { ffi::mdb_reader_list(self.env, Some(note_reader), (&raw mut oldest).cast()) };
        oldest
    }

    /// Frees the reader slots of dead processes.
    pub fn clear_stale_readers(&self) {
        let mut dead: c_int = 0;
        // SAFETY: the environment is open.
        unsafe { ffi::mdb_reader_check(self.env, &raw mut dead) };
    }

    /// Writes the mapped pages to the disk.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the environment is open.
        check(unsafe { ffi::mdb_env_sync(self.env, 1) }, &self.path)
    }

    /// Writes a copy without the free pages to a new file, and does not sync it.
    pub fn copy(&self, target: &Path) -> Result<()> {
        let name = CString::new(target.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::Argument("a store's path must not hold NUL".to_owned()))?;
        // SAFETY: the environment is open and the name ends in NUL.
        check(unsafe { ffi::mdb_env_copy2(self.env, name.as_ptr(), ffi::MDB_CP_COMPACT) }, target)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn begin(&self, flags: u32) -> Result<*mut ffi::MDB_txn> {
        let mut txn = ptr::null_mut();
        // SAFETY: the environment is open; the caller wraps the handle at once.
        check(unsafe { ffi::mdb_txn_begin(self.env, ptr::null_mut(), flags, &raw mut txn) }, &self.path)?;
        Ok(txn)
    }
}

/// A snapshot that a reader holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The transaction whose state it shows.
    pub transaction: u64,
    /// Who holds it.
    pub process: u32,
}

/// Takes a line of LMDB's list of readers, "process thread transaction", and keeps the oldest one.
unsafe extern "C" fn note_reader(line: *const std::ffi::c_char, context: *mut std::ffi::c_void) -> c_int {
    // SAFETY: LMDB gives a string that ends in NUL, and the context of the call above.
    let (line, oldest) = unsafe { (std::ffi::CStr::from_ptr(line), &mut *context.cast::<Option<Snapshot>>()) };
    if let Some(found) = line.to_str().ok().and_then(read_reader)
        && oldest.is_none_or(|oldest| found.transaction < oldest.transaction)
    {
        *oldest = Some(found);
    }
    0
}

fn read_reader(line: &str) -> Option<Snapshot> {
    let mut words = line.split_whitespace();
    let process = words.next()?.parse().ok()?;
    Some(Snapshot { process, transaction: words.nth(1)?.parse().ok()? })
}

impl Drop for Env {
    fn drop(&mut self) {
        // SAFETY: every transaction holds the engine's shared part alive, so none is left.
        unsafe { ffi::mdb_env_close(self.env) };
    }
}

/// A read transaction kept for reuse, and one cursor on it.
pub struct Reader {
    txn: *mut ffi::MDB_txn,
    cursor: Cursor,
    live: bool,
}

// SAFETY: the environment is opened with MDB_NOTLS, so a read transaction may be used by any thread, one at a time.
unsafe impl Send for Reader {}

impl Reader {
    /// A reader that sees the present moment.
    pub fn begin(env: &Env) -> Result<Reader> {
        let txn = match env.begin(ffi::MDB_RDONLY) {
            Err(Error::Busy(_)) => {
                env.clear_stale_readers();
                env.begin(ffi::MDB_RDONLY)?
            }
            other => other?,
        };
        match Cursor::open(txn, &env.path, Some(Near::default())) {
            Ok(cursor) => Ok(Reader { txn, cursor, live: true }),
            Err(error) => {
                // SAFETY: the transaction was begun above and nobody else knows it.
                unsafe { ffi::mdb_txn_abort(txn) };
                Err(error)
            }
        }
    }

    /// Whether it holds a snapshot now.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// The number of the transaction whose state it sees.
    #[inline]
    pub fn transaction(&self) -> u64 {
        // SAFETY: the handle is valid for as long as this value.
        unsafe { ffi::mdb_txn_id(self.txn) as u64 }
    }

    /// Lets the snapshot go, so that its pages can be used again.
    pub fn reset(&mut self) {
        if self.live {
            self.live = false;
            self.cursor.forget();
            // SAFETY: the handle is valid; the cursor is not used until renewed.
            unsafe { ffi::mdb_txn_reset(self.txn) };
        }
    }

    /// Takes a snapshot of the present moment.
    pub fn renew(&mut self, env: &Env) -> Result<()> {
        self.reset();
        // SAFETY: a reset read transaction and its cursor may be renewed.
        unsafe {
            check(ffi::mdb_txn_renew(self.txn), &env.path)?;
            check(ffi::mdb_cursor_renew(self.txn, self.cursor.cursor), &env.path)?;
        }
        self.live = true;
        Ok(())
    }

    /// The cursor on the snapshot.
    #[inline]
    pub fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.cursor.close();
        // SAFETY: the cursor is closed and the handle is not used again.
        unsafe { ffi::mdb_txn_abort(self.txn) };
    }
}

/// The write transaction. LMDB allows one in all processes together, and it must end on the thread that began it.
pub struct Writer {
    txn: *mut ffi::MDB_txn,
    cursor: Option<Cursor>,
}

// SAFETY: a session with a writer stays on its thread (see `Session`); the type is only stored in structures that move
// while no writer is there.
unsafe impl Send for Writer {}

impl Writer {
    /// Begins. The caller holds the store's gate, so this does not wait for other writers.
    pub fn begin(env: &Env) -> Result<Writer> {
        Ok(Writer { txn: env.begin(0)?, cursor: None })
    }

    /// Its number: one more than that of the last committed transaction.
    #[inline]
    pub fn transaction(&self) -> u64 {
        // SAFETY: the handle is valid for as long as this value.
        unsafe { ffi::mdb_txn_id(self.txn) as u64 }
    }

    /// Deletes the entries `start <= key < end`. True when there were any.
    pub fn delete_range(&mut self, env: &Env, start: &[u8], end: &[u8]) -> Result<bool> {
        let cursor = self.cursor(env)?;
        let mut here = cursor.go(Step::AtOrAfter, start)?;
        let mut any = false;
        while here.is_some_and(|(key, _)| key < end) {
            cursor.delete()?;
            any = true;
            here = cursor.go(Step::Next, &[])?;
        }
        Ok(any)
    }

    /// Stores one entry.
    #[inline]
    pub fn put(&mut self, env: &Env, key: &[u8], value: &[u8]) -> Result<()> {
        check(self.put_with(key, value, 0), &env.path)
    }

    /// Stores an entry whose key is behind all others, which takes no search. False, and nothing is stored, where the key
    /// is not.
    #[inline]
    pub fn put_last(&mut self, env: &Env, key: &[u8], value: &[u8]) -> Result<bool> {
        match self.put_with(key, value, ffi::MDB_APPEND) {
            ffi::MDB_KEYEXIST => Ok(false),
            code => check(code, &env.path).map(|()| true),
        }
    }

    #[inline]
    fn put_with(&mut self, key: &[u8], value: &[u8], flags: u32) -> c_int {
        let (mut k, mut v) = (val(key), val(value));
        // SAFETY: the transaction is live, and LMDB reads both during the call only.
        unsafe { ffi::mdb_put(self.txn, MAIN, &raw mut k, &raw mut v, flags) }
    }

    /// The cursor, where [`Writer::cursor`] has opened it.
    #[inline]
    pub fn open_cursor(&mut self) -> Option<&mut Cursor> {
        self.cursor.as_mut()
    }

    /// Stores one entry behind all others, which fills pages to the brim.
    pub fn append(&mut self, env: &Env, key: &[u8], value: &[u8]) -> Result<()> {
        if self.put_last(env, key, value)? { Ok(()) } else { Err(error(ffi::MDB_CORRUPTED, &env.path)) }
    }

    /// A cursor that sees the transaction's own writes; one is kept for the whole transaction.
    pub fn cursor(&mut self, env: &Env) -> Result<&mut Cursor> {
        if self.cursor.is_none() {
            self.cursor = Some(Cursor::open(self.txn, &env.path, None)?);
        }
        self.cursor.as_mut().ok_or_else(|| Error::Internal("a cursor went missing".to_owned()))
    }

    /// Makes the writes visible.
    pub fn commit(mut self, env: &Env) -> Result<()> {
        self.close_cursor();
        let txn = std::mem::replace(&mut self.txn, ptr::null_mut());
        // SAFETY: the cursor is closed; the handle is given up to LMDB whatever it answers.
        match unsafe { ffi::mdb_txn_commit(txn) } {
            // LMDB says so too of a write that a full disk cut short.
            libc::EIO if space::is_full(&env.path) => Err(Error::DiskFull { path: env.path.to_path_buf() }),
            code => check(code, &env.path),
        }
    }

    /// Closes the cursor, so that what is put next is searched for anew.
    pub fn close_cursor(&mut self) {
        if let Some(mut cursor) = self.cursor.take() {
            cursor.close();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close_cursor();
        if !self.txn.is_null() {
            // SAFETY: the transaction has neither been committed nor aborted.
            unsafe { ffi::mdb_txn_abort(self.txn) };
        }
    }
}

/// A place in the tree. It must be closed before a write transaction ends.
pub struct Cursor {
    cursor: *mut ffi::MDB_cursor,
    path: Arc<Path>,
    /// Where it stands, as far as that helps the next search; only for a snapshot, in which nothing moves.
    near: Option<Near>,
}

/// The entry that a cursor shows, and the one before it where that is known. A search for what lies between them, or
/// right behind, needs no way down from the root.
#[derive(Clone, Copy, Default)]
struct Near {
    before: Option<Shown>,
    here: Option<(Shown, Shown)>,
    hope: Hope,
}

/// Bytes in the map, which stay there for as long as the snapshot is not reset.
type Shown = *const [u8];

fn show((key, value): Entry<'_>) -> (Shown, Shown) {
    (key, value)
}

/// Whether to try what often succeeds and costs a little when it fails: after failures it is tried more and more seldom.
#[derive(Clone, Copy, Default)]
pub struct Hope {
    pause: u8,
    wait: u8,
}

impl Hope {
    const LONGEST: u8 = 63;

    /// Whether to try now.
    #[inline]
    pub fn tries(&mut self) -> bool {
        let tries = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        tries
    }

    /// Says what came of it.
    #[inline]
    pub fn learn(&mut self, succeeded: bool) {
        self.pause = if succeeded { 0 } else { (self.pause * 2 + 1).min(Hope::LONGEST) };
        self.wait = self.pause;
    }
}

/// Where a cursor goes.
#[derive(Clone, Copy)]
pub enum Step {
    /// To the entry with exactly the given key.
    Exact,
    /// To the first entry at or after the given key.
    AtOrAfter,
    /// To the next entry.
    Next,
    /// To the entry before.
    Previous,
    /// To the last entry of all.
    Last,
}

/// An entry as LMDB shows it: it lives in the map until the transaction ends or writes.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

impl Cursor {
    fn open(txn: *mut ffi::MDB_txn, path: &Arc<Path>, near: Option<Near>) -> Result<Cursor> {
        let mut cursor = ptr::null_mut();
        // SAFETY: the transaction is live.
        check(unsafe { ffi::mdb_cursor_open(txn, MAIN, &raw mut cursor) }, path)?;
        Ok(Cursor { cursor, path: Arc::clone(path), near })
    }

    fn close(&mut self) {
        if !self.cursor.is_null() {
            // SAFETY: opened once, closed once.
            unsafe { ffi::mdb_cursor_close(self.cursor) };
            self.cursor = ptr::null_mut();
        }
    }

    /// Goes a step and shows the entry there, or nothing when there is none.
    #[inline]
    pub fn go(&mut self, step: Step, key: &[u8]) -> Result<Option<Entry<'_>>> {
        if let Some(near) = &self.near
            && let (Step::Exact | Step::AtOrAfter, Some(_)) = (step, near.here)
            && let Some(found) = self.look_near(key)?
        {
            let found = found.filter(|(shown, _)| matches!(step, Step::AtOrAfter) || *shown == key);
            return Ok(found);
        }
        let found = self.step(step, key)?.map(show);
        if let Some(near) = &mut self.near {
            near.before = if let Step::Next = step { near.here.map(|(key, _)| key) } else { None };
            near.here = found;
        }
        // SAFETY: shown just now by this cursor, which is borrowed for as long as what is answered.
        Ok(found.map(|(key, value)| unsafe { (&*key, &*value) }))
    }

    /// The first entry at or after `key`, if it is the one shown now or the next one. The outer `None` says that it is
    /// neither.
    #[inline]
    fn look_near<'a>(&mut self, key: &[u8]) -> Result<Option<Option<Entry<'a>>>> {
        let Some(Near { before, here: Some((shown, value)), mut hope }) = self.near else { return Ok(None) };
        // SAFETY: both were shown by the snapshot that this cursor still sees: `forget` comes before any other.
        let (here, value) = unsafe { (&*shown, &*value) };
        match key.cmp(here) {
            Ordering::Equal => return Ok(Some(Some((here, value)))),
            // SAFETY: as above.
            Ordering::Less if before.is_some_and(|before| unsafe { &*before } < key) => {
                return Ok(Some(Some((here, value))));
            }
            Ordering::Less => return Ok(None),
            Ordering::Greater if !hope.tries() => {
                self.near = Some(Near { before, here: Some((shown, value)), hope });
                return Ok(None);
            }
            Ordering::Greater => {}
        }
        let moved = self.step(Step::Next, &[])?.map(show);
        // SAFETY: as above.
        let next: Option<Entry<'_>> = moved.map(|(key, value)| unsafe { (&*key, &*value) });
        let found = next.is_none_or(|(next, _)| key <= next);
        hope.learn(found);
        self.near = Some(Near { before: Some(shown), here: moved, hope });
        Ok(found.then_some(next))
    }

    /// Forgets where it stands: its snapshot ends.
    fn forget(&mut self) {
        if let Some(near) = &mut self.near {
            (near.before, near.here) = (None, None);
        }
    }

    #[inline]
    fn step(&mut self, step: Step, key: &[u8]) -> Result<Option<Entry<'_>>> {
        let operation = match step {
            // LMDB has no empty keys and refuses to look for one: nothing is there, and the first key follows it.
            Step::Exact if key.is_empty() => return Ok(None),
            Step::AtOrAfter if key.is_empty() => ffi::MDB_FIRST,
            Step::Exact => ffi::MDB_SET_KEY,
            Step::AtOrAfter => ffi::MDB_SET_RANGE,
            Step::Next => ffi::MDB_NEXT,
            Step::Previous => ffi::MDB_PREV,
            Step::Last => ffi::MDB_LAST,
        };
        let (mut k, mut v) = (val(key), ffi::MDB_val { mv_size: 0, mv_data: ptr::null_mut() });
        // SAFETY: the transaction of the cursor is live; what comes back points into the map, which outlives the borrow
        // of the cursor because nothing can be written or reset through it meanwhile.
        unsafe {
            match ffi::mdb_cursor_get(self.cursor, &raw mut k, &raw mut v, operation) {
                0 => Ok(Some((slice(&k), slice(&v)))),
                ffi::MDB_NOTFOUND => Ok(None),
                code => {
                    self.forget();
                    Err(error(code, &self.path))
                }
            }
        }
    }

    /// Stores one entry, sooner where the cursor stands near it, and stands on it then.
    #[inline]
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (mut k, mut v) = (val(key), val(value));
        // SAFETY: the cursor belongs to a live write transaction; LMDB reads both during the call only.
        check(unsafe { ffi::mdb_cursor_put(self.cursor, &raw mut k, &raw mut v, 0) }, &self.path)
    }

    /// Deletes the entry the cursor stands on; [`Step::Next`] then shows the one that followed it.
    pub fn delete(&mut self) -> Result<()> {
        // SAFETY: the cursor belongs to a live write transaction.
        check(unsafe { ffi::mdb_cursor_del(self.cursor, 0) }, &self.path)
    }
}

#[cold]
fn cut_short(path: &Path) -> Error {
    Error::Corrupt {
        path: path.to_path_buf(),
        what: "it is shorter than what it says it holds. Restore a backup into an empty folder".to_owned(),
    }
}

fn val(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len() as _, mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// The bytes behind an LMDB value.
///
/// # Safety
/// The value must come from LMDB and point to memory that outlives `'a`.
unsafe fn slice<'a>(val: &ffi::MDB_val) -> &'a [u8] {
    if val.mv_size == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(val.mv_data.cast_const().cast(), val.mv_size) }
}

#[inline]
fn check(code: c_int, path: &Path) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error(code, path)) }
}

#[cold]
fn error(code: c_int, path: &Path) -> Error {
    let damaged = |what: &str| Error::Corrupt {
        path: path.to_path_buf(),
        what: format!("{what}. Restore a backup, or copy the folder and ask for help"),
    };
    match code {
        ffi::MDB_CORRUPTED => damaged("a page does not hold what it should"),
        ffi::MDB_PAGE_NOTFOUND => damaged("a page that is referred to does not exist"),
        ffi::MDB_INVALID => damaged("the file is not an LMDB file"),
        ffi::MDB_PANIC => Error::Internal("LMDB met a fatal error earlier in this process; restart it".to_owned()),
        ffi::MDB_VERSION_MISMATCH => Error::Format { path: path.to_path_buf(), found: 2, known: 1 },
        ffi::MDB_MAP_FULL => Error::DiskFull { path: path.to_path_buf() },
        ffi::MDB_READERS_FULL => {
            Error::Busy("too many connections read this store at once; close some of them".to_owned())
        }
        ffi::MDB_TXN_FULL => Error::TooLarge("the transaction touches too many pages; commit more often".to_owned()),
        ffi::MDB_BAD_VALSIZE => Error::Internal("a key of a length that LMDB does not take".to_owned()),
        code if code < 0 => Error::Internal(format!("LMDB answered {code}")),
        code => Error::io("cannot use", path, std::io::Error::from_raw_os_error(code)),
    }
}
