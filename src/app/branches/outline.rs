//! A short text for every entry of a session, built in one pass over the file. Lists search and
//! filter it on every key.

use std::sync::Arc;

use crate::agent::session::{Body, NodeId, SUMMARY_ORIGIN, SessionView};
use crate::agent::{ToolStatus, is_from_user};
use crate::app::humanize::short;
use crate::llm::message::content_text;
use crate::llm::{AssistantMessage, Content, Message, StopReason, ToolResultMessage};

/// Most bytes of a text to keep.
const KEPT: usize = 400;
/// Most bytes of a result, or of a call's arguments, to keep.
const KEPT_RESULT: usize = 120;

/// All entries of a session, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    entries: Vec<OutlineEntry>,
    here: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineEntry {
    pub id: String,
    pub parent: Option<usize>,
    pub kind: EntryKind,
    /// When it was written (Unix ms), if known.
    pub time: Option<i64>,
    pub text: String,
    pub label: Option<String>,
    pub is_on_path: bool,
    /// On the last of several consecutive calls: their subjects, or the number of calls per tool.
    pub calls: Option<String>,
    /// The calls of an answer: tool name and subject.
    asked: Vec<(String, String)>,
    /// Text and label in lower case, for searching.
    haystack: String,
}

/// The kind of an entry, as users see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    Prompt,
    Note,
    /// An answer with text, or a failed one.
    Answer,
    /// An answer with tool calls only.
    Calls,
    Result,
    /// A summary that replaces the entries before it.
    Compaction,
    Summary,
    #[default]
    State,
}

/// Which entries to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Messages, with consecutive calls merged.
    #[default]
    Default,
    /// Messages without calls.
    NoTools,
    Prompts,
    Labelled,
    /// Everything in the file.
    All,
}

impl Filter {
    pub const EACH: [Self; 5] = [
        Self::Default,
        Self::NoTools,
        Self::Prompts,
        Self::Labelled,
        Self::All,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::NoTools => "no tools",
            Self::Prompts => "prompts",
            Self::Labelled => "labelled",
            Self::All => "all",
        }
    }
}

impl Outline {
    /// Reads every entry of `session`.
    pub fn of(session: &SessionView) -> Self {
        let tree = session.tree();
        let mut entries: Vec<OutlineEntry> = Vec::with_capacity(tree.nodes().len());
        for node in tree.nodes() {
            entries.push(OutlineEntry {
                id: tree.id(node).to_owned(),
                parent: tree.node(node).parent.map(NodeId::index),
                label: tree.label(node).map(str::to_owned),
                ..read(session, node)
            });
        }
        for node in tree
            .leaf()
            .into_iter()
            .flat_map(|leaf| tree.ancestors(leaf))
        {
            entries[node.index()].is_on_path = true;
        }
        count_calls(&mut entries);
        for entry in &mut entries {
            entry.haystack = haystack(entry);
        }
        Self {
            entries,
            here: tree.leaf().map(NodeId::index),
        }
    }

    /// The entries. Their index here identifies them.
    pub fn entries(&self) -> &[OutlineEntry] {
        &self.entries
    }

    pub(crate) fn here(&self) -> Option<usize> {
        self.here
    }

    pub(crate) fn shows(&self, entry: usize, filter: Filter) -> bool {
        let entry = &self.entries[entry];
        let said = match entry.kind {
            EntryKind::Prompt | EntryKind::Answer | EntryKind::Compaction | EntryKind::Summary => {
                true
            }
            EntryKind::Calls | EntryKind::Result => {
                filter == Filter::Default && entry.calls.is_some()
            }
            EntryKind::Note | EntryKind::State => false,
        };
        match filter {
            Filter::All => true,
            Filter::Labelled => entry.label.is_some(),
            Filter::Prompts => entry.kind == EntryKind::Prompt,
            Filter::Default | Filter::NoTools => said || entry.label.is_some(),
        }
    }

    /// True if an entry contains all of `words`, which are in lower case.
    pub fn holds(&self, entry: usize, words: &[String]) -> bool {
        let haystack = &self.entries[entry].haystack;
        words.iter().all(|word| haystack.contains(word.as_str()))
    }

    /// Sets or removes an entry's label.
    pub fn set_label(&mut self, entry: usize, label: Option<String>) {
        let entry = &mut self.entries[entry];
        entry.label = label;
        entry.haystack = haystack(entry);
    }
}

impl OutlineEntry {
    fn new(kind: EntryKind, text: String) -> Self {
        Self {
            kind,
            text,
            ..Self::default()
        }
    }

    pub fn shown(&self) -> &str {
        self.calls.as_deref().unwrap_or(&self.text)
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, EntryKind::Calls | EntryKind::Result)
    }
}

fn haystack(entry: &OutlineEntry) -> String {
    let label = entry.label.as_deref().unwrap_or_default();
    format!("{}\n{label}", entry.text).to_lowercase()
}

fn read(session: &SessionView, node: NodeId) -> OutlineEntry {
    let Ok(stored) = session.entry(node) else {
        return OutlineEntry::new(EntryKind::State, "(unreadable)".into());
    };
    let time = stored.timestamp.parse::<jiff::Timestamp>();
    let mut entry = match stored.body {
        Some(body) => entry_of(&body),
        None => OutlineEntry::new(EntryKind::State, String::new()),
    };
    entry.time = time.ok().map(jiff::Timestamp::as_millisecond);
    entry
}

fn entry_of(body: &Body) -> OutlineEntry {
    let (kind, text) = match body {
        Body::Message { message } => return of_message(message),
        Body::CustomMessage(custom) => (EntryKind::Note, content_text(&custom.content)),
        Body::Compaction(compaction) => {
            let before = short(compaction.tokens_before);
            let text = format!("Compacted from {before} tokens\n{}", compaction.summary);
            (EntryKind::Compaction, text)
        }
        Body::BranchSummary(summary) => {
            let text = format!("Summary of another branch\n{}", summary.summary);
            (EntryKind::Summary, text)
        }
        Body::ModelChange(change) => {
            let text = format!("model {}/{}", change.provider, change.model_id);
            (EntryKind::State, text)
        }
        Body::ThinkingLevelChange { thinking_level } => {
            (EntryKind::State, format!("thinking {thinking_level}"))
        }
        Body::ContextEdit(edit) => (EntryKind::State, format!("edit of {}", edit.target_id)),
        Body::Usage(entry) => (EntryKind::State, format!("usage {}", entry.kind)),
        Body::Custom { custom_type, .. } => (EntryKind::State, custom_type.to_string()),
        Body::Label { target_id, label } => {
            let label = label.as_deref().unwrap_or("none");
            (EntryKind::State, format!("label {label} of {target_id}"))
        }
        Body::SessionInfo { name } => (EntryKind::State, format!("name {name}")),
    };
    OutlineEntry::new(kind, kept(&text, KEPT))
}

fn of_message(message: &Arc<Message>) -> OutlineEntry {
    match &**message {
        Message::User(user) => {
            let kind = match user.origin.as_deref() {
                origin if is_from_user(origin) => EntryKind::Prompt,
                Some(SUMMARY_ORIGIN) => EntryKind::Summary,
                _ => EntryKind::Note,
            };
            let mut text = content_text(&user.content);
            let images = user.content.iter();
            if text.is_empty() && images.clone().any(|it| matches!(it, Content::Image(_))) {
                text.push_str("(picture)");
            }
            OutlineEntry::new(kind, kept(&text, KEPT))
        }
        Message::Assistant(answer) => of_answer(answer),
        Message::ToolResult(result) => OutlineEntry::new(EntryKind::Result, of_result(result)),
    }
}

fn of_answer(answer: &AssistantMessage) -> OutlineEntry {
    let asked: Vec<(String, String)> = answer
        .tool_calls()
        .map(|call| (call.name.clone(), subject(&call.arguments)))
        .collect();
    let text = content_text(&answer.content);
    let text = text.trim();
    let failed = match answer.stop_reason {
        StopReason::Error => Some(answer.error_message.as_deref().unwrap_or("no reason given")),
        StopReason::Aborted => Some("stopped"),
        _ => None,
    };
    let (kind, text) = match (text.is_empty(), failed) {
        (false, _) => (EntryKind::Answer, kept(text, KEPT)),
        (true, Some(reason)) => (EntryKind::Answer, kept(&format!("({reason})"), KEPT)),
        (true, None) if asked.is_empty() => (EntryKind::Answer, String::new()),
        (true, None) => {
            let calls = asked.iter().map(|(name, about)| format!("{name} {about}"));
            let calls: Vec<String> = calls.collect();
            (EntryKind::Calls, kept(&calls.join(" · "), KEPT))
        }
    };
    OutlineEntry {
        asked,
        ..OutlineEntry::new(kind, text)
    }
}

/// The subject of a call: its first text argument.
fn subject(arguments: &serde_json::Value) -> String {
    let text = match arguments {
        serde_json::Value::Object(object) => {
            let mut texts = object.values().filter_map(serde_json::Value::as_str);
            texts.next().unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    };
    kept(text.lines().next().unwrap_or_default(), KEPT_RESULT)
}

fn of_result(result: &ToolResultMessage) -> String {
    let ended = match ToolStatus::of(result) {
        ToolStatus::Ok => "",
        ToolStatus::Error => " failed",
        ToolStatus::Skipped => " skipped",
        ToolStatus::Cancelled => " stopped",
    };
    let text = content_text(&result.content);
    let text = match ended {
        // Its first line says the same to the model.
        " skipped" | " stopped" => text.split_once('\n').map_or("", |(_, rest)| rest),
        _ => &text,
    };
    format!(
        "{}{ended}\n{}",
        result.tool_name,
        kept(text.trim(), KEPT_RESULT)
    )
}

fn kept(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}

/// Gives the last of several consecutive calls their count. tiller's own entries between them don't
/// end the row; a branch does.
fn count_calls(entries: &mut [OutlineEntry]) {
    // The nearest message above.
    let mut above: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    let (mut calls, mut others) = (vec![0_u32; entries.len()], vec![0_u32; entries.len()]);
    for (at, entry) in entries.iter().enumerate() {
        let is_state = |at: usize| matches!(entries[at].kind, EntryKind::State | EntryKind::Note);
        let mut up = entry.parent;
        while let Some(parent) = up.filter(|parent| is_state(*parent)) {
            // Entries earlier in the file already know their nearest message.
            up = match above.get(parent) {
                Some(above) => *above,
                None => entries[parent].parent,
            };
        }
        above.push(up);
        match up {
            Some(parent) if entry.is_call() => calls[parent] += 1,
            Some(parent) if !is_state(at) => others[parent] += 1,
            _ => {}
        }
    }
    let ends = |at: usize| calls[at] != 1 || others[at] > 0;
    for at in 0..entries.len() {
        if !entries[at].is_call() || !ends(at) {
            continue;
        }
        let mut counts: Vec<(String, usize)> = Vec::new();
        let mut asked: Vec<&(String, String)> = Vec::new();
        let mut next = Some(at);
        while let Some(now) = next {
            // The answer above the calls made the first one.
            asked.extend(&entries[now].asked);
            if !entries[now].is_call() || (now != at && ends(now)) {
                break;
            }
            if entries[now].kind == EntryKind::Result {
                let name = entries[now].text.split(['\n', ' ']).next();
                let name = name.unwrap_or_default();
                match counts.iter_mut().find(|(known, _)| known == name) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((name.to_owned(), 1)),
                }
            }
            next = above[now];
        }
        let about = |name: &str| asked.iter().find(|(tool, _)| tool == name);
        let named = counts
            .iter()
            .rev()
            .map(|(name, count)| match (count, about(name)) {
                (1, Some((_, about))) => format!("{name} {about}").trim_end().to_owned(),
                (1, None) => name.clone(),
                (count, _) => format!("{count} {name}"),
            });
        let named: Vec<String> = named.collect();
        entries[at].calls = Some(if named.is_empty() {
            entries[at].text.clone()
        } else {
            named.join(" · ")
        });
    }
}
