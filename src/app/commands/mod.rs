//! The slash commands that every front end runs: the screen, `tiller -p`, RPC clients and editors. A
//! command is a file here; one that only sends a prompt to the model is a Markdown file in
//! `assets/prompts`, whose front matter names its `description` and `argument-hint`.
//!
//! Commands that need a screen are rows of [`action`](super::action).

mod command;
mod arguments;
mod prompts;
mod table;
mod unknown;
mod custom;

pub(crate) use arguments::words;
pub use command::{Run, Running, SlashCommand};
pub use custom::{COMMAND_FOLDERS, CustomCommand, CustomCommands, Unusable};
pub(crate) use custom::{FROM_SERVER, as_sent};
pub use prompts::{expand, message_as_typed};
pub use table::{all, find};
pub(crate) use unknown::{Unknown, known, word_of};

/// Declares the files and lists them.
macro_rules! commands {
    ($($name:ident)*) => {
        $(pub(crate) mod $name;)*
        static COMMANDS: &[&SlashCommand] = &[$(&$name::COMMAND),*];
    };
}

commands! {
    budget compact discard export help hooks keep mcp model name new permission permissions redo status stop thinking tools uncompact undo
}
