//! Applies the agent's events to the transcript, the queue, the activity and status lines.

use std::sync::Arc;

use super::plan::proposal;
use super::{permission, questions, sessions, tree, trials};
use crate::agent::session::{HistoryFacts, SessionBranch};
use crate::agent::tool::Details;
use crate::agent::{
    AgentEvent, CompactionOutcome, Event, NoticeLevel, Phase, QueueKind, RunOutcome, RunState,
    Snapshot, ToolStatus,
};
use crate::app::action::Action;
use crate::app::attachments::{as_command_block, typed_text};
use crate::app::commands::message_as_typed;
use crate::app::notify::Notify;
use crate::app::sessions::title_of;
use crate::app::tui::app::{App, SessionInfo, Status};
use crate::app::tui::effects::effect::{Effect, TerminalEffect, TrialEffect};
use crate::app::tui::popups::{Overlay, sessions as list};
use crate::app::tui::run_facts::Resume;
use crate::app::tui::terminal::screen_mode::ScreenMode;
use crate::app::tui::timeline::Timeline;
use crate::app::tui::transcript::{CellClass, Transcript};
use crate::llm::{AssistantMessage, Message, StopReason, StreamEvent};

/// How long a refusal stays on the screen, in milliseconds.
const REFUSAL_MS: i64 = 6000;

pub fn event(app: &mut App, event: &Event) -> Vec<Effect> {
    app.transcript.apply(&event.kind, event.time);
    app.timeline.apply(&event.kind, event.time);
    match &event.kind {
        AgentEvent::State(run) => {
            let ran = app.is_running();
            app.set_run(run.clone());
            if *run == RunState::Idle {
                app.opening = None;
            }
            let is_done = ran && *run == RunState::Idle;
            if is_done && !app.focused && app.notify != Notify::Off {
                let call = TerminalEffect::Notify(app.notify, "tiller is done");
                return vec![Effect::Terminal(call)];
            }
        }
        AgentEvent::MessageUpdate { event } => begin_streaming(app, event),
        AgentEvent::MessageStart { message } if matches!(**message, Message::User(_)) => {
            app.opening = None;
        }
        AgentEvent::MessageEnd { message } => {
            if let (Message::User(user), Some(session)) = (&**message, &mut app.status.session)
                && session.title.is_empty()
                && user.origin.is_none()
            {
                session.title = title_of(&message.text());
            }
            if let Message::Assistant(message) = &**message {
                account(&mut app.status, message);
            }
        }
        AgentEvent::QueueUpdate {
            steering,
            follow_up,
        } => {
            app.queue = [steering.as_slice(), follow_up].concat();
            // tiller ended before the trial began, so only the user can start it again.
            let trials = (app.queue.iter()).filter(|it| it.kind == QueueKind::Trial);
            let is_own = app.start.client == 0;
            return (trials.filter(|_| is_own))
                .map(|trial| Effect::TakeBack(Some(trial.id)))
                .collect();
        }
        AgentEvent::Budget(budget) => {
            app.status.budget = *budget;
            // Enter would raise the old budget; with a new one, it only resumes.
            if let Some(Resume::AtBudget(_)) = app.resume {
                app.resume = Some(Resume::AtLimit);
            }
        }
        AgentEvent::SessionNamed(name) => {
            if let Some(session) = &mut app.status.session {
                session.name.clone_from(name);
            }
        }
        AgentEvent::Notice { level, text } if *level == NoticeLevel::Refusal => {
            app.say_for(text.as_str(), REFUSAL_MS);
        }
        AgentEvent::FilesUndone { direction, files } => app.work.undone(*direction, files),
        AgentEvent::PermissionMode(mode) => permission::show(app, *mode),
        AgentEvent::Questions { open } => return questions::set(app, open),
        AgentEvent::QueueReturned { to, .. } if *to != app.start.client => {}
        AgentEvent::QueueReturned { messages, .. } => {
            app.opening = None;
            let texts: Vec<String> = messages
                .iter()
                .map(|message| message_as_typed(&message.content))
                .collect();
            let blocks = messages.iter().flat_map(|message| &message.content);
            app.told.extend(blocks.filter_map(as_command_block));
            let text = texts.join("\n\n");
            // Joined with other messages, `/init` is no longer a command.
            let is_init = matches!(&messages[..], [only] if typed_text(&only.content) != text);
            let init = || is_init.then(|| text.clone());
            match trials::given_back(app, messages, &text).or_else(init) {
                Some(command) => app.message_mut().prepend(&command),
                None if text.is_empty() => {}
                None => app.message_mut().prepend_message(&text),
            }
            // The session keeps these messages until the draft is saved.
            app.returned.extend(messages.iter().map(|it| it.id));
            app.save_draft_at = Some(app.now);
        }
        AgentEvent::SessionOpened {
            facts,
            branch,
            path,
            name,
            first_prompt,
            read_only,
        } => {
            reopened(app, branch, facts);
            let same = app.session_file() == path.as_deref();
            if !same {
                trials::left(app);
            }
            sessions::follow(app, path.as_deref());
            app.status.session = path.clone().map(|file| SessionInfo {
                name: name.clone(),
                title: title_of(first_prompt.as_deref().unwrap_or_default()),
                is_read_only: *read_only,
                file,
            });
            app.resume = app.resume.filter(|_| !*read_only);
            app.start.recent = None;
            app.timeline = Timeline::default();
            app.overlays
                .retain(|it| !matches!(it, Overlay::Opening(_)) && (same || !it.is_of_session()));
            let mut effects = sessions::take_text_along(app);
            effects.extend(list::refresh(app));
            return effects;
        }
        AgentEvent::CompactionEnd {
            outcome:
                CompactionOutcome::Done {
                    tokens_after,
                    usage,
                    ..
                },
            ..
        } => {
            app.status.context = *tokens_after;
            app.status.total.add(usage);
        }
        AgentEvent::Spent { usage, .. } => app.status.total.add(usage),
        AgentEvent::Moved {
            facts,
            branch,
            prompt,
            to,
        } => {
            show(app, branch, facts);
            app.timeline = Timeline::default();
            let is_own = *to == app.start.client;
            tree::moved(app, prompt.as_deref().filter(|_| is_own));
            app.resume = app.resume.filter(|_| prompt.is_none());
        }
        AgentEvent::Trial(event) => return trials::event(app, event),
        AgentEvent::ModelChanged { model, thinking } => {
            app.status.model = model.clone();
            app.models.use_now(model);
            app.status.thinking = *thinking;
        }
        AgentEvent::AgentEnd {
            outcome, messages, ..
        } => {
            app.proposal = proposal(messages.end()).filter(|_| *outcome == RunOutcome::Done);
            app.resume = match outcome {
                RunOutcome::LimitReached { .. } => Some(Resume::AtLimit),
                RunOutcome::BudgetReached(reached) => Some(Resume::AtBudget(reached.next)),
                // Not for a refused prompt: it was dropped, so a retry would send nothing new.
                RunOutcome::Failed { .. } if messages.is_settled() => None,
                RunOutcome::Failed { .. } => Some(Resume::Failed),
                RunOutcome::Aborted if app.run.is_retrying() => Some(Resume::Stopped),
                RunOutcome::Aborted | RunOutcome::Done | RunOutcome::Truncated => None,
            };
            permission::offer_plan(app);
        }
        AgentEvent::TurnEnd { .. } if app.transcript.asks_for_branch() => {
            return vec![Effect::ReadEntries(app.transcript.generation())];
        }
        AgentEvent::ToolEnd {
            status, details, ..
        } => {
            if *status == ToolStatus::Ok {
                app.work.note(details);
            }
            if matches!(**details, Details::Diff(_) | Details::Command(_)) {
                return vec![Effect::ReadGit];
            }
        }
        // A command may have switched git branches.
        AgentEvent::AgentSettled { .. } => {
            let count = app.trial.as_ref().map(|open| Arc::clone(&open.trial));
            let effects = [Effect::ReadGit].into_iter();
            return effects
                .chain(count.map(TrialEffect::CountChanges).map(Effect::Trial))
                .collect();
        }
        _ => {}
    }
    Vec::new()
}

/// Rebuilds the screen from `snapshot` after the screen was stuck so long that it missed events.
pub fn resubscribed(app: &mut App, snapshot: &Snapshot) -> Vec<Effect> {
    let effects = joined(app, snapshot);
    app.transcript.push_notice(
        NoticeLevel::Warning,
        "The terminal was stuck for some seconds; tiller reloaded the conversation.",
    );
    effects
}

/// Shows the agent's current state.
pub fn joined(app: &mut App, snapshot: &Snapshot) -> Vec<Effect> {
    let folds =
        [CellClass::Tool, CellClass::Thinking].map(|class| (class, app.transcript.fold_of(class)));
    let branch = Arc::clone(&snapshot.branch);
    let transcript = match app.screen {
        ScreenMode::Full => Transcript::of_branch(branch),
        _ => app.transcript.anew(branch),
    };
    show_transcript(app, transcript, &snapshot.facts);
    for (class, fold) in folds {
        app.transcript.set_all(class, fold);
    }
    app.queue = [&snapshot.steering[..], &snapshot.follow_up].concat();
    app.set_run(snapshot.state.clone());
    (app.resume, app.proposal) = (None, None);
    if snapshot.state != RunState::Idle {
        app.transcript.reopen_calls(app.now);
    } else if !snapshot.session.read_only {
        offer_to_continue(app, &snapshot.facts);
    }
    let open = snapshot.questions.clone();
    app.transcript
        .apply(&AgentEvent::Questions { open }, app.now);
    questions::set(app, &snapshot.questions)
}

/// Shows a session that was just opened. If its run was cut off, says so: Enter continues it.
pub(crate) fn reopened(app: &mut App, branch: &Arc<SessionBranch>, facts: &HistoryFacts) {
    show(app, branch, facts);
    if let Some(Resume::Unanswered) = app.resume {
        app.resume = Some(Resume::CutOff);
        let text = "The run was cut off before the model's answer";
        app.transcript.push_notice(NoticeLevel::Warning, text);
    }
}

fn show(app: &mut App, branch: &Arc<SessionBranch>, facts: &HistoryFacts) {
    show_transcript(app, Transcript::of_branch(Arc::clone(branch)), facts);
    offer_to_continue(app, facts);
}

/// Decides what Enter on the empty editor does: retry, continue, or run the plan.
fn offer_to_continue(app: &mut App, facts: &HistoryFacts) {
    let resume = if facts.has_failed() {
        Resume::Failed
    } else {
        Resume::Unanswered
    };
    app.resume = facts.is_cut_off().then_some(resume);
    app.proposal = proposal(&facts.last);
    permission::offer_plan(app);
}

fn show_transcript(app: &mut App, transcript: Transcript, facts: &HistoryFacts) {
    let replaced = app.transcript.replace(transcript);
    if app.screen != ScreenMode::Full {
        app.transcript.print_before(replaced);
    }
    app.screen = app.screen.closed();
    app.status.total = facts.usage.clone();
    app.status.context = facts.context_tokens;
    app.work.clone_from(&facts.work);
}

pub fn gone(app: &mut App) -> Vec<Effect> {
    app.agent_gone = true;
    let effects = questions::set(app, &[]);
    app.set_run(RunState::Idle);
    let leave = app.key(Action::Interrupt);
    app.transcript.push_notice(
        NoticeLevel::Error,
        format!(
            "The agent has stopped: you can't send anything.\n\
             Press {leave} to quit and start tiller again; your unsent text will be back."
        ),
    );
    effects
}

/// Switches to "streaming" at the first token, before the agent's own state arrives.
fn begin_streaming(app: &mut App, event: &StreamEvent) {
    let is_token = matches!(event, StreamEvent::BlockDelta { .. });
    match &mut app.run {
        RunState::Running { phase } if is_token && *phase == Phase::Requesting => {
            *phase = Phase::Streaming;
        }
        _ => {}
    }
}

fn account(status: &mut Status, message: &AssistantMessage) {
    let usage = &message.usage;
    status.total.add(usage);
    let whole = !matches!(message.stop_reason, StopReason::Error | StopReason::Aborted);
    if whole && usage.context_tokens() > 0 {
        status.context = usage.context_tokens();
    }
}
