//! Open questions; the strip above the editor shows the first one. Text is an answer only once
//! Enter sends it. In the list, select with arrows or a digit and confirm with Enter.

use std::sync::Arc;

use super::rule;
use crate::agent::permission::ByHand;
use crate::agent::{Answer, NoticeLevel, Question, Subject};
use crate::app::action::{Action, Scope};
use crate::app::notify::Notify;
use crate::app::one_liner;
use crate::app::tui::answers::Pressed;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::{Effect, TerminalEffect};
use crate::app::tui::layout::editor_size;
use crate::app::tui::popups::{CallPage, Overlay};
use crate::app::tui::question_strip::{Offer, QuestionStrip, TypedAnswer, count};
use crate::app::tui::terminal::input::KeyPress;
use crate::llm::message::Text;

pub fn set(app: &mut App, open: &[Arc<Question>]) -> Vec<Effect> {
    let newest = |questions: &[Arc<Question>]| questions.iter().map(|question| question.id).max();
    let is_new = newest(open) > newest(&app.questions);
    let first = |questions: &[Arc<Question>]| questions.first().map(|question| question.id);
    if first(&app.questions) != first(open) {
        // A hint about the old question's answers is obsolete.
        app.hint = app.hint.take().filter(|_| app.questions.is_empty());
        // A digit that selected an answer may have been the start of a text.
        if let Some(digit) = app.strip.answers.write(app.now)
            && !app.questions.is_empty()
        {
            app.composer.insert(digit);
        }
        app.strip = QuestionStrip::starting(app.now);
        close_rule(app);
        app.overlays.retain(|it| !matches!(it, Overlay::Call(_)));
    }
    app.questions = open.to_vec();
    if is_new && !app.focused && app.notify != Notify::Off {
        return vec![Effect::Terminal(TerminalEffect::Notify(
            app.notify,
            "tiller needs your answer",
        ))];
    }
    Vec::new()
}

/// Closes the rule editor and brings back the message. Returns whether a rule was open.
pub fn close_rule(app: &mut App) -> bool {
    let Some(rule) = app.rule.take() else {
        return false;
    };
    app.composer = rule.message;
    let (width, rows) = editor_size(app.size);
    app.composer.resize(width, rows);
    true
}

/// Handles a key of the answer list; `None` leaves it to the editor.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Option<Vec<Effect>> {
    let question = app.questions.first()?;
    if app.rule.is_some() {
        return None;
    }
    if !app.composer.is_empty() {
        app.strip.answers.write(app.now);
        return None;
    }
    // It uses the keys of all lists.
    let action = app.keymap.resolve(press, Scope::List).or(action);
    let offer = offer(app);
    let has_rule = offer == Some(Offer::Rule);
    match action {
        Some(action @ (Action::Left | Action::Right | Action::Complete)) if has_rule => {
            app.strip.answers.settle(app.now);
            match action {
                Action::Left => app.strip.scope = app.strip.scope.narrower(),
                Action::Right => app.strip.scope = app.strip.scope.wider(),
                _ => rule::open(app),
            }
        }
        _ => {
            let (now, count) = (app.now, count(question));
            match app.strip.answers.press(action, press.text(), count, now) {
                Pressed::Confirmed(at) => return Some(confirm(app, at)),
                Pressed::NotYet if count > 0 => {
                    let why = match app.strip.answers.selected() {
                        Some(_) => "Press Enter again to confirm",
                        None => "Select an answer first: ↑↓ or its number",
                    };
                    app.say(why);
                }
                Pressed::Selected => app.hint = None,
                Pressed::Text(digit) => {
                    write_digit(app, digit, offer, press.text());
                    return None;
                }
                Pressed::NotYet | Pressed::Nothing => return None,
            }
        }
    }
    Some(Vec::new())
}

/// The selected answer of the first question, if it asks for permission.
pub fn offer(app: &App) -> Option<Offer> {
    app.strip.offer(app.questions.first()?)
}

/// Writes the digit that selected an answer, because text that begins with `first` follows. After "No, and
/// say why" the text is the reason, unless it is one such as `3 files`.
pub fn write_digit(app: &mut App, digit: Option<char>, offer: Option<Offer>, first: Option<char>) {
    let is_reason = offer == Some(Offer::Refuse) && first.is_some_and(char::is_alphabetic);
    if let Some(digit) = digit.filter(|_| !is_reason) {
        app.composer.insert(digit);
    }
}

fn confirm(app: &mut App, at: usize) -> Vec<Effect> {
    let Some(question) = app.questions.first().cloned() else {
        return Vec::new();
    };
    let offer = app.strip.offer(&question);
    if offer == Some(Offer::Refuse) {
        return give(app, Answer::Refuse { reason: None });
    }
    if !is_shown(app) {
        return Vec::new();
    }
    match (&question.subject, offer) {
        (Subject::Permission(subject), Some(Offer::Rule)) => {
            rule::answer(app, app.strip.scope, subject.suggestions.clone())
        }
        (Subject::Permission(_), _) => give(app, Answer::once()),
        (Subject::Choice(subject), _) => match subject.choices.get(at) {
            Some(choice) => give(app, Answer::Reply(choice.clone())),
            None => Vec::new(),
        },
    }
}

/// Whether the user has seen the whole question; if not, opens it.
pub fn is_shown(app: &mut App) -> bool {
    if !app.strip.is_shown {
        app.overlays.push(CallPage::default().into());
        app.say("Scroll to the end first");
    }
    app.strip.is_shown
}

/// Notes how much of the question the last frame showed.
pub fn drawn(app: &mut App) {
    let areas = &app.areas;
    app.strip.is_shown |= match app.overlays.last() {
        Some(Overlay::Call(page)) => !areas.list.is_empty() && page.pager.top >= areas.list_end,
        Some(_) => false,
        None => app.completion.is_none() && !areas.question.is_empty() && !areas.question_cut,
    };
}

/// Enter with text in the editor: sends it as the answer, or as the reason to deny the call. `None`
/// if there is no question, or the text is older than the question and so a message.
pub fn answer_in_words(app: &mut App, take: impl Fn(&mut App) -> Text) -> Option<Vec<Effect>> {
    let question = app.questions.first()?;
    let is_choice = matches!(question.subject, Subject::Choice(_));
    let (count, answers) = (count(question), app.text_answers());
    let digit = app.composer.text().trim().parse::<usize>().ok();
    let digit = digit.filter(|digit| *digit < 10 && !(is_choice && answers));
    if let Some(digit) = digit.filter(|it| (1..=count).contains(it) && !app.composer.is_message()) {
        // Typed just as the question appeared: neither a message for the model nor a deliberate answer.
        take(app);
        app.strip.answers.select(digit - 1);
        app.strip.answers.settle(app.now);
        return Some(app.say("Press Enter again to confirm"));
    }
    if !answers {
        return None;
    }
    if digit.is_some() {
        // Without it, a digit selects an answer again.
        take(app);
        return Some(app.say(format!("The answers are 1 to {count}")));
    }
    let text = take(app).text;
    if is_choice {
        return Some(give(app, Answer::Reply(text)));
    }
    let typed = TypedAnswer::of(&text);
    if typed == TypedAnswer::Yes {
        // A word that was typed blindly must not run anything.
        app.strip.answers.select(0);
        app.strip.answers.settle(app.now);
        return Some(app.say_for("Press Enter again to allow this call once", 5000));
    }
    let reason = (typed == TypedAnswer::Reason).then_some(text);
    Some(give(app, Answer::Refuse { reason }))
}

pub fn give(app: &mut App, answer: Answer) -> Vec<Effect> {
    let Some(question) = app.questions.first().cloned() else {
        return Vec::new();
    };
    // A rule that no answer offers.
    if let (Subject::Permission(subject), Answer::Refuse { .. }) = (&question.subject, &answer)
        && let Some(how @ ByHand::Rule(_)) = &subject.by_hand
        && let Some(how) = one_liner::by_hand(how)
    {
        app.transcript.push_notice(NoticeLevel::Info, how);
    }
    // Show the next question at once, before the agent confirms.
    let rest = app.questions[1..].to_vec();
    app.strip = QuestionStrip::starting(app.now);
    let mut effects = set(app, &rest);
    effects.push(Effect::Answer(question.id, answer));
    effects
}
