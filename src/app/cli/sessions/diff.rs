//! `tiller sessions diff`: compares two branches of a session: a table of figures, then messages and
//! changes of each.

use std::fmt::Write as _;

use serde_json::json;

use super::place::SessionsPlace;
use crate::agent::session::{BranchTail, ComparedEntry, Comparison, SessionView};
use crate::app::args::SessionDiffArgs;
use crate::app::humanize::{dollars, grouped, measured, plural};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

/// Width of a figure's name, and of the first branch's figure.
const NAME: usize = 16;
const FIGURE: usize = 24;
/// Most characters of an entry's text per line.
const TEXT: usize = 100;

/// A figure's name, and how to read it.
type Figure = (&'static str, fn(&BranchTail) -> String);

pub fn diff(what: &SessionDiffArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(&what.session, &place.root)?;
    let shown = path.display();
    let view = SessionView::open(&path)
        .map_err(|error| StartError::failed(format!("can't read the session {shown}: {error}")))?;
    let names: Vec<&str> = what.branches.iter().map(String::as_str).collect();
    let (a, b) = (view.tree().branches_named(&names))
        .map_err(|error| StartError::usage(format!("{shown}: {error}")))?;
    let comparison = Comparison::new(&view, a, b)
        .map_err(|error| StartError::failed(format!("can't read the session {shown}: {error}")))?;
    if what.json {
        return Ok(out::print(&format!("{}\n", json!(comparison))));
    }
    let mut text = String::new();
    for line in lines(&comparison) {
        let _ = writeln!(text, "{}", for_terminal(&line));
    }
    Ok(out::print(&text))
}

fn lines(it: &Comparison) -> Vec<String> {
    let ancestor = it.common_ancestor.as_ref();
    let ancestor = ancestor.map_or_else(|| String::from("none"), named);
    let row = |name: &str, a: &str, b: &str| format!("  {name:<NAME$}{a:<FIGURE$}{b}");
    let ends = [("A", &it.a), ("B", &it.b)].map(|(name, tail)| {
        let end = &tail.end;
        format!("{name}  {}", end.label.as_ref().unwrap_or(&end.id))
    });
    let mut lines = vec![
        String::from("Common ancestor"),
        format!("  {ancestor}"),
        String::new(),
        row("", &ends[0], &ends[1]),
    ];
    let figures: [Figure; 10] = [
        ("entries", |tail| count(tail.entries)),
        ("prompts", |tail| count(tail.prompts.len())),
        ("model calls", |tail| count(tail.model_calls)),
        ("tool calls", tool_calls),
        ("time", |tail| measured(tail.worked_ms.unsigned_abs())),
        ("tokens in", |tail| {
            let usage = &tail.usage;
            grouped(usage.input + usage.cache_read + usage.cache_write)
        }),
        ("  from cache", |tail| grouped(tail.usage.cache_read)),
        ("tokens out", |tail| grouped(tail.usage.output)),
        ("cost", |tail| dollars(tail.usage.cost.total)),
        ("files changed", |tail| count(tail.modified_files.len())),
    ];
    let figures = figures.iter();
    lines.extend(figures.map(|(name, figure)| row(name, &figure(&it.a), &figure(&it.b))));
    for (name, tail) in [("A", &it.a), ("B", &it.b)] {
        lines.extend([String::new(), format!("{name}  {}", named(&tail.end))]);
        let prompts = tail.prompts.iter();
        lines.extend(prompts.map(|prompt| format!("  ❯ {}", first_line(&prompt.text))));
        let tools = tail.tool_calls.iter();
        let tools: Vec<String> = tools
            .map(|(tool, count)| format!("{count} {tool}"))
            .collect();
        if !tools.is_empty() {
            lines.push(format!("  {}", tools.join(" · ")));
        }
        let files = tail.modified_files.iter();
        lines.extend(files.map(|file| format!("  ± {file}")));
        if tail.entries == 0 {
            lines.push("  Nothing: the branches split here".into());
        }
    }
    lines
}

fn count(count: usize) -> String {
    grouped(count as u64)
}

fn tool_calls(tail: &BranchTail) -> String {
    let calls: usize = tail.tool_calls.values().sum();
    match tail.failed_calls {
        0 => count(calls),
        failed => format!("{} ({} failed)", count(calls), count(failed)),
    }
}

fn named(entry: &ComparedEntry) -> String {
    let label = entry.label.as_ref().map(|label| format!("⟦{label}⟧ "));
    let label = label.unwrap_or_default();
    format!("{}  {label}{}", entry.id, first_line(&entry.text))
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or_default();
    let more = lines.count();
    let mut shown: String = line.chars().take(TEXT).collect();
    if shown.len() < line.len() {
        shown.push('…');
    } else if more > 0 {
        let more = plural(more as u64, "more line", "more lines");
        let _ = write!(shown, " … {more}");
    }
    shown
}
