//! The surroundings of a cell: the blank rows before it, and its part of its group.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::IndexSet;

use super::rows::{Header, Part, PartRow, is_one_line, subject_of};
use crate::agent::ToolStatus;
use crate::app::tui::transcript::{
    Cell, CellBody, Fold, LookGroup, Neighbor, ToolCell, ToolState, Transcript,
};

/// Rows of a group besides its head and the file names, until it is opened.
const ROWS: usize = 4;

/// Maximum file names in their row.
const NAMES: usize = 24;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Blank rows before the cell.
    pub gap: usize,
    /// What the cell shows as part of a group.
    pub part: Option<Arc<Part>>,
}

/// The groups found since the last possible change.
#[derive(Debug, Default)]
pub struct Groups(HashMap<usize, Option<Arc<Part>>>);

impl Groups {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn standing(&mut self, transcript: &Transcript, index: usize) -> Standing {
        let part = self.part(transcript, index);
        let gap = match (&part, transcript.cell(index)) {
            (Some(part), _) if part.header.is_none() => 0,
            (_, Some(cell)) => self.gap(transcript, index, cell),
            _ => 0,
        };
        Standing { gap, part }
    }

    fn part(&mut self, transcript: &Transcript, index: usize) -> Option<Arc<Part>> {
        if let Some(part) = self.0.get(&index) {
            return part.clone();
        }
        let Some(group) = transcript.look_group(index) else {
            self.0.insert(index, None);
            return None;
        };
        for (cell, part) in parts(transcript, &group) {
            self.0.insert(cell, Some(Arc::new(part)));
        }
        self.0.get(&index).cloned().flatten()
    }

    /// Blank rows between a cell and the last visible one above.
    fn gap(&mut self, transcript: &Transcript, index: usize, cell: &Cell) -> usize {
        let mut at = index;
        let previous = loop {
            match transcript.cells().before(at) {
                Neighbor::Cell(before) => at = before,
                _ => return 0,
            }
            if let Some(before) = transcript.cell(at).filter(|cell| !cell.is_hidden()) {
                break before;
            }
        };
        match (&previous.body, &cell.body) {
            (CellBody::Tool(tool), CellBody::Tool(_)) => {
                let previews = transcript.shows_previews() || transcript.shows_picture_of(tool);
                let is_line = is_one_line(tool, previous.fold, previews);
                let is_head = self.part(transcript, index).is_some();
                usize::from(!is_line || is_head || self.part(transcript, at).is_some())
            }
            (CellBody::Thinking { .. }, CellBody::Tool(_) | CellBody::Thinking { .. }) => {
                usize::from(previous.fold == Fold::Open)
            }
            _ => 1,
        }
    }
}

fn parts(transcript: &Transcript, group: &LookGroup) -> Vec<(usize, Part)> {
    let call = |&index: &usize| {
        let call = transcript.looking_call(index)?;
        Some((index, transcript.cell(index)?, call))
    };
    let calls: Vec<(usize, &Cell, &ToolCell)> = group.cells.iter().filter_map(call).collect();
    let is_read = |tool: &ToolCell| tool.name == "read";
    // The calls that share one row.
    let merged: BTreeSet<usize> = calls
        .iter()
        .filter(|(_, cell, tool)| {
            !group.is_listed && is_read(tool) && cell.fold == Fold::Folded && !has_failed(tool)
        })
        .map(|(index, ..)| *index)
        .collect();
    let merged = Some(merged).filter(|it| it.len() > 1).unwrap_or_default();
    let quiet = calls.iter().filter(|(index, cell, _)| {
        !group.is_listed && cell.fold == Fold::Folded && !merged.contains(index)
    });
    let quiet: Vec<usize> = quiet.map(|(index, ..)| *index).collect();
    // One more takes no more room than a row that says so.
    let rows = ROWS + usize::from(quiet.len() == ROWS + 1);
    let left_out: BTreeSet<usize> = quiet.iter().copied().rev().skip(rows).collect();

    let mut names: IndexSet<String> = IndexSet::new();
    let mut header = Header {
        left_out: left_out.len(),
        ..Header::default()
    };
    for (index, _, tool) in &calls {
        header.is_running |= !matches!(tool.state, ToolState::Finished(_));
        if has_failed(tool) {
            header.failed += 1;
            continue;
        }
        match tool.name.as_str() {
            "read" => {
                let name = subject_of(tool);
                if !merged.contains(index) || !name.is_empty() && names.insert(name) {
                    header.files += 1;
                }
            }
            "ls" => header.folders += 1,
            _ => header.searches += 1,
        }
    }
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let part = |&index: &usize| {
        let row = match transcript.looking_call(index) {
            None => PartRow::Hidden,
            Some(_) if merged.last() == Some(&index) => PartRow::Files {
                names: std::mem::take(&mut names).into_iter().collect(),
                more,
            },
            Some(_) if merged.contains(&index) || left_out.contains(&index) => PartRow::Hidden,
            Some(_) => PartRow::Own,
        };
        let header = (index == group.cells[0]).then(|| header.clone());
        (index, Part { header, row })
    };
    group.cells.iter().map(part).collect()
}

fn has_failed(tool: &ToolCell) -> bool {
    matches!(tool.state, ToolState::Finished(status) if status != ToolStatus::Ok)
}
