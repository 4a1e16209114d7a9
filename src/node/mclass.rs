//! The class `mclass` of the mg-dbx face, which only says that a store has no classes of an M product.

use super::border::{Class, Entry, entry};
use super::server;

/// Never made.
pub struct NoClass;

impl Class for NoClass {
    const NAME: &'static str = "mclass";
    const MARK: u64 = 0xCA2E_7DB0_0C1A_5501;
}

/// `new mclass(…)` throws.
pub const CONSTRUCTOR: Entry = entry!(|call| server::unsupported(call, "mclass", "classes"));
