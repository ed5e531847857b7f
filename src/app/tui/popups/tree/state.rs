//! The tree of the session as plain data: visible and folded entries, selection, label being typed.

use std::collections::HashSet;

use super::rows::TreeRows;
use crate::app::branches::{EntryKind, Filter, Outline, OutlineEntry};
use crate::app::tui::popups::Picker;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreePurpose {
    /// To continue from another entry.
    #[default]
    Jump,
    /// To fork another session from a prompt.
    Fork,
}

/// The open tree. Its matches are rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreePicker {
    pub picker: Picker,
    pub purpose: TreePurpose,
    /// All entries; `None` until they are read.
    pub outline: Option<Outline>,
    pub filter: Filter,
    pub rows: TreeRows,
    /// The row of the current entry, or of its nearest visible ancestor.
    pub here: Option<usize>,
    /// The label being typed for the selected entry.
    pub label: Option<Picker>,
    folded: HashSet<usize>,
    /// For each entry, the depth of its nearest ancestor on the path of the conversation.
    joins: Vec<Option<usize>>,
    /// The depth of the last message on that path.
    said: Option<usize>,
    /// The most rows so far, so that nothing jumps during a search.
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

    /// Sets the entries, and selects the current one.
    pub fn read(&mut self, outline: Outline) {
        let here = outline.here();
        self.outline = Some(outline);
        self.measure_path();
        self.show(here);
    }

    pub fn tallest(&self) -> usize {
        self.tallest
    }

    /// Updates the visible entries. The selected entry stays selected if it is visible.
    pub fn search(&mut self) {
        self.show(self.chosen_at());
    }

    /// Switches to the next or the previous filter.
    pub fn cycle_filter(&mut self, back: bool) {
        let each = Filter::EACH;
        let at = each.iter().position(|filter| *filter == self.filter);
        let step = if back { each.len() - 1 } else { 1 };
        self.filter = each[(at.unwrap_or(0) + step) % each.len()];
        self.search();
    }

    /// Moves to the beginning of the branch, then folds it, then moves to the branch it leaves.
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

    /// Opens the selected folded branch, or moves to the beginning of the next one.
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

    /// Labels the selected entry with the typed text, or removes its label. Returns the id and label.
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

    /// Whether continuing from the selected entry leaves messages out of the conversation.
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

    /// Finds where entries join the path of the conversation, and its last visible message.
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
        // A search includes folded branches.
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
