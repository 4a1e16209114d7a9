//! Whether the entries of indexes and the documents say the same: each indexed value has its entry, and each entry its value.

use super::definition::{self, Index};
use super::{Result, entry, key};
use crate::document::spell;

/// Reads the stored value of a key into the given room; false where there is none.
pub type Get<'a> = dyn FnMut(&[u8], &mut Vec<u8>) -> Result<bool> + 'a;

/// The indexes of a store, as their definitions say.
#[derive(Default)]
pub struct Known {
    list: Vec<Index>,
    entries: Vec<u8>,
    /// How many entries were looked at.
    pub seen: u64,
}

impl Known {
    /// Where the definitions are, for [`Known::define`].
    #[must_use]
    pub fn stretch() -> (Vec<u8>, Vec<u8>) {
        definition::stretch()
    }

    /// Takes a definition. What is wrong with it, where something is.
    pub fn define(&mut self, key: &[u8], stored: &[u8]) -> Option<String> {
        match Index::read(key, stored) {
            Ok(index) => {
                self.list.push(index);
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// How many indexes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// What is wrong between the node with this key and the indexes, where something is.
    ///
    /// # Errors
    /// Those of `get`.
    pub fn look(&mut self, found: &[u8], stored: &[u8], get: &mut Get<'_>) -> Result<Option<String>> {
        if definition::is_entry(found) {
            self.seen += 1;
            return self.look_at_entry(found, get);
        }
        for index in &self.list {
            let Some(child) = index.child_of(found) else { continue };
            let Ok(entry) = index.entry(stored, child) else {
                return Ok(Some(format!("the value is too long for the index {:?}", index.name)));
            };
            if let Some(entry) = entry
                && !get(entry.key(), &mut self.entries)?
            {
                return Ok(Some(format!("the index {:?} of {} does not have it", index.name, spell(&index.node))));
            }
        }
        Ok(None)
    }

    fn look_at_entry(&mut self, found: &[u8], get: &mut Get<'_>) -> Result<Option<String>> {
        let Some(index) = self.list.iter().find(|index| found.starts_with(&index.entries)) else {
            return Ok(Some("it is an entry of no index".to_owned()));
        };
        let child = entry::child_in(&found[index.entries.len()..]).filter(|child| key::subscript_len(child).is_some());
        let Some(child) = child else { return Ok(Some("it is no entry of an index".to_owned())) };
        let value = index.value_key(child);
        let there = get(&value, &mut self.entries)?;
        let fits = there
            && index.entry(&self.entries, child).is_ok_and(|entry| entry.is_some_and(|entry| entry.key() == found));
        Ok((!fits).then(|| format!("the index {:?} has it, but {} does not", index.name, spell(&value))))
    }
}
