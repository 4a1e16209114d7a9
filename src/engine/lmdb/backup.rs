//! A backup: a folder with a header, which keeps the store's durability, and a durable file without holes. Its first opener
//! makes the rest of these, as it does after a restart of the machine.
//!
//! The entries come from a snapshot of the durable file, after all that was committed has been brought there. While that
//! snapshot is held, checkpoints cannot use freed pages again, so the durable file may grow by what they write meanwhile;
//! the working file, which each commit of each writer would make grow, is not held. A store that has no durable file is
//! copied from its working file.

use std::path::Path;
use std::sync::Arc;

use super::durable::{self, Mark, show_all, write_compact};
use super::header::{Facts, Header};
use super::pages::Pages;
use super::sys::{Env, Reader};
use super::{HEADER, PAGE, Shared, check, checkpoint, fault, files, folder, opening, segment};
use crate::engine::{Durability, Report, Visitor};
use crate::error::Result;

/// Writes the backup of an open store into an empty folder, and syncs it.
pub fn write(shared: &Shared, target: &Path, report: &mut Report<'_>) -> Result<()> {
    fault::point("backup-begun");
    match &shared.log {
        Some(log) => {
            checkpoint::catch_up(shared, log, report)?;
            let durable = shared.with_durable(|durable| Ok(Arc::clone(durable)))?;
            copy(shared, durable.env(), target, report)?;
        }
        None => copy(shared, &shared.env, target, report)?,
    }
    fault::point("backup-copied");
    write_header(target, shared.durability)
}

pub fn write_header(target: &Path, durability: Durability) -> Result<()> {
    let path = target.join(HEADER);
    let header = Header::open(&path)?;
    header.fields().set_durability(durability);
    header.sync(&path)
}

fn copy(shared: &Shared, from: &Env, target: &Path, report: &mut Report<'_>) -> Result<()> {
    let mut reader = Reader::begin(from)?;
    // Asked after the snapshot was taken: once values may lie in chunks, that stays so.
    let mark = Mark::fresh(segment::FIRST, shared.header.fields().has_chunks());
    let path = target.join(durable::NAME);
    let source = |visit: &mut Visitor<'_>| show_all(&mut reader, visit);
    write_compact(source, from.tree().0, &path, shared.map_size, mark, report)
}

/// Writes a backup of a store that is at rest, as a backup itself is, without opening it: nothing there is changed.
/// False where it has to be opened, because the log has more than its durable file.
pub fn write_from_rest(path: &Path, target: &Path, report: &mut Report<'_>) -> Result<bool> {
    let durable = path.join(durable::NAME);
    if folder::is_in_use(path)? || !files::exists(&durable)? {
        return Ok(false);
    }
    let header = path.join(HEADER);
    let facts = if files::exists(&header)? { Some(Facts::read(&header)?) } else { None };
    let durability = facts.as_ref().and_then(|facts| facts.durability).unwrap_or(Durability::Relaxed);
    let is_logged = durability != Durability::Process;
    if !is_logged && facts.is_some_and(|facts| opening::is_trusted(&path.join(opening::WORKING), &facts)) {
        return Ok(false);
    }
    let pages = Pages::open(&durable, None)?;
    let mark = check::mark_of(&pages)?;
    if check::count_frames(path, mark.chain)? > 0 {
        return Ok(false);
    }
    let map_size = (pages.count * PAGE * 4).next_power_of_two().max(1 << 30);
    let fresh = Mark::fresh(segment::FIRST, mark.chunks);
    let source = |visit: &mut Visitor<'_>| pages.scan(&[], &[0xFF], visit);
    write_compact(source, pages.meta.main.entries, &target.join(durable::NAME), map_size, fresh, report)?;
    write_header(target, durability)?;
    Ok(true)
}
