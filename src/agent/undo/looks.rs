//! Scans of trees in this process. Each scan starts from the last one. A scan that times out is
//! retried once with less time, and then not again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::tree::Tree;
use super::walk;

/// Time limits of a scan: the first one, and one after a timeout.
const SECONDS: [u64; 2] = [5, 1];

/// The last scan, and the number of timeouts.
#[derive(Debug)]
pub(super) struct Looks {
    /// tiller's data folder, which scans skip.
    own: PathBuf,
    seen: HashMap<PathBuf, Arc<Tree>>,
    too_slow: HashMap<PathBuf, usize>,
}

impl Looks {
    /// `own` is tiller's data folder, which scans skip.
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

    /// Starts the next scan from this one.
    pub fn keep(&mut self, tree: &Arc<Tree>) {
        self.seen.insert(tree.root.clone(), Arc::clone(tree));
    }

    /// Scans the tree in `root`, if need be only in part; `None` after two timeouts.
    pub fn first(&mut self, root: &Path) -> Option<Tree> {
        let failed = self.too_slow.get(root).copied().unwrap_or_default();
        let seconds = *SECONDS.get(failed)?;
        let tree = walk::look(root, &self.own, self.last(root).as_deref(), seconds);
        if !tree.is_whole {
            self.too_slow.insert(root.to_owned(), failed + 1);
        }
        Some(tree)
    }

    /// Scans `tree` again; `None` if that is incomplete.
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
