//! Whether a store is sound: its files, every key, every value, and the entries of its indexes against the documents.
//! Nothing is changed, and damage of whatever kind is told and never ends the process.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::spell;
use crate::engine::lmdb::check::{Listener, Look, look};
use crate::engine::{self, Flow, Options, Range, Report, sled};
use crate::error::{Error, Result};
use crate::index::{Get, Known};
use crate::key::{self, Key, Subscript};
use crate::value::Value;

/// How many places of damage are named; the others are counted.
const NAMED: usize = 100;

/// What a check found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Pages of all files that were looked at.
    pub pages: u64,
    /// Nodes with a value.
    pub nodes: u64,
    /// Globals.
    pub globals: u64,
    /// Indexes.
    pub indexes: u64,
    /// Their entries.
    pub index_entries: u64,
    /// Transactions of the log that the next opening brings into the durable file.
    pub waiting: u64,
    /// The first places that are damaged.
    pub damage: Vec<Damage>,
    /// How many there are.
    pub damaged: u64,
}

/// A place that is damaged.
#[derive(Debug)]
pub struct Damage {
    /// The file's name, where the engine has files of its own.
    pub file: String,
    /// Which nodes it concerns, as far as that is known.
    pub nodes: String,
    /// What is wrong.
    pub what: String,
}

impl Findings {
    fn note(&mut self, file: &str, nodes: String, what: &str) {
        self.damaged += 1;
        if self.damage.len() < NAMED {
            self.damage.push(Damage { file: file.to_owned(), nodes, what: what.to_owned() });
        }
    }
}

/// Checks the store in a folder, which may be in use.
///
/// # Errors
/// [`Error::Io`] where there is no store, [`Error::Format`], [`Error::Locked`] and [`Error::Busy`] where it cannot be looked
/// at now, or the answer of `report`. Damage is no error: see [`Findings::damage`].
///
/// ```
/// use caretdb::{check::check, engine::Options, store::Store};
/// let folder = tempfile::tempdir()?;
/// drop(Store::open(Some(folder.path()), &Options::default())?);
/// assert_eq!(check(folder.path(), &mut |_done, _of| Ok(()))?.damaged, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: &Path, report: &mut Report<'_>) -> Result<Findings> {
    let has = |name: &str| path.join(name).exists();
    let mut findings = Findings::default();
    if has(sled::FOLDER) {
        check_sled(path, &mut findings, report)?;
    } else if has(engine::lmdb::HEADER) || has("durable.mdb") || has("working.mdb") {
        look(path, &mut Files(&mut findings), report)?;
    } else {
        return Err(Error::io("cannot find a store in", path, std::io::ErrorKind::NotFound.into()));
    }
    Ok(findings)
}

/// What is found in LMDB's files.
struct Files<'a>(&'a mut Findings);

impl Listener for Files<'_> {
    fn damage(&mut self, file: &Path, what: String, between: Option<(Vec<u8>, Vec<u8>)>) {
        let nodes = between.map_or_else(String::new, |(low, high)| match (low.is_empty(), high.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("before {}", spell_near(&high)),
            (false, true) => format!("from {} on", spell_near(&low)),
            (false, false) => format!("from {} to {}", spell_near(&low), spell_near(&high)),
        });
        self.0.note(&name_of(file), nodes, &what);
    }

    fn file(&mut self, file: &Path, pages: u64, look: &Look<'_>) -> Result<()> {
        let findings = &mut *self.0;
        findings.pages += pages;
        let name = name_of(file);
        let mut contents = Contents::default();
        let (start, end) = Known::stretch();
        look.scan(&start, &end, &mut |key, stored| contents.define(findings, &name, key, stored), &mut |_, _| {})?;
        let mut broken = Vec::new();
        let mut get = |key: &[u8], value: &mut Vec<u8>| look.get(key, value);
        look.scan(
            &[],
            &[0xFF],
            &mut |key, stored| contents.take(findings, &name, key, stored, &mut get),
            &mut |key, what| broken.push((spell_near(key), what.to_owned())),
        )?;
        for (nodes, what) in broken {
            findings.note(&name, nodes, &what);
        }
        contents.count(findings);
        Ok(())
    }

    fn waiting(&mut self, transactions: u64) {
        self.0.waiting = transactions;
    }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Spells a key that may be damaged.
fn spell_near(bytes: &[u8]) -> String {
    match key::split(bytes) {
        Some(_) => spell(bytes),
        None => format!("the key {:02x?}", &bytes[..bytes.len().min(32)]),
    }
}

/// sled verifies its own records when it reads them, and must not be in use elsewhere.
fn check_sled(path: &Path, findings: &mut Findings, report: &mut Report<'_>) -> Result<()> {
    let options = Options { engine: "sled".to_owned(), create: false, ..Options::default() };
    let opened = engine::open(path, &options)?;
    let (mut session, mut other) = (opened.session()?, opened.session()?);
    let mut contents = Contents::default();
    let (start, end) = Known::stretch();
    session.scan(Range::entries(&start, &end), &mut |key, stored| {
        contents.define(findings, sled::FOLDER, key, stored)?;
        Ok(Flow::Continue)
    })?;
    let (mut done, total) = (0, opened.stats()?.entries);
    session.scan(Range::entries(&[], &[0xFF]), &mut |key, stored| {
        done += 1;
        report(done, total.max(done))?;
        contents.take(findings, sled::FOLDER, key, stored, &mut |key, value| other.get(key, value))?;
        Ok(Flow::Continue)
    })?;
    contents.count(findings);
    Ok(())
}

/// The nodes of a store on their way past.
#[derive(Default)]
struct Contents {
    indexes: Known,
    globals: BTreeSet<String>,
    nodes: u64,
    rebuilt: Key,
}

impl Contents {
    fn define(&mut self, findings: &mut Findings, file: &str, key: &[u8], stored: &[u8]) -> Result<()> {
        if let Some(what) = self.indexes.define(key, stored) {
            findings.note(file, spell_near(key), &what);
        }
        Ok(())
    }

    fn take(
        &mut self,
        findings: &mut Findings,
        file: &str,
        key: &[u8],
        stored: &[u8],
        get: &mut Get<'_>,
    ) -> Result<()> {
        self.nodes += 1;
        if !self.is_key(key) {
            findings.note(file, spell_near(key), "it is no key of a node");
            return Ok(());
        }
        if let Err(error) = Value::read(stored) {
            findings.note(file, spell_near(key), &error.to_string());
            return Ok(());
        }
        if let Some(what) = self.indexes.look(key, stored, get)? {
            findings.note(file, spell_near(key), &what);
        }
        Ok(())
    }

    /// Whether a key is exactly what its name and subscripts are encoded as.
    fn is_key(&mut self, bytes: &[u8]) -> bool {
        let Some((name, mut rest)) = key::split(bytes) else { return false };
        if self.rebuilt.global(name).is_err() {
            return false;
        }
        if !self.globals.contains(name) {
            self.globals.insert(name.to_owned());
        }
        while !rest.is_empty() {
            let Some((length, subscript)) = key::first_subscript(rest) else { return false };
            let added = match &subscript {
                Subscript::Number(number) => self.rebuilt.decimal(number),
                Subscript::Text(text) => self.rebuilt.raw(text.as_bytes()),
                Subscript::Bytes(bytes) => self.rebuilt.raw(bytes),
            };
            if added.is_err() {
                return false;
            }
            rest = &rest[length..];
        }
        self.rebuilt.as_bytes() == bytes
    }

    /// Adds up what was seen. Of several files of a store, the last one counts.
    fn count(self, findings: &mut Findings) {
        findings.nodes = self.nodes;
        findings.globals = self.globals.len() as u64;
        findings.indexes = self.indexes.count() as u64;
        findings.index_entries = self.indexes.seen;
    }
}
