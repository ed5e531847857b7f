//! The built-in tools, in folders by what they do: `edit` (edit, replace, write), `patch`
//! (apply_patch). What several of them use is on top: `paths`, `open`, `call`.

mod builtin;
mod settings;
mod read;
mod bash;
mod edit;
mod patch;
mod grep;
mod find;
mod ls;
mod paths;
mod open;
mod call;
pub(super) mod support;

pub use builtin::builtin;
pub use patch::{Marker, marker};
pub use settings::ToolSettings;
