//! The looks at trees of one program: what the last one saw is where the next one begins. One that does
//! not end in time is tried once more, for a shorter time, and then no more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::tree::Tree;
use super::walk;

/// How long a look may take: the first, and the one after one that took too long.
const SECONDS: [u64; 2] = [5, 1];

/// What was seen last, and how often that was not all in time.
#[derive(Debug)]
pub(super) struct Looks {
    /// The folder of the program's data, which is left out.
    own: PathBuf,
    seen: HashMap<PathBuf, Arc<Tree>>,
    too_slow: HashMap<PathBuf, usize>,
}

impl Looks {
    /// Without `own`, the folder of the program's data.
    pub fn new(own: &Path) -> Self {
        Self {
            own: own.to_owned(),
            seen: HashMap::new(),
            too_slow: HashMap::new(),
        }
    }

    pub fn last(&self, root: &Path) -> Option<Arc<Tree>> {
        self.seen.get(root).cloned()
    }

    /// Begins the next look with what was seen in this one.
    pub fn keep(&mut self, tree: &Arc<Tree>) {
        self.seen.insert(tree.root.clone(), Arc::clone(tree));
    }

    /// Looks at the tree below `root`; none where that takes too long.
    pub fn first(&mut self, root: &Path) -> Option<Tree> {
        let failed = self.too_slow.get(root).copied().unwrap_or_default();
        let seconds = *SECONDS.get(failed)?;
        let tree = walk::look(root, &self.own, self.last(root).as_deref(), seconds);
        if !tree.is_whole {
            self.too_slow.insert(root.to_owned(), failed + 1);
        }
        Some(tree)
    }

    /// Looks again at what was seen as `tree`; none where that was not all.
    pub fn look(&mut self, tree: &Arc<Tree>) -> Option<Arc<Tree>> {
        if !tree.is_whole {
            return None;
        }
        let now = walk::look(&tree.root, &self.own, Some(tree), SECONDS[0]);
        let mut now = now.is_whole.then_some(now)?;
        if now.has_all_of(tree) {
            now.indexes.clone_from(&tree.indexes);
        }
        let now = Arc::new(now);
        self.keep(&now);
        Some(now)
    }
}
