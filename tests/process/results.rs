//! What a command's result says, to the model and to people.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use tiller::agent::{Details, ToolSettings};

use super::bash_tool::BashTool;
use crate::support::marked::{DEADLINE, MarkedProcesses, process_info};

#[tokio::test]
async fn the_result_is_the_output_and_how_it_ended() {
    let bash = BashTool::new();
    for (command, text, is_error) in [
        ("echo hello", "hello", false),
        (
            "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
            "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3",
            false,
        ),
        ("true", "(no output, exit code 0)", false),
        ("exec 1>&- 2>&-; exit 0", "(no output, exit code 0)", false),
        ("echo; echo", "(no output, exit code 0)", false),
        ("echo some; exit 7", "some\n[exit code 7]", true),
        ("exit 3", "[exit code 3]", true),
        ("echo a; kill -9 $$", "a\n[killed by signal 9]", true),
        ("kill -TERM $$", "[killed by signal 15]", true),
        (
            "exec 1>&-; echo lost 2>/dev/null; exit 4",
            "[exit code 4]",
            true,
        ),
        // stdin is empty, and there's no terminal.
        ("cat; echo read $?", "read 0", false),
        (
            "read line || echo nothing to read",
            "nothing to read",
            false,
        ),
        (
            "(: < /dev/tty) 2>/dev/null || echo no terminal",
            "no terminal",
            false,
        ),
        (
            "printf '\\033[31mred\\033[0m\\a 10%%\\r50%%\\rdone\\n'",
            "done",
            false,
        ),
        ("kill -9 0", "[killed by signal 9]", true),
        (
            "kill $PPID; kill -INT $PPID; kill -HUP $PPID; echo alive",
            "alive",
            false,
        ),
    ] {
        let outcome = bash.run(command).await;
        assert_eq!(
            (outcome.text.as_str(), outcome.is_error),
            (text, is_error),
            "{command}"
        );
        assert!(outcome.details.duration_ms.is_some());
        assert_eq!(outcome.details.command, command);
    }
    bash.empty().await;
}

#[tokio::test]
async fn a_call_cancelled_before_its_start_runs_nothing() {
    let bash = BashTool::new();
    let call = bash.start("touch here");
    call.cancel.cancel();
    let error = call.raw().await.unwrap_err();
    assert_eq!(error.message, "Tool execution cancelled");
    assert!(!bash.folder.path().join("here").exists());
}

#[tokio::test]
async fn an_unknown_command_is_an_exit_code() {
    let outcome = BashTool::new().run("no-such-program-here").await;
    assert!(
        outcome.text.ends_with("command not found\n[exit code 127]"),
        "{}",
        outcome.text
    );
    assert_eq!(outcome.details.exit_code, Some(127));
}

#[tokio::test]
async fn a_command_that_cannot_start_is_an_error() {
    let bash = BashTool::new();
    let error = bash.start("echo a\0b").raw().await.unwrap_err();
    assert_eq!(error.message, "The command contains a NUL character.");
    fs::remove_dir_all(bash.folder.path()).unwrap();
    let error = bash.start("echo").raw().await.unwrap_err();
    assert!(
        error.message.starts_with("The working directory is gone: "),
        "{}",
        error.message
    );
    bash.empty().await;
}

#[tokio::test]
async fn a_timeout_keeps_the_output_so_far() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let command = marked.script("echo before; SLEEP");
    let outcome = bash
        .start_with(json!({ "command": command, "timeout": 1 }))
        .end()
        .await;
    assert_eq!(outcome.text, "before\n[timed out after 1 s]");
    assert!(outcome.is_error && outcome.details.timed_out);
    assert_eq!(outcome.details.exit_code, Some(-1));
    let took = outcome.details.duration_ms;
    assert!(took.is_some_and(|ms| ms >= 1000), "{took:?}");
    marked.assert_none().await;
    bash.empty().await;
}

#[tokio::test]
async fn sigterm_comes_first_and_sigkill_two_seconds_later() {
    for (trap, signal, at_least) in [("", 15, 0), ("trap '' TERM; ", 9, 1900)] {
        let bash = BashTool::new();
        let marked = MarkedProcesses::new();
        let mut call = bash.start(&marked.script(&format!("{trap}echo ready; SLEEP")));
        call.wait_for_output("ready").await;
        let told = Instant::now();
        bash.processes.stop_all();
        bash.empty().await;
        assert!(
            told.elapsed() >= Duration::from_millis(at_least),
            "{trap:?}"
        );
        let text = call.end().await.text;
        assert_eq!(text, format!("ready\n[killed by signal {signal}]"));
        marked.assert_none().await;
    }
}

#[tokio::test]
async fn the_timeout_comes_from_the_settings_and_has_a_limit() {
    let settings = |usual, most| ToolSettings {
        bash_timeout_s: usual,
        bash_max_timeout_s: most,
        ..ToolSettings::default()
    };
    let marked = MarkedProcesses::new();
    let outcome = BashTool::with(settings(1, 600))
        .run(&marked.script("SLEEP"))
        .await;
    assert_eq!(outcome.text, "[timed out after 1 s]");
    let call = json!({ "command": marked.script("SLEEP"), "timeout": 1000 });
    let outcome = BashTool::with(settings(60, 1)).start_with(call).end().await;
    assert_eq!(outcome.text, "[timed out after 1 s]");
    marked.assert_none().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_immediately_with_the_output_so_far() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let mut call = bash.start(&marked.script("trap '' TERM; echo begun; SLEEP; SLEEP"));
    call.wait_for_output("begun").await;
    call.cancel.cancel();
    let outcome = call.end().await;
    assert_eq!(outcome.text, "begun");
    assert!(outcome.is_error);
    // The processes take 2 s to end. The result doesn't wait for them.
    assert_eq!(bash.processes.alive(), 1);
    bash.empty().await;
    marked.assert_none().await;
}

#[tokio::test]
async fn the_result_names_processes_that_outlive_the_shell_and_they_end_with_the_run() {
    let bash = BashTool::new();
    for script in [
        "SLEEP & echo started",
        "setsid SLEEP >/dev/null 2>&1 & echo started",
    ] {
        let marked = MarkedProcesses::new();
        let outcome = bash.run(&marked.script(script)).await;
        let still = &outcome.details.still_running;
        assert!(
            still.len() == 1 && still[0].ends_with(" sleep"),
            "{still:?}"
        );
        assert_eq!(
            outcome.text,
            format!(
                "started\n[still running: {}; they end with this run]",
                still[0]
            )
        );
        assert!(!outcome.is_error);
        assert_eq!(marked.living().len(), 1);
        bash.processes.stop_all();
        bash.empty().await;
        marked.assert_none().await;
    }
}

// In /proc, the name is in parentheses before the numbers.
#[tokio::test]
async fn a_process_with_an_odd_name_is_named() {
    let bash = BashTool::new();
    let command = "p='a) R 1 (b'; cp $(command -v sleep) \"$p\"; \"./$p\" 99 & echo started";
    let outcome = bash.run(command).await;
    assert!(
        outcome
            .text
            .ends_with(" a) R 1 (b; they end with this run]"),
        "{}",
        outcome.text
    );
    bash.processes.kill_all();
    bash.empty().await;
}

#[tokio::test]
async fn a_child_that_keeps_writing_does_not_delay_the_result() {
    let bash = BashTool::new();
    let marked = MarkedProcesses::new();
    let outcome = bash
        .run(&marked.script("(while :; do echo more; sleep 0.01; : MARK; done) & exit 5"))
        .await;
    assert!(outcome.text.contains("more\n") && outcome.text.ends_with("[exit code 5]"));
    assert!(!outcome.details.still_running.is_empty());
    bash.processes.kill_all();
    bash.empty().await;
    marked.assert_none().await;
}

#[tokio::test]
async fn the_result_waits_briefly_for_late_output_of_a_child() {
    let outcome = BashTool::new()
        .run("(sleep 0.05; echo late) & echo early")
        .await;
    assert_eq!(outcome.text, "early\nlate");
}

#[tokio::test]
async fn the_length_of_a_command_is_limited() {
    let bash = BashTool::new();
    let long = |length| format!("{}echo ran", " ".repeat(length));
    assert_eq!(bash.run(&long(120 * 1024 - 8)).await.text, "ran");
    let error = bash.start(&long(120 * 1024)).raw().await.unwrap_err();
    assert_eq!(
        error.message,
        "The command is 122888 bytes long; the limit is 122880. Write it to a file and run that \
         file."
    );
}

// Between the shell's exit and the result, the task may not get to run, as on a suspended machine.
#[tokio::test]
async fn output_that_arrives_while_the_call_cannot_run_is_kept() {
    let bash = BashTool::new();
    let mut call = bash.start(
        "(until [ -e go ]; do sleep 0.01; done; echo late; touch done; sleep 0.3) & echo early $!",
    );
    let child = call.wait_for_output("early").await.output;
    let child: i32 = child.trim_start_matches("early ").trim().parse().unwrap();
    let shell_has_ended = || {
        process_info(child).is_some_and(|child| {
            process_info(child.parent).is_some_and(|parent| parent.command.starts_with("tiller"))
        })
    };
    let deadline = Instant::now() + DEADLINE;
    while !shell_has_ended() {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    // Nothing shows from outside that the call has seen the exit. If it hasn't, the test proves
    // less but doesn't fail.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    // The call runs on this test's only thread, too.
    fs::write(bash.folder.path().join("go"), "").unwrap();
    let held = Instant::now();
    while held.elapsed() < Duration::from_millis(200) || !bash.folder.path().join("done").exists() {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    let text = call.end().await.text;
    assert!(text.contains("\nlate"), "{text}");
}

// The working directory is on a file system that doesn't respond.
#[test]
fn a_call_can_be_cancelled_while_it_checks_the_working_directory() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || held.recv());
    runtime.block_on(async {
        let bash = BashTool::new();
        let call = bash.start("touch here");
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        call.cancel.cancel();
        let error = call.raw().await.unwrap_err();
        assert_eq!(error.message, "Tool execution cancelled");
        assert_eq!(bash.processes.alive(), 0);
        assert!(!bash.folder.path().join("here").exists());
        drop(release);
    });
}

#[tokio::test]
async fn the_environment_turns_off_pagers_and_prompts() {
    let bash = BashTool::new();
    let outcome = bash
        .run("echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $NO_COLOR $TERM; pwd -P")
        .await;
    let folder = bash.folder.path().canonicalize().unwrap();
    assert_eq!(
        outcome.text,
        format!("cat cat 0 1 dumb\n{}", folder.display())
    );
}

// The command must not inherit the supervisor's signal handling.
#[tokio::test]
async fn the_shell_starts_with_default_signals() {
    let outcome = BashTool::new()
        .run("grep -E 'Sig(Blk|Ign)' /proc/self/status")
        .await;
    for line in outcome.text.lines() {
        let (_, mask) = line.split_once('\t').unwrap();
        // The C library uses these real-time signals itself.
        assert_eq!(
            u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff,
            0,
            "{line}"
        );
    }
}

#[tokio::test]
async fn the_preview_shows_the_command_for_any_arguments() {
    let bash = BashTool::new();
    let preview = |args| match bash.tool().preview(&args) {
        Details::Command(details) => (details.command, details.description),
        _ => panic!("details of another kind"),
    };
    let args = json!({ "command": "ls", "description": "List" });
    assert_eq!(preview(args), ("ls".to_owned(), Some("List".to_owned())));
    assert_eq!(preview(json!({ "command": 3 })), ("3".to_owned(), None));
    assert_eq!(preview(json!(null)), (String::new(), None));
}

#[tokio::test]
async fn the_supervisors_command_line_does_not_contain_the_command() {
    let marked = MarkedProcesses::new();
    // `pkill -f` with a word of the command must not kill the supervisor.
    let outcome = BashTool::new()
        .run(&marked.script("tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/$PPID/comm"))
        .await;
    assert_eq!(outcome.text, "tiller __supervise tiller");
}

#[tokio::test]
async fn a_failed_command_that_names_a_hidden_variable_says_so() {
    let bash = BashTool::with(ToolSettings {
        bash_hidden: vec!["DB_PASSWORD".to_owned()],
        ..ToolSettings::default()
    });
    let note = "tiller hides DB_PASSWORD from commands: `tiller docs secrets`";
    let outcome = bash.run("echo \"KeyError: 'DB_PASSWORD'\"; exit 1").await;
    assert_eq!(
        outcome.text,
        format!("KeyError: 'DB_PASSWORD'\n[{note}]\n[exit code 1]")
    );
    assert_eq!(outcome.details.note.as_deref(), Some(note));
    for command in ["echo DB_PASSWORD", "echo DB_PASSWORD_FILE; exit 1"] {
        let outcome = bash.run(command).await;
        assert_eq!(outcome.details.note, None, "{command}");
    }
}
