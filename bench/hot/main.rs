//! One hot call after another, for a counter of instructions: `bench/instructions.mjs` runs this under valgrind, which
//! counts only inside [`measured`].
//!
//!     cargo run --profile counted --example hot -- list
//!     cargo run --profile counted --example hot -- set-process 20000
//!
//! A count is of the calling thread alone; what the threads of the log do beside it is not in it.

mod calls;

use calls::{CALLS, Subject};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [list] if list == "list" => {
            for call in &CALLS {
                println!("{}", call.name);
            }
        }
        [name, count] => {
            let call = CALLS.iter().find(|call| call.name == name).expect("a name that `list` shows");
            let count: u32 = count.parse().expect("a count");
            let mut subject = call.prepare();
            // What only the first calls do is not what is counted.
            for n in 0..count / 4 {
                (call.call)(&mut subject, n);
            }
            measured(call.call, &mut subject, count / 4, count + count / 4);
        }
        _ => panic!("give `list`, or the name of a call and how often to do it"),
    }
}

/// The calls that are counted.
#[inline(never)]
#[unsafe(no_mangle)]
extern "Rust" fn measured(call: fn(&mut Subject, u32), subject: &mut Subject, from: u32, to: u32) {
    for n in from..to {
        call(subject, n);
    }
}
