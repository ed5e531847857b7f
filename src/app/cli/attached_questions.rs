//! The questions of an attached session. Only the oldest one is shown, so that what is typed answers what is
//! read. Any client may answer it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a number may still be meant for a question that is gone.
const LATE: Duration = Duration::from_secs(5);

/// How long a number may still be meant for something before a question that has just appeared.
const TOO_SOON: Duration = Duration::from_millis(400);

/// The open questions.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: VecDeque<Dialog>,
    /// The question on the screen, and since when.
    shown: Option<(Value, Instant)>,
    /// When the last one vanished without an answer of this user.
    gone: Option<Instant>,
}

#[derive(Debug)]
struct Dialog {
    id: Value,
    title: String,
    options: Vec<String>,
}

impl Questions {
    /// Follows the session. Returns what to print.
    pub fn follow(&mut self, record: &Value, now: Instant) -> Option<String> {
        match record["type"].as_str()? {
            "extension_ui_request" => self.open.push_back(Dialog::of(record)),
            "questions" => {
                let open = record["open"].as_array().into_iter().flatten();
                let ids: Vec<String> = open.map(|it| format!("question-{}", it["id"])).collect();
                let is_open = |id: &Value| ids.iter().any(|open| id == open.as_str());
                self.open.retain(|dialog| is_open(&dialog.id));
                if self.shown.take_if(|(id, _)| !is_open(id)).is_some() {
                    self.gone = Some(now);
                    let next = self.show(now);
                    return Some(format!(
                        "(answered elsewhere)\n{}",
                        next.unwrap_or_default()
                    ));
                }
            }
            _ => return None,
        }
        self.show(now)
    }

    /// The record that answers the shown question with `text`, if there is one.
    ///
    /// # Errors
    /// Fails if `text` is a number that may be meant for an earlier question, or for none.
    pub fn answer(&mut self, text: &str, now: Instant) -> Result<Option<Value>, &'static str> {
        let number = text.parse::<usize>().ok();
        let is_late = |gone: Instant| now.saturating_duration_since(gone) < LATE;
        if number.is_some() && self.gone.take().is_some_and(is_late) {
            return Err("Not sent: another client has just answered a question. Type it again");
        }
        let shown = self.shown.as_ref().map(|(_, since)| *since);
        if number.is_some()
            && shown.is_some_and(|since| now.saturating_duration_since(since) < TOO_SOON)
        {
            return Err("Not sent: the question has only just appeared. Type the number again");
        }
        let dialog = self.shown.take().and_then(|_| self.open.pop_front());
        let Some(dialog) = dialog else {
            return Ok(None);
        };
        let option = number.and_then(|number| dialog.options.get(number.checked_sub(1)?));
        let value = option.map_or(text, String::as_str);
        Ok(Some(
            json!({"type": "extension_ui_response", "id": dialog.id, "value": value}),
        ))
    }

    /// Shows the oldest question unless one is shown.
    fn show(&mut self, now: Instant) -> Option<String> {
        let first = self.open.front().filter(|_| self.shown.is_none())?;
        self.shown = Some((first.id.clone(), now));
        let mut asked = format!("? {}", first.title);
        for (number, option) in (1..).zip(&first.options) {
            let _ = write!(asked, "\n  {number}. {option}");
        }
        Some(format!("{asked}\nType a number or a text."))
    }
}

impl Dialog {
    fn of(record: &Value) -> Self {
        let options = record["options"].as_array().into_iter().flatten();
        Self {
            id: record["id"].clone(),
            title: record["title"].as_str().unwrap_or_default().to_owned(),
            options: options
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(number: u64) -> Value {
        let id = format!("question-{number}");
        json!({"type": "extension_ui_request", "id": id, "title": format!("Q{number}"), "options": ["Yes", "No"]})
    }

    fn open(numbers: &[u64]) -> Value {
        let open: Vec<Value> = numbers.iter().map(|number| json!({"id": number})).collect();
        json!({"type": "questions", "open": open})
    }

    #[test]
    fn what_is_typed_answers_what_is_shown() {
        let now = Instant::now();
        for (typed, value) in [("2", "No"), ("3", "3"), ("0", "0"), ("not now", "not now")] {
            let mut questions = Questions::default();
            let shown = questions.follow(&asked(1), now);
            let expected = "? Q1\n  1. Yes\n  2. No\nType a number or a text.";
            assert_eq!(shown.as_deref(), Some(expected));
            assert_eq!(questions.follow(&asked(2), now), None, "one at a time");
            assert_eq!(questions.follow(&open(&[1, 2]), now), None);
            let read = now + TOO_SOON;
            let answer = questions.answer(typed, read).unwrap().unwrap();
            assert_eq!(answer["id"], "question-1");
            assert_eq!(answer["value"], value);
            let next = questions.follow(&open(&[2]), now).unwrap();
            assert!(next.starts_with("? Q2\n"), "{next}");
        }
    }

    /// It may have been typed before the question appeared.
    #[test]
    fn a_number_right_after_the_question_is_not_sent() {
        let now = Instant::now();
        let mut questions = Questions::default();
        questions.follow(&asked(1), now);
        assert!(questions.answer("1", now).is_err());
        assert!(questions.answer("1", now + TOO_SOON / 2).is_err());
        let answer = questions.answer("1", now + TOO_SOON).unwrap().unwrap();
        assert_eq!(answer["value"], "Yes");
    }

    #[test]
    fn a_number_for_a_question_that_is_gone_is_not_sent() {
        let now = Instant::now();
        let mut questions = Questions::default();
        questions.follow(&asked(1), now);
        let gone = questions.follow(&open(&[]), now).unwrap();
        assert_eq!(gone, "(answered elsewhere)\n");
        assert_eq!(
            questions.answer("go on", now),
            Ok(None),
            "text is a message"
        );
        assert!(questions.answer("2", now).is_err());
        assert_eq!(questions.answer("2", now), Ok(None), "typed again");
        // The next question doesn't get the answer to the one before.
        questions.follow(&asked(3), now);
        questions.follow(&asked(4), now);
        questions.follow(&open(&[4]), now);
        assert!(questions.answer("1", now).is_err());
        let read = now + TOO_SOON;
        assert!(questions.answer("1", read).unwrap().is_some());
        questions.follow(&asked(5), now);
        questions.follow(&open(&[]), now);
        assert_eq!(questions.answer("2", now + LATE), Ok(None));
    }
}
