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
        (
            &["mcp", "add", "x"],
            2,
            "what is it? tiller mcp add x -- COMMAND, or --url URL",
        ),
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
    let providers = "[providers.x]\napi_key = \"k\"\nbase_url = \"http://x\"\n";
    std::fs::write(&file, providers).unwrap();
    let ran = sandbox.run(&["config", "get", "ui.theme"]);
    let told = "config.toml:1): write providers into models.toml, next to config.toml";
    assert!(ran.stderr.trim_end().ends_with(told), "{ran:#?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
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
    printed(&["set", "models.aliases.\"v1.5\"", "opus:low"]);
    printed(&["set", "models.favorites", "[\"opus\", \"v1.5\"]"]);
    printed(&["set", "permission.protected", "~/a, ~/b"]);
    printed(&["set", "tools.bash.secret_env", "[PIN,PUK]"]);
    printed(&["set", "budget.usd", "$5"]);
    printed(&["set", "ui.vim", "on"]);
    printed(&["set", "agent.max_iterations", "7"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n[ui]\ntheme = \"nord\" # why\n"),
        "{text}"
    );
    for (key, value) in [
        ("ui.theme", "nord\n"),
        ("compaction.prompt", "5\n"),
        ("models.favorites", "[\"opus\", \"v1.5\"]\n"),
        ("agent.max_iterations", "7\n"),
        ("permission.protected", "[\"~/a\", \"~/b\"]\n"),
        ("tools.bash.secret_env", "[\"PIN\", \"PUK\"]\n"),
        ("budget.usd", "5\n"),
        ("ui.vim", "true\n"),
        ("models.aliases", "models.aliases.\"v1.5\" = \"opus:low\"\n"),
        ("undo", "undo.max_bytes = 536870912\n"),
    ] {
        assert_eq!(printed(&["get", key]), value, "{key}");
    }
    assert_eq!(
        printed(&["get", "ui.theme", "ui.vim"]),
        "ui.theme = \"nord\"\nui.vim = true\n"
    );
    for (arguments, code, told) in [
        (
            &["set", "permission.protected", "a/b"][..],
            2,
            "start it with / or ~/",
        ),
        (
            &["set", "permission.rules", "x"],
            2,
            "for example:\n[[permission.rules]]",
        ),
        (
            &["set", "models.favorites", "sonnet", "opus"],
            2,
            "tiller config set models.favorites sonnet,opus",
        ),
        (
            &["set", "budget.usd", "two"],
            2,
            "expected a number, such as 2.5",
        ),
        (
            &["set", "models.servers.vllm", "x"],
            2,
            "in models.toml, as [providers.NAME]",
        ),
        (
            &["get", "ui.them"],
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
        (&["unset", "ui theme"], 2, "did you mean ui.theme?"),
        (&["unset", "ui.them"], 2, "did you mean ui.theme?"),
        (
            &["unset", "ui.mouse"],
            2,
            "config.toml: ui.mouse isn't set here",
        ),
        (&["unset", "models"], 2, "has its own section"),
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
fn a_setting_is_unset_and_all_are_listed() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    let text =
        "# mine\n[ui]\n# eyes\ntheme = \"nord\"\n[models.aliases]\n\"v1.5\" = \"opus\" # old\n";
    std::fs::write(&file, text).unwrap();
    let printed = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["config"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    assert_eq!(printed(&["show", "ui.theme"]), "nord\n");
    let all = printed(&["show"]);
    assert!(all.contains("ui.theme = \"nord\"\n"), "{all}");
    assert_eq!((printed(&["get"]), printed(&["list"])), (all.clone(), all));
    let told = format!("ui.theme = \"nord\"  # user: {}\n", file.display());
    assert_eq!(printed(&["list", "ui.theme", "--origin"]), told);
    for key in ["ui.theme", "models.aliases.\"v1.5\""] {
        let told = format!("Removed {key} from {}\n", file.display());
        assert_eq!(printed(&["unset", key]), told);
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "# mine\n[ui]\n# eyes\n[models.aliases]\n# old\n");
    assert_eq!(printed(&["get", "ui.theme"]), "auto\n");
}

#[test]
fn a_value_that_names_nothing_is_refused() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    let themes = sandbox.config().join("themes");
    std::fs::create_dir(&themes).unwrap();
    std::fs::write(themes.join("mine.toml"), "inherits = \"dark\"\n").unwrap();
    let models = "[providers.lab]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9\"\n\
                  [[providers.lab.models]]\nid = \"quick\"\n";
    std::fs::write(sandbox.config().join("models.toml"), models).unwrap();
    let before = std::fs::read_to_string(&file).ok();
    for (key, value, told) in [
        (
            "ui.theme",
            "nrod",
            &["did you mean 'nord'?", "Themes: dark, light,", "mine"][..],
        ),
        ("ui.theme_dark", "auto", &["unknown theme 'auto'"]),
        (
            "models.default",
            "sonet",
            &["did you mean 'sonnet'?", "`tiller models` lists"],
        ),
        (
            "models.default",
            "claude",
            &["anthropic/claude-opus-5-5", "tiller auth add anthropic"],
        ),
        (
            "models.fallback",
            "[\"opus\", \"gtp-9x\"]",
            &["unknown model 'gtp-9x'"],
        ),
        (
            "models.aliases.fast",
            "labb/quick",
            &["did you mean 'lab'?"],
        ),
        (
            "tools.set",
            "reed",
            &["did you mean 'read'?", "Sets: all, coding"],
        ),
        ("models.thinking", "hihg", &["minimal, low, medium"]),
    ] {
        let ran = sandbox.run(&["config", "set", key, value]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{key}");
        assert!(ran.stderr.contains("(command line)"), "{}", ran.stderr);
        for told in told {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
        assert_eq!(std::fs::read_to_string(&file).ok(), before);
    }
    for (key, value) in [
        ("ui.theme", "auto"),
        ("ui.theme", "mine"),
        ("models.aliases.fast", "lab/quick:low"),
        ("models.default", "fast"),
        ("models.default", "ollama/qwen3:8b"),
        ("models.default", ""),
        (
            "models.favorites",
            "[\"lab/quick\", \"anthropic/claude-new-9\"]",
        ),
        ("tools.set", "coding,+grep"),
    ] {
        let ran = sandbox.run(&["config", "set", key, value]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{key}");
    }
}

#[test]
fn other_mistakes_in_the_file_are_told_and_stop_no_change() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    let set = |text: &str, key: &str, value: &str| {
        std::fs::write(&file, text).unwrap();
        let ran = sandbox.run(&["config", "set", key, value]);
        (
            ran.code,
            ran.stderr,
            std::fs::read_to_string(&file).unwrap(),
        )
    };
    let text = "# mine\nthem = 1 # why\n[permission]\nmood = \"ask\"\n[ui]\ntheme = \"dark\"\n";
    let (code, told, now) = set(text, "ui.theme", "nord");
    assert_eq!((code, now), (Some(0), text.replace("dark", "nord")));
    assert!(told.contains("unknown setting permission.mood"), "{told}");
    assert!(told.contains("config.toml:4): "), "{told}");
    let text = "[ui]\nnotify = \"whistle\"\ntheme = \"nrod\"\n";
    let (code, told, now) = set(text, "ui.vim", "true");
    assert_eq!((code, now), (Some(0), format!("{text}vim = true\n")));
    assert!(told.contains("config.toml:2)"), "{told}");
    assert!(
        told.contains("config.toml:3): unknown theme 'nrod'"),
        "{told}"
    );
    // The mistake itself is mended.
    let (_, told, _) = set("[ui]\nnotify = \"whistle\"\n", "ui.notify", "bell");
    assert_eq!(told, "");
    let (code, told, now) = set("[ui\n", "ui.theme", "nord");
    assert_eq!((code, now.as_str()), (Some(2), "[ui\n"));
    assert!(
        told.contains("to fix that first: tiller config edit"),
        "{told}"
    );
    assert!(told.contains("line 1"), "{told}");
}

#[test]
fn a_model_in_the_settings_that_is_none_is_told_with_its_line() {
    let sandbox = Sandbox::new();
    let file = sandbox.config().join("config.toml");
    for (text, told) in [
        (
            "\n[models]\ndefault = \"claud\"\n",
            "setting models.default = \"claud\" (user: FILE:3): 'claud' is ambiguous",
        ),
        (
            "models.fallback = [\"sonet\"]\n",
            "setting models.fallback = [\"sonet\"] (user: FILE:1): unknown model 'sonet'",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let ran = sandbox.run(&["-p", "hi"]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        let told = told.replace("FILE", &file.display().to_string());
        assert!(
            ran.stderr.starts_with(&format!("error: {told}")),
            "{ran:#?}"
        );
        assert!(
            ran.stderr.contains("To change it: tiller config "),
            "{ran:#?}"
        );
    }
    // With a key there are other models. The run continues, but not with the model of another vendor.
    let (_server, sandbox) = job::stage_with((0..2).map(|_| Reply::text("ok")).collect());
    let file = sandbox.config().join("config.toml");
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    for (section, line) in [
        ("models", "default = \"claud-x\""),
        ("models", "fallback = [\"claud-x\"]"),
        ("tools", "set = \"reed\""),
    ] {
        let heading = format!("[{section}]\n");
        let text = if before.contains(&heading) {
            before.replace(&heading, &format!("{heading}{line}\n"))
        } else {
            format!("{before}\n{heading}{line}\n")
        };
        std::fs::write(&file, text).unwrap();
        let ran = sandbox.run(&["-p", "hi"]);
        if line.starts_with("default") {
            assert_eq!(ran.code, Some(2), "{ran:#?}");
            continue;
        }
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "ok\n"),
            "{ran:#?}"
        );
        let told = format!("tiller: ignored: setting {section}.");
        assert!(ran.stderr.contains(&told), "{ran:#?}");
    }
    let ran = sandbox.run(&["-p", "--config", "models.default=claud-x", "hi"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    // A flag is no line of the file.
    let ran = sandbox.run(&["-p", "-m", "claud", "hi"]);
    assert!(
        ran.stderr.starts_with("error: 'claud' is ambiguous"),
        "{ran:#?}"
    );
}

#[test]
fn an_unknown_setting_leads_to_the_right_one_or_to_the_list() {
    let sandbox = Sandbox::new();
    for (key, told) in [
        ("permissions.mode", "did you mean permission.mode?"),
        ("permissions.defaultMode", "did you mean permission.mode?"),
        (
            "permission.allow",
            "instead, run: tiller policy allow COMMAND",
        ),
        (
            "permissions.deny",
            "instead, run: tiller policy deny COMMAND",
        ),
        ("permission.mood", "did you mean permission.mode?"),
        ("permission.folder", "`tiller config get permission` lists"),
        ("retry.max_attempts", "did you mean retry.max?"),
        ("model", "did you mean models.default?"),
        ("models.model", "did you mean models.default?"),
        ("model.default", "did you mean models.default?"),
        ("theme", "did you mean ui.theme?"),
        ("theme.name", "did you mean ui.theme?"),
        ("ui.them", "did you mean ui.theme?"),
        ("ui.colour", "did you mean ui.theme?"),
        ("sandbox", "did you mean permission.mode?"),
        ("sandbox.enabled", "did you mean permission.mode?"),
        ("agent.maxIterations", "did you mean agent.max_iterations?"),
        ("timeout", "did you mean tools.bash.timeout_seconds?"),
        ("bash.timeout", "did you mean tools.bash.timeout_seconds?"),
        (
            "tools.search.timeout",
            "did you mean tools.search.timeout_seconds?",
        ),
        ("autoCompact", "did you mean compaction.enabled?"),
        ("apiKey", "`tiller auth add PROVIDER` stores API keys"),
        ("editor", "set the variable VISUAL or EDITOR instead"),
        ("provider", "`tiller config list` lists all settings"),
        ("env", "export variables before you start tiller"),
        ("enabled", "`tiller config list` lists all settings"),
        ("proxy", "set the variable HTTPS_PROXY instead"),
    ] {
        let ran = sandbox.run(&["config", "get", key]);
        let told = format!("error: unknown setting {key}: {told}");
        assert!(ran.stderr.starts_with(&told), "{told}\n{}", ran.stderr);
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
        (
            "printf '[ui]\\ntheme = \"nrod\"\\n' >",
            2,
            "did you mean 'nord'?",
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
    // These would wait for keys.
    for editor in ["", "/usr/bin/vim -p"] {
        sandbox.set("EDITOR", editor);
        let ran = sandbox.run(&["config", "edit"]);
        let yourself = format!("Edit the file yourself: {}", file.display());
        assert!(
            ran.code == Some(2) && ran.stderr.contains(&yourself),
            "{ran:#?}"
        );
    }
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
        (
            &["man"][..],
            "\n.SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ndone\n",
        ),
        (&["man"], "\n.SH EXAMPLES\n.TP\n\\fBtiller\\fR\nopen the "),
        (&["man"], "\n.IP \\(bu 2\nplan: reads only"),
        (&["man"], "\n.SH FILES\n"),
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

#[test]
fn config_set_names_tillers_own_setting_and_warns_of_what_it_means() {
    let sandbox = Sandbox::new();
    for (words, part) in [
        (["budget", "5"], "did you mean budget.usd? `tiller"),
        (["statusLine", "x"], "status line can't be changed"),
        (["editorMode", "vim"], "did you mean ui.vim?"),
        (["includeCoAuthoredBy", "false"], "adds no trailer"),
        (["attribution", "x"], "adds no trailer"),
        (["cleanupPeriodDays", "30"], "tiller sessions rm ID"),
        (["outputStyle", "x"], "APPEND_SYSTEM.md"),
        (
            ["alwaysThinkingEnabled", "true"],
            "did you mean models.thinking?",
        ),
        (["apiKeyHelper", "x"], "write api_key"),
        (["enableAllProjectMcpServers", "true"], "/mcp lists them"),
        (["env", "x"], "export variables"),
        (["theme", "dark"], "did you mean ui.theme?"),
        (
            ["permission.mode", "acceptEdits"],
            "use permission.mode auto",
        ),
    ] {
        let ran = sandbox.run(&[&["config", "set"], &words[..]].concat());
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains(part), "{ran:#?}");
    }
    let ran = sandbox.run(&["config", "set", "permission.writable", "/nope"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("/nope: No such file"), "{ran:#?}");
    let ran = sandbox.run(&["config", "set", "permission.mode", "full"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("without a sandbox"), "{ran:#?}");
}

#[test]
fn a_list_of_rules_as_other_agents_have_it_leads_to_the_command_for_one() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.config()).unwrap();
    for (text, told) in [
        (
            "[permission]\nallow = [\"Bash(npm test:*)\", \"Bash(ls)\"]\n",
            "config.toml:2): remove it, then run: tiller policy allow npm test\n",
        ),
        (
            "[permissions]\ndeny = [\"Read(./.env)\", \"Bash(git push *)\"]\n",
            "config.toml:2): remove it, then run: tiller policy deny git push\n",
        ),
        (
            "[permissions]\nask = [\"WebFetch(*)\"]\n",
            "remove it, then run: tiller policy ask COMMAND\n",
        ),
    ] {
        std::fs::write(sandbox.config().join("config.toml"), text).unwrap();
        let ran = sandbox.run(&["policy", "list"]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains(told), "{ran:#?}");
    }
}

#[test]
fn config_show_can_show_what_trust_would_change() {
    let sandbox = Sandbox::new();
    sandbox.write(".tiller/config.toml", "[agent]\nmax_iterations = 7\n");
    sandbox.git_init();
    let shown = |flags: &[&str]| {
        let words = [
            &["config", "show", "--origin", "agent.max_iterations"],
            flags,
        ]
        .concat();
        sandbox.run(&words).stdout
    };
    assert!(shown(&[]).contains("# default"), "{}", shown(&[]));
    let trusted = shown(&["--trust"]);
    assert!(trusted.contains("= 7  # project: "), "{trusted}");
}
