//! The start of a session's requests: system prompt and tools, rendered once, stored in the session and the
//! same in every later request.
//!
//! # Append-only
//!
//! Providers cache by prefix, and some models bind their thinking to it. So tiller never renders the prompt
//! again for the same conversation, even on another day, in another release or with other settings. There is
//! one prompt for each edit format, because those models get different tools; switching back to a model
//! switches back to its prompt.
//!
//! - The entry (`custom`, type `tiller.prompt`) is written before the first request that uses it. The last
//!   entry of an edit format is the current one.
//! - A stored message in the user's next turn, with `origin` [`NOTE_ORIGIN`], tells the model about later
//!   changes: date, working folder, removed tools, and an answer that the user interrupted. The next request
//!   already reports new, changed and removed instruction files.
//! - A new tool or changed arguments need a new tool list. A prompt rendered while the user's files were
//!   unreadable needs replacing. Then another entry starts a new prefix, at a user prompt and never during a
//!   run, and earlier thinking is no longer sent ([`SessionPrompt::thinking_from`]). The same happens if a
//!   provider rejects the thinking.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::instructions::{self, Instructions, digest, rendered_path};
use super::prompt::SystemPrompt;
use super::surroundings::Surroundings;
use crate::toolbox::Toolbox;
use tiller_llm::{Content, EditFormat, Message, Model, StopReason, ToolSpec};

/// The `origin` of messages that tell the model about changes.
pub const NOTE_ORIGIN: &str = "note";
/// Precedes the user's message after an interrupted answer.
const INTERRUPTED: &str = "[interrupted by the user]";
/// How the sentences about changes begin.
const CHANGES: [&str; 3] = [
    "The date is now ",
    "The working directory is now ",
    "Tools no longer available: ",
];
/// The one that names the working folder.
const PLACE: usize = 1;
/// Precedes a new or changed instruction file.
const INSTRUCTIONS: &str = "[These project instructions are new or have changed:]\n";
/// Precedes the path of a removed instruction file.
const INSTRUCTIONS_GONE: &str = "[Project instructions that no longer count: ";
/// Start of the note with git's answers that arrived after the prompt.
const GIT: &str = "The git repository at the beginning of this session:\n";
/// Start of the note about what needs no question.
const MODE: &str = "Permission mode: ";
/// The mode that a model assumes until a message sets one.
const UNTOLD_MODE: &str = "full";
/// Replaces an empty list.
const NONE: &str = "none";

/// States the date.
pub type Today = Arc<dyn Fn() -> jiff::civil::Date + Send + Sync>;

/// A session's system prompt and tools for one edit format, as stored in the entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPrompt {
    /// The models it is for.
    pub edit_format: EditFormat,
    /// The date in it, as `YYYY-MM-DD`.
    pub date: String,
    /// The working folder in it.
    pub cwd: String,
    /// The text of the system prompt.
    pub system: String,
    /// The instruction files in it, each with a hash of its text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<String, String>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether reading the user's files timed out. A new prompt replaces this one later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_files: bool,
    /// Number of messages before the entry; thinking in them belongs to another prefix.
    #[serde(skip)]
    pub thinking_from: usize,
    /// The models whose provider rejected the thinking: how often, and in how many messages.
    #[serde(skip)]
    pub thinking_refused: BTreeMap<String, (u32, usize)>,
}

impl SessionPrompt {
    /// Omits the thinking in the first `messages` messages.
    pub(crate) fn leave_thinking_before(&mut self, messages: usize) {
        self.thinking_from = self.thinking_from.max(messages);
    }

    /// The provider of `model` (a full id) rejected the thinking in the first `messages` messages.
    pub(crate) fn drop_thinking(&mut self, model: &str, messages: usize) {
        let (times, from) = self.thinking_refused.entry(model.to_owned()).or_default();
        (*times, *from) = (*times + 1, messages);
    }

    /// How many leading messages `model` gets without thinking. All `messages`, if its provider
    /// rejected it twice, because it would on every turn.
    pub(crate) fn sends_thinking_from(&self, model: &Model, messages: usize) -> usize {
        let of = |model: &str| self.thinking_refused.get(model);
        // Older entries name no model and apply to all.
        match of(&model.full_id()).or_else(|| of("")) {
            Some((2.., _)) => messages,
            Some((_, from)) => self.thinking_from.max(*from),
            None => self.thinking_from,
        }
    }

    /// True if it offers a tool with the same arguments.
    fn offers(&self, tool: &ToolSpec) -> bool {
        (self.tools.iter()).any(|it| it.name == tool.name && it.parameters == tool.parameters)
    }
}

/// The kinds of notes about an instruction file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionNote<'a> {
    /// The file is new or changed.
    Read {
        /// The file's path in the note.
        path: &'a str,
        /// The file as the model reads it.
        rendered: &'a str,
    },
    /// It no longer applies.
    Gone {
        /// The file's path in the note.
        path: &'a str,
    },
}

impl<'a> InstructionNote<'a> {
    /// Parses a note about an instruction file.
    pub fn parse(text: &'a str) -> Option<Self> {
        if let Some(path) = text.strip_prefix(INSTRUCTIONS_GONE) {
            let path = path.strip_suffix(']')?;
            return Some(Self::Gone { path });
        }
        let rendered = text.strip_prefix(INSTRUCTIONS)?;
        let path = rendered_path(rendered)?;
        Some(Self::Read { path, rendered })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PromptOptions {
    /// Replaces the built-in prompt.
    pub base: Option<String>,
    /// Paragraphs at the end.
    pub append: Vec<String>,
    pub cwd: PathBuf,
}

/// The current prompts, and the changes already told to the model.
pub(crate) struct SessionPrompts {
    options: PromptOptions,
    today: Today,
    in_force: Vec<Arc<SessionPrompt>>,
    /// The agent's current working folder. The prompt keeps the session's original one, and a note
    /// tells the model about the change.
    pub place: PathBuf,
    /// The model's knowledge of each of `CHANGES`.
    known: [String; 3],
    /// The calls that need no question, in words; may be empty.
    pub mode: &'static str,
    /// The version of it that the model knows.
    known_mode: String,
    /// The hashes of the instruction files that the model knows.
    known_instructions: BTreeMap<String, String>,
    /// A prompt was rendered before git answered.
    lacks_git: bool,
}

impl SessionPrompts {
    /// The prompts of a conversation not read yet.
    pub fn new(options: PromptOptions, today: Today) -> Self {
        Self {
            place: options.cwd.clone(),
            options,
            today,
            in_force: Vec::new(),
            known: [const { String::new() }; 3],
            mode: "",
            known_mode: String::new(),
            known_instructions: BTreeMap::new(),
            lacks_git: false,
        }
    }

    /// Replaces all prompts with those in `stored`, in entry order; the conversation is `messages`.
    pub fn restore(&mut self, stored: Vec<SessionPrompt>, messages: &[Arc<Message>]) {
        self.in_force.clear();
        // Compaction may have removed the note about it.
        self.known_mode.clear();
        for prompt in stored {
            self.put_in_force(prompt);
        }
        for message in messages {
            if let Message::User(user) = message.as_ref()
                && user.origin.as_deref() == Some(NOTE_ORIGIN)
            {
                user.content.iter().for_each(|block| self.recall(block));
            }
        }
    }

    /// Starts over for another conversation not read yet.
    pub fn restart(&mut self) {
        *self = self.unstored();
    }

    /// The same for a conversation not read yet.
    pub fn unstored(&self) -> Self {
        Self {
            place: self.place.clone(),
            mode: self.mode,
            ..Self::new(self.options.clone(), Arc::clone(&self.today))
        }
    }

    pub fn cwd(&self) -> &Path {
        &self.options.cwd
    }

    /// The instruction files that the model knows.
    pub fn known_instructions(&self) -> BTreeSet<String> {
        self.known_instructions.keys().cloned().collect()
    }

    /// The current prompt for models that edit in `format`.
    pub fn in_force(&self, format: EditFormat) -> Option<&Arc<SessionPrompt>> {
        (self.in_force.iter()).find(|prompt| prompt.edit_format == format)
    }

    /// The prompt to store before a request to `model` after `messages` messages, if the current
    /// one won't do. `user_spoke` means that the request answers new user input.
    pub fn begin(
        &mut self,
        surroundings: &Surroundings,
        model: &Model,
        toolbox: &Toolbox,
        messages: usize,
        user_spoke: bool,
    ) -> Option<Arc<SessionPrompt>> {
        let format = model.edit_format;
        let has_files = surroundings.files.is_some();
        if !self.is_due(format, toolbox, user_spoke, has_files) {
            return None;
        }
        let tools = toolbox.specs(format);
        let date = (self.today)();
        let first = self.in_force.is_empty();
        let files = surroundings.instructions(model);
        let PromptOptions { base, append, cwd } = self.options.clone();
        let renderer = SystemPrompt {
            base,
            append,
            cwd,
            environment: surroundings.environment.clone(),
            files: surroundings.files.clone().unwrap_or_default(),
            instructions: instructions::section(files),
        };
        self.lacks_git |= surroundings.environment.git.is_none();
        let prompt = self.put_in_force(SessionPrompt {
            edit_format: format,
            date: date.to_string(),
            cwd: renderer.cwd.display().to_string(),
            system: renderer.render(&tools, format, date),
            instructions: instructions::digests(files),
            tools,
            lacks_files: !has_files,
            thinking_from: messages,
            thinking_refused: BTreeMap::new(),
        });
        if first {
            // A note with the user's message has already reported a change.
            self.known[PLACE] = self.place.display().to_string();
        }
        Some(prompt)
    }

    /// True if the current prompt doesn't match these tools, or lacks files (`has_files`).
    pub fn is_due(
        &self,
        format: EditFormat,
        toolbox: &Toolbox,
        user_spoke: bool,
        has_files: bool,
    ) -> bool {
        let does = |prompt: &Arc<SessionPrompt>| {
            !(prompt.lacks_files && has_files)
                && toolbox.specs(format).iter().all(|tool| prompt.offers(tool))
        };
        let in_force = self.in_force(format);
        !in_force.is_some_and(|prompt| !user_spoke || does(prompt))
    }

    /// Omits the thinking of the first `messages` messages to `model`. The caller stores the result.
    pub fn drop_thinking(&mut self, model: &Model, messages: usize) {
        let mut prompts = self.in_force.iter_mut();
        if let Some(prompt) = prompts.find(|prompt| prompt.edit_format == model.edit_format) {
            Arc::make_mut(prompt).drop_thinking(&model.full_id(), messages);
        }
    }

    /// The note to the model before the user's next message. `messages` is the conversation.
    pub fn notes(
        &mut self,
        surroundings: &Surroundings,
        messages: &[Arc<Message>],
        model: &Model,
        toolbox: &Toolbox,
    ) -> Vec<Content> {
        let format = model.edit_format;
        let mut notes = Vec::new();
        if interrupted(messages) {
            notes.push(Content::text(INTERRUPTED));
        }
        let Some(prompt) = self.in_force(format) else {
            let moved = self.in_force.is_empty() && self.place != self.options.cwd;
            let place = if moved { self.place_forgotten() } else { None };
            notes.extend(place.map(Content::text));
            self.note_mode(&mut notes);
            return notes;
        };
        let specs = toolbox.specs(format);
        let gone = prompt.tools.iter().filter(|tool| {
            let there = |spec: &ToolSpec| spec.name == tool.name;
            !specs.iter().any(there)
        });
        let gone: Vec<&str> = gone.map(|tool| tool.name.as_str()).collect();
        let now = [
            (self.today)().to_string(),
            self.place.display().to_string(),
            if gone.is_empty() {
                NONE.to_owned()
            } else {
                gone.join(", ")
            },
        ];
        for ((start, known), now) in CHANGES.iter().zip(&mut self.known).zip(now) {
            if *known != now {
                notes.push(Content::text(format!("[{start}{now}]")));
                *known = now;
            }
        }
        self.note_mode(&mut notes);
        notes.extend(self.late_notes(surroundings, model));
        notes
    }

    /// The note to `model` before it continues: new, changed and removed instruction files, and
    /// git's answers since the prompt was rendered.
    pub fn late_notes(&mut self, surroundings: &Surroundings, model: &Model) -> Vec<Content> {
        let mut notes = Vec::new();
        if self.in_force(model.edit_format).is_none() {
            return notes;
        }
        if let Some(git) = surroundings.environment.git.as_ref()
            && std::mem::take(&mut self.lacks_git)
            && !git.is_empty()
        {
            notes.push(Content::text(format!("[{GIT}{}]", git.trim_end())));
        }
        self.note_instructions(surroundings, model, &mut notes);
        notes
    }

    /// True if the model no longer knows the working folder.
    pub fn place_is_forgotten(&self) -> bool {
        self.known[PLACE] != self.place.display().to_string()
    }

    /// Names the working folder if the model doesn't know it.
    pub fn place_forgotten(&mut self) -> Option<String> {
        self.place_is_forgotten().then(|| {
            self.known[PLACE] = self.place.display().to_string();
            format!("[{}{}]", CHANGES[PLACE], self.place.display())
        })
    }

    fn note_mode(&mut self, notes: &mut Vec<Content>) {
        let untold = self.known_mode.is_empty() && self.mode.starts_with(UNTOLD_MODE);
        if self.known_mode != self.mode && !untold {
            self.mode.clone_into(&mut self.known_mode);
            notes.push(Content::text(format!("[{MODE}{}]", self.mode)));
        }
    }

    fn note_instructions(
        &mut self,
        surroundings: &Surroundings,
        model: &Model,
        notes: &mut Vec<Content>,
    ) {
        let files = surroundings.instructions(model);
        let now = instructions::digests(files);
        let untrusted = surroundings.untrusted.as_deref();
        // An existing file is for other models, or no tool reads there any more.
        let counts = |path: &String| {
            let is_of = |project| Path::new(path).starts_with(project);
            !surroundings.gone.contains(path) && !untrusted.is_some_and(is_of)
        };
        let gone = |path: &&String| !now.contains_key(*path) && !counts(path);
        let gone: Vec<String> = (self.known_instructions.keys())
            .filter(gone)
            .cloned()
            .collect();
        for path in gone {
            notes.push(Content::text(format!("{INSTRUCTIONS_GONE}{path}]")));
            self.known_instructions.remove(&path);
        }
        for file in files {
            let mark = &now[&file.path];
            if self.known_instructions.get(&file.path) != Some(mark) {
                notes.push(tell(file, &mut self.known_instructions));
            }
        }
    }

    fn put_in_force(&mut self, prompt: SessionPrompt) -> Arc<SessionPrompt> {
        if self.in_force.is_empty() {
            self.known = [prompt.date.clone(), prompt.cwd.clone(), NONE.to_owned()];
            self.known_instructions.clone_from(&prompt.instructions);
        }
        let prompt = Arc::new(prompt);
        self.in_force
            .retain(|other| other.edit_format != prompt.edit_format);
        self.in_force.push(Arc::clone(&prompt));
        prompt
    }

    /// Applies an earlier note.
    fn recall(&mut self, block: &Content) {
        let Content::Text(text) = block else { return };
        match InstructionNote::parse(&text.text) {
            Some(InstructionNote::Read { path, rendered }) => {
                (self.known_instructions).insert(path.to_owned(), digest(rendered));
                return;
            }
            Some(InstructionNote::Gone { path }) => {
                self.known_instructions.remove(path);
                return;
            }
            None => {}
        }
        let Some(note) = (text.text.strip_prefix('[')).and_then(|rest| rest.strip_suffix(']'))
        else {
            return;
        };
        if let Some(mode) = note.strip_prefix(MODE) {
            mode.clone_into(&mut self.known_mode);
        }
        for (start, known) in CHANGES.iter().zip(&mut self.known) {
            if let Some(value) = note.strip_prefix(start) {
                value.clone_into(known);
            }
        }
    }
}

/// The note about `file`; marks it as known.
fn tell(file: &Instructions, known: &mut BTreeMap<String, String>) -> Content {
    let text = file.render();
    known.insert(file.path.clone(), digest(&text));
    Content::text(format!("{INSTRUCTIONS}{text}"))
}

/// True if the user interrupted an answer and hasn't written since.
fn interrupted(messages: &[Arc<Message>]) -> bool {
    let since = messages.iter().rev();
    since
        .take_while(|message| match &***message {
            Message::User(user) if user.origin.as_deref() == Some(NOTE_ORIGIN) => {
                !user.content.iter().any(|block| *block == Content::text(INTERRUPTED))
            }
            message => !matches!(message, Message::User(_)),
        })
        .any(|message| {
            matches!(&**message, Message::Assistant(answer) if answer.stop_reason == StopReason::Aborted)
        })
}
