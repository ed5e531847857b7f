//! What any terminal program can be measured by: start, the first key, idling.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::model_server::{ModelServer, Reply, Script};
use crate::program::Program;
use crate::screen::{Screen, environment};
use crate::table::Row;
use crate::{letters, millis, process};

/// How long a program rests before it counts as idle, and how long to watch it then.
const REST: Duration = Duration::from_secs(1);
const WATCH: Duration = Duration::from_secs(3);

pub fn measure(program: &Program, runs: usize) {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let row = |what, unit, budget| Row {
        program: program.name(),
        what,
        unit,
        budget,
    };
    row("--version", "ms", "3").measure(runs, || {
        let began = Instant::now();
        let mut command = Command::new(&program.path);
        command.arg("--version").env_clear().envs(environment(home));
        finish(command);
        Some(millis(began))
    });
    row("start to first frame", "ms", "7").measure(runs, || {
        let mut screen = Screen::start(program, home, None);
        let at = screen.wait(|text| !text.trim().is_empty())?;
        Some((at - screen.started).as_secs_f64() * 1e3)
    });
    row("start to a letter typed at once", "ms", "10").measure(runs, || {
        let mut screen = Screen::start(program, home, None);
        screen.press("ω");
        let at = screen.wait(|text| program.holds(text, 'ω'))?;
        Some((at - screen.started).as_secs_f64() * 1e3)
    });
    let mut screen = Screen::idle(program, home, None);
    row("key to screen, idle", "ms", "p50 1, p95 2").print(letters(&mut screen, 60));
    drop(screen);

    let mut screen = Screen::idle(program, home, None);
    screen.rest(REST);
    row("memory when idle, all processes (PSS)", "MB", "12")
        .print(vec![process::memory(screen.pid())]);
    let (cpu, bytes, woken) = (screen.cpu(), screen.bytes, process::wakes(screen.pid()));
    screen.rest(WATCH);
    row("wake-ups when idle, over 3 s", "", "0").print(vec![process::wakes(screen.pid()) - woken]);
    row("CPU when idle, over 3 s", "ms", "0").print(vec![screen.cpu() - cpu]);
    row("bytes to the terminal when idle, over 3 s", "B", "0")
        .print(vec![(screen.bytes - bytes) as f64]);
}

/// One question and one short answer: what a script waits for when it calls tiller.
pub fn print_mode(program: &Path, runs: usize) {
    let home = tempfile::tempdir().unwrap();
    let server = ModelServer::start(Script::of([Reply::text("Fine, thank you.").repeat()]));
    Row::of(
        "tiller",
        "-p, whole run (a local server answers)",
        "ms",
        "25",
    )
    .measure(runs, || {
        let began = Instant::now();
        let mut command = Command::new(program);
        command
            .args(["-p", "How are you?", "-m", "anthropic/claude-sonnet-5-5"])
            .current_dir(home.path())
            .env_clear()
            .envs(environment(home.path()))
            .envs(server.env());
        let answer = finish(command);
        (answer.trim() == "Fine, thank you.").then(|| millis(began))
    });
    let body = server.next_request(0).raw_body;
    Row::of("tiller", "first request, JSON", "kB", "10").print(vec![body.len() as f64 / 1e3]);
}

/// Runs a command until it exits and returns its stdout.
fn finish(mut command: Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
