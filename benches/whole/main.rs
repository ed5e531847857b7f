//! Measures the whole program from outside, as a person meets it: in a pseudo-terminal, against the
//! tests' model server, with the budgets beside the figures.
//!
//! `cargo bench --bench whole`; `TILLER_BENCH_RUNS=5` for a quick look, `TILLER_BENCH_ONLY=stream`
//! for one part (start, print, stream, once, turns, moments, abort), `TILLER_BENCH_PROGRAM=PATH` for
//! another binary. codex and pi stand beside it where they are on PATH. Linux only: memory and CPU
//! are read from /proc.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::format_push_string,
    missing_docs,
    reason = "a benchmark prints its figures and stops at the first surprise"
)]

mod process;
mod raw;
mod screen;
mod start;
mod stream;
mod table;
mod turns;

#[allow(dead_code, unused_imports, missing_docs, clippy::pedantic)]
#[path = "../../tests/support/model_server/mod.rs"]
mod model_server;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use screen::Screen;
use table::Row;

fn main() {
    // `cargo test --benches` runs this too, with nothing to measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let runs = std::env::var("TILLER_BENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(15);
    let only = std::env::var("TILLER_BENCH_ONLY").unwrap_or_default();
    let tiller = std::env::var_os("TILLER_BENCH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_tiller").into(), PathBuf::from);
    table::head();
    let parts: [(&str, &dyn Fn()); 7] = [
        ("start", &|| {
            let size = std::fs::metadata(&tiller).unwrap().len() as f64 / 1e6;
            Row::of("binary", "MB", "20").print(vec![size]);
            start::measure("tiller", &tiller, runs);
            for peer in ["codex", "pi"] {
                if let Some(path) = on_path(peer) {
                    start::measure(peer, &path, runs.min(5));
                }
            }
        }),
        ("print", &|| start::print_mode(&tiller, runs)),
        ("stream", &|| stream::steady(&tiller)),
        ("once", &|| stream::at_once(&tiller, runs.min(9))),
        ("turns", &|| turns::many(&tiller)),
        ("moments", &|| turns::moments(&tiller, runs)),
        ("abort", &|| turns::abort(&tiller, runs.min(9))),
    ];
    for (name, part) in parts {
        if only.is_empty() || only == name {
            part();
        }
    }
}

/// Types `count` letters one by one and gives the milliseconds until each was on the screen.
fn letters(screen: &mut Screen, count: usize) -> Vec<f64> {
    // Begun with what no program says of itself, so that a letter is not found elsewhere.
    const BEGUN: &str = "qzq";
    let mut typed = String::new();
    let mut times = Vec::new();
    for letter in "zqxjvkwzqjxkvzwqjxkvqz".chars().cycle().take(count) {
        if typed.is_empty() || typed.len() == 20 {
            // Ctrl+U empties the line.
            screen.press("\x15");
            screen.wait(|text| typed.is_empty() || !text.contains(&typed));
            BEGUN.clone_into(&mut typed);
            screen.press(BEGUN);
            screen.wait(|text| text.contains(BEGUN));
        }
        // At no fixed place between two frames.
        screen.rest(Duration::from_millis(23 + times.len() as u64 % 16));
        typed.push(letter);
        let pressed = screen.press(&letter.to_string());
        let Some(at) = screen.wait(|text| text.contains(&format!("{typed} "))) else {
            break;
        };
        times.push((at - pressed).as_secs_f64() * 1e3);
    }
    screen.press("\x15");
    times
}

fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
