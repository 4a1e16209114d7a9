//! What the server answers, sorted by what can be done about it, and as our errors.

use tokio_postgres::error::SqlState;

use super::address::Address;
use crate::error::Error;

/// Why a statement has no result.
#[derive(Debug)]
pub enum Trouble {
    /// Another transaction was in the way; nothing was done, and the same again may succeed.
    Conflict(String),
    /// The connection is gone, or the server no longer takes writes: whether a write was done is not known.
    Broken(String),
    /// The server has as many connections as it takes; one may end soon.
    Full(String),
    /// It can only be told.
    Fatal(Error),
}

impl Trouble {
    /// Sorts what the server or the connection answered.
    pub fn of(error: &tokio_postgres::Error, address: &Address) -> Trouble {
        let Some(answer) = error.as_db_error() else {
            let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
            let what = address.without_secrets(format!("{error}{}", if error.is_closed() { "" } else { &source }));
            return match refusal(error) {
                None => Trouble::Broken(what),
                Some(Refusal::Large) => Trouble::Fatal(Error::TooLarge(format!("the protocol takes no more: {what}"))),
                Some(Refusal::Other) => Trouble::Fatal(cannot("cannot use", address, what)),
            };
        };
        let detail = answer.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let what = address.without_secrets(format!("{}{detail}", answer.message()));
        let code = answer.code();
        match code.code() {
            "40001" | "40P01" | "23505" | "25P02" | "42P07" | "42710" => Trouble::Conflict(what),
            "22012" => Trouble::Fatal(Error::Outdated),
            "55P03" => Trouble::Fatal(Error::Busy(
                "another connection holds what this write needs: wait for it, or raise the timeout".to_owned(),
            )),
            "57014" => Trouble::Fatal(Error::Busy(
                "the server stopped the statement because it took longer than the timeout: raise it".to_owned(),
            )),
            "53300" => Trouble::Full(what),
            "53100" => Trouble::Fatal(Error::DiskFull { path: address.shown.clone().into() }),
            "54000" => Trouble::Fatal(Error::TooLarge(format!("the server takes no more: {what}"))),
            "42501" => Trouble::Fatal(Error::ReadOnly(format!("the user of the URL may not do this: {what}"))),
            state if is_end(state) || *code == SqlState::READ_ONLY_SQL_TRANSACTION => Trouble::Broken(what),
            _ => Trouble::Fatal(cannot("cannot use", address, what)),
        }
    }
}

/// What no other attempt helps with, though no server has answered.
enum Refusal {
    /// What was to be sent.
    Large,
    /// A certificate, a way to log in, a password that is missing.
    Other,
}

/// Whether the two sides cannot come together, as far from a line that broke.
fn refusal(error: &tokio_postgres::Error) -> Option<Refusal> {
    let source = std::error::Error::source(error)?;
    let Some(broken) = source.downcast_ref::<std::io::Error>() else { return Some(Refusal::Other) };
    match broken.get_ref() {
        Some(inner) if inner.is::<rustls::Error>() => Some(Refusal::Other),
        _ if broken.kind() == std::io::ErrorKind::InvalidInput => Some(Refusal::Large),
        _ => None,
    }
}

/// Whether the server ends the connection with this answer.
fn is_end(state: &str) -> bool {
    state.starts_with("08") || state.starts_with("57P")
}

/// The server does not do what it should.
pub fn cannot(action: &'static str, address: &Address, what: String) -> Error {
    Error::Io { action, path: address.shown.clone().into(), source: std::io::Error::other(what) }
}
