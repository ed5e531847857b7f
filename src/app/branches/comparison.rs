//! Compares two branches in lines of text: a table of figures, then messages and changes of each.

use std::fmt::Write as _;

use crate::agent::session::{BranchTail, ComparedEntry, Comparison};
use crate::app::humanize::{dollars, grouped, measured, plural};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparisonLine {
    Heading(String),
    Figure {
        name: &'static str,
        a: String,
        b: String,
    },
    Text(String),
    Blank,
}

/// Most characters of an entry's text per line.
const TEXT: usize = 100;

pub fn comparison_lines(it: &Comparison) -> Vec<ComparisonLine> {
    use ComparisonLine::{Blank, Figure, Heading, Text};
    let mut lines = vec![Heading("Common ancestor".into())];
    lines.push(Text(match &it.common_ancestor {
        Some(ancestor) => named(ancestor),
        None => String::from("none"),
    }));
    lines.push(Blank);
    let figure = |name, figure: fn(&BranchTail) -> String| Figure {
        name,
        a: figure(&it.a),
        b: figure(&it.b),
    };
    lines.extend([
        Figure {
            name: "",
            a: format!("A  {}", short_name(&it.a.end)),
            b: format!("B  {}", short_name(&it.b.end)),
        },
        figure("entries", |tail| count(tail.entries)),
        figure("prompts", |tail| count(tail.prompts.len())),
        figure("model calls", |tail| count(tail.model_calls)),
        figure("tool calls", tool_calls),
        figure("time", |tail| measured(tail.worked_ms.unsigned_abs())),
        figure("tokens in", |tail| {
            let usage = &tail.usage;
            grouped(usage.input + usage.cache_read + usage.cache_write)
        }),
        figure("  from cache", |tail| grouped(tail.usage.cache_read)),
        figure("tokens out", |tail| grouped(tail.usage.output)),
        figure("cost", |tail| dollars(tail.usage.cost.total)),
        figure("files changed", |tail| count(tail.modified_files.len())),
    ]);
    for (name, tail) in [("A", &it.a), ("B", &it.b)] {
        lines.push(Blank);
        lines.push(Heading(format!("{name}  {}", named(&tail.end))));
        for prompt in &tail.prompts {
            lines.push(Text(format!("❯ {}", first_line(&prompt.text))));
        }
        let tools = tail.tool_calls.iter();
        let tools: Vec<String> = tools
            .map(|(tool, count)| format!("{count} {tool}"))
            .collect();
        if !tools.is_empty() {
            lines.push(Text(tools.join(" · ")));
        }
        for file in &tail.modified_files {
            lines.push(Text(format!("± {file}")));
        }
        if tail.entries == 0 {
            lines.push(Text("Nothing: the branches split here".into()));
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

fn short_name(entry: &ComparedEntry) -> String {
    entry.label.clone().unwrap_or_else(|| entry.id.clone())
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
