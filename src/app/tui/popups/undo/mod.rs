//! The question whether to undo, and the list of prompts to rewind to.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{
    act, previewed, prompts_read, refused, rewind_previewed, tell_closed,
};
pub(crate) use state::{RewindPicker, UndoQuestion};
