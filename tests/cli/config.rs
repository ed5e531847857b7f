//! `tiller config` and invalid command lines, as a shell sees them.

use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;

#[test]
fn config_shows_the_source_of_every_value() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    std::fs::create_dir_all(sandbox.config()).unwrap();
    std::fs::write(&file, "agent.max_iterations = 7\n[ui]\ntheme = \"light\"\n").unwrap();
    let ran = sandbox.run(&["config", "show", "--origin", "--config", "ui.theme=dark"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = |key: &str| {
        ran.stdout
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        line("agent.max_iterations"),
        format!("agent.max_iterations = 7  # user: {}", file.display())
    );
    assert_eq!(line("ui.theme"), "ui.theme = \"dark\"  # --config");
    assert_eq!(
        line("tools.bash.timeout_seconds"),
        "tools.bash.timeout_seconds = 120  # default"
    );
    let plain: toml::Table = sandbox.run(&["config", "show"]).stdout.parse().unwrap();
    assert_eq!(plain["agent"]["max_iterations"].as_integer(), Some(7));
    let path = sandbox.run(&["config", "path"]);
    assert_eq!(path.stdout.trim_end(), file.display().to_string());
}

#[test]
fn usage_errors_say_what_to_do() {
    let cases: [(&[&str], u8, &str); 12] = [
        (&["--modle", "x"], 2, "--mode"),
        (
            &["-p", "hi", "--config", "agent.max_iteration=3"],
            2,
            "did you mean agent.max_iterations?",
        ),
        (
            &["-p", "hi", "--config", "compaction.threshold=8"],
            2,
            "compaction.threshold = 8",
        ),
        (
            &["-p", "hi", "--config", "compaction.threshold=nan"],
            2,
            "from 0.05 to 1",
        ),
        (
            &["-p", "hi", "--config", "tools.bash.timeout_seconds=0"],
            2,
            "expected a whole number from 1",
        ),
        (&["mcp", "add", "x", "npx"], 2, "no sub-command 'mcp'"),
        (&["-p", "hi", "--thinking", "hard"], 2, "minimal"),
        (&["-p", "hi", "--tools", "reed"], 2, "reed"),
        (
            &["-p", "hi", "-C", "/no/such/folder"],
            2,
            "-C /no/such/folder",
        ),
        (&["-p", "hi", "-m", "nowhere/model"], 2, "nowhere"),
        (&["-p", "hi"], 1, "export ANTHROPIC_API_KEY="),
        (&["-p"], 2, "no prompt"),
    ];
    for (arguments, code, text) in cases {
        let mut sandbox = Sandbox::new();
        if code == 2 {
            // Usage errors come before any request, so any key will do.
            sandbox.set("ANTHROPIC_API_KEY", "unused");
        }
        let ran = sandbox.run(arguments);
        assert_eq!(
            ran.code,
            Some(i32::from(code)),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(text), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn an_invalid_setting_is_reported_and_otherwise_ignored() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
    let file = sandbox.config().join("config.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("them = \"dark\"\n{before}")).unwrap();
    let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "go"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "ok\n"),
        "{ran:#?}"
    );
    let told = "tiller: ignored: unknown setting them (user: ";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    assert!(ran.stderr.contains("config.toml:1)"), "{}", ran.stderr);
    std::fs::write(&file, "[permission]\nmod = \"ask\"\n").unwrap();
    let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "go"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
}

#[test]
fn a_broken_settings_file_stops_the_start_with_an_error_that_names_it() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.config()).unwrap();
    std::fs::write(sandbox.config().join("config.toml"), "[agent\n").unwrap();
    let ran = sandbox.run(&["-p", "hi"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("config.toml is not valid TOML"),
        "{}",
        ran.stderr
    );
    // The file's path can still be asked for.
    let path = sandbox.run(&["config", "path"]);
    assert!(path.stdout.ends_with("config.toml\n"), "{}", path.stderr);
}

#[test]
fn config_get_and_set_work() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    let run = |arguments: &[&str]| sandbox.run(&[&["config"], arguments].concat());
    let printed = |arguments: &[&str]| {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    std::fs::write(&file, "# mine\n[ui]\ntheme = \"dark\" # why\n").unwrap();
    let said = printed(&["set", "ui.theme", "nord"]);
    assert_eq!(
        said,
        format!("Set ui.theme = \"nord\" in {}\n", file.display())
    );
    // A text setting stays text even if the value looks like a number.
    printed(&["set", "compaction.prompt", "5"]);
    printed(&["set", "models.aliases.\"v1.5\"", "lab/old"]);
    printed(&["set", "models.favorites", "[\"a\", \"b\"]"]);
    printed(&["set", "agent.max_iterations", "7"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n[ui]\ntheme = \"nord\" # why\n"),
        "{text}"
    );
    for (key, value) in [
        ("ui.theme", "nord\n"),
        ("compaction.prompt", "5\n"),
        ("models.favorites", "[\"a\", \"b\"]\n"),
        ("agent.max_iterations", "7\n"),
        ("models.aliases", "models.aliases.\"v1.5\" = \"lab/old\"\n"),
        ("undo", "undo.max_bytes = 536870912\n"),
    ] {
        assert_eq!(printed(&["get", key]), value, "{key}");
    }
    for (arguments, code, told) in [
        (
            &["get", "ui.them"][..],
            2,
            "unknown setting ui.them: did you mean ui.theme?",
        ),
        (
            &["get", "models.aliases.none"],
            1,
            "models.aliases.none isn't set",
        ),
        (&["set", "ui.them", "x"], 2, "did you mean ui.theme?"),
        (
            &["set", "ui.mouse", "3"],
            2,
            "setting ui.mouse = 3 (command line): expected true or false",
        ),
        (&["set", "ui.notify", "whistle"], 2, "(command line)"),
        (&["set", "ui", "3"], 2, "a table"),
        (
            &["set", "ui theme", "x"],
            2,
            "'ui theme' is not the name of a setting",
        ),
    ] {
        let ran = run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(code), ""),
            "{arguments:?}"
        );
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn config_edit_checks_the_settings_file() {
    let mut sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    let _ = std::fs::remove_file(&file);
    for (editor, code, told) in [
        ("true", 0, "are valid"),
        (
            "printf '[ui]\\nthem = 1\\n' >>",
            2,
            "did you mean ui.theme?",
        ),
        ("printf '[agent\\n' >", 2, "config.toml is not valid TOML"),
        ("false", 1, "`false`"),
    ] {
        sandbox.set("EDITOR", editor);
        let ran = sandbox.run(&["config", "edit"]);
        assert_eq!(ran.code, Some(code), "{editor}: {ran:#?}");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains(told), "{editor}: {all}");
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "[agent\n");
}

#[test]
fn completions_and_man_pages_include_subcommands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = sandbox.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for word in ["follow-up", "permission", "sessions", "export", "auto"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
    for (arguments, word) in [
        (&["man"][..], "Exit codes"),
        (&["man", "config"], "tiller\\-config\\-set(1)"),
        (&["man", "config", "set"], "tiller config set"),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(
            ran.stdout.contains(".TH tiller") && ran.stdout.contains(word),
            "{}",
            ran.stdout
        );
    }
    let ran = sandbox.run(&["man", "config", "sat"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no sub-command 'config sat'"),
        "{}",
        ran.stderr
    );
}
