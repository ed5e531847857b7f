//! Which key means what. Reads the default keys and the user's; knows nothing of what actions do.

mod load;
mod map;

pub use load::KeymapError;
pub use map::{Keymap, label};
