//! What a package installs beside the program: shell completions and man pages.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::Args;
use crate::app::outcome::StartError;

/// The script of `tiller completions SHELL`.
pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tiller", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The man page of tiller, or of the sub-command that `path` names.
pub fn man(path: &[String]) -> Result<String, StartError> {
    // The page leaves out what the short help hides.
    let mut command = Args::command().mut_args(|arg| arg.hide_short_help(false));
    command.build();
    let mut named: &Command = &command;
    for name in path {
        named = named.find_subcommand(name).ok_or_else(|| {
            let path = path.join(" ");
            StartError::usage(format!("no sub-command '{path}': tiller --help lists them"))
        })?;
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(named.clone()).render(&mut text);
    rendered.map_err(|error| StartError::failed(error.to_string()))?;
    // clap_mangen puts all that follows the options under "EXTRA".
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\nExamples:", ".SH EXAMPLES");
    Ok(text.replace("\nExit codes:", "\n.SH \"EXIT STATUS\""))
}
