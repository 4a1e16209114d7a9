//! The hot calls by the clock, with criterion's statistics: key encoding, engine operations, documents and cursor steps as
//! `bench/hot/calls.rs` has them. `node bench/instructions.mjs` counts the same calls' instructions, which a busy machine
//! does not change.
//!
//!     cargo bench --bench micro
//!     cargo bench --bench micro -- write-b --save-baseline before

#[path = "hot/calls.rs"]
mod calls;

use calls::CALLS;
use criterion::{Criterion, criterion_group, criterion_main};

fn hot(criterion: &mut Criterion) {
    for call in &CALLS {
        let mut subject = call.prepare();
        let mut n = 0;
        criterion.bench_function(call.name, |bencher| {
            bencher.iter(|| {
                (call.call)(&mut subject, n);
                n += 1;
            });
        });
    }
}

criterion_group!(benches, hot);
criterion_main!(benches);
