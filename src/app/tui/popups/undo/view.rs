//! The question whether to undo, with the files that would change, and the list of rewind points.

use std::path::Path;

use ratatui_core::style::Style;

use super::state::{ChosenPoint, RewindPicker, UndoQuestion, WAYS};
use crate::agent::tool::FileChange;
use crate::agent::undo::{Direction, FilePreview, Preview, Rewind};
use crate::app::action::Action;
use crate::app::humanize::{abbreviate_home, plural};
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::diff::{self, DiffLine, Sign};
use crate::app::tui::theme::Theme;
use crate::app::tui::view::line::StyledLine;
use crate::app::tui::view::rail::counts;

/// Bytes of a prompt that are read for its line.
const MAX_SHOWN: usize = 2_000;

impl PopupView for UndoQuestion {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let preview = &self.preview;
        let (title, does) = match preview.direction {
            // The next /undo then takes the prompt before.
            _ if preview.files.is_empty() => ("Nothing to restore here", "skip it"),
            Direction::Undo => ("Undo these changes?", "undo"),
            Direction::Redo => ("Redo these changes?", "redo"),
        };
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let mut lines = vec![quoted(&preview.prompt, app.theme.popup), StyledLine::new()];
        lines.extend(changes(app, preview, self.shows_diff));
        let shown = popup.most_rows() + self.pager.top;
        let page = app.key(Action::PageDown);
        let (more, short) = match lines.len().saturating_sub(shown) {
            0 => (String::new(), String::new()),
            more => {
                let lines = plural(more as u64, "more line", "more lines");
                let short = format!(" {more} more · ↑↓ ·");
                (format!(" {lines} · ↑↓ {page} scroll ·"), short)
            }
        };
        let has_diff = preview.files.iter().any(|file| !file.diff.is_empty());
        let diff = if has_diff {
            format!(" {} diff ·", app.key(Action::ToggleOutput))
        } else {
            String::new()
        };
        let notes = if self.delay.is_over(app.now) {
            [
                format!("{more}{diff} {enter} {does} · {esc} cancel "),
                format!("{short} {enter} {does} · {esc} cancel "),
                format!("{short} {enter} {does} "),
            ]
        } else {
            [more, short, String::new()]
        };
        let area = popup.open(title, lines.len(), &notes)?;
        Some(popup.page(&lines, self.pager, area))
    }
}

impl PopupView for RewindPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        if let Some(chosen) = &self.chosen {
            return draw_ways(popup, chosen);
        }
        let app = popup.app;
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let notes = [
            format!(" {enter} preview · {esc} close "),
            format!(" {esc} close "),
        ];
        let points = self.points.as_deref().unwrap_or_default();
        let rows = (1 + points.len().max(1)).min(24);
        let area = popup.open("Rewind to…", rows, &notes)?;
        let below = popup.query(&self.picker, area);
        let none = match (&self.points, self.picker.query()) {
            (None, _) => "Reading…",
            (Some(_), "") => "No prompts yet",
            _ => "No match",
        };
        Some(popup.matches(&self.picker, none, below, |at, style| {
            let point = points.get(at)?;
            let files = match point.files {
                0 => String::new(),
                files => plural(files as u64, "file", "files"),
            };
            let files = StyledLine::of(format!("{files:>9}  "), quiet(app, style));
            Some(files.then(&quoted(&point.prompt, style)))
        }))
    }
}

fn draw_ways(popup: &mut Popup<'_>, chosen: &ChosenPoint) -> Option<PopupDrawn> {
    let app = popup.app;
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let note = format!(" {enter} rewind · {esc} back ");
    let mut lines = vec![
        quoted(&chosen.point.prompt, app.theme.popup),
        StyledLine::new(),
    ];
    match &chosen.preview {
        Some(preview) => lines.extend(changes(app, preview, false)),
        None => lines.push(StyledLine::of("Reading…", quiet(app, app.theme.popup))),
    }
    lines.push(StyledLine::new());
    let title = "Rewind to before this prompt";
    let area = popup.open(title, lines.len() + WAYS.len(), &[note])?;
    // On a low screen the choices take precedence over the files.
    let ways = (WAYS.len() as u16).min(area.height);
    let (head, list) = split(area, area.height - ways);
    // Show at least the number of files without room.
    let height = usize::from(head.height);
    if lines.len() > height && height > 1 {
        // The blank line before the choices is dropped first.
        lines.pop();
    }
    if lines.len() > height && height > 1 {
        let shown = height - 1;
        let more = lines.len() - shown;
        lines.truncate(shown);
        let more = format!("… {}", plural(more as u64, "more line", "more lines"));
        lines.push(StyledLine::of(more, popup.style(app.theme.warning)));
    }
    popup.text(&lines, head);
    Some(popup.matches(&chosen.ways, "", list, |at, style| {
        let (what, more) = match WAYS.get(at) {
            Some(Rewind::Both) => ("Both", "restore files and conversation"),
            Some(Rewind::Conversation) => {
                ("Conversation", "restore the conversation, keep the files")
            }
            _ => ("Files", "restore the files, keep the conversation"),
        };
        Some(StyledLine::of(format!("{what:<14}"), style).with(more, quiet(app, style)))
    }))
}

/// A line for each file that would change, and for each changed file that would not.
fn changes(app: &App, preview: &Preview, shows_diff: bool) -> Vec<StyledLine> {
    let theme = &app.theme;
    let mut lines = Vec::new();
    for file in &preview.files {
        lines.push(row(app, file));
        if shows_diff {
            lines.extend(
                diff::read(&file.diff, 0)
                    .iter()
                    .map(|line| diff_line(theme, line)),
            );
        }
    }
    if preview.files.is_empty() {
        lines.push(StyledLine::of(
            "No files would change",
            quiet(app, theme.popup),
        ));
    }
    if !preview.kept.is_empty() {
        lines.push(StyledLine::new());
        lines.push(StyledLine::of("Not restored:", theme.popup));
    }
    lines.extend(preview.kept.iter().map(|kept| {
        let line = StyledLine::of(format!("  {}  ", shown(app, &kept.path)), theme.popup);
        line.with(kept.why.clone(), theme.popup.patch(theme.warning))
    }));
    lines
}

fn row(app: &App, file: &FilePreview) -> StyledLine {
    let theme = &app.theme;
    let (mark, style) = match file.change {
        FileChange::Added => ("+", theme.diff_added_number),
        FileChange::Deleted => ("−", theme.diff_removed_number),
        FileChange::Changed => ("~", theme.dim),
    };
    let on_popup = |style: Style| theme.popup.patch(Style { bg: None, ..style });
    let mut line = StyledLine::of(format!("{mark} "), on_popup(style));
    line.push(format!("{}  ", shown(app, &file.path)), theme.popup);
    if let Some((added, removed)) = file.lines {
        line = line.then(&counts(theme, added as u64, removed as u64));
    }
    line
}

fn diff_line(theme: &Theme, line: &DiffLine) -> StyledLine {
    let (sign, style) = match line.sign {
        Sign::Added => ("+", theme.diff_added_number),
        Sign::Removed => ("−", theme.diff_removed_number),
        Sign::Context => (" ", theme.dim),
        Sign::Skipped => ("…", theme.dim),
    };
    let style = theme.popup.patch(Style { bg: None, ..style });
    StyledLine::of(format!("{:>5} {sign} {}", line.number, line.text), style)
}

fn quoted(prompt: &str, style: Style) -> StyledLine {
    let mut lines = prompt.lines();
    let first = lines.next().unwrap_or_default();
    let first = &first[..first.floor_char_boundary(MAX_SHOWN)];
    let line = StyledLine::of(first, style);
    match lines.next() {
        Some(_) => line.with(" …", style),
        None => line,
    }
}

/// The path, relative if it is below the working folder.
fn shown(app: &App, path: &Path) -> String {
    let cwd = Path::new(&app.status.cwd);
    let path = match path.strip_prefix(cwd) {
        Ok(below) => below.display().to_string(),
        Err(_) => abbreviate_home(path, app.status.home.as_deref()),
    };
    path.replace(char::is_control, "\u{fffd}")
}

fn quiet(app: &App, row: Style) -> Style {
    on_row(&app.theme, row, app.theme.dim)
}
