//! Rules that answer questions, in the real program: edited in the editor, counted in this session, kept
//! for the next.

use serde_json::json;

use super::e2e_job::leave;
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

/// Presses a key that answers, as soon as it counts.
fn answer(screen: &Screen, command: &str, key: &str, expected: &str) {
    screen.wait_until("the question", |view| {
        view.contains("Run this command?") && view.contains(&format!("│ {command}"))
    });
    // Before its time a key is text; then it is taken away again.
    loop {
        screen.keys(key);
        let text = format!("│ {key} ");
        let counts = screen.wait_map("the key", |view| {
            if view.contains(expected) {
                Some(true)
            } else {
                view.contains(&text).then_some(false)
            }
        });
        if counts {
            return;
        }
        screen.keys("<backspace>");
        screen.wait_gone(&text);
    }
}

#[test]
fn an_edited_rule_counts_in_the_session() {
    let (server, sandbox) = job::stage_with(vec![
        run("mkdir one"),
        run("touch two"),
        run("mkdir three"),
        Reply::text("All made."),
    ]);
    let screen = open(&sandbox);
    screen.keys("go<enter>");
    answer(&screen, "mkdir one", "s", "Enter allows it in this session");
    screen.wait_for("prefix = [\"mkdir\"]");
    // The word of the prefix becomes another one.
    screen
        .keys("<up><end><left><left><backspace><backspace><backspace><backspace><backspace>touch");
    screen.wait_for("prefix = [\"touch\"]");
    screen.keys("<enter>");
    answer(&screen, "mkdir three", "n", "All made.");
    leave(&screen);
    let made = |name: &str| sandbox.path().join(name).exists();
    assert_eq!(
        ["one", "two", "three"].map(made),
        [true, true, false],
        "the rule is about touch"
    );
    assert_eq!(server.requests().len(), 4);
    assert!(!sandbox.config().join("projects.toml").exists());
}

#[test]
fn a_kept_rule_counts_in_the_next_process() {
    for (key, place, file) in [
        ("p", "in this project", "projects.toml"),
        ("a", "always", "config.toml"),
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
        answer(
            &screen,
            "mkdir one",
            key,
            &format!("Enter allows it {place}"),
        );
        screen.keys("<enter>");
        screen.wait_for("First made.");
        screen.wait_for("allow bash \"mkdir\"");
        leave(&screen);
        let after = std::fs::read_to_string(&file).unwrap();
        let header = match key {
            "p" => format!("[[rules.\"{}\"]]", sandbox.path().display()),
            _ => String::from("[[permission.rules]]"),
        };
        let rule = format!("{header}\ntool = \"bash\"\nprefix = [\"mkdir\"]\naction = \"allow\"\n");
        assert_eq!(after, format!("{}\n\n{rule}", before.trim_end()));

        let screen = open(&sandbox);
        screen.keys("go<enter>");
        screen.wait_for("Second made.");
        leave(&screen);
        assert!(sandbox.path().join("two").exists());
        // Where nobody can be asked it counts too.
        let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "--permission", "ask", "go"]);
        assert_eq!(ran.stdout, "Third made.\n", "{ran:#?}");
        assert!(sandbox.path().join("three").exists());
        let ran = sandbox.run(&["policy", "check", "--permission", "ask", "mkdir four"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(ran.stdout.contains(&*name), "{ran:#?}");
    }
}

/// Nothing was said about permission: what leaves the project is asked, the rest is not.
#[test]
fn a_new_user_is_asked_what_goes_further() {
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
    answer(&screen, "git push origin main", "n", "Not pushed.");
    leave(&screen);
    assert_eq!(sandbox.read("one"), "1\n");
    let told = server.request(2).body.to_string();
    assert!(told.contains("the user refused this call"), "{told}");
}
