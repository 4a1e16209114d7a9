//! The class `mcursor`: a cursor over children, over valued nodes, or over the globals of a store.

use std::cell::RefCell;
use std::ptr;
use std::rc::Rc;

use napi::sys;

use super::answer;
use super::argument::{self, Face};
use super::border::{self, Answer, Call, Class, Entry, Failure, entry, reading, wrong_argument};
use super::server::{self, Server};
use crate::cursor::Place;
use crate::error::Error;
use crate::key::{self, Key};
use crate::store::{Connection, OWN_GLOBAL};
use crate::value::{Value, write_text};

/// A cursor.
pub struct Cursor {
    server: Rc<Server>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    kind: Kind,
    /// Length of the global's own key.
    root: usize,
    /// The node the cursor stands on, or the seed.
    key: Key,
    /// The length of the key of the parent, for a cursor over children.
    parent: usize,
    /// The seed's last subscript was the empty string, and no step was taken yet.
    at_edge: bool,
    /// No seed was given at all.
    unseeded: bool,
    /// The global the cursor stands on, for a directory.
    name: String,
    with_data: bool,
    /// The data comes typed, for the document face; a mark is none.
    typed: bool,
    as_url: bool,
    with_own: bool,
    found: Vec<u8>,
    stored: Vec<u8>,
    /// Room to spell a subscript in, and for the parts of an answer.
    text: Vec<u8>,
    parts: Vec<sys::napi_value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Children,
    Valued,
    Directory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Next,
    Previous,
}

impl Class for Cursor {
    const NAME: &'static str = "mcursor";
    const MARK: u64 = 0xCA2E_7DB0_C025_0201;
}

/// `new mcursor(db, {global, key}, {multilevel, getdata, globaldirectory, format})`.
pub const CONSTRUCTOR: Entry = entry!(|call| {
    let server = server::first_argument(call, "mcursor")?;
    let state = State::read(call, &server, &call.arguments[1..])?;
    border::wrap(call, Cursor { server, state: RefCell::new(state) })
});

/// The methods of the class.
pub fn methods() -> Vec<(&'static str, Entry)> {
    vec![
        ("next", reading!(|call| step(call, Direction::Next))),
        ("previous", reading!(|call| step(call, Direction::Previous))),
        ("reset", entry!(reset)),
        ("execute", entry!(|call| server::unsupported(call, "execute", "SQL"))),
        ("cleanup", entry!(|call| server::unsupported(call, "cleanup", "SQL"))),
    ]
}

fn reset(call: Call<'_>) -> Answer {
    let cursor = border::this::<Cursor>(call)?;
    let state = State::read(call, &cursor.server, call.arguments)
        .map_err(|failure| cursor.server.failed(failure.at(|| "reset".to_owned())))?;
    *cursor.state.borrow_mut() = state;
    answer::undefined(call.env)
}

fn step(call: Call<'_>, direction: Direction) -> Answer {
    let cursor = border::this::<Cursor>(call)?;
    if !cursor.server.is_open() {
        return answer::null(call.env);
    }
    let mut state = cursor.state.borrow_mut();
    let place = || if direction == Direction::Next { "next of a cursor" } else { "previous of a cursor" }.to_owned();
    let found = cursor.server.with(|connection| state.go(connection, direction)).map_err(|f| f.at(place))?;
    if !found {
        return answer::null(call.env);
    }
    state.show(call.env, &cursor.server)
}

impl State {
    fn read(call: Call<'_>, server: &Server, arguments: &[sys::napi_value]) -> Result<State, Failure> {
        let env = call.env;
        let is_object = |value: &&sys::napi_value| argument::kind(env, **value) == sys::ValueType::napi_object;
        let Some(query) = arguments.first().filter(is_object).copied() else {
            return Err(wrong_argument("mcursor: the query is missing: {global: 'Name', key: ['']}"));
        };
        if argument::member(env, query, "sql")?.is_some() || argument::member(env, query, "class")?.is_some() {
            return Err(
                Error::Unsupported("mcursor: CaretDB keeps globals and has no SQL and no classes".into()).into()
            );
        }
        let mut state = State::default();
        if let Some(options) = arguments.get(1).filter(is_object).copied() {
            state.read_options(env, options)?;
        }
        let name = argument::text_member(env, query, "global")?;
        if state.kind == Kind::Directory {
            name.unwrap_or_default().trim_start_matches('^').clone_into(&mut state.name);
            return Ok(state);
        }
        let name = name.ok_or_else(|| wrong_argument("mcursor: the query names no global"))?;
        state.key.global(&name)?;
        state.root = state.key.len();
        state.read_seed(env, server, argument::member(env, query, "key")?)?;
        Ok(state)
    }

    fn read_options(&mut self, env: sys::napi_env, options: sys::napi_value) -> Result<(), Failure> {
        let is_set = |name| -> Result<bool, Failure> {
            Ok(argument::member(env, options, name)?.is_some_and(|value| is_truthy(env, value)))
        };
        if is_set("globaldirectory")? {
            self.kind = Kind::Directory;
        } else if is_set("multilevel")? {
            self.kind = Kind::Valued;
        }
        self.with_data = is_set("getdata")?;
        self.with_own = is_set("hidden")?;
        self.typed = is_set("typed")?;
        self.as_url = argument::text_member(env, options, "format")?.is_some_and(|format| format == "url");
        Ok(())
    }

    fn read_seed(&mut self, env: sys::napi_env, server: &Server, seed: Option<sys::napi_value>) -> Result<(), Failure> {
        let (mut is_array, mut length) = (false, 0);
        self.parent = self.root;
        self.at_edge = true;
        let Some(seed) = seed else {
            self.unseeded = true;
            return Ok(());
        };
        // SAFETY: the question is asked before the length is used.
        unsafe {
            sys::napi_is_array(env, seed, &raw mut is_array);
            if !is_array {
                return Err(wrong_argument("mcursor: key must be an array of subscripts"));
            }
            sys::napi_get_array_length(env, seed, &raw mut length);
        }
        self.unseeded = length == 0;
        let mut text = Vec::new();
        for index in 0..length {
            let mut subscript = ptr::null_mut();
            // SAFETY: the index is within the array. A getter may throw, which leaves the exception pending.
            if unsafe { sys::napi_get_element(env, seed, index, &raw mut subscript) } != sys::Status::napi_ok {
                return Err(Failure::Pending);
            }
            self.parent = self.key.len();
            let given = argument::subscript(env, subscript, server.text_face(), &mut text, &mut self.key)?;
            self.at_edge = !given;
            if !given && index + 1 != length {
                return Err(
                    Error::BadKey("mcursor: only the last element of key may be the empty string".into()).into()
                );
            }
        }
        Ok(())
    }

    /// Takes a step; the cursor stays where it is when there is none.
    fn go(&mut self, connection: &mut Connection, direction: Direction) -> crate::error::Result<bool> {
        match self.kind {
            Kind::Directory => self.go_to_global(connection, direction),
            Kind::Valued => self.go_to_valued(connection, direction),
            Kind::Children => self.go_to_child(connection, direction),
        }
    }

    fn go_to_child(&mut self, connection: &mut Connection, direction: Direction) -> crate::error::Result<bool> {
        let (parent, whole) = (&self.key.as_bytes()[..self.parent], self.key.as_bytes());
        let seed = (!self.at_edge).then_some(whole);
        let found = match direction {
            Direction::Next => connection.next(parent, seed, &mut self.found)?,
            Direction::Previous => connection.previous(parent, seed, &mut self.found)?,
        };
        if !found {
            return Ok(false);
        }
        self.key.truncate(self.parent);
        self.key.encoded(&self.found)?;
        self.at_edge = false;
        if self.with_data && !connection.get(self.key.as_bytes(), &mut self.stored)? {
            self.stored.clear();
        }
        Ok(true)
    }

    fn go_to_valued(&mut self, connection: &mut Connection, direction: Direction) -> crate::error::Result<bool> {
        if self.unseeded && direction == Direction::Previous {
            return Ok(false);
        }
        let whole = self.key.as_bytes();
        let place = Place { root: &whole[..self.root], node: whole, at_end: self.at_edge };
        let stored = self.with_data.then_some(&mut self.stored);
        let found = match direction {
            Direction::Next => connection.next_valued(place, &mut self.found, stored)?,
            Direction::Previous => connection.previous_valued(place, &mut self.found, stored)?,
        };
        if found {
            self.key.copy_from(&self.found);
            (self.at_edge, self.unseeded) = (false, false);
        }
        Ok(found)
    }

    fn go_to_global(&mut self, connection: &mut Connection, direction: Direction) -> crate::error::Result<bool> {
        let mut name = String::new();
        let mut from = self.name.clone();
        loop {
            let found = match direction {
                Direction::Next => connection.next_global(&from, &mut name)?,
                Direction::Previous => connection.previous_global(&from, &mut name)?,
            };
            if !found {
                return Ok(false);
            }
            if name != OWN_GLOBAL || self.with_own {
                self.name = name;
                return Ok(true);
            }
            from.clone_from(&name);
        }
    }

    /// The result of the step just taken, always a fresh value.
    fn show(&mut self, env: sys::napi_env, server: &Server) -> Answer {
        let face = server.text_face();
        if self.kind == Kind::Directory {
            return answer::utf8(env, format!("^{}", self.name).as_bytes());
        }
        if self.as_url {
            return answer::ascii(env, self.spell_url()?.as_bytes());
        }
        let whole = self.key.as_bytes();
        let text = &mut self.text;
        let data = match (self.with_data, self.stored.is_empty()) {
            (false, _) => answer::undefined(env)?,
            (true, true) => answer::ascii(env, b"")?,
            (true, false) => answer::stored(env, &self.stored, if self.typed { Face::Typed } else { face })?,
        };
        if self.kind == Kind::Children {
            let subscript = answer::subscript(env, &whole[self.parent..], face, text)?;
            if !self.with_data {
                return Ok(subscript);
            }
            let object = answer::object(env)?;
            // SAFETY: all handles were made in this environment.
            unsafe {
                border::set_property(env, object, "key", subscript);
                border::set_property(env, object, "data", data);
            }
            return Ok(object);
        }
        self.parts.clear();
        self.parts.push(data);
        for encoded in key::subscripts(&whole[self.root..]) {
            self.parts.push(answer::subscript(env, encoded, face, text)?);
        }
        answer::leaf(env, &self.parts)
    }

    /// `key1=…&key2=…&data=…`, each part as `encodeURIComponent` spells it.
    fn spell_url(&self) -> crate::error::Result<String> {
        let shown = if self.kind == Kind::Children { self.parent } else { self.root };
        let mut url = String::new();
        let mut part = Vec::new();
        for (number, encoded) in (1..).zip(key::subscripts(&self.key.as_bytes()[shown..])) {
            part.clear();
            key::write_text(encoded, &mut part)?;
            if number > 1 {
                url.push('&');
            }
            url.push_str(&format!("key{number}="));
            encode_component(&part, &mut url);
        }
        if self.with_data {
            part.clear();
            if !self.stored.is_empty() {
                write_text(&Value::read(&self.stored)?, &mut part);
            }
            url.push_str("&data=");
            encode_component(&part, &mut url);
        }
        Ok(url)
    }
}

fn encode_component(bytes: &[u8], url: &mut String) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(byte) {
            url.push(char::from(*byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
}

fn is_truthy(env: sys::napi_env, value: sys::napi_value) -> bool {
    let mut truth = ptr::null_mut();
    // SAFETY: becoming a boolean runs no JavaScript.
    unsafe { sys::napi_coerce_to_bool(env, value, &raw mut truth) };
    argument::boolean(env, truth)
}
