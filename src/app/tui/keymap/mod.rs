//! Which key means what. Reads the default keys and the user's; knows nothing of what actions do.

mod chord;
mod map;
mod load;

pub use chord::Chord;
pub use map::{Keymap, Meaning, label};
