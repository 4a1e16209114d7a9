//! Getting a store's files ready under the open lock. Only an opener that is the store's only user decides anything: the
//! others take the files as they are.
//!
//! The working file is used again when the header knows it and either this is still the same boot or the last closer
//! left the clean mark. Else it is rebuilt: the log goes into the durable file, and the working file becomes a copy of
//! that.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Acquire, Release};

use memmap2::MmapRaw;

use super::durable::{self, Durable, Mark};
use super::frame::Chain;
use super::header::{Facts, Fields, Header, LogFields};
use super::log::Log;
use super::replay::Replay;
use super::segment::{self, Way};
use super::space::{self, Place};
use super::sys::{Env, Syncing};
use super::{HEADER, MAX_READERS, PAGE, check, checkpoint, fault, files, pages, structure};
use crate::engine::{Durability, Options, identity};
use crate::error::{Error, Result};

/// The map of a new store, where the file system takes so large a sparse file, and the smallest worth having.
const MAP_SIZE: u64 = 1 << 40;
const LEAST_MAP_SIZE: u64 = 1 << 30;
/// The working file's name in a store's folder.
pub const WORKING: &str = "working.mdb";

/// The parts of an opened store.
pub struct Opened {
    /// The working file.
    pub env: Env,
    /// What all processes share.
    pub header: Header,
    /// For reserving blocks; none where that is no promise.
    pub reserving: Option<File>,
    /// The size of every map.
    pub map_size: u64,
    /// What the store promises.
    pub durability: Durability,
    /// None with the durability `process`, like the durable file.
    pub log: Option<Log>,
    /// Opened now, while nobody moves the folder, because LMDB would make a missing one.
    pub durable: Option<Durable>,
}

/// Gets the store in the folder `path` ready; `alone` says that nobody else has it open.
pub fn prepare(path: &Path, alone: bool, place: Place, options: &Options) -> Result<Opened> {
    let header = Header::open(&path.join(HEADER))?;
    let opening = Opening { path, working: path.join(WORKING), header: &header, place };
    let durability = if alone { opening.settle(options.durability)? } else { opening.agree(options.durability)? };
    let fields = header.fields();
    let (env, reserving) = opening.open_working_file()?;
    if alone {
        opening.finish(&env, durability)?;
    }
    let way = if place == Place::Reserves { Way::Mapped } else { Way::Called };
    let log = match durability {
        Durability::Process => None,
        Durability::Relaxed | Durability::Strict => Some(Log::new(path, way, options.log_limit)?),
    };
    let map_size = fields.map_size();
    let durable = log.as_ref().map(|_| Durable::open(path, map_size)).transpose()?;
    Ok(Opened { env, header, reserving, map_size, durability, log, durable })
}

struct Opening<'a> {
    path: &'a Path,
    working: PathBuf,
    header: &'a Header,
    place: Place,
}

impl Opening<'_> {
    fn fields(&self) -> &Fields {
        self.header.fields()
    }

    fn sync_header(&self) -> Result<()> {
        self.header.sync(&self.path.join(HEADER))
    }

    /// The store's durability, which must be the wanted one.
    fn agree(&self, wanted: Option<Durability>) -> Result<Durability> {
        let has = self.fields().durability().unwrap_or(Durability::Process);
        match wanted {
            Some(wanted) if wanted != has => Err(Error::Locked(format!(
                "{} is open with the durability '{}' and cannot become '{}' meanwhile: close it everywhere first",
                self.path.display(),
                has.name(),
                wanted.name()
            ))),
            _ => Ok(has),
        }
    }

    /// Decides what becomes of the files that lie there. The durability that the store is to have from now on.
    fn settle(&self, wanted: Option<Durability>) -> Result<Durability> {
        let fields = self.fields();
        fields.gate.reset()?;
        fields.flushing.reset()?;
        fields.checkpointing.reset()?;
        files::remove(&files::lock_of(&self.working))?;
        // What was left half done.
        for name in ["durable.new", "durable.new-lock", "working.new", "log.new", "probe"] {
            files::remove(&self.path.join(name))?;
        }
        let has = match fields.durability() {
            Some(has) => has,
            None => self.first_durability(wanted)?,
        };
        if has == Durability::Process && !self.is_restored()? {
            self.settle_unlogged()?;
        } else {
            self.settle_logged()?;
        }
        fields.set_clean(false);
        self.sync_header()?;
        fault::point("open-settled");
        Ok(wanted.unwrap_or(has))
    }

    /// The durability of a store that has none written down: a new one, one whose making was cut short, or one that
    /// somebody made of a durable file alone.
    fn first_durability(&self, wanted: Option<Durability>) -> Result<Durability> {
        let first = wanted.unwrap_or(Durability::Relaxed);
        if files::exists(&self.path.join(durable::NAME))? {
            return Ok(if first == Durability::Process { Durability::Relaxed } else { first });
        }
        if first == Durability::Process || self.fields().has_working_file() {
            return Ok(Durability::Process);
        }
        // Another folder's file of this name may lie there; a store without a header has no working file.
        if files::exists(&self.working)? {
            put_aside(&self.working)?;
        }
        self.choose_map_size()?;
        Durable::create(self.path, self.fields().map_size())?;
        Ok(first)
    }

    /// Whether the store is a backup of one that has only a working file, or comes from a change of durability that was
    /// cut short: what counts is a durable file.
    fn is_restored(&self) -> Result<bool> {
        Ok(files::exists(&self.path.join(durable::NAME))? && !self.is_ours()?)
    }

    fn settle_unlogged(&self) -> Result<()> {
        let fields = self.fields();
        if self.is_ours()? && !self.has_its_length()? {
            return Err(Error::Corrupt {
                path: self.working.clone(),
                what: "it does not have the length it had. Restore a backup into an empty folder".to_owned(),
            });
        }
        if !self.is_trusted()? {
            if files::exists(&self.working)? {
                put_aside(&self.working)?;
            }
            fields.disown();
            self.choose_map_size()?;
        }
        Ok(())
    }

    fn settle_logged(&self) -> Result<()> {
        files::remove(&files::lock_of(&self.path.join(durable::NAME)))?;
        if self.fields().map_size() == 0 {
            self.choose_map_size()?;
        }
        check::require_mark(&self.path.join(durable::NAME))?;
        let durable = Durable::open(self.path, self.fields().map_size())?;
        let epoch = self.fields().log.epoch.load(Acquire);
        if self.is_trusted()? && (epoch == 0 || epoch == durable.mark()?.chain.epoch) {
            return self.check_log(&durable);
        }
        self.rebuild(&durable)
    }

    /// Whether the working file there is this store's, and whole.
    fn is_trusted(&self) -> Result<bool> {
        Ok(self.is_ours()? && self.has_its_length()?)
    }

    /// Whether it is the file that the header knows, from this boot or left whole by the last closer.
    fn is_ours(&self) -> Result<bool> {
        Ok(files::exists(&self.working)? && self.fields().vouches_for(identity(&self.working)?, boot()))
    }

    /// Whether it is as long as its map, which only a hand from outside can change. Unmapped files grow as they need.
    fn has_its_length(&self) -> Result<bool> {
        let length = files::length(&self.working)?;
        Ok(self.place != Place::Reserves || length == self.fields().map_size())
    }

    /// Makes sure that the log goes on from the durable file to the last committed frame. If not, the epoch 0 says that
    /// a durable file is to be made of the working file, which has everything.
    fn check_log(&self, durable: &Durable) -> Result<()> {
        let log = &self.fields().log;
        let mut replay = Replay::new(self.path, durable.mark()?.chain, u64::MAX)?;
        while replay.next()?.is_some() {}
        log.checkpointed.store(durable.mark()?.chain.position, Release);
        if replay.chain().position < log.tail.load(Acquire) {
            log.epoch.store(0, Release);
        }
        Ok(())
    }

    /// Brings the durable file up to the end of the log, begins a new log, and copies the durable file. Whenever this is
    /// cut short, it begins again at the next opening and comes to the same end.
    fn rebuild(&self, durable: &Durable) -> Result<()> {
        // LMDB would trust every page that it meets, and end the process at some that are damaged.
        structure::require_sound(&durable.path())?;
        let fields = self.fields();
        fields.disown();
        self.sync_header()?;
        fault::point("rebuild-begun");
        while checkpoint::batch(durable, self.path, None, u64::MAX)?.is_some() {}
        fault::point("rebuild-drained");
        let segments = segment::list(self.path)?;
        let last = segments.last().map_or(0, |found| found.end);
        let mark = durable.advance(|mark, _| {
            let position = mark.chain.position.max(last).next_multiple_of(PAGE);
            Ok(Some(Mark::fresh(position, mark.chunks)))
        })?;
        let mark = mark.ok_or_else(|| Error::Internal("a durable file without a mark".to_owned()))?;
        fault::point("rebuild-marked");
        for found in segments {
            files::remove(&found.path)?;
        }
        files::remove(&self.working)?;
        self.choose_map_size()?;
        let fresh = self.path.join("working.new");
        files::copy(&durable.path(), &fresh)?;
        fault::point("rebuild-copied");
        files::rename(&fresh, &self.working)?;
        fault::point("rebuild-renamed");
        begin_log(&fields.log, mark.chain);
        fields.set_has_chunks(mark.chunks);
        Ok(())
    }

    /// The largest sparse size, halved until the file system takes it and a process can map the working file and the
    /// durable one. No map has another size after that.
    fn choose_map_size(&self) -> Result<()> {
        let probe = self.path.join("probe");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&probe)
            .map_err(|e| Error::io("cannot make", &probe, e))?;
        let mut size = MAP_SIZE;
        let chosen = loop {
            match file.set_len(size).and_then(|()| map_twice(&file)) {
                Ok(()) => break Ok(size),
                Err(_) if size / 2 >= LEAST_MAP_SIZE => size /= 2,
                Err(error) => break Err(Error::io("cannot make and map a sparse file of 1 GiB at", &probe, error)),
            }
        };
        files::remove(&probe)?;
        self.fields().set_map_size(chosen?);
        Ok(())
    }

    fn open_working_file(&self) -> Result<(Env, Option<File>)> {
        let (fields, working) = (self.fields(), &self.working);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(working)
            .map_err(|e| Error::io("cannot open", working, e))?;
        let reserves = self.place == Place::Reserves;
        if reserves && fields.reserved() == 0 {
            let length = file.metadata().map_err(|e| Error::io("cannot look at", working, e))?.len();
            fields.set_reserved(space::reserve(&file, working, 0, length + PAGE * 16, fields.map_size())?);
        }
        let sync = if reserves { Syncing::NeverMapped } else { Syncing::NeverCalled };
        if fields.has_working_file() {
            pages::Pages::open(working, None)?;
        }
        let env = Env::open(working, fields.map_size(), MAX_READERS, sync)?;
        Ok((env, reserves.then_some(file)))
    }

    /// Converts the store to its durability, and says that the working file counts in this boot once it is complete.
    fn finish(&self, env: &Env, durability: Durability) -> Result<()> {
        let fields = self.fields();
        if !fields.has_working_file() {
            durable::remove_mark(env)?;
        }
        let adopt = || -> Result<()> {
            fields.adopt(identity(&self.working)?, boot().unwrap_or([0, 0]));
            Ok(())
        };
        if durability == Durability::Process {
            // Before the durable file goes: there must always be one of the two that counts.
            adopt()?;
            fields.set_durability(durability);
            self.sync_header()?;
            fault::point("convert-said");
            return self.remove_log();
        }
        self.make_durable(env)?;
        fields.set_durability(durability);
        self.sync_header()?;
        fault::point("open-finished");
        adopt()
    }

    /// Makes a durable file of the working file where there is none that belongs to it.
    fn make_durable(&self, env: &Env) -> Result<()> {
        let fields = self.fields();
        let was_logged = fields.durability().is_none_or(|has| has != Durability::Process);
        if was_logged && fields.log.epoch.load(Acquire) != 0 {
            return Ok(());
        }
        let segments = segment::list(self.path)?;
        let last = segments.last().map_or(segment::FIRST, |found| found.end).next_multiple_of(PAGE);
        let mark = Mark::fresh(last, fields.has_chunks());
        Durable::copy_of(env, self.path, fields.map_size(), mark)?;
        fault::point("convert-copied");
        begin_log(&fields.log, mark.chain);
        for found in segments {
            files::remove(&found.path)?;
        }
        Ok(())
    }

    fn remove_log(&self) -> Result<()> {
        files::remove_with_lock(&self.path.join(durable::NAME))?;
        for found in segment::list(self.path)? {
            files::remove(&found.path)?;
        }
        Ok(())
    }
}

/// Whether a working file is the one that a header knows, from this boot or left whole by the last closer.
pub fn is_trusted(working: &Path, facts: &Facts) -> bool {
    let same_file = identity(working).is_ok_and(|identity| identity == facts.working);
    same_file && (facts.clean || boot() == Some(facts.boot))
}

/// Lets the log begin where `chain` says, with nothing in it.
fn begin_log(log: &LogFields, chain: Chain) {
    log.pending_transaction.store(0, Release);
    for position in [&log.tail, &log.flushed, &log.checkpointed] {
        position.store(chain.position, Release);
    }
    log.number.store(chain.number, Release);
    log.checksum.store(chain.checksum, Release);
    log.segment.store(0, Release);
    log.segment_end.store(0, Release);
    log.unsound.store(0, Release);
    log.epoch.store(chain.epoch, Release);
}

/// Whether two files of this size find room in the process, whose addresses may be limited.
fn map_twice(file: &File) -> std::io::Result<()> {
    let _first = MmapRaw::map_raw(file)?;
    MmapRaw::map_raw(file).map(drop)
}

/// Renames a working file that cannot be trusted, so that nothing is destroyed.
fn put_aside(working: &Path) -> Result<()> {
    let free = (1..)
        .map(|number: u32| PathBuf::from(format!("{}.untrusted-{number}", working.display())))
        .find(|name| !name.exists());
    let free = free.ok_or_else(|| Error::Internal("no name is left for a file put aside".to_owned()))?;
    files::rename(working, &free)
}

/// A number for the time since this machine started: a file left by an earlier boot was perhaps never written whole.
/// None where the system does not tell.
fn boot() -> Option<[u64; 2]> {
    #[cfg(feature = "faults")]
    if let Some(number) = std::env::var("CARETDB_BOOT").ok().and_then(|text| text.parse().ok()) {
        return Some([number, 1]);
    }
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |from: usize| digits.get(from..from + 16).and_then(|hex| u64::from_str_radix(hex, 16).ok());
    Some([half(0)?, half(16)?])
}
