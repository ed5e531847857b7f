//! A tree as rows: the order of the entries, and the lines that show where branches begin. It is
//! built once for a set of visible entries; the lines are computed when a row is drawn.

use std::collections::HashSet;

/// Maximum levels of lines.
const MAX_LEVELS: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeRows {
    rows: Vec<TreeRow>,
    branches: Vec<Branch>,
    /// Whether the tree has one root. Its branch has no lines.
    has_trunk: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    pub entry: usize,
    pub begins: bool,
    /// Number of entries folded below it.
    pub folded: usize,
    branch: usize,
}

/// A sequence of entries without a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Branch {
    parent: Option<usize>,
    /// Whether no sibling branch follows.
    is_last: bool,
    first_row: usize,
}

impl TreeRows {
    /// Arranges the `visible` entries below their nearest visible ancestors. Leaves out the entries
    /// below the first entry of a branch if it is `folded`.
    pub fn new(
        parents: &[Option<usize>],
        visible: impl Fn(usize) -> bool,
        folded: &HashSet<usize>,
    ) -> Self {
        let visible: Vec<bool> = (0..parents.len()).map(visible).collect();
        let children = Children::of(parents, &visible);
        let mut tree = Self {
            has_trunk: children.roots.len() == 1,
            ..Self::default()
        };
        // Entries to place: entry, branch, whether it begins the branch.
        let mut open = Vec::new();
        tree.add(&children.roots, None, &mut open);
        while let Some((entry, branch, begins)) = open.pop() {
            if begins {
                tree.branches[branch].first_row = tree.rows.len();
            }
            let below = children.of_entry(entry);
            let is_folded = begins && folded.contains(&entry);
            tree.rows.push(TreeRow {
                entry,
                begins,
                folded: if is_folded { children.count(entry) } else { 0 },
                branch,
            });
            match below {
                _ if is_folded => {}
                [only] => open.push((*only, branch, false)),
                several => tree.add(several, Some(branch), &mut open),
            }
        }
        tree
    }

    /// Begins a branch with each of `entries`.
    fn add(
        &mut self,
        entries: &[usize],
        parent: Option<usize>,
        open: &mut Vec<(usize, usize, bool)>,
    ) {
        for (at, entry) in entries.iter().enumerate().rev() {
            self.branches.push(Branch {
                parent,
                is_last: at + 1 == entries.len(),
                first_row: 0,
            });
            open.push((*entry, self.branches.len() - 1, true));
        }
    }

    pub fn rows(&self) -> &[TreeRow] {
        &self.rows
    }

    /// The lines to the left of a row. A tree with one root has none before its first fork.
    pub fn lines(&self, row: &TreeRow) -> String {
        let mut levels = Vec::new();
        let mut branch = Some(row.branch);
        let mut begins = row.begins;
        while let Some(at) = branch.filter(|_| levels.len() <= MAX_LEVELS) {
            let Branch {
                parent, is_last, ..
            } = self.branches[at];
            if parent.is_some() || !self.has_trunk {
                levels.push(match (begins, is_last) {
                    (true, false) => "├─ ",
                    (true, true) => "└─ ",
                    (false, false) => "│  ",
                    (false, true) => "   ",
                });
            }
            begins = false;
            branch = parent;
        }
        let cut = levels.len() > MAX_LEVELS;
        levels.truncate(MAX_LEVELS);
        if cut {
            levels.push("…  ");
        }
        levels.reverse();
        levels.concat()
    }

    pub fn branch_start(&self, row: usize) -> usize {
        self.branches[self.rows[row].branch].first_row
    }

    pub fn parent_start(&self, row: usize) -> Option<usize> {
        let parent = self.branches[self.rows[row].branch].parent?;
        Some(self.branches[parent].first_row)
    }

    /// The next row below that begins a branch, or the last row.
    pub fn next_start(&self, row: usize) -> usize {
        let below = self.rows.iter().skip(row + 1).position(|row| row.begins);
        below.map_or(self.rows.len().saturating_sub(1), |below| row + 1 + below)
    }

    /// Whether the branch that begins here can be folded: it has entries and isn't the trunk.
    pub fn can_fold(&self, row: usize) -> bool {
        let here = self.rows[row];
        let is_trunk = self.branches[here.branch].parent.is_none() && self.has_trunk;
        let last = self.rows.get(row + 1);
        here.begins && !is_trunk && last.is_some_and(|next| self.is_within(next, here.branch))
    }

    fn is_within(&self, row: &TreeRow, branch: usize) -> bool {
        let mut branches =
            std::iter::successors(Some(row.branch), |branch| self.branches[*branch].parent);
        branches.any(|within| within == branch)
    }
}

/// The visible children of each entry, in one list.
struct Children {
    roots: Vec<usize>,
    list: Vec<usize>,
    /// The start of each entry's children in `list`, plus the end.
    starts: Vec<usize>,
}

impl Children {
    fn of(parents: &[Option<usize>], visible: &[bool]) -> Self {
        let mut above: Vec<Option<usize>> = Vec::with_capacity(parents.len());
        for parent in parents {
            let mut up = *parent;
            while let Some(parent) = up.filter(|parent| !visible[*parent]) {
                // A parent comes earlier in the file, so its visible ancestor is already known.
                up = match above.get(parent) {
                    Some(above) => *above,
                    None => parents[parent],
                };
            }
            above.push(up);
        }
        let mut starts = vec![0; parents.len() + 1];
        let shown = || above.iter().enumerate().filter(|(at, _)| visible[*at]);
        for parent in shown().filter_map(|(_, parent)| *parent) {
            starts[parent + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut list = vec![0; starts[parents.len()]];
        let mut roots = Vec::new();
        for (at, parent) in shown() {
            match parent {
                Some(parent) => {
                    list[next[*parent]] = at;
                    next[*parent] += 1;
                }
                None => roots.push(at),
            }
        }
        Self {
            roots,
            list,
            starts,
        }
    }

    fn of_entry(&self, entry: usize) -> &[usize] {
        &self.list[self.starts[entry]..self.starts[entry + 1]]
    }

    fn count(&self, entry: usize) -> usize {
        let mut open = vec![entry];
        let mut count = 0;
        while let Some(entry) = open.pop() {
            count += self.of_entry(entry).len();
            open.extend(self.of_entry(entry));
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line for each row: its lines, its entry, the number of folded entries.
    fn drawn(parents: &[i32], hidden: &[usize], folded: &[usize]) -> Vec<String> {
        let parents: Vec<Option<usize>> = parents
            .iter()
            .map(|parent| usize::try_from(*parent).ok())
            .collect();
        let folded = folded.iter().copied().collect();
        let rows = TreeRows::new(&parents, |at| !hidden.contains(&at), &folded);
        let line = |row: &TreeRow| match row.folded {
            0 => format!("{}{}", rows.lines(row), row.entry),
            folded => format!("{}{} +{folded}", rows.lines(row), row.entry),
        };
        rows.rows().iter().map(line).collect()
    }

    #[test]
    fn lines_are_only_where_branches_are() {
        // 0 - 1 - 2 - 3
        //      \- 4 - 5
        //          \- 6
        let tree = [-1, 0, 1, 2, 1, 4, 4];
        for (hidden, folded, expected) in [
            (
                &[][..],
                &[][..],
                &["0", "1", "├─ 2", "│  3", "└─ 4", "   ├─ 5", "   └─ 6"][..],
            ),
            (&[][..], &[2, 4][..], &["0", "1", "├─ 2 +1", "└─ 4 +2"][..]),
            // Entries below a hidden entry move below its nearest visible ancestor.
            (&[1, 4], &[], &["0", "├─ 2", "│  3", "├─ 5", "└─ 6"]),
            (&[2, 3, 5], &[], &["0", "1", "4", "6"]),
            (
                &[0, 1],
                &[],
                &["├─ 2", "│  3", "└─ 4", "   ├─ 5", "   └─ 6"],
            ),
            (&[0, 1, 2, 3, 4, 5, 6], &[], &[]),
        ] {
            assert_eq!(drawn(&tree, hidden, folded), expected, "{hidden:?}");
        }
        assert_eq!(drawn(&[-1, 0, -1], &[], &[]), ["├─ 0", "│  1", "└─ 2"]);
        assert_eq!(
            drawn(&[-1, 2, 0], &[], &[]),
            ["0", "2", "1"],
            "a parent behind its child"
        );
    }

    #[test]
    fn branches_fold_and_are_walked() {
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        let rows = TreeRows::new(&parents, |_| true, &HashSet::new());
        let can_fold: Vec<bool> = (0..6).map(|row| rows.can_fold(row)).collect();
        assert_eq!(can_fold, [false, false, true, false, true, false]);
        assert_eq!(rows.branch_start(3), 2);
        assert_eq!(rows.branch_start(1), 0);
        assert_eq!(rows.parent_start(5), Some(0));
        assert_eq!(rows.parent_start(1), None);
        assert_eq!(rows.next_start(0), 2);
        assert_eq!(rows.next_start(2), 4);
        assert_eq!(rows.next_start(4), 5);
    }
}
