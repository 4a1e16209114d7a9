//! Promise: what the fuzzer must not find is not there for any input of the corpus, nor for their mixtures.

mod checks;

use std::path::Path;

/// Runs a check on each file of a corpus, on the start of each, and on each pair glued together.
fn run(name: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("__test__/fuzz/corpus").join(name);
    let inputs: Vec<Vec<u8>> =
        std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(inputs.len() > 5, "the corpus of {name} has {} inputs", inputs.len());
    for input in &inputs {
        for end in 0..=input.len().min(200) {
            check(&input[..end]);
        }
        check(input);
        for other in &inputs {
            check(&[input.as_slice(), other].concat());
        }
    }
}

#[test]
fn keys_hold() {
    run("keys", checks::keys);
}

#[test]
fn values_hold() {
    run("values", checks::values);
}

#[test]
fn documents_hold() {
    run("documents", checks::documents);
}
