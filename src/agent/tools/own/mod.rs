//! Tools of the user: programs in a folder, each with a manifest that says what the model must know of it.
//!
//! A call runs the program like a command of the model, in the same sandbox and with the same limits. Reading a
//! manifest never runs the program.

mod manifest;
mod folder;
mod tool;
mod own_tools;

pub use folder::{OwnFolder, read_folder};
pub use manifest::{Declares, OwnTool, is_tool_name};
pub use own_tools::{FoundTools, OwnTools, ToolSource};
