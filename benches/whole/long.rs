//! A long transcript: the cost of a key, a frame and a change of width after 50,000 lines, and of
//! 100,000 lines.

use std::fmt::Write;
use std::time::Duration;

use crate::model_server::Reply;
use crate::program::Program;
use crate::screen::Screen;
use crate::table::Row;
use crate::{letters, process};

const LINES: usize = 50_000;
/// How many deltas to send, at 1,000 a second.
const DELTAS: usize = 12_000;
/// How long to watch the stream.
const WATCH: Duration = Duration::from_secs(3);

/// Two answers of 50,000 lines each. The first ends with words at 1,000 a second.
pub fn measure(program: &Program) {
    let home = tempfile::tempdir().unwrap();
    let lines = |end: &str| {
        let mut reply = Reply::text(format!("{}\n\n{end}", lines()));
        reply.split = Some(4_000);
        reply
    };
    let words = "word ".repeat(DELTAS);
    let server = program.serve([
        lines("The end of one."),
        Reply::new().say_slowly(words, 5, 1),
        lines("The end of three."),
    ]);
    let mut screen = Screen::idle(program, home.path(), Some(&server));
    let empty = process::memory(screen.pid());
    let row = |what, unit, budget| Row::of(program.name(), what, unit, budget);
    if !ask(&mut screen, program, "The end of one.") {
        return;
    }
    row("key to screen behind 50,000 lines", "ms", "p50 1, p95 2").print(letters(&mut screen, 60));
    screen.submit();
    if screen.wait(|text| text.contains("word word")).is_none() {
        return;
    }
    let (cpu, bytes) = (screen.cpu(), screen.bytes);
    screen.rest(WATCH);
    let seconds = WATCH.as_secs_f64();
    row("CPU at 1,000 deltas/s behind 50,000 lines", "%", "")
        .print(vec![(screen.cpu() - cpu) / seconds / 10.0]);
    row("... bytes to the terminal, per second", "kB", "")
        .print(vec![(screen.bytes - bytes) as f64 / seconds / 1e3]);
    row("... key to screen", "ms", "p50 2, p95 8").print(letters(&mut screen, 60));
    screen.wait(|text| !program.is_busy(text));
    if !ask(&mut screen, program, "The end of three.") {
        return;
    }
    let text = 2.0 * lines_bytes() / 1e6;
    row("text of 100,000 lines", "MB", "").print(vec![text]);
    row("... memory above that when empty", "MB", "text x 3")
        .print(vec![process::memory(screen.pid()) - empty]);
    row("... key to screen", "ms", "p50 1, p95 2").print(letters(&mut screen, 60));
    let widths = (0..10u16).map_while(|turn| {
        screen.rest(Duration::from_millis(200));
        screen.resize(if turn % 2 == 0 { 100 } else { 120 })
    });
    row("... change of width to the last byte of it", "ms", "").print(widths.collect());
}

/// Asks for the next answer and waits until it's complete. Returns whether it came.
fn ask(screen: &mut Screen, program: &Program, end: &str) -> bool {
    screen.submit();
    let came = screen.wait(|text| text.contains(end) && !program.is_busy(text));
    screen.rest(Duration::from_secs(1));
    came.is_some()
}

fn lines() -> String {
    let mut text = String::new();
    for line in 0..LINES {
        let _ = writeln!(text, "- item {line} with **a few** words");
    }
    text
}

fn lines_bytes() -> f64 {
    lines().len() as f64
}
