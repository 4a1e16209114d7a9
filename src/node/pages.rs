//! Pages of entries for iterators and lists of children: many keys in one call, as long as nothing has changed.

use std::ptr;

use napi::sys;

use super::answer;
use super::argument::{self, Charset, Face};
use super::border::{self, Answer, Call, Class, Failure, wrong_argument};
use super::reference::Reference;
use crate::cursor::{Page, Shape};
use crate::key::Key;

/// A bound that belongs to the stretch.
const INCLUSIVE: u8 = 1;
/// A bound that is a place which an earlier page has named.
const RESUME: u8 = 2;

/// `scan(below, shape, limit, reverse, from, fromKind, to, toKind, asStrings, prefix)`: the next entries of a node.
///
/// `below` are the subscripts that lead down to the node, or undefined. `shape` is 0 for the children's subscripts, 1 for
/// children with values, 2 for the leaves below. `from` and `to` are subscripts of children (an array of them for
/// leaves) or undefined; their kind is 0 to leave the bound out, 1 to include it, 2 to go on behind a place that an
/// earlier page has named. `prefix` is what strings begin with.
///
/// Answers a flat array: subscript, or subscript and value in turn, or subscripts array and value in turn. Leaves, and
/// all entries with `asStrings`, are followed by their place as a string of one-byte characters: the program may change
/// the array it is given, and a string does not say which bytes it was made from.
pub fn scan<const TYPED: bool>(call: Call<'_>) -> Answer
where
    Reference<TYPED>: Class,
{
    let reference = border::this::<Reference<TYPED>>(call)?;
    if !TYPED && !reference.server().is_open() {
        return answer::array(call.env, &[]);
    }
    read_page(call, reference).map_err(|failure| failure.at(|| reference.place(call, "iterating")))
}

fn read_page<const TYPED: bool>(call: Call<'_>, reference: &Reference<TYPED>) -> Answer
where
    Reference<TYPED>: Class,
{
    let [below, shape, limit, reverse, from, from_kind, to, to_kind, as_strings, prefix] = call.arguments else {
        return Err(wrong_argument("scan takes ten arguments"));
    };
    let env = call.env;
    let shape = match argument::number(env, *shape) as u8 {
        0 => Shape::Keys,
        1 => Shape::Entries,
        _ => Shape::Leaves,
    };
    let face = reference.face();
    let node = reference.below(call, face, &elements(env, *below)?)?;
    let bound = |value: sys::napi_value, kind: sys::napi_value| -> Result<Option<(Key, bool)>, Failure> {
        if argument::kind(env, value) == sys::ValueType::napi_undefined {
            return Ok(None);
        }
        let kind = argument::number(env, kind) as u8;
        let mut key = node.clone();
        if kind == RESUME {
            let mut place = Vec::new();
            argument::one_byte_text_into(env, value, &mut place)?;
            key.encoded(&place)?;
        } else {
            let mut text = Vec::new();
            for subscript in elements(env, value)? {
                if !argument::subscript(env, subscript, face, &mut text, &mut key)? {
                    return Err(crate::error::Error::BadKey("the empty string is no subscript".to_owned()).into());
                }
            }
        }
        Ok(Some((key, kind == INCLUSIVE)))
    };
    let (from, to) = (bound(*from, *from_kind)?, bound(*to, *to_kind)?);
    let mut prefix_text = Vec::new();
    if argument::kind(env, *prefix) != sys::ValueType::napi_undefined {
        argument::text_into(env, *prefix, "the prefix", &mut prefix_text)?;
    }
    let page = Page {
        node: node.as_bytes(),
        shape,
        limit: argument::number(env, *limit) as usize,
        reverse: argument::boolean(env, *reverse),
        from: from.as_ref().map(|(key, inclusive)| (key.as_bytes(), *inclusive)),
        to: to.as_ref().map(|(key, inclusive)| (key.as_bytes(), *inclusive)),
        prefix: &prefix_text,
    };
    let shown = Shown { env, shape, face, as_strings: argument::boolean(env, *as_strings) };
    let mut members = Vec::new();
    let mut text = Vec::new();
    let mut failure = None;
    reference.server().with(|connection| {
        connection.page(&page, &mut |subscripts, stored| {
            failure = shown.add(subscripts, stored, &mut text, &mut members).err();
            Ok(failure.is_none())
        })
    })?;
    match failure {
        Some(failure) => Err(failure),
        None => answer::array(env, &members),
    }
}

/// How entries are shown.
struct Shown {
    env: sys::napi_env,
    shape: Shape,
    face: Face,
    as_strings: bool,
}

impl Shown {
    fn add(
        &self,
        subscripts: &[u8],
        stored: Option<&[u8]>,
        text: &mut Vec<u8>,
        members: &mut Vec<sys::napi_value>,
    ) -> Result<(), Failure> {
        let env = self.env;
        let spelling = match self.face {
            Face::Typed if self.as_strings => Face::Text(Charset::Utf8),
            face => face,
        };
        if self.shape == Shape::Leaves {
            let path = crate::key::subscripts(subscripts)
                .map(|encoded| answer::subscript(env, encoded, spelling, text))
                .collect::<Result<Vec<_>, _>>()?;
            members.push(answer::array(env, &path)?);
        } else {
            members.push(answer::subscript(env, subscripts, spelling, text)?);
        }
        if self.shape != Shape::Keys {
            members.push(match stored {
                Some(stored) => answer::stored(env, stored, self.face)?,
                None => answer::undefined(env)?,
            });
        }
        if self.as_strings || self.shape == Shape::Leaves {
            members.push(answer::ascii(env, subscripts)?);
        }
        Ok(())
    }
}

/// The members of an array; a value that is no array counts as its only member, undefined as none.
fn elements(env: sys::napi_env, value: sys::napi_value) -> Result<Vec<sys::napi_value>, Failure> {
    if argument::kind(env, value) == sys::ValueType::napi_undefined {
        return Ok(Vec::new());
    }
    let (mut is_array, mut length) = (false, 0);
    // SAFETY: the questions are asked before the answers are used.
    unsafe {
        sys::napi_is_array(env, value, &raw mut is_array);
        if !is_array {
            return Ok(vec![value]);
        }
        sys::napi_get_array_length(env, value, &raw mut length);
    }
    (0..length)
        .map(|index| {
            let mut member = ptr::null_mut();
            // SAFETY: the index is within the array. A getter may throw, which leaves the exception pending.
            let status = unsafe { sys::napi_get_element(env, value, index, &raw mut member) };
            if status == sys::Status::napi_ok { Ok(member) } else { Err(Failure::Pending) }
        })
        .collect()
}
