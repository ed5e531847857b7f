//! Runs of many turns, and the short moments in one: a prompt is sent, a word arrives, a run stops.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::model_server::Reply;
use crate::program::Program;
use crate::screen::Screen;
use crate::table::Row;
use crate::{letters, process};

const TURNS: usize = 200;
/// Number of messages in a long session.
const LONG: usize = 1_000;

/// 200 turns of one tool call each: commands, then files.
pub fn many(program: &Program) {
    let commands = (0..TURNS).map(|turn| {
        let say = format!("Turn {turn}: I run the next one.");
        program.command(say, &format!("echo turn {turn}; seq 1 40"))
    });
    turns(program, "200 turns with a command", commands.collect());
    if program.has_no_read() {
        return;
    }
    let reads = (0..TURNS).map(|turn| {
        Reply::new()
            .say(format!("Turn {turn}: I read on."))
            .and_call(
                "read",
                json!({"path": "notes.txt", "offset": turn + 1, "limit": 40}),
            )
    });
    turns(program, "200 turns with a read", reads.collect());
}

fn turns(program: &Program, what: &str, mut replies: Vec<Reply>) {
    let home = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..1_000)
        .map(|line| format!("line {line} of some notes that a model might want to read"))
        .collect();
    std::fs::write(home.path().join("notes.txt"), lines.join("\n")).unwrap();
    replies.push(Reply::text("All of it is done."));
    let server = program.serve(replies);
    let mut screen = Screen::idle(program, home.path(), Some(&server));
    let cpu = screen.cpu();
    let pressed = screen.submit();
    let Some(done) =
        screen.wait(|text| text.contains("All of it is done.") && !program.is_busy(text))
    else {
        return;
    };
    screen.rest(Duration::from_millis(500));
    let row = |part: &'static str| format!("{what}: {part}");
    Row::of(program.name(), &row("CPU, children too"), "s", "1")
        .print(vec![(screen.cpu() - cpu) / 1e3]);
    Row::of(program.name(), &row("wall, server too"), "s", "")
        .print(vec![(done - pressed).as_secs_f64()]);
    Row::of(program.name(), &row("memory after"), "MB", "25")
        .print(vec![process::memory(screen.pid())]);
    Row::of(
        program.name(),
        &row("key to screen after"),
        "ms",
        "p50 1, p95 2",
    )
    .print(letters(&mut screen, 60));
}

/// The time from Enter to the request and from a delta to the screen, in a new session and in a
/// long one.
pub fn moments(program: &Program, runs: usize) {
    prompts(program, runs, 0);
    if !program.has_no_read() {
        prompts(program, runs, LONG / 2);
    }
}

/// The same after `turns` turns of one call and its result.
fn prompts(program: &Program, runs: usize, turns: usize) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("notes.txt"),
        "a line of notes\n".repeat(40),
    )
    .unwrap();
    let work = (0..turns).map(|turn| {
        Reply::new()
            .say(format!("Turn {turn}: I read on."))
            .and_call(
                "read",
                json!({"path": "notes.txt", "offset": turn % 40 + 1}),
            )
    });
    let end = (turns > 0).then(|| Reply::text("All of it is done."));
    let marked = (0..=runs).map(|run| {
        Reply::text(format!("Begun {run}."))
            .gate(&format!("gate {run}"))
            .say(format!(" Mark {run}."))
    });
    let server = program.serve(work.chain(end).chain(marked));
    let mut screen = Screen::idle(program, home.path(), Some(&server));
    let mut before = 0;
    if turns > 0 {
        before = turns + 1;
        screen.submit();
        screen.wait(|text| text.contains("All of it is done.") && !program.is_busy(text));
        screen.rest(Duration::from_millis(500));
    }
    let (mut pressed, mut shown) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        screen.type_prompt();
        pressed.push(screen.press("\r"));
        let begun = format!("Begun {run}.");
        let Some(_) = screen.wait(|text| text.contains(&begun)) else {
            break;
        };
        screen.rest(Duration::from_millis(60));
        let released = Instant::now();
        server.release(&format!("gate {run}"));
        let mark = format!("Mark {run}.");
        let Some(at) = screen.wait(|text| text.contains(&mark)) else {
            break;
        };
        shown.push(ms(at - released));
        screen.wait(|text| !program.is_busy(text));
        screen.rest(Duration::from_millis(60));
    }
    let requests = Program::requests(&server).skip(before);
    let (mut left, mut whole): (Vec<_>, Vec<_>) = requests
        .zip(pressed)
        .map(|(request, pressed)| (ms(request.began - pressed), ms(request.at - pressed)))
        .unzip();
    let session = match turns {
        0 => String::new(),
        _ => format!(", after {} messages", 2 * turns + 2),
    };
    let first = left.drain(..1.min(left.len())).collect();
    if turns == 0 {
        Row::of(
            program.name(),
            "Enter to first byte, the very first",
            "ms",
            "",
        )
        .print(first);
    }
    Row::of(
        program.name(),
        &format!("Enter to first byte{session}"),
        "ms",
        "2",
    )
    .print(left);
    Row::of(
        program.name(),
        &format!("Enter to last byte{session}"),
        "ms",
        "",
    )
    .print(whole.split_off(1));
    Row::of(
        program.name(),
        &format!("delta to screen{session}"),
        "ms",
        "2",
    )
    .print(shown);
}

/// The time from Esc to the free prompt, and until no process is left.
pub fn abort(program: &Program, runs: usize) {
    let stalled = (0..runs).map(|run| Reply::text(format!("Begun {run}.")).stall());
    let commands = (0..runs)
        .map(|_| program.command("I wait.".to_owned(), "sleep 77 & setsid sleep 78 & wait"));
    let stalled: Vec<Reply> = stalled.collect();
    // A lone Esc could start another key's sequence, so it takes 25 ms. Ctrl+C is unambiguous.
    for (what, key, replies, children) in [
        (
            "Ctrl+C to prompt, while it streams",
            "\x03",
            stalled.clone(),
            0,
        ),
        ("Esc to prompt, while it streams", "\x1b", stalled, 0),
        (
            "Esc to prompt, while a command runs",
            "\x1b",
            commands.collect(),
            4,
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let server = program.serve(replies);
        let mut screen = Screen::idle(program, home.path(), Some(&server));
        let (mut free, mut dead) = (Vec::new(), Vec::new());
        for run in 0..runs {
            screen.submit();
            let begun = format!("Begun {run}.");
            if children == 0 {
                screen.wait(|text| text.contains(&begun));
            } else {
                screen.wait(|text| program.is_busy(text));
                until(&mut screen, |count| count > children);
            }
            screen.rest(Duration::from_millis(60));
            let pressed = screen.press(key);
            let Some(at) = screen.wait(|text| !program.is_busy(text)) else {
                break;
            };
            free.push(ms(at - pressed));
            until(&mut screen, |count| count == 1);
            dead.push(ms(pressed.elapsed()));
            screen.rest(Duration::from_millis(1_100));
        }
        Row::of(program.name(), what, "ms", "30").print(free);
        if children > 0 {
            Row::of(
                program.name(),
                "Esc to every process dead",
                "ms",
                "2100 at worst",
            )
            .print(dead);
        }
    }
}

/// Waits until `enough` accepts the number of living processes, tiller among them.
fn until(screen: &mut Screen, enough: impl Fn(usize) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !enough(process::tree(screen.pid()).len()) && Instant::now() < deadline {
        screen.rest(Duration::from_millis(1));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
