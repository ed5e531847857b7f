//! The user's own slash commands and skills, end to end.

use std::fs;

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;

fn stage() -> (ModelServer, Sandbox) {
    let server = ModelServer::start(Script::of([Reply::text("done").repeat()]));
    let mut sandbox = Sandbox::new();
    sandbox.use_server(&server);
    (server, sandbox)
}

fn ask(sandbox: &Sandbox, flags: &[&str], prompt: &str) {
    let mut line = vec!["-p", "-m", Wire::Anthropic.model()];
    line.extend(flags);
    line.push(prompt);
    let ran = sandbox.run(&line);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:#?}");
}

#[test]
fn a_command_file_of_another_agent_sends_its_prompt() {
    let (server, sandbox) = stage();
    sandbox.write(
        ".claude/commands/web/fix.md",
        "---\ndescription: Fix\n---\nFix $ARGUMENTS now.\n",
    );
    ask(&sandbox, &["--trust"], "/web:fix issue 12");
    let sent = server.request(0).last_user();
    let expected = "/web:fix issue 12\n\n[From .claude/commands/web/fix.md]\n\nFix issue 12 now.";
    assert_eq!(sent, expected);
    let unknown = sandbox.run(&["-p", "/web:fax"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("tiller docs skills"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn skills_are_listed_for_the_model_and_cost_nothing_without_any() {
    let (server, sandbox) = stage();
    ask(&sandbox, &["--trust"], "hi");
    assert!(!server.request(0).text().contains("Skills: "));
    let skill = "---\nname: release\ndescription: Makes a release\n---\nBODY TEXT\n";
    sandbox.write(".agents/skills/release/SKILL.md", skill);
    ask(&sandbox, &["--trust"], "hi");
    let sent = server.request(1).text();
    assert!(
        sent.contains("- release: Makes a release (release/SKILL.md)"),
        "{sent}"
    );
    assert!(!sent.contains("BODY TEXT"), "{sent}");
    ask(&sandbox, &["--trust"], "/skill:release v2");
    let sent = server.request(2).last_user();
    assert!(sent.ends_with("BODY TEXT\n\nARGUMENTS: v2"), "{sent}");
}

#[test]
fn a_projects_commands_wait_for_trust() {
    let (server, sandbox) = stage();
    sandbox.write(".claude/commands/fix.md", "Fix it.\n");
    let skill = "---\ndescription: Makes a release\n---\nBODY TEXT\n";
    sandbox.write(".agents/skills/release/SKILL.md", skill);
    for (typed, name) in [("/fix 12", "/fix"), ("/skill:release", "/release")] {
        let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), typed]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        let why = format!("{name} is a command of this project, which isn't trusted: add --trust");
        assert!(ran.stderr.contains(&why), "{}", ran.stderr);
    }
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "hi"]);
    assert!(ran.stderr.contains(".claude/commands"), "{}", ran.stderr);
    assert!(!server.request(0).text().contains("Skills: "));
}

#[test]
fn a_command_that_is_no_plain_file_ends_at_once() {
    let (_server, sandbox) = stage();
    let skill = "---\ndescription: x\n---\n";
    sandbox.write(".agents/skills/good/SKILL.md", skill);
    let folder = sandbox.path().join(".agents/skills/pipe");
    fs::create_dir_all(&folder).unwrap();
    let all = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&folder.join("SKILL.md"), all).unwrap();
    let ran = sandbox.run(&["-p", "--trust", "-m", Wire::Anthropic.model(), "/pipe"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("no command /pipe"), "{}", ran.stderr);
}
