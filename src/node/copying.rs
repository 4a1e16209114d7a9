//! Moving a store's entries as they are, for the command `caretdb copy`.

use napi::sys;

use super::answer;
use super::argument;
use super::border::{Answer, Call, Failure, wrong_argument};
use super::server::server;
use crate::store::Connection;

/// `readEntries(behind, bytes)`: a page of entries behind a key, see [`crate::copying`].
pub fn read_entries(call: Call<'_>) -> Answer {
    let [behind, most, ..] = call.arguments else { return Err(wrong_argument("readEntries: a key and a size")) };
    let start = bytes(call, *behind)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size in memory
    let most = argument::number(call.env, *most) as usize;
    let mut page = Vec::new();
    on_server(call, "copy", |connection| connection.read_entries(&start, most, &mut page))?;
    answer::bytes(call.env, &page)
}

/// `writeEntries(page)`: how many were stored.
pub fn write_entries(call: Call<'_>) -> Answer {
    let [page, ..] = call.arguments else { return Err(wrong_argument("writeEntries: a page")) };
    let bytes = bytes(call, *page)?;
    let count = on_server(call, "copy", |connection| connection.write_entries(&bytes))?;
    #[allow(clippy::cast_precision_loss)] // a count of entries in memory
    answer::number(call.env, count as f64)
}

/// `beginCopy(about)`: empties the store.
pub fn begin_copy(call: Call<'_>) -> Answer {
    let [about, ..] = call.arguments else { return Err(wrong_argument("beginCopy: a text")) };
    let about = argument::text(call.env, *about, "what is copied")?;
    on_server(call, "copy", |connection| connection.begin_copy(&about))?;
    answer::undefined(call.env)
}

/// `endCopy()`.
pub fn end_copy(call: Call<'_>) -> Answer {
    on_server(call, "copy", Connection::end_copy)?;
    answer::undefined(call.env)
}

/// `unfinishedCopy()`: what `beginCopy` said; the empty string where no copy was cut short.
pub fn unfinished_copy(call: Call<'_>) -> Answer {
    let about = on_server(call, "copy", Connection::unfinished_copy)?;
    answer::utf8(call.env, about.unwrap_or_default().as_bytes())
}

fn bytes(call: Call<'_>, value: sys::napi_value) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    if argument::bytes(call.env, value, &mut bytes) { Ok(bytes) } else { Err(wrong_argument("bytes are wanted")) }
}

fn on_server<R>(
    call: Call<'_>,
    name: &str,
    work: impl FnOnce(&mut Connection) -> crate::error::Result<R>,
) -> Result<R, Failure> {
    let server = server(call)?;
    server.with(work).map_err(|failure| server.failed(failure.at(|| name.to_owned())))
}
