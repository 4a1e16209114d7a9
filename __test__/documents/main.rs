//! Documents come back as what they were, are replaced, merged and patched as promised, and fail without a trace.

mod fixture;
mod page;

use std::sync::atomic::{AtomicBool, Ordering};

use caretdb::document::{Bytes, Change, Found, bytes_name};
use caretdb::error::Error;
use fixture::{Database, bits, same};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

#[test]
fn what_glsdb_loses_comes_back_exactly() {
    let mut db = Database::open();
    for text in [
        r#"{"phone":"0790123456","version":"1.0","flag":"true","nothing":"null","half":".5"}"#,
        "[1e-7,5e-324,123456789012345680,0.1234567890123456,9007199254740993,1.7976931348623157e308,-0.0]",
        r#"" ""#,
        r#""""#,
        "{}",
        "[]",
        "[[]]",
        "[{}]",
        r#"{"a":{},"b":[],"c":[[],{},[[]]],"d":{"e":{"f":{}}}}"#,
        "null",
        "true",
        "false",
        "0",
        "-0.0",
        r#"{"":1}"#,
        r#"{"":{"":{"":""}}}"#,
        r#"{"[0]":1,"[x]":2,"a.b":3,"01":4,"a[1]":5}"#,
        r#"{"[000000]":1}"#,
        r#"{"[000000]":1,"[000001]":{"[000000]":[]}}"#,
        r#"{"[]":""}"#,
        r#"{"[]":1}"#,
        r#"{"[]":{"[]":[]}}"#,
        r#"{"[1000000]":1,"[a1000000]":2}"#,
        r#"{"A":1,"[000000]":2,"b":3}"#,
        r#"{"__proto__":{"polluted":true},"constructor":1}"#,
        r#"{"a":1,"a1":2,"a\u0000":3,"a\u0000b":4,"\u0001":5,"\u0000":6}"#,
        r#"{"\u001b":1,"\u001b\u001b":2,"\u001bx":3,"x\u001b":4}"#,
        r#"{"10":1,"9":2,"-.5":3,"0.5":4,"1e3":5,"123456789012345678":6,"1234567890123456789":7,"-0":8}"#,
        r#"{"quote\"":"\"","back\\":"\\","line\n":"\n\r\t\b\f\u0000\u001f\u007f","é":"😀","\u2028":"\u2029"}"#,
    ] {
        assert!(same(&db.round_trip(text), &serde_json::from_str(text).unwrap()), "{text}");
    }
}

#[test]
fn arrays_keep_their_order_at_any_length() {
    let mut db = Database::open();
    let numbers: Vec<u32> = (0..1_000_012).collect();
    let text = serde_json::to_string(&numbers).unwrap();
    db.set(&text);
    assert_eq!(db.text().unwrap(), text);
}

#[test]
fn members_come_in_collation_order() {
    let mut db = Database::open();
    db.set(r#"{"b":1,"a":2,"10":3,"9":4,"-1":5,"B":6,"é":7,"":8,"z":{"2":1,"10":2}}"#);
    assert_eq!(db.text().unwrap(), r#"{"-1":5,"9":4,"10":3,"":8,"B":6,"a":2,"b":1,"z":{"2":1,"10":2},"é":7}"#);
}

#[test]
fn a_document_replaces_the_one_that_was_there_and_its_value() {
    let mut db = Database::open();
    for (old, new) in [
        ("[1,2,3]", "[9]"),
        (r#"{"a":{"b":1}}"#, r#"{"a":2}"#),
        (r#"{"a":1}"#, r#"{"a":{"b":2}}"#),
        (r#"{"a":1}"#, "5"),
        ("5", r#"{"a":1}"#),
        ("{}", "[]"),
        ("[]", "{}"),
        (r#"{"[000000]":1}"#, "[1]"),
        ("[1]", r#"{"a":1}"#),
    ] {
        db.set(old);
        db.set(new);
        assert_eq!(db.text().unwrap(), new);
    }
    db.put(&[], "own");
    db.set(r#"{"a":1}"#);
    assert_eq!(db.value(&[]), None);
}

#[test]
fn neighbours_stay() {
    let mut db = Database::open();
    db.put(&["a"], "before");
    db.put(&["doc1"], "behind");
    db.set_at(&["doc"], r#"{"x":1}"#);
    db.set_at(&["doc"], "{}");
    assert_eq!(db.text().unwrap(), r#"{"a":"before","doc":{},"doc1":"behind"}"#);
}

#[test]
fn a_merge_keeps_what_it_does_not_name() {
    let mut db = Database::open();
    for (old, merged, expected) in [
        (r#"{"a":1,"b":{"c":2}}"#, r#"{"b":{"d":3},"e":4}"#, r#"{"a":1,"b":{"c":2,"d":3},"e":4}"#),
        ("[1,2,3]", "[9]", "[9,2,3]"),
        ("[1]", "[null,2]", "[null,2]"),
        ("[{\"a\":1}]", "[{\"b\":2}]", "[{\"a\":1,\"b\":2}]"),
        (r#"{"a":[1,2]}"#, r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":2}"#, r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":{}}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":[1]}"#, r#"{"a":[]}"#, r#"{"a":[1]}"#),
        (r#"{"a":{}}"#, r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
        (r#"{"a":[]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"{"a":[]}"#, r#"{"a":{}}"#, r#"{"a":{}}"#),
        (r#"{"[000000]":1}"#, r#"{"b":2}"#, r#"{"[000000]":1,"b":2}"#),
        (r#"{"b":2}"#, r#"{"[000000]":1}"#, r#"{"[000000]":1,"b":2}"#),
        (r#"{"a":1,"b":2}"#, r#"{"a":null}"#, r#"{"a":null,"b":2}"#),
        (r#"{"a":{"x":1}}"#, r#"{"a":{"y":1},"a":{"z":1}}"#, r#"{"a":{"x":1,"z":1}}"#),
        ("null", r#"{"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1}"#, "null", "null"),
    ] {
        db.set(old);
        db.merge(merged).unwrap();
        assert_eq!(db.text().unwrap(), expected, "{merged} into {old}");
    }
    db.clear();
    db.merge(r#"{"a":[1,{}]}"#).unwrap();
    assert_eq!(db.text().unwrap(), r#"{"a":[1,{}]}"#);
}

#[test]
fn a_merge_into_an_empty_array_leaves_no_mark_behind() {
    let mut db = Database::open();
    db.set("[]");
    db.merge("[1]").unwrap();
    assert_eq!(db.entries().len(), 1);
    db.set("{}");
    db.merge(r#"{"a":1}"#).unwrap();
    assert_eq!(db.entries().len(), 1);
}

#[test]
fn a_merge_keeps_values_of_nodes_with_children() {
    let mut db = Database::open();
    db.set(r#"{"a":{"b":1}}"#);
    db.put(&["a"], "own");
    db.merge(r#"{"a":{"c":2}}"#).unwrap();
    assert_eq!(db.text().unwrap(), r#"{"a":{"b":1,"c":2}}"#);
    assert_eq!(db.value(&["a"]).as_deref(), Some("own"));
}

#[test]
fn patches_do_what_the_examples_of_rfc_7396_do() {
    let mut db = Database::open();
    for (old, patch, expected) in [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, "null", "null"),
        (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
        ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        // Beyond them: nulls in arrays stay, and what empties an object leaves an empty one.
        ("{}", r#"{"a":[null,{"b":null}]}"#, r#"{"a":[null,{"b":null}]}"#),
        (r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":null,"c":null}}"#, r#"{"a":{}}"#),
        (r#"{"a":1}"#, r#"{"a":2,"a":null}"#, "{}"),
        (r#"{"a":1}"#, r#"{"a":null,"a":2}"#, r#"{"a":2}"#),
        (r#"{"[000000]":1}"#, r#"{"[000000]":null}"#, "{}"),
        (r#"{"a":1}"#, r#"{"[000000]":null}"#, r#"{"a":1}"#),
        (r#"{"a":1}"#, "{}", r#"{"a":1}"#),
    ] {
        db.set(old);
        db.patch(patch).unwrap();
        assert_eq!(db.text().unwrap(), expected, "{patch} on {old}");
    }
}

#[test]
fn data_written_by_glsdb_reads_as_what_it_was() {
    let mut db = Database::open();
    for path in [&["name"][..], &["tags", "[000000]"], &["tags", "[000001]"], &["gap", "[000002]"], &["none", "[]"]] {
        db.put(path, path[0]);
    }
    db.put(&["none", "[]"], "");
    db.put(&["deep", "[000000]", "[000000]", "x"], "y");
    assert_eq!(
        db.text().unwrap(),
        r#"{"deep":[[{"x":"y"}]],"gap":[null,null,"gap"],"name":"name","none":[],"tags":["tags","tags"]}"#
    );
}

#[test]
fn an_empty_mark_behind_elements_is_not_shown() {
    let mut db = Database::open();
    db.put(&["[000000]"], "a");
    db.put(&["[]"], "");
    assert_eq!(db.text().unwrap(), r#"["a"]"#);
    db.put(&["[a1000000]"], "b");
    assert_eq!(db.json().as_array().unwrap().len(), 1_000_001);
}

#[test]
fn indexes_of_seven_digits_as_glsdb_writes_them_are_put_in_order() {
    let mut db = Database::open();
    let mut batch: Vec<String> = (0..1_000_003).map(|index| format!("[{index:06}]")).collect();
    batch.reverse();
    db.put_all(&batch);
    let read = db.json();
    let read: Vec<_> = read.as_array().unwrap().iter().map(|element| element.as_str().unwrap()).collect();
    batch.reverse();
    assert_eq!(read, batch);
}

#[test]
fn nodes_that_are_no_array_together_are_an_object() {
    let mut db = Database::open();
    for (paths, expected) in [
        (&[&["[000000]"][..], &["a"]][..], r#"{"[000000]":"0","a":"1"}"#),
        (&[&["a", "[000000]"], &["a", "x", "[000001]"]], r#"{"a":{"[000000]":"0","x":[null,"1"]}}"#),
        (&[&["[d9999999999]"]], r#"{"[d9999999999]":"0"}"#),
        (&[&["[1000000]"], &["[a1000000]"]], r#"{"[1000000]":"0","[a1000000]":"1"}"#),
        (&[&["[000000]"], &["[]"]], r#"{"[000000]":"0","[]":"1"}"#),
        (&[&["[]", "x"]], r#"{"[]":{"x":"0"}}"#),
        (&[&["[000000]"], &["[000000]", "[000000]"], &["[0]"]], r#"{"[000000]":["1"],"[0]":"2"}"#),
    ] {
        db.clear();
        for (at, path) in paths.iter().enumerate() {
            db.put(path, &at.to_string());
        }
        assert_eq!(db.text().unwrap(), expected);
        db.merge(r#"{"zz":true}"#).unwrap();
        assert_eq!(db.text().unwrap(), expected.strip_suffix('}').unwrap().to_owned() + r#","zz":true}"#);
    }
}

#[test]
fn a_value_beside_children_is_not_part_of_the_document() {
    let mut db = Database::open();
    db.put(&[], "root");
    assert_eq!(db.text().unwrap(), r#""root""#);
    db.put(&["a"], "own");
    db.put(&["a", "b"], "below");
    db.put(&["c"], "alone");
    assert_eq!(db.text().unwrap(), r#"{"a":{"b":"below"},"c":"alone"}"#);
    assert_eq!(db.value(&["a"]).as_deref(), Some("own"));
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let mut db = Database::open();
    assert_eq!(db.text(), None);
    db.set(r#"{"a":1}"#);
    assert_eq!(db.text_at(&["b"]), None);
    assert_eq!(db.text_at(&["a"]).as_deref(), Some("1"));
}

#[test]
fn the_last_of_two_equal_names_counts() {
    let mut db = Database::open();
    for (text, expected) in [
        (r#"{"a":{"b":1},"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":1,"a":{"b":2}}"#, r#"{"a":{"b":2}}"#),
        (r#"{"a":{"x":[1,2,3]},"\u0061":{"x":[4]}}"#, r#"{"a":{"x":[4]}}"#),
        (r#"[{"a":{},"a":[]}]"#, r#"[{"a":[]}]"#),
        (r#"{"[000000]":1,"a":{"b":0,"c":{},"b":1}}"#, r#"{"[000000]":1,"a":{"b":1,"c":{}}}"#),
    ] {
        db.set(text);
        assert_eq!(db.text().unwrap(), expected);
    }
    let names: Vec<String> = (0..200).map(|n| format!(r#""{n}":{{"{n}":1}}"#)).collect();
    db.set(&format!("{{{},\"150\":0}}", names.join(",")));
    assert_eq!(db.json()["150"], json!(0));
}

#[test]
fn text_that_is_no_document_is_an_error_and_changes_nothing() {
    let mut db = Database::open();
    db.set(r#"{"a":[1,{"b":2}]}"#);
    let before = db.entries();
    let long = "n".repeat(600);
    let too_long = format!(r#"{{"a":1,"b":{{"{long}":{{"{long}":1}}}}}}"#);
    let many: String =
        (0..400_000).map(|n| format!("\"{n}\":\"a value of some length, so that a batch is full\",")).collect();
    let broken_late = format!("{{{many}\"x\":}}");
    let twice_and_deep = format!(r#"{{"a":1,"a":{}"#, "[".repeat(1_000_000));
    for (text, code) in [
        ("", "ERR_ARG"),
        ("{", "ERR_ARG"),
        ("[1,]", "ERR_ARG"),
        ("{} {}", "ERR_ARG"),
        ("undefined", "ERR_ARG"),
        ("[1e400]", "ERR_ARG"),
        (r#"{"x":1,"y":"\ud800"}"#, "ERR_ARG"),
        (r#"{"x":1,"\udc00":1}"#, "ERR_ARG"),
        (r#"{"x":1,"x":"\ud800"}"#, "ERR_ARG"),
        (&broken_late, "ERR_ARG"),
        (&too_long, "ERR_KEY_TOO_LONG"),
        (&"[".repeat(1_000_000), "ERR_KEY_TOO_LONG"),
        (&r#"{"0":"#.repeat(1_000_000), "ERR_KEY_TOO_LONG"),
        (&twice_and_deep, "ERR_KEY_TOO_LONG"),
    ] {
        for change in [Change::Replace, Change::Merge, Change::Patch] {
            let error = db.change(text, change, Bytes::Literal).unwrap_err();
            let start: String = text.chars().take(40).collect();
            assert_eq!(error.code(), code, "{start} {change:?}: {error}");
            assert_eq!(db.entries(), before, "{start} {change:?}");
        }
    }
    let surrogate = db.change(r#""\ud800""#, Change::Replace, Bytes::Literal).unwrap_err();
    assert!(surrogate.to_string().contains("surrogate"), "{surrogate}");
    let path = db.change(&too_long, Change::Replace, Bytes::Literal).unwrap_err();
    assert!(matches!(path, Error::PathTooLong { .. }));
    assert!(path.to_string().starts_with("^doc(\"b\",\"nnn"), "{path}");
}

#[test]
fn as_deep_as_the_key_allows() {
    let mut db = Database::open();
    let levels = 1000;
    let text = format!("{}7{}", r#"{"0":"#.repeat(levels), "}".repeat(levels));
    // As deep as that a test needs more stack than the test runner's threads have without optimisation.
    let deep = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        db.set(&text);
        assert_eq!(db.text().unwrap(), text);
        db.merge(&text).unwrap();
        db.patch(&text).unwrap();
        assert_eq!(db.text().unwrap(), text);
    });
    deep.unwrap().join().unwrap();
}

#[test]
fn bytes_go_both_ways_where_they_are_asked_for() {
    let mut db = Database::open();
    let marked = json!({"a": {bytes_name(): "AP/+"}, "b": [1, {bytes_name(): ""}]});
    db.change(&marked.to_string(), Change::Replace, Bytes::Marked).unwrap();
    assert_eq!(db.stored(&["a"]).unwrap(), b"\x02\0\xFF\xFE");
    assert_eq!(db.stored(&["b", "[000001]"]).unwrap(), b"\x02");
    let (found, text) = db.read();
    assert_eq!(found, Found::HasBytes);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), marked);
    db.change(&marked.to_string(), Change::Merge, Bytes::Marked).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&db.read().1).unwrap(), marked);

    db.change(&marked.to_string(), Change::Replace, Bytes::Literal).unwrap();
    assert_eq!(db.read().0, Found::Json);
    assert_eq!(db.json(), marked);
    let name = serde_json::to_string(bytes_name()).unwrap();
    for wrong in [
        format!(r#"{{{name}:"?"}}"#),
        format!(r#"{{{name}:1}}"#),
        format!(r#"{{{name}:"","a":1}}"#),
        format!(r#"{{"a":1,{name}:""}}"#),
    ] {
        assert_eq!(db.change(&wrong, Change::Replace, Bytes::Marked).unwrap_err().code(), "ERR_ARG", "{wrong}");
    }
    assert_eq!(db.json(), marked);
}

#[test]
fn a_subscript_that_is_no_text_is_an_error_and_leaves_the_text_alone() {
    let mut db = Database::open();
    db.put(&["a"], "b");
    db.put_raw(b"\xFF\xFE", "c");
    let mut json = b"before".to_vec();
    let error = db.connection.document(&db.node, &mut json).unwrap_err();
    assert_eq!(error.code(), "ERR_BAD_KEY");
    assert_eq!(json, b"before");
}

#[test]
fn inside_a_transaction_a_failed_document_undoes_only_itself() {
    let mut db = Database::open();
    db.connection.start().unwrap();
    db.set(r#"{"a":1}"#);
    for change in [Change::Replace, Change::Merge] {
        db.change(r#"{"b":2,"c":"#, change, Bytes::Literal).unwrap_err();
    }
    db.merge(r#"{"b":2}"#).unwrap();
    assert_eq!(db.connection.level(), 1);
    db.connection.commit().unwrap();
    assert_eq!(db.text().unwrap(), r#"{"a":1,"b":2}"#);
}

#[test]
fn a_reader_sees_the_old_document_or_the_new_one() {
    let mut db = Database::open();
    let documents = [
        r#"{"a":{"b":1,"c":[1,2,3]},"d":"old"}"#.to_owned(),
        format!(r#"{{"a":[{}],"e":"new"}}"#, vec!["{\"x\":1}"; 200].join(",")),
    ];
    db.set(&documents[0]);
    let mut reader = db.connection.store().connect(true).unwrap();
    let node = db.node.clone();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let (mut seen, mut last) = (0, true);
            // One more read after the writer is done, so that there is at least one.
            while std::mem::replace(&mut last, !done.load(Ordering::Acquire)) {
                let mut json = Vec::new();
                reader.document(&node, &mut json).unwrap();
                assert!(documents.iter().any(|document| document.as_bytes() == json));
                seen += 1;
            }
            seen
        });
        for round in 0..500 {
            db.set(&documents[round % 2]);
        }
        done.store(true, Ordering::Release);
        assert!(reading.join().unwrap() > 0);
    });
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{1,2}",
        2 => ".{0,6}",
        1 => "[\u{0}\u{1}\u{1b}\\[\\]a0]{0,4}",
        1 => r"-?(0|[1-9][0-9]{0,20})?(\.[0-9]{1,4})?",
        2 => prop::sample::select(vec![
            "", "[]", "[0]", "[000000]", "[000001]", "[1000000]", "[a1000000]", "[x]", "a.b", "01", "1.0", "10", "-.5",
            "__proto__", "\u{1b}", "\u{1b}\u{1b}", "constructor", "length", "1234567890123456789",
        ]).prop_map(str::to_owned),
        1 => "[xé]{0,100}",
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| json!(n)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        name().prop_map(Value::String),
        "\\PC{0,40}".prop_map(Value::String),
    ];
    scalar.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(name(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON Merge Patch, as RFC 7396 spells it; with `arrays`, arrays are merged and nulls are values, as a merge does.
fn patched(target: &Value, patch: &Value, merge: bool) -> Value {
    match (target, patch) {
        (_, Value::Object(patch)) => {
            let mut result = target.as_object().cloned().unwrap_or_default();
            for (name, value) in patch {
                if value.is_null() && !merge {
                    result.remove(name);
                } else {
                    let old = result.get(name).cloned().unwrap_or(Value::Null);
                    result.insert(name.clone(), patched(&old, value, merge));
                }
            }
            Value::Object(result)
        }
        (Value::Array(old), Value::Array(new)) if merge => {
            let mut result = old.clone();
            result.resize(old.len().max(new.len()), Value::Null);
            for (slot, value) in result.iter_mut().zip(new) {
                *slot = patched(slot, value, merge);
            }
            Value::Array(result)
        }
        _ => patch.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_document_comes_back(old in document(), new in document()) {
        let shared = Database::shared();
        let mut db = shared.borrow_mut();
        db.set(&old.to_string());
        prop_assert!(same(&db.json(), &old), "{old} came back as {}", db.text().unwrap());
        db.set(&new.to_string());
        prop_assert!(same(&db.json(), &new), "{new} came back as {}", db.text().unwrap());
    }

    #[test]
    fn any_merge_and_patch_do_what_the_models_do(old in document(), new in document()) {
        let shared = Database::shared();
        let mut db = shared.borrow_mut();
        db.set(&old.to_string());
        db.merge(&new.to_string()).unwrap();
        let merged = patched(&old, &new, true);
        prop_assert!(same(&db.json(), &merged), "{new} into {old} gave {}", db.text().unwrap());
        db.set(&old.to_string());
        db.patch(&new.to_string()).unwrap();
        let result = patched(&old, &new, false);
        prop_assert!(same(&db.json(), &result), "{new} on {old} gave {}", db.text().unwrap());
    }

    #[test]
    fn any_double_comes_back_to_the_bit(n in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let shared = Database::shared();
        let mut db = shared.borrow_mut();
        db.set(&json!(n).to_string());
        prop_assert_eq!(bits(&db.json()), n.to_bits());
    }

    #[test]
    fn any_text_is_a_document_or_an_error(text in r#"[\[\]{}:,"0-9a\\ud. -]{0,30}"#) {
        let shared = Database::shared();
        let mut db = shared.borrow_mut();
        db.set("\"kept\"");
        let model = serde_json::from_str::<Value>(&text);
        match db.change(&text, Change::Replace, Bytes::Literal) {
            Ok(()) => prop_assert!(same(&db.json(), &model.unwrap())),
            Err(error) => {
                prop_assert_eq!(error.code(), "ERR_ARG");
                prop_assert!(model.is_err());
                prop_assert_eq!(db.text().unwrap(), "\"kept\"");
            }
        }
    }
}
