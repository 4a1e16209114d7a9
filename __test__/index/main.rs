//! The promise of indexes: whatever is written, by whom and in whichever way, an index answers what a look at every document
//! would. The data decides; the tests here read it without the index and compare.

mod model;
mod racing;

use std::path::Path;

use caretdb::engine::Options;
use caretdb::store::Store;
use proptest::prelude::*;

use self::model::{Act, Pair};

const ENGINES: [&str; 2] = ["lmdb", "sled"];

fn open(folder: &Path, engine: &str) -> std::sync::Arc<Store> {
    let options = Options { engine: engine.to_owned(), ..Options::default() };
    Store::open(Some(folder), &options).unwrap()
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (any::<u8>(), any::<bool>(), any::<[u8; 4]>(), any::<[u8; 4]>(), any::<u8>());
    let act = act.prop_map(|(kind, second, node, other, value)| Act { kind, second, node, other, value });
    prop::collection::vec(act, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_index_agrees_with_the_documents_after_any_acts_of_two_connections(acts in acts()) {
        for engine in ENGINES {
            let folder = tempfile::tempdir().unwrap();
            let mut pair = Pair::new(&open(folder.path(), engine));
            for act in &acts {
                pair.perform(act);
                pair.compare();
            }
            pair.end();
            pair.compare();
        }
    }
}

/// A write that fails must not have happened, also where the engine's own transaction goes on.
#[test]
fn a_refused_duplicate_leaves_the_store_as_it_was_inside_a_transaction_and_outside() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let person = model::key(&["Person"]);
        db.set_document(person.as_bytes(), r#"{"1": {"mail": "a"}, "2": {"mail": "b"}}"#).unwrap();
        db.create_index(person.as_bytes(), "mail", r#"["mail"]"#, true).unwrap();
        for inside in [false, true] {
            if inside {
                db.start().unwrap();
            }
            let before = model::dump(&mut db);
            let error =
                db.merge_document(person.as_bytes(), r#"{"3": {"mail": "c"}, "2": {"mail": "a"}}"#).unwrap_err();
            assert_eq!(error.code(), "ERR_BAD_VALUE");
            let message = error.to_string();
            assert!(message.contains("^Person(1)") && message.contains("^Person(2)"), "{message}");
            assert_eq!(model::dump(&mut db), before, "{engine}, inside: {inside}");
        }
        db.commit().unwrap();
    }
}

/// Two documents may change places: what counts is the whole write, also where it is applied in several steps.
#[test]
fn unique_values_may_change_places_in_one_write() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let person = model::key(&["Person"]);
        db.set_document(person.as_bytes(), r#"{"1": {"mail": "a", "x": 1}, "2": {"mail": "b"}}"#).unwrap();
        db.create_index(person.as_bytes(), "mail", r#"["mail"]"#, true).unwrap();
        db.merge_document(person.as_bytes(), r#"{"1": {"mail": "b"}, "2": {"mail": "a"}}"#).unwrap();
        // The deletion of a member makes the patch look at what is left, so it applies what it has first.
        db.patch_document(person.as_bytes(), r#"{"1": {"mail": "a", "x": null}, "2": {"mail": "b"}}"#).unwrap();
        assert_eq!(model::children(&mut db, person.as_bytes(), "mail"), ["1", "2"]);
    }
}

#[test]
fn nobody_else_writes_where_the_indexes_are_kept() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let (person, own) = (model::key(&["Person"]), model::key(&["%caretdb"]));
        // A store without indexes has nothing there to lose.
        db.set(model::key(&["%caretdb", "other"]).as_bytes(), b"\x01x").unwrap();
        db.delete(own.as_bytes()).unwrap();
        db.create_index(person.as_bytes(), "mail", r#"["mail"]"#, true).unwrap();
        db.set(model::key(&["Person", "1", "mail"]).as_bytes(), b"\x01a").unwrap();
        let before = model::dump(&mut db);
        for part in ["index", "entry"] {
            let node = model::key(&["%caretdb", part, "1"]);
            assert_eq!(db.set(node.as_bytes(), b"\x01x").unwrap_err().code(), "ERR_BAD_KEY");
            assert_eq!(db.set_document(node.as_bytes(), "[1]").unwrap_err().code(), "ERR_BAD_KEY");
            assert_eq!(db.delete(node.as_bytes()).unwrap_err().code(), "ERR_BAD_KEY");
            assert_eq!(db.merge(node.as_bytes(), person.as_bytes()).unwrap_err().code(), "ERR_BAD_KEY");
        }
        assert_eq!(db.delete(own.as_bytes()).unwrap_err().code(), "ERR_BAD_KEY");
        assert_eq!(db.create_index(own.as_bytes(), "x", "[]", false).unwrap_err().code(), "ERR_ARG");
        assert_eq!(model::dump(&mut db), before);
        db.set(model::key(&["%caretdb", "other"]).as_bytes(), b"\x01x").unwrap();
    }
}

#[test]
fn definitions_say_what_they_are_and_bad_ones_are_refused() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let person = model::key(&["Person"]);
        db.create_index(person.as_bytes(), "a", r#"["a", 0, ""]"#, false).unwrap();
        db.create_index(person.as_bytes(), "a", r#"["a",0,""]"#, false).unwrap();
        for (name, path, unique) in [("a", r#"["a"]"#, false), ("a", r#"["a",0,""]"#, true), ("", "[]", false)] {
            assert_eq!(db.create_index(person.as_bytes(), name, path, unique).unwrap_err().code(), "ERR_ARG");
        }
        for path in ["", "1", r#""a""#, "[-1]", "[1.5]", "[null]", "[[]]", r#"["\ud800"]"#] {
            assert_eq!(db.create_index(person.as_bytes(), "b", path, false).unwrap_err().code(), "ERR_ARG", "{path}");
        }
        // The definitions of nodes further down lie below this one's.
        let below = model::key(&["Person", "a"]);
        db.create_index(below.as_bytes(), "b", "[]", false).unwrap();
        db.drop_index(person.as_bytes(), "a").unwrap();
        assert_eq!(db.drop_index(person.as_bytes(), "a").unwrap_err().code(), "ERR_ARG");
        db.set(model::key(&["Person", "a", "x"]).as_bytes(), b"\x01v").unwrap();
        assert_eq!(model::children(&mut db, below.as_bytes(), "b"), ["x"]);
    }
}

#[test]
fn a_definition_undone_with_its_transaction_is_forgotten() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let person = model::key(&["Person"]);
        let leaf = model::key(&["Person", "1", "a"]);
        for inner in [false, true] {
            db.start().unwrap();
            if inner {
                db.start().unwrap();
            }
            db.create_index(person.as_bytes(), "a", r#"["a"]"#, true).unwrap();
            db.rollback().unwrap();
            db.set(leaf.as_bytes(), b"\x01x").unwrap();
            if inner {
                db.commit().unwrap();
            }
            assert_eq!(model::dump(&mut db), [(leaf.as_bytes().to_vec(), b"\x01x".to_vec())]);
        }
    }
}

#[test]
fn a_drop_undone_with_its_transaction_leaves_an_index_that_is_kept_right() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let mut db = open(folder.path(), engine).connect(false).unwrap();
        let person = model::key(&["Person"]);
        db.create_index(person.as_bytes(), "a", r#"["a"]"#, false).unwrap();
        for (inner, child) in [(false, "1"), (true, "2")] {
            db.start().unwrap();
            if inner {
                db.start().unwrap();
            }
            db.drop_index(person.as_bytes(), "a").unwrap();
            db.rollback().unwrap();
            db.set(model::key(&["Person", child, "a"]).as_bytes(), b"\x01x").unwrap();
            if inner {
                db.commit().unwrap();
            }
        }
        assert_eq!(model::children(&mut db, person.as_bytes(), "a"), ["1", "2"]);
    }
}
