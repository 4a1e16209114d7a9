//! The header of a store: a small file mapped by every process that has the store open. It holds what they must agree
//! on: the size of the map, how far disk blocks are reserved, the gate of the writers, and whose working file this is.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::MmapRaw;

use super::gate::SharedMutex;
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
    /// Who may write.
    pub gate: SharedMutex,
}

/// The room set aside for [`Fields`], so that later versions can add some.
const SIZE: usize = 4096;

/// The mapped header.
pub struct Header {
    map: MmapRaw,
    file: File,
}

impl Header {
    /// Maps the header in `path`. True when it was made just now. The caller holds the open lock.
    pub fn open(path: &Path) -> Result<(Header, bool)> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| Error::io("cannot open", path, e))?;
        let length = file.metadata().map_err(|e| Error::io("cannot read", path, e))?.len();
        let fresh = length == 0;
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
        Ok((header, fresh))
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

    /// Whether any value may lie in chunks.
    #[inline]
    pub fn has_chunks(&self) -> bool {
        self.chunked.load(Ordering::Acquire) != 0
    }

    /// Says that values may lie in chunks from now on.
    pub fn set_has_chunks(&self) {
        self.chunked.store(1, Ordering::Release);
    }

    /// Whether the header speaks of this working file, and whether that file can be trusted in the given boot.
    pub fn vouches_for(&self, identity: (u64, u64), boot: [u64; 2]) -> bool {
        let same_file = (self.device.load(Ordering::Acquire), self.inode.load(Ordering::Acquire)) == identity;
        let same_boot = [self.boot[0].load(Ordering::Acquire), self.boot[1].load(Ordering::Acquire)] == boot;
        same_file && (same_boot || self.clean.load(Ordering::Acquire) == 1)
    }

    /// Takes a working file as this store's own, in use during the given boot. The boot is written last, because it is
    /// what makes the rest count.
    pub fn adopt(&self, identity: (u64, u64), boot: [u64; 2]) {
        self.device.store(identity.0, Ordering::Release);
        self.inode.store(identity.1, Ordering::Release);
        self.boot[0].store(boot[0], Ordering::Release);
        self.boot[1].store(boot[1], Ordering::Release);
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
