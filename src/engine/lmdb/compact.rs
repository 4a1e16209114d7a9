//! Making the files of a store as small as what they hold. The durable file is written anew, its pages filled to the brim;
//! then the working file is given up and made again as after a restart of the machine. Whenever this is cut short, the next
//! opening has everything.

use std::path::Path;
use std::sync::atomic::Ordering::Acquire;

use super::durable::{self, Mark, show_all, write_compact};
use super::folder::{Folder, in_use};
use super::opening::{self, Opened};
use super::sys::{Env, Reader, Writer};
use super::{HEADER, Lmdb, PAGE, checkpoint, fault, files, segment, space};
use crate::disk::sync_folder;
use crate::engine::{Options, Report, Visitor};
use crate::error::{Error, Result};

/// Makes the files of a store small. Nobody else may have it open.
///
/// # Errors
/// [`Error::Locked`] where it is in use, [`Error::DiskFull`], or what opening it answers.
pub fn compact(path: &Path, report: &mut Report<'_>) -> Result<()> {
    let path = &path.canonicalize().map_err(|e| Error::io("cannot find the store's folder", path, e))?;
    if !path.join(HEADER).exists() && !path.join(durable::NAME).exists() {
        return Err(Error::Unsupported(format!(
            "{} holds no store of the engine 'lmdb': only those are made small",
            path.display()
        )));
    }
    let place = space::place(path)?;
    let options = Options { create: false, ..Options::default() };
    let (mut folder, ()) = Folder::enter(path, options.timeout, |alone| {
        if !alone {
            return Err(in_use(path));
        }
        let opened = opening::prepare(path, true, place, &options)?;
        write_small_file(path, opened, report)?;
        fault::point("compact-renamed");
        give_up_working_file(path)?;
        fault::point("compact-disowned");
        opening::prepare(path, true, place, &options).map(|_| ())
    })?;
    folder.leave(|_last| {});
    // A store that is closed properly need not be mended after a restart of the machine.
    drop(Lmdb::open(path, &options)?);
    Ok(())
}

/// Puts a small durable file with everything in the place of the one that is there, if any.
fn write_small_file(path: &Path, opened: Opened, report: &mut Report<'_>) -> Result<()> {
    let Opened { env, header, log, durable, map_size, .. } = opened;
    let fields = header.fields();
    let fresh = path.join("durable.new");
    match (log, durable) {
        (Some(log), Some(durable)) => {
            log.resolve(&fields.log, Writer::begin(&env)?.transaction() - 1)?;
            let tail = fields.log.tail.load(Acquire);
            while checkpoint::batch(&durable, path, Some(fields.log.epoch.load(Acquire)), tail)?.is_some() {}
            let mark = durable.mark()?;
            if mark.chain.position < tail {
                return Err(Error::Internal("the durable file could not be brought up".to_owned()));
            }
            write(durable.env(), &fresh, map_size, mark, report)?;
        }
        _ => {
            let position = segment::list(path)?.last().map_or(segment::FIRST, |found| found.end);
            let mark = Mark::fresh(position.next_multiple_of(PAGE), fields.has_chunks());
            write(&env, &fresh, map_size, mark, report)?;
        }
    }
    fault::point("compact-written");
    files::rename(&fresh, &path.join(durable::NAME))?;
    sync_folder(path)
}

fn write(from: &Env, to: &Path, map_size: u64, mark: Mark, report: &mut Report<'_>) -> Result<()> {
    let mut reader = Reader::begin(from)?;
    let source = |visit: &mut Visitor<'_>| show_all(&mut reader, visit);
    write_compact(source, from.tree().0, to, map_size, mark, report)
}

/// Lets the next opening make the working file of the durable one.
fn give_up_working_file(path: &Path) -> Result<()> {
    let header_path = path.join(HEADER);
    let header = super::header::Header::open(&header_path)?;
    header.fields().disown();
    header.sync(&header_path)
}
