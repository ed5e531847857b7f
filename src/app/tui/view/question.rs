//! The question strip: what a call waits with, why it is asked, and how to answer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::call_body;
use super::line::StyledLine;
use crate::agent::tool::{Details, FileChange};
use crate::agent::{ChoiceSubject, PermissionSubject, Question, Subject};
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::rule_store::RuleScope;
use crate::app::sanitize::revealed;
use crate::app::tui::app::App;
use crate::app::tui::theme::Theme;

/// Rows of a command or of a diff at most.
const BODY_ROWS: usize = 12;

/// The same while a rule is in the editor, which needs room too.
const BODY_ROWS_OF_RULE: usize = 4;

/// What a question of the model begins with.
const MODEL_ASKS: &str = "The model asks: ";

/// Columns that stand left of the body.
const MARGIN: usize = 5;

/// The strip's rows where there is at most so much room, the first and the last one being those that must
/// not be missing; none when nothing is asked.
pub fn rows(app: &App, room: Rect) -> Vec<StyledLine> {
    let Some(question) = app.questions.first() else {
        return Vec::new();
    };
    let (columns, height) = (usize::from(room.width), usize::from(room.height));
    let mut rows = match &question.subject {
        Subject::Permission(subject) => permission(app, question, subject, (columns, height)),
        Subject::Choice(subject) => choice(app, subject, (columns, height)),
    };
    if let [first, ..] = rows.as_mut_slice()
        && app.questions.len() > 1
    {
        first.push(format!("  1 of {}", app.questions.len()), app.theme.dim);
    }
    rows
}

/// Draws as many of `rows` as fit; the answers are always among them.
pub fn draw(rows: &[StyledLine], area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    let hidden = rows.len().saturating_sub(height);
    let shown = rows.iter().enumerate().filter(|(at, _)| {
        // What gives way is the end of the body.
        let last = rows.len() - 1;
        *at == last || *at + hidden < last || hidden == 0
    });
    for (y, (_, row)) in shown.take(height).enumerate() {
        row.draw(
            buffer,
            area.x + 1,
            area.y + y as u16,
            area.width.saturating_sub(2),
        );
    }
}

fn permission(
    app: &App,
    question: &Question,
    subject: &PermissionSubject,
    (columns, height): (usize, usize),
) -> Vec<StyledLine> {
    let theme = &app.theme;
    let asks = asks(question, subject);
    let mut rows = head(theme, &asks, &format!("  {}", subject.reason), columns);
    // On a small screen the reason gives way: what a yes lets run must be seen.
    let most = height.saturating_sub(2).max(1);
    if rows.len() > most {
        rows.truncate(most);
        if let [_, .., last] = rows.as_mut_slice() {
            last.push("…", theme.activity);
        }
    }
    let room =
        |rows: &[StyledLine], most: usize| height.saturating_sub(rows.len() + 1).clamp(1, most);
    let Some(rule) = &app.rule else {
        let most = room(&rows, BODY_ROWS);
        rows.extend(body(app, &subject.details, columns, most));
        rows.push(if app.composer.is_empty() {
            answers(app, !subject.suggestions.is_empty(), columns)
        } else {
            refusal(app, columns)
        });
        return rows;
    };
    let most = room(&rows, BODY_ROWS_OF_RULE);
    rows.extend(body(app, &subject.details, columns, most));
    if let Some((fault, revision)) = &rule.fault
        && *revision == app.composer.revision()
    {
        let room = columns.saturating_sub(MARGIN).max(8);
        let fault = StyledLine::wrapped(fault, theme.warning, room);
        let indent = |row: StyledLine| StyledLine::of("  ", theme.warning).then(&row);
        rows.extend(fault.into_iter().map(indent));
    }
    rows.push(rule_answers(app, rule.scope, columns));
    rows
}

/// What is asked.
fn asks(question: &Question, subject: &PermissionSubject) -> String {
    if let Some(with) = &subject.again {
        return format!("Run it again {with}?");
    }
    match &*subject.details {
        Details::Command(_) => String::from("Run this command?"),
        Details::Diff(diff) if diff.files.is_empty() => {
            let verb = match diff.change {
                FileChange::Deleted => "Delete",
                _ if diff.moved_from.is_some() => "Move",
                _ if diff.old_lines == 0 && diff.added > 0 => "Create",
                _ => "Change",
            };
            format!("{verb} {}?", diff.path)
        }
        Details::Diff(diff) => format!("Change {} files?", 1 + diff.files.len()),
        _ => format!("Allow {}?", question.tool),
    }
}

/// All of what the call in the strip would do, under what is asked.
pub fn whole(app: &App, columns: usize) -> (String, Vec<StyledLine>) {
    let Some(question) = app.questions.first() else {
        return Default::default();
    };
    match &question.subject {
        Subject::Permission(subject) => (
            asks(question, subject),
            call_body::all_rows(&app.theme, &subject.details, columns),
        ),
        Subject::Choice(subject) => {
            let (mut rows, choices) = choice_rows(&app.theme, subject, columns);
            rows.extend(choices);
            ("The model asks".to_owned(), rows)
        }
    }
}

/// Whether the strip shows only the beginning of a question of the model.
pub fn is_cut(app: &App, room: Rect) -> bool {
    let question = app.questions.first().map(|question| &question.subject);
    let Some(Subject::Choice(subject)) = question else {
        return false;
    };
    let (question, choices) = choice_rows(&app.theme, subject, usize::from(room.width));
    question.len() > most_rows(&choices, usize::from(room.height))
}

/// What is asked, and behind it or below it why.
fn head(theme: &Theme, asks: &str, why: &str, columns: usize) -> Vec<StyledLine> {
    let asks = revealed(asks);
    let head = StyledLine::of("? ", theme.warning).with(asks.as_str(), theme.strong);
    let with_why = head.clone().with(why, theme.activity);
    if with_why.width() + 2 <= columns {
        return vec![with_why];
    }
    let room = columns.saturating_sub(MARGIN).max(8);
    let rest = StyledLine::wrapped(why.trim_start(), theme.activity, room);
    let below = rest
        .into_iter()
        .map(|row| StyledLine::of("  ", theme.activity).then(&row));
    // All of a name is shown: its end says as much as its beginning.
    let asks = StyledLine::wrapped(&asks, theme.strong, room);
    let head = asks.iter().enumerate().map(|(at, row)| {
        StyledLine::of(if at == 0 { "? " } else { "  " }, theme.warning).then(row)
    });
    head.chain(below).collect()
}

/// The keys that answer, as many as fit; `y` and `n` are always among them.
fn answers(app: &App, has_rule: bool, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let offers = [
        (Action::AllowOnce, ["allows once", "once"]),
        (Action::AllowInSession, ["this session", "session"]),
        (Action::AllowInProject, ["this project", "project"]),
        (Action::AllowAlways, ["always", "always"]),
        (Action::RefuseCall, ["refuses", "no"]),
    ];
    let line = |rules: usize, is_short: bool| {
        let mut line = StyledLine::of("  ", theme.activity);
        for (at, (action, words)) in offers.into_iter().enumerate() {
            if at <= rules || action == Action::RefuseCall {
                let dot = if action == Action::RefuseCall {
                    ""
                } else {
                    " · "
                };
                line.push(app.key(action), theme.key_hint);
                let what = words[usize::from(is_short)];
                line.push(format!(" {what}{dot}"), theme.activity);
            }
        }
        line
    };
    let most = if has_rule { 3 } else { 0 };
    let short = (0..=most).rev().map(|rules| line(rules, true));
    first_that_fits(std::iter::once(line(most, false)).chain(short), columns)
}

/// What Enter does with what is in the editor: no letter answers then.
fn refusal(app: &App, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let lines = [
        (
            " refuses, and says what you typed · ",
            " allows once on an empty editor",
        ),
        (" refuses with what you typed · empty: ", " allows"),
        (" refuses with your words", ""),
    ];
    let lines = lines.map(|(does, empty)| {
        let line = StyledLine::of("  ", theme.activity)
            .with(app.key(Action::Submit), theme.key_hint)
            .with(does, theme.activity);
        match empty {
            "" => line,
            empty => line
                .with(app.key(Action::AllowOnce), theme.key_hint)
                .with(empty, theme.activity),
        }
    });
    first_that_fits(lines.into_iter(), columns)
}

/// How the rule in the editor becomes the answer.
fn rule_answers(app: &App, scope: RuleScope, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let place = match scope {
        RuleScope::Session => "in this session",
        RuleScope::Project => "in this project",
        RuleScope::Always => "always",
    };
    let long = format!(" allows it {place} with this rule · ");
    let short = format!(" allows it {place} · ");
    let lines = [long.as_str(), &short, " allows · "].map(|does| {
        StyledLine::of("  ", theme.activity)
            .with(app.key(Action::Submit), theme.key_hint)
            .with(does, theme.activity)
            .with(app.key(Action::Cancel), theme.key_hint)
            .with(" goes back", theme.activity)
    });
    first_that_fits(lines.into_iter(), columns)
}

/// The first line that the strip has room for, else the last one.
fn first_that_fits(mut lines: impl Iterator<Item = StyledLine>, columns: usize) -> StyledLine {
    let mut last = StyledLine::new();
    while last.width() == 0 || last.width() + 2 > columns {
        match lines.next() {
            Some(line) => last = line,
            None => break,
        }
    }
    last
}

/// What would be done, on a rail, in at most so many rows.
fn body(app: &App, details: &Details, columns: usize, most: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let room = columns.saturating_sub(MARGIN + 1).max(8);
    let (mut rows, hidden) = call_body::first_rows(theme, details, room, most);
    if hidden > 0 {
        let more = format!("… {}", plural(hidden as u64, "more line", "more lines"));
        let mut more = StyledLine::of(more, theme.fold_hint);
        if app.rule.is_none() {
            more.push(" · ", theme.fold_hint);
            more.push(app.key(Action::ShowCall), theme.key_hint);
            more.push(" shows all", theme.fold_hint);
        }
        rows.push(more);
    }
    let rail = |line: StyledLine| StyledLine::of("  │ ", theme.tool_running).then(&line);
    rows.into_iter().map(rail).collect()
}

fn choice(
    app: &App,
    subject: &ChoiceSubject,
    (columns, height): (usize, usize),
) -> Vec<StyledLine> {
    let theme = &app.theme;
    let (mut all, mut rows) = choice_rows(theme, subject, columns);
    let how = match subject.choices.len() {
        _ if !app.composer.is_empty() => "  Enter sends what you typed as the answer",
        0 => "  type an answer, Enter sends it",
        1 => "  its number chooses · or type an answer, Enter sends it",
        _ => "  a number chooses · or type an answer, Enter sends it",
    };
    // What can be chosen must be seen: the end of a long question gives way to it.
    let most = most_rows(&rows, height);
    rows.push(StyledLine::of(how, theme.activity));
    if all.len() > most {
        all.truncate(most);
        let key = app.key(Action::ToggleOutput);
        let hint = key.chars().count() + 12;
        let room = columns.saturating_sub(MARGIN + hint);
        // One short row is for the question alone.
        let has_hint = most > 1 || room > 2 * hint;
        if let Some(last) = all.last_mut() {
            if has_hint {
                *last = last.cut(room);
            }
            if !last.text().ends_with('…') {
                last.push("…", theme.activity);
            }
            if has_hint {
                last.push(" ", theme.activity);
                last.push(key, theme.key_hint);
                last.push(" shows all", theme.activity);
            }
        }
    }
    all.append(&mut rows);
    all
}

/// How many rows of a question there is room for above what can be chosen.
fn most_rows(choices: &[StyledLine], height: usize) -> usize {
    height.saturating_sub(choices.len() + 1).max(1)
}

/// The rows of a question of the model, and those of what can be chosen.
fn choice_rows(
    theme: &Theme,
    subject: &ChoiceSubject,
    columns: usize,
) -> (Vec<StyledLine>, Vec<StyledLine>) {
    let room = columns.saturating_sub(MARGIN).max(8);
    let mark = |at: usize| StyledLine::of(if at == 0 { "? " } else { "  " }, theme.warning);
    // In words of ours: what the model writes cannot pass for a question whether a call may run.
    let question = format!("{}{}", MODEL_ASKS, revealed(&subject.question));
    let question = StyledLine::wrapped(&question, theme.strong, room);
    let question = question.iter().enumerate();
    let question: Vec<StyledLine> = question.map(|(at, row)| mark(at).then(row)).collect();
    let mut rows = Vec::new();
    // Behind a number, which takes more than the mark of the question.
    let room = room.saturating_sub(2).max(8);
    for (number, choice) in subject.choices.iter().enumerate() {
        for (at, row) in StyledLine::wrapped(&revealed(choice), theme.text, room)
            .iter()
            .enumerate()
        {
            let number = match at {
                0 => format!("  {} ", number + 1),
                _ => String::from("    "),
            };
            rows.push(StyledLine::of(number, theme.key_hint).then(row));
        }
    }
    (question, rows)
}
