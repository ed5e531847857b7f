//! The facts about one session, in lines.

use std::path::Path;

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use crate::app::humanize::{abbreviate_home, bytes, dollars, grouped, noun, plural, short};
use crate::app::sessions::{SessionFacts, title_of};
use crate::app::tui::app::App;
use crate::app::tui::view::line::StyledLine;

/// Columns for the label of a line.
const LABEL: usize = 10;

/// The preview in the list: figures, folder and model, the first prompt, the last exchange.
pub fn preview(app: &App, facts: &SessionFacts, area: Rect) -> Vec<StyledLine> {
    let theme = &app.theme;
    let quiet = theme.popup.patch(theme.dim);
    let columns = usize::from(area.width);
    let folder = abbreviate_home(Path::new(&facts.cwd), app.status.home.as_deref());
    let mut place = vec![folder];
    place.extend(facts.model.clone());
    let mut lines = vec![
        StyledLine::of(counts(facts).join(" · "), quiet),
        StyledLine::of(place.join(" · "), quiet),
    ];
    let mark = theme.popup.patch(Style {
        bg: None,
        ..theme.user_mark
    });
    let prompt = |text: &str, rows: usize, lines: &mut Vec<StyledLine>| {
        let wrapped = StyledLine::wrapped(&one_line(text), theme.popup, columns.saturating_sub(2));
        for (at, line) in wrapped.iter().take(rows).enumerate() {
            let mark = StyledLine::of(if at == 0 { "❯ " } else { "  " }, mark);
            lines.push(mark.then(line));
        }
    };
    if facts.first_prompt == facts.last_prompt {
        prompt(&facts.first_prompt, 2, &mut lines);
    } else {
        prompt(&facts.first_prompt, 1, &mut lines);
        lines.push(StyledLine::of("  ⋯", quiet));
        prompt(&facts.last_prompt, 1, &mut lines);
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    let answer = one_line(&facts.last_answer);
    let answer = StyledLine::wrapped(&answer, quiet, columns.saturating_sub(2));
    for line in answer.iter().take(room) {
        lines.push(StyledLine::of("  ", quiet).then(line));
    }
    lines
}

/// All facts about a session, one per line.
pub fn lines(app: &App, facts: &SessionFacts, columns: usize) -> Vec<StyledLine> {
    let home = app.status.home.as_deref();
    let path = |path: &Path| abbreviate_home(path, home);
    let usage = &facts.usage;
    let tokens = format!(
        "{} in · {} out · {} from the cache",
        grouped(usage.input + usage.cache_write),
        grouped(usage.output),
        grouped(usage.cache_read)
    );
    let of = |count: usize, one, many| {
        let count = count as u64;
        format!("{} {}", grouped(count), noun(count, one, many))
    };
    let messages = format!(
        "{} · {} · {} on this branch",
        of(facts.prompts, "prompt", "prompts"),
        of(facts.answers, "answer", "answers"),
        of(facts.calls, "tool call", "tool calls")
    );
    let name = facts.name.clone().unwrap_or_else(|| {
        let title = title_of(&facts.first_prompt);
        format!("{title} (first prompt; /name renames it)")
    });
    let branches = format!(
        "{} · {}",
        grouped(facts.branches as u64),
        of(facts.entries, "entry", "entries")
    );
    let parent = facts.parent.as_deref().map(Path::new).map(path);
    let began = Some(minute(&facts.began)).filter(|began| !began.is_empty());
    let rows = [
        ("name", Some(name)),
        ("id", Some(facts.id.clone())),
        ("file", Some(path(&facts.path))),
        ("size", Some(bytes(facts.size))),
        ("folder", Some(path(Path::new(&facts.cwd)))),
        ("began", began),
        ("copy of", parent),
        ("model", facts.model.clone()),
        ("messages", Some(messages)),
        ("branches", Some(branches)),
        ("tokens", Some(tokens)),
        ("cost", Some(dollars(usage.cost.total))),
    ];
    let theme = &app.theme;
    let room = columns.saturating_sub(LABEL).max(1);
    let mut lines = Vec::new();
    let known = rows
        .into_iter()
        .filter_map(|(label, text)| Some((label, text?)));
    for (label, text) in known {
        let wrapped = StyledLine::wrapped(&text, theme.popup, room);
        for (at, line) in wrapped.iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = StyledLine::of(format!("{label:<LABEL$}"), theme.popup.patch(theme.dim));
            lines.push(label.then(line));
        }
    }
    lines
}

fn minute(stored: &str) -> String {
    match stored.strip_suffix('Z').and_then(|time| time.get(..16)) {
        Some(time) => format!("{} UTC", time.replace('T', " ")),
        None => stored.to_owned(),
    }
}

pub fn counts(facts: &SessionFacts) -> Vec<String> {
    let mut parts = vec![
        plural(facts.prompts as u64, "prompt", "prompts"),
        plural(facts.answers as u64, "answer", "answers"),
    ];
    if facts.calls > 0 {
        parts.push(plural(facts.calls as u64, "tool call", "tool calls"));
    }
    if facts.branches > 1 {
        parts.push(plural(facts.branches as u64, "branch", "branches"));
    }
    let usage = &facts.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    if read + usage.output > 0 {
        parts.push(format!("↑{} ↓{}", short(read), short(usage.output)));
    }
    if usage.cost.total > 0.0 {
        parts.push(dollars(usage.cost.total));
    }
    parts.push(bytes(facts.size));
    parts
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(200).collect();
    words.join(" ")
}
