//! The list of themes: each name in its own colors, and a sample of the chosen one below. The
//! conversation behind it shows the chosen one too.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::line::StyledLine;
use super::popup::{
    PopupDrawn, box_columns, draw_matches, draw_query, draw_text, on_row, open, split,
};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Pager, ThemePicker, ThemeRow};
use crate::app::tui::text::width::width;
use crate::app::tui::theme::Theme;

const SAMPLE_ROWS: u16 = 7;
/// Columns of a name.
const NAME: usize = 17;

pub fn draw(app: &App, list: &ThemePicker, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let rows = room
        .height
        .saturating_sub(2)
        .min(list.rows.len() as u16 + SAMPLE_ROWS + 2);
    let size = (box_columns(room), usize::from(rows));
    let keys = [Action::Accept, Action::Back].map(|action| app.key(action));
    let notes = [
        format!(" ↑↓ show · {} keeps · {} goes back ", keys[0], keys[1]),
        format!(" {} · {} ", keys[0], keys[1]),
    ];
    let area = open(app, "Themes", size, &notes, room, buffer)?;
    let caret = draw_query(app, &list.picker, area, buffer);
    let sample = if area.height >= SAMPLE_ROWS + 6 {
        SAMPLE_ROWS
    } else {
        0
    };
    let (_, below) = split(area, 1);
    let (below, sample_area) = split(below, below.height - sample);
    let drawn = draw_matches(
        app,
        &list.picker,
        "No theme fits",
        below,
        buffer,
        |at, style| {
            let row = list.rows.get(at);
            row.map_or_else(StyledLine::new, |row| line(app, row, style))
        },
    );
    if let Some(row) = list.chosen().filter(|_| sample > 0) {
        let mut lines: Vec<StyledLine> = row.warnings.first().map_or_else(Vec::new, |warning| {
            StyledLine::wrapped(
                warning,
                theme.popup.patch(theme.warning),
                usize::from(area.width),
            )
        });
        lines.extend(sample_lines(theme, usize::from(area.width)));
        draw_text(&lines, Pager::default(), sample_area, buffer);
    }
    Some(drawn.with_caret(caret))
}

fn line(app: &App, row: &ThemeRow, base: Style) -> StyledLine {
    let mark = if row.wanted == app.themes.wanted {
        "● "
    } else {
        "  "
    };
    let mut line = StyledLine::of(mark, base);
    let pad = NAME.saturating_sub(width(&row.wanted));
    line.push(format!("{}{}", row.wanted, " ".repeat(pad)), base);
    let its = &row.theme;
    let ground = its.screen;
    // Not as the chosen row, which is reversed where there are sixteen colors.
    let its_own = |style: Style| style.remove_modifier(Modifier::REVERSED);
    line.push(" Aa ", its_own(ground.patch(its.text)));
    for style in [
        its.accent,
        its.tool_ok,
        its.warning,
        its.error,
        its.queue_steer,
        its.code,
    ] {
        line.push("● ", its_own(ground.patch(style)));
    }
    line.push("+", its_own(its.diff_added_number));
    line.push("−", its_own(its.diff_removed_number));
    let quiet = on_row(&app.theme, base, app.theme.dim);
    line.with("  ", base).with(&*row.about, quiet)
}

fn sample_lines(theme: &Theme, columns: usize) -> Vec<StyledLine> {
    let on = |style: Style| theme.screen.patch(style);
    let row = |fill: Style, parts: &[(&str, Style)]| {
        let line = parts.iter().fold(StyledLine::new(), |line, (text, style)| {
            line.with(*text, *style)
        });
        let rest = columns.saturating_sub(line.width());
        line.with(" ".repeat(rest), fill)
    };
    let removed_word = theme.diff_removed.patch(theme.diff_removed_word);
    let added_word = theme.diff_added.patch(theme.diff_added_word);
    vec![
        row(
            theme.user,
            &[
                ("❯ ", theme.user_mark),
                ("Make the tests green", theme.user),
            ],
        ),
        row(
            theme.screen,
            &[("∴ 4 s  Looking at the token check", on(theme.thinking))],
        ),
        row(
            theme.screen,
            &[
                ("The check compares ", on(theme.text)),
                ("strings", on(theme.code)),
                (", see ", on(theme.text)),
                ("auth.rs", on(theme.link)),
            ],
        ),
        row(
            theme.screen,
            &[
                ("✓ ", on(theme.tool_ok)),
                ("edit ", on(theme.tool_name)),
                ("src/auth.rs ", on(theme.tool_subject)),
                ("+1 −1", on(theme.tool_summary)),
            ],
        ),
        row(
            theme.diff_removed,
            &[
                (" 14 − ", theme.diff_removed_number),
                ("token == ", theme.diff_removed),
                ("self.token", removed_word),
            ],
        ),
        row(
            theme.diff_added,
            &[
                (" 14 + ", theme.diff_added_number),
                ("token == ", theme.diff_added),
                ("secret(token)", added_word),
            ],
        ),
        row(
            theme.screen,
            &[
                ("✗ ", on(theme.tool_error)),
                ("bash ", on(theme.tool_name)),
                ("cargo test  ", on(theme.tool_subject)),
                ("exit 101", on(theme.error)),
            ],
        ),
    ]
}
