//! The list of themes: each name in its own colors, and a sample of the selected one below. While the list is
//! open, the screen uses the selected theme.

use ratatui_core::style::{Modifier, Style};

use super::{
    DocsRows, Overlay, Picker, Popup, PopupDrawn, PopupKeys, PopupView, list, on_row, split,
    topmost,
};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::text::width::width;
use crate::app::tui::theme::{AUTO, Kind, Theme, ThemeChoice};
use crate::app::tui::update::themes;
use crate::app::tui::view::line::StyledLine;

#[derive(Clone, Debug, PartialEq)]
pub struct ThemePicker {
    pub picker: Picker,
    pub rows: Vec<ThemeRow>,
    pub before: Theme,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ThemeRow {
    /// The value of the setting for this theme.
    pub wanted: String,
    pub about: String,
    pub theme: Theme,
    pub warnings: Vec<String>,
}

impl ThemePicker {
    /// Creates the list with the current theme selected.
    pub fn new(choice: &ThemeChoice, now: &Theme) -> Self {
        let mut list = Self {
            picker: Picker::default(),
            rows: rows(choice),
            before: now.clone(),
        };
        list.search();
        let at = list.rows.iter().position(|row| row.wanted == choice.wanted);
        list.picker.select(at.unwrap_or(0));
        list
    }

    /// Updates the list after the themes changed or the terminal reported its colors.
    pub fn refresh(&mut self, choice: &ThemeChoice) {
        let chosen = self.chosen().map(|row| row.wanted.clone());
        self.rows = rows(choice);
        self.search();
        let mut matches = self.picker.matches().iter();
        let at = matches.position(|row| Some(&self.rows[*row].wanted) == chosen.as_ref());
        self.picker.select(at.unwrap_or(0));
    }

    pub fn search(&mut self) {
        let rows = self.rows.iter();
        self.picker
            .find(rows.map(|row| format!("{} {}", row.wanted, row.about)));
    }

    pub fn chosen(&self) -> Option<&ThemeRow> {
        self.rows.get(self.picker.chosen()?)
    }
}

fn rows(choice: &ThemeChoice) -> Vec<ThemeRow> {
    let names = std::iter::once(AUTO).chain(choice.themes.names());
    names
        .filter_map(|name| {
            let loaded = choice.load(name).ok()?;
            let kind = match loaded.theme.kind {
                Kind::Dark => "dark",
                Kind::Light => "light",
            };
            let about = match name {
                AUTO => format!(
                    "{} or {}, to match the terminal",
                    choice.for_dark, choice.for_light
                ),
                "system" => "the terminal's own colors".to_owned(),
                "ansi" => "16 colors".to_owned(),
                name if choice.themes.is_own(name) => format!("{kind}, yours"),
                _ => kind.to_owned(),
            };
            Some(ThemeRow {
                wanted: name.to_owned(),
                about,
                theme: loaded.theme,
                warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
            })
        })
        .collect()
}

impl PopupKeys for ThemePicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    /// Handles a key while the list is open, and previews the chosen theme.
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        if matches!(
            action,
            Some(Action::Back | Action::Interrupt | Action::Theme)
        ) {
            let Some(Overlay::Themes(list)) = app.overlays.pop() else {
                return Vec::new();
            };
            return themes::show(app, list.before);
        }
        let mut effects = list::press(app, press, action);
        effects.extend(themes::preview(app));
        effects
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Themes).search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let Some(row) = topmost!(app, Themes).chosen() else {
            return Vec::new();
        };
        let wanted = row.wanted.clone();
        app.overlays.pop();
        themes::take(app, wanted)
    }
}

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
