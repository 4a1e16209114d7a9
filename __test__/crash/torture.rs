//! The long run.

use caretdb::engine::Durability;

use crate::kills::{CYCLING, WRITING, kill_at, kill_at_random, kill_cycling_at};
use crate::power::{Told, cut};

/// Processes killed at every place at several passes, and at random: `npm run torture`.
#[test]
#[ignore = "takes many minutes"]
fn a_thousand_kills() {
    let mut kills = 0;
    for round in 0..4 {
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
    for round in 0.. {
        if kills >= 1_000 {
            break;
        }
        kill_at_random(40, [Durability::Relaxed, Durability::Strict, Durability::Process][round % 3]);
        kills += 40;
        println!("{kills} kills");
    }
    println!("{kills} kills, and no write lost that had returned");
}

/// Power cut at every number of syncs up to a few hundred: `npm run torture`.
#[test]
#[ignore = "takes many minutes"]
fn five_hundred_power_cuts() {
    let mut told = Told::default();
    for n in 0..500 {
        let durability = if n % 3 == 0 { Durability::Strict } else { Durability::Relaxed };
        cut(1 + n * 37 % 311, durability, &mut told);
        if n % 50 == 49 {
            println!("{} power cuts", told.cuts);
        }
    }
    println!(
        "{} power cuts: of {} transactions committed before a cut, {} were younger than the last flush and lost, no other",
        told.cuts, told.committed, told.lost
    );
}
