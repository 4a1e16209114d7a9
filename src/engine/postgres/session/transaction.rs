//! The session's transaction. Its writes are sent without waiting; what is wrong with one shows at a later statement.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::JoinHandle;

use super::{PIECE_BYTES, PostgresSession, again, none_open};
use crate::engine::Session;
use crate::engine::postgres::failure::Trouble;
use crate::engine::postgres::ledger::Ledger;
use crate::engine::postgres::link::{self, Live};
use crate::engine::postgres::turns::pair;
use crate::engine::postgres::window::Window;
use crate::engine::postgres::writers::Turn;
use crate::error::{Error, Result};

/// So many writes of a transaction may be on their way without an answer.
const UNANSWERED: usize = 128;

type Answer = std::result::Result<(), tokio_postgres::Error>;
pub(super) type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The open transaction.
pub(super) struct Transaction {
    _turn: Turn,
    pub(super) live: Arc<Live>,
    pub(super) definitions: i64,
    /// The answers that are still to come, in order.
    unanswered: Vec<JoinHandle<Answer>>,
    bytes: usize,
    wrote: bool,
    /// What it read with its beginning.
    window: Option<Window>,
    /// Why it can only be undone.
    failed: Option<Error>,
}

impl PostgresSession {
    /// Runs a statement of the open transaction, and keeps its failure.
    pub(super) fn inside<T>(
        &mut self,
        work: impl AsyncFnOnce(&Live) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let Some(transaction) = &mut self.transaction else { return Err(none_open()) };
        if let Some(error) = &transaction.failed {
            return Err(again(error));
        }
        self.link.attempt_on(&transaction.live, async |live| work(live).await).map_err(|trouble| self.doom(trouble))
    }

    /// The transaction has failed: it tells so from now on, and is undone at its end.
    pub(super) fn doom(&mut self, trouble: Trouble) -> Error {
        let address = Arc::clone(self.link.address());
        let Some(transaction) = &mut self.transaction else { return link::error(trouble, &address) };
        // The first failure says why; the later ones only that there was one.
        let first = self.link.gather(std::mem::take(&mut transaction.unanswered)).err();
        let error = match first.unwrap_or(trouble) {
            // It was not committed, so nothing of it is stored.
            Trouble::Broken(what) => link::error(Trouble::Conflict(what), &address),
            other => link::error(other, &address),
        };
        transaction.failed = Some(again(&error));
        error
    }

    /// Sends a write of the open transaction. What is wrong with it shows at a later statement, at the latest at the
    /// commit.
    pub(super) fn send(&mut self, bytes: usize, work: impl FnOnce(Arc<Live>) -> Pending) -> Result<()> {
        self.changed += 1;
        self.ahead.forget();
        let Some(transaction) = &mut self.transaction else { return Err(none_open()) };
        if let Some(error) = &transaction.failed {
            return Err(again(error));
        }
        let pending = work(Arc::clone(&transaction.live));
        transaction.unanswered.push(self.link.begin(pending));
        transaction.wrote = true;
        transaction.bytes += bytes;
        let is_much = transaction.unanswered.len() >= UNANSWERED || transaction.bytes >= PIECE_BYTES;
        if is_much { self.catch_up() } else { Ok(()) }
    }

    /// Waits for the answers to what was sent.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        transaction.bytes = 0;
        let answers = std::mem::take(&mut transaction.unanswered);
        self.link.gather(answers).map_err(|trouble| self.doom(trouble))
    }

    /// Opens the transaction.
    pub(super) fn open(&mut self, turn: Option<Turn>) -> Result<()> {
        let turn = match turn {
            Some(turn) => turn,
            None => self.shared.writers.again(),
        };
        self.link.set_timeout(self.timeout);
        let foreseen = self.foreseen.take();
        let (live, definitions, window) = self.link.again(async |live| {
            let begin = live.client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE");
            let asked = pair(begin, live.client.query_one(&live.statements.definitions, &[]));
            let window = async {
                let Some((start, end)) = &foreseen else { return Ok(None) };
                Window::read(live, start, end).await.map(Some)
            };
            let ((begun, asked), window) = pair(asked, window).await;
            begun?;
            match (asked, window) {
                (Ok(asked), Ok(window)) => Ok((Arc::clone(live), asked.get::<_, i64>(0), window)),
                (Err(error), _) | (_, Err(error)) => {
                    let _ = live.client.batch_execute("ROLLBACK").await;
                    Err(error)
                }
            }
        })?;
        self.transaction = Some(Transaction {
            _turn: turn,
            live,
            definitions,
            unanswered: Vec::new(),
            bytes: 0,
            wrote: false,
            window,
            failed: None,
        });
        self.ahead.forget();
        Ok(())
    }

    /// What the open transaction read with its beginning, as its writes have left it.
    pub(super) fn window(&self) -> Option<&Window> {
        self.transaction.as_ref().filter(|open| open.failed.is_none())?.window.as_ref()
    }

    /// Has the window take over a write, or gives it up.
    pub(super) fn keep_window(&mut self, write: impl FnOnce(&mut Window) -> bool) {
        if let Some(open) = &mut self.transaction {
            open.window.take_if(|window| !write(window));
        }
    }

    /// Commits the transaction.
    pub(super) fn close(&mut self) -> Result<()> {
        let wrote = self.transaction.as_ref().is_some_and(|open| open.wrote && open.failed.is_none());
        if !wrote {
            let failed = self.transaction.as_mut().and_then(|open| open.failed.take());
            let ended = if failed.is_none() {
                self.inside(async |live| live.client.batch_execute("COMMIT").await)
            } else {
                Ok(())
            };
            if failed.is_some() || ended.is_err() {
                self.abort();
            }
            self.end();
            return failed.map_or(ended, Err);
        }
        let (id, next) = (self.ledger.id().to_vec(), self.ledger.next());
        let Some(open) = &mut self.transaction else { return Err(none_open()) };
        let live = Arc::clone(&open.live);
        let answers = std::mem::take(&mut open.unanswered);
        let committed = self.link.attempt_on(&live, async |live| {
            let ledger: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&&id[..], &next];
            let step = live.client.execute(&live.statements.step, &ledger);
            let (step, commit) = pair(step, live.client.batch_execute("COMMIT")).await;
            // What was sent before answers first, and says why where it failed.
            link::first_failure(answers).await?;
            let counted = step?;
            commit?;
            Ok(counted)
        });
        let address = Arc::clone(self.link.address());
        let outcome = match committed {
            Ok(1) => Ok(()),
            // It is committed, but the row was cleared away as one of a session long gone.
            Ok(_) => {
                self.ledger = Ledger::default();
                self.end();
                return Ok(());
            }
            Err(Trouble::Broken(what)) => match self.ledger.settle(&mut self.link, &what) {
                Ok(true) => {
                    self.end();
                    return Ok(());
                }
                Ok(false) => Err(link::error(Trouble::Conflict(what), &address)),
                Err(error) => Err(error),
            },
            Err(trouble) => Err(self.doom(trouble)),
        };
        if outcome.is_ok() {
            self.ledger.count();
        }
        self.end();
        outcome
    }

    /// Nothing is open any more.
    pub(super) fn end(&mut self) {
        self.transaction = None;
        self.changed += 1;
        self.written();
    }
}
