//! What a program asks a `server` about itself, and may set: versions, charset, timeout, namespace, the last error.

use napi::sys;

use super::answer;
use super::argument::{self, Charset};
use super::border::{Answer, Call, Failure, wrong_argument};
use super::opening::timeout;
use super::server::{VERSION, server};
use crate::error::Error;

/// `dbversion()`.
pub fn database_version(call: Call<'_>) -> Answer {
    let server = server(call)?;
    let about = server.with(|connection| {
        let store = connection.store();
        Ok(format!("CaretDB {VERSION} ({}) {}", store.engine(), store.path().display()))
    });
    answer::utf8(call.env, about.unwrap_or_else(|_| format!("CaretDB {VERSION}")).as_bytes())
}

/// `geterrormessage()`.
pub fn error_message(call: Call<'_>) -> Answer {
    answer::utf8(call.env, server(call)?.error.borrow().as_bytes())
}

/// `charset([name])`.
pub fn charset(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if let Some(wanted) = call.arguments.first() {
        let wanted = argument::text(call.env, *wanted, "the charset")
            .map_err(|failure| server.failed(failure.at(|| "charset".to_owned())))?;
        match wanted.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => server.charset.set(Charset::Utf8),
            "binary" => server.charset.set(Charset::Binary),
            "ascii" => server.charset.set(Charset::Ascii),
            _ => {
                let message = format!("charset: there is no charset {wanted:?}: use 'utf-8', 'binary' or 'ascii'");
                return Err(server.failed(wrong_argument(message)));
            }
        }
        return answer::utf8(call.env, wanted.as_bytes());
    }
    answer::ascii(call.env, server.charset.get().name().as_bytes())
}

/// `settimeout([seconds])`.
pub fn set_timeout(call: Call<'_>) -> Answer {
    let server = server(call)?;
    if let Some(seconds) = call.arguments.first() {
        let refused = |failure: Failure| server.failed(failure.at(|| "settimeout".to_owned()));
        if argument::kind(call.env, *seconds) != sys::ValueType::napi_number {
            return Err(refused(wrong_argument("the timeout must be a number of seconds")));
        }
        let wanted = timeout(argument::number(call.env, *seconds)).map_err(refused)?;
        server.timeout.set(wanted);
        if server.is_open() {
            server.with(|connection| {
                connection.set_timeout(wanted);
                Ok(())
            })?;
        }
    }
    let mut text = Vec::new();
    let seconds = server.timeout.get().map_or(-1.0, |timeout| timeout.as_secs_f64());
    crate::value::write_text(&crate::value::Value::Number(seconds), &mut text);
    answer::ascii(call.env, &text)
}

/// A store is one namespace, so its name can be asked but not changed.
pub fn namespace(call: Call<'_>) -> Answer {
    let server = server(call)?;
    let current = match server.is_open() {
        true => server.with(|connection| Ok(connection.store().path().display().to_string()))?,
        false => String::new(),
    };
    if let Some(wanted) = call.arguments.first() {
        let wanted = argument::text(call.env, *wanted, "the namespace")
            .map_err(|failure| server.failed(failure.at(|| "namespace".to_owned())))?;
        if wanted != current {
            let message = format!("namespace: a store is one namespace, {current:?}; open another store instead");
            return Err(server.failed(Error::Unsupported(message).into()));
        }
    }
    answer::utf8(call.env, current.as_bytes())
}
