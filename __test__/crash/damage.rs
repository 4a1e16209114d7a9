//! Files damaged at random: the check notices what is wrong with their structure and never comes to harm, and opening them
//! answers with an error that names the file, or with the store.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use caretdb::check::{Findings, check};
use caretdb::engine::{Durability, Options};
use caretdb::key::Key;
use caretdb::store::Store;
use caretdb::value::Value;

use crate::child::{DAMAGED, Orders, READ};
use crate::model::mixed;

const PAGE: u64 = 4096;

/// A closed store with small and large values, an index and free pages.
pub fn store_in(folder: &Path, durability: Durability) -> PathBuf {
    let path = folder.join("store");
    let options = Options { durability: Some(durability), ..Options::default() };
    let store = Store::open(Some(&path), &options).unwrap();
    let mut db = store.connect(false).unwrap();
    let (mut node, mut stored) = (Key::new(), Vec::new());
    node.global("Person").unwrap();
    for id in 0..900_u32 {
        node.global("Person").unwrap();
        node.number(id.into()).unwrap();
        let document = format!(r#"{{"name": "name {id}", "tags": [{id}, null, "{}"]}}"#, "x".repeat(id as usize % 70));
        db.set_document(node.as_bytes(), &document).unwrap();
    }
    node.global("Person").unwrap();
    db.create_index(node.as_bytes(), "name", r#"["name"]"#, true).unwrap();
    node.global("Photo").unwrap();
    Value::Bytes(&[7; 30_000]).write(&mut stored);
    for id in 0..9_u32 {
        node.truncate("Photo".len() + 1);
        node.number(id.into()).unwrap();
        db.set(node.as_bytes(), &stored).unwrap();
    }
    for id in 0..200_u32 {
        node.global("Person").unwrap();
        node.number((id * 3).into()).unwrap();
        db.delete(node.as_bytes()).unwrap();
    }
    store.sync().unwrap();
    path
}

fn findings(path: &Path) -> Result<Findings, caretdb::error::Error> {
    check(path, &mut |_, _| Ok(()))
}

/// A copy without the working file, as a backup has it.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    for name in ["header", "durable.mdb"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

fn read(store: &Path) -> Option<i32> {
    Orders { store, durability: Durability::Relaxed, part: "read", fault: "", boot: 0 }.start().verdict()
}

#[test]
fn a_sound_store_is_found_sound_at_rest_and_in_use() {
    for durability in [Durability::Process, Durability::Relaxed, Durability::Strict] {
        let folder = tempfile::tempdir().unwrap();
        let path = store_in(folder.path(), durability);
        let at_rest = findings(&path).unwrap();
        assert_eq!(at_rest.damaged, 0, "{:?}", at_rest.damage);
        assert_eq!((at_rest.globals, at_rest.indexes, at_rest.index_entries), (3, 1, 700));
        let names = |path: &Path| fs::read_dir(path).unwrap().flatten().map(|e| e.file_name()).collect::<Vec<_>>();
        let before = names(&path);
        findings(&path).unwrap();
        assert_eq!(names(&path), before, "a check changes nothing");
        // In use by another process: this one may not have it open twice.
        let user = Orders { store: &path, durability, part: "share", fault: "", boot: 0 }.start();
        let progress = crate::child::Progress::of(&path);
        crate::child::wait_until("the user", || progress.committed() > 20);
        for _ in 0..3 {
            let in_use = findings(&path).unwrap();
            // The model's keys are none of a node, and its values none of a type: nothing else is wrong.
            let other: Vec<_> = in_use
                .damage
                .iter()
                .filter(|d| !d.nodes.starts_with("the key") && !d.what.contains("no key"))
                .collect();
            assert!(other.is_empty(), "{other:?}");
            assert!(in_use.nodes > 3_000);
        }
        user.kill();
    }
}

/// Pages that are gone, files that are cut short and single bits, in the durable file and in the header.
#[test]
fn random_damage_is_noticed_and_hurts_nobody() {
    damage_at_random(100);
}

/// Damages a store in many ways.
pub fn damage_at_random(cases: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = store_in(folder.path(), Durability::Relaxed);
    let (damaged, pages) =
        (folder.path().join("damaged"), fs::metadata(path.join("durable.mdb")).unwrap().len() / PAGE);
    let mut noticed = 0;
    for case in 0..cases {
        copy(&path, &damaged);
        let dice = mixed(case * 31 + 7);
        let name = if case % 10 == 9 { "header" } else { "durable.mdb" };
        let file = fs::OpenOptions::new().read(true).write(true).open(damaged.join(name)).unwrap();
        let length = file.metadata().unwrap().len();
        let what = match case % 5 {
            0 if name != "header" => {
                let page = 2 + dice % (pages - 2);
                file.write_all_at(&[0; PAGE as usize], page * PAGE).unwrap();
                format!("page {page} zeroed")
            }
            1 if name != "header" => {
                file.set_len(dice % length).unwrap();
                format!("cut to {} bytes", dice % length)
            }
            2 => {
                let (at, mut noise) = (dice % (length - 16), [0; 16]);
                noise[..8].copy_from_slice(&mixed(dice).to_le_bytes());
                noise[8..].copy_from_slice(&mixed(dice + 1).to_le_bytes());
                file.write_all_at(&noise, at).unwrap();
                format!("noise at {at}")
            }
            _ => {
                // Heads of pages and of nodes are where a bit does harm.
                let near = dice / 7 % length / PAGE * PAGE + if case % 2 == 0 { dice % 64 } else { dice % PAGE };
                let (at, mut byte) = (near.min(length - 1), [0]);
                file.read_exact_at(&mut byte, at).unwrap();
                file.write_all_at(&[byte[0] ^ 1 << (dice % 8)], at).unwrap();
                format!("bit {} of byte {at} flipped", dice % 8)
            }
        };
        drop(file);
        let found = findings(&damaged);
        let verdict = read(&damaged);
        assert!(verdict == Some(READ) || verdict == Some(DAMAGED), "{name}: {what}: {verdict:?}");
        let sound = match found {
            Ok(found) => found.damaged == 0,
            Err(error) => {
                assert!(["ERR_CORRUPT", "ERR_FORMAT"].contains(&error.code()), "{name}: {what}: {error}");
                false
            }
        };
        noticed += u64::from(!sound);
        assert!(!sound || verdict == Some(READ), "{name}: {what}: found sound, but it does not open");
        if what.starts_with("cut") {
            assert!(!sound, "{what}: not noticed");
        }
    }
    println!("{noticed} of {cases} cases noticed");
    assert!(noticed > cases / 3, "{noticed} of {cases}");
}
