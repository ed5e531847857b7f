//! The preview of an undo, and the prompts to rewind to, as plain data.

use crate::agent::undo::{Preview, Rewind, RewindPoint};
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::popups::{Pager, Picker};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoQuestion {
    pub preview: Preview,
    pub shows_diff: bool,
    pub pager: Pager,
    pub delay: AnswerDelay,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindPicker {
    pub picker: Picker,
    /// The prompts, the oldest first; `None` until they are known.
    pub points: Option<Vec<RewindPoint>>,
    pub chosen: Option<ChosenPoint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenPoint {
    pub point: RewindPoint,
    /// The changes to files; `None` until they are known.
    pub preview: Option<Preview>,
    pub ways: Picker,
    /// When keys start to work.
    pub delay: AnswerDelay,
}

pub const WAYS: [Rewind; 3] = [Rewind::Both, Rewind::Conversation, Rewind::Files];

impl RewindPicker {
    /// Sets the prompts and selects the newest.
    pub fn read(&mut self, points: Vec<RewindPoint>) {
        self.points = Some(points);
        self.search();
    }

    pub fn search(&mut self) {
        let holds = self.picker.holds();
        let points = self.points.iter().flatten().enumerate();
        let found = points.filter(|(_, point)| holds(&point.prompt));
        let found = found.map(|(at, _)| at);
        self.picker.set_matches(found.collect(), usize::MAX);
    }

    /// Chooses the selected prompt at `now` and returns it.
    pub fn choose_point(&mut self, now: i64) -> Option<RewindPoint> {
        let point = self.points.as_ref()?.get(self.picker.chosen()?)?.clone();
        let mut ways = Picker::default();
        ways.set_matches((0..WAYS.len()).collect(), 0);
        self.chosen = Some(ChosenPoint {
            point: point.clone(),
            preview: None,
            ways,
            delay: AnswerDelay::starting(now),
        });
        Some(point)
    }
}
