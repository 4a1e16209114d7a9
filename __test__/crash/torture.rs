//! The long run.

use caretdb::engine::Durability;

use crate::kills::{CYCLING, WRITING, kill_at, kill_at_random, kill_cycling_at};
use crate::power::{Told, cut};

/// 1,000 kills and 500 power cuts: `npm run torture`.
#[test]
#[ignore = "takes several minutes"]
fn a_thousand_kills_and_five_hundred_power_cuts() {
    let mut kills = 0;
    for round in 0..6 {
        for place in WRITING {
            for beside in [false, true] {
                let pass = if place.starts_with("segment") { 1 } else { 1 + round * round * 3 };
                kill_at(place, pass, beside, round % 2 == 0, Durability::Relaxed);
                kills += 1 + u64::from(beside);
            }
        }
        println!("{kills} kills");
    }
    for place in CYCLING {
        kill_cycling_at(place, 1, Durability::Relaxed);
        kills += 12;
    }
    while kills < 1_000 {
        kill_at_random(40, if kills % 2 == 0 { Durability::Relaxed } else { Durability::Strict });
        kills += 40;
        println!("{kills} kills");
    }
    let mut told = Told::default();
    for n in 0..500 {
        let durability = if n % 3 == 0 { Durability::Strict } else { Durability::Relaxed };
        cut(1 + n * 37 % 311, durability, &mut told);
        if n % 50 == 49 {
            println!("{} power cuts", told.cuts);
        }
    }
    println!(
        "{kills} kills, {} power cuts: of {} transactions committed before a cut, {} were younger than the last flush and \
         lost, no other",
        told.cuts, told.committed, told.lost
    );
}
