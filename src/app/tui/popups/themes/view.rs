//! The list of themes: each name in its own colors, and a sample of the selected one below. The
//! conversation behind the list shows the selected theme too.

use ratatui_core::style::{Modifier, Style};

use super::state::{ThemePicker, ThemeRow};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::width;
use crate::app::tui::theme::Theme;
use crate::app::tui::view::line::StyledLine;

const SAMPLE_ROWS: u16 = 7;
/// Columns for a name.
const NAME: usize = 17;

impl PopupView for ThemePicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let notes = [
            format!(" ↑↓ preview · {enter} save · {esc} cancel "),
            format!(" {enter} · {esc} "),
        ];
        let rows = self.rows.len() + usize::from(SAMPLE_ROWS) + 2;
        let area = popup.open("Themes", rows, &notes)?;
        let below = popup.query(&self.picker, area);
        let sample = if area.height >= SAMPLE_ROWS + 6 {
            SAMPLE_ROWS
        } else {
            0
        };
        let (below, sample_area) = split(below, below.height - sample);
        let drawn = popup.matches(&self.picker, "No match", below, |at, style| {
            Some(line(app, self.rows.get(at)?, style))
        });
        if let Some(row) = self.chosen().filter(|_| sample > 0) {
            let columns = usize::from(area.width);
            let style = popup.style(app.theme.warning);
            let warning = row.warnings.first().into_iter();
            let mut lines: Vec<StyledLine> = warning
                .flat_map(|warning| StyledLine::wrapped(warning, style, columns))
                .collect();
            lines.extend(sample_lines(&app.theme, columns));
            popup.text(&lines, sample_area);
        }
        Some(drawn)
    }
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
    // With sixteen colors the selected row is reversed; the colors of a theme must not be.
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
    let of = |text: &'static str, style| StyledLine::of(text, style);
    let prompt = of("❯ ", theme.user_mark).with("Make the tests green", theme.user);
    let thinking = of("∴ 4 s  Looking at the token check", on(theme.thinking));
    let answer = of("The check compares ", on(theme.text))
        .with("strings", on(theme.code))
        .with(", see ", on(theme.text))
        .with("auth.rs", on(theme.link));
    let edit = of("✓ ", on(theme.tool_ok))
        .with("edit ", on(theme.tool_name))
        .with("src/auth.rs ", on(theme.tool_subject))
        .with("+1 −1", on(theme.tool_summary));
    let removed = of(" 14 − ", theme.diff_removed_number)
        .with("token == ", theme.diff_removed)
        .with(
            "self.token",
            theme.diff_removed.patch(theme.diff_removed_word),
        );
    let added = of(" 14 + ", theme.diff_added_number)
        .with("token == ", theme.diff_added)
        .with(
            "secret(token)",
            theme.diff_added.patch(theme.diff_added_word),
        );
    let test = of("✗ ", on(theme.tool_error))
        .with("bash ", on(theme.tool_name))
        .with("cargo test  ", on(theme.tool_subject))
        .with("exit 101", on(theme.error));
    let lines = [
        (prompt, theme.user),
        (thinking, theme.screen),
        (answer, theme.screen),
        (edit, theme.screen),
        (removed, theme.diff_removed),
        (added, theme.diff_added),
        (test, theme.screen),
    ];
    let filled = lines.into_iter().map(|(line, fill)| {
        let rest = columns.saturating_sub(line.width());
        line.with(" ".repeat(rest), fill)
    });
    filled.collect()
}
