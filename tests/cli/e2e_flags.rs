//! What flags and settings change in a run, checked in the request, the results and the session
//! file.

use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Reply, Usage, Wire};

#[test]
fn flags_replace_and_extend_the_system_prompt() {
    let built_in = include_str!("../../assets/system.md");
    let first_words = &built_in[..40];
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![Reply::text("ok"), Reply::text("ok")]);
        let plain = [
            "-p",
            "-m",
            wire.model(),
            "go",
            "--append-system-prompt",
            "Say arr.",
        ];
        assert_eq!(sandbox.run(&plain).code, Some(0));
        let told = server.request(0).text();
        assert!(
            told.contains(first_words) && told.contains("Say arr."),
            "{told}"
        );
        let own = [
            "--system-prompt",
            "You are a pirate.",
            "--append-system-prompt",
            "Twice.",
        ];
        assert_eq!(sandbox.run(&[&plain[..], &own].concat()).code, Some(0));
        let told = server.request(1).text();
        assert!(!told.contains(first_words), "{told}");
        for text in ["You are a pirate.", "Say arr.", "Twice."] {
            assert!(told.contains(text), "{text}: {told}");
        }
    }
}

#[test]
fn files_replace_and_extend_the_system_prompt() {
    let replies = (0..3).map(|_| Reply::text("ok"));
    let (server, sandbox) = job::stage_with(replies.collect());
    std::fs::write(sandbox.config().join("SYSTEM.md"), "You are a poet.").unwrap();
    sandbox.write(".tiller/SYSTEM.md", "You are a pirate.");
    sandbox.write(".tiller/APPEND_SYSTEM.md", "Say arr.");
    let ask = ["-p", "-m", Wire::Anthropic.model(), "go"];
    let first_words = &include_str!("../../assets/system.md")[..40];
    for (number, (more, there, absent)) in [
        (
            &[][..],
            &["poet"][..],
            &["pirate", "Say arr", first_words][..],
        ),
        (
            &["--trust"],
            &["pirate", "Say arr."],
            &["poet", first_words],
        ),
        (
            &["--trust", "--system-prompt", "Be."],
            &["Be.", "Say arr."],
            &["pirate", "poet"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let ran = sandbox.run(&[&ask[..], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let undecided = ran
            .stderr
            .contains("ignoring .tiller/SYSTEM.md, .tiller/APPEND_SYSTEM.md. To use them: ");
        assert_eq!(undecided, more.is_empty(), "{ran:#?}");
        let told = server.request(number).text();
        for text in there {
            assert!(told.contains(text), "{text}: {told}");
        }
        for text in absent {
            assert!(!told.contains(text), "{text}: {told}");
        }
    }
}

#[test]
fn the_working_folder_flag_sets_where_tools_and_the_session_are() {
    let (server, sandbox) = job::stage_with(vec![Reply::call("ls", json!({})), Reply::text("ok")]);
    sandbox.write("below/only-here.txt", "x");
    let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "-C", "below", "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(server.request(1).results(), ["only-here.txt"]);
    let cwd = sandbox.path().join("below").display().to_string();
    assert_eq!(sandbox.session()[0]["cwd"], cwd);
}

#[test]
fn mentioned_files_are_put_into_the_prompt() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
    sandbox.write("notes.txt", "remember the milk");
    let ran = sandbox.run(&[
        "-p",
        "-m",
        Wire::Anthropic.model(),
        "what is in",
        "@notes.txt",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let user = server.request(0).last_user();
    for text in ["remember the milk", "what is in", "notes.txt"] {
        assert!(user.contains(text), "{text}: {user}");
    }
}

#[test]
fn the_thinking_level_is_stored_with_each_answer() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "--thinking", "low", "go"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(sandbox.session_messages()[1]["thinkingLevel"], "low");
    }
}

#[test]
fn settings_reach_the_tools() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::new()
            .and_call("bash", json!({"command": "echo before; sleep 1000"}))
            .and_call("bash", json!({"command": "seq 1 100", "timeout": 60}))
            .and_call("read", json!({"file_path": "src/math.rs"}))
            .and_call("bash", json!({"command": "echo $MY_PIN-$MY_NAME"})),
        Reply::text("ok"),
    ]);
    std::fs::create_dir_all(sandbox.config()).unwrap();
    std::fs::write(
        sandbox.config().join("config.toml"),
        "[tools.bash]\nmax_output_chars = 50\nsecret_env = [\"*_PIN\"]\n[tools.read]\nmax_lines = 1\n",
    )
    .unwrap();
    let mut sandbox = sandbox;
    sandbox.set("MY_PIN", "1234");
    sandbox.set("MY_NAME", "me");
    let model = Wire::Anthropic.model();
    let timeout = "tools.bash.timeout_seconds=1";
    let ran = sandbox.run(&["-p", "-m", model, "--config", timeout, "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.request(1).results();
    assert_eq!(results[0], "before\n[timed out after 1 s]");
    assert!(results[1].contains("characters left out"), "{}", results[1]);
    assert!(results[2].contains("[truncated: lines 1-1 of 3. Use offset=2 to continue.]"));
    assert_eq!(results[3], "-me");
}

/// Search needs no program from the machine.
#[test]
fn searching_works_without_a_path() {
    let (server, mut sandbox) = job::stage_with(vec![
        Reply::new()
            .and_call("grep", json!({"pattern": "fn add"}))
            .and_call("find", json!({"pattern": "*.rs"})),
        Reply::text("ok"),
    ]);
    sandbox.set("PATH", "/nonexistent");
    let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.request(1).results();
    assert!(
        results[0].starts_with("src/math.rs:1: fn add"),
        "{results:?}"
    );
    assert_eq!(results[1], "src/math.rs");
}

#[test]
fn each_answer_is_stored_with_its_tokens_and_cost() {
    for wire in Wire::ALL {
        let usage = |input, output| Usage {
            input,
            output,
            cache_read: 30,
            ..Usage::default()
        };
        let (_server, sandbox) = job::stage_with(vec![
            Reply::call("ls", json!({})).usage(usage(100, 7)),
            Reply::text("ok").usage(usage(200, 9)),
        ]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "go"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let messages = sandbox.session_messages();
        for (message, input, output) in [(&messages[1], 100, 7), (&messages[3], 200, 9)] {
            let stored = &message["usage"];
            assert_eq!(stored["input"], input, "{wire:?}: {stored}");
            assert_eq!(stored["output"], output);
            assert_eq!(stored["cacheRead"], 30);
            assert_eq!(stored["totalTokens"], input + output + 30);
            assert!(stored["cost"]["total"].is_number());
        }
    }
}

#[test]
fn version_and_help_go_to_stdout_and_succeed() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let ran = sandbox.run(&["--version"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stdout,
        format!("tiller {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = sandbox.run(&["--help"]).stdout;
    for option in [
        "--print",
        "--model",
        "--mode",
        "--thinking",
        "--tools",
        "--cd",
        "--no-session",
        "--system-prompt",
        "--append-system-prompt",
        "--max-iterations",
        "--timeout",
        "--permission",
        "--config",
        "--theme",
        "--demo",
    ] {
        assert!(help.contains(option), "{option}");
    }
}

/// Without a session, long outputs go to a private folder that tiller deletes when it exits.
#[test]
fn spill_files_without_a_session_are_private_and_temporary() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::call("bash", json!({"command": "seq 1 50000"})),
        Reply::call(
            "bash",
            json!({"command": "stat -c '%a %n' $TMPDIR/tiller-*"}),
        ),
        Reply::text("ok"),
    ]);
    let before = sandbox.all_files();
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "--no-session", "-m", model, "go"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let results = server.request(2).results();
    let folder = sandbox.tmp().join("tiller-").display().to_string();
    let path = results[0].split("full output: ").nth(1).unwrap();
    assert!(path.starts_with(&folder), "{path}");
    // The folder of its outputs, and the one for its commands' temporary files.
    let folders: Vec<&str> = results[1].lines().collect();
    assert!(
        folders.iter().all(|it| it.starts_with("700 ")),
        "{results:?}"
    );
    let named = |it: &&str| path.starts_with(&format!("{}/", &it[4..]));
    assert_eq!(folders.into_iter().filter(named).count(), 1, "{results:?}");
    assert_eq!(sandbox.all_files(), before);
}

/// The user's own request fields are sent, and no request asks for a cache.
#[test]
fn requests_contain_the_users_extra_fields() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![Reply::text("ok"), Reply::text("ok")]);
        let provider = wire.model().split('/').next().unwrap();
        let options = match wire {
            Wire::Google => "generationConfig = { temperature = 0.5 }",
            _ => "temperature = 1.0",
        };
        let models = format!("[providers.{provider}.options]\n{options}\n");
        std::fs::write(sandbox.config().join("models.toml"), models).unwrap();
        for more in [&["--config", "models.auto_cache=false"][..], &[]] {
            let arguments = [&["-p", "-m", wire.model()], more, &["go"]].concat();
            let ran = sandbox.run(&arguments);
            assert_eq!(ran.code, Some(0), "{wire:?}: {ran:#?}");
        }
        let [without, with] = [0, 1].map(|number| server.request(number));
        let asked = |text: &str| text.contains("cache_control") || text.contains("cache_key");
        assert!(!asked(&without.text()), "{wire:?}");
        let marks = matches!(wire, Wire::Anthropic | Wire::Responses);
        assert_eq!(asked(&with.text()), marks, "{wire:?}");
        let temperature = match wire {
            Wire::Google => &with.body["generationConfig"]["temperature"],
            _ => &with.body["temperature"],
        };
        assert!(temperature.is_f64(), "{wire:?}: {}", with.text());
        if wire == Wire::Google {
            assert!(!with.body["generationConfig"]["maxOutputTokens"].is_null());
        }
    }
}

#[test]
fn a_session_in_a_folder_with_a_non_utf8_name_can_be_resumed() {
    use std::os::unix::ffi::OsStrExt;
    let (server, sandbox) = job::stage_with(vec![Reply::text("one"), Reply::text("two")]);
    let name = std::ffi::OsStr::from_bytes(b"f\xff");
    let folder = sandbox.tmp().join(name);
    std::fs::create_dir(&folder).unwrap();
    for arguments in [&["-p"][..], &["-c", "-p"]] {
        let mut command = sandbox.tiller(arguments);
        command.args(["-m", Wire::Anthropic.model(), "Say it"]);
        let ran = command.current_dir(&folder).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }
    assert_eq!(server.request(1).text().matches("Say it").count(), 2);
}
