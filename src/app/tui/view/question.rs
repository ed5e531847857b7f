//! The question strip: the waiting call, the reason for the question, and the answers.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::answers::{self, AnswerStyles};
use super::call_body;
use super::line::StyledLine;
use crate::agent::tool::{Details, FileChange};
use crate::agent::{ChoiceSubject, PermissionSubject, Question, Subject};
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::rule_store::{self, RuleScope};
use crate::app::sanitize::revealed;
use crate::app::tui::app::App;
use crate::app::tui::question_strip::{Offer, TypedAnswer};
use crate::app::tui::rule_draft::RuleDraft;
use crate::app::tui::theme::Theme;

/// Maximum rows of a command or a diff.
const BODY_ROWS: usize = 12;

/// The same while a rule is in the editor, which needs room too.
const BODY_ROWS_OF_RULE: usize = 4;

/// Minimum rows of the body. With less room, the answers share one row.
const BODY_ROWS_FIRST: usize = 3;

/// Prefix of a question from the model.
const MODEL_ASKS: &str = "The model asks: ";

/// Columns to the left of the body.
const MARGIN: usize = 5;

/// The rows of the strip, and whether something is cut.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    pub rows: Vec<StyledLine>,
    pub is_cut: bool,
}

/// The strip for this room, without rows if there is no question.
pub fn strip(app: &App, room: Rect) -> Strip {
    let Some(question) = app.questions.first() else {
        return Strip::default();
    };
    let size = (usize::from(room.width), usize::from(room.height));
    let mut strip = match &question.subject {
        Subject::Permission(subject) => permission(app, question, subject, size),
        Subject::Choice(subject) => choice(app, subject, size),
    };
    if let [first, ..] = strip.rows.as_mut_slice()
        && app.questions.len() > 1
    {
        first.push(format!("  1 of {}", app.questions.len()), app.theme.dim);
    }
    strip.is_cut |= strip.rows.len() > size.1;
    strip
}

/// Draws as many of `rows` as there is room for, always with the first and the last one.
pub fn draw(rows: &[StyledLine], area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    let hidden = rows.len().saturating_sub(height);
    let shown = rows.iter().enumerate().filter(|(at, _)| {
        // The end of the body is dropped first.
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
) -> Strip {
    let theme = &app.theme;
    let foot = foot(app, question, subject, (columns, height));
    let asks = asks(question, subject);
    let mut rows = head(theme, &asks, &format!("  {}", subject.reason), columns);
    // On a small screen the reason is dropped first: the user must see what they allow.
    let room = height.saturating_sub(foot.len());
    let left = room.saturating_sub(rows.len()).max(1);
    let fits = body(app, subject, columns, left).1 == 0;
    let most = room.saturating_sub(if fits { 1 } else { 2 }).max(1);
    let mut is_cut = rows.len() > most;
    if is_cut {
        rows.truncate(most);
        if let [_, .., last] = rows.as_mut_slice() {
            last.push("…", theme.activity);
        }
    }
    let most = if app.rule.is_some() {
        BODY_ROWS_OF_RULE
    } else {
        BODY_ROWS
    };
    let room = height.saturating_sub(rows.len() + foot.len());
    let (body, hidden) = body(app, subject, columns, room.clamp(1, most));
    is_cut |= hidden > 0;
    rows.extend(body);
    rows.extend(foot);
    Strip { rows, is_cut }
}

/// The answers and their keys.
fn foot(
    app: &App,
    question: &Question,
    subject: &PermissionSubject,
    (columns, height): (usize, usize),
) -> Vec<StyledLine> {
    if let Some(rule) = &app.rule {
        return rule_foot(app, rule, columns);
    }
    if !app.composer.is_empty() {
        let does = match TypedAnswer::of(&app.composer.text()) {
            TypedAnswer::Yes => " select Yes",
            TypedAnswer::No => " deny",
            TypedAnswer::Reason => " deny with this message",
        };
        return vec![text_keys(app, does, columns)];
    }
    let offers = Offer::of(subject);
    let selected = app.strip.answers.selected();
    let inside = columns.saturating_sub(2);
    let labels: Vec<String> = offers
        .iter()
        .map(|offer| match offer {
            Offer::Once => "Yes, once".to_owned(),
            Offer::Rule => rule_store::offer(&subject.suggestions, app.strip.scope),
            Offer::Refuse => "No, and say why".to_owned(),
        })
        .collect();
    let styles = styles(&app.theme);
    let mut rows = answers::rows(&labels, selected, styles, inside);
    let least = 1 + BODY_ROWS_FIRST;
    if rows.len() + least > height {
        let short: Vec<&str> = offers
            .iter()
            .map(|offer| match offer {
                Offer::Once => "Yes",
                Offer::Rule => "Don't ask again",
                Offer::Refuse => "No",
            })
            .collect();
        return match selected {
            // The user must see what a rule says before confirming it.
            Some(at) if offers.get(at) == Some(&Offer::Rule) => {
                answers::one(&labels[at], at, true, styles, inside)
            }
            _ => vec![answers::row(&short, selected, styles)],
        };
    }
    let offer = app.strip.offer(question);
    if rows.len() + least < height {
        rows.push(list_keys(app, offer, columns));
    } else if let Some(last) = rows.last_mut() {
        let left = columns.saturating_sub(last.width());
        let keys = list_keys(app, offer, left);
        if keys.width() + 2 <= left {
            *last = last.clone().then(&keys);
        }
    }
    rows
}

fn styles(theme: &Theme) -> AnswerStyles {
    AnswerStyles {
        number: theme.key_hint,
        text: theme.text,
        selected: theme.strong,
    }
}

fn list_keys(app: &App, offer: Option<Offer>, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let (enter, tab) = (app.key(Action::Accept), app.key(Action::Complete));
    let mut keys: Vec<(&str, &str)> = match offer {
        Some(Offer::Rule) => vec![("←→", " change where"), (&tab, " edit rule")],
        Some(Offer::Refuse) => vec![("", "type why"), ("↑↓", " select")],
        Some(Offer::Once) => vec![("↑↓", " select")],
        None => vec![
            ("↑↓ or a digit", ", then Enter"),
            ("", "or type what to do instead"),
        ],
    };
    if app.strip.answers.can_confirm(app.now) {
        keys.push((&enter, " confirm"));
    }
    let line = |keys: &[(&str, &str)]| {
        let mut line = StyledLine::of("  ", theme.activity);
        for (at, (key, does)) in keys.iter().enumerate() {
            line.push(if at > 0 { " · " } else { "" }, theme.activity);
            line.push(*key, theme.key_hint);
            line.push(*does, theme.activity);
        }
        line
    };
    // A narrow screen shows the last ones.
    first_that_fits((0..keys.len()).map(|first| line(&keys[first..])), columns)
}

fn text_keys(app: &App, does: &str, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let does = if app.text_answers() {
        does
    } else {
        " steer (you began this before the question)"
    };
    let line = StyledLine::of("  ", theme.activity)
        .with(app.key(Action::Submit), theme.key_hint)
        .with(does, theme.activity);
    let long = (line.clone())
        .with(" · ", theme.activity)
        .with(app.key(Action::Interrupt), theme.key_hint)
        .with(" clear it to choose an answer", theme.activity);
    first_that_fits([long, line].into_iter(), columns)
}

/// Problems of the rule in the editor, and how to send it as the answer.
fn rule_foot(app: &App, rule: &RuleDraft, columns: usize) -> Vec<StyledLine> {
    let theme = &app.theme;
    let mut rows = Vec::new();
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

fn asks(question: &Question, subject: &PermissionSubject) -> String {
    if let Some(with) = &subject.again {
        return format!("Rerun {with}?");
    }
    match &*subject.details {
        Details::Command(_) if question.tool == "bash" => String::from("Run this command?"),
        Details::Command(_) => format!("Run the tool {}?", question.tool),
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
        Details::Other(other) if !other.title.is_empty() => format!("Allow {}?", other.title),
        _ => format!("Allow {}?", question.tool),
    }
}

/// The whole call in the strip, with the question as title.
pub fn whole(app: &App, columns: usize) -> (String, Vec<StyledLine>) {
    let Some(question) = app.questions.first() else {
        return Default::default();
    };
    match &question.subject {
        Subject::Permission(subject) => {
            let mut rows = StyledLine::wrapped(&subject.reason, app.theme.activity, columns);
            rows.extend(flagged_rows(app, subject, columns));
            rows.push(StyledLine::new());
            rows.extend(call_body::first_rows(&app.theme, &subject.details, columns, usize::MAX).0);
            (asks(question, subject), rows)
        }
        Subject::Choice(subject) => {
            let (mut rows, choices) = choice_rows(app, subject, columns);
            rows.extend(choices);
            ("The model asks".to_owned(), rows)
        }
    }
}

/// The question, then the reason after it or below.
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
    // The whole name is shown, because its end matters as much as its beginning.
    let asks = StyledLine::wrapped(&asks, theme.strong, room);
    let head = asks.iter().enumerate().map(|(at, row)| {
        StyledLine::of(if at == 0 { "? " } else { "  " }, theme.warning).then(row)
    });
    head.chain(below).collect()
}

fn rule_answers(app: &App, scope: RuleScope, columns: usize) -> StyledLine {
    let theme = &app.theme;
    let place = scope.place();
    let long = format!(" allow {place} with this rule · ");
    let short = format!(" allow {place} · ");
    let lines = [long.as_str(), &short, " allow · "].map(|does| {
        StyledLine::of("  ", theme.activity)
            .with(app.key(Action::Submit), theme.key_hint)
            .with(does, theme.activity)
            .with(app.key(Action::Cancel), theme.key_hint)
            .with(" cancel", theme.activity)
    });
    first_that_fits(lines.into_iter(), columns)
}

/// The first line that there is room for, or else the last one.
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

/// The simple commands that caused the question.
fn flagged_rows(app: &App, subject: &PermissionSubject, columns: usize) -> Vec<StyledLine> {
    let style = app.theme.warning;
    let flagged = subject.flagged.iter();
    flagged
        .flat_map(|it| StyledLine::wrapped(&revealed(&format!("! {it}")), style, columns))
        .collect()
}

/// The command or diff on a rail in at most `most` rows, and how many rows are hidden.
fn body(
    app: &App,
    subject: &PermissionSubject,
    columns: usize,
    most: usize,
) -> (Vec<StyledLine>, usize) {
    let theme = &app.theme;
    let room = columns.saturating_sub(MARGIN + 1).max(8);
    let details = &subject.details;
    let (mut rows, mut hidden) = call_body::first_rows(theme, details, room, most);
    if hidden > 0 && most > 1 && !subject.flagged.is_empty() {
        // The commands that caused the question come first, wherever they are in the line.
        let mut asked = flagged_rows(app, subject, room);
        asked.truncate(most / 2);
        (rows, hidden) = call_body::first_rows(theme, details, room, most - asked.len());
        asked.extend(rows);
        rows = asked;
    }
    if hidden > 0 {
        let more = format!("… {}", plural(hidden as u64, "more row", "more rows"));
        rows.push(
            StyledLine::of(more, theme.fold_hint)
                .with(" · ", theme.fold_hint)
                .with(app.key(Action::ToggleOutput), theme.key_hint)
                .with(" show all", theme.fold_hint),
        );
    }
    let rail = |line: StyledLine| StyledLine::of("  │ ", theme.tool_running).then(&line);
    (rows.into_iter().map(rail).collect(), hidden)
}

fn choice(app: &App, subject: &ChoiceSubject, (columns, height): (usize, usize)) -> Strip {
    let theme = &app.theme;
    let (mut all, mut rows) = choice_rows(app, subject, columns);
    let enter = app.key(Action::Accept);
    // The choices must be visible, so the end of a long question is dropped.
    let most = height.saturating_sub(rows.len() + 1).max(1);
    let how = match subject.choices.len() {
        0 => format!("  type an answer · {} send", app.key(Action::Submit)),
        _ if app.strip.answers.can_confirm(app.now) => {
            format!("  ↑↓ select · or type an answer · {enter} confirm")
        }
        _ => "  ↑↓ or a digit, then Enter · or type an answer".to_owned(),
    };
    rows.push(if app.composer.is_empty() {
        StyledLine::of(how, theme.activity)
    } else {
        text_keys(app, " send as the answer", columns)
    });
    let is_cut = all.len() > most;
    if is_cut {
        all.truncate(most);
        let key = app.key(Action::ToggleOutput);
        let hint = key.chars().count() + 11;
        let room = columns.saturating_sub(MARGIN + hint);
        // A single short row is for the question alone.
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
                last.push(" show all", theme.activity);
            }
        }
    }
    all.append(&mut rows);
    Strip { rows: all, is_cut }
}

/// The rows of a question from the model, and the rows of its choices.
fn choice_rows(
    app: &App,
    subject: &ChoiceSubject,
    columns: usize,
) -> (Vec<StyledLine>, Vec<StyledLine>) {
    let theme = &app.theme;
    let room = columns.saturating_sub(MARGIN).max(8);
    let mark = |at: usize| StyledLine::of(if at == 0 { "? " } else { "  " }, theme.warning);
    // The fixed prefix keeps the model's text from passing for a permission request.
    let question = format!("{}{}", MODEL_ASKS, revealed(&subject.question));
    let question = StyledLine::wrapped(&question, theme.strong, room);
    let question = question.iter().enumerate();
    let question: Vec<StyledLine> = question.map(|(at, row)| mark(at).then(row)).collect();
    let labels: Vec<String> = subject.choices.iter().map(|it| revealed(it)).collect();
    let selected = app.strip.answers.selected();
    let inside = columns.saturating_sub(2);
    let rows = answers::rows(&labels, selected, styles(theme), inside);
    (question, rows)
}
