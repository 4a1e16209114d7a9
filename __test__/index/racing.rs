//! Indexes that are made and dropped while other threads write: no write may slip through for older definitions.

use std::sync::Barrier;
use std::thread;

use caretdb::value::Value;

use super::{ENGINES, model, open};

const WRITERS: u8 = 3;
const ROUNDS: u16 = 300;

#[test]
fn writers_of_other_threads_follow_definitions_that_change_under_them() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), engine);
        let person = model::key(&["P"]);
        let begin = Barrier::new(usize::from(WRITERS) + 1);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (store, begin) = (&store, &begin);
                scope.spawn(move || {
                    let mut db = store.connect(false).unwrap();
                    begin.wait();
                    for round in 0..ROUNDS {
                        let child = format!("{writer}{}", round % 7);
                        let node = model::key(&["P", &child, "a"]);
                        let mut stored = Vec::new();
                        Value::Number(f64::from(round)).write(&mut stored);
                        match round % 5 {
                            0 => db.delete(model::key(&["P", &child]).as_bytes()).unwrap(),
                            1 => db.set_document(model::key(&["P", &child]).as_bytes(), r#"{"a": "x"}"#).unwrap(),
                            _ => db.set(node.as_bytes(), &stored).unwrap(),
                        }
                    }
                });
            }
            let mut db = store.connect(false).unwrap();
            begin.wait();
            for _ in 0..20 {
                db.create_index(person.as_bytes(), "a", r#"["a"]"#, false).unwrap();
                db.start().unwrap();
                model::compare(&mut db, person.as_bytes(), "a", &["a"], false);
                db.drop_index(person.as_bytes(), "a").unwrap();
                db.commit().unwrap();
            }
            db.create_index(person.as_bytes(), "a", r#"["a"]"#, false).unwrap();
        });
        let mut db = store.connect(false).unwrap();
        model::compare(&mut db, person.as_bytes(), "a", &["a"], false);
        assert!(!model::children(&mut db, person.as_bytes(), "a").is_empty());
    }
}
