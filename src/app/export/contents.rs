//! The table of contents: prompts in order, and the branches. The main branch stays at its level;
//! abandoned ones come before it, one level deeper.

use super::escape::{push, push_element, push_text};
use super::transcript::{Shown, Transcript, first_line};
use crate::agent::is_from_user;
use crate::agent::session::Body;
use crate::app::humanize::plural;
use crate::llm::Message;

const LINE: usize = 80;
/// Maximum indentation.
const DEEPEST: usize = 8;

pub(super) fn contents(transcript: &Transcript) -> String {
    let entries = &transcript.entries;
    let mut out = String::new();
    let mut on_path = vec![false; entries.len()];
    for at in transcript.path() {
        on_path[at] = true;
    }
    // Picks the child on the current branch, or else the last one.
    let main = |all: &[usize]| {
        all.iter()
            .rposition(|at| on_path[*at])
            .unwrap_or(all.len() - 1)
    };
    let roots: Vec<usize> = (0..entries.len())
        .filter(|at| entries[*at].parent.is_none())
        .collect();
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    let branch = |waiting: &mut Vec<(usize, usize)>, from: &[usize], depth: usize| {
        let main = main(from);
        waiting.push((from[main], depth));
        let sides = from.iter().enumerate().rev().filter(|(at, _)| *at != main);
        waiting.extend(sides.map(|(_, side)| (*side, depth + 1)));
    };
    if !roots.is_empty() {
        branch(&mut waiting, &roots, 0);
    }
    while let Some((first, depth)) = waiting.pop() {
        let begins = entries[first]
            .parent
            .map_or(roots.len(), |it| entries[it].children.len())
            > 1;
        let (mut at, mut count, mut lines) = (first, 1, 0);
        loop {
            if let Some(line) = Line::of(&entries[at]) {
                line.push(&mut out, at, depth);
                lines += 1;
            }
            let [child] = entries[at].children.as_slice() else {
                break;
            };
            at = *child;
            count += 1;
        }
        // A branch without a prompt needs a link too.
        if lines == 0 && begins {
            let text = format!("continues, {}", plural(count, "entry", "entries"));
            let line = Line {
                class: "more",
                text,
                label: None,
            };
            line.push(&mut out, first, depth);
        }
        if !entries[at].children.is_empty() {
            branch(&mut waiting, &entries[at].children, depth);
        }
    }
    out
}

/// The first prompt of the branch that begins with the entry `first`, or an empty string.
pub(super) fn branch_name(entries: &[Shown], first: usize) -> String {
    let mut at = first;
    loop {
        let name = prompt_of(&entries[at]);
        match entries[at].children.as_slice() {
            [child] if name.is_empty() => at = *child,
            _ => return name,
        }
    }
}

/// The beginning of the prompt in `entry`, or an empty string.
fn prompt_of(entry: &Shown) -> String {
    match (entry.message(), &entry.body) {
        (Some(message @ Message::User(user)), _) if is_from_user(user.origin.as_deref()) => {
            first_line(&message.text(), LINE)
        }
        _ => String::new(),
    }
}

struct Line<'a> {
    class: &'static str,
    text: String,
    label: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// The line for an entry, if it gets one.
    fn of(entry: &'a Shown) -> Option<Self> {
        let label = entry.label.as_deref();
        let (class, text) = match (&entry.body, entry.message()) {
            (_, Some(Message::User(_))) if !prompt_of(entry).is_empty() => {
                ("prompt", prompt_of(entry))
            }
            (_, Some(Message::User(user))) if is_from_user(user.origin.as_deref()) => {
                ("prompt", String::from("A picture"))
            }
            (Some(Body::Compaction(_)), _) => ("mark", String::from("Compacted")),
            (Some(Body::BranchSummary(_)), _) => {
                ("mark", String::from("Summary of another branch"))
            }
            _ if label.is_some() => ("mark", String::new()),
            _ => return None,
        };
        Some(Self { class, text, label })
    }

    fn push(&self, out: &mut String, at: usize, depth: usize) {
        let (class, depth) = (self.class, depth.min(DEEPEST));
        push(
            out,
            format_args!("<li class=\"{class} d{depth}\"><a href=\"#e{at}\">"),
        );
        if let Some(label) = self.label {
            push_element(out, "span", "label", label);
            out.push(' ');
        }
        push_text(out, &self.text);
        out.push_str("</a></li>\n");
    }
}
