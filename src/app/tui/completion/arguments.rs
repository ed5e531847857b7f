//! Completes the arguments of commands.

use super::candidate::Candidate;
use super::state::{Completion, CompletionKind};
use crate::agent::permission::PermissionMode;
use crate::app::action::Action;
use crate::app::config::{Layers, SettingRow, setting_rows};
use crate::app::models::{KeyState, search};
use crate::app::tui::popups::{ModelsState, StatusTab};
use crate::app::tui::theme::{AUTO, ThemeChoice};
use crate::llm::ThinkingLevel;

/// The most models to list; typing finds more.
const MAX_MODELS: usize = 50;

pub(crate) struct InForce<'a> {
    pub models: &'a ModelsState,
    pub thinking: ThinkingLevel,
    pub permission: PermissionMode,
    pub themes: &'a ThemeChoice,
    pub known: &'a [Candidate],
}

/// The list of arguments for `action` that match `typed`.
pub(crate) fn arguments(action: Action, typed: &str, now: &InForce<'_>) -> Option<Completion> {
    let kind = CompletionKind::Argument(action);
    let fixed = |words: &[(&str, &str)], current: &str| {
        let word = typed.to_lowercase();
        let fits = words.iter().filter(|(name, _)| name.starts_with(&word));
        let candidates: Vec<Candidate> = fits
            .map(|(name, detail)| Candidate {
                key: if *name == current { "now" } else { "" }.to_owned(),
                ..Candidate::new(*name, *detail)
            })
            .collect();
        let mut list = Completion::new(kind, typed.to_owned(), candidates);
        let current = list.candidates.iter().position(|it| it.insert == current);
        list.selected = Some(current.unwrap_or(0));
        list
    };
    let mut list = match action {
        Action::Thinking => {
            let level = |level: ThinkingLevel| match level {
                ThinkingLevel::Off => ("off", "no thinking"),
                ThinkingLevel::Minimal => ("minimal", "the model's minimum"),
                ThinkingLevel::Low => ("low", "a little"),
                ThinkingLevel::Medium => ("medium", "a medium amount"),
                ThinkingLevel::High => ("high", "a lot"),
                ThinkingLevel::Xhigh => ("xhigh", "more"),
                ThinkingLevel::Max => ("max", "the model's maximum"),
            };
            fixed(&ThinkingLevel::ALL.map(level), now.thinking.as_str())
        }
        Action::PermissionMode => {
            let mode = |mode: PermissionMode| (mode.name(), mode.meaning());
            fixed(&PermissionMode::ALL.map(mode), now.permission.name())
        }
        Action::Trust => fixed(&[("no", "don't trust, and don't ask again")], ""),
        Action::Status => fixed(&StatusTab::ALL.map(|(_, name)| (name, "")), ""),
        Action::Models => Completion::new(kind, typed.to_owned(), models(typed, now.models)),
        Action::Theme => {
            let auto = "light or dark, to match the terminal";
            let names = now.themes.themes.names().filter(|name| *name != AUTO);
            let all = std::iter::once((AUTO, auto)).chain(names.map(|name| (name, "")));
            let all: Vec<_> = all.collect();
            fixed(&all, &now.themes.wanted)
        }
        Action::Command(command) if !command.arguments.is_empty() => {
            let all = command.arguments.iter();
            let all: Vec<_> = all
                .map(|(name, detail)| Candidate::new(*name, *detail))
                .collect();
            // A command that takes several words takes them one by one.
            let is_whole = all.iter().any(|it| it.insert.contains(' '));
            words(kind, if is_whole { typed } else { last_word(typed) }, &all)
        }
        Action::Settings => {
            let rows = setting_rows(&Layers::defaults(), &[]).into_iter();
            let rows = rows.filter(SettingRow::is_listed);
            let rows: Vec<_> = rows.map(|row| Candidate::new(row.key, row.about)).collect();
            words(kind, typed, &rows)
        }
        Action::Login => words(kind, typed, now.known),
        _ => return None,
    };
    list.selected = match action {
        Action::Thinking | Action::PermissionMode => list.selected,
        // Enter alone opens their list.
        Action::Theme | Action::Login => list.selected.filter(|_| !typed.is_empty()),
        // Enter alone trusts the folder, so select nothing.
        _ => None,
    };
    Some(list)
}

/// Those of `all` that start with the typed text, then those that contain it.
fn words(kind: CompletionKind, typed: &str, all: &[Candidate]) -> Completion {
    let word = typed.to_lowercase();
    let place = |it: &&Candidate| it.insert.to_lowercase().find(&word);
    let (begins, rest): (Vec<_>, Vec<_>) = all
        .iter()
        .filter(|it| place(it).is_some())
        .partition(|it| place(it) == Some(0));
    let found = begins.into_iter().chain(rest).cloned().collect();
    Completion::new(kind, typed.to_owned(), found)
}

fn last_word(typed: &str) -> &str {
    typed.rsplit(char::is_whitespace).next().unwrap_or_default()
}

/// Models with a key, recently used ones first.
fn models(typed: &str, models: &ModelsState) -> Vec<Candidate> {
    let rows = &models.listing.rows;
    let mut found = search(rows, typed);
    found.retain(|it| !matches!(rows[it.row].key, KeyState::Missing(_)));
    if !typed.trim().is_empty() {
        found.sort_by_key(|it| (it.scattered, std::cmp::Reverse(it.score)));
    }
    let candidate = |row: usize| {
        let model = &rows[row].model;
        Candidate::new(model.full_id(), &model.name)
    };
    let found = found.into_iter().take(MAX_MODELS);
    found.map(|it| candidate(it.row)).collect()
}
