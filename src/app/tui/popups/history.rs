//! The search through earlier prompts: a line for each with the match, and below them a longer prompt.

use std::ops::Range;

use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::{
    DocsRows, Picker, Popup, PopupDrawn, PopupKeys, PopupView, list, on_row, split, topmost,
};
use crate::app::action::Action;
use crate::app::fuzzy::Query;
use crate::app::humanize::plural;
use crate::app::tui::app::App;
use crate::app::tui::composer::{History, Narrowing};
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::tree;
use crate::app::tui::view::line::StyledLine;

/// The search through earlier prompts. Each entry is the age of a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPicker {
    pub picker: Picker,
    narrowing: Narrowing,
}

impl HistoryPicker {
    pub fn search(&mut self, history: &History) {
        let found = history.search(self.picker.query(), &mut self.narrowing);
        self.picker.set_matches(found, 0);
    }
}

pub fn open(app: &mut App) {
    app.overlays.push(HistoryPicker::default().into());
    HistoryPicker::query_changed(app);
}

pub fn loaded(app: &mut App, older: History) {
    app.message_mut().history_mut().merge(older);
    HistoryPicker::query_changed(app);
}

impl PopupKeys for HistoryPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        list::press(app, press, action.map(turned_around))
    }

    fn query_changed(app: &mut App) {
        topmost!(app, HistorySearch).search(app.composer.history());
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let age = topmost!(app, HistorySearch).picker.chosen();
        let prompt = age.and_then(|age| app.composer.history().get(age));
        let prompt = prompt.map(str::to_owned);
        app.overlays.pop();
        if let Some(prompt) = prompt {
            // Inserted as typed, so that a command is a command again.
            tree::keep_draft(app);
            app.composer.set(&prompt);
        }
        Vec::new()
    }
}

/// The newest prompt is on top here, but Up must go to older prompts, as in a shell.
fn turned_around(action: Action) -> Action {
    match action {
        Action::Up | Action::ListPrevious | Action::HistorySearch => Action::ListNext,
        Action::Down | Action::ListNext => Action::ListPrevious,
        Action::PageUp => Action::PageDown,
        Action::PageDown => Action::PageUp,
        other => other,
    }
}

const MAX_ROWS: usize = 10;
/// Maximum rows of the preview.
const PREVIEW: usize = 5;
/// Minimum rows of the room for a preview.
const MIN_ROOM: u16 = 16;
/// Bytes of a prompt that are read.
const MAX_SHOWN: usize = 20_000;
/// Matches that are checked for how much preview is useful.
const LOOKED_AT: usize = 100;

impl PopupView for HistoryPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let picker = &self.picker;
        let (app, room) = (popup.app, popup.room);
        let columns = popup.text_columns();
        let history = app.composer.history();
        let prompt = |age: usize| {
            let text = history.get(age).unwrap_or_default();
            &text[..text.floor_char_boundary(MAX_SHOWN)]
        };
        let ages = picker.matches().iter().take(LOOKED_AT);
        let longest = ages.map(|age| rows_of(prompt(*age), columns)).max();
        let longest = longest.unwrap_or(0);
        // Includes the rule. As high as the longest prompt needs, so that nothing jumps between prompts.
        let preview = match longest {
            2.. if room.height >= MIN_ROOM => longest.min(PREVIEW) + 1,
            _ => 0,
        };
        let most = usize::from(room.height).saturating_sub(4 + preview);
        let rows = picker.matches().len().clamp(1, MAX_ROWS.min(most).max(2));
        let [enter, older, esc] =
            [Action::Accept, Action::HistorySearch, Action::Back].map(|it| app.key(it));
        let notes = [
            format!(" {enter} select · {older} older · {esc} close "),
            format!(" {enter} select · {esc} close "),
        ];
        let area = popup.open("Earlier prompts", 1 + rows + preview, &notes)?;
        let below = popup.query(picker, area);
        let preview = preview.min(usize::from(area.height).saturating_sub(2));
        let (list, foot) = split(below, below.height - preview as u16);
        let none = match picker.query() {
            "" => "Nothing sent yet",
            _ => "No match",
        };
        let query = picker.query().to_lowercase();
        let mut query = Query::new(&query);
        let drawn = popup.matches(picker, none, list, |age, style| {
            // The prompt may be megabytes long, and this runs in each frame.
            let text = history.get(age).unwrap_or_default();
            let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
            let lines = lines + usize::from(!text.is_empty() && !text.ends_with('\n'));
            Some(row(app, (prompt(age), lines), &mut query, columns, style))
        });
        if preview > 0 {
            let text = picker.chosen().map(prompt).unwrap_or_default();
            draw_preview(popup, text, &mut query, foot);
        }
        Some(drawn)
    }
}

/// Upper bound of a prompt's rows, estimated from its bytes and capped at `PREVIEW`.
fn rows_of(prompt: &str, columns: usize) -> usize {
    let columns = columns.max(1);
    let start = &prompt[..prompt.floor_char_boundary(columns * PREVIEW)];
    let rows = start
        .lines()
        .map(|line| line.len().div_ceil(columns).max(1));
    rows.sum::<usize>().min(PREVIEW)
}

/// The line with the match, or the first line, then the number of lines.
fn row(
    app: &App,
    (prompt, count): (&str, usize),
    query: &mut Query,
    columns: usize,
    style: Style,
) -> StyledLine {
    let (_, text, places) = found_line(prompt, query);
    let amount = match count {
        0 | 1 => String::new(),
        _ => plural(count as u64, "line", "lines"),
    };
    let left = columns.saturating_sub(amount.len() + 2);
    let line = marked(app, text, &places, style);
    if amount.is_empty() {
        return line;
    }
    let mut line = line.cut(left);
    let gap = columns.saturating_sub(line.width() + amount.len());
    line.push(" ".repeat(gap), style);
    line.with(amount, style.patch(app.theme.dim))
}

/// The first non-blank line, preferably with a match: its number, its text and its matches.
fn found_line<'a>(prompt: &'a str, query: &mut Query) -> (usize, &'a str, Vec<Range<usize>>) {
    let lines = prompt.lines().map(str::trim_start).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let Some((number, first)) = lines.next() else {
        return (0, "", Vec::new());
    };
    let places = query.places(first);
    if !places.is_empty() || query.words().is_empty() {
        return (number, first, places);
    }
    let words = query.words().to_vec();
    let found = lines.find(|(_, line)| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    });
    match found {
        Some((number, line)) => (number, line, query.places(line)),
        None => (number, first, places),
    }
}

/// Draws the text around the match, below a rule.
fn draw_preview(popup: &mut Popup<'_>, prompt: &str, query: &mut Query, area: Rect) {
    let app = popup.app;
    let columns = usize::from(area.width);
    popup.rule(area);
    let (number, ..) = found_line(prompt, query);
    let quiet = popup.quiet();
    let lines = prompt.lines().skip(number.saturating_sub(1));
    let rows = lines.flat_map(|line| {
        let wrapped = StyledLine::wrapped(line, quiet, columns);
        wrapped.into_iter().map(|row| {
            let text = row.text().to_owned();
            let places = query.places_of_words(&text);
            marked(app, &text, &places, quiet)
        })
    });
    for (area, row) in area.rows().skip(1).zip(rows) {
        popup.line(&row, area);
    }
}

/// `text` with the matches marked.
fn marked(app: &App, text: &str, places: &[Range<usize>], style: Style) -> StyledLine {
    let mark = on_row(&app.theme, style, app.theme.accent).add_modifier(Modifier::BOLD);
    let mut line = StyledLine::new();
    let mut at = 0;
    for place in places {
        let start = place.start.max(at);
        if start >= place.end {
            continue;
        }
        line.push(&text[at..start], style);
        line.push(&text[start..place.end], mark);
        at = place.end;
    }
    line.with(&text[at..], style)
}
