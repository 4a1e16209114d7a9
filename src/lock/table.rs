//! The locks of a store that one process has to itself: who holds which node, in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::engine::Place;
use crate::error::Result;
use crate::patience;

/// Where the connections of one process see each other's locks. One for each store, see
/// [`Locks::in_process`](super::Locks::in_process).
#[derive(Default)]
pub struct Table {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The owner of each held node. In the order of keys, so that the holders below a node stand right behind it.
    owners: BTreeMap<Box<[u8]>, u64>,
    /// How many connections have come by.
    connections: u64,
}

impl Table {
    /// A table without locks.
    #[must_use]
    pub fn new() -> Table {
        Table::default()
    }
}

impl State {
    /// Whether nobody but `owner` holds the node, an ancestor or a descendant.
    fn is_free_for(&self, owner: u64, path: &[&[u8]]) -> bool {
        let Some((node, ancestors)) = path.split_last() else { return true };
        let below = (Bound::Included(*node), Bound::Unbounded);
        let subtree = self.owners.range::<[u8], _>(below).take_while(|(key, _)| key.starts_with(node));
        let above = ancestors.iter().filter_map(|ancestor| self.owners.get(*ancestor));
        above.chain(subtree.map(|(_, holder)| holder)).all(|holder| *holder == owner)
    }
}

/// One connection at the table.
pub struct Seat {
    table: Arc<Table>,
    owner: u64,
}

impl Seat {
    pub fn new(table: Arc<Table>) -> Seat {
        let owner = {
            let mut state = table.state.lock();
            state.connections += 1;
            state.connections
        };
        Seat { table, owner }
    }
}

impl Place for Seat {
    fn take(&mut self, path: &[&[u8]]) -> Result<bool> {
        let mut state = self.table.state.lock();
        let free = state.is_free_for(self.owner, path);
        if let (true, Some(node)) = (free, path.last()) {
            state.owners.insert((*node).into(), self.owner);
        }
        Ok(free)
    }

    fn give(&mut self, path: &[&[u8]]) -> Result<()> {
        if let Some(node) = path.last() {
            self.table.state.lock().owners.remove(*node);
        }
        Ok(())
    }

    fn give_all(&mut self) {
        self.table.state.lock().owners.retain(|_, holder| *holder != self.owner);
    }

    fn longest_pause(&self) -> Duration {
        // Every return rings in this process, so there is nothing to look for.
        patience::SLICE
    }
}
