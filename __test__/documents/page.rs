//! The examples of `docs/documents.md`, which are stored and read back as the page shows them.

use crate::fixture::{Database, same};
use caretdb::document;
use caretdb::key::{self, Key};
use caretdb::value::Value as Stored;
use serde_json::Value;

const PAGE: &str = include_str!("../../docs/documents.md");

/// The cells of the rows of the table under this heading row, without backticks around them.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let rows = PAGE.split_once(heading).expect("the table is on the page").1.lines().skip(2);
    rows.take_while(|row| row.starts_with('|'))
        .map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

fn bare(cell: &str) -> &str {
    cell.trim_matches('`')
}

/// The fenced block that begins with this line.
fn block(fence: &str, first: &str) -> &'static str {
    let start = PAGE.find(&format!("```{fence}\n{first}")).expect("the block is on the page");
    PAGE[start..].split_once('\n').unwrap().1.split_once("\n```").unwrap().0
}

fn spell_string(text: &str) -> String {
    // The page spells U+001B and NUL as JSON does.
    serde_json::to_string(text).unwrap()
}

fn spell(node: &[u8], stored: &[u8]) -> String {
    let (name, subscripts) = key::split(node).unwrap();
    let subscripts: Vec<String> = key::subscripts(subscripts)
        .map(|subscript| {
            let mut text = Vec::new();
            key::write_text(subscript, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            if key::is_string(subscript) { spell_string(&text) } else { text }
        })
        .collect();
    let value = match Stored::read(stored).unwrap() {
        Stored::Text(text) => spell_string(text),
        Stored::Number(n) => n.to_string(),
        Stored::Bool(truth) => truth.to_string(),
        Stored::Null => "null".to_owned(),
        Stored::EmptyObject => "{}".to_owned(),
        Stored::Object => "{object}".to_owned(),
        other => panic!("the page shows no {other:?}"),
    };
    if subscripts.is_empty() {
        format!("^{name}={value}")
    } else {
        format!("^{name}({})={value}", subscripts.join(","))
    }
}

/// Stores a document at a node, and gives the nodes that are there then, as the page spells them.
fn nodes(global: &str, path: &[&str], json: &str) -> Vec<String> {
    let mut db = Database::open();
    let mut node = Key::new();
    node.global(global).unwrap();
    db.node = node.as_bytes().to_vec();
    db.set_at(path, json);
    let model: Value = serde_json::from_str(json).unwrap();
    let read: Value = serde_json::from_str(&db.text_at(path).unwrap()).unwrap();
    assert!(same(&read, &model), "{json}");
    db.entries().iter().map(|(node, stored)| spell(node, stored)).collect()
}

#[test]
fn the_person_is_these_nodes() {
    let json = block("json", r#"{"name""#);
    let expected: Vec<&str> = block("", "^Person").lines().collect();
    assert_eq!(nodes("Person", &["1"], json), expected);
}

#[test]
fn each_document_of_the_table_is_these_nodes() {
    let rows = table("| document | nodes below `^x` |");
    assert!(rows.len() >= 9);
    for row in rows {
        let expected: Vec<&str> = row[1].split("` `").map(bare).collect();
        assert_eq!(nodes("x", &[], bare(row[0])), expected, "{}", row[0]);
    }
}

#[test]
fn each_name_of_the_table_is_this_subscript() {
    let rows = table("| name | subscript | bytes of the subscript |");
    assert!(rows.len() >= 9);
    for row in rows {
        let name: String = serde_json::from_str(bare(row[0])).unwrap();
        let mut member = Key::new();
        document::member(&mut member, &name).unwrap();
        let bytes: Vec<u8> = bare(row[2]).split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(member.as_bytes(), bytes, "{}", row[0]);
        assert_eq!(document::name(&bytes).unwrap(), name);

        let mut text = Vec::new();
        key::write_text(&bytes, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(if key::is_string(&bytes) { spell_string(&text) } else { text }, bare(row[1]));
    }
}

#[test]
fn the_indexes_of_the_page_are_indexes_in_order() {
    let mut last = Vec::new();
    for (index, subscript) in [
        (0, "[000000]"),
        (1, "[000001]"),
        (999_999, "[999999]"),
        (1_000_000, "[a1000000]"),
        (9_999_999, "[a9999999]"),
        (10_000_000, "[b10000000]"),
        (4_294_967_295, "[d4294967295]"),
    ] {
        let mut element = Key::new();
        document::element(&mut element, index).unwrap();
        let mut text = Vec::new();
        key::write_text(element.as_bytes(), &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), subscript);
        assert_eq!(document::form(subscript.as_bytes()), document::Form::Element(index));
        assert!(last.as_slice() < element.as_bytes());
        last = element.as_bytes().to_vec();
    }
    for name in ["[0]", "[00000]", "[0000000]", "[0000001]", "[a100000]", "[b1000000]", "[a01000000]", "[x]", "[", "a"]
    {
        assert_eq!(document::form(name.as_bytes()), document::Form::Name, "{name}");
    }
}
