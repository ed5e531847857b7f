//! The flags to pass on when tiller starts again: for a session of another folder, or in the same one.

use std::ffi::OsString;
use std::path::Path;

use super::RunArgs;
use crate::agent::permission::PermissionMode;

impl RunArgs {
    /// The flags that name `folder` and its settings, to start again in the same place.
    pub fn for_folder(&self, folder: &Path) -> Vec<OsString> {
        let mut flags: Vec<OsString> = vec!["-C".into(), folder.into()];
        for (flag, is_set) in [("--no-session", self.no_session), ("--trust", self.trust)] {
            flags.extend(is_set.then(|| flag.into()));
        }
        flags.extend(self.is_full().then(|| "--permission=full".into()));
        let of_folder = self.config.iter().filter(|value| is_permission(value));
        flags.extend(of_folder.map(|value| format!("--config={value}").into()));
        for folder in &self.add_dir {
            flags.extend(["--add-dir".into(), folder.into()]);
        }
        flags
    }

    fn is_full(&self) -> bool {
        self.permission == Some(PermissionMode::Full)
    }

    /// These flags as typed, for a start in another folder. Leaves out the session, the folder, the
    /// prompt, and every permission that was for the folder before.
    pub fn for_other_folder(&self) -> Vec<OsString> {
        // Names all fields, so that the compiler reports a new flag here.
        let Self {
            system_prompt,
            append_system_prompt,
            config,
            events,
            // Flags that set something.
            model: _,
            provider: _,
            thinking: _,
            tools: _,
            max_iterations: _,
            budget_usd: _,
            budget_tokens: _,
            permission: _,
            theme: _,
            inline: _,
            // Flags to leave out.
            prompt: _,
            print: _,
            no_stdin: _,
            mode: _,
            cd: _,
            add_dir: _,
            go_on: _,
            resume: _,
            session: _,
            fork: _,
            read_only: _,
            wait: _,
            at: _,
            no_session: _,
            timeout: _,
            trust: _,
            demo: _,
            separator: _,
        } = self;
        let mut flags = Vec::new();
        let mut add = |name: &str, value: Option<OsString>| {
            flags.extend(value.map(|value| {
                let mut flag = OsString::from(format!("{name}="));
                flag.push(value);
                flag
            }));
        };
        let left_out = |flag: &str| flag == "--permission" && self.is_full();
        let settings = self.settings();
        for (flag, _, value) in settings.filter(|(flag, ..)| !left_out(flag)) {
            let plain = value.as_str().map(str::to_owned);
            add(
                flag,
                Some(plain.unwrap_or_else(|| value.to_string()).into()),
            );
        }
        add("--system-prompt", system_prompt.clone().map(OsString::from));
        for value in append_system_prompt {
            add("--append-system-prompt", Some(value.into()));
        }
        for value in config.iter().filter(|value| !is_permission(value)) {
            add("--config", Some(value.into()));
        }
        add("--events", events.clone().map(OsString::from));
        flags
    }
}

fn is_permission(assignment: &str) -> bool {
    assignment.trim_start().starts_with("permission")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::app::args::Args;

    #[test]
    fn the_flags_that_were_typed_are_the_same_after_another_start() {
        let held = "-m a/b:high --thinking low --tools -bash --system-prompt=-x --append-system-prompt one \
             --append-system-prompt two --max-iterations 3 --budget-usd 0.5 --budget-tokens 7 --permission ask --config a.b=1 --config c=2 \
             --events e.jsonl --theme light";
        let held: Vec<&str> = held.split_whitespace().collect();
        let left_out = ["-C", "/x", "--trust", "--session", "s", "--wait", "hello"];
        let before = Args::parse_from(["tiller"].iter().chain(&held).chain(&left_out));
        let flags = before.run.for_other_folder();
        let again = Args::parse_from(["tiller".into()].into_iter().chain(flags));
        let expected = Args::parse_from(["tiller"].iter().chain(&held));
        assert_eq!(format!("{again:?}"), format!("{expected:?}"));
        // Permissions for one folder don't apply to another.
        for flag in ["--permission=full", "--config=permission.mode=full"] {
            let full = Args::parse_from(["tiller", flag]).run;
            assert!(full.for_other_folder().is_empty());
            let same = full.for_folder("/x".as_ref());
            assert!(same.contains(&flag.into()), "{same:?}");
        }
    }
}
