//! Random acts of two connections on a few nodes, and what the indexes should answer, worked out from the data alone.

use std::cmp::Ordering;
use std::sync::Arc;

use caretdb::cursor::{Page, Shape};
use caretdb::error::Result;
use caretdb::index::Query;
use caretdb::key::{self, Key};
use caretdb::number::Decimal;
use caretdb::store::{Connection, Store};
use caretdb::value::Value;

/// One act, as numbers that choose among what there is.
#[derive(Clone, Debug)]
pub struct Act {
    pub kind: u8,
    pub second: bool,
    pub node: [u8; 4],
    pub other: [u8; 4],
    pub value: u8,
}

/// An index that comes and goes.
struct Known {
    node: &'static [&'static str],
    name: &'static str,
    /// The subscripts of its path, and the path as it is given.
    steps: &'static [&'static str],
    path: &'static str,
    unique: bool,
}

const INDEXES: [Known; 5] = [
    Known { node: &["P"], name: "a", steps: &["a"], path: r#"["a"]"#, unique: false },
    Known { node: &["P"], name: "unique", steps: &["a"], path: r#"["a"]"#, unique: true },
    Known { node: &["P"], name: "deep", steps: &["b", "[000000]"], path: r#"["b",0]"#, unique: false },
    Known { node: &["P", "1"], name: "own", steps: &[], path: "[]", unique: false },
    Known { node: &["Q"], name: "own", steps: &[], path: "[]", unique: true },
];

const GLOBALS: [&str; 2] = ["P", "Q"];
const CHILDREN: [&str; 4] = ["1", "2", "a", "b"];
const BELOW: [&str; 3] = ["a", "b", "[000000]"];
const DOCUMENTS: [&str; 10] = [
    r#"{"a": "x", "b": [1, 2]}"#,
    r#"{"1": {"a": "x"}, "2": {"a": "y", "b": ["z"]}}"#,
    r#"{"1": {"a": 1}, "2": {"a": 1}}"#,
    r#"{"a": null}"#,
    r#"{"1": null, "a": {"a": null, "b": null}}"#,
    r#"{"a": {"a": 5}, "b": []}"#,
    "{}",
    "[]",
    r#"[true, "x"]"#,
    "-0",
];

pub fn key(parts: &[&str]) -> Key {
    let mut key = Key::new();
    key.global(parts[0]).unwrap();
    for subscript in &parts[1..] {
        key.text(subscript).unwrap();
    }
    key
}

fn chosen(numbers: [u8; 4]) -> Key {
    let pick = |from: &[&'static str], number: u8| from[usize::from(number) % from.len()];
    let mut parts = vec![pick(&GLOBALS, numbers[0] / 64)];
    // Most nodes are where indexed values are.
    let depth = [3, 2, 2, 1, 0, 3, 2, 1][usize::from(numbers[3] % 8)];
    let levels = [pick(&CHILDREN, numbers[1]), pick(&BELOW, numbers[2]), pick(&BELOW, numbers[3] / 8)];
    parts.extend(&levels[..depth]);
    key(&parts)
}

fn value(number: u8) -> Vec<u8> {
    let long = "l".repeat(1100);
    let values = [
        Value::Text("x"),
        Value::Text("y"),
        Value::Text(""),
        Value::Text("\0"),
        Value::Number(0.0),
        Value::Number(-0.0),
        Value::Number(-1.5),
        Value::Number(1e300),
        Value::Bool(true),
        Value::Bool(false),
        Value::Null,
        Value::Bytes(b"x"),
        Value::Bytes(b""),
        Value::Text(&long),
    ];
    let mut stored = Vec::new();
    values[usize::from(number) % values.len()].write(&mut stored);
    stored
}

/// Two connections of one store, at most one of them in a transaction.
pub struct Pair {
    connections: [Connection; 2],
}

impl Pair {
    pub fn new(store: &Arc<Store>) -> Pair {
        Pair { connections: [store.connect(false).unwrap(), store.connect(false).unwrap()] }
    }

    /// Performs an act. One that fails must change nothing.
    pub fn perform(&mut self, act: &Act) {
        let busy = self.connections.iter().position(|connection| connection.level() > 0);
        let db = &mut self.connections[busy.unwrap_or(usize::from(act.second))];
        let (before, level) = (dump(db), db.level());
        let performed = perform(db, act);
        if let Err(error) = performed {
            assert!(["ERR_BAD_VALUE", "ERR_TOO_LARGE", "ERR_ARG"].contains(&error.code()), "{error} after {act:?}");
            assert_eq!(db.level(), level, "{act:?}");
            assert_eq!(dump(db), before, "after {act:?} failed: {error}");
        }
    }

    pub fn end(&mut self) {
        for connection in &mut self.connections {
            while connection.level() > 0 {
                connection.commit().unwrap();
            }
        }
    }

    /// Compares every index with the data, as each connection sees both. There are no entries beside those of the indexes.
    pub fn compare(&mut self) {
        for connection in &mut self.connections {
            let mut count = 0;
            for index in INDEXES {
                count += compare(connection, key(index.node).as_bytes(), index.name, index.steps, index.unique);
            }
            assert_eq!(leaves(connection, key(&["%caretdb", "entry"]).as_bytes()).len(), count);
        }
    }
}

fn perform(db: &mut Connection, act: &Act) -> Result<()> {
    let (node, other) = (chosen(act.node), chosen(act.other));
    let node = node.as_bytes();
    let json = DOCUMENTS[usize::from(act.value) % DOCUMENTS.len()];
    let index = &INDEXES[usize::from(act.value) % INDEXES.len()];
    let indexed = key(index.node);
    match act.kind % 24 {
        0..=6 => db.set(node, &value(act.value)),
        7..=8 => db.delete(node),
        9 => db.increment(node, &Decimal::from_f64(f64::from(act.value % 3))?, act.second, &mut Vec::new()),
        10..=11 => db.merge(node, other.as_bytes()),
        12..=13 => db.set_document(node, json),
        14..=15 => db.merge_document(node, json),
        16 => db.patch_document(node, json),
        17 if db.level() < 3 => db.start(),
        17 | 18 if db.level() > 0 => db.commit(),
        19 if db.level() > 0 => db.rollback(),
        20 => db.drop_index(indexed.as_bytes(), index.name),
        _ => db.create_index(indexed.as_bytes(), index.name, index.path, index.unique),
    }
}

/// Everything in the store.
pub fn dump(db: &mut Connection) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    for global in ["%caretdb", "P", "Person", "Q"] {
        let node = key(&[global]);
        let mut stored = Vec::new();
        if db.get(node.as_bytes(), &mut stored).unwrap() {
            all.push((node.as_bytes().to_vec(), stored));
        }
        all.extend(
            leaves(db, node.as_bytes()).into_iter().map(|(below, stored)| ([node.as_bytes(), &below].concat(), stored)),
        );
    }
    all
}

fn leaves(db: &mut Connection, node: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let page =
        Page { node, shape: Shape::Leaves, limit: usize::MAX, reverse: false, from: None, to: None, prefix: &[] };
    let mut leaves = Vec::new();
    db.page(&page, &mut |below, stored| {
        leaves.push((below.to_vec(), stored.unwrap().to_vec()));
        Ok(true)
    })
    .unwrap();
    leaves
}

/// The children that an index shows, as text.
pub fn children(db: &mut Connection, node: &[u8], name: &str) -> Vec<String> {
    let mut children = Vec::new();
    db.find(node, name, &Query::default(), &mut |hit| {
        let mut text = Vec::new();
        key::write_text(hit.child, &mut text)?;
        children.push(String::from_utf8(text).unwrap());
        Ok(true)
    })
    .unwrap();
    children
}

/// What an index should hold: values and children in order, found by looking at everything.
fn looked_up(db: &mut Connection, node: &[u8], path: &[&str]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let path: Vec<Vec<u8>> = path.iter().map(|step| key(&["P", step]).as_bytes()[2..].to_vec()).collect();
    let mut held = Vec::new();
    for (below, stored) in leaves(db, node) {
        let subscripts: Vec<&[u8]> = key::subscripts(&below).collect();
        let is_mark = matches!(Value::read(&stored).unwrap(), Value::EmptyObject | Value::EmptyArray | Value::Object);
        if !is_mark && subscripts.len() == path.len() + 1 && subscripts[1..].iter().eq(path.iter()) {
            held.push((stored.clone(), subscripts[0].to_vec()));
        }
    }
    held.sort_by(|(one, child), (two, other)| order(one, two).then_with(|| child.cmp(other)));
    held
}

fn order(one: &[u8], two: &[u8]) -> Ordering {
    let rank = |value: &Value<'_>| match value {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(_) => 3,
        Value::Text(_) => 4,
        _ => 5,
    };
    match (Value::read(one).unwrap(), Value::read(two).unwrap()) {
        (Value::Number(one), Value::Number(two)) => one.partial_cmp(&two).unwrap(),
        (Value::Text(one), Value::Text(two)) => one.as_bytes().cmp(two.as_bytes()),
        (Value::Bytes(one), Value::Bytes(two)) => one.cmp(two),
        (one, two) => rank(&one).cmp(&rank(&two)),
    }
}

/// Compares an index, where there is one, with the data, and says how many entries it has.
pub fn compare(db: &mut Connection, node: &[u8], name: &str, path: &[&str], unique: bool) -> usize {
    let mut shown = Vec::new();
    let answered = db.find(node, name, &Query::default(), &mut |hit| {
        shown.push((hit.position.to_vec(), hit.child.to_vec(), hit.json.to_vec()));
        Ok(true)
    });
    if answered.is_err_and(|error| error.code() == "ERR_ARG") {
        return 0;
    }
    let held = looked_up(db, node, path);
    let expected: Vec<_> = held.iter().map(|(_, child)| child.clone()).collect();
    assert_eq!(shown.iter().map(|(_, child, _)| child.clone()).collect::<Vec<_>>(), expected, "{name}");
    for (_, child, json) in &shown {
        let mut document = Vec::new();
        db.document(&[node, child].concat(), &mut document).unwrap();
        assert_eq!(json, &document);
    }
    if unique {
        assert!(held.windows(2).all(|pair| order(&pair[0].0, &pair[1].0) != Ordering::Equal), "{name} is unique");
    }
    let positions: Vec<_> = shown.into_iter().map(|(position, ..)| position).collect();
    compare_ranges(db, node, name, &held, &positions);
    positions.len()
}

/// Asks for stretches of an index and compares them with stretches of what it holds.
fn compare_ranges(db: &mut Connection, node: &[u8], name: &str, held: &[(Vec<u8>, Vec<u8>)], positions: &[Vec<u8>]) {
    let at = held.len() / 2;
    let Some((middle, _)) = held.get(at) else { return };
    type Wanted<'a> = (Query<'a>, Box<dyn Fn(usize, Ordering) -> bool>);
    let cases: Vec<Wanted<'_>> = vec![
        (Query { equals: Some(middle), ..Query::default() }, Box::new(|_, order| order == Ordering::Equal)),
        (Query { low: Some((middle, true)), ..Query::default() }, Box::new(|_, order| order != Ordering::Less)),
        (Query { low: Some((middle, false)), ..Query::default() }, Box::new(|_, order| order == Ordering::Greater)),
        (Query { high: Some((middle, true)), ..Query::default() }, Box::new(|_, order| order != Ordering::Greater)),
        (Query { high: Some((middle, false)), ..Query::default() }, Box::new(|_, order| order == Ordering::Less)),
        (Query { behind: Some(&positions[at]), ..Query::default() }, Box::new(move |index, _| index > at)),
    ];
    for (query, wanted) in cases {
        for reverse in [false, true] {
            let backwards = reverse && query.behind.is_some();
            let mut expected: Vec<_> = held
                .iter()
                .enumerate()
                .filter(
                    |(index, (value, _))| if backwards { *index < at } else { wanted(*index, order(value, middle)) },
                )
                .map(|(_, (_, child))| child.clone())
                .collect();
            if reverse {
                expected.reverse();
            }
            for limit in [usize::MAX, 1] {
                expected.truncate(limit);
                let mut shown = Vec::new();
                db.find(node, name, &Query { reverse, limit, ..query }, &mut |hit| {
                    shown.push(hit.child.to_vec());
                    Ok(true)
                })
                .unwrap();
                assert_eq!(shown, expected, "{name}: {query:?}, reverse: {reverse}, limit: {limit}");
            }
        }
    }
}
