//! One connection to the server, made again when it breaks. It is driven by whoever waits for an answer: there is no
//! thread behind it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls};

use super::address::Address;
use super::failure::{self, Trouble};
use super::statements::Statements;
use super::turns::{in_order, pair};
use crate::error::{Error, Result};
use crate::patience::{self, Retry};

/// The longest wait for a host where the timeout says nothing.
const CONNECTING: Duration = Duration::from_secs(10);
/// Beyond the timeout, so that the server's own answer comes first.
const GRACE: Duration = Duration::from_secs(5);
/// The least time that a statement may take; a shorter timeout is for waits, not for work.
const LEAST: Duration = Duration::from_secs(5);
/// How long asking the server to leave off may take.
const CANCELLING: Duration = Duration::from_millis(500);
/// The least rest before a broken connection is made again.
const RECONNECTING: Duration = Duration::from_millis(50);

/// A connection as long as it works.
pub struct Live {
    /// What takes statements.
    pub client: Client,
    /// What it has prepared.
    pub statements: Statements,
}

/// A way to the server.
pub struct Link {
    address: Arc<Address>,
    runtime: Runtime,
    live: Option<(Arc<Live>, JoinHandle<()>)>,
    /// Which host answered last.
    host: usize,
    timeout: Option<Duration>,
    /// The timeout that the server knows.
    told: Option<Option<Duration>>,
}

impl Link {
    /// A way to the server, not yet connected.
    ///
    /// # Errors
    /// [`Error::Internal`] where the system gives no room for it.
    pub fn new(address: Arc<Address>) -> Result<Link> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Internal(format!("the system refuses what a connection needs: {error}")))?;
        Ok(Link { address, runtime, live: None, host: 0, timeout: Some(Duration::from_secs(10)), told: None })
    }

    /// How long a statement may wait for other connections, and an attempt go on.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Where it leads.
    pub fn address(&self) -> &Arc<Address> {
        &self.address
    }

    /// Whether it is connected, as far as is known.
    pub fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(|(live, _)| !live.client.is_closed())
    }

    /// Lets the connection go.
    pub fn drop_connection(&mut self) {
        self.told = None;
        if let Some((live, task)) = self.live.take() {
            drop(live);
            // The server is told, unless it does not listen.
            let _ = self.runtime.block_on(async { tokio::time::timeout(Duration::from_millis(20), task).await });
        }
    }

    /// Has the server leave off what it does for this connection, for which nobody waits any more: it would go on waiting
    /// for others, and then write.
    fn cancel(&self) {
        let Some((live, _)) = &self.live else { return };
        let token = live.client.cancel_token();
        let asked = async {
            match self.address.security.connector() {
                None => token.cancel_query(NoTls).await,
                Some(connector) => token.cancel_query(connector).await,
            }
        };
        drop(self.runtime.block_on(async { tokio::time::timeout(CANCELLING, asked).await }));
    }

    /// Connects, trying each host once.
    ///
    /// # Errors
    /// Why the last of them did not do.
    pub fn connect(&mut self) -> std::result::Result<(), Trouble> {
        if self.is_live() {
            return Ok(());
        }
        self.drop_connection();
        self.first_host(Link::connect_to)
    }

    /// Does work with the hosts in turn, beginning with the one that answered last, until it succeeds with one.
    fn first_host<T>(
        &mut self,
        mut work: impl FnMut(&mut Link, usize) -> std::result::Result<T, Trouble>,
    ) -> std::result::Result<T, Trouble> {
        let (first, count) = (self.host, self.address.hosts.len());
        let mut why = Trouble::Broken("the URL has no host".to_owned());
        for number in (0..count).map(|turn| (first + turn) % count) {
            match work(self, number) {
                Ok(done) => {
                    self.host = number;
                    return Ok(done);
                }
                // What a host refuses for good says more than that another one is away.
                Err(_) if matches!(why, Trouble::Fatal(_)) => {}
                Err(trouble) => why = trouble,
            }
        }
        Err(why)
    }

    /// How long the attempt to reach a host may take. Of several, one that does not answer must leave time for the others.
    fn patience(&self, config: &Config) -> Duration {
        let share = || self.timeout.unwrap_or(CONNECTING) / u32::try_from(self.address.hosts.len() + 1).unwrap_or(1);
        let all = if self.address.hosts.len() == 1 { self.timeout.unwrap_or(CONNECTING) } else { share() };
        config.get_connect_timeout().copied().unwrap_or(all).max(Duration::from_secs(1))
    }

    fn connect_to(&mut self, number: usize) -> std::result::Result<(), Trouble> {
        let address = Arc::clone(&self.address);
        let config = &address.hosts[number];
        let longest = self.patience(config);
        let work = async {
            let (client, task) = dial(config, &address).await?;
            let settings = client
                .batch_execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
                .await
                .map(|()| client);
            Ok::<_, tokio_postgres::Error>((settings?, task))
        };
        let (client, task) = drive(&self.runtime, work, Some(longest), &address)?;
        self.live = None;
        // Settings that only PostgreSQL's family has. Statistics of a new table must not make it read all of one; and since
        // that makes what cannot be avoided look expensive, it must not compile the plans of such statements.
        let work = async {
            let settings = ["SET enable_seqscan = off", "SET jit = off"];
            drop(in_order(settings.iter().map(|setting| client.batch_execute(setting))).await);
            Statements::prepare(&client, &address.table).await
        };
        let statements = drive(&self.runtime, work, Some(longest), &address)?;
        self.live = Some((Arc::new(Live { client, statements }), task));
        Ok(())
    }

    /// Does work on a bare connection, for what comes before there are tables.
    ///
    /// # Errors
    /// What the server answers.
    pub fn bare<T>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> std::result::Result<T, Trouble> {
        let (client, _task) = self.first_host(|link, number| {
            let address = Arc::clone(&link.address);
            let config = &address.hosts[number];
            drive(&link.runtime, dial(config, &address), Some(link.patience(config)), &address)
        })?;
        drive(&self.runtime, work(&client), Some(CONNECTING), &self.address)
    }

    /// Does work on the connection, which is made where there is none. A connection that broke, or on which nothing came in
    /// time, is let go.
    ///
    /// # Errors
    /// What the server answers.
    pub fn attempt<T>(
        &mut self,
        work: impl AsyncFnOnce(&Arc<Live>) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> std::result::Result<T, Trouble> {
        self.connect()?;
        match self.live() {
            Some(live) => self.attempt_on(&live, work),
            None => Err(Trouble::Broken("it is not connected".to_owned())),
        }
    }

    /// Does work on this one connection, as what began there wants it: a transaction is not on another one.
    ///
    /// # Errors
    /// [`Trouble::Broken`] where the connection is gone; what the server answers.
    pub fn attempt_on<T>(
        &mut self,
        live: &Arc<Live>,
        work: impl AsyncFnOnce(&Arc<Live>) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> std::result::Result<T, Trouble> {
        let same = self.live.as_ref().is_some_and(|(now, _)| Arc::ptr_eq(now, live));
        if !same || !self.is_live() {
            return Err(Trouble::Broken("the connection is gone".to_owned()));
        }
        let tell = (self.told != Some(self.timeout)).then(|| timeouts(self.timeout));
        let whole = async {
            match tell {
                None => work(live).await,
                Some(text) => pair(live.client.batch_execute(&text), work(live)).await.1,
            }
        };
        let longest = self.timeout.map(|timeout| timeout.max(LEAST) + GRACE);
        let done = drive(&self.runtime, whole, longest, &self.address);
        match done {
            Err(Trouble::Broken(_)) => {
                if patience::is_stopping() {
                    self.cancel();
                }
                self.drop_connection();
            }
            _ => self.told = Some(self.timeout),
        }
        done
    }

    /// Begins work and does not wait for its end. What it answers comes with a later wait.
    pub fn begin<T: Send + 'static>(&mut self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        let task = self.runtime.spawn(work);
        self.runtime.block_on(async {
            // Once for the work to begin, once for the connection to send it.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        task
    }

    /// Waits for work that was begun.
    ///
    /// # Errors
    /// The first failure.
    pub fn gather(
        &mut self,
        begun: Vec<JoinHandle<std::result::Result<(), tokio_postgres::Error>>>,
    ) -> std::result::Result<(), Trouble> {
        let longest = self.timeout.map(|timeout| timeout.max(LEAST) + GRACE);
        let done = drive(&self.runtime, first_failure(begun), longest, &self.address);
        if matches!(done, Err(Trouble::Broken(_))) {
            self.drop_connection();
        }
        done
    }

    /// The connection, where there is one.
    pub fn live(&self) -> Option<Arc<Live>> {
        self.live.as_ref().map(|(live, _)| Arc::clone(live))
    }

    /// Does work that may be done again, until it is done or the timeout has passed: after a conflict with another
    /// transaction, and after a broken connection.
    ///
    /// # Errors
    /// What cannot be helped by doing it again; [`Error::Busy`] where others were in the way all the time; [`Error::Io`]
    /// where the server could not be reached.
    pub fn again<T>(
        &mut self,
        mut work: impl AsyncFnMut(&Arc<Live>) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let mut retry = Retry::new(self.timeout);
        loop {
            match self.attempt(&mut work) {
                Ok(done) => return Ok(done),
                Err(trouble) => rest_after(trouble, &mut retry, &self.address)?,
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.drop_connection();
    }
}

/// Waits for all work that was begun, and answers the first failure.
pub async fn first_failure(
    begun: Vec<JoinHandle<std::result::Result<(), tokio_postgres::Error>>>,
) -> std::result::Result<(), tokio_postgres::Error> {
    let mut first = Ok(());
    for work in begun {
        // Work that ended without an answer ended with its connection, which tells by itself.
        if let Ok(answer) = work.await {
            first = first.and(answer);
        }
    }
    first
}

/// Rests after an attempt that failed, where another one may do better.
///
/// # Errors
/// The failure as our error, where none may, or where the time is up.
pub fn rest_after(trouble: Trouble, retry: &mut Retry, address: &Address) -> Result<()> {
    let least = match trouble {
        Trouble::Fatal(error) => return Err(error),
        Trouble::Conflict(_) => Duration::ZERO,
        Trouble::Broken(_) | Trouble::Full(_) => RECONNECTING,
    };
    if retry.rest(least) { Ok(()) } else { Err(error(trouble, address)) }
}

/// What a failed attempt comes to when there is no other one.
pub fn error(trouble: Trouble, address: &Address) -> Error {
    match trouble {
        Trouble::Fatal(error) => error,
        Trouble::Full(what) => Error::Busy(format!(
            "{} takes no more connections ({what}): close some, or raise its max_connections",
            address.shown
        )),
        Trouble::Conflict(what) => Error::Conflict(format!(
            "other transactions changed what this one used ({what}): nothing of it was written; do it again"
        )),
        Trouble::Broken(what) if patience::is_stopping() => Error::Busy(what),
        Trouble::Broken(what) => failure::cannot("cannot reach", address, what),
    }
}

/// Makes a connection, and has it driven by whoever waits.
async fn dial(
    config: &Config,
    address: &Address,
) -> std::result::Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
    match address.security.connector() {
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            Ok((client, tokio::spawn(async { drop(connection.await) })))
        }
        Some(connector) => {
            let (client, connection) = config.connect(connector).await?;
            Ok((client, tokio::spawn(async { drop(connection.await) })))
        }
    }
}

/// What tells the server how long to wait.
fn timeouts(timeout: Option<Duration>) -> String {
    let milliseconds = |time: Duration| i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1);
    let (waits, works) = match timeout {
        None => (0, 0),
        Some(timeout) => (milliseconds(timeout), milliseconds(timeout.max(LEAST))),
    };
    format!("SET lock_timeout = {waits}; SET statement_timeout = {works}")
}

/// Waits for work, in slices, so that a thread that should stop does.
fn drive<T>(
    runtime: &Runtime,
    work: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    longest: Option<Duration>,
    address: &Address,
) -> std::result::Result<T, Trouble> {
    let begun = Instant::now();
    let mut work = pin!(work);
    loop {
        let slice = runtime.block_on(async { tokio::time::timeout(patience::SLICE, work.as_mut()).await });
        match slice {
            Ok(result) => return result.map_err(|error| Trouble::of(&error, address)),
            Err(_) if patience::is_stopping() => {
                return Err(Trouble::Broken("the wait for the server ended because its thread is stopping".to_owned()));
            }
            Err(_) if longest.is_some_and(|longest| begun.elapsed() >= longest) => {
                return Err(Trouble::Broken(format!("no answer came within {:.1} s", begun.elapsed().as_secs_f64())));
            }
            Err(_) => {}
        }
    }
}
