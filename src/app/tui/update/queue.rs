//! Sending: right away, as steering, or queued. Also starting the first prompt and the demo.

use super::refusal::is_gone;
use super::{mentions, models, permission, questions, sessions, shell};
use crate::agent::permission::PermissionMode;
use crate::agent::{NoticeLevel, Phase, QueueKind, RunState, TodoDetails};
use crate::app::action::Action;
use crate::app::attachments::typed_text;
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect, TrialEffect};
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::popups::{login, opening};
use crate::app::tui::run_facts::Resume;
use crate::app::tui::transcript::ScrollBy;
use crate::llm::Content;
use crate::llm::message::{Text, content_text};

/// A second Enter within this many milliseconds is taken for a slip.
const SLIP_MS: i64 = 250;
/// How long the hint about the missing key stays, in milliseconds.
const KEPT_MS: i64 = 10_000;
/// The message that makes the model run its plan.
const CARRY_OUT: &str = "Carry out the plan.";
/// How long the demo waits for a user who'd rather type, in milliseconds.
const DEMO_WAIT_MS: i64 = 10_000;
/// How long it waits if the user asked for it.
const ASKED_DEMO_WAIT_MS: i64 = 1000;

pub fn start(app: &mut App) -> Vec<Effect> {
    let session = app.status.session.as_ref();
    let draft = session.map(|session| Effect::LoadDraft(session.file.clone()));
    let mut effects = Vec::from_iter(draft);
    effects.extend([
        Effect::LoadHistory,
        Effect::ReadGit,
        Effect::Trial(TrialEffect::FindAbandoned),
    ]);
    if app.themes.wanted == "system" {
        effects.push(Effect::Terminal(TerminalEffect::QueryColors));
    }
    if let Some((_, due)) = &mut app.start.demo {
        let wait = if app.start.demo_asked {
            ASKED_DEMO_WAIT_MS
        } else {
            DEMO_WAIT_MS
        };
        *due = app.now + wait;
    }
    if std::mem::take(&mut app.start.resume) {
        effects.extend(sessions::act(app, Action::Resume, ""));
    }
    let mut prompt = std::mem::take(&mut app.start.prompt);
    let refused = app.start.refused.take();
    // The prompt was meant for the session that didn't open, or this session takes none.
    if !prompt.is_empty() && (refused.is_some() || app.is_read_only()) {
        app.composer
            .set_message(&content_text(&std::mem::take(&mut prompt)));
    }
    if let Some(refused) = refused {
        opening::ask(app, &refused);
    }
    if !prompt.is_empty() {
        app.start.demo = None;
        effects.extend(send(app, prompt));
    } else if app.transcript.is_empty() && app.status.session.is_some() {
        effects.push(Effect::Session(SessionEffect::ReadRecent));
    }
    effects
}

pub fn start_demo_when_due(app: &mut App) -> Vec<Effect> {
    let now = app.now;
    match app.start.demo.take_if(|(_, due)| *due > 0 && *due <= now) {
        Some((prompt, _)) => send(app, vec![Content::text(prompt)]),
        None => Vec::new(),
    }
}

/// Whether this Enter comes right after the one before, with no key between.
pub fn follows_at_once(app: &App) -> bool {
    let last = app.presses.enter;
    last.is_some_and(|last| app.now - last < SLIP_MS)
}

/// Notes an Enter, and returns whether it was a slip; see [`follows_at_once`].
pub fn is_slip(app: &mut App) -> bool {
    let is_slip = follows_at_once(app);
    app.presses.enter = Some(app.now);
    is_slip
}

/// Enter, Alt+Enter or Ctrl+Enter on text that isn't a command.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if is_blank(app) {
        if is_gone(app) || app.is_read_only() {
            return Vec::new();
        }
        if app.start.must_choose && !app.transcript.is_empty() {
            return ask_for_model(app);
        }
        return match action {
            Action::FollowUp => Vec::new(),
            _ => go_on(app, action == Action::SteerNow),
        };
    }
    if let Some(effects) = hinder(app) {
        return effects;
    }
    if action == Action::Submit
        && let Some(effects) = questions::answer_in_words(app, take)
    {
        return effects;
    }
    if let Some(check) = mentions::check(app, action) {
        return vec![check];
    }
    let content = vec![Content::Text(take(app))];
    let content = shell::along(app, content);
    match action {
        Action::FollowUp => send_or_wait(app, content),
        Action::SteerNow if app.is_running() => vec![
            Effect::Queue(QueueKind::Steering, content),
            Effect::SteerNow,
        ],
        _ => send(app, content),
    }
}

/// Asks the user for what is missing to send a message, if anything is. The text stays in the editor.
fn hinder(app: &mut App) -> Option<Vec<Effect>> {
    if is_gone(app) {
        return Some(Vec::new());
    }
    if app.is_read_only() {
        opening::ask_to_write(app);
        return Some(Vec::new());
    }
    if app.status.is_demo() && !app.start.demo_asked && !app.is_running() {
        // Without a model the prompt stays in the editor, even across the restart with the key.
        app.say_for(
            "Add an API key to send this; your prompt stays here",
            KEPT_MS,
        );
        return Some(login::open(app, ""));
    }
    app.start.must_choose.then(|| ask_for_model(app))
}

/// Sends the prompt of a command like a typed message. If that isn't possible, the command as typed returns to
/// the editor, unless the user types already.
pub fn send_for(app: &mut App, typed: &str, prompt: String) -> Vec<Effect> {
    if let Some(effects) = hinder(app) {
        if app.composer.is_empty() {
            app.composer.set(typed);
        }
        return effects;
    }
    let content = shell::along(app, vec![Content::text(prompt)]);
    send_or_wait(app, content)
}

/// Sends a message now, or queues it until the current run is done.
pub fn send_or_wait(app: &mut App, content: Vec<Content>) -> Vec<Effect> {
    if is_gone(app) {
        Vec::new()
    } else if app.is_running() {
        vec![Effect::Queue(QueueKind::FollowUp, content)]
    } else {
        send(app, content)
    }
}

/// Alt+Up.
pub fn take_back(app: &mut App) -> Vec<Effect> {
    if app.queue.is_empty() {
        Vec::new()
    } else {
        vec![Effect::TakeBack(None)]
    }
}

/// Enter on the empty editor: delivers queued messages, retries at once, resumes after a limit or a
/// failure, or runs a plan. Runs that the screen doesn't offer start only if `meant`.
fn go_on(app: &mut App, meant: bool) -> Vec<Effect> {
    if app.is_running() {
        return if app.steering_waits() || app.run.is_retrying() {
            vec![Effect::SteerNow]
        } else {
            Vec::new()
        };
    }
    let now = app.now;
    let takes_enter = |resume: &mut Resume| match resume {
        Resume::Planned(delay) => delay.is_over(now),
        Resume::Unanswered => meant,
        _ => true,
    };
    let Some(resume) = app.resume.take_if(takes_enter) else {
        if app.queue.is_empty() || !meant {
            let is_plan = app.status.permission == PermissionMode::Plan;
            if is_plan && app.resume.is_none() && !app.transcript.is_empty() {
                let key = app.key(Action::NextPermissionMode);
                app.say_for(
                    format!(
                        "No plan to run: the reply has no heading “Plan”. {key} changes the mode"
                    ),
                    5000,
                );
            }
            return sessions::go_on_with_recent(app);
        }
        app.set_run(RunState::Running {
            phase: Phase::Requesting,
        });
        return vec![Effect::GoOn];
    };
    match resume {
        Resume::Planned(_) => return carry_out(app),
        Resume::Listed => {
            app.resume = Some(Resume::Planned(AnswerDelay::starting(now)));
            return app.say_for("Steps, but no heading “Plan”. Enter again runs them", 5000);
        }
        _ => {}
    }
    app.set_run(RunState::Running {
        phase: Phase::Requesting,
    });
    match resume {
        Resume::AtBudget(_) => vec![Effect::RaiseBudget, Effect::GoOn],
        _ => vec![Effect::GoOn],
    }
}

fn carry_out(app: &mut App) -> Vec<Effect> {
    permission::show(app, PermissionMode::Auto);
    let mut effects = vec![Effect::SetPermission(PermissionMode::Auto)];
    effects.extend(send(app, vec![Content::text(CARRY_OUT)]));
    effects
}

/// Opens the list of models, because the prompt must not go to one that the user never chose.
fn ask_for_model(app: &mut App) -> Vec<Effect> {
    app.say_for(
        "Choose a model to send this; your prompt stays here",
        KEPT_MS,
    );
    models::act(app, Action::Models, "")
}

/// Sends a message; the agent decides whether it starts a run or steers the current one.
pub fn send(app: &mut App, content: Vec<Content>) -> Vec<Effect> {
    if app.start.must_choose {
        if is_blank(app) {
            app.composer.set_message(&content_text(&content));
        }
        return ask_for_model(app);
    }
    app.transcript.scroll(ScrollBy::End);
    if !app.is_running() {
        for notice in app.start.told_in(app.session_file()) {
            app.transcript.push_notice(NoticeLevel::Info, notice);
        }
        app.start.forget_notices();
        // Shown before the agent confirms it; the agent's own record replaces it.
        app.transcript.push_prompt(&content);
        app.screen = app.screen.closed();
        app.resume = None;
        app.proposal = None;
        app.start.recent = None;
        if app.work.todo.is_done() || app.work.todo == app.todo_before {
            // The todo list belongs to earlier work.
            app.work.todo = TodoDetails::default();
        }
        app.todo_before = app.work.todo.clone();
        app.set_run(RunState::Running {
            phase: Phase::Requesting,
        });
        app.opening = Some(typed_text(&content));
    }
    vec![Effect::Prompt(content)]
}

/// Takes the text to send. Removes one slash of a typed `//word`, which only marks it as a message.
fn take(app: &mut App) -> Text {
    app.hint = None;
    let is_message = app.composer.is_message();
    let mut pastes = app.composer.pastes();
    let mut text = app.composer.take();
    let at = text.len() - text.trim_start().len();
    let is_typed = pastes.first().is_none_or(|it| it.start as usize > at);
    let word = text[at..]
        .strip_prefix("//")
        .filter(|_| is_typed && !is_message);
    if word.is_some_and(|word| word.starts_with(char::is_alphanumeric)) {
        text.remove(at);
        for paste in &mut pastes {
            *paste = paste.start - 1..paste.end - 1;
        }
    }
    Text {
        text,
        pastes,
        ..Text::default()
    }
}

fn is_blank(app: &App) -> bool {
    app.composer.is_empty() || app.composer.text().trim().is_empty()
}
