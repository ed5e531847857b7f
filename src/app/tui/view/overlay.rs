//! What lies over the screen: a box in the middle of the conversation, its text, and the caret where
//! it takes text. What runs and how to stop it stays visible below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_pager, draw_text, open};
use super::{
    comparison, context, copy, history, iterations, login, models, opening, question, search,
    selecting, session_facts, sessions, settings, stats, themes, tree, undo,
};
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{FIRST_KEYS, HelpLine, HelpPage, Overlay, Pager, help_lines};

pub fn draw(app: &App, overlay: &Overlay, area: Rect, buffer: &mut Buffer) -> PopupDrawn {
    match overlay {
        Overlay::Help(pager, HelpPage::First) => draw_first_help(app, *pager, area, buffer),
        Overlay::Help(pager, HelpPage::All) => draw_help(app, *pager, area, buffer),
        Overlay::Stats(pager) => {
            let lines = stats::lines(app);
            draw_pager(
                app,
                "Stats",
                box_columns(area),
                &lines,
                *pager,
                area,
                buffer,
            )
        }
        Overlay::Iterations(list) => iterations::draw(app, list, area, buffer),
        Overlay::Context(pager, usage) => {
            let columns = box_columns(area);
            let inside = usize::from(columns.saturating_sub(4));
            let lines = context::lines(app, usage.as_deref(), inside);
            draw_pager(app, "Context", columns, &lines, *pager, area, buffer)
        }
        Overlay::Call(pager) => {
            let columns = box_columns(area);
            let inside = usize::from(columns.saturating_sub(4)).max(8);
            let (title, lines) = question::whole(app, inside);
            draw_pager(app, &title, columns, &lines, *pager, area, buffer)
        }
        Overlay::ConfirmQuit => {
            let text = "A run is under way. Leaving ends it.";
            draw_confirm(app, "Leave?", text, [" leaves", " stays"], area, buffer)
        }
        Overlay::ConfirmFull => {
            let text = "Everything runs without asking and without a sandbox.";
            let ways = [" allows it", " goes back"];
            draw_confirm(app, "Permission full?", text, ways, area, buffer)
        }
        Overlay::EndTrial(action, _) => draw_end_trial(app, *action, area, buffer),
        Overlay::Undo(question) => undo::draw(app, question, area, buffer),
        Overlay::Rewind(list) => undo::draw_rewind(app, list, area, buffer),
        Overlay::HistorySearch(list) => history::draw(app, &list.picker, area, buffer),
        Overlay::Search(bar) => search::draw(app, bar, area, buffer),
        Overlay::Selecting(mode) => selecting::draw(app, *mode, area, buffer),
        Overlay::Copy(list) => copy::draw(app, list, area, buffer),
        Overlay::Models(models) => models::draw(app, models, area, buffer),
        Overlay::Settings(list) => settings::draw(app, list, area, buffer),
        Overlay::Login(login) => login::draw(app, login, area, buffer),
        Overlay::Themes(list) => themes::draw(app, list, area, buffer),
        Overlay::Comparison(view) => comparison::draw(app, view, area, buffer),
        Overlay::Tree(picker) => tree::draw(app, picker, area, buffer),
        Overlay::Sessions(list) => sessions::draw(app, list, area, buffer),
        Overlay::SessionFacts(facts, pager) => {
            let columns = box_columns(area);
            let lines = session_facts::lines(app, facts, columns);
            draw_pager(app, "Session", columns, &lines, *pager, area, buffer)
        }
        Overlay::Opening(opening) => opening::draw(app, opening, area, buffer),
    }
}

/// The keys that matter, one line each, and what begins with a sign.
fn draw_first_help(app: &App, pager: Pager, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let theme = &app.theme;
    let key_style = theme.popup.patch(theme.strong);
    let keys = FIRST_KEYS.map(|(action, text)| (app.key(action), text));
    let signs = [
        ("/", "commands: /new, /resume, /undo, /theme and more"),
        ("\\ Enter", "new line too"),
        ("Shift+drag", "select as the terminal does"),
    ];
    let signs = signs.map(|(key, text)| (key.to_owned(), text));
    let rows: Vec<_> = keys.into_iter().chain(signs).collect();
    let left = rows.iter().map(|(key, _)| key.len()).max().unwrap_or(0) + 2;
    let lines: Vec<_> = rows
        .iter()
        .map(|(key, text)| {
            StyledLine::of(format!("{key:left$}"), key_style).with(*text, theme.popup)
        })
        .collect();
    draw_pager(
        app,
        "Keys that matter",
        box_columns(room),
        &lines,
        pager,
        room,
        buffer,
    )
}

/// Keys and what they do side by side; on a narrow screen the text stands below its keys.
fn draw_help(app: &App, pager: Pager, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let theme = &app.theme;
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4)).max(1);
    let key_style = theme.popup.patch(theme.strong);
    let key_columns = (inside / 3).clamp(1, 26);
    let mut lines = Vec::new();
    for line in help_lines(&app.keymap) {
        match line {
            HelpLine::Blank => lines.push(StyledLine::new()),
            HelpLine::Heading(title) => {
                lines.push(StyledLine::of(title, theme.popup_title));
            }
            HelpLine::Action { keys, help } if inside < 50 => {
                lines.extend(StyledLine::wrapped(&keys, key_style, inside));
                for help in StyledLine::wrapped(&help, theme.popup, inside.saturating_sub(2)) {
                    lines.push(StyledLine::of("  ", theme.popup).then(&help));
                }
            }
            HelpLine::Action { keys, help } => {
                let keys = StyledLine::wrapped(&keys, key_style, key_columns);
                let left = key_columns + 2;
                let help = StyledLine::wrapped(&help, theme.popup, inside.saturating_sub(left));
                for at in 0..keys.len().max(help.len()) {
                    let mut line = keys.get(at).cloned().unwrap_or_default();
                    line.push(" ".repeat(left.saturating_sub(line.width())), theme.popup);
                    lines.push(match help.get(at) {
                        Some(help) => line.then(help),
                        None => line,
                    });
                }
            }
        }
    }
    draw_pager(app, "Keys", columns, &lines, pager, room, buffer)
}

fn draw_confirm(
    app: &App,
    title: &str,
    text: &str,
    [yes, no]: [&str; 2],
    room: Rect,
    buffer: &mut Buffer,
) -> PopupDrawn {
    let theme = &app.theme;
    let key_style = theme.popup.patch(theme.key_hint);
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4));
    let mut lines = StyledLine::wrapped(text, theme.popup, inside);
    // The keys are shown on the smallest screen too.
    if lines.len() + 4 <= usize::from(room.height) {
        lines.push(StyledLine::new());
    }
    lines.push(
        StyledLine::of(app.key(Action::Submit), key_style)
            .with(format!("{yes} · "), theme.popup)
            .with(app.key(Action::Cancel), key_style)
            .with(no, theme.popup),
    );
    match open(app, title, (columns, lines.len()), &[], room, buffer) {
        Some(area) => draw_text(&lines, Pager::default(), area, buffer),
        None => PopupDrawn::default(),
    }
}

fn draw_end_trial(app: &App, action: Action, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let files = match app.trial.as_ref().and_then(|open| open.changed) {
        Some(0) => "No file was changed".to_owned(),
        Some(files) => format!("Changed: {}", plural(files as u64, "file", "files")),
        None => "Not counted yet what was changed".to_owned(),
    };
    let (title, what, does) = match action {
        Action::KeepTrial => (
            "Keep the trial?",
            "Yours take these changes over.",
            " keeps",
        ),
        _ => ("Discard the trial?", "Yours stay as they are.", " discards"),
    };
    let text = format!("{files}. {what}");
    draw_confirm(app, title, &text, [does, " goes back"], room, buffer)
}
