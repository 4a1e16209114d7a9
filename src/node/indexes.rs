//! Indexes for the native face: making and dropping them, and pages of the documents that one finds.

use napi::sys;

use super::answer;
use super::argument::{self, Charset, Face};
use super::border::{self, Answer, Call, Failure, wrong_argument};
use super::reference::Reference;
use super::request::WITH_BYTES;
use crate::document::Found;
use crate::index::Query;

/// `addIndex(name, path, unique)`: makes an index; the path is a JSON array.
pub fn add(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let [name, path, unique] = call.arguments else { return Err(wrong_argument("addIndex takes three arguments")) };
    let text = |value, what| {
        argument::text(call.env, value, what).map_err(|failure| failed(reference, call, failure, "createIndex"))
    };
    let (name, path) = (text(*name, "the name of an index")?, text(*path, "the path of an index")?);
    let unique = argument::boolean(call.env, *unique);
    let node = reference.below(call, Face::Typed, &[])?;
    reference
        .server()
        .with(|connection| connection.create_index(node.as_bytes(), &name, &path, unique))
        .map_err(|failure| failed(reference, call, failure, "createIndex"))?;
    answer::undefined(call.env)
}

/// `removeIndex(name)`: drops an index.
pub fn remove(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let [name] = call.arguments else { return Err(wrong_argument("removeIndex takes one argument")) };
    let name = argument::text(call.env, *name, "the name of an index")
        .map_err(|failure| failed(reference, call, failure, "dropIndex"))?;
    let node = reference.below(call, Face::Typed, &[])?;
    reference
        .server()
        .with(|connection| connection.drop_index(node.as_bytes(), &name))
        .map_err(|failure| failed(reference, call, failure, "dropIndex"))?;
    answer::undefined(call.env)
}

/// `findPage(name, limit, reverse, behind, equals, low, lowInclusive, high, highInclusive, prefix, asStrings)`: the next
/// documents of an index.
///
/// `behind` is a position that an earlier page gave, `equals`, `low` and `high` are values, `prefix` is a string; each may
/// be undefined. Answers a flat array: subscript of the child, text of its document, and position in turn.
pub fn find(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let [name, limit, reverse, behind, equals, low, low_inclusive, high, high_inclusive, prefix, as_strings] =
        call.arguments
    else {
        return Err(wrong_argument("findPage takes eleven arguments"));
    };
    let env = call.env;
    let name = argument::text(env, *name, "the name of an index")?;
    // A position is bytes, which travel as the characters U+0000 to U+00FF.
    let behind = value(env, *behind, Face::Text(Charset::Binary))?;
    let (equals, low, high) = (typed(env, *equals)?, typed(env, *low)?, typed(env, *high)?);
    let prefix = match argument::kind(env, *prefix) {
        sys::ValueType::napi_undefined => String::new(),
        _ => argument::text(env, *prefix, "the prefix")?,
    };
    let query = Query {
        equals: equals.as_deref(),
        low: low.as_deref().map(|value| (value, argument::boolean(env, *low_inclusive))),
        high: high.as_deref().map(|value| (value, argument::boolean(env, *high_inclusive))),
        prefix: &prefix,
        reverse: argument::boolean(env, *reverse),
        limit: argument::number(env, *limit) as usize,
        behind: behind.as_deref().map(|position| &position[1..]),
    };
    let face = if argument::boolean(env, *as_strings) { Face::Text(Charset::Utf8) } else { Face::Typed };
    let node = reference.below(call, Face::Typed, &[])?;
    let (mut members, mut text, mut failure) = (Vec::new(), Vec::new(), None);
    let found = reference.server().with(|connection| {
        connection.find(node.as_bytes(), &name, &query, &mut |hit| {
            let made = answer::subscript(env, hit.child, face, &mut text)
                .and_then(|child| Ok([child, document(env, hit.json, hit.found)?, answer::ascii(env, hit.position)?]))
                .map(|triple| members.extend(triple));
            failure = made.err();
            Ok(failure.is_none())
        })
    });
    match (found, failure) {
        (Err(failure), _) => Err(failed(reference, call, failure, "find")),
        (Ok(()), Some(failure)) => Err(failure),
        (Ok(()), None) => answer::array(env, &members),
    }
}

fn document(env: sys::napi_env, json: &[u8], found: Found) -> Answer {
    match found {
        Found::HasBytes => answer::utf8(env, &[&[WITH_BYTES], json].concat()),
        Found::Json | Found::Nothing => answer::utf8(env, json),
    }
}

fn typed(env: sys::napi_env, argument: sys::napi_value) -> Result<Option<Vec<u8>>, Failure> {
    value(env, argument, Face::Typed)
}

/// A value with its type byte; none for undefined.
fn value(env: sys::napi_env, argument: sys::napi_value, face: Face) -> Result<Option<Vec<u8>>, Failure> {
    if argument::kind(env, argument) == sys::ValueType::napi_undefined {
        return Ok(None);
    }
    let mut stored = Vec::new();
    argument::stored_value(env, argument, face, &mut stored)?;
    Ok(Some(stored))
}

fn failed(reference: &Reference<true>, call: Call<'_>, failure: Failure, operation: &str) -> Failure {
    reference.server().failed(failure.at(|| reference.place(call, operation)))
}
