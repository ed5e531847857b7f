//! Rules that answer questions in the real program: edited, used in this session, and saved for the
//! next.

use serde_json::json;

use super::e2e_job::leave;
use super::e2e_questions::answer;
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// tiller in mode `ask`.
fn open(sandbox: &Sandbox) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", Wire::Chat.model(), "--permission", "ask"])
        .size(100, 40)
        .start();
    screen.wait_for("─ ask");
    screen
}

fn run(command: &str) -> Reply {
    Reply::call("bash", json!({"command": command}))
}

/// Waits for the question about this command.
fn asked(screen: &Screen, command: &str) {
    screen.wait_until("the question", |view| {
        view.contains("Run this command?") && view.contains(&format!("│ {command}"))
    });
}

#[test]
fn an_edited_rule_applies_in_the_session() {
    let (server, sandbox) = job::stage_with(vec![
        run("mkdir one"),
        run("touch two"),
        run("mkdir three"),
        Reply::text("All made."),
    ]);
    let screen = open(&sandbox);
    screen.keys("go<enter>");
    asked(&screen, "mkdir one");
    screen.keys("<down><down><tab>");
    screen.wait_for("Enter allow in this session");
    screen.wait_for("prefix = [\"mkdir\"]");
    // Replaces the word of the prefix.
    screen
        .keys("<up><end><left><left><backspace><backspace><backspace><backspace><backspace>touch");
    screen.wait_for("prefix = [\"touch\"]");
    screen.keys("<enter>");
    asked(&screen, "mkdir three");
    answer(&screen, 3);
    screen.wait_for("All made.");
    leave(&screen);
    let made = |name: &str| sandbox.path().join(name).exists();
    assert_eq!(
        ["one", "two", "three"].map(made),
        [true, true, false],
        "the rule allows touch, not mkdir"
    );
    assert_eq!(server.requests().len(), 4);
    assert!(!sandbox.config().join("projects.toml").exists());
}

#[test]
fn a_saved_rule_applies_in_the_next_process() {
    for (keys, place, file) in [
        ("<down><down><right>", "in this project", "projects.toml"),
        (
            "<down><down><right><right>",
            "in every project",
            "config.toml",
        ),
    ] {
        let (_server, sandbox) = job::stage_with(vec![
            run("mkdir one"),
            Reply::text("First made."),
            run("mkdir two"),
            Reply::text("Second made."),
            run("mkdir three"),
            Reply::text("Third made."),
        ]);
        let file = sandbox.config().join(file);
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let before = format!("# mine\n{before}");
        std::fs::write(&file, &before).unwrap();
        let screen = open(&sandbox);
        screen.keys("go<enter>");
        asked(&screen, "mkdir one");
        screen.keys(keys);
        screen.wait_for(&format!("`mkdir …` {place}"));
        screen.wait_for("Enter confirm");
        screen.keys("<enter>");
        screen.wait_for("First made.");
        screen.wait_for("allow bash \"mkdir\"");
        leave(&screen);
        let after = std::fs::read_to_string(&file).unwrap();
        let header = match place {
            "in this project" => format!("[[rules.\"{}\"]]", sandbox.path().display()),
            _ => String::from("[[permission.rules]]"),
        };
        let rule = format!("{header}\ntool = \"bash\"\nprefix = [\"mkdir\"]\naction = \"allow\"\n");
        assert_eq!(after, format!("{}\n\n{rule}", before.trim_end()));

        let screen = open(&sandbox);
        screen.keys("go<enter>");
        screen.wait_for("Second made.");
        leave(&screen);
        assert!(sandbox.path().join("two").exists());
        // The rule also applies without a screen.
        let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "--permission", "ask", "go"]);
        assert_eq!(ran.stdout, "Third made.\n", "{ran:#?}");
        assert!(sandbox.path().join("three").exists());
        let ran = sandbox.run(&["policy", "check", "--permission", "ask", "mkdir four"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(ran.stdout.contains(&*name), "{ran:#?}");
    }
}

#[test]
fn a_rule_that_the_user_types_applies_at_once() {
    let (_server, sandbox) = job::stage_with(vec![run("mkdir one"), Reply::text("Made.")]);
    let screen = open(&sandbox);
    screen.keys("/permissions allow mkdir<enter>");
    screen.wait_for("allow bash \"mkdir\", in the sandbox");
    screen.keys("go<enter>");
    screen.wait_for("Made.");
    assert!(
        !screen.text().contains("rules have changed"),
        "{}",
        screen.text()
    );
    assert!(sandbox.path().join("one").exists());
    leave(&screen);
}

#[test]
fn a_setting_that_changes_elsewhere_is_named_at_the_next_prompt() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("Done.")]);
    let screen = open(&sandbox);
    let ran = sandbox.run(&["config", "set", "ui.title", "off"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    screen.keys("go<enter>");
    screen.wait_for("config.toml has changed: ui.title. Restart tiller to use it");
    screen.wait_for("Done.");
    leave(&screen);
}

/// Rules that change in another terminal apply from the next call, and a broken file changes nothing.
#[test]
fn a_running_session_follows_changed_rules() {
    let (_server, sandbox) = job::stage_with(vec![
        run("mkdir one"),
        run("mkdir two"),
        run("mkdir three"),
        Reply::text("All made."),
        run("mkdir four"),
        run("mkdir five"),
        Reply::text("More made."),
        run("mkdir six"),
        Reply::text("Not made."),
    ]);
    let file = sandbox.config().join("config.toml");
    let screen = open(&sandbox);
    screen.keys("go<enter>");
    asked(&screen, "mkdir one");
    let ran = sandbox.run(&["policy", "allow", "mkdir"]);
    let note = "Running sessions follow it from their next call on.";
    assert!(ran.stdout.contains(note), "{ran:#?}");
    let allowed = std::fs::read_to_string(&file).unwrap();
    answer(&screen, 1);
    // The second one runs without a question.
    screen.wait_for("All made.");
    screen.wait_for("Your permission rules have changed");
    assert!(sandbox.path().join("three").exists());
    std::fs::write(&file, format!("{allowed}[permission\n")).unwrap();
    screen.keys("go<enter>");
    screen.wait_for("More made.");
    let told = screen.text().matches("so the old ones stay").count();
    assert_eq!(told, 1, "{}", screen.text());
    assert!(sandbox.path().join("five").exists());
    std::fs::write(&file, "").unwrap();
    screen.keys("go<enter>");
    asked(&screen, "mkdir six");
    answer(&screen, 3);
    screen.wait_for("Not made.");
    leave(&screen);
}

/// With the default permissions tiller asks before leaving the project, and about nothing else.
#[test]
fn by_default_tiller_asks_before_leaving_the_project() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::call("write", json!({"file_path": "one", "content": "1\n"})),
        run("git push origin main"),
        Reply::text("Not pushed."),
    ]);
    let sandbox = sandbox.with_default_mode();
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::Chat.model()])
        .size(100, 40)
        .start();
    screen.wait_for("─ auto");
    screen.keys("go<enter>");
    asked(&screen, "git push origin main");
    answer(&screen, 3);
    screen.wait_for("Not pushed.");
    leave(&screen);
    assert_eq!(sandbox.read("one"), "1\n");
    let told = server.request(2).body.to_string();
    assert!(told.contains("the user denied this call"), "{told}");
}
