//! The list of answers to a question. No key that can be part of a text is an answer: arrows and
//! digits select, Enter confirms what is selected, and not right after another key.

use super::answer_delay::AnswerDelay;
use crate::app::action::Action;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    selected: Option<usize>,
    /// The digit that selected it: text, if more text follows.
    digit: Option<char>,
    /// Since its appearance, or the last text: before that is over a digit is text.
    appeared: AnswerDelay,
    /// Since the last key: before that is over Enter confirms nothing.
    delay: AnswerDelay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    Confirmed(usize),
    /// Enter, but nothing is selected, or another key was pressed just before.
    NotYet,
    /// Something else was selected.
    Selected,
    /// Text: the digit that is to be written before it, if one is.
    Text(Option<char>),
    Nothing,
}

impl Answers {
    /// A list that appears `now` (Unix ms) with this answer selected.
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

    /// When Enter can confirm (Unix ms), if it cannot yet.
    pub fn next_wake(&self, now: i64) -> Option<i64> {
        self.delay.next_wake(now)
    }

    /// Selects nothing, because text is written `now`. Answers the digit that belongs to it.
    pub fn write(&mut self, now: i64) -> Option<char> {
        self.selected = None;
        // Who is typing goes on typing.
        self.appeared.restart(now);
        self.settle(now)
    }

    /// Another key is pressed `now`. Answers the digit that was pressed right before.
    pub fn settle(&mut self, now: i64) -> Option<char> {
        self.delay.restart(now);
        self.digit.take()
    }

    /// A key pressed `now`, in a list of so many answers.
    pub fn press(
        &mut self,
        action: Option<Action>,
        typed: Option<char>,
        count: usize,
        now: i64,
    ) -> Pressed {
        let is_early = !self.delay.is_over(now);
        // Behind any other key than text it has selected, and is no text any more.
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
                // A digit behind a digit is a number, and text.
                if digit.is_none() && self.appeared.is_over(now) && (1..=count).contains(&number) {
                    (self.selected, self.digit) = (Some(number - 1), Some(c));
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
