//! Applying a batch outside a transaction, all of it in one round trip.

use std::future::Future;
use std::pin::Pin;

use super::{ANY, PIECE_BYTES, PostgresSession};
use crate::engine::postgres::link::Live;
use crate::engine::postgres::turns::in_order;
use crate::engine::reduce::Reduced;
use crate::error::Result;

const PIECE_PUTS: usize = 10_000;

type Answer = std::result::Result<(), tokio_postgres::Error>;

impl PostgresSession {
    /// Applies what is left of a batch, all in one round trip.
    pub(super) fn apply_alone(&mut self, reduced: &Reduced<'_>) -> Result<()> {
        let expected = self.expected;
        match (&reduced.deletes[..], &reduced.puts[..]) {
            ([], []) => Ok(()),
            ([], [(key, value)]) => self.put_alone(key, value),
            ([(start, end)], []) => {
                let definitions = self.link.again(async |live| {
                    let row = live.client.query_one(&live.statements.delete, &[start, end, &expected]).await?;
                    Ok(row.get::<_, i64>(0))
                })?;
                self.outdated(definitions)
            }
            _ => {
                let pieces = pieces(&reduced.puts);
                self.link.again(async |live| whole(live, &reduced.deletes, &pieces, expected).await)
            }
        }
    }
}

/// Puts of one statement.
pub(super) type Piece<'a> = (Vec<&'a [u8]>, Vec<&'a [u8]>);

/// Cuts puts into what one statement carries.
pub(super) fn pieces<'a>(puts: &[(&'a [u8], &'a [u8])]) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let mut bytes = PIECE_BYTES;
    for (key, value) in puts {
        if bytes >= PIECE_BYTES || pieces.last().is_none_or(|(keys, _)| keys.len() >= PIECE_PUTS) {
            pieces.push((Vec::new(), Vec::new()));
            bytes = 0;
        }
        if let Some((keys, values)) = pieces.last_mut() {
            keys.push(key);
            values.push(value);
        }
        bytes += key.len() + value.len();
    }
    pieces
}

/// A whole batch as a transaction, all in one round trip.
async fn whole(
    live: &Live,
    deletes: &[(&[u8], &[u8])],
    pieces: &[Piece<'_>],
    expected: i64,
) -> std::result::Result<(), tokio_postgres::Error> {
    type Work<'w> = Pin<Box<dyn Future<Output = Answer> + 'w>>;
    let (client, statements) = (&live.client, &live.statements);
    let mut work: Vec<Work<'_>> = vec![
        Box::pin(client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE")),
        Box::pin(async move { client.execute(&statements.guard, &[&expected]).await.map(drop) }),
    ];
    for (start, end) in deletes {
        work.push(Box::pin(async move { client.execute(&statements.delete, &[start, end, &ANY]).await.map(drop) }));
    }
    for (keys, values) in pieces {
        work.push(Box::pin(async move { client.execute(&statements.put_many, &[keys, values, &ANY]).await.map(drop) }));
    }
    work.push(Box::pin(client.batch_execute("COMMIT")));
    in_order(work.into_iter()).await.into_iter().collect()
}
