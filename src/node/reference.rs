//! The classes `mglobal` and `Global`: a node of a store and the operations on it and below it. They differ in the face:
//! `mglobal` reads and writes text, `Global` typed values.

use std::cell::RefCell;
use std::rc::Rc;

use napi::sys;

use super::answer;
use super::argument::{self, Face};
use super::border::{self, Answer, Call, Class, Entry, Failure, entry, reading, wrong_argument};
use super::indexes;
use super::pages;
use super::request::{Request, Verb};
use super::server::{self, Server};
use crate::key::Key;
use crate::value;

/// A node that an object stands for.
pub struct Reference<const TYPED: bool> {
    server: Rc<Server>,
    node: RefCell<Node>,
}

#[derive(Default)]
struct Node {
    name: String,
    key: Key,
}

impl Class for Reference<false> {
    const NAME: &'static str = "mglobal";
    const MARK: u64 = 0xCA2E_7DB0_6106_A101;
}

impl Class for Reference<true> {
    const NAME: &'static str = "Global";
    const MARK: u64 = 0xCA2E_7DB0_6106_A102;
}

/// `new mglobal(db, name, ...fixed)`.
pub const MGLOBAL: Entry = entry!(construct::<false>);
/// `new Global(db, name, ...fixed)`.
pub const GLOBAL: Entry = entry!(construct::<true>);

fn construct<const TYPED: bool>(call: Call<'_>) -> Answer
where
    Reference<TYPED>: Class,
{
    let server = server::first_argument(call, <Reference<TYPED> as Class>::NAME)?;
    let operation = if TYPED { "global" } else { "mglobal" };
    let node = read_node(call, operation, face::<TYPED>(&server), &call.arguments[1..])?;
    border::wrap(call, Reference::<TYPED> { server, node: RefCell::new(node) })
}

fn face<const TYPED: bool>(server: &Server) -> Face {
    if TYPED { Face::Typed } else { server.text_face() }
}

/// Reads a global's name and fixed subscripts.
fn read_node(call: Call<'_>, operation: &str, face: Face, arguments: &[sys::napi_value]) -> Result<Node, Failure> {
    let named = |failure: Failure| failure.at(|| operation.to_owned());
    let Some((name, fixed)) = arguments.split_first() else {
        return Err(named(wrong_argument("the global's name is missing")));
    };
    let name = argument::text(call.env, *name, "the global's name").map_err(named)?;
    let mut key = Key::new();
    key.global(&name).map_err(|error| named(error.into()))?;
    let name = name.trim_start_matches('^').to_owned();
    append(call, face, fixed, &mut key)
        .map_err(|failure| failure.at(|| format!("{operation} {}", argument::spell_node(call, &name, &[], fixed))))?;
    Ok(Node { name, key })
}

/// Appends subscripts to a key.
fn append(call: Call<'_>, face: Face, subscripts: &[sys::napi_value], key: &mut Key) -> Result<(), Failure> {
    let mut text = Vec::new();
    for subscript in subscripts {
        if !argument::subscript(call.env, *subscript, face, &mut text, key)? {
            return Err(crate::error::Error::BadKey("the empty string is no subscript".to_owned()).into());
        }
    }
    Ok(())
}

/// Reads a global's name and subscripts as one key.
pub fn read_key(
    call: Call<'_>,
    operation: &str,
    face: Face,
    arguments: &[sys::napi_value],
) -> Result<Vec<u8>, Failure> {
    Ok(read_node(call, operation, face, arguments)?.key.as_bytes().to_vec())
}

/// The methods that both classes have under the same names.
macro_rules! common {
    ($typed:literal) => {
        [
            ("get", reading!(|call| operate::<$typed>(call, Verb::Get))),
            ("set", entry!(|call| operate::<$typed>(call, Verb::Set))),
            ("delete", entry!(|call| operate::<$typed>(call, Verb::Delete))),
            ("next", reading!(|call| operate::<$typed>(call, Verb::Next))),
            ("previous", reading!(|call| operate::<$typed>(call, Verb::Previous))),
            ("increment", entry!(|call| operate::<$typed>(call, Verb::Increment))),
            ("unlock", entry!(|call| operate::<$typed>(call, Verb::Unlock))),
            ("documentText", reading!(|call| operate::<$typed>(call, Verb::Document))),
            ("setDocumentText", entry!(|call| operate::<$typed>(call, Verb::SetDocument))),
            ("mergeDocumentText", entry!(|call| operate::<$typed>(call, Verb::MergeDocument))),
            ("patchDocumentText", entry!(|call| operate::<$typed>(call, Verb::PatchDocument))),
            ("merge", entry!(merge::<$typed>)),
        ]
    };
}

/// The methods of `mglobal`.
pub fn mglobal_methods() -> Vec<(&'static str, Entry)> {
    let mut methods = common!(false).to_vec();
    methods.extend([
        ("defined", reading!(|call| operate::<false>(call, Verb::Defined))),
        ("lock", entry!(|call| operate::<false>(call, Verb::Lock))),
        ("reset", entry!(reset)),
        ("typed", reading!(|call| operate_typed(call, Verb::Get))),
        ("setTyped", entry!(|call| operate_typed(call, Verb::Set))),
        ("incrementTyped", entry!(|call| operate_typed(call, Verb::Increment))),
        ("scan", reading!(pages::scan::<false>)),
    ]);
    methods
}

/// The methods of `Global` that need no more than one call.
pub fn global_methods() -> Vec<(&'static str, Entry)> {
    let mut methods = common!(true).to_vec();
    methods.extend([
        ("has", reading!(|call| operate::<true>(call, Verb::Has))),
        ("hasChildren", reading!(|call| operate::<true>(call, Verb::HasChildren))),
        ("count", reading!(|call| operate::<true>(call, Verb::Count))),
        ("lockWithin", entry!(|call| operate::<true>(call, Verb::Lock))),
        ("getLater", entry!(|call| operate_later(call, Verb::Get))),
        ("setLater", entry!(|call| operate_later(call, Verb::Set))),
        ("deleteLater", entry!(|call| operate_later(call, Verb::Delete))),
        ("hasLater", entry!(|call| operate_later(call, Verb::Has))),
        ("hasChildrenLater", entry!(|call| operate_later(call, Verb::HasChildren))),
        ("nextLater", entry!(|call| operate_later(call, Verb::Next))),
        ("previousLater", entry!(|call| operate_later(call, Verb::Previous))),
        ("countLater", entry!(|call| operate_later(call, Verb::Count))),
        ("incrementLater", entry!(|call| operate_later(call, Verb::Increment))),
        ("lockLater", entry!(|call| operate_later(call, Verb::Lock))),
        ("unlockLater", entry!(|call| operate_later(call, Verb::Unlock))),
        ("documentTextLater", entry!(|call| operate_later(call, Verb::Document))),
        ("setDocumentTextLater", entry!(|call| operate_later(call, Verb::SetDocument))),
        ("mergeDocumentTextLater", entry!(|call| operate_later(call, Verb::MergeDocument))),
        ("patchDocumentTextLater", entry!(|call| operate_later(call, Verb::PatchDocument))),
        ("mergeLater", entry!(merge_later)),
        ("scan", reading!(pages::scan::<true>)),
        ("mark", entry!(mark)),
        ("setMark", entry!(set_mark)),
        ("addIndex", entry!(indexes::add)),
        ("removeIndex", entry!(indexes::remove)),
        ("findPage", reading!(indexes::find)),
    ]);
    methods
}

#[inline]
fn operate<const TYPED: bool>(call: Call<'_>, verb: Verb) -> Answer
where
    Reference<TYPED>: Class,
{
    let reference = border::this::<Reference<TYPED>>(call)?;
    reference.operate(call, verb, face::<TYPED>(&reference.server))
}

/// An operation of `mglobal` on typed values, for the document face.
fn operate_typed(call: Call<'_>, verb: Verb) -> Answer {
    border::this::<Reference<false>>(call)?.operate(call, verb, Face::Typed)
}

/// An operation of `Global` that answers with a promise.
fn operate_later(call: Call<'_>, verb: Verb) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let node = reference.node.borrow();
    let mut request = Request::default();
    request
        .read(call.env, verb, Face::Typed, node.key.as_bytes(), call.arguments)
        .and_then(|()| reference.server.promise(call, verb, Face::Typed, request))
        .map_err(|failure| failure.at(|| node.operation(call, verb)))
}

/// [`merge`] that answers with a promise.
fn merge_later(call: Call<'_>) -> Answer {
    let target = border::this::<Reference<true>>(call)?;
    read_merge::<true>(call, target)
        .and_then(|(key, source)| {
            let request = Request::to_merge(key, source);
            target.server.promise(call, Verb::Merge, Face::Typed, request)
        })
        .map_err(|failure| failure.at(|| target.node.borrow().place(call, "merge")))
}

impl<const TYPED: bool> Reference<TYPED> {
    /// The face of the class.
    pub fn face(&self) -> Face {
        face::<TYPED>(&self.server)
    }

    /// Spells an operation on the node, for an error message.
    pub fn place(&self, call: Call<'_>, operation: &str) -> String {
        self.node.borrow().place(Call { arguments: &[], ..call }, operation)
    }

    #[inline]
    fn operate(&self, call: Call<'_>, verb: Verb, face: Face) -> Answer {
        let node = self.node.borrow();
        self.server.operate(call, verb, face, node.key.as_bytes(), call.arguments, || node.operation(call, verb))
    }

    /// The connection of the node.
    pub fn server(&self) -> &Rc<Server> {
        &self.server
    }

    /// The key of the node and of `arguments` below it.
    pub fn below(&self, call: Call<'_>, face: Face, arguments: &[sys::napi_value]) -> Result<Key, Failure> {
        let mut key = self.node.borrow().key.clone();
        append(call, face, arguments, &mut key)?;
        Ok(key)
    }
}

impl Node {
    /// Spells an operation of a verb, for an error message.
    fn operation(&self, call: Call<'_>, verb: Verb) -> String {
        self.place(Call { arguments: verb.subscripts(call.env, call.arguments), ..call }, verb.name())
    }

    /// Spells the operation and the node, for an error message.
    fn place(&self, call: Call<'_>, operation: &str) -> String {
        let fixed = &self.key.as_bytes()[self.name.len() + 1..];
        format!("{operation} {}", argument::spell_node(call, &self.name, fixed, call.arguments))
    }
}

fn reset(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<false>>(call)?;
    let node = read_node(call, "reset", reference.server.text_face(), call.arguments)
        .map_err(|failure| reference.server.failed(failure))?;
    *reference.node.borrow_mut() = node;
    answer::undefined(call.env)
}

/// The marks by the names that exports give them.
const MARKS: [(&str, u8); 3] =
    [("emptyObject", value::EMPTY_OBJECT), ("emptyArray", value::EMPTY_ARRAY), ("object", value::OBJECT)];

/// `mark(...subscripts)`: the name of the mark that is stored at a node, undefined where there is none.
fn mark(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let key = reference.below(call, Face::Typed, call.arguments)?;
    let mut stored = Vec::new();
    let found = reference.server.with(|connection| connection.get(key.as_bytes(), &mut stored))?;
    match MARKS.iter().find(|(_, tag)| found && stored == [*tag]) {
        Some((name, _)) => answer::ascii(call.env, name.as_bytes()),
        None => answer::undefined(call.env),
    }
}

/// `setMark(...subscripts, name)`: stores a mark as the node's value.
fn set_mark(call: Call<'_>) -> Answer {
    let reference = border::this::<Reference<true>>(call)?;
    let Some((name, subscripts)) = call.arguments.split_last() else {
        return Err(wrong_argument("setMark: the mark's name is missing"));
    };
    let name = argument::text(call.env, *name, "the mark's name")?;
    let Some((_, tag)) = MARKS.iter().find(|(known, _)| *known == name) else {
        return Err(wrong_argument(format!("setMark: {name} is no mark")));
    };
    let key = reference.below(call, Face::Typed, subscripts)?;
    reference
        .server
        .with(|connection| connection.set(key.as_bytes(), &[*tag]))
        .map_err(|failure| failure.at(|| reference.node.borrow().place(call, "setMark")))?;
    answer::undefined(call.env)
}

/// `merge([...subscripts,] source [, ...sourceSubscripts])`, where the source is an object of the same class.
fn merge<const TYPED: bool>(call: Call<'_>) -> Answer
where
    Reference<TYPED>: Class,
{
    let target = border::this::<Reference<TYPED>>(call)?;
    let place = || target.node.borrow().place(call, "merge");
    let merged = read_merge::<TYPED>(call, target)
        .and_then(|(to, from)| target.server.with(|connection| connection.merge(to.as_bytes(), from.as_bytes())));
    match merged {
        Ok(()) if TYPED => answer::undefined(call.env),
        Ok(()) => answer::ascii(call.env, b"0"),
        // Before `open` the mg-dbx face stays silent.
        Err(Failure::Error(crate::error::Error::Closed(_), _)) if !TYPED && !target.server.is_open() => {
            answer::ascii(call.env, b"")
        }
        Err(failure) => Err(target.server.failed(failure.at(place))),
    }
}

fn read_merge<const TYPED: bool>(call: Call<'_>, target: &Reference<TYPED>) -> Result<(Key, Key), Failure>
where
    Reference<TYPED>: Class,
{
    let found =
        call.arguments.iter().enumerate().find_map(|(index, value)| {
            border::unwrap::<Reference<TYPED>>(call.env, *value).map(|source| (index, source))
        });
    let Some((index, source)) = found else {
        let name = <Reference<TYPED> as Class>::NAME;
        return Err(wrong_argument(format!("the source is missing: merge takes a {name}")));
    };
    if !Rc::ptr_eq(&target.server, &source.server) {
        return Err(wrong_argument("the source belongs to another connection: make it with the same one"));
    }
    let face = face::<TYPED>(&target.server);
    let to = target.below(call, face, &call.arguments[..index])?;
    let from = source.below(call, face, &call.arguments[index + 1..])?;
    Ok((to, from))
}
