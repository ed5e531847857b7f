//! What the requests of a session begin with: system prompt and tools, rendered once, stored in the
//! session and the same in every later request.
//!
//! # Append-only
//!
//! Providers cache by prefix, and some models bind their thinking to it. So the prompt is never
//! rendered again for the same conversation: not on another day, not in another release, not with
//! other settings. There is one prompt for each edit format, because models that edit in another
//! way are offered another tool; going back to a model goes back to its prompt.
//!
//! - The entry (`custom`, type `tiller.prompt`) is written before the first request that uses it.
//!   The last entry of its edit format is the one in force.
//! - What changes later is told in a stored message of the user's next turn, whose `origin` is
//!   [`NOTE_ORIGIN`]: the date, the working directory, tools that are gone, and that the user interrupted
//!   the last answer. Instruction files that are new, different or gone are told in the next request.
//! - A tool that is new or takes other arguments needs another tool list, and a prompt that was made
//!   while the files of the user could not be read another prompt. Then, with a prompt of the user and
//!   never inside a run, another entry begins another prefix, and thinking from before it is not sent
//!   ([`SessionPrompt::thinking_from`]). The same happens when a provider refuses the thinking.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::instructions::{self, Instructions, digest, rendered_path};
use super::prompt::SystemPrompt;
use super::surroundings::Surroundings;
use crate::agent::toolbox::Toolbox;
use crate::llm::{Content, EditFormat, Message, Model, StopReason, ToolSpec};

/// The `origin` of messages that tell the model what has changed.
pub const NOTE_ORIGIN: &str = "note";
/// Stands first in the turn after an answer that the user cut off.
const INTERRUPTED: &str = "[interrupted by the user]";
/// How the sentences about what changes begin.
const CHANGES: [&str; 3] = [
    "The date is now ",
    "The working directory is now ",
    "Tools that are no longer available: ",
];
/// Which of them names the working directory.
const PLACE: usize = 1;
/// Stands before an instruction file that is new or has changed.
const INSTRUCTIONS: &str = "[These project instructions are new or have changed:]\n";
/// Stands before the path of an instruction file that is gone.
const INSTRUCTIONS_GONE: &str = "[Project instructions that no longer count: ";
/// How the note begins that tells what git answered after the prompt was made.
const GIT: &str = "The git repository at the beginning of this session:\n";
/// How the note of what may be done without a question begins.
const MODE: &str = "Permission mode: ";
/// How the mode begins in which a model works that was told of none.
const UNTOLD_MODE: &str = "full";
/// In place of an empty list.
const NONE: &str = "none";

/// Tells the date.
pub type Today = Arc<dyn Fn() -> jiff::civil::Date + Send + Sync>;

/// System prompt and tools of a session, for one edit format. Its serde form is the data of the
/// stored entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPrompt {
    /// The models it is for.
    pub edit_format: EditFormat,
    pub date: String,
    pub cwd: String,
    pub system: String,
    /// The instruction files it holds, each with a mark of its text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<String, String>,
    pub tools: Vec<ToolSpec>,
    /// Whether the files of the user could not be read in time: another takes its place when they can.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_files: bool,
    /// How many messages stand before the entry: thinking in them belongs to another prefix.
    #[serde(skip)]
    pub thinking_from: usize,
    /// The models whose provider refused the thinking: how often, and of how many messages.
    #[serde(skip)]
    pub thinking_refused: BTreeMap<String, (u32, usize)>,
}

impl SessionPrompt {
    /// Thinking in the first `messages` messages is not sent.
    pub(in crate::agent) fn leave_thinking_before(&mut self, messages: usize) {
        self.thinking_from = self.thinking_from.max(messages);
    }

    /// The provider of `model`, a full id, refuses the thinking of the first `messages` messages.
    pub(in crate::agent) fn drop_thinking(&mut self, model: &str, messages: usize) {
        let (times, from) = self.thinking_refused.entry(model.to_owned()).or_default();
        (*times, *from) = (*times + 1, messages);
    }

    /// Thinking in the first so many of `messages` messages is not sent to `model`: in none of them where
    /// its provider refused it twice, for it would in every turn.
    pub(in crate::agent) fn sends_thinking_from(&self, model: &Model, messages: usize) -> usize {
        let of = |model: &str| self.thinking_refused.get(model);
        // Older entries name no model and count for all models.
        match of(&model.full_id()).or_else(|| of("")) {
            Some((2.., _)) => messages,
            Some((_, from)) => self.thinking_from.max(*from),
            None => self.thinking_from,
        }
    }

    /// Whether it offers a tool that takes the same arguments.
    fn offers(&self, tool: &ToolSpec) -> bool {
        (self.tools.iter()).any(|it| it.name == tool.name && it.parameters == tool.parameters)
    }
}

/// What a note says of an instruction file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionNote<'a> {
    /// It is new or has changed.
    Read {
        path: &'a str,
        /// The file as the model reads it.
        rendered: &'a str,
    },
    /// It does not count any more.
    Gone { path: &'a str },
}

impl<'a> InstructionNote<'a> {
    /// What the text of a note says, if it is of an instruction file.
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

/// What an agent was started with for its prompts.
#[derive(Clone, Debug)]
pub(in crate::agent) struct PromptOptions {
    /// Replaces the built-in prompt.
    pub base: Option<String>,
    /// Paragraphs at the end.
    pub append: Vec<String>,
    pub cwd: PathBuf,
}

/// The prompts in force, and what the model was told of changes since.
pub(in crate::agent) struct SessionPrompts {
    options: PromptOptions,
    today: Today,
    in_force: Vec<Arc<SessionPrompt>>,
    /// The folder the agent works in now. The prompt still names the session's own, and a note tells the
    /// model of the change.
    pub place: PathBuf,
    /// What the model knows of each of `CHANGES`.
    known: [String; 3],
    /// What may be done without a question, in words; empty where there is nothing to say.
    pub mode: &'static str,
    /// The same as the model knows it.
    known_mode: String,
    /// The marks of the instruction files that the model knows.
    known_instructions: BTreeMap<String, String>,
    /// A prompt was made before git had answered.
    lacks_git: bool,
}

impl SessionPrompts {
    /// The prompts of a conversation that is still to be read.
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

    /// Takes these in place of all before: the conversation is `messages`, with those that are
    /// `stored` in the order of their entries.
    pub fn restore(&mut self, stored: Vec<SessionPrompt>, messages: &[Arc<Message>]) {
        self.in_force.clear();
        // What said so may be gone with what a summary stands for.
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

    /// Begins anew for another conversation that is still to be read.
    pub fn restart(&mut self) {
        let (options, today) = (self.options.clone(), Arc::clone(&self.today));
        let (place, mode) = (self.place.clone(), self.mode);
        *self = Self {
            place,
            mode,
            ..Self::new(options, today)
        };
    }

    pub fn cwd(&self) -> &Path {
        &self.options.cwd
    }

    /// The instruction files that the model knows.
    pub fn known_instructions(&self) -> BTreeSet<String> {
        self.known_instructions.keys().cloned().collect()
    }

    /// The prompt in force for models that edit in `format`.
    pub fn in_force(&self, format: EditFormat) -> Option<&Arc<SessionPrompt>> {
        (self.in_force.iter()).find(|prompt| prompt.edit_format == format)
    }

    /// The prompt that has to be stored before a request to `model` after `messages` messages leaves,
    /// if the one in force does not do. `user_spoke`: the request answers something new of the user.
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
            // Where it is another, that was told with the user's words.
            self.known[PLACE] = self.place.display().to_string();
        }
        Some(prompt)
    }

    /// Whether the prompt in force, if there is one, does not do for these tools, or lacks the files that
    /// one made now `has_files` of.
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

    /// Leaves the thinking of the first `messages` messages out of the requests to `model`. Has to be
    /// stored.
    pub fn drop_thinking(&mut self, model: &Model, messages: usize) {
        let mut prompts = self.in_force.iter_mut();
        if let Some(prompt) = prompts.find(|prompt| prompt.edit_format == model.edit_format) {
            Arc::make_mut(prompt).drop_thinking(&model.full_id(), messages);
        }
    }

    /// What the model is told before the user's next words. `messages` is the conversation.
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

    /// What `model` is told before it continues its work: the instruction files that are new, have
    /// changed or are gone, and what git has answered since the prompt was made.
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

    /// Whether the model does not know the working directory any more.
    pub fn place_is_forgotten(&self) -> bool {
        self.known[PLACE] != self.place.display().to_string()
    }

    /// Names the working directory, where the model does not know it. From then on it does.
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
        // One that is there counts for other models, or no tool looks there any more.
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

    /// Takes in a note that was given before.
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

/// The note that tells the model of `file`, which it knows then.
fn tell(file: &Instructions, known: &mut BTreeMap<String, String>) -> Content {
    let text = file.render();
    known.insert(file.path.clone(), digest(&text));
    Content::text(format!("{INSTRUCTIONS}{text}"))
}

/// Whether the user cut off an answer and has said nothing since.
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
