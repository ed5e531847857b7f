//! The conversation with its session file and its subscribers. Nothing reaches a subscriber before
//! it is stored. Decides nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::subscribers::Subscribers;
use super::view::View;
use crate::event::{AgentEvent, CompactionOutcome, NoticeLevel, Queued, RunOutcome, now_ms};
use crate::memory::compaction::{Carried, Pruned, Window, overhead, size};
use crate::memory::{InstructionSources, NOTE_ORIGIN, PlaceLook, SessionPrompts, Surroundings};
use crate::runner::{LOOP_GUARD_ORIGIN, Opening, Summary};
use crate::session::entry::{Compaction, ContextEdit, Replacement};
use crate::session::{
    Body, History, HistoryFacts, NodeId, Presence, PresenceRecord, RunMessages, SaveNotice,
    Session, SessionBranch, SessionState, end_of,
};
use crate::toolbox::Toolbox;
use crate::{RunCounter, RunTotals};
use tiller_llm::handoff::{CONTINUE_PROMPT, ends_with_answer};
use tiller_llm::{Content, Message, Model, ThinkingLevel};

pub(super) struct Conversation {
    /// The messages of the current run, or of the last one.
    pub(super) said: Vec<NodeId>,
    /// The part that the model reads.
    view: View,
    /// Session facts available without loading its messages, except for its usage.
    pub(super) facts: HistoryFacts,
    /// The beginning of the requests.
    pub prompts: SessionPrompts,
    pub instructions: InstructionSources,
    /// `true` if a first prompt waits for git, because no user is waiting for an answer.
    pub waits_for_git: bool,
    look: Option<PlaceLook>,
    /// The surroundings as the current run found them.
    surroundings: Option<Surroundings>,
    pub subscribers: Subscribers,
    /// The notices about skipped files that the user has seen.
    told_faults: BTreeSet<String>,
    pub(super) session: Session,
    counter: RunCounter,
    /// The session's record for other programs.
    presence: Option<Presence>,
    /// The socket for messages from other programs.
    socket: Option<PathBuf>,
}

impl Conversation {
    pub fn new(session: Session, prompts: SessionPrompts, facts: HistoryFacts) -> Self {
        Self {
            said: Vec::new(),
            view: View::default(),
            facts,
            prompts,
            instructions: InstructionSources::default(),
            waits_for_git: true,
            look: None,
            surroundings: None,
            subscribers: Subscribers::default(),
            told_faults: BTreeSet::new(),
            session,
            counter: RunCounter::default(),
            presence: None,
            socket: None,
        }
    }

    /// Switches to another session, which uses `model` next. Returns the previous session.
    pub fn open(&mut self, session: Session, facts: HistoryFacts, model: &Model) -> Session {
        self.restart(facts.clone());
        self.presence = None;
        let before = std::mem::replace(&mut self.session, session);
        self.appear(model);
        self.subscribers.send(AgentEvent::SessionOpened {
            facts: Arc::new(facts),
            branch: self.branch(),
            path: self.session.path().map(Path::to_owned),
            name: self.session.tree().name().map(str::to_owned),
            first_prompt: self.session.first_prompt(),
            read_only: self.session.is_read_only(),
        });
        before
    }

    pub fn branch(&self) -> Arc<SessionBranch> {
        Arc::new(self.session.branch())
    }

    pub fn restart(&mut self, facts: HistoryFacts) {
        self.look = None;
        self.prompts.restart();
        self.view = View::default();
        self.facts = facts;
    }

    pub fn facts(&self) -> HistoryFacts {
        HistoryFacts {
            usage: self.session.usage().clone(),
            ..self.facts.clone()
        }
    }

    /// Frees what can be reloaded from the session when a run needs it.
    pub fn rest(&mut self) {
        if self.session.path().is_some() {
            self.view.rest(&self.session);
        }
    }

    pub(super) fn view(&mut self) -> &mut History {
        self.view.read(&self.session, &mut self.prompts)
    }

    /// Makes the session visible to other programs: idle, with `model` as its next model.
    pub fn appear(&mut self, model: &Model) {
        let session = &self.session;
        let (Some(root), Some(path)) = (session.root(), session.path()) else {
            return;
        };
        let record = PresenceRecord {
            id: session.id().to_owned(),
            state: SessionState::Idle,
            since: now_ms(),
            pid: std::process::id(),
            cwd: session.header().cwd.clone(),
            model: model.full_id(),
            path: path.to_owned(),
            socket: self.socket.clone(),
        };
        match Presence::open(root, record) {
            Ok(presence) => self.presence = Some(presence),
            Err(error) => tracing::warn!("other programs cannot see this session: {error}"),
        }
    }

    /// Announces the `socket` for messages from other programs, or that there is none.
    pub fn listening(&mut self, socket: Option<PathBuf>) {
        self.socket.clone_from(&socket);
        if let Some(presence) = &mut self.presence {
            presence.set_socket(socket);
        }
    }

    pub fn show(&mut self, state: SessionState) {
        if let Some(presence) = &mut self.presence {
            presence.set_state(state);
        }
    }

    /// Sends an event that isn't stored.
    pub fn send(&mut self, event: AgentEvent) {
        self.subscribers.send(event);
    }

    /// Stores an event's content, then sends the event.
    pub fn publish(&mut self, event: AgentEvent) {
        self.take_in(&event);
        self.subscribers.send(event);
    }

    /// Stores a call's result, then sends that the call has `ended`, and the result.
    pub fn publish_result(&mut self, ended: AgentEvent, result: Arc<Message>) {
        let message = Arc::clone(&result);
        let said = AgentEvent::MessageEnd { message };
        self.take_in(&said);
        self.publish(ended);
        self.subscribers
            .send(AgentEvent::MessageStart { message: result });
        self.subscribers.send(said);
    }

    fn take_in(&mut self, event: &AgentEvent) {
        self.counter.count(event, now_ms());
        match event {
            AgentEvent::MessageEnd { message } => {
                self.facts.add(message);
                self.store(Body::Message {
                    message: Arc::clone(message),
                });
                if let Some(node) = self.session.tree().leaf() {
                    self.said.push(node);
                    self.view.push(node, message, &self.session);
                }
            }
            _ => {
                if let AgentEvent::AgentEnd { outcome, .. } = event {
                    self.facts.stopped = *outcome == RunOutcome::Aborted;
                }
                for body in Body::of_event(event) {
                    self.store(body);
                }
            }
        }
    }

    /// Counts the files that a turn of this run has changed.
    pub fn count_files(&mut self, files: u64) {
        self.counter.count_files(files);
    }

    pub fn totals(&self) -> RunTotals {
        self.counter.totals(now_ms())
    }

    pub fn run_messages(&self) -> RunMessages {
        self.session.run_messages(&self.said, &self.facts.last)
    }

    /// Stores and sends a message that is complete from the start.
    pub fn publish_whole(&mut self, message: Arc<Message>) {
        self.subscribers.send(AgentEvent::MessageStart {
            message: Arc::clone(&message),
        });
        self.publish(AgentEvent::MessageEnd { message });
    }

    /// Adds the user's messages, preceded by what `model` must be told. When this returns, there is
    /// something to answer, and the prompt for the next call is in effect.
    pub fn deliver(
        &mut self,
        due: Vec<Queued>,
        advice: Option<String>,
        model: &Model,
        toolbox: &Toolbox,
    ) {
        let user_spoke = !due.is_empty();
        let view = self.view.read(&self.session, &mut self.prompts);
        let silent = !user_spoke && ends_with_answer(&view.messages, model);
        let mut notes = Vec::new();
        if let Some(surroundings) = &mut self.surroundings {
            surroundings.environment.git = self.look.as_ref().and_then(PlaceLook::git);
            notes = if user_spoke || silent {
                (self.prompts).notes(surroundings, &view.messages, model, toolbox)
            } else {
                self.prompts.late_notes(surroundings, model)
            };
        }
        notes.extend(silent.then(|| Content::text(CONTINUE_PROMPT)));
        self.tell_model(notes, NOTE_ORIGIN);
        if let Some(text) = advice {
            self.tell_model(vec![Content::text(text)], LOOP_GUARD_ORIGIN);
        }
        for queued in due {
            self.say(queued.content, queued.origin, Some(queued.id));
        }
        self.begin_prompt(model, toolbox, user_spoke);
    }

    /// Starts to examine the surroundings, unless that has been done.
    pub fn look(&mut self) -> &PlaceLook {
        let sources = &self.instructions;
        let known = self.look.take().filter(|look| look.is_of(sources));
        self.look.insert(known.unwrap_or_else(|| {
            let cwd = self.prompts.cwd().to_path_buf();
            PlaceLook::begin(cwd, sources.clone(), self.waits_for_git)
        }))
    }

    /// Prepares for a message that the user has begun to type. A new system prompt must describe the
    /// surroundings as they are now.
    pub fn warm(&mut self, model: &Model) {
        if self.prompts.in_force(model.edit_format).is_none() {
            self.look = None;
        }
        self.look();
    }

    /// Returns what a run that starts with `model` needs.
    pub fn opening(&mut self, model: &Arc<Model>, toolbox: &Arc<Toolbox>) -> Opening {
        self.tell_of_damage();
        let (messages, folders) = self.view.look_at(&self.session, &mut self.prompts);
        let begins = (self.prompts).is_due(model.edit_format, toolbox, true, true);
        Opening {
            model: Arc::clone(model),
            waits_for_git: begins && self.waits_for_git,
            look: self.look().clone(),
            messages,
            folders,
            known: self.prompts.known_instructions(),
            instructions: self.instructions.clone(),
            toolbox: Arc::clone(toolbox),
        }
    }

    /// Records the surroundings. Tells the user once about each file that `model` won't see.
    pub fn set_surroundings(&mut self, found: Surroundings, model: &Model) {
        for fault in found.faults(model) {
            if self.told_faults.insert(fault.clone()) {
                self.notice(NoticeLevel::Warning, format!("Not loaded: {fault}"));
            }
        }
        self.surroundings = Some(found);
    }

    /// Starts a new system prompt for a call of `model`, if due. A run has reported the place.
    pub fn begin_prompt(&mut self, model: &Model, toolbox: &Toolbox, user_spoke: bool) {
        let messages = self.view().messages.len();
        let begun = self.surroundings.as_ref().and_then(|surroundings| {
            (self.prompts).begin(surroundings, model, toolbox, messages, user_spoke)
        });
        if let Some(prompt) = begun {
            self.store(Body::prompt(&prompt));
        }
    }

    pub fn for_model(&mut self) -> &[Arc<Message>] {
        &self.view().messages
    }

    /// Replaces everything before the kept messages with `summary`, for a model with this window.
    /// The replaced messages stay in the session.
    pub fn compact(&mut self, summary: Summary, model: &Model, window: &Window) {
        let view = self.view.read(&self.session, &mut self.prompts);
        let Some(first_kept) = view.nodes.get(summary.kept_from) else {
            return;
        };
        let usage = summary.usage;
        let first_kept_entry_id = self.session.tree().id(*first_kept).to_owned();
        let before = self.session.last_compaction();
        let before = before.and_then(|compaction| compaction.details);
        let (replaced, kept) = view.messages.split_at(summary.kept_from);
        let mut carried = Carried::of(before.as_ref(), replaced, Some(summary.changed));
        carried.fit(window.summary());
        let text = carried.append_to(&summary.text, window.summary());
        let prompt = self.prompts.in_force(model.edit_format);
        let stands_for = [Arc::new(Message::user(&*text, 0))];
        let tokens_after = prompt.map_or(0, |prompt| overhead(prompt))
            + size(&stands_for, 0)
            + size(kept, kept.len());
        self.store(Body::Compaction(Compaction {
            summary: text.clone(),
            first_kept_entry_id: first_kept_entry_id.clone(),
            tokens_before: summary.tokens_before,
            details: Some(carried.details(tokens_after)),
            usage: Some(usage.clone()),
        }));
        self.read_view();
        self.facts.context_tokens = tokens_after;
        self.publish(AgentEvent::CompactionEnd {
            reason: summary.reason,
            outcome: CompactionOutcome::Done {
                summary: text,
                first_kept_entry_id,
                tokens_before: summary.tokens_before,
                tokens_after,
                usage,
            },
        });
    }

    /// Leaves these contents out of what the model reads. They stay in the session.
    pub fn prune(&mut self, pruned: Vec<Pruned>) {
        for Pruned { at, content } in pruned {
            let Some(node) = self.view().nodes.get(at).copied() else {
                continue;
            };
            let target_id = self.session.tree().id(node).to_owned();
            let replacement = content.map(|content| Replacement { content });
            self.store(Body::ContextEdit(ContextEdit {
                target_id,
                replacement,
            }));
        }
        self.read_view();
        let messages = &self.view().messages;
        // Messages left out no longer need an answer.
        self.facts.last = messages[end_of(messages)..].to_vec();
    }

    /// Reloads what the model reads, so that a reopened session continues from the same bytes.
    fn read_view(&mut self) {
        self.view = View::default();
        self.tell_of_damage();
    }

    /// Tells the user if entries that were read before are now unreadable: the model gets less of the
    /// conversation than before.
    fn tell_of_damage(&mut self) {
        let damaged = self.view().damaged;
        let before = std::mem::replace(&mut self.facts.damaged, damaged);
        if damaged > before {
            let path = self.session.path().unwrap_or(Path::new("")).display();
            let text = format!(
                "Unreadable entries in this session: {}. The model won't see them\nThe file was changed \
                 or is damaged: {path}",
                damaged - before
            );
            self.notice(NoticeLevel::Error, text);
        }
    }

    /// Stops sending the earlier thinking to `model`.
    pub fn drop_thinking(&mut self, model: &Model) {
        let messages = self.view().messages.len();
        self.prompts.drop_thinking(model, messages);
        self.store(Body::thinking_from(model));
    }

    /// Puts the next entry below `target`.
    pub(super) fn go_to(&mut self, target: Option<NodeId>) {
        let notice = self.session.go_to(target);
        self.report(notice);
    }

    pub fn store_model(&mut self, model: &Model, thinking: ThinkingLevel) {
        if let Some(presence) = &mut self.presence {
            presence.set_model(model.full_id());
        }
        let notice = self.session.set_model(model, thinking);
        self.report(notice);
    }

    pub fn on_dropped(&mut self, dropped: usize) {
        if dropped > 0 {
            let text = "An event reader stalled for 5 s and was disconnected";
            tracing::warn!("{text}");
            self.notice(NoticeLevel::Warning, text);
        }
    }

    /// Names the session. An empty name removes it.
    pub fn name(&mut self, name: String) {
        let named = Some(name.clone()).filter(|name| !name.is_empty());
        self.store(Body::SessionInfo { name });
        self.subscribers.send(AgentEvent::SessionNamed(named));
    }

    /// Tells the user why a command can't be done now.
    pub fn refuse(&mut self, why: &str) {
        self.notice(NoticeLevel::Refusal, why);
    }

    pub fn notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        let text = text.into();
        self.subscribers.send(AgentEvent::Notice { level, text });
    }

    /// Retries writing unsaved entries. Returns how many remain, and why.
    pub fn save(&mut self) -> Option<(usize, String)> {
        let (notice, unsaved) = self.session.save();
        self.report(notice);
        unsaved
    }

    /// Waits until everything is on disk. Reports it if that fails.
    pub async fn close(&mut self) -> SaveNotice {
        self.presence = None;
        let notice = self.session.close().await;
        self.report(notice.clone());
        notice
    }

    pub(super) fn store(&mut self, body: Body) {
        let notice = self.session.append(body);
        self.report(notice);
    }

    pub(super) fn report(&mut self, notice: SaveNotice) {
        if let Some((level, text)) = notice {
            self.notice(level, text);
        }
    }
}
