//! Showing the entries of a range, all of one moment.

use std::sync::Arc;

use super::{PostgresSession, lost_moment};
use crate::engine::postgres::ahead::Entry;
use crate::engine::postgres::failure::Trouble;
use crate::engine::postgres::link::{self, Live};
use crate::engine::postgres::turns::pair;
use crate::engine::{Flow, Range, Visitor};
use crate::error::Result;

/// A scan's pages grow from the first to the last.
const FIRST_PAGE: i64 = 16;
const LAST_PAGE: i64 = 512;
/// Larger values of a scan are fetched one by one, so that a page never fills the memory.
const LARGE: i32 = 64 << 10;

impl PostgresSession {
    /// A scan outside a transaction: one page alone where it is enough, several in a transaction of their own.
    pub(super) fn scan_alone(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let (live, first) = self.link.again(async |live| {
            let begin = live.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            let (begun, page) = pair(begin, page(live, range, FIRST_PAGE)).await;
            begun?;
            match page {
                Ok(page) => Ok((Arc::clone(live), page)),
                Err(error) => {
                    let _ = live.client.batch_execute("ROLLBACK").await;
                    Err(error)
                }
            }
        })?;
        let shown = self.show(range, first, FIRST_PAGE, visit);
        self.link.begin(async move { live.client.batch_execute("COMMIT").await });
        shown
    }

    pub(super) fn scan_pages(&mut self, range: Range<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let first = self.read(async |live| page(live, range, FIRST_PAGE).await)?;
        self.show(range, first, FIRST_PAGE, visit)
    }

    /// Shows a page and those behind it.
    fn show(
        &mut self,
        range: Range<'_>,
        mut entries: Vec<Entry>,
        mut wanted: i64,
        visit: &mut Visitor<'_>,
    ) -> Result<()> {
        let connection = self.link.live();
        let (mut start, mut end) = (range.start.to_vec(), range.end.to_vec());
        loop {
            let is_last = i64::try_from(entries.len()).is_ok_and(|count| count < wanted);
            for (key, value) in &entries {
                let fetched;
                let shown = match value {
                    Some(value) => &value[..],
                    None if range.values => {
                        fetched = self.go_on(&connection, async |live| {
                            let row = live.client.query_opt(&live.statements.get, &[&&key[..]]).await?;
                            Ok(row.map(|row| row.get::<_, Vec<u8>>(0)))
                        })?;
                        fetched.as_deref().unwrap_or_default()
                    }
                    None => &[],
                };
                if visit(key, shown)? == Flow::Stop {
                    return Ok(());
                }
            }
            let Some((last, _)) = entries.last().filter(|_| !is_last) else { return Ok(()) };
            if range.reverse {
                end.clone_from(last);
            } else {
                start.clone_from(last);
                start.push(0);
            }
            wanted = (wanted * 4).min(LAST_PAGE);
            let rest = Range { start: &start, end: &end, ..range };
            entries = self.go_on(&connection, async |live| page(live, rest, wanted).await)?;
        }
    }

    /// Goes on with a scan: in the session's transaction or held moment, else on the connection that began it.
    fn go_on<T>(
        &mut self,
        connection: &Option<Arc<Live>>,
        mut work: impl AsyncFnMut(&Live) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        if self.is_fixed() {
            return self.read(work);
        }
        let Some(connection) = connection else { return Err(lost_moment(&self.link)) };
        match self.link.attempt_on(connection, async |live| work(live).await) {
            Ok(done) => Ok(done),
            Err(Trouble::Broken(_)) => Err(lost_moment(&self.link)),
            Err(trouble) => Err(link::error(trouble, self.link.address())),
        }
    }
}

/// One page of a range.
async fn page(live: &Live, range: Range<'_>, wanted: i64) -> std::result::Result<Vec<Entry>, tokio_postgres::Error> {
    let longest = if range.values { LARGE } else { -1 };
    let statement = if range.reverse { &live.statements.scan_back } else { &live.statements.scan };
    let rows = live.client.query(statement, &[&range.start, &range.end, &wanted, &longest]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}
