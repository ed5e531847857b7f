//! The flags that hold when tiller starts again for the session of another folder.

use std::ffi::OsString;

use super::RunArgs;

impl RunArgs {
    /// These flags as they are typed, without those that name a session, a folder or a prompt, and
    /// without `--trust`, which was said of the folder before.
    pub fn for_other_folder(&self) -> Vec<OsString> {
        // All of them are named: a new flag is not forgotten here.
        let Self {
            model,
            thinking,
            tools,
            system_prompt,
            append_system_prompt,
            max_iterations,
            permission,
            config,
            events,
            theme,
            prompt: _,
            print: _,
            mode: _,
            cd: _,
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
        } = self;
        let mut flags = Vec::new();
        let mut add = |name: &str, value: Option<OsString>| {
            flags.extend(value.map(|value| {
                let mut flag = OsString::from(format!("--{name}="));
                flag.push(value);
                flag
            }));
        };
        let text = |value: &Option<String>| value.clone().map(OsString::from);
        add("model", text(model));
        add("thinking", thinking.map(|level| level.as_str().into()));
        add("tools", text(tools));
        add("system-prompt", text(system_prompt));
        for value in append_system_prompt {
            add("append-system-prompt", Some(value.into()));
        }
        add(
            "max-iterations",
            max_iterations.map(|most| most.to_string().into()),
        );
        add("permission", permission.map(|mode| mode.as_str().into()));
        for value in config {
            add("config", Some(value.into()));
        }
        add("events", events.clone().map(OsString::from));
        add("theme", text(theme));
        flags
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::app::args::Args;

    #[test]
    fn the_flags_that_were_typed_are_the_same_after_another_start() {
        let held = "-m a/b:high --thinking low --tools -bash --system-prompt=-x --append-system-prompt one \
             --append-system-prompt two --max-iterations 3 --permission full --config a.b=1 --config c=2 \
             --events e.jsonl --theme light";
        let held: Vec<&str> = held.split_whitespace().collect();
        let left_out = ["-C", "/x", "--trust", "--session", "s", "--wait", "hello"];
        let before = Args::parse_from(["tiller"].iter().chain(&held).chain(&left_out));
        let flags = before.run.for_other_folder();
        let again = Args::parse_from(["tiller".into()].into_iter().chain(flags));
        let expected = Args::parse_from(["tiller"].iter().chain(&held));
        assert_eq!(format!("{again:?}"), format!("{expected:?}"));
    }
}
