//! A page of the documentation on the whole screen, and the line of its search.

use ratatui_core::layout::Rect;

use super::state::{DocsPage, PageFind};
use crate::app::action::Action;
use crate::app::manual::Section;
use crate::app::tui::layout::MEASURE;
use crate::app::tui::popups::{Popup, PopupDrawn, PopupView, split};
use crate::app::tui::text::markdown::MarkdownRows;
use crate::app::tui::text::width::width;
use crate::app::tui::text::{HighlightCache, RenderContext, Row};
use crate::app::tui::theme::Theme;
use crate::app::tui::view::bordered::clear;
use crate::app::tui::view::line::StyledLine;

/// Rows above a place that the search has found.
const CONTEXT: usize = 2;

/// The rows of the last page, laid out once for each width and theme.
#[derive(Debug, Default)]
pub struct DocsRows {
    of: Option<(&'static str, usize, Theme)>,
    rows: Vec<Row>,
    /// The headings with their rows.
    headings: Vec<(usize, String)>,
}

impl PopupView for DocsPage {
    fn draw(&self, popup: &mut Popup<'_>, cache: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        // Without the box: its edges and a blank column on both sides.
        let columns = popup.room.width.saturating_sub(4).clamp(1, MEASURE);
        cache.lay_out(self, usize::from(columns), &app.theme);
        // The line of the search takes the last row.
        let height = popup.most_rows() - usize::from(self.find.is_some() && popup.most_rows() > 1);
        let end = cache.rows.len().saturating_sub(height);
        let top = match self.seek {
            Some(byte) => {
                let above = if self.find.is_some() { CONTEXT } else { 0 };
                cache.row_of(byte).saturating_sub(above)
            }
            None => self.pager.top,
        };
        let top = top.min(end);
        let key = |action| app.key(action);
        let (down, esc) = (key(Action::PageDown), key(Action::Back));
        let percent = (top * 100).checked_div(end).unwrap_or(100);
        let notes = match &self.find {
            Some(_) => {
                let enter = key(Action::Accept);
                vec![
                    format!(" {enter}/↓ later · ↑ earlier · {esc} close search "),
                    format!(" {esc} close search "),
                ]
            }
            None => vec![
                format!(" {percent} % · ↑↓ Space {down} scroll · / search · {esc} back "),
                format!(" ↑↓ scroll · / search · {esc} back "),
                format!(" ↑↓ scroll · {esc} back "),
            ],
        };
        let title = cache.title(self, top);
        let rows = usize::from(popup.room.height);
        let area = popup.open_wide(&title, (u16::MAX, rows), &notes)?;
        let text = Rect {
            x: area.x + (area.width - columns.min(area.width)) / 2,
            width: columns.min(area.width),
            height: area.height.min(height as u16),
            ..area
        };
        for (line, row) in text.rows().zip(&cache.rows[top..]) {
            row.draw(popup.buffer, (line.x, line.y), line.width, None);
            if let Some(find) = &self.find {
                mark(popup, find, row, line);
            }
        }
        if let Some(find) = &self.find {
            draw_find(popup, find, area);
        }
        Some(PopupDrawn {
            list: text,
            top,
            end,
            ..PopupDrawn::default()
        })
    }
}

impl DocsRows {
    fn lay_out(&mut self, page: &DocsPage, columns: usize, theme: &Theme) {
        let topic = page.page.topic;
        let is_known = |(of, width, by): &(&str, usize, Theme)| {
            (*of, *width) == (topic, columns) && by == theme
        };
        if self.of.as_ref().is_some_and(is_known) {
            return;
        }
        let context = RenderContext {
            theme,
            base: theme.popup,
            columns,
            margin: 0,
            rail: None,
            cell: 0,
        };
        let mut markdown = MarkdownRows::default();
        markdown.update(&context, &page.text, false, &mut HighlightCache::default());
        let log = markdown.rows();
        let rows = (0..log.count()).filter_map(|at| log.get(at));
        self.rows = rows.map(std::borrow::Cow::into_owned).collect();
        let sections = Section::of(page.page).map(|it| (it.start_in(&page.text), it.heading()));
        self.headings = sections
            .map(|(byte, heading)| (self.row_of(byte), heading))
            .collect();
        self.of = Some((topic, columns, theme.clone()));
    }

    /// The row that shows this byte of the text.
    fn row_of(&self, byte: usize) -> usize {
        let shows = |row: &Row| row.has_source() && row.source.end as usize > byte;
        self.rows.iter().position(shows).unwrap_or_default()
    }

    /// The page and the section in the first row.
    fn title(&self, page: &DocsPage, top: usize) -> String {
        let above = self.headings.iter().rfind(|(row, _)| *row <= top + 1);
        match above {
            Some((_, heading)) if heading != page.page.title() => {
                format!("{} › {heading}", page.page.title())
            }
            _ => page.page.title().to_owned(),
        }
    }
}

/// Marks what the search has found in a row.
fn mark(popup: &mut Popup<'_>, find: &PageFind, row: &Row, area: Rect) {
    let typed = find.line.query().trim().to_ascii_lowercase();
    if typed.is_empty() {
        return;
    }
    let current = find.hits.get(find.current).copied();
    let is_here = |byte| row.source.start as usize <= byte && byte < row.source.end as usize;
    let theme = &popup.app.theme;
    let style = if current.is_some_and(is_here) {
        theme.pill
    } else {
        theme.popup_selected
    };
    let text = row.text.to_ascii_lowercase();
    for (at, found) in text.match_indices(&*typed) {
        let before = width(&row.text[..at]) as u16;
        let columns = width(&row.text[at..at + found.len()]) as u16;
        let place = Rect {
            x: area.x + before.min(area.width),
            width: columns.min(area.width.saturating_sub(before)),
            ..area
        };
        popup.buffer.set_style(place, style);
    }
}

/// Draws the line of the search over the last row of the text.
fn draw_find(popup: &mut Popup<'_>, find: &PageFind, area: Rect) {
    let (_, row) = split(area, area.height.saturating_sub(1));
    clear(popup.buffer, row);
    popup.buffer.set_style(row, popup.app.theme.popup);
    let line = StyledLine::of("Find ", popup.app.theme.popup_title)
        .with(find.line.query(), popup.app.theme.popup);
    popup.input(&line, row);
    let found = match find.hits.len() {
        _ if find.line.query().trim().is_empty() => String::new(),
        0 => "no match".to_owned(),
        count => format!("{} of {count}", find.current + 1),
    };
    popup.aside(&found, row);
}
