//! Work on stores that need not be open: functions of the addon that answer with promises.

use std::path::PathBuf;

use serde_json::json;

use super::argument;
use super::border::{Answer, Call, wrong_argument};
use super::long_work;
use crate::engine::lmdb;
use crate::{attachment, check, restore};

/// `checkLater(path, report)`: what is found, as JSON; see [`long_work::start`].
pub fn check(call: Call<'_>) -> Answer {
    let [path, report] = call.arguments else { return Err(wrong_argument("checkLater takes two arguments")) };
    let path = PathBuf::from(argument::text(call.env, *path, "the path of a store")?);
    long_work::start(call.env, "check", *report, move |report| {
        let found = check::check(&path, report)?;
        let damage: Vec<_> = found
            .damage
            .iter()
            .map(|damage| json!({"file": damage.file, "nodes": damage.nodes, "what": damage.what}))
            .collect();
        Ok(json!({
            "sound": found.damaged == 0,
            "pages": found.pages,
            "nodes": found.nodes,
            "globals": found.globals,
            "indexes": found.indexes,
            "indexEntries": found.index_entries,
            "waiting": found.waiting,
            "damaged": found.damaged,
            "damage": damage,
        })
        .to_string())
    })
}

/// `restoreLater(from, to, force, report)`: where the store went that was in the way; see [`long_work::start`].
pub fn restore(call: Call<'_>) -> Answer {
    let [from, to, force, report] = call.arguments else {
        return Err(wrong_argument("restoreLater takes four arguments"));
    };
    let from = PathBuf::from(argument::text(call.env, *from, "the path of a backup")?);
    let to = PathBuf::from(argument::text(call.env, *to, "the path of a store")?);
    let force = argument::boolean(call.env, *force);
    long_work::start(call.env, "restore", *report, move |report| {
        let aside = restore::restore(&from, &to, force, report)?;
        Ok(aside.map(|path| path.display().to_string()).unwrap_or_default())
    })
}

/// `keepLater(source, file, durable, report)`: an attachment gets its name; see [`attachment::write`] where `source` is its bytes,
/// [`attachment::keep`] where it is the path of a file that has them.
pub fn keep(call: Call<'_>) -> Answer {
    let [source, file, durable, report] = call.arguments else {
        return Err(wrong_argument("keepLater takes four arguments"));
    };
    let mut bytes = Vec::new();
    let partial = match argument::bytes(call.env, *source, &mut bytes) {
        true => None,
        false => Some(PathBuf::from(argument::text(call.env, *source, "the path of a file")?)),
    };
    let file = PathBuf::from(argument::text(call.env, *file, "the path of a file")?);
    let durable = argument::boolean(call.env, *durable);
    long_work::start(call.env, "attachments", *report, move |_| {
        match partial {
            Some(partial) => attachment::keep(&partial, &file, durable),
            None => attachment::write(&bytes, &file, durable),
        }
        .map(|()| String::new())
    })
}

/// `compactLater(path, report)`: see [`long_work::start`].
pub fn compact(call: Call<'_>) -> Answer {
    let [path, report] = call.arguments else { return Err(wrong_argument("compactLater takes two arguments")) };
    let path = PathBuf::from(argument::text(call.env, *path, "the path of a store")?);
    long_work::start(call.env, "compact", *report, move |report| lmdb::compact(&path, report).map(|()| String::new()))
}
