//! Measures the whole program from outside as a person meets it: in a pseudo-terminal, against the
//! tests' model server. Prints the budgets next to the figures.
//!
//! `cargo bench --bench whole`. `TILLER_BENCH_RUNS=5` is for a quick look.
//! `TILLER_BENCH_ONLY=stream` runs one part (start, print, stream, once, long, turns, moments,
//! abort). `TILLER_BENCH_PROGRAM=PATH` measures another binary. codex and pi are measured too if
//! they're on PATH. Linux only, because memory and CPU come from /proc.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::format_push_string,
    missing_docs,
    reason = "a benchmark prints its figures and stops at the first surprise"
)]

mod long;
mod process;
mod program;
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

use program::Program;
use screen::Screen;
use table::Row;

fn main() {
    // `cargo test --benches` runs this too, but it must measure nothing then.
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
    let tiller = Program::tiller(tiller);
    let all: Vec<Program> = [tiller.clone()]
        .into_iter()
        .chain(Program::peers())
        .collect();
    // Peers run slow measurements fewer times.
    let each = |measure: &dyn Fn(&Program, usize)| {
        for program in &all {
            measure(
                program,
                if program.is_tiller() {
                    runs
                } else {
                    runs.min(5)
                },
            );
        }
    };
    let parts: [(&str, &dyn Fn()); 8] = [
        ("start", &|| {
            let size = std::fs::metadata(&tiller.path).unwrap().len() as f64 / 1e6;
            Row::of("tiller", "binary", "MB", "20").print(vec![size]);
            each(&start::measure);
        }),
        ("print", &|| start::print_mode(&tiller.path, runs)),
        ("stream", &|| each(&|program, _| stream::steady(program))),
        ("once", &|| {
            each(&|program, runs| stream::at_once(program, runs.min(9)));
        }),
        ("long", &|| each(&|program, _| long::measure(program))),
        ("turns", &|| each(&|program, _| turns::many(program))),
        ("moments", &|| each(&turns::moments)),
        ("abort", &|| {
            each(&|program, runs| turns::abort(program, runs.min(9)));
        }),
    ];
    for (name, part) in parts {
        if only.is_empty() || only == name {
            part();
        }
    }
}

/// Types `count` letters one by one. Returns the milliseconds until each was on the screen.
fn letters(screen: &mut Screen, count: usize) -> Vec<f64> {
    // Starts with text that no program shows, so that no letter is found elsewhere.
    const BEGUN: &str = "qzq";
    let mut typed = String::new();
    let mut times = Vec::new();
    for letter in "zqxjvkwzqjxkvzwqjxkvqz".chars().cycle().take(count) {
        if typed.is_empty() || typed.len() == 20 {
            // Ctrl+U clears the line.
            screen.press("\x15");
            screen.wait(|text| typed.is_empty() || !text.contains(&typed));
            BEGUN.clone_into(&mut typed);
            screen.press(BEGUN);
            screen.wait(|text| text.contains(BEGUN));
        }
        // Varies the pause, so that keys don't always fall at the same point between two frames.
        screen.rest(Duration::from_millis(23 + times.len() as u64 % 16));
        typed.push(letter);
        let pressed = screen.press(&letter.to_string());
        let Some(at) = screen.wait(|text| text.contains(&typed)) else {
            break;
        };
        times.push((at - pressed).as_secs_f64() * 1e3);
    }
    screen.press("\x15");
    times
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
