//! Changing one value with nobody in between, without a lock: the change is made for what the value is thought to be, and
//! stored if it was that.

use std::sync::Arc;

use super::{ANY, PostgresSession, check};
use crate::engine::postgres::failure::Trouble;
use crate::engine::postgres::link;
use crate::engine::{Change, Session};
use crate::error::{Error, Result};
use crate::patience::Retry;

/// How many successors of a value are tried in one statement, and up to which length.
const GUESSES: usize = 8;
const SHORT: usize = 64;
/// How many values a session remembers for its next calculation.
const REMEMBERED: usize = 256;
/// Values above are changed in a transaction, since they would go over the line for the comparison too.
const COMPARED: usize = 64 << 10;

impl PostgresSession {
    /// Replaces a value by its successor where nobody changed it meanwhile, and tries again where somebody did.
    /// `guesses` says whether the change may be asked about values that are not stored.
    pub(super) fn change_alone(&mut self, key: &[u8], change: &mut Change<'_>, guesses: bool) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let _queue = shared.queues.enter(key, self.timeout)?;
        let mut retry = Retry::new(self.timeout);
        let mut lost: Option<String> = None;
        let mut known = self.remembered.remove(key);
        let mut is_sure = false;
        if !guesses {
            known = self.link.again(async |live| {
                let row = live.client.query_opt(&live.statements.get, &[&key]).await?;
                Ok(row.map(|row| row.get(0)))
            })?;
            is_sure = true;
        }
        loop {
            if known.as_ref().is_some_and(|value| value.len() > COMPARED) {
                return self.change_in_transaction(key, change);
            }
            let chain = match chain(known.as_deref(), change, if guesses { GUESSES } else { 1 }) {
                Ok(chain) => chain,
                // It was asked about a value that may not be there.
                Err(_) if !is_sure => {
                    known = self.link.again(async |live| {
                        let row = live.client.query_opt(&live.statements.get, &[&key]).await?;
                        Ok(row.map(|row| row.get(0)))
                    })?;
                    is_sure = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if chain.iter().any(|(_, next)| next.len() > COMPARED) {
                return self.change_in_transaction(key, change);
            }
            self.ledger.introduce(&mut self.link)?;
            match self.try_change(key, &chain) {
                Ok(Tried::Done(value)) => {
                    self.ledger.count();
                    let at = chain.iter().position(|(_, next)| *next == value);
                    let Some(at) = at else {
                        return Err(Error::Internal("a calculation came to another end".to_owned()));
                    };
                    if at + 1 < chain.len() || guesses {
                        // The last call is the one that counts.
                        change(chain[at].0.as_deref(), &mut Vec::new())?;
                    }
                    if self.remembered.len() >= REMEMBERED {
                        self.remembered.clear();
                    }
                    if guesses {
                        self.remembered.insert(key.to_vec(), value);
                    }
                    return Ok(());
                }
                Ok(Tried::Stranger) => {
                    self.ledger.is_lost();
                    if let Some(what) = lost {
                        return Err(self.ledger.unknown(&self.link, &what));
                    }
                }
                Ok(Tried::Other(present)) => {
                    // A wrong guess is no sign of others.
                    if is_sure && !retry.goes_on() {
                        return Err(link::error(
                            Trouble::Conflict("others changed the value all the time".to_owned()),
                            self.link.address(),
                        ));
                    }
                    known = present;
                    is_sure = true;
                }
                Err(trouble) => {
                    if let Trouble::Broken(what) = &trouble {
                        lost = Some(what.clone());
                    }
                    if let Err(error) = link::rest_after(trouble, &mut retry, self.link.address()) {
                        return Err(match lost {
                            Some(what) => self.ledger.unknown(&self.link, &what),
                            None => error,
                        });
                    }
                }
            }
        }
    }

    fn try_change(&mut self, key: &[u8], chain: &[Successor]) -> std::result::Result<Tried, Trouble> {
        let (id, next, expected) = (self.ledger.id().to_vec(), self.ledger.next(), self.expected);
        let row = self.link.attempt(async |live| match &chain[0].0 {
            None => {
                let statement = &live.statements.create;
                live.client.query_one(statement, &[&&id[..], &next, &expected, &key, &chain[0].1]).await
            }
            Some(_) => {
                let olds: Vec<&[u8]> = chain.iter().filter_map(|(old, _)| old.as_deref()).collect();
                let news: Vec<&[u8]> = chain.iter().map(|(_, new)| &new[..]).collect();
                let statement = &live.statements.change;
                live.client.query_one(statement, &[&&id[..], &next, &expected, &key, &olds, &news]).await
            }
        })?;
        let (changed, present): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(0), row.get(1));
        let (step, answer): (Option<i64>, Option<Vec<u8>>) = (row.get(2), row.get(3));
        match (changed, step, answer) {
            (Some(value), ..) => Ok(Tried::Done(value)),
            // An earlier attempt did it, and its answer was lost.
            (None, Some(step), Some(answer)) if step == next => Ok(Tried::Done(answer)),
            (None, None, _) => Ok(Tried::Stranger),
            _ => match self.outdated(row.get(4)) {
                Ok(()) => Ok(Tried::Other(present)),
                Err(error) => Err(Trouble::Fatal(error)),
            },
        }
    }

    /// The same for large values.
    fn change_in_transaction(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        let mut retry = Retry::new(self.timeout);
        self.ledger.introduce(&mut self.link)?;
        loop {
            self.open(None)?;
            let changed = self.outdated(self.transaction.as_ref().map_or(ANY, |open| open.definitions));
            let changed = changed.and_then(|()| self.update_inside(key, change)).and_then(|()| self.close());
            match changed {
                Ok(()) => return Ok(()),
                Err(Error::Conflict(what)) => {
                    self.abort();
                    link::rest_after(Trouble::Conflict(what), &mut retry, self.link.address())?;
                }
                Err(error) => {
                    self.abort();
                    return Err(error);
                }
            }
        }
    }

    pub(super) fn update_inside(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<()> {
        let mut known = Vec::new();
        let old = self.get(key, &mut known)?.then_some(known);
        let mut next = Vec::new();
        change(old.as_deref(), &mut next)?;
        self.put(key, &next)
    }
}

/// What came of trying to change a value.
enum Tried {
    /// This is stored now.
    Done(Vec<u8>),
    /// Something else was there.
    Other(Option<Vec<u8>>),
    /// The server does not know the session.
    Stranger,
}

/// Values and their successors.
type Chain = Vec<Successor>;
type Successor = (Option<Vec<u8>>, Vec<u8>);

/// A value and its successor, and theirs, as far as it is worth it.
fn chain(known: Option<&[u8]>, change: &mut Change<'_>, most: usize) -> Result<Chain> {
    let mut chain = Chain::new();
    let mut old = known.map(<[u8]>::to_vec);
    loop {
        let mut next = Vec::new();
        match change(old.as_deref(), &mut next).and_then(|()| check(&next)) {
            Ok(()) => {}
            Err(_) if !chain.is_empty() => break,
            Err(error) => return Err(error),
        }
        let goes_on = old.is_some() && next.len() <= SHORT && chain.len() + 1 < most && old.as_ref() != Some(&next);
        chain.push((old, next.clone()));
        if !goes_on {
            break;
        }
        old = Some(next);
    }
    Ok(chain)
}
