//! The overlays as plain data. Their keys are `update::overlay`'s, their looks `view::overlay`'s.

use super::models::ModelPicker;
use super::picker::{Pager, Picker};
use super::sessions::SessionPicker;
use super::tree::TreePicker;
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
    /// The sessions of this folder.
    Sessions(SessionPicker),
    /// The tree of the session.
    Tree(TreePicker),
}

impl Overlay {
    /// Which bindings count while it has the keys.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Help(_) | Self::Iterations(_) => Scope::Pager,
            Self::ConfirmQuit => Scope::Question,
            Self::HistorySearch(_) | Self::Models(_) | Self::Sessions(_) => Scope::List,
            Self::Tree(_) => Scope::Tree,
        }
    }

    /// The list to choose from, if it has one.
    pub fn picker(&mut self) -> Option<&mut Picker> {
        match self {
            Self::HistorySearch(picker) => Some(picker),
            Self::Models(models) => Some(&mut models.picker),
            Self::Sessions(sessions) => Some(&mut sessions.picker),
            Self::Tree(tree) => Some(tree.label.as_mut().unwrap_or(&mut tree.picker)),
            Self::Help(_) | Self::Iterations(_) | Self::ConfirmQuit => None,
        }
    }

    /// The text to read, if it shows one.
    pub fn pager(&mut self) -> Option<&mut Pager> {
        match self {
            Self::Help(pager) | Self::Iterations(pager) => Some(pager),
            Self::Models(models) => models.details.as_mut(),
            Self::ConfirmQuit | Self::HistorySearch(_) | Self::Sessions(_) | Self::Tree(_) => None,
        }
    }
}
