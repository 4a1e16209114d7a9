//! Pages of entries for the iterators of the native face: many keys in one call, as long as nothing has changed.

use std::ptr;

use napi::sys;

use super::answer;
use super::argument::{self, Face};
use super::border::{self, Answer, Call, Failure, wrong_argument};
use super::reference::Reference;
use crate::cursor::{Page, Shape};

/// `scan(shape, limit, reverse, from, fromInclusive, to, toInclusive, asStrings, prefix)`: the next entries of a node.
///
/// `shape` is 0 for the children's subscripts, 1 for children with values, 2 for the leaves below. `from` and `to` are
/// subscripts of children (an array of them for leaves) or undefined, `prefix` what strings begin with. Answers a flat array: subscripts, or subscript and
/// value in turn, or subscripts array and value in turn.
pub fn scan(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let [shape, limit, reverse, from, from_inclusive, to, to_inclusive, as_strings, prefix] = call.arguments else {
        return Err(wrong_argument("scan takes nine arguments"));
    };
    let shape = match argument::number(call.env, *shape) as u8 {
        0 => Shape::Keys,
        1 => Shape::Entries,
        _ => Shape::Leaves,
    };
    let node = reference.below(call, Face::Typed, &[])?;
    let bound = |value: sys::napi_value| -> Result<Option<crate::key::Key>, Failure> {
        match argument::kind(call.env, value) {
            sys::ValueType::napi_undefined => Ok(None),
            _ => reference.below(call, Face::Typed, &elements(call.env, value)).map(Some),
        }
    };
    let (from, to) = (bound(*from)?, bound(*to)?);
    let mut prefix_text = Vec::new();
    if argument::kind(call.env, *prefix) == sys::ValueType::napi_string {
        argument::append_utf8(call.env, *prefix, &mut prefix_text);
    }
    let page = Page {
        node: node.as_bytes(),
        shape,
        limit: argument::number(call.env, *limit) as usize,
        reverse: argument::boolean(call.env, *reverse),
        from: from.as_ref().map(|key| (key.as_bytes(), argument::boolean(call.env, *from_inclusive))),
        to: to.as_ref().map(|key| (key.as_bytes(), argument::boolean(call.env, *to_inclusive))),
        prefix: &prefix_text,
    };
    let face = if argument::boolean(call.env, *as_strings) { Face::Text(argument::Charset::Utf8) } else { Face::Typed };
    let mut members = Vec::new();
    let mut text = Vec::new();
    let mut failure = None;
    reference.server().with(|connection| {
        connection.page(&page, &mut |subscripts, stored| {
            let made = show(call.env, shape, face, subscripts, stored, &mut text, &mut members);
            failure = made.err();
            Ok(failure.is_none())
        })
    })?;
    match failure {
        Some(failure) => Err(failure),
        None => answer::array(call.env, &members),
    }
}

fn show(
    env: sys::napi_env,
    shape: Shape,
    face: Face,
    subscripts: &[u8],
    stored: Option<&[u8]>,
    text: &mut Vec<u8>,
    members: &mut Vec<sys::napi_value>,
) -> Result<(), Failure> {
    if shape == Shape::Leaves {
        let path = crate::key::subscripts(subscripts)
            .map(|encoded| answer::subscript(env, encoded, face, text))
            .collect::<Result<Vec<_>, _>>()?;
        members.push(answer::array(env, &path)?);
    } else {
        members.push(answer::subscript(env, subscripts, face, text)?);
    }
    if shape != Shape::Keys {
        members.push(match stored {
            Some(stored) => answer::stored(env, stored, Face::Typed)?,
            None => answer::undefined(env)?,
        });
    }
    Ok(())
}

/// The members of an array; a value that is no array counts as its only member.
fn elements(env: sys::napi_env, value: sys::napi_value) -> Vec<sys::napi_value> {
    let (mut is_array, mut length) = (false, 0);
    // SAFETY: the questions are asked before the answers are used.
    unsafe {
        sys::napi_is_array(env, value, &raw mut is_array);
        if !is_array {
            return vec![value];
        }
        sys::napi_get_array_length(env, value, &raw mut length);
        (0..length)
            .map(|index| {
                let mut member = ptr::null_mut();
                sys::napi_get_element(env, value, index, &raw mut member);
                member
            })
            .collect()
    }
}
