//! What lies over the screen: a box in the middle of the conversation, its text, and the caret where
//! it takes text. What runs and how to stop it stays visible below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::Line;
use super::picker;
use super::timeline;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{HelpLine, HistorySearch, Overlay, Scroll, help_lines};
use crate::app::tui::text::width::{ellipsis, fit, width};

/// What a draw found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Over {
    /// The caret, where it takes text.
    pub caret: Option<(u16, u16)>,
    /// The rows of its list, where one can be chosen from by mouse.
    pub list: Rect,
    /// Which entry stands in the first of them.
    pub top: usize,
}

/// Draws it.
pub fn draw(app: &App, overlay: &Overlay, area: Rect, buffer: &mut Buffer) -> Over {
    match overlay {
        Overlay::Help(list) => draw_help(app, *list, area, buffer),
        Overlay::Iterations(list) => {
            let columns = box_columns(area).min(60);
            let lines = timeline::lines(app);
            draw_list(app, "Iterations", columns, &lines, *list, area, buffer);
        }
        Overlay::ConfirmQuit => draw_confirm(app, area, buffer),
        Overlay::HistorySearch(search) => {
            return Over {
                caret: draw_search(app, search, area, buffer),
                ..Over::default()
            };
        }
        Overlay::Models(picker) => return picker::draw(app, picker, area, buffer),
    }
    Over::default()
}

fn draw_help(app: &App, list: Scroll, room: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4));
    let key_columns = (inside / 3).clamp(1, 26);
    let mut lines = Vec::new();
    for line in help_lines(&app.keymap) {
        match line {
            HelpLine::Blank => lines.push(Line::new()),
            HelpLine::Heading(title) => lines.push(Line::new().with(title, theme.popup_title)),
            // On a narrow screen the text stands below its keys, not beside them.
            HelpLine::Action { keys, help } if inside < 50 => {
                let keys = wrap(&keys, inside.max(1));
                lines.extend(keys.iter().map(|keys| {
                    Line::new().with(keys.as_str(), theme.popup.patch(theme.key_hint))
                }));
                for text in wrap(&help, inside.saturating_sub(2).max(1)) {
                    lines.push(Line::new().with(format!("  {text}"), theme.popup));
                }
            }
            HelpLine::Action { keys, help } => {
                let indent = " ".repeat(key_columns + 2);
                let texts = wrap(&help, inside.saturating_sub(key_columns + 2).max(1));
                let keys_shown = wrap(&keys, key_columns);
                for at in 0..texts.len().max(keys_shown.len()) {
                    let mut line = Line::new();
                    match keys_shown.get(at) {
                        Some(keys) => {
                            line.push(keys.as_str(), theme.popup.patch(theme.key_hint));
                            let gap = (key_columns + 2).saturating_sub(width(keys));
                            line.push(" ".repeat(gap), theme.popup);
                        }
                        None => line.push(indent.as_str(), theme.popup),
                    }
                    line.push(texts.get(at).map_or("", String::as_str), theme.popup);
                    lines.push(line);
                }
            }
        }
    }
    draw_list(app, "Keys", columns, &lines, list, room, buffer);
}

/// A box of lines to read, from where it was scrolled to.
fn draw_list(
    app: &App,
    title: &str,
    columns: u16,
    lines: &[Line],
    list: Scroll,
    room: Rect,
    buffer: &mut Buffer,
) {
    let Some(area) = frame(app, title, (columns, lines.len()), room, buffer) else {
        return;
    };
    let top = list
        .top
        .min(lines.len().saturating_sub(usize::from(area.height)));
    for (y, line) in lines[top..]
        .iter()
        .take(usize::from(area.height))
        .enumerate()
    {
        line.draw(buffer, area.x, area.y + y as u16, area.width);
    }
    let below = lines.len().saturating_sub(top + usize::from(area.height));
    let closes = format!("{} closes ", app.key(Action::Cancel));
    let page = app.key(Action::PageDown);
    let notes = match below {
        0 => vec![format!(" {closes}")],
        more => vec![
            format!(" {more} more lines · ↑↓ {page} scroll · {closes}"),
            format!(" {more} more · ↑↓ · {closes}"),
        ],
    };
    let fits = |note: &&String| width(note) <= usize::from(area.width);
    if let Some(note) = notes.iter().find(fits) {
        foot(app, note, area, buffer);
    }
}

fn draw_confirm(app: &App, room: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let lines = [
        Line::new().with("A run is under way. Leaving ends it.", theme.popup),
        Line::new(),
        Line::new()
            .with(app.key(Action::Submit), theme.popup.patch(theme.key_hint))
            .with(" leaves · ", theme.popup)
            .with(app.key(Action::Cancel), theme.popup.patch(theme.key_hint))
            .with(" stays", theme.popup),
    ];
    if let Some(area) = frame(app, "Leave?", (44, lines.len()), room, buffer) {
        for (y, line) in lines.iter().take(usize::from(area.height)).enumerate() {
            line.draw(buffer, area.x, area.y + y as u16, area.width);
        }
    }
}

fn draw_search(
    app: &App,
    search: &HistorySearch,
    screen: Rect,
    buffer: &mut Buffer,
) -> Option<(u16, u16)> {
    let theme = &app.theme;
    let columns = box_columns(screen);
    let rows = usize::from(screen.height / 2).clamp(3, 14);
    let area = frame(app, "Earlier prompts", (columns, rows), screen, buffer)?;
    let caret = draw_query(app, &search.query, area, buffer);

    let room = usize::from(area.height.saturating_sub(1));
    let first = (search.selected + 1).saturating_sub(room);
    let hits = app.composer.history().search(&search.query);
    let mut shown = 0;
    for (at, prompt) in hits.enumerate().skip(first).take(room) {
        let y = area.y + 1 + shown;
        let mut lines = prompt.lines();
        let mut text = lines.next().unwrap_or_default().to_owned();
        if lines.next().is_some() {
            text.push_str(" …");
        }
        let style = if at == search.selected {
            theme.popup_selected
        } else {
            theme.popup
        };
        let text = ellipsis(&text, usize::from(area.width));
        let pad = usize::from(area.width).saturating_sub(width(&text));
        Line::new()
            .with(format!("{text}{}", " ".repeat(pad)), style)
            .draw(buffer, area.x, y, area.width);
        shown += 1;
    }
    if shown == 0 && room > 0 {
        let says = if search.query.is_empty() {
            "Nothing was sent yet"
        } else {
            "Nothing found"
        };
        Line::new().with(says, theme.popup.patch(theme.dim)).draw(
            buffer,
            area.x,
            area.y + 1,
            area.width,
        );
    }
    Some((caret, area.y))
}

/// What is typed into a search, in the first row of `area`; where the caret stands. Of what is longer
/// than the row the end is shown.
pub(super) fn draw_query(app: &App, query: &str, area: Rect, buffer: &mut Buffer) -> u16 {
    let mut query = query;
    while width(query) + 3 > usize::from(area.width) && !query.is_empty() {
        let first = query.chars().next().map_or(0, char::len_utf8);
        query = &query[first..];
    }
    let line = Line::new()
        .with("› ", app.theme.popup_title)
        .with(query, app.theme.popup);
    line.draw(buffer, area.x, area.y, area.width);
    (area.x + line.width() as u16).min(area.right() - 1)
}

/// Columns of a large box: all there are, unless that would make long lines.
pub(super) fn box_columns(room: Rect) -> u16 {
    room.width.min(104)
}

/// A framed box in the middle of `screen`, as wide as this and with room for so many rows; the room
/// inside, if there is any.
pub(super) fn frame(
    app: &App,
    title: &str,
    (columns, rows): (u16, usize),
    screen: Rect,
    buffer: &mut Buffer,
) -> Option<Rect> {
    let width_wanted = columns.min(screen.width);
    let height_wanted = (rows.min(1000) as u16 + 2).min(screen.height);
    if width_wanted < 6 || height_wanted < 3 {
        return None;
    }
    let area = Rect::new(
        screen.x + (screen.width - width_wanted) / 2,
        screen.y + (screen.height - height_wanted) / 2,
        width_wanted,
        height_wanted,
    );
    for y in area.y..area.bottom() {
        // A wide character under the left edge would lose its half.
        if area.x > 0 && width(buffer[(area.x - 1, y)].symbol()) > 1 {
            buffer[(area.x - 1, y)].set_symbol(" ");
        }
        for x in area.x..area.right() {
            buffer[(x, y)].reset();
            buffer[(x, y)].set_style(app.theme.popup);
        }
    }
    let style = app.theme.popup_border;
    let inside = usize::from(area.width) - 2;
    let line = "─".repeat(inside);
    buffer.set_stringn(area.x, area.y, format!("╭{line}╮"), inside + 2, style);
    buffer.set_stringn(
        area.x,
        area.bottom() - 1,
        format!("╰{line}╯"),
        inside + 2,
        style,
    );
    for y in area.y + 1..area.bottom() - 1 {
        buffer.set_stringn(area.x, y, "│", 1, style);
        buffer.set_stringn(area.right() - 1, y, "│", 1, style);
    }
    let title = ellipsis(&format!(" {title} "), inside.saturating_sub(1));
    buffer.set_stringn(area.x + 2, area.y, title, inside - 1, app.theme.popup_title);
    Some(Rect::new(
        area.x + 2,
        area.y + 1,
        area.width - 4,
        area.height - 2,
    ))
}

/// Words on the lower edge of the box around `area`.
pub(super) fn foot(app: &App, text: &str, area: Rect, buffer: &mut Buffer) {
    let columns = width(text) as u16;
    if columns <= area.width {
        let x = area.right() - columns;
        buffer.set_stringn(
            x,
            area.bottom(),
            text,
            usize::from(columns),
            app.theme.popup_border,
        );
    }
}

/// Breaks at spaces, and inside a word only when it is wider than the row.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for word in text.split(' ') {
        let gap = usize::from(!row.is_empty());
        if width(&row) + gap + width(word) <= columns {
            if gap == 1 {
                row.push(' ');
            }
            row.push_str(word);
            continue;
        }
        if !row.is_empty() {
            rows.push(std::mem::take(&mut row));
        }
        let mut word = word;
        while width(word) > columns {
            let (head, _) = fit(word, columns);
            if head.is_empty() {
                break;
            }
            rows.push(head.to_owned());
            word = &word[head.len()..];
        }
        word.clone_into(&mut row);
    }
    rows.push(row);
    rows
}
