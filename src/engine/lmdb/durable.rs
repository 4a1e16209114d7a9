//! The durable file: an ordinary LMDB file, synced with every commit, that holds what the log held up to some position.
//! The position is stored in it, in the same transaction as the data, under a key that no global can have.

use std::path::{Path, PathBuf};

use super::frame::Chain;
use super::sys::{Cursor, Env, Reader, Step, Syncing, Writer};
use super::{chunks, fault, files, segment};
use crate::disk::sync_folder;
use crate::engine::reduce::Reduced;
use crate::engine::{Flow, Report, Visitor};
use crate::error::{Error, Result};

/// The file's name in the store's folder.
pub const NAME: &str = "durable.mdb";
/// The key of the mark. The names of globals begin with a letter or `%`.
pub const MARK: &[u8] = &[0];
/// Reads of this file are rare.
const READERS: u32 = 126;

/// The durable file, opened.
pub struct Durable {
    env: Env,
}

/// What the durable file says about itself. 40 bytes, numbers little-endian: format (4 bytes), 1 when values lie in
/// chunks (4), epoch (8), position (8), number (8) and checksum (4) of the last frame, CRC-32C of all these (4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The last frame whose operations are in the file.
    pub chain: Chain,
    /// Whether any value may lie in chunks.
    pub chunks: bool,
}

impl Mark {
    const SIZE: usize = 40;

    /// The mark of a store with a new log that begins at `position`.
    pub fn fresh(position: u64, chunks: bool) -> Mark {
        Mark { chain: Chain { epoch: draw(), position, number: 0, checksum: 0 }, chunks }
    }

    /// Its bytes.
    pub fn write(&self) -> [u8; Mark::SIZE] {
        let mut bytes = [0; Mark::SIZE];
        bytes[..4].copy_from_slice(&super::header::FORMAT.to_le_bytes());
        bytes[4..8].copy_from_slice(&u32::from(self.chunks).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.chain.epoch.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.chain.position.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.chain.number.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.chain.checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..36]);
        bytes[36..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads them.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Format`].
    pub fn read(bytes: &[u8], path: &Path) -> Result<Mark> {
        let bytes: &[u8; Mark::SIZE] = bytes.try_into().map_err(|_| damaged(path))?;
        let half = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let word = |at: usize| u64::from(half(at)) | u64::from(half(at + 4)) << 32;
        if crc32c::crc32c(&bytes[..36]) != half(36) {
            return Err(damaged(path));
        }
        let (found, known) = (half(0), super::header::FORMAT);
        if found > known {
            return Err(Error::Format { path: path.to_path_buf(), found, known });
        }
        let chain = Chain { epoch: word(8), position: word(16), number: word(24), checksum: half(32) };
        Ok(Mark { chain, chunks: half(4) != 0 })
    }
}

fn damaged(path: &Path) -> Error {
    Error::Corrupt {
        path: path.to_path_buf(),
        what: "it does not say how much of the log it holds. Restore a backup, or copy the folder and ask for help"
            .to_owned(),
    }
}

/// A number nobody can guess or draw twice.
fn draw() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(super::flush::now());
    hasher.write_u32(std::process::id());
    hasher.finish() | 1
}

impl Durable {
    /// Makes an empty one in the store's folder. It is there whole, or not at all.
    pub fn create(folder: &Path, map_size: u64) -> Result<()> {
        let (path, fresh) = (folder.join(NAME), folder.join("durable.new"));
        files::remove_with_lock(&fresh)?;
        Durable::begin_mark(&fresh, map_size, Mark::fresh(segment::FIRST, false))?;
        files::remove(&files::lock_of(&fresh))?;
        fault::point("durable-made");
        files::rename(&fresh, &path)?;
        sync_folder(folder)
    }

    /// Makes one that holds what the working file holds. The working file must not be written meanwhile.
    pub fn copy_of(working: &Env, folder: &Path, map_size: u64, mark: Mark) -> Result<()> {
        let (path, fresh) = (folder.join(NAME), folder.join("durable.new"));
        files::remove_with_lock(&fresh)?;
        working.copy(&fresh)?;
        Durable::begin_mark(&fresh, map_size, mark)?;
        files::remove(&files::lock_of(&fresh))?;
        fault::point("durable-made");
        files::rename(&fresh, &path)?;
        sync_folder(folder)
    }

    fn begin_mark(path: &Path, map_size: u64, mark: Mark) -> Result<()> {
        let env = Env::open(path, map_size, READERS, Syncing::EveryCommit)?;
        let mut writer = Writer::begin(&env)?;
        writer.put(&env, MARK, &mark.write())?;
        writer.commit(&env)?;
        // A copy was written without a sync, and the commit above synced only what it knew of.
        env.sync()
    }

    /// Opens the one in the store's folder.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is missing or damaged, [`Error::Format`].
    pub fn open(folder: &Path, map_size: u64) -> Result<Durable> {
        let path = folder.join(NAME);
        if !files::exists(&path)? {
            return Err(Error::Corrupt {
                path,
                what: "it is missing. Put it back, or restore a backup into an empty folder".to_owned(),
            });
        }
        let durable = Durable { env: Env::open(&path, map_size, READERS, Syncing::EveryCommit)? };
        durable.mark()?;
        Ok(durable)
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.env.path().to_path_buf()
    }

    /// The environment.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// What it says about itself now.
    pub fn mark(&self) -> Result<Mark> {
        self.mark_at(Reader::begin(&self.env)?.cursor())
    }

    fn mark_at(&self, cursor: &mut Cursor) -> Result<Mark> {
        match cursor.go(Step::Exact, MARK)? {
            Some((_, bytes)) => Mark::read(bytes, self.env.path()),
            None => Err(damaged(self.env.path())),
        }
    }

    /// Lets `change` say what comes next, knowing what the file says about itself, and does it in one durable
    /// transaction; nothing happens when it says nothing.
    pub fn advance(&self, change: impl FnOnce(Mark, &mut Apply<'_>) -> Result<Option<Mark>>) -> Result<Option<Mark>> {
        let mut writer = Writer::begin(&self.env)?;
        let mark = self.mark_at(writer.cursor(&self.env)?)?;
        let mut apply = Apply { env: &self.env, writer: &mut writer, chunks: mark.chunks };
        let Some(mut next) = change(mark, &mut apply)? else { return Ok(None) };
        next.chunks |= apply.chunks;
        writer.put(&self.env, MARK, &next.write())?;
        fault::point("checkpoint-applied");
        fault::may_fail("checkpoint-commit").map_err(|e| Error::io("cannot write", self.env.path(), e))?;
        writer.commit(&self.env)?;
        fault::point("checkpoint-committed");
        Ok(Some(next))
    }
}

/// How many bytes of a copy are written in one transaction.
const PIECE: usize = 8 << 20;

/// Writes the entries that `source` shows in order to a new durable file with the given mark, its pages filled to the brim,
/// and syncs it. `expected` entries are there, as far as is known.
pub fn write_compact(
    source: impl FnOnce(&mut Visitor<'_>) -> Result<()>,
    expected: u64,
    path: &Path,
    map_size: u64,
    mark: Mark,
    report: &mut Report<'_>,
) -> Result<()> {
    files::remove_with_lock(path)?;
    let env = Env::open(path, map_size, READERS, Syncing::NeverCalled)?;
    let mut writer = Writer::begin(&env)?;
    writer.append(&env, MARK, &mark.write())?;
    let (mut writer, mut bytes, mut done) = (Some(writer), 0, 0);
    source(&mut |key, value| {
        if key == MARK {
            return Ok(Flow::Continue);
        }
        let mut open = match writer.take() {
            Some(open) => open,
            None => Writer::begin(&env)?,
        };
        open.append(&env, key, value)?;
        bytes += key.len() + value.len();
        done += 1;
        if bytes < PIECE {
            writer = Some(open);
        } else {
            open.commit(&env)?;
            fault::point("copy-piece");
            report(done, expected.max(done))?;
            bytes = 0;
        }
        Ok(Flow::Continue)
    })?;
    if let Some(open) = writer {
        open.commit(&env)?;
    }
    fault::point("copy-written");
    report(done, done)?;
    env.sync()?;
    drop(env);
    files::remove(&files::lock_of(path))
}

/// Shows all that a snapshot holds.
pub fn show_all(reader: &mut Reader, visit: &mut Visitor<'_>) -> Result<()> {
    let cursor = reader.cursor();
    let mut here = cursor.go(Step::AtOrAfter, &[])?;
    while let Some((key, value)) = here {
        if visit(key, value)? == Flow::Stop {
            break;
        }
        here = cursor.go(Step::Next, &[])?;
    }
    Ok(())
}

/// The writing side of one transaction in the durable file.
pub struct Apply<'a> {
    env: &'a Env,
    writer: &'a mut Writer,
    chunks: bool,
}

impl Apply<'_> {
    /// Does what is left of a batch.
    pub fn apply(&mut self, reduced: &Reduced<'_>) -> Result<()> {
        for (start, end) in &reduced.deletes {
            self.writer.delete_range(self.env, start, end)?;
        }
        // Deletions may have moved what is near the cursor. Puts are in key order: each is near the one before, and those
        // behind all that is there fill their pages, as they do in the working file.
        self.writer.close_cursor();
        let cursor = self.writer.cursor(self.env)?;
        let last = cursor.go(Step::Last, &[])?.map(|(key, _)| key.to_vec()).unwrap_or_default();
        let (among, behind) = reduced.puts.split_at(reduced.puts.partition_point(|(key, _)| *key <= &*last));
        for (key, value) in among {
            self.chunks |= chunks::is_head(value);
            cursor.put(key, value)?;
        }
        self.writer.close_cursor();
        for (key, value) in behind {
            self.chunks |= chunks::is_head(value);
            self.writer.append(self.env, key, value)?;
        }
        Ok(())
    }
}

/// Removes the mark from a copy of the durable file that becomes the working file.
pub fn remove_mark(working: &Env) -> Result<()> {
    let mut writer = Writer::begin(working)?;
    writer.delete_range(working, MARK, &[0, 0])?;
    writer.commit(working)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_and_a_changed_one_does_not() {
        let mark = Mark::fresh(4096, true);
        let bytes = mark.write();
        let path = Path::new("durable.mdb");
        assert_eq!(Mark::read(&bytes, path).unwrap(), mark);
        for at in 0..bytes.len() {
            let mut changed = bytes;
            changed[at] ^= 4;
            assert_eq!(Mark::read(&changed, path).unwrap_err().code(), "ERR_CORRUPT", "byte {at}");
        }
    }
}
