//! The SQL of this engine, all of it: what PostgreSQL, CockroachDB and YugabyteDB have in common.
//!
//! Names beside a store's table `T`: `T_store` has one row with the format and the count of the indexes' definitions;
//! `T_sessions` has a row for each connection that counts what must not be done twice; `T_locks` has M's locks.
//!
//! A count of definitions of -2 stands for any.

use tokio_postgres::{Client, Statement};

use super::address::Table;
use super::turns::in_order;

/// Declares the prepared statements, each with its text.
macro_rules! statements {
    ($($(#[$about:meta])* $name:ident: $text:literal;)*) => {
        /// The statements that a connection has prepared.
        pub struct Statements {
            $($(#[$about])* pub $name: Statement,)*
        }

        impl Statements {
            /// Prepares all of them, in one round trip.
            pub async fn prepare(client: &Client, table: &Table) -> Result<Statements, tokio_postgres::Error> {
                let texts = [$(named($text, table)),*];
                let prepared = in_order(texts.iter().map(|text| client.prepare(text))).await;
                let mut prepared = prepared.into_iter();
                Ok(Statements { $($name: prepared.next().unwrap_or_else(|| unreachable!("one for each text"))?,)* })
            }
        }
    };
}

statements! {
    /// One value.
    get: "SELECT value FROM T WHERE key = $1";
    /// From a key on, the next entries; a value is there when it has at most $3 bytes.
    seek_after: "SELECT key, CASE WHEN octet_length(value) <= $3 THEN value END FROM T \
        WHERE key >= $1 ORDER BY key LIMIT $2";
    /// Before a key, the last entries, backwards.
    seek_before: "SELECT key, CASE WHEN octet_length(value) <= $3 THEN value END FROM T \
        WHERE key < $1 ORDER BY key DESC LIMIT $2";
    /// The first entries of a range.
    scan: "SELECT key, CASE WHEN octet_length(value) <= $4 THEN value END FROM T \
        WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3";
    /// The last entries of a range, backwards.
    scan_back: "SELECT key, CASE WHEN octet_length(value) <= $4 THEN value END FROM T \
        WHERE key >= $1 AND key < $2 ORDER BY key DESC LIMIT $3";
    /// Stores a value, if the definitions are those.
    put: "INSERT INTO T (key, value) SELECT $1::bytea, $2::bytea \
        WHERE $3::int8 = -2 OR EXISTS (SELECT 1 FROM T_store WHERE definitions = $3) \
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    /// Stores values at keys that differ, if the definitions are those.
    put_many: "INSERT INTO T (key, value) SELECT p.k, p.v FROM unnest($1::bytea[], $2::bytea[]) AS p(k, v) \
        WHERE $3::int8 = -2 OR EXISTS (SELECT 1 FROM T_store WHERE definitions = $3) \
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    /// Deletes a range, if the definitions are those, and tells them.
    delete: "WITH gone AS (DELETE FROM T WHERE key >= $1 AND key < $2 \
        AND ($3::int8 = -2 OR EXISTS (SELECT 1 FROM T_store WHERE definitions = $3)) RETURNING 1) \
        SELECT definitions FROM T_store";
    /// Copies a range to keys that begin with $3 instead of their first $4 bytes, if none gets longer than $5 and the
    /// definitions are those, and tells whether it did.
    copy: "WITH may AS (SELECT 1 FROM T_store WHERE ($6::int8 = -2 OR definitions = $6) AND NOT EXISTS ( \
        SELECT 1 FROM T WHERE key >= $1 AND key < $2 AND octet_length(key) - $4::int4 + octet_length($3::bytea) > $5::int4)), \
        copied AS (INSERT INTO T (key, value) SELECT $3::bytea || substr(key, $4::int4 + 1), value FROM T \
            WHERE key >= $1 AND key < $2 AND EXISTS (SELECT 1 FROM may) \
            ON CONFLICT (key) DO UPDATE SET value = excluded.value) \
        SELECT EXISTS (SELECT 1 FROM may)";
    /// Fails with a division by zero where the definitions are others.
    guard: "SELECT 1 / (CASE WHEN $1::int8 = -2 OR definitions = $1 THEN 1 ELSE 0 END) FROM T_store";
    /// The count of definitions.
    definitions: "SELECT definitions FROM T_store";
    /// Counts one change of the definitions.
    count_definitions: "UPDATE T_store SET definitions = definitions + 1";
    /// Replaces the value at $4 by its successor, if it is one of $5, as step $2 of session $1.
    change: "WITH me AS (SELECT seq, answer FROM T_sessions WHERE id = $1), \
        may AS (SELECT 1 FROM me, T_store s WHERE me.seq = $2::int8 - 1 AND ($3::int8 = -2 OR s.definitions = $3)), \
        changed AS (UPDATE T SET value = c.next FROM unnest($5::bytea[], $6::bytea[]) AS c(old, next) \
            WHERE T.key = $4 AND T.value = c.old AND EXISTS (SELECT 1 FROM may) RETURNING T.value AS value), \
        noted AS (UPDATE T_sessions SET seq = $2, answer = changed.value, used = now() FROM changed \
            WHERE T_sessions.id = $1 RETURNING 1) \
        SELECT (SELECT value FROM changed), (SELECT value FROM T WHERE key = $4), (SELECT seq FROM me), \
            (SELECT answer FROM me), (SELECT definitions FROM T_store)";
    /// Stores the value $5 at $4, if there is none, as step $2 of session $1.
    create: "WITH me AS (SELECT seq, answer FROM T_sessions WHERE id = $1), \
        may AS (SELECT 1 FROM me, T_store s WHERE me.seq = $2::int8 - 1 AND ($3::int8 = -2 OR s.definitions = $3)), \
        changed AS (INSERT INTO T (key, value) SELECT $4::bytea, $5::bytea FROM may \
            WHERE NOT EXISTS (SELECT 1 FROM T WHERE key = $4) ON CONFLICT (key) DO NOTHING RETURNING value), \
        noted AS (UPDATE T_sessions SET seq = $2, answer = changed.value, used = now() FROM changed \
            WHERE T_sessions.id = $1 RETURNING 1) \
        SELECT (SELECT value FROM changed), (SELECT value FROM T WHERE key = $4), (SELECT seq FROM me), \
            (SELECT answer FROM me), (SELECT definitions FROM T_store)";
    /// Says that session $1 is about to do step $2, if that has not been done.
    step: "UPDATE T_sessions SET seq = $2, answer = NULL, used = now() WHERE id = $1 AND seq = $2::int8 - 1";
    /// Takes step $2 of session $1 away from a late attempt, if it has not been done.
    bar: "UPDATE T_sessions SET seq = $2, answer = $3, used = now() WHERE id = $1 AND seq = $2::int8 - 1";
    /// Which step a session has done last, and what was stored with it.
    steps: "SELECT seq, answer FROM T_sessions WHERE id = $1";
    /// Introduces a session.
    introduce: "INSERT INTO T_sessions (id, seq, used) VALUES ($1, $2::int8 - 1, now()) ON CONFLICT (id) DO NOTHING";
    /// Forgets a session.
    forget: "DELETE FROM T_sessions WHERE id = $1";
}

/// Puts the names of a store's tables into a text.
fn named(text: &str, table: &Table) -> String {
    let mut named = String::with_capacity(text.len() + 64);
    // A table's name stands as a word of its own.
    let is_other = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
    for word in text.split_inclusive(is_other) {
        let end = word.trim_end_matches(is_other).len();
        match &word[..end] {
            "T" => named.push_str(&table.quoted("")),
            "T_store" => named.push_str(&table.quoted("_store")),
            "T_sessions" => named.push_str(&table.quoted("_sessions")),
            "T_locks" => named.push_str(&table.quoted("_locks")),
            other => named.push_str(other),
        }
        named.push_str(&word[end..]);
    }
    named
}

/// What makes the tables, in this order.
pub fn creation(table: &Table) -> [String; 5] {
    [
        "CREATE TABLE IF NOT EXISTS T (key bytea PRIMARY KEY, value bytea NOT NULL)",
        "CREATE TABLE IF NOT EXISTS T_sessions (id bytea PRIMARY KEY, seq int8 NOT NULL, answer bytea, \
         used timestamptz NOT NULL)",
        "CREATE TABLE IF NOT EXISTS T_locks (node bytea PRIMARY KEY, owner bytea NOT NULL, process bytea NOT NULL, \
         until timestamptz NOT NULL)",
        "CREATE TABLE IF NOT EXISTS T_store (id int4 PRIMARY KEY, format int4 NOT NULL, definitions int8 NOT NULL)",
        "INSERT INTO T_store (id, format, definitions) VALUES (1, 1, 0) ON CONFLICT (id) DO NOTHING",
    ]
    .map(|text| named(text, table))
}

/// Asks which format the store has.
pub fn format(table: &Table) -> String {
    named("SELECT format FROM T_store", table)
}

/// Forgets sessions and locks that ended long ago without a word.
pub fn cleaning(table: &Table) -> String {
    named(
        "DELETE FROM T_sessions WHERE used < now() - interval '7 days'; \
         DELETE FROM T_locks WHERE until < now() - interval '1 day'",
        table,
    )
}

/// How many entries there are.
pub fn count(table: &Table) -> String {
    named("SELECT count(*) FROM T", table)
}

/// What the tables take on the disk, as PostgreSQL and YugabyteDB tell it.
pub fn size(table: &Table) -> String {
    format!("SELECT pg_total_relation_size('{}')", table.quoted(""))
}

/// Takes the lock on node $1 for owner $2 of process $3, for $4 seconds, if nobody else has it, one of the ancestors $5 or
/// a node up to $6.
pub fn take_lock(table: &Table) -> String {
    named(
        "INSERT INTO T_locks (node, owner, process, until) \
         SELECT $1::bytea, $2::bytea, $3::bytea, now() + $4::float8 * interval '1 second' \
         WHERE NOT EXISTS (SELECT 1 FROM T_locks WHERE (node = ANY($5::bytea[]) OR (node >= $1 AND node < $6)) \
             AND owner <> $2 AND until > now()) \
         ON CONFLICT (node) DO UPDATE SET owner = excluded.owner, process = excluded.process, until = excluded.until",
        table,
    )
}

/// Gives a lock back.
pub fn give_lock(table: &Table) -> String {
    named("DELETE FROM T_locks WHERE node = $1 AND owner = $2", table)
}

/// Gives all locks of an owner back.
pub fn give_locks(table: &Table) -> String {
    named("DELETE FROM T_locks WHERE owner = $1", table)
}

/// Makes the locks of a process last longer, but for those that have ended: others may have theirs there by now.
pub fn renew_locks(table: &Table) -> String {
    named(
        "UPDATE T_locks SET until = now() + $2::float8 * interval '1 second' WHERE process = $1 AND until > now()",
        table,
    )
}
