//! The commands about the session tree, and the text that comes back from it.

use super::refusal::is_busy;
use crate::app::action::Action;
use crate::app::attachments::typed_text;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TreeEffect};
use crate::app::tui::popups::TreePurpose;
use crate::app::tui::popups::tree::open;
use crate::llm::Content;

pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    match action {
        Action::Fork if app.status.session.is_none() => {
            app.say("Can't fork: this run isn't stored")
        }
        Action::Fork => open(app, TreePurpose::Fork),
        Action::EditPrompt if is_busy(app) => Vec::new(),
        Action::EditPrompt => vec![Effect::Tree(TreeEffect::EditLast)],
        _ => open(app, TreePurpose::Jump),
    }
}

/// The conversation now continues from another entry; a chosen prompt goes into the editor.
pub fn moved(app: &mut App, prompt: Option<&[Content]>) {
    app.resume = None;
    if let Some(prompt) = prompt {
        take_prompt(app, &typed_text(prompt));
    }
}

/// Puts a prompt into the editor to edit and resend. The text before goes to the history.
pub fn take_prompt(app: &mut App, prompt: &str) {
    keep_draft(app);
    app.composer.set_message(prompt);
}

/// Moves the editor's text to the history, with a hint.
pub fn keep_draft(app: &mut App) {
    if !app.composer.is_empty() {
        app.composer.clear();
        let up = app.key(Action::Up);
        app.say(format!("Your unsent text is in the history: press {up}"));
    }
}
