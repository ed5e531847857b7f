//! The list of models.

mod state;
mod keys;
mod view;
mod details;

pub(crate) use state::same;
pub use state::{ModelPicker, ModelsState};
