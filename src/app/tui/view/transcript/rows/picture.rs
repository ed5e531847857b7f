//! The rows of pictures. They are blank, and their number comes from the picture's head, so that
//! nothing moves when the pixels arrive.

use std::ops::Range;

use ratatui_core::style::Style;

use super::LayoutOptions;
use crate::app::tui::layout::MEASURE;
use crate::app::tui::picture::{Picture, PlacedPicture};
use crate::app::tui::text::width::width;
use crate::app::tui::text::{Line, Opens, RenderContext, Row};
use crate::app::tui::transcript::{Cell, CellBody, Fold};

/// The rows of a cell, and the pictures among them.
pub struct PictureRows<'a> {
    pub rows: &'a mut Vec<Row>,
    pub placed: &'a mut Vec<PlacedPicture>,
}

impl PictureRows<'_> {
    /// Adds the rows of a picture after `indent`. As text they are the bytes `caption` of the source.
    /// Returns whether it can be shown.
    pub fn push(
        &mut self,
        context: RenderContext<'_>,
        options: LayoutOptions<'_>,
        (picture, fold): (&Picture, Fold),
        indent: &Line,
        caption: Range<u32>,
    ) -> bool {
        let room = context.columns.saturating_sub(width(&indent.text));
        let Some((columns, rows)) = size(picture, options, room, fold) else {
            return false;
        };
        let opens = if size(picture, options, room, fold.toggled()) == Some((columns, rows)) {
            Opens::Nothing
        } else {
            Opens::Cell
        };
        let mut line = indent.clone();
        let blank = " ".repeat(usize::from(columns));
        line.push_source(&blank, Style::new(), caption);
        let mut row = line.into_row();
        // All rows together are one line of the source.
        row.soft_wrap = true;
        row.opens = opens;
        self.placed.push(PlacedPicture {
            picture: picture.clone(),
            first: self.rows.len(),
            rows,
            x: width(&indent.text) as u16,
            columns,
            quiet: context.theme.faint,
        });
        let first = self.rows.len();
        self.rows.resize(first + usize::from(rows), row);
        if let Some(last) = self.rows.last_mut() {
            last.soft_wrap = false;
        }
        true
    }
}

pub fn height(cell: &Cell, options: LayoutOptions<'_>) -> usize {
    let pictures = match &cell.body {
        CellBody::User { pictures, .. } => pictures,
        CellBody::Tool(tool) => &tool.pictures,
        _ => return 0,
    };
    let room = usize::from(options.width.min(MEASURE)).saturating_sub(4);
    let rows = |picture: &Picture| size(picture, options, room, cell.fold);
    let rows = pictures.iter().filter_map(rows);
    rows.map(|(_, rows)| usize::from(rows)).sum()
}

fn size(
    picture: &Picture,
    options: LayoutOptions<'_>,
    columns: usize,
    fold: Fold,
) -> Option<(u16, u16)> {
    let layout = options.pictures?;
    layout.fit(picture.size()?, columns, fold == Fold::Open)
}
