//! Refuses flags that have no effect in this run.

use super::args::{OutputMode, RunArgs};
use super::outcome::StartError;
use super::plan::Stdio;

/// Refuses each flag that this run would ignore, so that nothing is silently left undone.
pub fn check_flags(args: &RunArgs, stdio: Stdio) -> Result<(), StartError> {
    let headless = args.print || args.mode.is_some();
    let screen = !headless && stdio.stdin && stdio.stdout;
    let only_screen = if headless {
        "works only in the full screen, which -p and --mode don't open"
    } else {
        "works only in the full screen, which needs a terminal on stdin and stdout"
    };
    let no_screen = "works only without the full screen: add -p";
    let chooses = args.resume.as_deref() == Some("");
    let list = "opens a list on the full screen; to send a prompt, add the id of the session";
    let first = args.prompt.first();
    let has_setting = first.is_some_and(|word| word.contains('=') && !word.contains(' '));
    let setting = "continues a session; to override a setting, use --config KEY=VALUE";
    let demo = "has no effect with --demo, which plays its own prompt";
    let is_rpc = args.mode == Some(OutputMode::Rpc);
    let several = "ends one run; a program in RPC mode sends abort";
    let flags = [
        (
            chooses && !(screen && args.prompt.is_empty()),
            "--resume",
            list,
        ),
        (args.go_on && has_setting, "-c", setting),
        (args.read_only && !screen, "--read-only", only_screen),
        (args.inline.is_some() && !screen, "--inline", only_screen),
        (args.theme.is_some() && !screen, "--theme", only_screen),
        (args.timeout.is_some() && screen, "--timeout", no_screen),
        (args.timeout.is_some() && is_rpc, "--timeout", several),
        (args.no_stdin && screen, "--no-stdin", no_screen),
        (args.demo && !args.prompt.is_empty(), "the prompt", demo),
        (args.demo && args.model.is_some(), "--model", demo),
    ];
    match flags.into_iter().find(|(unread, ..)| *unread) {
        Some((_, flag, why)) => Err(StartError::usage(format!("{flag} {why}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::app::args::Args;

    #[test]
    fn a_flag_that_would_not_be_read_is_refused() {
        let terminal = Stdio {
            stdin: true,
            stdout: true,
        };
        let piped = Stdio {
            stdin: false,
            ..terminal
        };
        for (line, stdio, refused) in [
            ("-r", terminal, None),
            ("-r", piped, Some("--resume")),
            ("-p x -r", terminal, Some("--resume")),
            ("-p -r 3f2a x", piped, None),
            ("x -r", terminal, Some("--resume")),
            ("-c model=x go", terminal, Some("-c")),
            ("model=x go", terminal, None),
            ("-c --read-only x", terminal, None),
            ("-c --read-only x", piped, Some("--read-only")),
            ("--mode json --read-only x", terminal, Some("--read-only")),
            ("--inline x", terminal, None),
            ("--inline x", piped, Some("--inline")),
            ("--theme dark -p x", terminal, Some("--theme")),
            ("--timeout 2 x", terminal, Some("--timeout")),
            ("--timeout 2 x", piped, None),
            ("--timeout 2 -p x", terminal, None),
            ("--timeout 2 --mode rpc", piped, Some("--timeout")),
            ("--no-stdin", terminal, Some("--no-stdin")),
            ("--demo", piped, None),
            ("--demo -p x", terminal, Some("the prompt")),
        ] {
            let args = Args::parse_from(["tiller"].into_iter().chain(line.split(' ')));
            let checked = check_flags(&args.run, stdio).map_err(|error| error.message);
            match (refused, checked) {
                (None, Ok(())) => {}
                (Some(flag), Err(error)) => assert!(error.starts_with(flag), "{line}: {error}"),
                (_, checked) => panic!("{line}: {checked:?}"),
            }
        }
    }
}
