//! Flags on the other side of a sub-command than it takes them: before it, or after a command to check.

use std::ffi::{OsStr, OsString};

use clap::{Command, CommandFactory, Error, Parser};

use super::{Args, PolicyCheckArgs, PolicyCommand, SubCommand};

impl Args {
    /// Parses the command line. Flags can come before the sub-command that has them.
    pub fn parse_in_any_order(typed: &[OsString]) -> Result<Self, Error> {
        let args = Self::try_parse_from(typed)?;
        Ok(Self::with_flags_after(&args, typed).unwrap_or(args))
    }

    /// The same with the flags after the sub-command that `args` took for a prompt.
    fn with_flags_after(args: &Self, typed: &[OsString]) -> Option<Self> {
        let words = &args.run.prompt;
        let (program, rest) = typed.split_first()?;
        if args.command.is_some() || args.run.print || rest.iter().any(|word| word == "--") {
            return None;
        }
        let first = words.first()?;
        let command = Self::command();
        let command = command.find_subcommand(first)?;
        let nested = words.get(1).and_then(|word| command.find_subcommand(word));
        let count = 1 + usize::from(nested.is_some());
        let names: Vec<OsString> = words.iter().take(count).map(OsString::from).collect();
        let at = rest.windows(count).position(|those| those == names)?;
        let flags = rest.get(..at).filter(|flags| !flags.is_empty())?;
        let target = nested.unwrap_or(command);
        if !flags.iter().all(|flag| has_flag(target, flag)) {
            return None;
        }
        let all = [
            std::slice::from_ref(program),
            &names,
            flags,
            &rest[at + count..],
        ]
        .concat();
        let moved = Self::try_parse_from(all).ok()?;
        moved.command.is_some().then_some(moved)
    }
}

/// Whether `word` is the value of a flag, or a flag that `command` has.
fn has_flag(command: &Command, word: &OsStr) -> bool {
    let Some(word) = word.to_str() else {
        return true;
    };
    let name = word.split('=').next().unwrap_or_default();
    let mut known = command.get_arguments();
    match (name.strip_prefix("--"), name.strip_prefix('-')) {
        (Some(long), _) => known.any(|it| it.get_long() == Some(long)),
        (None, Some(short)) => known.any(|it| it.get_short() == short.chars().next()),
        (None, None) => true,
    }
}

impl PolicyCheckArgs {
    /// The same with tiller's own flags after the command taken as flags.
    #[must_use]
    pub fn with_flags_before(&self) -> Self {
        let Some((command, flags)) = self.command.split_first() else {
            return self.clone();
        };
        let typed = ["tiller", "policy", "check"].into_iter();
        let typed = typed.chain(flags.iter().map(String::as_str));
        let Ok(Args {
            command:
                Some(SubCommand::Policy {
                    what: PolicyCommand::Check(after),
                }),
            ..
        }) = Args::try_parse_from(typed)
        else {
            return self.clone();
        };
        if !after.command.is_empty() || flags.is_empty() {
            return self.clone();
        }
        Self {
            command: vec![command.clone()],
            permission: after.permission.or(self.permission),
            json: after.json || self.json,
            config: [&self.config[..], &after.config].concat(),
        }
    }

    /// Why the command can't be what the user means, if it begins with a flag without `--` before it.
    pub fn unknown_flag(&self, mut line: impl Iterator<Item = OsString>) -> Option<String> {
        let first = self.command.first()?;
        if !first.starts_with('-') || first == "-" || line.any(|word| word == "--") {
            return None;
        }
        Some(format!(
            "policy check has no option {first}, only --permission, --json and --config. For a command \
             that begins with a hyphen: tiller policy check -- {}",
            self.command.join(" ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Args {
        let typed = ["tiller"].iter().chain(words).map(OsString::from);
        Args::parse_in_any_order(&typed.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn flags_can_come_before_the_sub_command_and_after_the_command() {
        for words in [
            &[
                "policy",
                "check",
                "--config",
                "permission.mode=ask",
                "git push",
            ][..],
            &[
                "policy",
                "check",
                "git push",
                "--config",
                "permission.mode=ask",
            ],
            &[
                "--config",
                "permission.mode=ask",
                "policy",
                "check",
                "git push",
            ],
            &[
                "--config=permission.mode=ask",
                "policy",
                "check",
                "git push",
            ],
        ] {
            let Some(SubCommand::Policy {
                what: PolicyCommand::Check(what),
            }) = parsed(words).command
            else {
                panic!("{words:?}");
            };
            let what = what.with_flags_before();
            assert_eq!(what.command, ["git push"]);
            assert_eq!(what.config, ["permission.mode=ask"]);
        }
    }

    #[test]
    fn a_flag_that_the_sub_command_lacks_stays_a_mistake() {
        assert!(
            parsed(&["--inline", "policy", "check"])
                .run
                .mistyped_command()
                .is_some()
        );
        assert!(
            parsed(&["--config", "ui.vim=true", "what is policy"])
                .command
                .is_none()
        );
    }

    #[test]
    fn an_unknown_flag_is_no_command() {
        let what = |words: &[&str]| PolicyCheckArgs {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            ..PolicyCheckArgs::default()
        };
        let line = || {
            ["tiller", "policy", "check"]
                .map(OsString::from)
                .into_iter()
        };
        for words in [
            &["--foo", "rm", "-rf", "/"][..],
            &["--auto", "git"],
            &["--mode", "plan"],
        ] {
            let why = what(words).unknown_flag(line()).unwrap_or_default();
            assert!(
                why.contains(&format!("no option {}, only", words[0])),
                "{why}"
            );
        }
        assert_eq!(what(&["-"]).unknown_flag(line()), None);
        assert_eq!(what(&["git", "--foo"]).unknown_flag(line()), None);
        let line = line().chain([OsString::from("--")]);
        assert_eq!(what(&["--foo"]).unknown_flag(line), None);
    }

    #[test]
    fn a_flag_of_the_checked_command_belongs_to_it() {
        let what = PolicyCheckArgs {
            command: ["git", "push", "--force"].map(str::to_owned).to_vec(),
            ..PolicyCheckArgs::default()
        };
        assert_eq!(what.with_flags_before().command, what.command);
    }
}
