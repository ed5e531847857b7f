//! Maps keys to actions, by the default keys and the user's file. Doesn't know what actions do.

mod chord;
mod map;
mod load;

pub use chord::Chord;
pub use map::{Keymap, Meaning, label};
