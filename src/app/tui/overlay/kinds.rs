//! The overlays as plain data. Their keys are `update::overlay`'s, their looks `view::overlay`'s.

use super::picker::ModelPicker;
use crate::app::action::Scope;

/// Something over the screen that takes the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// All keys.
    Help(Scroll),
    /// What happened, iteration by iteration.
    Iterations(Scroll),
    /// Whether to leave while a run is under way.
    ConfirmQuit,
    /// Earlier prompts.
    HistorySearch(HistorySearch),
    /// The models.
    Models(ModelPicker),
}

impl Overlay {
    /// Which bindings count while it has the keys.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Help(_) | Self::Iterations(_) => Scope::Pager,
            Self::ConfirmQuit => Scope::Question,
            Self::HistorySearch(_) | Self::Models(_) => Scope::List,
        }
    }
}

/// A list that is only read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// The first line shown.
    pub top: usize,
}

/// The search through earlier prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistorySearch {
    /// What is searched for.
    pub query: String,
    /// Which hit is chosen, 0 is the newest.
    pub selected: usize,
}
