//! The operations on globals: get, set, defined, next, previous, delete, increment, merge. Keys are encoded keys of
//! nodes, values are stored values; [`crate::key`] and [`crate::value`] make both.

use crate::engine::{Batch, Bound, Flow, Range};
use crate::error::{Error, Result};
use crate::key::{self, CHILDREN};
use crate::number::{self, Decimal};
use crate::store::Connection;
use crate::value::{self, Value};

/// What a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defined {
    /// It has a value.
    pub value: bool,
    /// It has children.
    pub children: bool,
}

impl Defined {
    /// M's `$DATA`: `0`, `1` (a value), `10` (children) or `11` (both).
    #[must_use]
    pub fn as_data(self) -> &'static str {
        match (self.value, self.children) {
            (false, false) => "0",
            (true, false) => "1",
            (false, true) => "10",
            (true, true) => "11",
        }
    }
}

impl Connection {
    /// Reads the stored value of a node into `stored`. False when it has none.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    #[inline]
    pub fn get(&mut self, node: &[u8], stored: &mut Vec<u8>) -> Result<bool> {
        self.session.get(node, stored)
    }

    /// Stores a value at a node.
    ///
    /// # Errors
    /// [`crate::error::Error::Busy`], [`crate::error::Error::DiskFull`], [`crate::error::Error::TooLarge`].
    ///
    /// ```
    /// use caretdb::{engine::Options, key::Key, store::Store, value::Value};
    /// # let folder = tempfile::tempdir()?;
    /// let mut db = Store::open(Some(folder.path()), &Options::default())?.connect(false)?;
    /// let mut key = Key::new();
    /// key.global("Person")?;
    /// key.number(1.0)?;
    /// let (mut stored, mut found) = (Vec::new(), Vec::new());
    /// Value::Text("Rob").write(&mut stored);
    /// db.set(key.as_bytes(), &stored)?;
    /// assert!(db.get(key.as_bytes(), &mut found)?);
    /// assert_eq!(Value::read(&found)?, Value::Text("Rob"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn set(&mut self, node: &[u8], stored: &[u8]) -> Result<()> {
        self.put(node, stored)
    }

    /// Asks what a node has.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn defined(&mut self, node: &[u8]) -> Result<Defined> {
        let mut defined = Defined::default();
        key::subtree_end(node, &mut self.bound);
        self.session.scan(Range::keys(node, &self.bound), &mut |found, _| {
            if found.len() == node.len() {
                defined.value = true;
                return Ok(Flow::Continue);
            }
            defined.children = true;
            Ok(Flow::Stop)
        })?;
        Ok(defined)
    }

    /// Deletes a node and everything below it.
    ///
    /// # Errors
    /// As [`Connection::set`].
    pub fn delete(&mut self, node: &[u8]) -> Result<()> {
        let mut end = Vec::with_capacity(node.len());
        key::subtree_end(node, &mut end);
        let mut batch = Batch::new();
        batch.delete_range(node, &end);
        self.apply(&batch)
    }

    /// Finds the child of `parent` that follows the child `after`, or the first one, and writes its encoded subscript to
    /// `subscript`. False when there is none. `after` is a child's whole key, which need not exist.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn next(&mut self, parent: &[u8], after: Option<&[u8]>, subscript: &mut Vec<u8>) -> Result<bool> {
        let bound = &mut self.bound;
        if let Some(child) = after {
            key::subtree_end(child, bound);
        } else {
            bound.clear();
            bound.extend_from_slice(parent);
            bound.push(CHILDREN);
        }
        Ok(self.session.seek(Bound::AtOrAfter(bound), subscript, None)? && keep_child(parent, subscript))
    }

    /// Finds the child of `parent` before the child `before`, or the last one; otherwise as [`Connection::next`].
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn previous(&mut self, parent: &[u8], before: Option<&[u8]>, subscript: &mut Vec<u8>) -> Result<bool> {
        let end = match before {
            Some(child) => child,
            None => {
                key::subtree_end(parent, &mut self.bound);
                &self.bound
            }
        };
        Ok(self.session.seek(Bound::Before(end), subscript, None)? && keep_child(parent, subscript))
    }

    /// Adds `by` to a node's value as M does and writes the sum to `sum` as canonical text. A node without a value counts
    /// as 0. No other write comes between.
    ///
    /// The sum is stored as that text; as a number where one was stored before, or where none was and `typed` asks for
    /// one, so that a number in a document stays one.
    ///
    /// # Errors
    /// As [`Connection::set`], and [`crate::error::Error::BadValue`] when the sum is out of M's range.
    pub fn increment(&mut self, node: &[u8], by: &Decimal, typed: bool, sum: &mut Vec<u8>) -> Result<()> {
        self.check_writable()?;
        if self.indexes.see(node) {
            return self.increment_and_index(node, by, typed, sum);
        }
        self.remember(node)?;
        match self.session.calculate(node, &mut |stored, next| add(stored, by, typed, sum, next)) {
            Err(Error::Outdated) => self.increment_and_index(node, by, typed, sum),
            added => added,
        }
    }

    /// The same where an index may have to follow.
    #[cold]
    fn increment_and_index(&mut self, node: &[u8], by: &Decimal, typed: bool, sum: &mut Vec<u8>) -> Result<()> {
        self.within_node(node, |connection| {
            let (mut stored, mut next) = (Vec::new(), Vec::new());
            let found = connection.get(node, &mut stored)?;
            add(found.then_some(&stored), by, typed, sum, &mut next)?;
            connection.put(node, &next)
        })
    }

    /// Copies the node `source` and everything below it over the node `target`. What the target has beside stays.
    ///
    /// # Errors
    /// As [`Connection::set`], and [`crate::error::Error::KeyTooLong`] when a copied key would be; nothing is copied then.
    pub fn merge(&mut self, target: &[u8], source: &[u8]) -> Result<()> {
        let mut end = Vec::with_capacity(source.len());
        key::subtree_end(source, &mut end);
        if self.level() == 0 && self.writes_far_from_indexes(target)? && self.session.copy((source, &end), target)? {
            return Ok(());
        }
        self.within_node(source, |connection| {
            let mut batch = Batch::new();
            let mut copy = key::Key::new();
            connection.session.scan(Range::entries(source, &end), &mut |found, stored| {
                copy.copy_from(target);
                copy.encoded(&found[source.len()..])?;
                batch.put(copy.as_bytes(), stored);
                Ok(Flow::Continue)
            })?;
            connection.apply(&batch)
        })
    }

    /// Finds the global whose name follows `after` (empty: the first one) and writes its name to `name`.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn next_global(&mut self, after: &str, name: &mut String) -> Result<bool> {
        let mut start = after.as_bytes().to_vec();
        if !start.is_empty() {
            start.push(1);
        }
        let mut found = Vec::new();
        Ok(self.session.seek(Bound::AtOrAfter(&start), &mut found, None)? && keep_name(&found, name))
    }

    /// Finds the global whose name comes before `before` (empty: the last one) and writes its name to `name`.
    ///
    /// # Errors
    /// Damage, or the system's answer.
    pub fn previous_global(&mut self, before: &str, name: &mut String) -> Result<bool> {
        let mut end = before.as_bytes().to_vec();
        end.push(if end.is_empty() { 0xFF } else { 0 });
        let mut found = Vec::new();
        Ok(self.session.seek(Bound::Before(&end), &mut found, None)? && keep_name(&found, name))
    }
}

/// Writes the sum of a stored value and an amount: as canonical text to `sum`, and as it is stored to `next`.
fn add(stored: Option<&[u8]>, by: &Decimal, typed: bool, sum: &mut Vec<u8>, next: &mut Vec<u8>) -> Result<()> {
    let (total, as_number) = match stored {
        None => (*by, typed),
        Some([value::TEXT | value::BYTES, text @ ..]) => (number::increment(text, by)?, false),
        Some(other) => match Value::read(other)? {
            // Not by way of its text, whose exponent JavaScript spells as M does not: 1e-7 would count as 1.
            Value::Number(n) => (Decimal::from_f64(n)?.add(by)?, true),
            _ => (*by, false),
        },
    };
    sum.clear();
    total.write_canonical(sum);
    match total.to_safe_f64().filter(|_| as_number) {
        Some(number) => Value::Number(number).write(next),
        None => {
            next.clear();
            next.push(value::TEXT);
            next.extend_from_slice(sum);
        }
    }
    Ok(())
}

/// Reduces a found key to its subscript right below `parent`. False when it is not below it.
#[inline]
fn keep_child(parent: &[u8], found: &mut Vec<u8>) -> bool {
    if found.len() <= parent.len() || !found.starts_with(parent) {
        return false;
    }
    let Some(length) = key::subscript_len(&found[parent.len()..]) else { return false };
    found.copy_within(parent.len()..parent.len() + length, 0);
    found.truncate(length);
    true
}

fn keep_name(found: &[u8], name: &mut String) -> bool {
    let Some((found, _)) = key::split(found) else { return false };
    name.clear();
    name.push_str(found);
    true
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::engine::Options;
    use crate::key::Key;
    use crate::store::Store;

    fn node(subscripts: &[Json]) -> Key {
        let mut key = Key::new();
        key.global("trace").unwrap();
        for subscript in subscripts {
            key.text(subscript.as_str().unwrap()).unwrap();
        }
        key
    }

    fn read_text(db: &mut Connection, key: &[u8]) -> Option<String> {
        let mut stored = Vec::new();
        db.get(key, &mut stored).unwrap().then(|| {
            let mut text = Vec::new();
            value::write_text(&Value::read(&stored).unwrap(), &mut text);
            String::from_utf8(text).unwrap()
        })
    }

    fn subscript_text(encoded: &[u8]) -> String {
        let mut text = Vec::new();
        key::write_text(encoded, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// `next` and `previous` as M's `$ORDER`, where the last subscript is the seed.
    fn order(db: &mut Connection, subscripts: &[Json], forwards: bool) -> String {
        let (seed, parents) = subscripts.split_last().unwrap();
        let parent = node(parents);
        let child = (seed != "").then(|| node(subscripts));
        let child = child.as_ref().map(Key::as_bytes);
        let mut found = Vec::new();
        let is_there = if forwards {
            db.next(parent.as_bytes(), child, &mut found)
        } else {
            db.previous(parent.as_bytes(), child, &mut found)
        };
        if is_there.unwrap() { subscript_text(&found) } else { String::new() }
    }

    fn run(db: &mut Connection, row: &Json) -> Option<Json> {
        let subscripts = row["subs"].as_array().unwrap();
        match row["op"].as_str().unwrap() {
            "set" => {
                let mut stored = Vec::new();
                Value::Text(row["arg"].as_str().unwrap()).write(&mut stored);
                db.set(node(subscripts).as_bytes(), &stored).unwrap();
                None
            }
            "kill" => {
                db.delete(node(subscripts).as_bytes()).unwrap();
                None
            }
            "merge" => {
                let source = node(row["from"].as_array().unwrap());
                db.merge(node(subscripts).as_bytes(), source.as_bytes()).unwrap();
                None
            }
            "get" => Some(Json::from(read_text(db, node(subscripts).as_bytes()).unwrap_or_default())),
            "data" => Some(Json::from(db.defined(node(subscripts).as_bytes()).unwrap().as_data())),
            "increment" => {
                let by = Decimal::from_text_prefix(row["arg"].as_str().unwrap()).unwrap();
                let mut sum = Vec::new();
                db.increment(node(subscripts).as_bytes(), &by, false, &mut sum).unwrap();
                Some(Json::from(String::from_utf8(sum).unwrap()))
            }
            "next" => Some(Json::from(order(db, subscripts, true))),
            "previous" => Some(Json::from(order(db, subscripts, false))),
            "query" => Some(query(db, subscripts)),
            other => panic!("the trace has an operation {other:?} this test does not know"),
        }
    }

    /// M's `$QUERY`, here straight from the engine's order.
    fn query(db: &mut Connection, subscripts: &[Json]) -> Json {
        let mut start = node(subscripts).as_bytes().to_vec();
        start.push(CHILDREN);
        let mut found = Vec::new();
        if !db.session.seek(Bound::AtOrAfter(&start), &mut found, None).unwrap() {
            return Json::Null;
        }
        let (_, rest) = key::split(&found).unwrap();
        Json::from(key::subscripts(rest).map(subscript_text).collect::<Vec<_>>())
    }

    #[test]
    fn every_operation_of_the_recorded_m_engine_answers_the_same_on_both_engines() {
        for engine in ["lmdb"] {
            let folder = tempfile::tempdir().unwrap();
            let options = Options { engine: engine.to_owned(), ..Options::default() };
            let mut db = Store::open(Some(folder.path()), &options).unwrap().connect(false).unwrap();
            for (number, line) in include_str!("../__test__/oracle/trace.jsonl").lines().enumerate() {
                let row: Json = serde_json::from_str(line).unwrap();
                if let Some(answer) = run(&mut db, &row) {
                    assert_eq!(answer, row["result"], "line {} on {engine}: {line}", number + 1);
                }
            }
            let root = node(&[]);
            let mut end = Vec::new();
            key::subtree_end(root.as_bytes(), &mut end);
            let mut left = Vec::new();
            db.session
                .scan(Range::entries(root.as_bytes(), &end), &mut |found, stored| {
                    let (_, rest) = key::split(found).unwrap();
                    let mut text = Vec::new();
                    value::write_text(&Value::read(stored)?, &mut text);
                    let subscripts: Vec<_> = key::subscripts(rest).map(subscript_text).collect();
                    left.push(serde_json::json!([subscripts, String::from_utf8(text).unwrap()]));
                    Ok(Flow::Continue)
                })
                .unwrap();
            let expected: Vec<Json> = include_str!("../__test__/oracle/trace-final.jsonl")
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(left, expected);
        }
    }
}
