//! Optional vim editing: turns keys in normal and visual mode into changes of the draft.
//!
//! [`command`] parses keys. [`motion`] and [`object`] find places in a text, and [`finds`] the
//! range of a command. [`state`] holds the modes, [`change`] the commands that change text.
//! [`keys`] is the editor's interface. In insert mode the editor handles every key but Esc. Deleted
//! and copied text goes to the kill ring, from which `p` puts it; text that ends with a line feed
//! is whole lines.

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
