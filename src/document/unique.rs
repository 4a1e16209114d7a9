//! JSON text in which a name occurs twice in an object, made into text with only the last one, as `JSON.parse` takes it.
//! No program writes such text on purpose, so this may build a tree.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::write::not_json;
use crate::error::{Error, Result};
use crate::key::MAX_KEY;

/// The same document with each name once.
pub fn keep_last(json: &str) -> Result<String> {
    let mut parser = serde_json::Deserializer::from_str(json);
    parser.disable_recursion_limit();
    let value = Level(0).deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    let value = value.map_err(|error| match error.to_string() {
        what if what.starts_with(TOO_DEEP) => Error::KeyTooLong(MAX_KEY + 1),
        _ => not_json(&error),
    })?;
    Ok(value.to_string())
}

const TOO_DEEP: &str = "more levels than a key has bytes";

/// How deep the value is that comes next.
struct Level(usize);

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<Value, D::Error> {
        // Each level takes a byte of the key at least, so this refuses nothing that could be stored.
        if self.0 > MAX_KEY {
            return Err(D::Error::custom(TOO_DEEP));
        }
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> std::result::Result<Value, E> {
        Ok(n.into())
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> std::result::Result<Value, E> {
        Ok(n.into())
    }

    fn visit_f64<E: de::Error>(self, n: f64) -> std::result::Result<Value, E> {
        Ok(Number::from_f64(n).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> std::result::Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(Level(self.0 + 1))? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Level(self.0 + 1))?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}
