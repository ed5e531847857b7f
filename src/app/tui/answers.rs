//! The list of answers to a question. Keys that could be text never answer: arrows and digits
//! select, and Enter confirms, though not right after another key. After a pause a digit is deliberate, so
//! Enter can follow it at once.

use super::answer_delay::AnswerDelay;
use crate::app::action::Action;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    selected: Option<usize>,
    /// The digit that selected it; it becomes text if more text follows.
    digit: Option<char>,
    /// Starts when the list appears or text is typed: until it's over, a digit is text.
    appeared: AnswerDelay,
    /// Starts with each key: until it's over, Enter confirms nothing.
    delay: AnswerDelay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    Confirmed(usize),
    /// Enter, but nothing is selected, or it came too soon after another key.
    NotYet,
    /// The selection changed.
    Selected,
    /// Text, with a digit to insert before it, if any.
    Text(Option<char>),
    Nothing,
}

impl Answers {
    /// A list that appears at `now` (Unix ms) with this answer selected.
    pub fn starting(now: i64, selected: Option<usize>) -> Self {
        Self {
            selected,
            digit: None,
            appeared: AnswerDelay::starting(now),
            delay: AnswerDelay::starting(now),
        }
    }

    /// The same for a list that the user has just asked for: a digit selects at once.
    pub fn asked_for(now: i64, selected: Option<usize>) -> Self {
        Self {
            appeared: AnswerDelay::over(now),
            ..Self::starting(now, selected)
        }
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    pub fn select(&mut self, at: usize) {
        (self.selected, self.digit) = (Some(at), None);
    }

    pub fn can_confirm(&self, now: i64) -> bool {
        self.selected.is_some() && self.delay.is_over(now)
    }

    /// When Enter can confirm (Unix ms), if it can't yet.
    pub fn next_wake(&self, now: i64) -> Option<i64> {
        self.delay.next_wake(now)
    }

    /// Selects nothing, because the user types text. Returns the digit that belongs to the text.
    pub fn write(&mut self, now: i64) -> Option<char> {
        self.selected = None;
        // The user is still typing.
        self.appeared.restart(now);
        self.settle(now)
    }

    /// Another key was pressed. Returns the digit pressed right before it.
    pub fn settle(&mut self, now: i64) -> Option<char> {
        self.delay.restart(now);
        self.digit.take()
    }

    /// Handles a key in a list of `count` answers.
    pub fn press(
        &mut self,
        action: Option<Action>,
        typed: Option<char>,
        count: usize,
        now: i64,
    ) -> Pressed {
        let is_early = !self.delay.is_over(now);
        // After any key but text, the digit was a selection.
        let digit = self.settle(now);
        let by = match (action, typed) {
            (Some(Action::Up | Action::ListPrevious), _) => -1,
            (Some(Action::Down | Action::ListNext), _) => 1,
            (Some(Action::DeleteBackward), _) if digit.is_some() => {
                self.selected = None;
                return Pressed::Selected;
            }
            (Some(Action::Accept), _) => {
                return match self.selected {
                    Some(at) if !is_early && at < count => Pressed::Confirmed(at),
                    _ => Pressed::NotYet,
                };
            }
            (None, Some(c)) => {
                let number = c.to_digit(10).map(|it| it as usize).unwrap_or_default();
                // Two digits in a row are a number, and text.
                if digit.is_none() && self.appeared.is_over(now) && (1..=count).contains(&number) {
                    (self.selected, self.digit) = (Some(number - 1), Some(c));
                    if !is_early {
                        self.delay = AnswerDelay::over(now);
                    }
                    return Pressed::Selected;
                }
                self.write(now);
                return Pressed::Text(digit);
            }
            _ => return Pressed::Nothing,
        };
        let last = count.saturating_sub(1);
        self.selected = match self.selected {
            None if by > 0 => Some(0),
            None => Some(last),
            Some(at) => Some(at.saturating_add_signed(by).min(last)),
        };
        Pressed::Selected
    }
}
