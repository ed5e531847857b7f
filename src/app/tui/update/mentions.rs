//! Warns before sending a message that mentions a missing file: a typo shouldn't cost a model call.

use super::keys;
use crate::app::action::Action;
use crate::app::attachments::may_miss_files;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;

/// How long the warning stays, in milliseconds.
const WARNING_MS: i64 = 10_000;

/// The check to run before `action` sends the text; `None` to send it now.
pub fn check(app: &mut App, action: Action) -> Option<Effect> {
    let text = app.composer.text();
    if app.mentions.warned.take().as_deref() == Some(text.as_str()) || !may_miss_files(&text) {
        return None;
    }
    app.mentions.action = Some(action);
    Some(Effect::CheckMentions(text))
}

/// Sends the checked text, or warns about the missing file.
pub fn checked(app: &mut App, text: String, missing: Option<String>) -> Vec<Effect> {
    let Some(action) = app.mentions.action.take() else {
        return Vec::new();
    };
    app.mentions.warned = Some(text);
    let Some(missing) = missing else {
        return keys::submit(app, action);
    };
    let key = app.key(action);
    app.say_for(
        format!("{missing} {key} again sends it as text"),
        WARNING_MS,
    );
    app.hint.iter_mut().for_each(|hint| hint.answers = true);
    Vec::new()
}
