//! The overlays as plain data. Their keys are `update::overlay`'s, their looks `view::overlay`'s.

use super::models::ModelPicker;
use super::picker::{Pager, Picker};
use crate::app::action::Scope;

/// Something over the screen that takes the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// All keys.
    Help(Pager),
    /// What happened, iteration by iteration.
    Iterations(Pager),
    /// Whether to leave while a run is under way.
    ConfirmQuit,
    /// Earlier prompts.
    HistorySearch(Picker),
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
