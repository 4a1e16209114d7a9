//! Reduces many operations to few with the same effect: first all deletions of ranges, then, in key order, the puts that
//! nothing later covers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::Operation;

/// What is left of the operations of a batch.
#[derive(Debug, Default)]
pub struct Reduced<'a> {
    /// Ranges to delete, `start <= key < end`, in order of their starts, before anything is put.
    pub deletes: Vec<(&'a [u8], &'a [u8])>,
    /// Keys and values to put, in key order, each key once.
    pub puts: Vec<(&'a [u8], &'a [u8])>,
}

struct Put<'a> {
    key: &'a [u8],
    order: usize,
    value: &'a [u8],
}

struct Delete<'a> {
    start: &'a [u8],
    end: &'a [u8],
    order: usize,
}

/// Reduces operations given in their order.
pub fn reduce<'a>(operations: impl Iterator<Item = Operation<'a>>) -> Reduced<'a> {
    let (mut puts, mut deletes) = (Vec::new(), Vec::new());
    for (order, operation) in operations.enumerate() {
        match operation {
            Operation::Put(key, value) => puts.push(Put { key, order, value }),
            Operation::DeleteRange(start, end) if start < end => deletes.push(Delete { start, end, order }),
            Operation::DeleteRange(..) => {}
        }
    }
    puts.sort_unstable_by(|a, b| a.key.cmp(b.key).then(b.order.cmp(&a.order)));
    puts.dedup_by(|later_in_list, kept| later_in_list.key == kept.key);
    deletes.sort_unstable_by(|a, b| a.start.cmp(b.start).then(b.end.cmp(a.end)));
    let puts = uncovered(puts, &deletes);
    Reduced { deletes: merged(&deletes), puts }
}

/// The puts (in key order) that no later deletion (in order of starts) covers.
fn uncovered<'a>(puts: Vec<Put<'a>>, deletes: &[Delete<'a>]) -> Vec<(&'a [u8], &'a [u8])> {
    let mut left = Vec::with_capacity(puts.len());
    let mut waiting = deletes.iter().peekable();
    // The deletions that have begun, the latest first; one that has ended goes when it comes to the top.
    let mut begun: BinaryHeap<(usize, Reverse<&[u8]>)> = BinaryHeap::new();
    for put in puts {
        while let Some(delete) = waiting.next_if(|delete| delete.start <= put.key) {
            begun.push((delete.order, Reverse(delete.end)));
        }
        while begun.peek().is_some_and(|(_, end)| end.0 <= put.key) {
            begun.pop();
        }
        if begun.peek().is_none_or(|(order, _)| *order < put.order) {
            left.push((put.key, put.value));
        }
    }
    left
}

/// Joins deletions (in order of starts) that overlap or touch.
fn merged<'a>(deletes: &[Delete<'a>]) -> Vec<(&'a [u8], &'a [u8])> {
    let mut joined: Vec<(&[u8], &[u8])> = Vec::new();
    for delete in deletes {
        match joined.last_mut() {
            Some((_, end)) if delete.start <= *end => *end = (*end).max(delete.end),
            _ => joined.push((delete.start, delete.end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Model = BTreeMap<Vec<u8>, Vec<u8>>;

    fn delete(model: &mut Model, start: &[u8], end: &[u8]) {
        model.retain(|key, _| &key[..] < start || &key[..] >= end);
    }

    fn apply<'a>(model: &mut Model, operations: impl Iterator<Item = &'a Operation<'a>>) {
        for operation in operations {
            match operation {
                Operation::Put(key, value) => drop(model.insert(key.to_vec(), value.to_vec())),
                Operation::DeleteRange(start, end) => delete(model, start, end),
            }
        }
    }

    /// A small generator, so that each case can be made again from its number.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    #[test]
    fn a_reduced_batch_does_what_the_batch_does() {
        for case in 0..20_000 {
            let mut dice = Dice(case);
            let keys: Vec<Vec<u8>> =
                (0..24).map(|_| (0..=dice.below(3)).map(|_| b'a' + dice.below(4) as u8).collect()).collect();
            let operations: Vec<Operation<'_>> = (0..dice.below(40))
                .map(|number| {
                    let first = &keys[dice.below(24) as usize];
                    let second = &keys[dice.below(24) as usize];
                    let value = &keys[(number % 24) as usize];
                    if dice.below(3) == 0 {
                        Operation::DeleteRange(first, second)
                    } else {
                        Operation::Put(first, value)
                    }
                })
                .collect();
            let mut expected: Model = keys.iter().take(8).map(|key| (key.clone(), b"old".to_vec())).collect();
            let mut found = expected.clone();
            apply(&mut expected, operations.iter());
            let reduced = reduce(operations.iter().copied());
            for (start, end) in &reduced.deletes {
                delete(&mut found, start, end);
            }
            assert!(reduced.puts.is_sorted_by(|a, b| a.0 < b.0), "case {case}");
            found.extend(reduced.puts.iter().map(|(key, value)| (key.to_vec(), value.to_vec())));
            assert_eq!(found, expected, "case {case}");
        }
    }
}
