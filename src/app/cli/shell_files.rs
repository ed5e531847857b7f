//! What a package installs beside the program: shell completions and man pages.

use std::io;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::out;
use crate::app::args::Args;
use crate::app::outcome::{Outcome, StartError};

/// `tiller completions SHELL`.
pub fn completions(shell: Shell) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tiller", &mut text);
    written(out::write(&text))
}

/// `tiller man`: the man page of tiller, or of the sub-command that `path` names.
pub fn man(path: &[String]) -> Result<Outcome, StartError> {
    let mut command = Args::command();
    command.build();
    let mut named: &Command = &command;
    for name in path {
        let unknown = || {
            StartError::usage(format!(
                "no sub-command '{}': tiller --help lists them",
                path.join(" ")
            ))
        };
        named = named.find_subcommand(name).ok_or_else(unknown)?;
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(named.clone()).render(&mut text);
    Ok(written(rendered.and_then(|()| out::write(&text))))
}

fn written(result: io::Result<()>) -> Outcome {
    result.map_or_else(|error| out::write_failed(&error), |()| Outcome::Done)
}
