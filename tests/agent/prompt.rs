//! The built-in system prompt and the tools it mentions.

use std::path::PathBuf;

use tiller::agent::memory::{Environment, SystemFiles, SystemPrompt};
use tiller::llm::{EditFormat, ToolSpec};

fn prompt() -> SystemPrompt {
    SystemPrompt {
        base: None,
        append: Vec::new(),
        cwd: PathBuf::from("/home/me/shop"),
        environment: Environment::default(),
        files: SystemFiles::default(),
        instructions: String::new(),
    }
}

const DAY: jiff::civil::Date = jiff::civil::date(2026, 11, 21);
const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];
const DOING: [&str; 2] = ["write", "bash"];
const SHAPES: [(&str, EditFormat); 3] = [
    ("edit", EditFormat::Edit),
    ("apply_patch", EditFormat::ApplyPatch),
    ("replace", EditFormat::Replace),
];

fn text(prompt: &SystemPrompt, tools: &[&str], format: EditFormat) -> String {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        ..ToolSpec::default()
    };
    let tools: Vec<_> = tools.iter().map(spec).collect();
    prompt.render(&tools, format, DAY)
}

fn all(shape: &'static str) -> Vec<&'static str> {
    [&LOOKING[..], &DOING, &[shape]].concat()
}

#[test]
fn the_prompt_mentions_only_available_tools() {
    for (shape, format) in SHAPES {
        let every = text(&prompt(), &all(shape), format);
        assert!(every.contains("Search with grep and find before"));
        for (other, _) in SHAPES {
            let told = every.contains(&format!("Use {other} for"));
            assert_eq!(told, other == shape, "{other} in {every}");
        }
        assert!(
            !every.contains('['),
            "the prompt still has conditions: {every}"
        );
        let some = text(&prompt(), &["read", "find"], format);
        assert!(some.contains("Search with find before"));
        for gone in ["edit", "bash", "grep", "apply_patch", "replace"] {
            assert!(!some.contains(gone), "{gone} in {some}");
        }
        let none = text(&prompt(), &[], format);
        assert!(!none.contains("# Tools"));
        assert!(none.contains("# How to answer"));
    }
}

#[test]
fn the_prompt_is_short_and_stable() {
    for (shape, format) in SHAPES {
        let once = text(&prompt(), &all(shape), format);
        assert_eq!(once, text(&prompt(), &all(shape), format));
        assert!(once.len() < 3_500, "{} bytes", once.len());
        assert!(once.ends_with("\nDate: 2026-11-21\n"));
        assert!(once.contains("Working directory: /home/me/shop\n"));
    }
}

#[test]
fn the_prompt_describes_the_place_as_far_as_known() {
    let prompt = SystemPrompt {
        environment: Environment {
            shell: "bash".into(),
            repository: "Git repository: no\n".into(),
            git: None,
        },
        ..prompt()
    };
    for (tools, shell) in [(&["bash"][..], "Shell: bash\n"), (&["read"], "")] {
        let text = text(&prompt, tools, EditFormat::Edit);
        let end = format!("{shell}Date: 2026-11-21\nGit repository: no\n");
        assert!(text.ends_with(&end), "{text}");
    }
}

// The project's files can't override the user's additions.
#[test]
fn the_users_additions_come_last() {
    let prompt = SystemPrompt {
        append: vec!["From the command line.".into()],
        files: SystemFiles {
            append: vec!["From the file.".into()],
            ..SystemFiles::default()
        },
        instructions: "\n\n# Project instructions\n\nUse tabs.".into(),
        ..prompt()
    };
    let text = text(&prompt, &["bash"], EditFormat::Edit);
    let end = "\nDate: 2026-11-21\n\nFrom the file.\n\nFrom the command line.\n";
    assert!(text.ends_with(end), "{text}");
    assert!(text.contains("# Project instructions"));
}
