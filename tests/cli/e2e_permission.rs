//! What runs without a screen and without a word about permission: the mode is `auto`, and what it would
//! ask is refused.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;

/// What the model is told of each of these calls, as a new user has it.
fn told(sandbox: &Sandbox, flags: &[&str], calls: &[(&str, Value)]) -> Vec<String> {
    let replies = calls
        .iter()
        .map(|(tool, args)| Reply::call(tool, args.clone()));
    let server = ModelServer::start(Script::of(replies.chain([Reply::text("Done.")])));
    let arguments = [&["--mode", "json", "-m", Wire::Chat.model(), "go"], flags].concat();
    let output = sandbox
        .tiller(&arguments)
        .envs(server.env())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:#?}");
    let text = |result: &Value| {
        let content = result["content"].as_array().unwrap().iter();
        content
            .filter_map(|it| it["text"].as_str())
            .collect::<String>()
    };
    let stdout = String::from_utf8(output.stdout).unwrap();
    let records = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let ended = records.filter(|it: &Value| it["type"] == "tool_execution_end");
    ended.map(|it| text(&it["result"])).collect()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({"command": command}))
}

/// A repository with a remote, outside of `/tmp`; none where no sandbox works.
fn repository() -> Option<Sandbox> {
    let sandbox = Sandbox::outside_tmp().with_default_mode();
    if !sandbox.machine_confines() {
        return None;
    }
    sandbox.write("file", "x\n");
    sandbox.git_init();
    for arguments in [
        &["init", "-q", "--bare", "../remote.git"][..],
        &["remote", "add", "origin", "../remote.git"],
    ] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(sandbox.path());
        assert!(
            git.env_clear()
                .envs(sandbox.env())
                .status()
                .unwrap()
                .success()
        );
    }
    Some(sandbox)
}

#[test]
fn work_in_the_project_needs_no_word() {
    let Some(sandbox) = repository() else { return };
    let told = told(
        &sandbox,
        &[],
        &[
            ("write", json!({"file_path": "new", "content": "1\n"})),
            bash(
                "echo 2 >> new && git add new && git -c user.name=a -c user.email=a@b commit -qm new && git status -s | wc -l",
            ),
            bash("touch ../outside; echo $? && ! test -e ../outside"),
            bash("cat ../config/config.toml"),
        ],
    );
    assert_eq!(sandbox.read("new"), "1\n2\n");
    assert_eq!(told[1].trim(), "0", "{told:#?}");
    assert!(told[2].contains("Read-only file system"), "{told:#?}");
    assert!(told[3].contains("[it failed in the sandbox"), "{told:#?}");
}

/// The refusal names a rule; once that is in the settings, the same call runs.
#[test]
fn what_would_be_asked_is_refused_with_the_rule_that_allows_it() {
    let Some(sandbox) = repository() else { return };
    let push = [bash("git push -q origin main")];
    let pushed = || {
        sandbox
            .path()
            .join("../remote.git/refs/heads/main")
            .exists()
    };
    let refused = told(&sandbox, &[], &push);
    let begin = "Not permitted: git push: others see what is pushed";
    assert!(refused[0].starts_with(begin), "{refused:#?}");
    let (_, rule) = refused[0]
        .split_once("with a rule in config.toml:\n")
        .unwrap();
    assert!(!pushed());
    let file = sandbox.config().join("config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}\n{rule}\n")).unwrap();
    let allowed = told(&sandbox, &[], &push);
    assert!(pushed(), "{allowed:#?}");
}

#[test]
fn other_modes_are_a_word_away() {
    let Some(sandbox) = repository() else { return };
    for (flags, made) in [
        (&[][..], false),
        (&["--permission", "ask"], false),
        (&["--permission", "plan"], false),
        (&["--config", "permission.mode=full"], true),
        (&["--permission", "full"], true),
    ] {
        let outside = sandbox.path().join("../outside");
        let write = ("write", json!({"file_path": "../outside", "content": "x"}));
        let told = told(&sandbox, flags, &[write]);
        assert_eq!(outside.exists(), made, "{flags:?}: {told:?}");
        assert_eq!(told[0].starts_with("Not permitted: "), !made, "{told:?}");
        let _ = std::fs::remove_file(outside);
    }
}

#[test]
fn the_answer_of_a_refused_run_is_printed() {
    let Some(sandbox) = repository() else { return };
    let replies = [
        Reply::call("bash", json!({"command": "git push origin main"})),
        Reply::text("I may not push."),
    ];
    let server = ModelServer::start(Script::of(replies));
    let mut command = sandbox.tiller(&["-p", "-m", Wire::Chat.model(), "push"]);
    let output = command.envs(server.env()).output().unwrap();
    assert_eq!(output.stdout, b"I may not push.\n", "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn without_what_the_sandbox_is_made_of_auto_asks_and_says_why() {
    for (without, why) in [
        ("namespaces", "read-only files within the writable folders"),
        ("landlock", "other processes could be signalled"),
        ("seccomp", "the other layers could be undone"),
        ("namespaces,landlock", "hidden files could be read"),
        (
            "namespaces,landlock,seccomp",
            "the network could be reached",
        ),
    ] {
        let Some(mut sandbox) = repository() else {
            return;
        };
        sandbox.set("TILLER_SANDBOX_WITHOUT", without);
        let told = told(&sandbox, &[], &[bash("touch made")]);
        let begin = "Not permitted: no sandbox works on this machine: ";
        assert!(told[0].starts_with(begin), "{without}: {told:?}");
        assert!(told[0].contains(why), "{without}: {told:?}");
        assert!(!sandbox.path().join("made").exists(), "{without}");
    }
}

/// What a command leaves in the project does not run at the user's next `git status`.
#[test]
fn a_repository_that_a_command_makes_runs_nothing_later() {
    for (flags, runs) in [(&[][..], false), (&["--permission", "full"], true)] {
        let Some(sandbox) = repository() else { return };
        let evil = sandbox.path().join("../evil");
        let make = format!(
            "mkdir -p a/b/c/sub && cd a/b/c/sub && git init -q && git config user.name x \
             && git config core.fsmonitor 'touch {}'",
            evil.display()
        );
        let told = told(&sandbox, flags, &[bash(&make)]);
        assert_eq!(told[0].contains("(core.fsmonitor)"), !runs, "{told:?}");
        let mut git = Command::new("git");
        git.arg("status")
            .current_dir(sandbox.path().join("a/b/c/sub"));
        let status = git.env_clear().envs(sandbox.env()).output().unwrap();
        assert!(status.status.success(), "{status:?}");
        assert_eq!(evil.exists(), runs, "{flags:?}: {told:?}");
    }
}
