//! What makes a write happen once, though its answer may be lost: each session counts its steps in a row of its own, in
//! the transaction of the write. After a broken connection the row tells whether the step was done; and because doing a
//! step changes the row, a late first attempt and a second one cannot both succeed.

use std::hash::{BuildHasher, RandomState};
use std::time::{Instant, SystemTime};

use super::link::Link;
use crate::error::{Error, Result};

/// Stands for the answer of a step that was barred. No value begins so.
const BARRED: &[u8] = &[0xFF];

/// A session's row.
#[derive(Default)]
pub struct Ledger {
    id: Vec<u8>,
    /// The step that was done last.
    done: i64,
    introduced: bool,
}

impl Ledger {
    /// The session's name in its row.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The number of the step that comes now.
    pub fn next(&self) -> i64 {
        self.done + 1
    }

    /// Counts the step as done.
    pub fn count(&mut self) {
        self.done += 1;
    }

    /// Makes sure that there is a row.
    ///
    /// # Errors
    /// What the server answers.
    pub fn introduce(&mut self, link: &mut Link) -> Result<()> {
        if !self.introduced {
            if self.id.is_empty() {
                self.id = random();
            }
            let (id, next) = (&self.id, self.next());
            link.again(async |live| live.client.execute(&live.statements.introduce, &[&&id[..], &next]).await)?;
            self.introduced = true;
        }
        Ok(())
    }

    /// The row is not there any more: it is made again before the next step.
    pub fn is_lost(&mut self) {
        self.introduced = false;
    }

    /// Finds out whether the next step was done by an attempt whose answer was lost, and makes sure that it is not done
    /// from now on. The step counts as used either way.
    ///
    /// # Errors
    /// [`Error::Io`] where the server does not come back in time: then it is not known.
    pub fn settle(&mut self, link: &mut Link, lost: &str) -> Result<bool> {
        let (id, next) = (self.id.clone(), self.next());
        let asked = link.again(async |live| {
            live.client.execute(&live.statements.bar, &[&&id[..], &next, &BARRED]).await?;
            let row = live.client.query_opt(&live.statements.steps, &[&&id[..]]).await?;
            Ok(row.map(|row| (row.get::<_, i64>(0), row.get::<_, Option<Vec<u8>>>(1))))
        });
        match asked {
            // An answer to barring the step may have been lost too, so the row says who took it.
            Ok(Some((step, answer))) if step == next => {
                self.done = next;
                Ok(answer.as_deref() != Some(BARRED))
            }
            Ok(_) => Err(self.unknown(link, lost)),
            Err(error) => Err(self.unknown(link, &format!("{lost}; {error}"))),
        }
    }

    /// Whether the next step was done cannot be found out. A late attempt may still do it, so it is left to this row, and
    /// the session goes on with another one.
    pub fn unknown(&mut self, link: &Link, lost: &str) -> Error {
        *self = Ledger::default();
        super::failure::cannot(
            "cannot tell whether the last write was stored by",
            link.address(),
            format!(
                "the connection broke before the answer came and could not be made again in time ({lost}). Read the value \
                 before you repeat the write"
            ),
        )
    }

    /// Takes the row away.
    pub fn close(&mut self, link: &mut Link) {
        if self.introduced
            && let Some(live) = link.live()
        {
            let id = std::mem::take(&mut self.id);
            link.begin(async move {
                let row: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&id];
                drop(live.client.execute(&live.statements.forget, &row).await);
            });
        }
        self.introduced = false;
    }
}

/// Sixteen bytes that nobody else has.
pub fn random() -> Vec<u8> {
    let half = || RandomState::new().hash_one((std::process::id(), Instant::now(), SystemTime::now())).to_be_bytes();
    [half(), half()].concat()
}
