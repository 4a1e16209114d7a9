//! What a write promises, attacked: real processes killed at named places and at random, and power cuts made of the
//! files as their last syncs left them. `docs/durability.md` names the test for each promise.
//!
//! `cargo test --features faults --test crash` runs a sample; `npm run torture` a thousand kills and five hundred cuts.

mod at_rest;
mod child;
mod damage;
mod disk;
mod formats;
mod kills;
mod model;
mod power;
mod room;
mod rules;
mod torture;
mod upkeep;
