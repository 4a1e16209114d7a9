//! CaretDB: persistent ordered trees ("globals") inside the JavaScript process.
//!
//! Each module uses only those below it; nothing outside [`node`] knows that JavaScript exists, and nothing outside
//! [`engine`] knows which engine keeps the bytes.

pub mod attachment;
pub mod backup;
pub mod check;
pub mod copying;
pub mod cursor;
pub mod disk;
pub mod document;
pub mod engine;
pub mod error;
mod fault;
pub mod global;
pub mod index;
pub mod key;
pub mod lock;
pub mod node;
pub mod number;
pub mod patience;
pub mod restore;
pub mod store;
pub mod transaction;
pub mod value;
pub mod watch;
