//! The activity line: what runs, for how long, how fast, and how to stop it. From Enter until the
//! prompt is free again, and at no other time, it says that Esc stops.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use crate::agent::{Phase, RunOutcome, RunState, TrialStep};
use crate::app::action::Action;
use crate::app::humanize::{duration, plural, short};
use crate::app::tui::app::{App, OpenTrial};
use crate::app::tui::run_facts::{LastRun, Resume};
use crate::app::tui::text::width::{ellipsis, width};

/// Bytes a token has on average, for a speed before the provider has counted.
const BYTES_PER_TOKEN: f64 = 3.5;

/// Columns below which nothing is said beside what runs.
const LEAST_SAID: usize = 12;

pub fn has_something(app: &App) -> bool {
    app.run != RunState::Idle
        || app.hint.is_some()
        || app.start.demo.is_some()
        || app.resume.is_some()
        || app.trial.is_some()
        || app.start.asks_trust
}

pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let theme = &app.theme;
    let hint = app
        .hint
        .as_ref()
        .map(|hint| StyledLine::of(hint.text.as_str(), theme.warning));
    match &app.run {
        RunState::Running { phase } => {
            let right = hint.unwrap_or_default();
            running(app, phase, &right, area, buffer);
        }
        RunState::Stopping { processes } => {
            let what = match processes {
                0 => "stopping".to_owned(),
                1 => "stopping · 1 process still ends".to_owned(),
                many => format!("stopping · {many} processes still end"),
            };
            let left = StyledLine::of("● ", theme.activity_mark).with(what, theme.activity);
            let kills = offer(app, Action::Interrupt, " kills now");
            StyledLine::draw_both(&left, &hint.unwrap_or(kills), area, buffer);
        }
        RunState::Idle => {
            let offers = app.resume.is_some() || app.trial_asks() || app.start.asks_trust;
            let last = app.stats.last.as_ref().filter(|_| offers || hint.is_some());
            let ended = last.map_or_else(StyledLine::new, |last| ended_line(app, last));
            // What is said for a moment is cut rather than how the run ended.
            let least = last.filter(|_| hint.is_some());
            let least = least.map_or_else(StyledLine::new, |last| {
                StyledLine::of(how_it_ended(last), app.theme.faint)
            });
            let line = hint.unwrap_or_else(|| idle(app, area.width));
            let fits = line.width() + ended.width() + 4 <= usize::from(area.width);
            let right = if fits { ended } else { least };
            StyledLine::draw_both(&line, &right, area, buffer);
        }
    }
}

/// What may be said while nothing runs.
fn idle(app: &App, columns: u16) -> StyledLine {
    let theme = &app.theme;
    if app.start.demo.is_some() {
        return StyledLine::of("The demo begins in a moment · ", theme.activity)
            .with(app.key(Action::Submit), theme.key_hint)
            .with(" starts it now · any other key stays here", theme.activity);
    }
    if let Some(open) = app.trial.as_ref().filter(|_| app.trial_asks()) {
        return trial(app, open);
    }
    if app.resume.is_none() && app.start.asks_trust {
        return trust(app, columns);
    }
    let Some(resume) = app.resume else {
        return app
            .stats
            .last
            .as_ref()
            .map_or_else(StyledLine::new, |last| ended_line(app, last));
    };
    let does = match resume {
        Resume::AtLimit | Resume::Unanswered => " on the empty editor goes on",
        Resume::Failed => " on the empty editor tries again",
        Resume::Planned(_) => " on the empty editor carries the plan out in auto",
        Resume::AtBudget(next) => {
            let does = format!(" on the empty editor goes on, up to {next}");
            return offer(app, Action::Submit, &does);
        }
    };
    offer(app, Action::Submit, does)
}

/// What the trial has changed, and how it ends.
fn trial(app: &App, open: &OpenTrial) -> StyledLine {
    let changed = match open.changed {
        None => String::new(),
        Some(0) => " · no file changed".to_owned(),
        Some(files) => format!(" · {} changed", plural(files as u64, "file", "files")),
    };
    StyledLine::of("◇ ", app.theme.activity_mark)
        .with(format!("trial{changed} · "), app.theme.activity)
        .then(&offer(app, Action::KeepTrial, " keeps"))
        .with(" · ", app.theme.activity)
        .then(&offer(app, Action::DiscardTrial, " discards"))
}

/// That nobody has said yet whether the project is trusted, in as many words as fit.
fn trust(app: &App, columns: u16) -> StyledLine {
    let theme = &app.theme;
    let line = |[what, takes, never]: [&str; 3]| {
        StyledLine::of(what, theme.activity)
            .with(" · ", theme.activity)
            .with("/trust", theme.key_hint)
            .with(takes, theme.activity)
            .with(" · ", theme.activity)
            .with("/trust no", theme.key_hint)
            .with(never, theme.activity)
    };
    let long = [
        "This folder is not trusted",
        " takes in what it brings",
        " never asks again",
    ];
    let long = line(long);
    if long.width() <= usize::from(columns) {
        long
    } else {
        line(["Not trusted", "", ""])
    }
}

/// A key and what it does.
fn offer(app: &App, action: Action, does: &str) -> StyledLine {
    StyledLine::of(app.key(action), app.theme.key_hint).with(does, app.theme.activity)
}

/// What is left to say of the run before.
fn ended_line(app: &App, last: &LastRun) -> StyledLine {
    let mut text = how_it_ended(last).to_owned();
    if last.millis >= 1000 {
        let after = match last.outcome {
            RunOutcome::Done => "in",
            _ => "after",
        };
        text = format!("{text} {after} {}", duration(last.millis / 1000));
    }
    if last.output > 0 {
        text = format!("{text} · ↓{}", short(last.output));
    }
    StyledLine::of(text, app.theme.faint)
}

fn how_it_ended(last: &LastRun) -> &'static str {
    match last.outcome {
        RunOutcome::Done => "✓ done",
        RunOutcome::Truncated => "! cut at the output limit",
        RunOutcome::Aborted => "⊘ stopped",
        RunOutcome::Failed { .. } => "✗ failed",
        RunOutcome::LimitReached { .. } => "! at the limit",
        RunOutcome::BudgetReached(_) => "! at the budget",
    }
}

fn running(app: &App, phase: &Phase, right: &StyledLine, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let columns = usize::from(area.width.saturating_sub(2));
    // Esc leaves the rule first.
    let stop = match app.rule {
        Some(_) => offer(app, Action::Interrupt, " stops"),
        None => offer(app, Action::Cancel, " stops"),
    };
    let (what, extra) = describe(app, phase);
    // Parts in the order they are given up: the last first.
    let mark = 2;
    let room = columns.saturating_sub(mark + stop.width() + 3);
    let mut left = StyledLine::of("● ", theme.activity_mark);
    if room > 0 {
        left.push(ellipsis(&what, room), theme.activity);
        let used = left.width() - mark;
        let left_over = room.saturating_sub(used + 3);
        let extra = extra.filter(|_| right.width() == 0);
        if let Some(extra) = extra.filter(|extra| width(extra) <= left_over || left_over >= 16) {
            left.push(
                format!(" · {}", ellipsis(&extra, left_over)),
                theme.activity,
            );
        }
        left.push(" · ", theme.activity);
    }
    left = left.then(&stop);
    let hurry = match phase {
        Phase::Retrying { .. } => Some((Action::Submit, " retries now")),
        _ if app.steering_waits() => Some((Action::SteerNow, " steers now")),
        _ => None,
    };
    if let Some((action, does)) = hurry {
        let offer = offer(app, action, does);
        if left.width() + offer.width() + 3 + right.width() + 2 <= columns {
            left.push(" · ", theme.activity);
            left = left.then(&offer);
        }
    }
    StyledLine::draw_both(&left, &StyledLine::new(), area, buffer);
    // What runs and how to stop it is never cut for what is said beside it.
    let rest = columns.saturating_sub(left.width() + 2);
    if rest >= LEAST_SAID.min(right.width()) {
        let said = right.width().min(rest) as u16;
        right.draw(buffer, area.right() - 1 - said, area.y, said);
    }
}

/// What runs, with its time, and something to add where there is room.
fn describe(app: &App, phase: &Phase) -> (String, Option<String>) {
    let seconds = (app.now - app.stats.phase_since).max(0) / 1000;
    let for_seconds = |what: &str| match seconds {
        0 => what.to_owned(),
        _ => format!("{what} {}", duration(seconds)),
    };
    match phase {
        Phase::Requesting => (for_seconds("waiting for the model"), None),
        Phase::Streaming => (for_seconds("writing"), speed(app)),
        Phase::Tools(names) => (for_seconds(&tools(names)), speed(app)),
        Phase::Retrying {
            attempt,
            max_attempts,
            at,
            reason,
        } => {
            let left = ((at - app.now).max(0) + 999) / 1000;
            let what = format!("retry {attempt}/{max_attempts} in {}", duration(left));
            (what, Some(reason.clone()))
        }
        Phase::Compacting => (for_seconds("summarising the conversation"), None),
        Phase::Trial(step) => {
            let what = match step {
                TrialStep::Begin => "copying the files for the trial",
                TrialStep::Keep => "taking the changes over",
                TrialStep::Discard => "removing the trial's files",
            };
            (for_seconds(what), None)
        }
        Phase::Asking => (for_seconds("waiting for your answer"), None),
    }
}

fn tools(names: &[String]) -> String {
    match names {
        [] => "tools".to_owned(),
        [name] => name.clone(),
        [first, rest @ ..] if rest.iter().all(|name| name == first) => {
            format!("{first} ×{}", names.len())
        }
        _ => names.join(", "),
    }
}

/// How fast the answer comes; while tools run, how fast it came.
fn speed(app: &App) -> Option<String> {
    let until = match app.run {
        RunState::Running {
            phase: Phase::Tools(_),
        } => app.stats.last_token,
        _ => app.now,
    };
    let millis = until - app.stats.first_token?;
    // Too early to tell.
    if millis < 1000 {
        return None;
    }
    let tokens = app.stats.bytes as f64 / BYTES_PER_TOKEN;
    Some(format!("{:.0} tok/s", tokens * 1000.0 / millis as f64))
}
