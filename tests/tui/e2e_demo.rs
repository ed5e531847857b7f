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
    screen.wait_for("Hello, I am tiller");
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

/// Who types first is answered first, in their own words.
#[test]
fn typing_first_keeps_the_demo_waiting() {
    let sandbox = Sandbox::new();
    let screen = Launch::new(&sandbox).size(100, 40).start();
    screen.wait_for("any other key");
    screen.keys("which model");
    screen.wait_for("which model");
    screen.keys(" are you?<enter>");
    screen.wait_for("To work with a real model");
    screen.wait_for("which model are you?");
}
