//! The session tree: opening it, its keys, labels, and continuing from another entry.

use super::state::{TreePicker, TreePurpose};
use crate::agent::Leaving;
use crate::app::action::{Action, Scope};
use crate::app::branches::Outline;
use crate::app::sessions::Choice;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TreeEffect};
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::popups::{Picker, PopupKeys, list, topmost};
use crate::app::tui::session_switch::Arriving;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::refusal::{is_busy, is_read_only};

pub fn open(app: &mut App, purpose: TreePurpose) -> Vec<Effect> {
    app.overlays.push(TreePicker::new(purpose).into());
    vec![Effect::Tree(TreeEffect::Read)]
}

pub fn read(app: &mut App, outline: Outline) {
    topmost!(app, Tree).read(outline);
}

impl PopupKeys for TreePicker {
    fn scope(&self) -> Scope {
        Scope::Tree
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(self.label.as_mut().unwrap_or(&mut self.picker))
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let writes = matches!(action, Some(Action::TreeLabel | Action::FollowUp));
        if writes && is_read_only(app) {
            return Vec::new();
        }
        let tree = topmost!(app, Tree);
        if tree.label.is_some() {
            return press_in_label(tree, press, action);
        }
        match action {
            Some(Action::Left | Action::WordLeft) => tree.fold(),
            Some(Action::Right | Action::WordRight) => tree.unfold(),
            Some(Action::TreeFilter) => tree.cycle_filter(false),
            Some(Action::TreeFilterBack) => tree.cycle_filter(true),
            Some(Action::TreeLabel) => begin_label(tree),
            Some(Action::FollowUp) => return go_on(app, Leaving::WithSummary),
            _ => return list::press(app, press, action),
        }
        Vec::new()
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Tree).search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        go_on(app, Leaving::Silently)
    }
}

fn begin_label(tree: &mut TreePicker) {
    if let Some(chosen) = tree.chosen() {
        let mut label = Picker::default();
        label.type_text(chosen.label.as_deref().unwrap_or_default());
        tree.label = Some(label);
    }
}

fn press_in_label(tree: &mut TreePicker, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Back | Action::Interrupt) => tree.label = None,
        Some(Action::Accept) => {
            let labelled = tree.finish_label();
            let effect = |(id, label)| Effect::Tree(TreeEffect::Label(id, label));
            return labelled.map(effect).into_iter().collect();
        }
        _ => {
            if let Some(label) = &mut tree.label {
                label.press(action, press.text(), 1);
            }
        }
    }
    Vec::new()
}

/// Continues from the chosen entry, with or without a summary of the branch that is left.
fn go_on(app: &mut App, leaving: Leaving) -> Vec<Effect> {
    let tree = topmost!(app, Tree);
    let purpose = tree.purpose;
    let Some(id) = tree.chosen().map(|chosen| chosen.id.clone()) else {
        return Vec::new();
    };
    if is_busy(app) {
        return Vec::new();
    }
    app.overlays.pop();
    match (purpose, &app.status.session) {
        (TreePurpose::Fork, Some(session)) => {
            let fork = Choice::ForkAt(session.file.clone(), id);
            app.switch.begin(Arriving::WithText);
            vec![Effect::Session(SessionEffect::Open(fork))]
        }
        _ => vec![Effect::Tree(TreeEffect::GoTo(id, leaving))],
    }
}
