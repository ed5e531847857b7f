//! Measures the whole program from outside, as a person meets it: start to first frame, echo of a
//! key, memory and CPU when idle, `--version`, and a run in print mode against the tests' model
//! server.
//!
//! `cargo bench --bench whole`; `TILLER_BENCH_RUNS=5` for a quick look, `TILLER_BENCH_PROGRAM=PATH`
//! for another binary. codex and pi stand beside it where they are on PATH. Linux only: memory and
//! CPU are read from /proc.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and stops at the first surprise"
)]

#[allow(dead_code, unused_imports, missing_docs, clippy::pedantic)]
#[path = "../tests/support/model_server/mod.rs"]
mod model_server;

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use model_server::{ModelServer, Reply, Script};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// How long anything may take before the benchmark gives up.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long a program rests before it counts as idle, and how long it is watched then.
const REST: Duration = Duration::from_secs(1);
const WATCH: Duration = Duration::from_secs(3);
const SIZE: PtySize = PtySize {
    rows: 40,
    cols: 120,
    pixel_width: 0,
    pixel_height: 0,
};

fn main() {
    // `cargo test --benches` runs this too, with nothing to measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let runs = std::env::var("TILLER_BENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(15);
    let tiller = std::env::var_os("TILLER_BENCH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_tiller").into(), PathBuf::from);
    println!(
        "{:10} {:34} {:>10} {:>10} {:>10}  runs",
        "", "", "median", "best", "worst"
    );
    measure("tiller", &tiller, runs);
    print_mode(&tiller, runs);
    for peer in ["codex", "pi"] {
        if let Some(path) = on_path(peer) {
            measure(peer, &path, runs.min(5));
        }
    }
}

fn measure(name: &str, program: &Path, runs: usize) {
    let home = tempfile::tempdir().unwrap();
    row(name, "--version", "ms", runs, || {
        let began = Instant::now();
        let mut command = Command::new(program);
        command
            .arg("--version")
            .env_clear()
            .envs(environment(home.path()));
        finish(command);
        Some(millis(began))
    });
    row(name, "start to first frame", "ms", runs, || {
        let mut screen = Screen::start(program, home.path());
        screen.wait(|text| !text.trim().is_empty())
    });

    let mut screen = Screen::start(program, home.path());
    screen.wait(|text| !text.trim().is_empty());
    screen.rest(REST);
    let mut typed = String::new();
    let letters: Vec<char> = "zqxjvkwzqjxkvzwqjxkvqz"
        .chars()
        .cycle()
        .take(runs.max(20))
        .collect();
    let mut next = letters.iter();
    row(name, "echo of a key", "ms", letters.len(), || {
        typed.push(*next.next()?);
        screen
            .input
            .write_all(&typed.as_bytes()[typed.len() - 1..])
            .ok()?;
        screen.input.flush().ok()?;
        screen.wait(|text| text.contains(&typed))
    });

    let mut screen = Screen::start(program, home.path());
    screen.wait(|text| !text.trim().is_empty());
    screen.rest(REST);
    row(name, "memory when idle, PSS", "MB", 1, || {
        Some(
            screen
                .processes()
                .iter()
                .filter_map(|pid| pss(*pid))
                .sum::<f64>()
                / 1024.0,
        )
    });
    row(name, "CPU when idle, over 3 s", "ms", 1, || {
        let before: f64 = screen.processes().iter().map(|pid| cpu(*pid)).sum();
        screen.rest(WATCH);
        let after: f64 = screen.processes().iter().map(|pid| cpu(*pid)).sum();
        Some(after - before)
    });
}

/// One question, one short answer: what a script that calls tiller waits for.
fn print_mode(program: &Path, runs: usize) {
    let home = tempfile::tempdir().unwrap();
    let replies = (0..runs).map(|_| Reply::text("Fine, thank you."));
    let server = ModelServer::start(Script::of(replies));
    row(
        "tiller",
        "-p, one answer from a local server",
        "ms",
        runs,
        || {
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
        },
    );
}

/// Measures `runs` times and prints a line. A measurement that fails ends the row.
fn row(name: &str, what: &str, unit: &str, runs: usize, mut once: impl FnMut() -> Option<f64>) {
    let mut values: Vec<f64> = (0..runs).map_while(|_| once()).collect();
    values.sort_by(f64::total_cmp);
    if let (Some(best), Some(worst)) = (values.first(), values.last()) {
        let median = values[values.len() / 2];
        let count = values.len();
        println!(
            "{name:10} {what:34} {median:7.2} {unit} {best:7.2} {unit} {worst:7.2} {unit}  {count}"
        );
    } else {
        println!("{name:10} {what:34}  no figure");
    }
}

/// A program in a pseudo-terminal, and what is on its screen. Killed when dropped.
struct Screen {
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    input: Box<dyn Write + Send>,
    terminal: vt100::Parser,
    started: Instant,
}

impl Screen {
    fn start(program: &Path, home: &Path) -> Self {
        let pty = native_pty_system().openpty(SIZE).unwrap();
        let mut command = CommandBuilder::new(program);
        command.cwd(home);
        command.env_clear();
        for (name, value) in environment(home) {
            command.env(name, value);
        }
        // With a key it is the real program; without one the demo would begin.
        command.env("ANTHROPIC_API_KEY", "none");
        command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
        let mut reader = pty.master.try_clone_reader().unwrap();
        let input = pty.master.take_writer().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let _master = pty.master;
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let started = Instant::now();
        let child = pty.slave.spawn_command(command).unwrap();
        Self {
            child,
            output,
            input,
            terminal: vt100::Parser::new(
                NonZeroU16::new(SIZE.rows).unwrap(),
                NonZeroU16::new(SIZE.cols).unwrap(),
                0,
            ),
            started,
        }
    }

    /// Waits until the screen's text passes, and says how many milliseconds that took, counted
    /// from the start the first time and from this call after that.
    fn wait(&mut self, passes: impl Fn(&str) -> bool) -> Option<f64> {
        let began = std::mem::replace(&mut self.started, Instant::now());
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.take(deadline.saturating_duration_since(Instant::now()))
                .ok()?;
            if passes(&self.terminal.screen().contents()) {
                let taken = millis(began);
                self.started = Instant::now();
                return Some(taken);
            }
        }
    }

    /// Lets the program be for `time`.
    fn rest(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while self
            .take(end.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
        self.started = Instant::now();
    }

    fn take(&mut self, time: Duration) -> Result<(), RecvTimeoutError> {
        let bytes = self.output.recv_timeout(time)?;
        // Some programs wait for the answer to these before they draw.
        for (question, answer) in [(&b"\x1b[6n"[..], "\x1b[1;1R"), (b"\x1b[c", "\x1b[?62;22c")] {
            if bytes.windows(question.len()).any(|part| part == question) {
                let _ = self.input.write_all(answer.as_bytes());
            }
        }
        self.terminal.process(&bytes);
        Ok(())
    }

    /// The program and all below it.
    fn processes(&self) -> Vec<u32> {
        let mut found: Vec<u32> = self.child.process_id().into_iter().collect();
        let mut next = 0;
        while let Some(pid) = found.get(next) {
            for thread in fs::read_dir(format!("/proc/{pid}/task"))
                .into_iter()
                .flatten()
                .flatten()
            {
                let children = fs::read_to_string(thread.path().join("children"));
                let children = children.unwrap_or_default();
                found.extend(
                    children
                        .split_whitespace()
                        .filter_map(|pid| pid.parse::<u32>().ok()),
                );
            }
            next += 1;
        }
        found
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nothing of the machine's user but PATH.
fn environment(home: &Path) -> Vec<(&'static str, PathBuf)> {
    let mut environment = vec![
        ("HOME", home.to_owned()),
        ("XDG_STATE_HOME", home.join("state")),
        ("XDG_CACHE_HOME", home.join("cache")),
        ("TILLER_CONFIG_DIR", home.join("config")),
        ("TILLER_DATA_DIR", home.join("data")),
        ("TERM", "xterm-256color".into()),
        ("LANG", "C.UTF-8".into()),
    ];
    if let Some(path) = std::env::var_os("PATH") {
        environment.push(("PATH", path.into()));
    }
    environment
}

/// Runs a command to its end; its standard output.
fn finish(mut command: Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Kilobytes of memory, shared pages divided among those who share them.
fn pss(pid: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Milliseconds on a CPU so far, all threads.
fn cpu(pid: u32) -> f64 {
    fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .sum::<f64>()
        / 1e6
}
