//! Whether the pages of an LMDB file form the trees that its meta page tells of: every page in one place only and of the
//! right kind, every node within its page, keys in order, and as many of each as is said.

use super::pages::{HEAD, METAS, MOST_DEPTH, NODE, PAGE, Page, Pages, Stored, Tree};
use crate::error::{Error, Result};

/// What to do with damage that was found: page, keys around it, and what is wrong.
pub type Finder<'a> = dyn FnMut(Flaw) -> Result<()> + 'a;

/// Damage in the pages of a file.
#[derive(Clone, Debug)]
pub struct Flaw {
    /// What is wrong, and with which page.
    pub what: String,
    /// The keys between which the page's contents lie, where it is one of the tree of entries; empty ones are open ends.
    pub between: Option<(Vec<u8>, Vec<u8>)>,
}

/// Makes sure that a file is sound, before it is mapped.
///
/// # Errors
/// [`Error::Corrupt`] with the first damage.
pub fn require_sound(path: &std::path::Path) -> Result<()> {
    let pages = Pages::open(path, None)?;
    verify(&pages, &mut |_| Ok(()), &mut |flaw| Err(pages.damaged(&flaw.what)))
}

/// Walks both trees. `progress` hears of each page of the entries' tree.
pub fn verify(pages: &Pages, progress: &mut dyn FnMut(u64) -> Result<()>, found: &mut Finder<'_>) -> Result<()> {
    let used = vec![0_u64; usize::try_from(pages.meta.last_page / 64 + 1).unwrap_or(0)];
    let mut walk = Walk { pages, used, found, progress, seen: Tree::default(), is_free: false, freed: Vec::new() };
    walk.tree(pages.meta.main)?;
    walk.is_free = true;
    walk.tree(pages.meta.free)?;
    walk.free_pages()
}

struct Walk<'a, 'f> {
    pages: &'a Pages,
    /// A bit for each page that was met.
    used: Vec<u64>,
    found: &'a mut Finder<'f>,
    progress: &'a mut dyn FnMut(u64) -> Result<()>,
    /// What was met of the tree.
    seen: Tree,
    is_free: bool,
    /// The pages that the tree of free pages lists.
    freed: Vec<u64>,
}

/// What may lie below a page.
#[derive(Clone)]
struct Bounds {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
}

impl Walk<'_, '_> {
    fn flaw(&mut self, what: String, bounds: Option<&Bounds>) -> Result<()> {
        let between = bounds.map(|bounds| (bounds.low.clone(), bounds.high.clone().unwrap_or_default()));
        (self.found)(Flaw { what, between: between.filter(|_| !self.is_free) })
    }

    /// Notes that a page is in use. False where it is none, or is in use already.
    fn take(&mut self, number: u64, bounds: Option<&Bounds>) -> Result<bool> {
        if number < METAS || number > self.pages.meta.last_page {
            self.flaw(format!("page {number} is referred to and is none of the file's"), bounds)?;
            return Ok(false);
        }
        #[allow(clippy::cast_possible_truncation)] // the vector has room for all pages
        let (index, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.used[index] & bit != 0 {
            self.flaw(format!("page {number} is in use twice"), bounds)?;
            return Ok(false);
        }
        self.used[index] |= bit;
        Ok(true)
    }

    fn tree(&mut self, tree: Tree) -> Result<()> {
        self.seen = Tree::default();
        if tree.depth > MOST_DEPTH {
            return self.flaw(format!("a tree is said to have {} levels", tree.depth), None);
        }
        if tree.root.is_some() != (tree.depth > 0) {
            return self.flaw(format!("a tree of {} levels has the wrong root", tree.depth), None);
        }
        if let Some(root) = tree.root {
            self.page(root, tree.depth, &Bounds { low: Vec::new(), high: None })?;
        }
        let (seen, what) = (self.seen, if self.is_free { "free pages" } else { "entries" });
        let counts = [
            ("branches", seen.branches, tree.branches),
            ("leaves", seen.leaves, tree.leaves),
            ("pages of large values", seen.overflow, tree.overflow),
            ("entries", seen.entries, tree.entries),
        ];
        for (name, has, said) in counts {
            if has != said {
                self.flaw(format!("the tree of {what} has {has} {name} where it is said to have {said}"), None)?;
            }
        }
        Ok(())
    }

    fn page(&mut self, number: u64, levels: u16, bounds: &Bounds) -> Result<()> {
        if !self.take(number, Some(bounds))? {
            return Ok(());
        }
        (self.progress)(number)?;
        let page = match self.pages.read_node_page(number) {
            Ok((page, branch)) if branch == (levels > 1) => page,
            Ok(_) => return self.flaw(format!("page {number} is at the wrong level of its tree"), Some(bounds)),
            Err(Error::Corrupt { what, .. }) => {
                let what = what.split(". ").next().unwrap_or_default().to_owned();
                return self.flaw(what, Some(bounds));
            }
            Err(error) => return Err(error),
        };
        if levels > 1 { self.branch(number, &page, levels, bounds) } else { self.leaf(number, &page, bounds) }
    }

    fn branch(&mut self, number: u64, page: &Page, levels: u16, bounds: &Bounds) -> Result<()> {
        self.seen.branches += 1;
        let Some(nodes) = self.nodes(number, page, true, bounds)? else { return Ok(()) };
        for (index, node) in nodes.iter().enumerate() {
            let key = |node: &super::pages::Node| page.0[node.key.clone()].to_vec();
            let below = Bounds {
                low: if index == 0 { bounds.low.clone() } else { key(node) },
                high: nodes.get(index + 1).map(key).or_else(|| bounds.high.clone()),
            };
            self.page(node.child, levels - 1, &below)?;
        }
        Ok(())
    }

    fn leaf(&mut self, number: u64, page: &Page, bounds: &Bounds) -> Result<()> {
        self.seen.leaves += 1;
        let Some(nodes) = self.nodes(number, page, false, bounds)? else { return Ok(()) };
        for node in nodes {
            self.seen.entries += 1;
            if let Stored::Apart(first, length) = node.stored {
                self.overflow(number, first, length, bounds)?;
            }
            if self.is_free {
                self.free_list(number, page, &node)?;
            }
        }
        Ok(())
    }

    /// The nodes of a page; none where they make no sense.
    fn nodes(
        &mut self,
        number: u64,
        page: &Page,
        branch: bool,
        bounds: &Bounds,
    ) -> Result<Option<Vec<super::pages::Node>>> {
        let Some((count, begin)) = page.nodes() else { return Ok(None) };
        if count == 0 {
            self.flaw(format!("page {number} is empty"), Some(bounds))?;
            return Ok(None);
        }
        let (mut nodes, mut bytes) = (Vec::with_capacity(count), 0);
        for index in 0..count {
            let Some(node) = page.node(index, branch) else {
                self.flaw(format!("page {number} has a node that does not lie within it"), Some(bounds))?;
                return Ok(None);
            };
            let end = match &node.stored {
                Stored::Here(value) => value.end,
                Stored::Apart(..) => node.key.end + 8,
            };
            bytes += (end - (node.key.start - NODE)).next_multiple_of(2);
            nodes.push(node);
        }
        if bytes != PAGE - begin {
            self.flaw(
                format!("the nodes of page {number} do not fill the room that is said to be theirs"),
                Some(bounds),
            )?;
            return Ok(None);
        }
        if !self.is_in_order(page, &nodes, branch, bounds) {
            self.flaw(format!("the keys of page {number} are out of order"), Some(bounds))?;
            return Ok(None);
        }
        Ok(Some(nodes))
    }

    fn is_in_order(&self, page: &Page, nodes: &[super::pages::Node], branch: bool, bounds: &Bounds) -> bool {
        // The first key of a branch stands for everything before the second.
        let keys = nodes.iter().skip(usize::from(branch)).map(|node| &page.0[node.key.clone()]);
        let mut last: Option<&[u8]> = None;
        for key in keys {
            let fits = if self.is_free {
                key.len() == 8
                    && last.is_none_or(|last| number_of(last) < number_of(key))
                    && number_of(key) >= number_of(&bounds.low)
                    && bounds.high.as_ref().is_none_or(|high| number_of(key) < number_of(high))
            } else {
                !key.is_empty()
                    && last.is_none_or(|last| last < key)
                    && key >= &bounds.low[..]
                    && bounds.high.as_ref().is_none_or(|high| key < &high[..])
            };
            if !fits {
                return false;
            }
            last = Some(key);
        }
        true
    }

    fn overflow(&mut self, number: u64, first: u64, length: usize, bounds: &Bounds) -> Result<()> {
        let needed = ((HEAD - 1 + length) / PAGE + 1) as u64;
        if !self.take(first, Some(bounds))? {
            return Ok(());
        }
        let page = self.pages.read(first)?;
        let Some(count) = page.overflow().filter(|count| page.number() == first && *count >= needed) else {
            return self.flaw(format!("page {first} does not hold the value that page {number} says"), Some(bounds));
        };
        self.seen.overflow += count;
        for next in first + 1..first.saturating_add(count) {
            if !self.take(next, Some(bounds))? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a list of free pages: how many, then their numbers, the highest first.
    fn free_list(&mut self, number: u64, page: &Page, node: &super::pages::Node) -> Result<()> {
        let mut room = Vec::new();
        let bytes = self.pages.value(page, node, &mut room)?;
        let words: Vec<u64> = bytes.chunks_exact(8).map(number_of).collect();
        let transaction = number_of(&page.0[node.key.clone()]);
        // A list may have more room than it uses.
        let listed = words
            .split_first()
            .and_then(|(count, list)| list.get(..usize::try_from(*count).ok()?))
            .filter(|list| list.is_sorted_by(|a, b| a > b) && transaction <= self.pages.meta.transaction);
        match listed {
            Some(list) => self.freed.extend_from_slice(list),
            None => self.flaw(format!("the list of free pages in page {number} makes no sense"), None)?,
        }
        Ok(())
    }

    fn free_pages(&mut self) -> Result<()> {
        for number in std::mem::take(&mut self.freed) {
            if number < METAS || number > self.pages.meta.last_page {
                self.flaw(format!("page {number} is said to be free and is none of the file's"), None)?;
            } else {
                self.take(number, None)?;
            }
        }
        Ok(())
    }
}

fn number_of(bytes: &[u8]) -> u64 {
    bytes.get(..8).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_le_bytes)
}
