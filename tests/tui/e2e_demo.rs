//! The demo that a fresh machine shows first, in the real screen with the real tools.

use crate::support::sandbox::Sandbox;
use crate::support::screen::Launch;

/// Without a key, Enter starts the demo. It works in its own folder, answers messages and leaves
/// nothing behind.
#[test]
fn the_demo_runs_answers_and_cleans_up() {
    let sandbox = Sandbox::with(&[("mine.txt", "hands off\n")]);
    let screen = Launch::new(&sandbox).size(100, 40).start();
    screen.wait_for("tiller auth add anthropic");
    screen.keys("<enter>");
    screen.wait_for("Hi, I'm tiller");
    assert!(
        !screen.text().contains("In this demo I only touch"),
        "nobody asked about safety: {}",
        screen.text()
    );
    let scratch = || -> Vec<String> {
        let entries = std::fs::read_dir(sandbox.tmp()).unwrap().flatten();
        entries
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .collect()
    };
    assert!(
        scratch()
            .iter()
            .any(|name| name.starts_with("tiller-demo-"))
    );
    // The demo answers a message and continues.
    screen.keys("how nice of you<enter>");
    screen.wait_for("You said: \"how nice of you\"");
    screen.wait_for("read  lib/ferry.sh");
    screen.keys("<esc>");
    screen.wait_gone("Esc stops");
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
    assert_eq!(screen.leftovers(), Vec::<String>::new());
    assert_eq!(
        scratch(),
        Vec::<String>::new(),
        "the scratch folder is removed"
    );
    assert_eq!(sandbox.read("mine.txt"), "hands off\n");
    assert!(sandbox.session_files().is_empty(), "a demo is not stored");
}

/// The demo's script can't answer a real prompt, so the prompt stays in the editor until there is a
/// key.
#[test]
fn a_prompt_typed_without_a_key_is_kept_until_there_is_one() {
    let sandbox = Sandbox::new();
    let screen = Launch::new(&sandbox).size(100, 40).start();
    screen.wait_for("to skip it");
    screen.keys("fix the bug");
    screen.wait_for("fix the bug");
    screen.keys(" in auth.rs<enter>");
    screen.wait_for("your prompt stays here");
    screen.wait_for("mistral");
    screen.keys("anthropic");
    screen.wait_gone("mistral");
    screen.keys("<enter>");
    screen.wait_for("Key for anthropic");
    screen.keys("sk-ant-1234567890<enter>");
    screen.wait_gone("to skip it");
    screen.wait_gone("Key for anthropic");
    screen.wait_gone("demo ·");
    screen.wait_for("│ fix the bug in auth.rs");
    screen.wait_for("Stored the key for anthropic");
}
