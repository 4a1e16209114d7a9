//! One operation asked for by JavaScript: read from the arguments, performed on a connection, and answered. The
//! synchronous calls, the callback forms and the promises are the same operations at different times.

use std::time::Duration;

use napi::sys;

use super::answer;
use super::argument::{self, Face, stored_value, subscript};
use super::border::{Answer, Failure, wrong_argument};
use crate::document::{Bytes, Change, Found, spell};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::number::Decimal;
use crate::store::Connection;
use crate::value;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read a value.
    Get,
    /// Store a value.
    Set,
    /// Delete a subtree.
    Delete,
    /// `$DATA`.
    Defined,
    /// Has the node a value?
    Has,
    /// Has the node children?
    HasChildren,
    /// The child behind a seed.
    Next,
    /// The child before a seed.
    Previous,
    /// How many children there are.
    Count,
    /// Add an amount.
    Increment,
    /// Lock a node.
    Lock,
    /// Give one lock back.
    Unlock,
    /// The document as JSON text.
    Document,
    /// Replace a subtree by a document.
    SetDocument,
    /// Lay a document over a subtree.
    MergeDocument,
    /// Change a document by an RFC 7396 patch.
    PatchDocument,
    /// Copy a subtree over another.
    Merge,
    /// Wait until what was written is on the disk.
    Sync,
    /// Open a store; it is performed before it is asked for here.
    Open,
}

impl Verb {
    /// What a program calls it: the one place where error messages take the name of an operation from. Where the faces
    /// have different names for one operation it is that of the native face.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Set => "set",
            Verb::Delete => "delete",
            Verb::Defined => "defined",
            Verb::Has => "has",
            Verb::HasChildren => "hasChildren",
            Verb::Next => "next",
            Verb::Previous => "previous",
            Verb::Count => "count",
            Verb::Increment => "increment",
            Verb::Lock => "lock",
            Verb::Unlock => "unlock",
            Verb::Document => "getDocument",
            Verb::SetDocument => "setDocument",
            Verb::MergeDocument => "mergeDocument",
            Verb::PatchDocument => "patch",
            Verb::Merge => "merge",
            Verb::Sync => "sync",
            Verb::Open => "open",
        }
    }

    /// Whether it reads or writes documents.
    pub fn is_about_documents(self) -> bool {
        matches!(self, Verb::Document | Verb::SetDocument | Verb::MergeDocument | Verb::PatchDocument)
    }

    /// What the last argument is, where it is no subscript.
    fn operand(self) -> Option<&'static str> {
        match self {
            Verb::Set => Some("value"),
            Verb::Increment => Some("amount"),
            Verb::Lock => Some("timeout"),
            Verb::SetDocument | Verb::MergeDocument | Verb::PatchDocument => Some("JSON text"),
            _ => None,
        }
    }

    /// The arguments to spell in an error message: without the operand and the callback behind it, which only the program
    /// should see.
    pub fn subscripts(self, env: sys::napi_env, arguments: &[sys::napi_value]) -> &[sys::napi_value] {
        let Some(_) = self.operand() else { return arguments };
        match arguments {
            [subscripts @ .., _, last] if argument::is_function(env, *last) => subscripts,
            [subscripts @ .., _] => subscripts,
            [] => arguments,
        }
    }
}

/// What a document's text begins with when bytes are marked in it (see `js/document-text.mjs`). JSON never does.
pub const WITH_BYTES: u8 = 0;

/// The arguments of one operation. Reused by the synchronous calls, so that they do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The node, or the seed for [`Verb::Next`] and [`Verb::Previous`].
    pub key: Key,
    /// The node to copy from, for [`Verb::Merge`].
    source: Key,
    /// The length of the key without its last subscript.
    parent: usize,
    /// Which subscript was the empty string: none, only the last, or another.
    empty: Empty,
    /// The value to store with its type byte, or JSON text.
    operand: Vec<u8>,
    amount: Decimal,
    timeout: Option<Duration>,
    /// Room to read a subscript into.
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Empty {
    #[default]
    None,
    Last,
    Inside,
}

/// What an operation found; the text of it is in the room that came with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// A stored value.
    Stored,
    /// An encoded subscript.
    Subscript,
    /// A canonical number as text.
    Sum,
    /// JSON text.
    Json,
    /// A word of `$DATA`.
    Data(&'static str),
    /// Yes or no.
    Truth(bool),
    /// How many.
    Number(f64),
    /// It was done.
    Done,
    /// There is nothing.
    Nothing,
    /// There is nothing, and on the mg-dbx face that is worth an error message.
    Missing,
}

impl Request {
    /// The request to copy the node `source` over the node `key`.
    pub fn to_merge(key: Key, source: Key) -> Request {
        Request { key, source, ..Request::default() }
    }

    /// Reads the arguments of `verb`. The key begins with `prefix`, the node the object stands for.
    ///
    /// # Errors
    /// What the arguments cannot be.
    #[inline]
    pub fn read(
        &mut self,
        env: sys::napi_env,
        verb: Verb,
        face: Face,
        prefix: &[u8],
        arguments: &[sys::napi_value],
    ) -> std::result::Result<(), Failure> {
        let mut subscripts = arguments;
        if let Some(what) = verb.operand() {
            match arguments.split_last() {
                Some((last, others)) => {
                    subscripts = others;
                    self.read_operand(env, verb, face, *last)?;
                }
                // `mglobal.set()` stores the empty string at the node itself, as mg-dbx-napi does.
                None if verb == Verb::Set && face != Face::Typed => {
                    self.operand.clear();
                    self.operand.push(value::TEXT);
                }
                None => return Err(wrong_argument(format!("the {what} is missing"))),
            }
        }
        self.key.copy_from(prefix);
        self.parent = prefix.len();
        self.empty = Empty::None;
        let last = subscripts.len().wrapping_sub(1);
        for (index, value) in subscripts.iter().enumerate() {
            self.parent = self.key.len();
            let given = subscript(env, *value, face, &mut self.text, &mut self.key)?;
            if !given && self.empty == Empty::None {
                self.empty = if index == last { Empty::Last } else { Empty::Inside };
            }
        }
        if matches!(verb, Verb::Next | Verb::Previous) && subscripts.is_empty() {
            self.empty = if face == Face::Typed { Empty::Last } else { Empty::Inside };
        }
        Ok(())
    }

    fn read_operand(
        &mut self,
        env: sys::napi_env,
        verb: Verb,
        face: Face,
        value: sys::napi_value,
    ) -> std::result::Result<(), Failure> {
        match verb {
            Verb::Set => stored_value(env, value, face, &mut self.operand),
            Verb::Increment => self.read_amount(env, face, value),
            Verb::Lock => {
                self.timeout = read_timeout(env, face, value, &mut self.operand)?;
                Ok(())
            }
            _ => {
                self.operand.clear();
                argument::text_into(env, value, "the JSON text", &mut self.operand)
            }
        }
    }

    fn read_amount(
        &mut self,
        env: sys::napi_env,
        face: Face,
        value: sys::napi_value,
    ) -> std::result::Result<(), Failure> {
        if argument::kind(env, value) == sys::ValueType::napi_number {
            self.amount = Decimal::from_f64(argument::number(env, value))?;
            return Ok(());
        }
        if face == Face::Typed {
            return Err(wrong_argument(format!("the amount must be a number, not {}", argument::describe(env, value))));
        }
        if stored_value(env, value, face, &mut self.operand).is_err() {
            let kind = argument::describe(env, value);
            return Err(wrong_argument(format!(
                "the amount must be a number, or text that begins with one, not {kind}"
            )));
        }
        self.amount = Decimal::from_text_prefix(&self.operand[1..])?;
        Ok(())
    }

    /// Spells an operation that was asked for earlier, when its arguments are no longer there.
    #[cold]
    pub fn operation(&self, verb: Verb) -> String {
        match self.key.as_bytes() {
            [] => verb.name().to_owned(),
            node => format!("{} {}", verb.name(), spell(node)),
        }
    }

    /// Why an operation answered [`Reply::Missing`].
    pub fn missing(&self, verb: Verb) -> &'static str {
        if verb == Verb::Set || self.empty != Empty::None {
            "the empty string is no subscript"
        } else {
            "there is no value at this node"
        }
    }

    /// What is wrong with a subscript that is the empty string, where that means more than "the start".
    fn check_subscripts(&self) -> Result<()> {
        if self.empty == Empty::None {
            return Ok(());
        }
        Err(Error::BadKey("the empty string is no subscript".to_owned()))
    }

    /// The seed's key, where one was given.
    fn seed(&self) -> Option<&[u8]> {
        (self.empty == Empty::None).then_some(self.key.as_bytes())
    }

    /// Performs the operation.
    ///
    /// # Errors
    /// What the operation answers.
    #[inline]
    pub fn perform(&self, verb: Verb, face: Face, connection: &mut Connection, out: &mut Vec<u8>) -> Result<Reply> {
        let node = self.key.as_bytes();
        if self.empty != Empty::None
            && let Some(reply) = self.perform_without_node(verb, face)?
        {
            return Ok(reply);
        }
        match verb {
            Verb::Get => Ok(if connection.get(node, out)? { Reply::Stored } else { Reply::Missing }),
            Verb::Set => connection.set(node, &self.operand).map(|()| Reply::Done),
            Verb::Delete => connection.delete(node).map(|()| Reply::Done),
            Verb::Defined => Ok(Reply::Data(connection.defined(node)?.as_data())),
            Verb::Has => Ok(Reply::Truth(connection.defined(node)?.value)),
            Verb::HasChildren => Ok(Reply::Truth(connection.defined(node)?.children)),
            Verb::Next => {
                let found = connection.next(&node[..self.parent], self.seed(), out)?;
                Ok(if found { Reply::Subscript } else { Reply::Nothing })
            }
            Verb::Previous => {
                let found = connection.previous(&node[..self.parent], self.seed(), out)?;
                Ok(if found { Reply::Subscript } else { Reply::Nothing })
            }
            #[allow(clippy::cast_precision_loss)] // nobody has 2^53 children
            Verb::Count => Ok(Reply::Number(connection.count(node)? as f64)),
            Verb::Increment => connection.increment(node, &self.amount, face == Face::Typed, out).map(|()| Reply::Sum),
            Verb::Lock => connection.lock(node, self.timeout).map(Reply::Truth),
            Verb::Unlock => connection.unlock(node).map(|()| Reply::Done),
            Verb::Merge => connection.merge(node, self.source.as_bytes()).map(|()| Reply::Done),
            Verb::Sync => connection.store().sync().map(|()| Reply::Done),
            Verb::Open => Err(Error::Internal("a store is not opened here".to_owned())),
            Verb::Document | Verb::SetDocument | Verb::MergeDocument | Verb::PatchDocument => {
                self.perform_on_document(verb, connection, out)
            }
        }
    }

    fn perform_on_document(&self, verb: Verb, connection: &mut Connection, out: &mut Vec<u8>) -> Result<Reply> {
        let node = self.key.as_bytes();
        if verb == Verb::Document {
            out.clear();
            return Ok(match connection.document(node, out)? {
                Found::Nothing => Reply::Nothing,
                Found::Json => Reply::Json,
                Found::HasBytes => {
                    out.insert(0, WITH_BYTES);
                    Reply::Json
                }
            });
        }
        let change = match verb {
            Verb::SetDocument => Change::Replace,
            Verb::MergeDocument => Change::Merge,
            _ => Change::Patch,
        };
        let (json, bytes) = match self.operand.strip_prefix(&[WITH_BYTES]) {
            Some(json) => (json, Bytes::Marked),
            None => (&self.operand[..], Bytes::Literal),
        };
        let json = std::str::from_utf8(json).map_err(|_| Error::Argument("the JSON text is not UTF-8".to_owned()))?;
        connection.change_document(node, json, change, bytes).map(|()| Reply::Done)
    }

    /// What an operation answers when a subscript was the empty string; nothing where that is a seed.
    fn perform_without_node(&self, verb: Verb, face: Face) -> Result<Option<Reply>> {
        if face == Face::Typed && !matches!(verb, Verb::Next | Verb::Previous) {
            self.check_subscripts()?;
        }
        Ok(match verb {
            Verb::Next | Verb::Previous if self.empty == Empty::Last => None,
            Verb::Next | Verb::Previous => Some(Reply::Nothing),
            Verb::Get | Verb::Set => Some(Reply::Missing),
            Verb::Defined => Some(Reply::Data("0")),
            Verb::Delete => Some(Reply::Done),
            _ => {
                self.check_subscripts()?;
                None
            }
        })
    }
}

/// A timeout in seconds; a negative one waits for ever. The mg-dbx face takes it as text too.
fn read_timeout(
    env: sys::napi_env,
    face: Face,
    value: sys::napi_value,
    text: &mut Vec<u8>,
) -> std::result::Result<Option<Duration>, Failure> {
    let seconds = if argument::kind(env, value) == sys::ValueType::napi_number {
        argument::number(env, value)
    } else if face != Face::Typed && stored_value(env, value, face, text).is_ok() {
        Decimal::from_text_prefix(&text[1..])?.to_f64()
    } else {
        f64::NAN
    };
    if seconds.is_nan() {
        let given = match argument::kind(env, value) {
            sys::ValueType::napi_number => "NaN",
            _ => argument::describe(env, value),
        };
        return Err(wrong_argument(format!("the timeout must be a number of seconds, not {given}")));
    }
    // A century is for ever, and longer ones would not fit.
    Ok((0.0..3e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds)))
}

/// The JavaScript value of a reply.
#[inline]
pub fn answer(env: sys::napi_env, verb: Verb, face: Face, reply: Reply, out: &[u8], text: &mut Vec<u8>) -> Answer {
    match (reply, face) {
        (Reply::Stored, _) => answer::stored(env, out, face),
        (Reply::Subscript, _) => answer::subscript(env, out, face, text),
        (Reply::Json, _) => answer::utf8(env, out),
        (Reply::Sum, Face::Text(_)) => answer::ascii(env, out),
        (Reply::Sum, Face::Typed) => {
            answer::number(env, Decimal::from_canonical(out).map_or(f64::NAN, |sum| sum.to_f64()))
        }
        (Reply::Data(word), _) => answer::ascii(env, word.as_bytes()),
        (Reply::Truth(truth), Face::Text(_)) => answer::ascii(env, if truth { b"1" } else { b"0" }),
        (Reply::Truth(truth), Face::Typed) => answer::boolean(env, truth),
        (Reply::Number(n), _) => answer::number(env, n),
        (Reply::Done, Face::Text(_)) if verb == Verb::Unlock => answer::ascii(env, b"1"),
        (Reply::Done, Face::Text(_)) => answer::ascii(env, b"0"),
        (Reply::Nothing | Reply::Missing, Face::Text(_)) if verb == Verb::Document => answer::undefined(env),
        (Reply::Nothing | Reply::Missing, Face::Text(_)) => answer::ascii(env, b""),
        (Reply::Done | Reply::Nothing | Reply::Missing, Face::Typed) => answer::undefined(env),
    }
}
