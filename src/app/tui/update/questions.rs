//! Questions that calls wait with: the first of them stands in the strip above the editor. What is
//! being typed is never an answer by itself: keys answer on the empty editor only, and not until the
//! user has had time to see what is asked.

use std::sync::Arc;

use crate::agent::{Answer, Question, Subject};
use crate::app::action::Action;
use crate::app::notify::Notify;
use crate::app::tui::app::App;
use crate::app::tui::effect::{Effect, TerminalEffect};
use crate::app::tui::layout::editor_size;
use crate::app::tui::overlay::Overlay;

/// The questions that wait are these now.
pub fn set(app: &mut App, open: &[Arc<Question>]) -> Vec<Effect> {
    let newest = |questions: &[Arc<Question>]| questions.iter().map(|question| question.id).max();
    let is_new = newest(open) > newest(&app.questions);
    let first = |questions: &[Arc<Question>]| questions.first().map(|question| question.id);
    if first(&app.questions) != first(open) {
        app.answer_delay.restart(app.now);
        close_rule(app);
        app.overlays.retain(|it| !matches!(it, Overlay::Call(_)));
    }
    app.questions = open.to_vec();
    if is_new && !app.focused && app.notify != Notify::Off {
        return vec![Effect::Terminal(TerminalEffect::Notify(
            app.notify,
            "tiller waits for your answer",
        ))];
    }
    Vec::new()
}

/// Drops the rule: the editor is the one for messages again. Returns whether there was one.
pub fn close_rule(app: &mut App) -> bool {
    let Some(rule) = app.rule.take() else {
        return false;
    };
    app.composer = rule.message;
    let (width, rows) = editor_size(app.size);
    app.composer.resize(width, rows);
    true
}

/// A key that answers whether a call may run.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let answer = match action {
        Action::AllowOnce => Answer::once(),
        _ => Answer::Refuse { reason: None },
    };
    give(app, answer)
}

/// A character typed on the empty editor: the number of a choice, or nothing of ours.
pub fn choose(app: &mut App, typed: char) -> Option<Vec<Effect>> {
    let Subject::Choice(subject) = &app.asks()?.subject else {
        return None;
    };
    let number = typed.to_digit(10)? as usize;
    let choice = subject.choices.get(number.checked_sub(1)?)?.clone();
    Some(give(app, Answer::Reply(choice)))
}

/// Enter with a text in the editor: the answer in the user's own words, or why the call must not
/// run. None when nothing was asked that the user could have seen; then the text is a message.
pub fn answer_in_words(app: &mut App, take: impl Fn(&mut App) -> String) -> Option<Vec<Effect>> {
    let question = app.seen_question()?;
    let is_choice = matches!(question.subject, Subject::Choice(_));
    let text = take(app);
    let answer = if is_choice {
        Answer::Reply(text)
    } else {
        Answer::Refuse { reason: Some(text) }
    };
    Some(give(app, answer))
}

/// Answers the question in the strip.
pub fn give(app: &mut App, answer: Answer) -> Vec<Effect> {
    let Some(question) = app.questions.first().cloned() else {
        return Vec::new();
    };
    // The next one shows at once; what the agent says of those that wait follows.
    let rest = app.questions[1..].to_vec();
    let mut effects = set(app, &rest);
    effects.push(Effect::Answer(question.id, answer));
    effects
}
