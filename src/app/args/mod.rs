//! The command line as typed. Checks only its syntax; `boot` interprets it.

mod run;
mod foreign;
mod mistyped;
mod reopen;
mod commands;
mod flag_order;
mod sessions;
mod shell_files;

pub use commands::{
    AttachArgs, AuthCommand, ConfigCommand, McpAddArgs, McpCommand, ModelsArgs, PolicyCheckArgs,
    PolicyCommand, StatusArgs, SteerArgs, SubCommand,
};
pub use foreign::explain;
pub(crate) use foreign::of_value;
pub use run::{Args, OutputMode, RunArgs, existing_folder};
pub use sessions::{
    ExportArgs, SessionDiffArgs, SessionListArgs, SessionSearchArgs, SessionShowArgs, SessionsArgs,
    SessionsCommand,
};
pub use shell_files::{completions, man};
