//! The tree of the session as plain data: the visible and the folded entries, the chosen one, and the
//! label being typed.

use std::collections::HashSet;

use super::picker::Picker;
use super::tree_rows::TreeRows;
use crate::app::branches::{EntryKind, Filter, Outline, OutlineEntry};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreePurpose {
    /// To continue from another entry.
    #[default]
    Jump,
    /// To begin another session from a prompt.
    Fork,
}

/// The tree while it is open. Its matches are rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreePicker {
    pub picker: Picker,
    pub purpose: TreePurpose,
    /// All entries; none until they were read.
    pub outline: Option<Outline>,
    pub filter: Filter,
    pub rows: TreeRows,
    /// The row of the current entry, or the nearest one above.
    pub here: Option<usize>,
    /// The label that is being written for the chosen entry.
    pub label: Option<Picker>,
    folded: HashSet<usize>,
    /// How deep on the path of the conversation the nearest entry of it stands, for each entry.
    joins: Vec<Option<usize>>,
    /// How deep the last stands that was said there.
    said: Option<usize>,
    /// The most rows there were, so that nothing jumps while it is searched.
    tallest: usize,
}

impl TreePicker {
    pub fn new(purpose: TreePurpose) -> Self {
        Self {
            purpose,
            filter: match purpose {
                TreePurpose::Jump => Filter::Default,
                TreePurpose::Fork => Filter::Prompts,
            },
            ..Self::default()
        }
    }

    /// Takes the entries, and selects the current one.
    pub fn read(&mut self, outline: Outline) {
        let here = outline.here();
        self.outline = Some(outline);
        self.measure_path();
        self.show(here);
    }

    pub fn tallest(&self) -> usize {
        self.tallest
    }

    /// Finds the visible entries again; the chosen entry stays chosen while it's there.
    pub fn search(&mut self) {
        self.show(self.chosen_at());
    }

    /// Shows other entries, the next of the filters or the one before.
    pub fn cycle_filter(&mut self, back: bool) {
        let each = Filter::EACH;
        let at = each.iter().position(|filter| *filter == self.filter);
        let step = if back { each.len() - 1 } else { 1 };
        self.filter = each[(at.unwrap_or(0) + step) % each.len()];
        self.search();
    }

    /// Folds the branch of the chosen entry; goes to its beginning first, and from a folded one to
    /// the branch it leaves.
    pub fn fold(&mut self) {
        let row = self.picker.selected();
        if self.rows.rows().is_empty() {
            return;
        }
        let start = self.rows.branch_start(row);
        if start != row {
            self.picker.select(start);
        } else if self.rows.can_fold(row) {
            self.folded.insert(self.rows.rows()[row].entry);
            self.search();
        } else if let Some(parent) = self.rows.parent_start(row) {
            self.picker.select(parent);
        }
    }

    /// Opens the folded branch that is chosen, or goes to where the next one begins.
    pub fn unfold(&mut self) {
        let row = self.picker.selected();
        let Some(chosen) = self.rows.rows().get(row) else {
            return;
        };
        if self.folded.remove(&chosen.entry) {
            self.search();
        } else {
            self.picker.select(self.rows.next_start(row));
        }
    }

    pub fn chosen(&self) -> Option<&OutlineEntry> {
        self.outline.as_ref()?.entries().get(self.chosen_at()?)
    }

    pub fn chosen_at(&self) -> Option<usize> {
        let row = self.rows.rows().get(self.picker.chosen()?)?;
        Some(row.entry)
    }

    /// Labels the chosen entry with what was written; empty takes the label away. Answers its id
    /// and the label.
    pub fn finish_label(&mut self) -> Option<(String, Option<String>)> {
        let written = self.label.take()?;
        let label = written.query().trim();
        let label = (!label.is_empty()).then(|| label.to_owned());
        let at = self.chosen_at()?;
        let outline = self.outline.as_mut()?;
        outline.set_label(at, label.clone());
        let id = outline.entries()[at].id.clone();
        self.measure_path();
        self.search();
        Some((id, label))
    }

    /// Whether going on from the chosen entry leaves something behind that was said.
    pub fn leaves_something(&self) -> bool {
        let (Some(outline), Some(chosen)) = (&self.outline, self.chosen_at()) else {
            return false;
        };
        let entry = &outline.entries()[chosen];
        let target = match entry.kind {
            EntryKind::Prompt => entry.parent,
            _ => Some(chosen),
        };
        self.said > target.and_then(|target| self.joins[target])
    }

    /// Finds where entries join the path of the conversation, and how far down it something was said.
    fn measure_path(&mut self) {
        let Some(outline) = &self.outline else {
            return;
        };
        let entries = outline.entries();
        let above = |from| std::iter::successors(from, |at: &usize| entries[*at].parent);
        let mut path: Vec<usize> = above(outline.here()).collect();
        path.reverse();
        self.said = path
            .iter()
            .rposition(|at| outline.shows(*at, Filter::Default));
        self.joins = vec![None; entries.len()];
        for (depth, at) in path.into_iter().enumerate() {
            self.joins[at] = Some(depth);
        }
        for (at, entry) in entries.iter().enumerate() {
            self.joins[at] = self.joins[at].or(entry.parent.and_then(|it| self.joins[it]));
        }
    }

    fn show(&mut self, chosen: Option<usize>) {
        let Some(outline) = &self.outline else {
            return;
        };
        let query = self.picker.query().to_lowercase();
        let words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();
        let entries = outline.entries();
        let parents: Vec<Option<usize>> = entries.iter().map(|entry| entry.parent).collect();
        let visible = |at: usize| outline.shows(at, self.filter) && outline.holds(at, &words);
        // A search looks into folded branches too.
        let open = HashSet::new();
        let folded = if words.is_empty() {
            &self.folded
        } else {
            &open
        };
        self.rows = TreeRows::new(&parents, visible, folded);
        let mut shown = vec![None; entries.len()];
        for (row, it) in self.rows.rows().iter().enumerate() {
            shown[it.entry] = Some(row);
        }
        let nearest = |at: Option<usize>| {
            let mut above = std::iter::successors(at, |at| parents[*at]);
            above.find_map(|at| shown[at])
        };
        let row = nearest(chosen).unwrap_or(0);
        self.here = nearest(outline.here());
        self.tallest = self.tallest.max(self.rows.rows().len());
        let matches = (0..self.rows.rows().len()).collect();
        self.picker.set_matches(matches, row);
    }
}
