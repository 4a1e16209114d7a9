//! The header of a store: a small file mapped by every process that has the store open. It holds what they must agree
//! on: the durability, the size of the map, how far disk blocks are reserved, the gate of the writers, whose working
//! file this is, and how far the log reaches.
//!
//! What must be right after a power cut lies in the first 512 bytes, which a disk writes whole, and is synced by whoever
//! changes it. All the rest counts only while the working file does: after a power cut nobody reads it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::MmapRaw;

use super::bell::Bell;
use super::gate::SharedMutex;
use crate::engine::Durability;
use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"CARETDB\0";

/// The newest format this version reads and writes.
pub const FORMAT: u32 = 1;

/// The mapped bytes. Every field keeps its place in all versions of a format.
#[repr(C)]
pub struct Fields {
    magic: [u8; 8],
    format: AtomicU32,
    /// Not zero once a value has been stored in chunks.
    chunked: AtomicU32,
    /// The map size every opener must use.
    map_size: AtomicU64,
    /// Up to which byte of the working file blocks are reserved.
    reserved: AtomicU64,
    /// Device and inode of the working file this header speaks of.
    device: AtomicU64,
    inode: AtomicU64,
    /// The boot during which the working file was in use.
    boot: [AtomicU64; 2],
    /// 1 when the last closer left the working file whole on the disk.
    clean: AtomicU64,
    /// The store's durability as a number; 0 before one was chosen.
    durability: AtomicU32,
    /// Keeps what follows out of the first 512 bytes.
    unused: [u32; 107],
    /// Who may write.
    pub gate: SharedMutex,
    /// Who makes the log durable.
    pub flushing: SharedMutex,
    /// Who brings the durable file up.
    pub checkpointing: SharedMutex,
    /// How far the log reaches.
    pub log: LogFields,
    /// Counts changes of the definitions of indexes. Only the holder of the gate changes it.
    definitions: AtomicU64,
    /// Wakes those who wait for the log to grow.
    pub bell: Bell,
}

/// Where the log stands. A position counts the bytes of the log since the store was made. Only the holder of the gate
/// changes these, apart from the last group.
#[repr(C, align(64))]
pub struct LogFields {
    /// Drawn anew whenever the working file is rebuilt: no older frame fits after that.
    pub epoch: AtomicU64,
    /// Where the last committed frame ends.
    pub tail: AtomicU64,
    /// The last number given to a frame, committed or not.
    pub number: AtomicU64,
    /// The checksum of the last committed frame.
    pub checksum: AtomicU32,
    /// Not zero when a segment could not be synced and must be written anew.
    pub unsound: AtomicU32,
    /// Where the segment in use begins, 0 when there is none, and where it ends.
    pub segment: AtomicU64,
    /// See `segment`.
    pub segment_end: AtomicU64,
    /// Counts how often segments were written anew, so that every process maps the new ones.
    pub generation: AtomicU64,
    /// The frame that is being committed: its transaction, 0 when there is none.
    pub pending_transaction: AtomicU64,
    /// Its number.
    pub pending_number: AtomicU64,
    /// Where it begins.
    pub pending_start: AtomicU64,
    /// Where it ends.
    pub pending_end: AtomicU64,
    /// Its checksum.
    pub pending_checksum: AtomicU64,

    /// Up to where the log is on the disk.
    pub flushed: AtomicU64,
    /// Up to where the durable file has the log's frames.
    pub checkpointed: AtomicU64,
    /// When the log was last made durable, and when the durable file was last brought up, in milliseconds since the
    /// machine started.
    pub flushed_at: AtomicU64,
    /// See `flushed_at`.
    pub checkpointed_at: AtomicU64,
    /// How often a flush and a checkpoint failed.
    pub flush_failures: AtomicU64,
    /// See `flush_failures`.
    pub checkpoint_failures: AtomicU64,
}

impl LogFields {
    /// How many bytes of the log wait for the durable file.
    #[inline]
    pub fn backlog(&self) -> u64 {
        self.tail.load(Ordering::Acquire).saturating_sub(self.checkpointed.load(Ordering::Acquire))
    }
}

/// The room set aside for [`Fields`], so that later versions can add some.
const SIZE: usize = 4096;

/// What a disk writes whole.
const SECTOR: usize = 512;

/// The mapped header.
pub struct Header {
    map: MmapRaw,
    file: File,
}

impl Header {
    /// Maps the header in `path`, and makes it where there is none. The caller holds the open lock.
    pub fn open(path: &Path) -> Result<Header> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| Error::io("cannot open", path, e))?;
        let length = file.metadata().map_err(|e| Error::io("cannot read", path, e))?.len();
        // A header that was being made when the power failed has no beginning yet.
        let fresh = length <= SIZE as u64 && is_blank(&file).map_err(|e| Error::io("cannot read", path, e))?;
        if fresh {
            super::space::fill_with_zeros(&file, SIZE).map_err(|e| Error::io("cannot write", path, e))?;
        } else if length != SIZE as u64 {
            return Err(damaged(path, "its length is wrong"));
        }
        let map = MmapRaw::map_raw(&file).map_err(|e| Error::io("cannot map", path, e))?;
        let header = Header { map, file };
        if fresh {
            header.write_magic();
        }
        header.check(path)?;
        Ok(header)
    }

    fn write_magic(&self) {
        // SAFETY: the file is new, the caller holds the open lock, and the map is `SIZE` bytes long.
        unsafe { self.map.as_mut_ptr().cast::<[u8; 8]>().write(MAGIC) };
        self.fields().format.store(FORMAT, Ordering::Release);
    }

    fn check(&self, path: &Path) -> Result<()> {
        let fields = self.fields();
        if fields.magic != MAGIC {
            return Err(damaged(path, "it does not begin as a CaretDB header does"));
        }
        let found = fields.format.load(Ordering::Acquire);
        if found > FORMAT {
            return Err(Error::Format { path: path.to_path_buf(), found, known: FORMAT });
        }
        let size = fields.map_size();
        if found == 0 || (size != 0 && !size.is_power_of_two()) || fields.durability.load(Ordering::Acquire) > 3 {
            return Err(damaged(path, "its fields make no sense"));
        }
        Ok(())
    }

    /// The shared fields.
    #[inline]
    pub fn fields(&self) -> &Fields {
        // SAFETY: the map is page-aligned, `SIZE` bytes long and lives as long as `self`; apart from `magic`, which is
        // written once under the open lock, every field is atomic or a process-shared mutex.
        unsafe { &*self.map.as_ptr().cast::<Fields>() }
    }

    /// Writes the header to the disk.
    pub fn sync(&self, path: &Path) -> Result<()> {
        self.map.flush().and_then(|()| self.file.sync_all()).map_err(|e| Error::io("cannot sync", path, e))
    }
}

/// What a header says, read without mapping or changing it.
pub struct Facts {
    /// The durability; none before one was chosen.
    pub durability: Option<Durability>,
    /// The size of the maps; 0 before one was chosen.
    pub map_size: u64,
    /// Device and inode of the working file.
    pub working: (u64, u64),
    /// The boot in which it was last in use.
    pub boot: [u64; 2],
    /// Whether the last closer left it whole.
    pub clean: bool,
}

impl Facts {
    /// Reads a header.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Format`], or the system's answer.
    pub fn read(path: &Path) -> Result<Facts> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read", path, e))?;
        if bytes.len() != SIZE {
            return Err(damaged(path, "its length is wrong"));
        }
        let half = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let word = |at: usize| u64::from(half(at)) | u64::from(half(at + 4)) << 32;
        if bytes[..8] != MAGIC {
            return Err(damaged(path, "it does not begin as a CaretDB header does"));
        }
        let (found, map_size, durability) = (half(8), word(16), half(72));
        if found > FORMAT {
            return Err(Error::Format { path: path.to_path_buf(), found, known: FORMAT });
        }
        if found == 0 || (map_size != 0 && !map_size.is_power_of_two()) || durability > 3 {
            return Err(damaged(path, "its fields make no sense"));
        }
        let durability = match durability {
            1 => Some(Durability::Process),
            2 => Some(Durability::Relaxed),
            3 => Some(Durability::Strict),
            _ => None,
        };
        let working = (word(32), word(40));
        Ok(Facts { durability, map_size, working, boot: [word(48), word(56)], clean: word(64) == 1 })
    }
}

fn is_blank(mut file: &File) -> std::io::Result<bool> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    file.rewind()?;
    Ok(bytes.iter().take(SECTOR).all(|byte| *byte == 0))
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::Corrupt {
        path: path.to_path_buf(),
        what: format!("{what}. Move the store's folder aside and restore a backup"),
    }
}

impl Fields {
    /// The map size every opener must use; 0 before the first one has chosen.
    pub fn map_size(&self) -> u64 {
        self.map_size.load(Ordering::Acquire)
    }

    /// Says which map size was chosen.
    pub fn set_map_size(&self, bytes: u64) {
        self.map_size.store(bytes, Ordering::Release);
    }

    /// Up to which byte blocks are reserved.
    #[inline]
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::Acquire)
    }

    /// Says up to which byte blocks are reserved.
    pub fn set_reserved(&self, bytes: u64) {
        self.reserved.store(bytes, Ordering::Release);
    }

    /// How often the definitions of indexes have changed.
    #[inline]
    pub fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::Acquire)
    }

    /// Counts one more change of them.
    pub fn count_definitions(&self) {
        self.definitions.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether any value may lie in chunks.
    #[inline]
    pub fn has_chunks(&self) -> bool {
        self.chunked.load(Ordering::Acquire) != 0
    }

    /// Says whether values may lie in chunks from now on.
    pub fn set_has_chunks(&self, chunks: bool) {
        self.chunked.store(u32::from(chunks), Ordering::Release);
    }

    /// The durability of the store; none before one was chosen.
    pub fn durability(&self) -> Option<Durability> {
        match self.durability.load(Ordering::Acquire) {
            1 => Some(Durability::Process),
            2 => Some(Durability::Relaxed),
            3 => Some(Durability::Strict),
            _ => None,
        }
    }

    /// Says which durability the store has.
    pub fn set_durability(&self, durability: Durability) {
        let number = match durability {
            Durability::Process => 1,
            Durability::Relaxed => 2,
            Durability::Strict => 3,
        };
        self.durability.store(number, Ordering::Release);
    }

    /// Whether the header speaks of this working file, and whether that file can be trusted in the given boot. A boot
    /// that cannot be told from others is never the same one.
    pub fn vouches_for(&self, identity: (u64, u64), boot: Option<[u64; 2]>) -> bool {
        let same_file = (self.device.load(Ordering::Acquire), self.inode.load(Ordering::Acquire)) == identity;
        let known = [self.boot[0].load(Ordering::Acquire), self.boot[1].load(Ordering::Acquire)];
        same_file && (boot == Some(known) || self.clean.load(Ordering::Acquire) == 1)
    }

    /// Takes a working file as this store's own, in use during the given boot. The boot is written last, because it is
    /// what makes the rest count.
    pub fn adopt(&self, identity: (u64, u64), boot: [u64; 2]) {
        self.device.store(identity.0, Ordering::Release);
        self.inode.store(identity.1, Ordering::Release);
        self.boot[0].store(boot[0], Ordering::Release);
        self.boot[1].store(boot[1], Ordering::Release);
    }

    /// Whether the header knows of any working file.
    pub fn has_working_file(&self) -> bool {
        self.inode.load(Ordering::Acquire) != 0
    }

    /// Forgets the working file, before a new one is made.
    pub fn disown(&self) {
        self.adopt((0, 0), [0, 0]);
        self.set_reserved(0);
        self.chunked.store(0, Ordering::Release);
        self.set_clean(false);
    }

    /// Leaves or erases the mark that says the working file is whole on the disk.
    pub fn set_clean(&self, clean: bool) {
        self.clean.store(u64::from(clean), Ordering::Release);
    }
}

/// The fields that must be right after a power cut, and the whole of what is mapped, each in the room set aside.
const _: () = {
    assert!(std::mem::offset_of!(Fields, gate) >= SECTOR);
    assert!(std::mem::offset_of!(Fields, durability) < SECTOR - 4);
    assert!(std::mem::size_of::<Fields>() <= SIZE);
};
