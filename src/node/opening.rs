//! `server.open()`: the options as the program gave them, and the store they lead to.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use napi::sys;

use super::answer;
use super::argument;
use super::border::{Answer, Call, Failure, wrong_argument};
use super::queue::Listener;
use super::request::{Reply, Request, Verb};
use super::server::{Server, keep, server};
use crate::engine::{Durability, LEAST_LOG_LIMIT, Options, Secret};
use crate::error::Error;
use crate::store::Store;

/// `open({path, …options}[, callback])`.
pub fn open(call: Call<'_>) -> Answer {
    let server = server(call)?;
    let opened = open_store(call, server).map_err(|failure| server.failed(failure.at(|| "open".to_owned())));
    if let [_, .., callback] = call.arguments
        && argument::is_function(call.env, *callback)
    {
        let listener = Listener::Callback(keep(call, *callback));
        let result = opened.map(|()| Reply::Data("1")).map_err(|failure| match failure {
            Failure::Error(error, _) => error,
            Failure::Pending => Error::Internal("open met an exception".to_owned()),
        });
        let performed = Some((result, Vec::new()));
        server.push(call.env, Verb::Open, server.text_face(), Request::default(), listener, None, performed)?;
        return answer::null(call.env);
    }
    opened.and_then(|()| answer::ascii(call.env, b"1"))
}

/// The options of `open`, as the program gave them.
fn open_store(call: Call<'_>, server: &Rc<Server>) -> Result<(), Failure> {
    let env = call.env;
    let Some(object) = call.arguments.first().copied() else {
        return Err(wrong_argument("the options are missing: open({type: 'CaretDB', path: './data'})"));
    };
    if argument::kind(env, object) != sys::ValueType::napi_object {
        return Err(wrong_argument(format!("the options must be an object, not {}", argument::describe(env, object))));
    }
    if server.is_open() {
        return Err(wrong_argument("the connection is open already: close it first"));
    }
    let kind = argument::text_member(env, object, "type")?.unwrap_or_default();
    let mut path = argument::text_member(env, object, "path")?.map(PathBuf::from);
    // In a program written for an M database the path is that product's installation, not a store.
    if ["yottadb", "gt.m", "gtm", "iris", "cache"].contains(&kind.to_ascii_lowercase().as_str()) {
        path = None;
    } else if !kind.is_empty() && !kind.eq_ignore_ascii_case("caretdb") {
        return Err(wrong_argument(format!("there is no database type {kind:?}: use 'CaretDB'")));
    }
    let mut options = Options::default();
    if let Some(engine) = argument::text_member(env, object, "engine")? {
        options.engine = engine;
    }
    if let Some(url) = argument::text_member(env, object, "url")? {
        if path.is_some() {
            return Err(wrong_argument("give a path or a url, not both"));
        }
        options.url = Some(Secret(url));
    }
    if let Some(create) = argument::boolean_member(env, object, "create")? {
        options.create = create;
    }
    if let Some(milliseconds) = argument::number_member(env, object, "flushInterval")? {
        if !(1.0..=60_000.0).contains(&milliseconds) {
            return Err(wrong_argument("the option flushInterval must be from 1 to 60000 milliseconds"));
        }
        options.flush_interval = Duration::from_secs_f64(milliseconds / 1000.0);
    }
    if let Some(durability) = argument::text_member(env, object, "durability")? {
        options.durability = Some(Durability::named(&durability)?);
    }
    if let Some(bytes) = argument::number_member(env, object, "logLimit")? {
        if !(LEAST_LOG_LIMIT as f64..=1e15).contains(&bytes) {
            return Err(wrong_argument(format!("the option logLimit must be at least {LEAST_LOG_LIMIT} bytes")));
        }
        options.log_limit = bytes as u64;
    }
    if let Some(seconds) = argument::number_member(env, object, "timeout")? {
        server.timeout.set(timeout(seconds)?);
    }
    options.timeout = server.timeout.get();
    let read_only = argument::boolean_member(env, object, "readOnly")?.unwrap_or(false);
    options.create &= !read_only;
    options.read_only = read_only;
    let store = Store::open(path.as_deref(), &options)?;
    let mut connection = store.connect(read_only)?;
    connection.set_timeout(server.timeout.get());
    server.take(connection)?;
    server.note("");
    Ok(())
}

/// A timeout in seconds; a negative one waits for ever.
pub fn timeout(seconds: f64) -> Result<Option<Duration>, Failure> {
    if seconds.is_nan() {
        return Err(wrong_argument("a timeout must be a number of seconds, not NaN"));
    }
    Ok((0.0..3e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds)))
}
