//! Putting a backup in the place of a store. The backup is checked first, the copy is written beside its place, and what is
//! in the way is moved aside, never removed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::backup::{ATTACHMENTS, Partial, copy_folder, settle_target};
use crate::check::check;
use crate::engine::{self, Options, Report, lmdb, sled};
use crate::error::{Error, Result};
use crate::fault;
use crate::store::Store;

/// Copies a backup, or any sound store, into the folder `target`, which must not exist or be empty; with `force` a store
/// that is there and not in use is moved aside. Where to, if so. `from` is not changed, unless its log has to be brought in.
///
/// # Errors
/// [`Error::Corrupt`] where the backup is damaged, [`Error::Argument`] where something else than a store is in the way, or a
/// store without `force`, [`Error::Locked`] where that store is in use, [`Error::DiskFull`], the system's answer, or that of
/// `report`. Everything is as it was then.
///
/// ```
/// use caretdb::{engine::Options, restore::restore, store::Store};
/// let folder = tempfile::tempdir()?;
/// let (from, backup, to) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
/// Store::open(Some(&from), &Options::default())?.backup(&backup, None, &mut |_, _| Ok(()))?;
/// assert_eq!(restore(&backup, &to, false, &mut |_, _| Ok(()))?, None);
/// assert!(restore(&backup, &to, true, &mut |_, _| Ok(()))?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn restore(from: &Path, target: &Path, force: bool, report: &mut Report<'_>) -> Result<Option<PathBuf>> {
    let from = from.canonicalize().map_err(|e| Error::io("cannot find the backup", from, e))?;
    require_sound(&from, report)?;
    let (target, occupied) = match settle_target(target) {
        Ok(target) => (target, false),
        Err(error) if !force || !target.is_dir() => return Err(error),
        Err(_) => (target.canonicalize().map_err(|e| Error::io("cannot find", target, e))?, true),
    };
    if target.starts_with(&from) || from.starts_with(&target) {
        return Err(Error::Argument("the backup and the folder to restore it to must not hold each other".to_owned()));
    }
    let guard = if occupied { Some(Replaced::of(&target)?) } else { None };
    let partial = Partial::make(&target)?;
    if from.join(sled::FOLDER).exists() || !lmdb::write_from_rest(&from, &partial.path, report)? {
        let engine = if from.join(sled::FOLDER).exists() { "sled" } else { "lmdb" };
        let options = Options { engine: engine.to_owned(), create: false, ..Options::default() };
        Store::open(Some(&from), &options)?.write_backup(&partial.path, report)?;
    }
    let attachments = from.join(ATTACHMENTS);
    if attachments.exists() {
        copy_folder(&attachments, &partial.path.join(ATTACHMENTS), &mut || report(0, 0))?;
    }
    let Some(guard) = guard else { return partial.finish(&target).map(|()| None) };
    let aside = guard.move_aside(&target)?;
    fault::point("restore-aside");
    if let Err(error) = partial.finish(&target) {
        let _ = fs::rename(&aside, &target);
        return Err(error);
    }
    Ok(Some(aside))
}

fn require_sound(from: &Path, report: &mut Report<'_>) -> Result<()> {
    let found = check(from, report)?;
    match found.damage.first() {
        None => Ok(()),
        Some(damage) => Err(Error::Corrupt {
            path: from.to_path_buf(),
            what: format!("{}: {}. Restore another backup; caretdb check tells more", damage.file, damage.what),
        }),
    }
}

/// A store that is about to be moved aside: nobody has it open, and of the default engine nobody opens it meanwhile.
struct Replaced {
    _alone: Option<lmdb::Alone>,
}

impl Replaced {
    fn of(target: &Path) -> Result<Replaced> {
        if target.join(lmdb::HEADER).exists() {
            return Ok(Replaced { _alone: Some(lmdb::Alone::with(target)?) });
        }
        if !target.join(sled::FOLDER).exists() {
            return Err(Error::Argument(format!(
                "{} holds something that is no store: name another folder, or move that elsewhere",
                target.display()
            )));
        }
        let options = Options { engine: "sled".to_owned(), create: false, ..Options::default() };
        drop(engine::open(target, &options)?);
        Ok(Replaced { _alone: None })
    }

    /// Gives the store a name that nothing has.
    fn move_aside(&self, target: &Path) -> Result<PathBuf> {
        let free = (1..)
            .map(|number: u32| {
                let mut name = target.as_os_str().to_owned();
                name.push(format!(".replaced-{number}"));
                PathBuf::from(name)
            })
            .find(|name| !name.exists());
        let free = free.ok_or_else(|| Error::Internal("no name is left for a store put aside".to_owned()))?;
        fs::rename(target, &free).map_err(|e| Error::io("cannot move aside", target, e))?;
        Ok(free)
    }
}
