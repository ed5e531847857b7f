//! The demo: what a bare machine shows first, in the real screen, with the real tools.

use crate::support::sandbox::Sandbox;
use crate::support::screen::Launch;

/// Without a key the demo starts on Enter, works in a folder of its own, answers what is typed,
/// and leaves nothing behind.
#[test]
fn it_starts_answers_and_tidies_up() {
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
    // A message while it works is answered, and the show goes on.
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
        "the scratch folder is gone"
    );
    assert_eq!(sandbox.read("mine.txt"), "hands off\n");
    assert!(sandbox.session_files().is_empty(), "a demo is not stored");
}

/// A prompt typed without a key is not for a script: it stays in the editor until there is a key.
#[test]
fn a_prompt_typed_without_a_key_survives_the_way_to_one() {
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
