//! Trials: `/try`, keeping and discarding. Only commands end a trial, never a key.

use std::sync::Arc;

use super::refusal::{is_busy, is_gone, is_read_only};
use crate::agent::trial::Trial;
use crate::agent::{NoticeLevel, Phase, QueueKind, Queued, RunState, TrialEvent, TrialStep};
use crate::app::host::kept_trial;
use crate::app::humanize::{abbreviate_home, shell_word};
use crate::app::tui::app::{App, OpenTrial};
use crate::app::tui::effects::effect::{Effect, TrialEffect};
use crate::llm::Content;

/// `/try`, `/keep` and `/discard`.
pub fn begin(app: &mut App, argument: &str) -> Vec<Effect> {
    if is_gone(app) || is_read_only(app) || is_busy(app) {
        app.composer.set(&command(argument));
        return Vec::new();
    }
    if argument.is_empty() {
        app.composer.set(&command(argument));
        return app.say("Usage: /try PROMPT");
    }
    for notice in app.start.told_in(app.session_file()) {
        app.transcript.push_notice(NoticeLevel::Info, notice);
    }
    app.start.forget_notices();
    app.resume = None;
    app.set_run(RunState::Running {
        phase: Phase::Trial(TrialStep::Begin),
    });
    app.opening = Some(command(argument));
    let prompt = vec![Content::text(argument)];
    vec![Effect::Trial(TrialEffect::Begin(prompt))]
}

pub fn event(app: &mut App, event: &TrialEvent) -> Vec<Effect> {
    match event {
        TrialEvent::Open(trial) => {
            if app.trial.as_ref().is_some_and(|open| open.trial == *trial) {
                return Vec::new();
            }
            let text = format!(
                "Trial open: tiller works in a copy, {}\n\
                 {root} stays unchanged until you /keep the trial\n\
                 Your own ! commands still run in {root}",
                shown(app, &trial.tree),
                root = shown(app, &trial.root),
            );
            app.transcript.push_notice(NoticeLevel::Info, text);
            app.trial = Some(OpenTrial {
                trial: Arc::clone(trial),
                changed: None,
            });
            vec![Effect::Trial(TrialEffect::CountChanges(Arc::clone(trial)))]
        }
        TrialEvent::Kept(kept) => {
            let root = app.trial.as_ref().map(|open| shown(app, &open.trial.root));
            let text = kept_trial(kept, root.as_deref());
            app.transcript.push_notice(NoticeLevel::Info, text);
            closed(app)
        }
        TrialEvent::Discarded => {
            let text = "Trial discarded; conversation and files are back to where it began";
            app.transcript.push_notice(NoticeLevel::Info, text);
            closed(app)
        }
    }
}

/// Another session replaces the one with the trial.
pub fn left(app: &mut App) {
    if app.trial.take().is_some() {
        let text = "The previous session's trial stays open; /resume to go back to it";
        app.transcript.push_notice(NoticeLevel::Info, text);
    }
}

pub fn counted(app: &mut App, trial: &Arc<Trial>, changes: Option<usize>) {
    if let Some(open) = &mut app.trial
        && open.trial == *trial
    {
        open.changed = changes;
    }
}

/// Trials of deleted sessions, which no command can end.
pub fn abandoned(app: &mut App, trials: &[Trial]) {
    for trial in trials {
        let text = format!(
            "A deleted session left a trial; its files are in {tree}\n\
             To delete them: git -C {root} worktree remove --force {tree}; rm -r {folder}",
            tree = shell_word(&trial.tree),
            root = shell_word(&trial.root),
            folder = shell_word(&trial.folder),
        );
        app.transcript.push_notice(NoticeLevel::Info, text);
    }
}

/// The `/try` command for text that came back because the trial didn't start.
pub fn given_back(app: &App, messages: &[Queued], text: &str) -> Option<String> {
    let is_one = messages.iter().any(|it| it.kind == QueueKind::Trial);
    (is_one && app.trial.is_none()).then(|| command(text))
}

fn command(prompt: &str) -> String {
    format!("/try {prompt}")
}

fn closed(app: &mut App) -> Vec<Effect> {
    app.trial = None;
    vec![Effect::ReadGit]
}

fn shown(app: &App, path: &std::path::Path) -> String {
    abbreviate_home(path, app.status.home.as_deref())
}
