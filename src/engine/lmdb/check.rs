//! The files of a store looked at without changing them: the pages with plain reads, the large values put together again,
//! and what the log has beyond the durable file.
//!
//! A store that is in use is joined as its other users join it, and one state of its file is kept while it is looked at. One
//! at rest is not joined, since that would change it; whoever looks makes sure afterwards that it still was at rest.

use std::path::Path;
use std::time::Duration;

use super::durable::{self, MARK, Mark};
use super::folder::{self, Folder};
use super::frame::Chain;
use super::header::Facts;
use super::pages::Pages;
use super::replay::Replay;
use super::structure;
use super::sys::{Env, Reader, Syncing};
use super::{HEADER, chunks, files, opening};
use crate::engine::{Durability, Flow, Report};
use crate::error::{Error, Result};

/// What a check hears of.
pub trait Listener {
    /// Something is damaged: in which file, what, and between which keys as far as that is known; empty ones are open ends.
    fn damage(&mut self, file: &Path, what: String, between: Option<(Vec<u8>, Vec<u8>)>);

    /// A file is sound; these are its pages. Its nodes follow.
    fn file(&mut self, file: &Path, pages: u64, look: &Look<'_>) -> Result<()>;

    /// The log has transactions that the durable file does not have yet.
    fn waiting(&mut self, transactions: u64);
}

/// What is shown a node's key and value.
pub type See<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// A sound file.
pub struct Look<'a> {
    pages: &'a Pages,
}

impl Look<'_> {
    /// Reads the whole value of a node.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let mut head = Vec::new();
        if !self.pages.get(key, &mut head)? {
            return Ok(false);
        }
        value.clear();
        if !chunks::is_head(&head) {
            value.extend_from_slice(&head);
            return Ok(true);
        }
        let (start, end) = chunks::stretch(key);
        self.pages.scan(&start, &end, &mut |_, chunk| {
            value.extend_from_slice(chunk.get(1..).unwrap_or_default());
            Ok(Flow::Continue)
        })?;
        Ok(true)
    }

    /// Shows the nodes of a stretch with their whole values, and to `broken` what is wrong with large ones.
    ///
    /// # Errors
    /// Damage, the system's answer, or the visitors' errors.
    pub fn scan(
        &self,
        start: &[u8],
        end: &[u8],
        visit: &mut See<'_>,
        broken: &mut dyn FnMut(&[u8], &str),
    ) -> Result<()> {
        let mut large: Option<Large> = None;
        self.pages.scan(start, end, &mut |key, stored| {
            if let Some(value) = &mut large {
                if value.takes(key, stored) {
                    return Ok(Flow::Continue);
                }
                value.end(visit, broken)?;
                large = None;
            }
            if chunks::is_head(stored) {
                large = Some(Large::begin(key, stored));
            } else if chunks::is_chunk(stored) {
                broken(key, "it is a piece of a large value that is not there");
            } else if key != MARK {
                visit(key, stored)?;
            }
            Ok(Flow::Continue)
        })?;
        match large {
            Some(value) => value.end(visit, broken),
            None => Ok(()),
        }
    }
}

/// A large value whose chunks are coming in.
struct Large {
    node: Vec<u8>,
    length: Option<usize>,
    value: Vec<u8>,
    next: u32,
    whole: bool,
}

impl Large {
    fn begin(key: &[u8], head: &[u8]) -> Large {
        let length = head.get(1..9).filter(|_| head.len() == 9).and_then(|bytes| bytes.try_into().ok());
        let length = length.and_then(|bytes| usize::try_from(u64::from_le_bytes(bytes)).ok());
        let length = length.filter(|length| (chunks::INLINE + 1..=chunks::MAX_VALUE).contains(length));
        Large { node: key.to_vec(), length, value: Vec::new(), next: 0, whole: true }
    }

    /// Takes a chunk, where the entry is one of this value.
    fn takes(&mut self, key: &[u8], stored: &[u8]) -> bool {
        if !chunks::is_chunk(stored) || chunks::node_of(key) != self.node {
            return false;
        }
        let expected = self.length.unwrap_or(0).saturating_sub(self.value.len()).min(chunks::INLINE - 1);
        self.whole &= key.ends_with(&self.next.to_be_bytes()) && stored.len() - 1 == expected && expected > 0;
        self.value.extend_from_slice(&stored[1..]);
        self.next = self.next.saturating_add(1);
        true
    }

    fn end(&self, visit: &mut See<'_>, broken: &mut dyn FnMut(&[u8], &str)) -> Result<()> {
        if self.whole && self.length == Some(self.value.len()) {
            return visit(&self.node, &self.value);
        }
        broken(&self.node, "pieces of its large value are missing or out of place");
        Ok(())
    }
}

/// Looks at the files of the store in a folder.
///
/// # Errors
/// [`Error::Corrupt`] and [`Error::Format`] where not even a beginning can be made, [`Error::Io`], [`Error::Locked`].
pub fn look(path: &Path, listener: &mut dyn Listener, report: &mut Report<'_>) -> Result<()> {
    if folder::is_in_use(path)? {
        let joined =
            Folder::enter(
                path,
                Some(Duration::from_secs(10)),
                |alone| if alone { Err(Error::Outdated) } else { Ok(()) },
            );
        match joined {
            Ok((mut joined, ())) => {
                let looked = look_in_use(path, listener, report);
                joined.leave(|_last| {});
                return looked;
            }
            // The others have just gone.
            Err(Error::Outdated) => {}
            Err(error) => return Err(error),
        }
    }
    look_at_rest(path, listener, report)?;
    if folder::is_in_use(path)? {
        return Err(Error::Busy(format!("{} was opened while it was looked at: check it again", path.display())));
    }
    Ok(())
}

/// The file that counts while others write, at one state that is kept.
fn look_in_use(path: &Path, listener: &mut dyn Listener, report: &mut Report<'_>) -> Result<()> {
    let facts = Facts::read(&path.join(HEADER))?;
    let name = if facts.durability == Some(Durability::Process) { opening::WORKING } else { durable::NAME };
    let file = path.join(name);
    let syncing = if name == durable::NAME { Syncing::EveryCommit } else { Syncing::NeverMapped };
    let env = Env::open(&file, facts.map_size, super::MAX_READERS, syncing)?;
    for _ in 0..100 {
        let reader = Reader::begin(&env)?;
        match Pages::open(&file, Some(reader.transaction())) {
            Err(Error::Busy(_)) => {}
            Err(error) => return refuse(&file, error, listener),
            Ok(pages) => return look_at(&pages, listener, report),
        }
    }
    Err(Error::Busy(format!("{} changes too fast to be looked at: try again", path.display())))
}

fn look_at_rest(path: &Path, listener: &mut dyn Listener, report: &mut Report<'_>) -> Result<()> {
    let (header, durable, working) = (path.join(HEADER), path.join(durable::NAME), path.join(opening::WORKING));
    let has_durable = files::exists(&durable)?;
    let facts = match Facts::read(&header) {
        Ok(facts) => Some(facts),
        // A durable file alone is a store too.
        Err(Error::Io { .. }) if has_durable && !files::exists(&header)? => None,
        Err(error) => {
            refuse(&header, error, listener)?;
            None
        }
    };
    let trusted = facts.as_ref().is_some_and(|facts| opening::is_trusted(&working, facts));
    let is_logged = facts.as_ref().is_none_or(|facts| facts.durability != Some(Durability::Process));
    if !has_durable && !trusted {
        let what = "its file is missing. Put it back, or restore a backup into an empty folder";
        let file = if is_logged { durable } else { working };
        return refuse(&file, Error::Corrupt { path: file.clone(), what: what.to_owned() }, listener);
    }
    if is_logged || !trusted {
        match Pages::open(&durable, None) {
            Err(error) => refuse(&durable, error, listener)?,
            Ok(pages) => {
                look_at(&pages, listener, report)?;
                look_at_log(path, &pages, listener)?;
            }
        }
    }
    if trusted {
        match Pages::open(&working, None) {
            Err(error) => refuse(&working, error, listener)?,
            Ok(pages) => look_at(&pages, listener, report)?,
        }
    }
    Ok(())
}

/// Damage is something to hear of; all else ends the check.
fn refuse(file: &Path, error: Error, listener: &mut dyn Listener) -> Result<()> {
    match error {
        Error::Corrupt { what, .. } => {
            let what = what.split(". ").next().unwrap_or_default().to_owned();
            listener.damage(file, what, None);
            Ok(())
        }
        error => Err(error),
    }
}

fn look_at(pages: &Pages, listener: &mut dyn Listener, report: &mut Report<'_>) -> Result<()> {
    let (mut done, mut flawed, total) = (0, false, pages.meta.last_page + 1);
    structure::verify(
        pages,
        &mut |_page| {
            done += 1;
            report(done, total.max(done))
        },
        &mut |flaw| {
            flawed = true;
            listener.damage(pages.path(), flaw.what, flaw.between);
            Ok(())
        },
    )?;
    if pages.path().ends_with(durable::NAME)
        && let Err(error) = mark_of(pages)
    {
        flawed = true;
        refuse(pages.path(), error, listener)?;
    }
    if flawed { Ok(()) } else { listener.file(pages.path(), total, &Look { pages }) }
}

/// What a durable file says about itself.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Format`].
pub(super) fn mark_of(pages: &Pages) -> Result<Mark> {
    let mut bytes = Vec::new();
    pages.get(MARK, &mut bytes)?;
    Mark::read(&bytes, pages.path())
}

/// How many transactions of the log the durable file does not have.
fn look_at_log(path: &Path, durable: &Pages, listener: &mut dyn Listener) -> Result<()> {
    if let Ok(mark) = mark_of(durable) {
        let count = count_frames(path, mark.chain)?;
        if count > 0 {
            listener.waiting(count);
        }
    }
    Ok(())
}

/// How many frames of the log follow a chain.
pub(super) fn count_frames(path: &Path, chain: Chain) -> Result<u64> {
    let mut replay = Replay::new(path, chain, u64::MAX)?;
    let mut count = 0;
    while replay.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Makes sure that a durable file says how much of the log it holds, before LMDB maps it.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Format`].
pub(super) fn require_mark(path: &Path) -> Result<()> {
    if files::exists(path)? {
        mark_of(&Pages::open(path, None)?)?;
    }
    Ok(())
}
