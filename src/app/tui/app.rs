//! The state of the screen: plain data that only `update` changes and `view` reads.
//!
//! The agent's state is the [`RunState`] it sends; no flags repeat it. Everything that covers the
//! screen is on the overlay stack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratatui_core::layout::Size;

use super::completion::Completion;
use super::composer::{Composer, SavedDraft};
use super::effects::effect::{Direction, Effect};
use super::effects::mention_check::MentionCheck;
use super::keymap::{Chord, Keymap, label};
use super::layout::{Areas, editor_size};
use super::picture::TerminalGraphics;
use super::pointer::Pointer;
use super::popups::{ModelsState, Overlay};
use super::question_strip::QuestionStrip;
use super::rule_draft::RuleDraft;
use super::run_facts::{Proposal, Resume, RunStats};
pub use super::session_info::SessionInfo;
use super::session_switch::SessionSwitch;
use super::shell::ShellRun;
pub use super::start::Start;
use super::terminal::input::KeyPress;
use super::terminal::screen_mode::ScreenMode;
use super::theme::{Theme, ThemeChoice};
use super::timeline::Timeline;
use super::transcript::{Fold, Transcript};
use crate::agent::permission::PermissionMode;
use crate::agent::trial::Trial;
use crate::agent::{
    Budget, Phase, Question, QueueKind, Queued, RunState, SessionWork, TodoDetails,
};
use crate::app::action::{Action, Scope};
use crate::app::commands::{CustomCommand, message_as_typed};
use crate::app::humanize::abbreviate_home;
use crate::app::notify::Notify;
use crate::llm::os_error::plain;
use crate::llm::{Model, ThinkingLevel, Usage};

/// How long a change of the draft may stay unsaved.
const SAVE_DRAFT_MS: i64 = 300;
/// For each this many bytes of draft, saving waits a millisecond longer.
const SAVE_BYTES_A_MS: usize = 4096;

/// How long a hint stays, in milliseconds.
const SAY_MS: i64 = 4000;
/// On screens with at least this many rows, the todo list opens automatically.
const OPEN_TODO_FROM: u16 = 30;

/// Everything the screen shows or remembers.
#[derive(Clone, Debug)]
pub struct App {
    /// The size of the screen.
    pub size: Size,
    /// When the last message came (Unix ms).
    pub(crate) now: i64,
    /// Full screen or inline.
    pub screen: ScreenMode,
    /// The conversation.
    pub transcript: Transcript,
    /// The editor.
    pub composer: Composer,
    /// The completion list, while it's open.
    pub completion: Option<Completion>,
    /// Whether the user closed it, so that it stays closed for this token.
    pub(crate) dismissed: bool,
    pub(crate) custom_commands: Vec<CustomCommand>,
    pub(crate) shell: Option<ShellRun>,
    pub(crate) shells: u32,
    /// Output of the user's commands for the next message.
    pub(crate) told: Vec<String>,
    pub(crate) keymap: Keymap,
    /// The colors.
    pub theme: Theme,
    /// The configured theme.
    pub themes: ThemeChoice,
    /// The overlays, topmost last.
    pub overlays: Vec<Overlay>,
    pub(crate) run: RunState,
    pub(crate) stats: RunStats,
    pub(crate) timeline: Timeline,
    pub(crate) trial: Option<OpenTrial>,
    /// The prompt that starts a run, until it's in the conversation or came back.
    pub(crate) opening: Option<String>,
    /// Queued messages, in sending order.
    pub(crate) queue: Vec<Queued>,
    /// Ids of messages that came back; the session drops them once the draft is on disk.
    pub(crate) returned: Vec<u64>,
    /// How many earlier drafts were restored.
    pub(crate) drafts_taken: usize,
    pub(crate) work: SessionWork,
    /// Whether the todo list is open, if the user chose.
    pub(crate) todo_fold: Option<Fold>,
    /// The todo list when the last prompt was sent.
    pub(crate) todo_before: TodoDetails,
    /// Open questions; the strip shows the first one.
    pub(crate) questions: Vec<Arc<Question>>,
    /// The rule that will answer it, while it's being edited.
    pub(crate) rule: Option<Box<RuleDraft>>,
    pub(crate) strip: QuestionStrip,
    /// When the user started the editor's text (Unix ms); `None` while it's empty.
    pub(crate) text_since: Option<i64>,
    /// Whether the terminal has the focus, if it reports that.
    pub(crate) focused: bool,
    /// How to notify the user of a question without the focus.
    pub notify: Notify,
    /// Whether tiller uses the mouse.
    pub mouse: bool,
    /// How the terminal can show pictures.
    pub graphics: TerminalGraphics,
    /// Whether the terminal is known to tell Shift+Enter from Enter.
    pub tells_keys: bool,
    /// The facts in the status line.
    pub status: Status,
    /// The available models, and those used so far.
    pub models: ModelsState,
    /// When some keys were last pressed, to detect double presses.
    pub(crate) presses: LastPressed,
    /// When to save the draft (Unix ms); `None` if it's saved.
    pub(crate) save_draft_at: Option<i64>,
    /// Whether a connection is ready for the prompt in the editor.
    pub(crate) warmed: bool,
    /// Whether the agent has stopped, so that nothing can be sent.
    pub(crate) agent_gone: bool,
    /// A short-lived hint above the editor.
    pub(crate) hint: Option<Hint>,
    pub(crate) switch: SessionSwitch,
    pub(crate) mentions: MentionCheck,
    /// Why Enter on the empty editor resumes the last run, if it does.
    pub(crate) resume: Option<Resume>,
    /// What the last reply proposes to run.
    pub(crate) proposal: Option<Proposal>,
    /// What to do at the start.
    pub start: Start,
    /// Set while the next key is a character to jump to: the direction, and until when (Unix ms).
    pub(crate) jump: Option<(Direction, i64)>,
    /// The first keys of a chord, and when the last one came (Unix ms).
    pub(crate) chord: (Vec<KeyPress>, i64),
    /// The layout of the last frame.
    pub areas: Areas,
    pub(crate) pointer: Pointer,
}

/// Facts of the status line.
#[derive(Clone, Debug)]
pub struct Status {
    /// The working folder.
    pub cwd: PathBuf,
    /// The user's own folder, while a demo runs in another one.
    pub waiting: Option<PathBuf>,
    /// The user's home, shown as `~`.
    pub home: Option<PathBuf>,
    /// The git branch.
    pub branch: Option<String>,
    /// The number of changed files in the working tree, if known.
    pub changes: Option<usize>,
    /// The session being written, if any.
    pub session: Option<SessionInfo>,
    /// The model of the next call.
    pub model: Arc<Model>,
    /// Its thinking level.
    pub thinking: ThinkingLevel,
    /// The permission mode.
    pub permission: PermissionMode,
    /// Tokens and cost of everything so far.
    pub total: Usage,
    /// The session's budget.
    pub budget: Budget,
    /// Tokens in the context after the last answer.
    pub context: u64,
}

impl Status {
    /// The facts at the start.
    pub fn new(cwd: &Path, model: Model, thinking: ThinkingLevel) -> Self {
        Self {
            cwd: cwd.to_owned(),
            waiting: None,
            home: std::env::home_dir(),
            branch: None,
            changes: None,
            session: None,
            model: Arc::new(model),
            thinking,
            permission: PermissionMode::default(),
            total: Usage::default(),
            budget: Budget::default(),
            context: 0,
        }
    }

    /// The thinking level to send: the nearest one the model supports.
    pub fn level_sent(&self) -> ThinkingLevel {
        self.model.clamp_thinking(self.thinking)
    }

    /// Whether the model is the demo's script.
    pub fn is_demo(&self) -> bool {
        self.model.provider == "demo"
    }

    /// The working folder, abbreviated for the user.
    pub fn place(&self) -> String {
        let home = self.home.as_deref();
        match &self.waiting {
            Some(folder) => format!("demo · not in {}", abbreviate_home(folder, home)),
            None => abbreviate_home(&self.cwd, home),
        }
    }
}

/// A trial as the screen knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTrial {
    pub(crate) trial: Arc<Trial>,
    /// The number of files it has changed, once known.
    pub changed: Option<usize>,
}

/// When some keys were last pressed (Unix ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastPressed {
    /// Enter, if no other key came since.
    pub enter: Option<i64>,
    /// Ctrl+C on the empty editor.
    pub interrupt: Option<i64>,
    /// Esc on the empty editor.
    pub cancel: Option<i64>,
    /// Esc handled by vim.
    pub vim_escape: Option<i64>,
    /// A `?` that opened the help.
    pub help: Option<i64>,
    pub abort: Option<i64>,
    /// The key of the external editor.
    pub edit: Option<i64>,
}

/// A short-lived hint above the editor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hint {
    pub text: String,
    /// When it disappears (Unix ms).
    pub until: i64,
    /// Whether it answers a key, so that it disappears when the user edits on.
    pub answers: bool,
}

impl App {
    /// A new, empty screen.
    pub fn new(size: Size, now: i64, keymap: Keymap, theme: Theme, status: Status) -> Self {
        let (width, rows) = editor_size(size);
        let mut transcript = Transcript::new();
        let key = keymap.label(Action::ToggleCell);
        transcript.set_fold_key(key.map_or_else(String::new, |key| format!("click or {key}")));
        Self {
            size,
            now,
            screen: ScreenMode::default(),
            transcript,
            composer: Composer::new(width, rows),
            completion: None,
            shell: None,
            shells: 0,
            told: Vec::new(),
            dismissed: false,
            custom_commands: Vec::new(),
            keymap,
            theme,
            themes: ThemeChoice::default(),
            overlays: Vec::new(),
            run: RunState::Idle,
            stats: RunStats::default(),
            timeline: Timeline::default(),
            trial: None,
            opening: None,
            queue: Vec::new(),
            returned: Vec::new(),
            drafts_taken: 0,
            work: SessionWork::default(),
            todo_fold: None,
            todo_before: TodoDetails::default(),
            questions: Vec::new(),
            rule: None,
            focused: true,
            notify: Notify::default(),
            mouse: true,
            graphics: TerminalGraphics::default(),
            tells_keys: false,
            strip: QuestionStrip::starting(now),
            text_since: None,
            models: ModelsState::new(Arc::clone(&status.model)),
            status,
            presses: LastPressed::default(),
            save_draft_at: None,
            warmed: false,
            agent_gone: false,
            hint: None,
            switch: SessionSwitch::default(),
            mentions: MentionCheck::default(),
            resume: None,
            proposal: None,
            start: Start::default(),
            jump: None,
            chord: (Vec::new(), now),
            areas: Areas::default(),
            pointer: Pointer::default(),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        match self.overlays.last() {
            Some(top) => top.scope(),
            None => Scope::Everywhere,
        }
    }

    /// The question in the strip, while its list has the focus.
    pub fn asks(&self) -> Option<&Question> {
        let is_empty = self.composer.is_empty() && self.rule.is_none();
        let is_free = is_empty && self.overlays.is_empty();
        self.questions.first().filter(|_| is_free).map(|it| &**it)
    }

    /// Whether the editor's text is the answer: not if it's older than the question, or was queued.
    pub fn text_answers(&self) -> bool {
        let begun = self.text_since.filter(|_| !self.composer.is_message());
        !self.questions.is_empty() && begun.is_some_and(|at| self.strip.is_before(at))
    }

    /// The editor for messages, even while a rule is being edited on the screen.
    pub fn message(&self) -> &Composer {
        let rule = self.rule.as_ref();
        rule.map_or(&self.composer, |rule| &rule.message)
    }

    /// The same, mutable.
    pub fn message_mut(&mut self) -> &mut Composer {
        match &mut self.rule {
            Some(rule) => &mut rule.message,
            None => &mut self.composer,
        }
    }

    /// Whether to open the todo list: the user's choice, or during runs on tall screens.
    pub fn opens_todo(&self, size: Size) -> bool {
        match self.todo_fold {
            Some(fold) => fold == Fold::Open,
            None => size.height >= OPEN_TODO_FROM && self.is_running(),
        }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        let session = self.status.session.as_ref();
        session.is_some_and(|session| session.is_read_only)
    }

    /// Whether the user reads printed rows on the full screen.
    pub fn is_reading(&self) -> bool {
        match self.screen {
            ScreenMode::Full => false,
            ScreenMode::Inline => !self.transcript.is_at_end(),
            ScreenMode::Reading => true,
        }
    }

    pub(crate) fn session_file(&self) -> Option<&Path> {
        let session = self.status.session.as_ref();
        session.map(|session| session.file.as_path())
    }

    /// Whether a run is active, and not just stopping.
    pub fn is_running(&self) -> bool {
        matches!(self.run, RunState::Running { .. })
    }

    pub(crate) fn set_run(&mut self, run: RunState) {
        let phase_changed = match (&self.run, &run) {
            (RunState::Running { phase: old }, RunState::Running { phase: new }) => old != new,
            (old, new) => std::mem::discriminant(old) != std::mem::discriminant(new),
        };
        if phase_changed {
            self.stats.phase_since = self.now;
        }
        if !self.is_running() {
            self.stats.run_since = self.now;
        }
        self.run = run;
    }

    /// Whether a queued message could be delivered now.
    pub fn steering_waits(&self) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|queued| queued.kind == QueueKind::Steering)
    }

    /// Unsent text that no session keeps: the editor, and input for a session that is still
    /// opening. On the first screen also queued messages, if the session isn't stored or is deleted with
    /// its folder.
    pub fn draft(&self) -> SavedDraft {
        let queue = self.queue.iter();
        let waiting = queue.map(|queued| message_as_typed(&queued.content));
        let is_kept = self.status.session.is_some() && !self.status.is_demo();
        let (text, is_message) = self.message().unsent();
        let mut texts = vec![text, self.switch.text()];
        texts.retain(|text| !text.is_empty());
        let shell = self.shell.as_ref();
        let unfinished = shell.and_then(|run| run.unfinished("still running when tiller quit"));
        SavedDraft {
            queue: (self.opening.iter().cloned().chain(waiting))
                .filter(|_| !is_kept && self.start.client == 0)
                .collect(),
            text: texts.join("\n\n"),
            is_message,
            returned: self.returned.clone(),
            taken: self.drafts_taken,
            told: self.told.iter().cloned().chain(unfinished).collect(),
            notice: None,
            session: None,
        }
    }

    /// Schedules saving the draft: soon, but not at every key, and later with a huge paste.
    pub fn draft_changed(&mut self) {
        let weight = (self.message().weight() / SAVE_BYTES_A_MS) as i64;
        self.save_draft_at
            .get_or_insert(self.now + SAVE_DRAFT_MS + weight);
    }

    /// Shows a hint above the editor, long enough to read it. Returns no effects.
    pub fn say(&mut self, text: impl Into<String>) -> Vec<Effect> {
        self.say_for(text, SAY_MS)
    }

    /// Shows a hint above the editor for `millis`, joined to one line.
    pub fn say_for(&mut self, text: impl Into<String>, millis: i64) -> Vec<Effect> {
        let text = plain(text.into());
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        self.hint = Some(Hint {
            text: lines.join(" · "),
            until: self.now + millis,
            answers: false,
        });
        Vec::new()
    }

    /// The key of an action, for hints.
    pub fn key(&self, action: Action) -> String {
        let is_sent = |key: &&Chord| self.tells_keys || !key.needs_modern_terminal();
        let sent = self.keymap.keys(action).find(is_sent);
        let key = sent.or_else(|| self.keymap.keys(action).next());
        key.map_or_else(|| action.spec().name.to_owned(), label)
    }

    /// When something will change without input (Unix ms); `None` when idle.
    pub fn next_wake(&self) -> Option<i64> {
        let hint = self.hint.as_ref().map(|hint| hint.until);
        let demo = self.start.demo.as_ref().map(|(_, at)| *at);
        let next_second = |since: i64| {
            let elapsed = (self.now - since).max(0);
            Some(since + (elapsed / 1000 + 1) * 1000)
        };
        let second = match self.run {
            RunState::Idle => {
                let shell = self.shell.as_ref();
                shell.and_then(|shell| next_second(shell.since))
            }
            // The screen shows the seconds left; none change after the last.
            RunState::Running {
                phase: Phase::Retrying { at, .. },
            } => {
                let left = at - self.now;
                (left > 0).then(|| at - (left - 1) / 1000 * 1000)
            }
            RunState::Running { .. } | RunState::Stopping { .. } => {
                next_second(self.stats.phase_since)
            }
        };
        let overlay = self.overlays.last();
        let overlay = overlay.and_then(|top| top.next_wake(self.now));
        let edge = self.pointer.edge.map(|edge| edge.at);
        let asked = self.asks().is_some() && self.strip.answers.selected().is_some();
        let answer = self.strip.answers.next_wake(self.now).filter(|_| asked);
        [
            edge,
            answer,
            overlay,
            hint,
            demo.filter(|at| *at > 0),
            second,
            self.save_draft_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }
}
