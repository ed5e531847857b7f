//! What lies over the screen: a box in the middle of the conversation, its text, and the caret where
//! it takes text. What runs and how to stop it stays visible below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_pager, draw_text, open};
use super::{
    answers, comparison, context, copy, history, iterations, login, models, opening, question,
    search, selecting, session_facts, sessions, settings, stats, themes, tree, undo,
};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{
    Confirm, ConfirmAbout, FIRST_KEYS, FullFor, HelpLine, HelpPage, Overlay, Pager, help_lines,
};

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
        Overlay::Confirm(confirm) => draw_confirm(app, confirm, area, buffer),
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
        "Keyboard shortcuts",
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

fn draw_confirm(app: &App, confirm: &Confirm, room: Rect, buffer: &mut Buffer) -> PopupDrawn {
    let (title, text, labels) = match confirm.about {
        ConfirmAbout::Leave => (
            "Leave?",
            "The agent is still working. Quit anyway?",
            ["Leave and stop the run", "Stay"],
        ),
        ConfirmAbout::Full(FullFor::Session) => (
            "Turn off all safety checks?",
            "Everything runs without asking and without a sandbox.",
            ["Yes, run everything in this session", "No"],
        ),
        ConfirmAbout::Full(FullFor::NewSessions) => (
            "Turn off all safety checks?",
            "Everything runs without asking and without a sandbox.",
            ["Yes, run everything in all new sessions", "No"],
        ),
    };
    let theme = &app.theme;
    let columns = box_columns(room);
    let inside = usize::from(columns.saturating_sub(4));
    let mut lines = StyledLine::wrapped(text, theme.popup, inside);
    // The answers are shown on the smallest screen too.
    let height = usize::from(room.height.saturating_sub(2));
    lines.truncate(height.saturating_sub(Confirm::ANSWERS));
    if lines.len() + Confirm::ANSWERS < height {
        lines.push(StyledLine::new());
    }
    let labels = labels.map(str::to_owned);
    let selected = confirm.answers.selected();
    let styles = answers::on_popup(theme);
    let list = answers::rows(&labels, selected, styles, inside);
    let (top, count) = (lines.len() as u16, list.len() as u16);
    lines.extend(list);
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let confirms = if confirm.answers.can_confirm(app.now) {
        format!(" · {enter} confirm")
    } else {
        String::new()
    };
    let notes = [format!(" ↑↓ select · {esc} go back{confirms} ")];
    let Some(area) = open(app, title, (columns, lines.len()), &notes, room, buffer) else {
        return PopupDrawn::default();
    };
    draw_text(&lines, Pager::default(), area, buffer);
    PopupDrawn {
        list: Rect {
            y: area.y + top,
            height: count,
            ..area
        }
        .intersection(area),
        ..PopupDrawn::default()
    }
}
