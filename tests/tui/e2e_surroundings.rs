//! Events around the running program: changed theme files, signals, closed terminals, hanging
//! clipboards and changed terminal sizes.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::screen::{Launch, Terminal, View};

/// The bytes that a terminal sends when its window loses and gains the focus.
const FOCUS: &[u8] = b"\x1b[O\x1b[I";

/// The text color follows the theme file, and an error names its line.
#[test]
fn a_changed_theme_applies_when_the_terminal_gets_the_focus() {
    let (_server, sandbox) = job::stage();
    let themes = sandbox.config().join("themes");
    let model = Wire::Anthropic.model();
    fs::create_dir_all(&themes).unwrap();
    let theme = |color: &str| {
        let text = format!("inherits = \"dark\"\n[ui]\neditor_text = \"{color}\"\n");
        fs::write(themes.join("new"), text).unwrap();
        fs::rename(themes.join("new"), themes.join("mine.toml")).unwrap();
    };
    theme("#000000");
    let screen = Launch::new(&sandbox)
        .args(&["-m", model, "--theme", "mine"])
        .size(100, 30)
        .start();
    screen.wait_for("│ Ask for anything");
    screen.keys("typed");
    for (color, seen) in [
        ("#112233", vt100::Color::Rgb(0x11, 0x22, 0x33)),
        ("#445566", vt100::Color::Rgb(0x44, 0x55, 0x66)),
    ] {
        theme(color);
        screen.send(FOCUS);
        screen.wait_until(color, |view| {
            view.style_of("typed").is_some_and(|style| style.fg == seen)
        });
    }
    fs::write(
        themes.join("mine.toml"),
        "inherits = \"dark\"\n[ui]\ntexxt = \"red\"\n",
    )
    .unwrap();
    screen.send(FOCUS);
    screen.wait_for("you mean 'text'");
    screen.wait_for("mine.toml:3");
    fs::write(themes.join("mine.toml"), "inherits = \n").unwrap();
    screen.send(FOCUS);
    screen.wait_for("mine.toml:1");
    theme("#778899");
    screen.send(FOCUS);
    let seen = vt100::Color::Rgb(0x77, 0x88, 0x99);
    screen.wait_until("the mended file", |view| {
        view.style_of("typed").is_some_and(|style| style.fg == seen)
    });
    screen.keys("<c-c>");
    leave(&screen);
}

/// Whatever kills tiller, the terminal is restored and the session can be resumed.
#[test]
fn every_kind_of_death_leaves_terminal_and_session_intact() {
    for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGQUIT] {
        let (server, sandbox) = job::stage_with(vec![
            Reply::text("It is said."),
            Reply::text("half an answer").gate("never"),
            Reply::text("It goes on."),
        ]);
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("first<enter>");
        screen.wait_for("It is said.");
        screen.wait_gone("Esc stops");
        screen.keys("second<enter>");
        screen.wait_for("half an answer");
        screen.signal(signal);
        screen.wait_exit();
        assert_eq!(screen.leftovers(), Vec::<String>::new(), "{signal}");
        assert!(!screen.is_alternate(), "{signal}");
        let model = Wire::Anthropic.model();
        let ran = sandbox.run(&["-m", model, "-c", "-p", "third"]);
        assert_eq!(ran.code, Some(0), "{signal}: {}", ran.stderr);
        let asked = server.request(2).text();
        for said in ["first", "It is said.", "second", "third"] {
            assert!(asked.contains(said), "{signal}: {said} is lost: {asked}");
        }
    }
}

/// Closing the window ends tiller and everything it runs. The session can be resumed.
#[test]
fn closing_the_terminal_ends_tiller_and_its_commands() {
    for runs in [false, true] {
        let (server, sandbox) = job::stage_with(vec![
            Reply::text("It is said."),
            Reply::call(
                "bash",
                json!({"command": "sleep 1234.5 & echo $! > pid; wait"}),
            ),
            Reply::text("It goes on."),
        ]);
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("first<enter>");
        screen.wait_for("It is said.");
        screen.wait_gone("Esc stops");
        let started = if runs {
            screen.keys("second<enter>");
            screen.wait_map("the command", |_| {
                let pid = fs::read_to_string(sandbox.path().join("pid")).ok()?;
                pid.trim().parse::<i32>().ok()
            })
        } else {
            screen.keys("not sent");
            screen.wait_for("not sent");
            i32::MAX
        };
        screen.hang_up();
        screen.wait_dead();
        let end = Instant::now() + Duration::from_secs(20);
        while kill(Pid::from_raw(started), None).is_ok() {
            assert!(Instant::now() < end, "a command was left running");
            std::thread::sleep(Duration::from_millis(10)); // poll
        }
        if !runs {
            continue;
        }
        let ran = sandbox.run(&["-m", Wire::Anthropic.model(), "-c", "-p", "third"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let asked = server.request(2).text();
        for said in ["first", "It is said.", "second", "third"] {
            assert!(asked.contains(said), "{said} is lost: {asked}");
        }
    }
}

/// After a hundred sizes and back, every cell is as before.
#[test]
fn many_resizes_and_back_change_nothing() {
    let text = "A *word* and `code`, größe 日本 🦀.\n\n| a | b |\n| - | - |\n| 1 | ⚠️ 👍🏽 |\n\n```rust\nfn main() {}\n```";
    let (_server, sandbox) = job::stage_with(vec![Reply::text(text)]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("fn main");
    screen.wait_gone("Esc stops");
    screen.keys("a draft");
    screen.wait_for("a draft");
    let cells = |view: &View| {
        let (columns, rows) = view.size();
        let at = |cell: u16| view.style_at(cell / columns, cell % columns);
        let styles = (0..columns * rows).map(at);
        (view.text(), styles.collect::<Vec<_>>())
    };
    // A thread colors the code, and the last hint times out.
    let is_colored = |view: &View| {
        let (name, body) = (view.style_of("main"), view.style_of("fn"));
        name != body && !view.contains("again to exit")
    };
    screen.wait_until("colors", is_colored);
    let before = screen.look(cells);
    for round in 1..=20 {
        for (columns, rows) in [(1, 1), (200, 60), (33, 7), (80, 2), (99, 40)] {
            screen.resize(columns + round % 3, rows);
        }
        screen.resize(100, 40);
    }
    screen.wait_until("the same cells", |view| cells(view) == before);
    screen.keys("<c-c>");
    leave(&screen);
}

/// Hanging clipboard programs block nothing, and a notice says what became of the text.
#[test]
fn a_hanging_clipboard_blocks_nothing() {
    let (_server, mut sandbox) = job::stage_with(vec![Reply::text("Copy me.")]);
    let bin = sandbox.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["wl-copy", "wl-paste", "xclip", "xsel", "pbcopy"] {
        let program = bin.join(name);
        fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.set("PATH", &format!("{}:{path}", bin.display()));
    sandbox.set("WAYLAND_DISPLAY", "wayland-0");
    sandbox.set("DISPLAY", ":0");
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("Copy me.");
    screen.wait_gone("Esc stops");
    screen.keys("<c-x>typed meanwhile");
    screen.wait_for("typed meanwhile");
    screen.wait_for("8 characters");
    screen.keys("<c-v>!");
    screen.wait_for("typed meanwhile!");
    screen.keys("<c-c>");
    screen.wait_gone("typed meanwhile");
    leave(&screen);
    sandbox.wait_no_processes(&[]);
}

/// The wheel, a click and the focus in a terminal that sends only those.
#[test]
fn the_wheel_a_click_and_the_focus_work() {
    let lines: Vec<String> = (1..=90).map(|line| format!("line {line}")).collect();
    let (_server, sandbox) = job::stage_with(vec![Reply::text(lines.join("\n\n"))]);
    for terminal in [Terminal::Silent, Terminal::Kitty] {
        let screen = Launch::new(&sandbox)
            .args(&["-m", Wire::Anthropic.model()])
            .terminal(terminal)
            .size(100, 30)
            .start();
        screen.wait_for("│ Ask for anything");
        if terminal == Terminal::Silent {
            screen.keys("go<enter>");
        } else {
            screen.keys("/resume<enter>");
            screen.wait_for("1 prompt · 1 answer");
            screen.keys("<enter>");
        }
        screen.wait_for("line 90");
        screen.wait_gone("Esc stops");
        screen.send(b"\x1b[<64;10;10M");
        screen.wait_for("below");
        let (row, column) = screen.look(|view| view.find("below")).unwrap();
        let press = format!("\x1b[<0;{};{}M", column + 1, row + 1);
        screen.send(format!("{press}{}", press.replace('M', "m")).as_bytes());
        screen.wait_gone("below");
        let before = screen.text();
        screen.send(FOCUS);
        screen.keys("typed after it");
        screen.wait_for("typed after it");
        screen.keys("<c-c>");
        screen.wait_until("nothing else", |view| view.text() == before);
        leave(&screen);
    }
}

/// Replies that arrive while the shell has the terminal are lost, so tiller asks again.
#[test]
fn tiller_asks_again_for_replies_lost_to_a_suspension() {
    let (_server, sandbox) = job::stage();
    let shell = Launch::new(&sandbox)
        .args(&["--norc", "--noprofile", "--noediting", "-i"])
        .env("PS1", "shell> ")
        .env("TILLER", env!("CARGO_BIN_EXE_tiller"))
        .terminal(Terminal::Silent)
        .start_program("/bin/bash");
    let model = Wire::Anthropic.model();
    shell.wait_for("shell>");
    shell.keys(&format!("\"$TILLER\" -m {model} --theme system<enter>"));
    shell.wait_for("│ Ask for anything");
    for round in 1..3 {
        shell.keys("<c-z>");
        shell.wait_for("Stopped");
        shell.keys("clear; fg<enter>");
        shell.wait_for("│ Ask for anything");
        let raw = String::from_utf8_lossy(&shell.raw()).into_owned();
        for query in ["\x1b[?u\x1b]11;?", "\x1b]4;15;?"] {
            assert_eq!(raw.matches(query).count(), 1 + round, "{query:?}");
        }
    }
    shell.keys("<c-d>");
    shell.wait_for("shell>");
    shell.keys("exit<enter>");
    shell.wait_exit();
}

/// tiller doesn't wait for a slow git. Its output is part of a later request, once.
#[test]
fn a_slow_git_delays_no_prompt_and_is_reported_later() {
    let (server, mut sandbox) = job::stage_with(vec![Reply::text("It is said.").repeat()]);
    sandbox.git_init();
    let bin = sandbox.tmp().join("bin");
    fs::create_dir(&bin).unwrap();
    let (go, program) = (bin.join("go"), bin.join("git"));
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nuntil [ -e {} ]; do sleep 0.02; done\nPATH={path} exec git \"$@\"\n",
        go.display()
    );
    fs::write(&program, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    sandbox.set("PATH", &format!("{}:{path}", bin.display()));
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("first<enter>");
    screen.wait_for("It is said.");
    let system = server.request(0).body["system"].to_string();
    assert!(system.contains("Git branch: main"), "{system}");
    assert!(!system.contains("Git status"), "{system}");
    fs::write(&go, "").unwrap();
    let mut told = 0;
    for prompt in 1..=20 {
        screen.keys(&format!("more {prompt}<enter>"));
        let request = server.next_request(prompt);
        assert_eq!(request.body["system"].to_string(), system);
        // The request can arrive before the frame that shows the run.
        screen.wait_until("the answer", |view| {
            let text = view.text();
            let asked = text.rfind(&format!("more {prompt}"));
            asked.is_some_and(|asked| text[asked..].contains("It is said."))
        });
        screen.wait_gone("Esc stops");
        told = request.text().matches("Git status: ").count();
        if told > 0 {
            break;
        }
    }
    assert_eq!(told, 1, "git's answer is sent once");
    leave(&screen);
}
