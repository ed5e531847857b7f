//! Maps keys to actions, from the default keys and the user's file. Knows nothing about what
//! actions do.

mod chord;
mod map;
mod load;

pub use chord::Chord;
pub use map::{Keymap, Meaning, label};
