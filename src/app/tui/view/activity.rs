//! The activity line: what is running, for how long, and how to stop it. It names the stop key from
//! Enter until the prompt is free again, and at no other time.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};

use super::line::StyledLine;
use super::transcript::subject_of;
use crate::agent::tool::Details;
use crate::agent::{Phase, RunState, TrialStep};
use crate::app::action::Action;
use crate::app::humanize::{duration, plural};
use crate::app::sanitize::visible_line;
use crate::app::tui::app::{App, OpenTrial};
use crate::app::tui::composer::VimMode;
use crate::app::tui::run_facts::Resume;
use crate::app::tui::text::width::{ellipsis, width};
use crate::app::tui::transcript::{ToolCell, headings};

const GAP: &str = "   ";

/// A run longer than this also shows its total time (ms).
const LONG_RUN_MS: i64 = 60_000;
/// Minimum columns for the text on the right.
const LEAST_SAID: usize = 12;

/// Returns the rows needed: one if there is something to show, more for a long hint while idle.
pub fn rows_wanted(app: &App, size: Size) -> u16 {
    let is_idle = app.run == RunState::Idle && app.shell.is_none();
    let hint = app.hint.as_ref().filter(|_| is_idle);
    let rows = hint.map_or(1, |hint| said(app, &hint.text, size.width).len() as u16);
    let most = (size.height / 8).max(3).min(size.height / 3);
    rows.clamp(1, most.max(1)) * u16::from(has_something(app))
}

fn said(app: &App, text: &str, columns: u16) -> Vec<StyledLine> {
    let columns = usize::from(columns.saturating_sub(2)).max(1);
    StyledLine::wrapped(text, app.theme.warning, columns)
}

fn has_something(app: &App) -> bool {
    app.run != RunState::Idle
        || app.shell.is_some()
        || app.hint.is_some()
        || app.start.demo.is_some()
        || app.resume.is_some()
        || !app.queue.is_empty()
        || app.trial.is_some()
        || app.start.asks_trust
}

pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let theme = &app.theme;
    let hint = app.hint.as_ref().map(|hint| hint.text.as_str());
    let hint = hint.map(|text| StyledLine::of(text, theme.warning));
    match &app.run {
        RunState::Running { phase } => {
            let right = hint.unwrap_or_default();
            running(app, phase, &right, area, buffer);
        }
        RunState::Stopping { processes } => {
            let what = match processes {
                0 => "stopping".to_owned(),
                1 => "stopping · waiting for 1 process".to_owned(),
                many => format!("stopping · waiting for {many} processes"),
            };
            let left = StyledLine::of("● ", theme.activity_mark).with(what, theme.activity);
            let kills = offer(app, Action::Interrupt, " kills now");
            StyledLine::draw_both(&left, &hint.unwrap_or(kills), area, buffer);
        }
        RunState::Idle if app.shell.is_some() => {
            StyledLine::draw_both(&shell(app, area), &hint.unwrap_or_default(), area, buffer);
        }
        RunState::Idle => {
            let mut lines = match &app.hint {
                Some(hint) => said(app, &hint.text, area.width),
                None => vec![idle(app, area.width)],
            };
            // The last row also shows the start of the next one, cut off.
            let rest = lines.split_off(lines.len().min(usize::from(area.height)));
            let last = rest
                .first()
                .and_then(|more| lines.pop().map(|last| (last, more)));
            lines.extend(last.map(|(last, more)| last.with(" ", theme.warning).then(more)));
            for (row, line) in area.rows().zip(&lines) {
                StyledLine::draw_both(line, &StyledLine::new(), row, buffer);
            }
        }
    }
}

fn shell(app: &App, area: Rect) -> StyledLine {
    let theme = &app.theme;
    let stops = offer(app, Action::Cancel, " stops");
    let Some(shell) = &app.shell else {
        return stops;
    };
    let room = usize::from(area.width).saturating_sub(stops.width() + GAP.len() + 12);
    let first = shell.details.command.lines().next().unwrap_or_default();
    let mut line = StyledLine::of("● ", theme.activity_mark)
        .with(format!("! {}", ellipsis(first, room)), theme.activity);
    let seconds = (app.now - shell.since) / 1000;
    if seconds > 0 {
        line.push(format!(" {}", duration(seconds)), theme.activity);
    }
    line.with(GAP, theme.activity).then(&stops)
}

/// The line while nothing is running.
fn idle(app: &App, columns: u16) -> StyledLine {
    let theme = &app.theme;
    if app.start.demo.is_some() {
        return offer(app, Action::Submit, " play the demo")
            .with(GAP, theme.activity)
            .with("type anything", theme.key_hint)
            .with(" to skip it", theme.activity);
    }
    if let Some(open) = &app.trial {
        return trial(app, open);
    }
    if app.resume.is_none() && app.start.asks_trust {
        return trust(app, columns);
    }
    // If the prompt has text, these keys send it.
    if !app.composer.is_empty() {
        return StyledLine::new();
    }
    let does = match app.resume {
        None if app.queue.is_empty() => return StyledLine::new(),
        None => return offer(app, Action::SteerNow, " send the queue"),
        Some(Resume::Unanswered) => return offer(app, Action::SteerNow, " resume"),
        Some(Resume::AtLimit | Resume::CutOff) => " continue".to_owned(),
        Some(Resume::Failed | Resume::Stopped) => " retry".to_owned(),
        Some(Resume::Planned(_)) => " run this plan (auto mode)".to_owned(),
        Some(Resume::Listed) => " twice: run these steps (auto mode)".to_owned(),
        Some(Resume::AtBudget(next)) => format!(" continue, up to {next}"),
    };
    offer(app, Action::Submit, &does)
}

fn trial(app: &App, open: &OpenTrial) -> StyledLine {
    let changed = match open.changed {
        None => String::new(),
        Some(0) => " · no files changed".to_owned(),
        Some(files) => format!(" · {} changed", plural(files as u64, "file", "files")),
    };
    StyledLine::of("◇ ", app.theme.activity_mark)
        .with(format!("trial{changed} · "), app.theme.activity)
        .with("/keep", app.theme.key_hint)
        .with(" · ", app.theme.activity)
        .with("/discard", app.theme.key_hint)
}

/// The offer to trust the project, in the longest wording that the line has room for.
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
    let whole = "Folder not trusted: instructions ignored";
    let long = line([whole, " load", " dismiss"]);
    if long.width() <= usize::from(columns) {
        long
    } else {
        line(["Not trusted", "", ""])
    }
}

fn offer(app: &App, action: Action, does: &str) -> StyledLine {
    StyledLine::of(app.key(action), app.theme.key_hint).with(does, app.theme.activity)
}

fn running(app: &App, phase: &Phase, right: &StyledLine, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let columns = usize::from(area.width.saturating_sub(2));
    // Esc first leaves the rule, the page or vim's insert mode.
    let is_inserting = matches!(app.composer.vim(), Some((VimMode::Insert, _)));
    let stop = if app.rule.is_some() || app.is_reading() || is_inserting {
        offer(app, Action::Interrupt, " stops")
    } else {
        offer(app, Action::Cancel, " stops")
    };
    let (what, extra) = describe(app, phase);
    let extra = extra.or_else(|| elapsed(app));
    // The last parts are dropped first.
    let mark = 2;
    let room = columns.saturating_sub(mark + stop.width() + 3);
    let mut left = StyledLine::of("● ", theme.activity_mark);
    if room > 0 {
        left.push(ellipsis(&visible_line(&what), room), theme.activity);
        let used = left.width() - mark;
        let left_over = room.saturating_sub(used + 3);
        let extra = extra.filter(|_| right.width() == 0);
        if let Some(extra) = extra.filter(|extra| width(extra) <= left_over || left_over >= 16) {
            left.push(format!("  {}", ellipsis(&extra, left_over)), theme.faint);
        }
        left.push(GAP, theme.activity);
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
            left.push(GAP, theme.activity);
            left = left.then(&offer);
        }
    }
    StyledLine::draw_both(&left, &StyledLine::new(), area, buffer);
    // The running work and its stop key are never cut.
    let rest = columns.saturating_sub(left.width() + 2);
    if rest >= LEAST_SAID.min(right.width()) {
        let said = right.width().min(rest) as u16;
        right.draw(buffer, area.right() - 1 - said, area.y, said);
    }
}

/// The run's time, unless the phase's time already shows it.
fn elapsed(app: &App) -> Option<String> {
    let millis = app.now - app.stats.run_since;
    let is_told = millis >= LONG_RUN_MS && app.stats.phase_since - app.stats.run_since >= 1000;
    is_told.then(|| format!("{} total", duration(millis / 1000)))
}

/// The current work with its time, and details to add if there is room.
fn describe(app: &App, phase: &Phase) -> (String, Option<String>) {
    let seconds = (app.now - app.stats.phase_since).max(0) / 1000;
    let for_seconds = |what: &str| match seconds {
        0 => what.to_owned(),
        _ => format!("{what} {}", duration(seconds)),
    };
    match phase {
        Phase::Requesting => (for_seconds("waiting for the model"), None),
        Phase::Streaming => match app.transcript.live_thinking() {
            Some(text) => {
                let heading = headings(text).last().map(|heading| (*heading).to_owned());
                (for_seconds("thinking"), heading)
            }
            None => (for_seconds("writing"), None),
        },
        Phase::Tools(names) => {
            let what = app.transcript.running_call().map(subject_line);
            (for_seconds(&what.unwrap_or_else(|| tools(names))), None)
        }
        Phase::Retrying {
            attempt,
            max_attempts,
            at,
            // A notice above shows the reason.
            reason: _,
        } => {
            let left = ((at - app.now).max(0) + 999) / 1000;
            let what = format!("retry {attempt}/{max_attempts} in {}", duration(left));
            (what, None)
        }
        Phase::Compacting => (for_seconds("summarising the conversation"), None),
        Phase::Trial(step) => {
            let what = match step {
                TrialStep::Begin => "copying the files for the trial",
                TrialStep::Keep => "applying the changes",
                TrialStep::Discard => "removing the trial's files",
            };
            (for_seconds(what), None)
        }
        Phase::Asking => (for_seconds("waiting for your answer"), None),
    }
}

/// The subject of the only running call.
fn subject_line(tool: &ToolCell) -> String {
    match &*tool.details {
        Details::Command(command) => match command.description.as_deref().map(str::trim) {
            Some(description) if !description.is_empty() => description.to_owned(),
            _ => {
                let line = command.command.trim().lines().next().unwrap_or_default();
                format!("{} {line}", tool.name)
            }
        },
        _ => format!("{} {}", tool.name, subject_of(tool))
            .trim_end()
            .to_owned(),
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
