//! Vim's way of editing, as an option: keys in normal and visual mode to changes of the draft.
//!
//! [`command`] reads keys, [`motion`] and [`object`] know where they lead in a text, [`finds`] what a
//! command is for, [`state`] holds the modes, [`change`] does what changes the text, [`keys`] are the editor's door to it.
//! In insert mode every key but Esc is the editor's own. What is deleted or copied goes to the kill ring,
//! from which `p` puts it; lines are what ends with a line feed there.

mod mode;
mod command;
mod motion;
mod object;
mod finds;
mod characters;
mod change;
mod state;
mod keys;

pub use command::is_search;
pub use mode::{VimKey, VimMode};
pub use state::Vim;
