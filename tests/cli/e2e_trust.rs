//! A project's own settings and instructions apply only if the user trusts the project.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};

const LEFT_OUT: &str = "tiller: folder not trusted, ignoring AGENTS.md, a/CLAUDE.md. To use them: add --trust, or type \
     /trust in tiller once\n";

#[test]
fn project_settings_apply_only_after_trust() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    sandbox.write(".tiller/config.toml", "agent.max_iterations = 7\n");
    let file = sandbox.path().join(".tiller/config.toml");
    let show = || sandbox.run(&["config", "show", "--origin"]).stdout;
    let from = |what: &str| format!("agent.max_iterations = {what}\n");
    assert!(show().contains(&from("100  # default")), "{}", show());
    let trusted = format!("[trust]\n\"{}\" = \"trusted\"\n", sandbox.path().display());
    fs::write(sandbox.config().join("projects.toml"), trusted).unwrap();
    let project = from(&format!("7  # project: {}", file.display()));
    assert!(show().contains(&project), "{}", show());
}

#[test]
fn broken_project_settings_are_ignored_and_reported() {
    for (text, fault) in [
        (
            "agent.max_iteration = 7",
            "did you mean agent.max_iterations?",
        ),
        ("permission.mode = \"full\"", "a project can't set it"),
        ("[agent]\nmax_iterations = [", "TOML parse error at line 3"),
        ("agent.steering_mode = \"some\"", "expected one of all, one"),
        ("models.default = \"acme/none\"", "acme"),
        ("models.fallback = [\"acme/none\"]", "acme"),
    ] {
        let (server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
        sandbox.write(".tiller/config.toml", &format!("retry.max = 0\n{text}\n"));
        let mut ask = vec!["-p", "--trust", "hi"];
        if text.starts_with("models.default") {
            let own = format!("models.default = \"{}\"\n", Wire::Anthropic.model());
            fs::write(sandbox.config().join("config.toml"), own).unwrap();
        } else {
            ask.extend(["-m", Wire::Anthropic.model()]);
        }
        let ran = sandbox.run(&ask);
        assert_eq!(ran.code, Some(0), "{text}: {ran:#?}");
        let left_out = "tiller: ignoring the project's settings: ";
        assert!(ran.stderr.starts_with(left_out), "{text}: {ran:#?}");
        assert!(ran.stderr.contains(fault), "{text}: {ran:#?}");
        server.request(0);
    }
}

#[test]
fn project_instructions_apply_only_after_trust() {
    let replies = (0..5).map(|_| Reply::text("ok")).collect();
    let (server, sandbox) = job::stage_with(replies);
    sandbox.git_init();
    sandbox.write("AGENTS.md", "Use tabs.");
    sandbox.write("a/CLAUDE.md", "Say moin.");
    fs::write(sandbox.config().join("AGENTS.md"), "Be brief.").unwrap();
    let projects = sandbox.config().join("projects.toml");
    let ask = ["-p", "-m", Wire::Anthropic.model(), "-C", "a", "go"];
    let trusting = [&ask[..], &["--trust"]].concat();
    let root = sandbox.path();
    let says = |verdict: &str| format!("[trust]\n\"{}\" = \"{verdict}\"\n", root.display());
    for (number, (said, arguments, stderr, told)) in [
        (None, &ask[..], LEFT_OUT, false),
        (None, &trusting, "", true),
        // The flag was for one run.
        (None, &ask, LEFT_OUT, false),
        (Some(says("trusted")), &ask, "", true),
        (Some(says("denied")), &ask, "", false),
    ]
    .into_iter()
    .enumerate()
    {
        if let Some(text) = said {
            fs::write(&projects, text).unwrap();
        }
        let ran = sandbox.run(arguments);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(0), stderr),
            "{number}"
        );
        let text = server.request(number).text();
        assert!(text.contains("Be brief."), "{number}: {text}");
        for own in ["Use tabs.", "Say moin."] {
            assert_eq!(text.contains(own), told, "{number}: {own}: {text}");
        }
    }
    fs::write(&projects, says("maybe")).unwrap();
    let ran = sandbox.run(&ask);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("expected \"trusted\" or \"denied\""),
        "{ran:#?}"
    );
}

/// Makes `path` an executable that runs `script`.
fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_hanging_git_does_not_delay_the_request() {
    let (server, mut sandbox) = job::stage_with(vec![Reply::text("ok")]);
    sandbox.git_init();
    let folder = sandbox.tmp().join("bin");
    program(&folder.join("git"), "exec sleep 1000");
    let path = std::env::var("PATH").unwrap();
    sandbox.set("PATH", &format!("{}:{path}", folder.display()));
    let ran = sandbox.run(&["-p", "--trust", "-m", Wire::Anthropic.model(), "hi"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let prompt = server.request(0).body["system"].to_string();
    assert!(prompt.contains("Git status: unknown"), "{prompt}");
    assert!(!prompt.contains("Last commits"), "{prompt}");
}

#[test]
fn the_first_request_of_a_plain_folder_is_small() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
        sandbox.git_init();
        let ran = sandbox.run(&["-p", "-m", wire.model(), "hi"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let bytes = server.request(0).raw_body.len();
        assert!(bytes <= 10_240, "{wire:?}: {bytes} bytes");
    }
}
