//! Long and fast answers: the cost of a delta, the delay of a key meanwhile, and the bytes sent to
//! the terminal.

use std::time::Duration;

use crate::model_server::Reply;
use crate::program::Program;
use crate::screen::Screen;
use crate::table::Row;
use crate::{letters, process, raw};

/// Characters in a delta, about one token.
const TOKEN: usize = 5;
/// Characters in a delta of an answer sent at once.
const PIECE: usize = 20;
/// How long to count CPU while deltas arrive.
const WATCH: Duration = Duration::from_secs(5);

/// 500 deltas a second.
pub fn steady(program: &Program) {
    let home = tempfile::tempdir().unwrap();
    let text = markdown(6_500 * TOKEN);
    let server = program.serve([Reply::new().say_slowly(text, TOKEN, 2)]);
    let mut screen = Screen::idle(program, home.path(), Some(&server));
    screen.submit();
    let Some(_) = screen.wait(|text| text.contains("Section 1")) else {
        return;
    };
    let (cpu, bytes) = (screen.cpu(), screen.bytes);
    let began = std::time::Instant::now();
    screen.rest(WATCH);
    let seconds = began.elapsed().as_secs_f64();
    let used = (screen.cpu() - cpu) / seconds / 10.0;
    let written = (screen.bytes - bytes) as f64 / seconds / 1e3;
    Row::of(program.name(), "CPU at 500 deltas/s of markdown", "%", "8").print(vec![used]);
    Row::of(
        program.name(),
        "... bytes to the terminal, per second",
        "kB",
        "",
    )
    .print(vec![written]);
    Row::of(
        program.name(),
        "key to screen at 500 deltas/s",
        "ms",
        "p50 2, p95 8",
    )
    .print(letters(&mut screen, 100));
    let request = Program::answered(&server, &mut screen);
    let took = request.answered.unwrap() - request.at;
    let rate = 6_500.0 / took.as_secs_f64();
    Row::of(program.name(), "... deltas/s that were really sent", "", "").print(vec![rate]);
}

/// 200 KB at once, several times in new programs. Then the same for a megabyte.
pub fn at_once(program: &Program, runs: usize) {
    let reply = |bytes| {
        let mut reply = Reply::text(format!("{}\n\nThe very end.", markdown(bytes)));
        reply.split = Some(PIECE);
        reply
    };
    for (bytes, what, runs, budgets) in [
        (200_000, "200 KB at once", runs, ["250", "150", "30"]),
        (
            1_000_000,
            "1 MB at once",
            runs.min(5),
            ["", "5 x that of 200 KB", ""],
        ),
    ] {
        let server: Vec<f64> = (0..runs)
            .map(|_| raw::whole(reply(bytes)).as_secs_f64() * 1e3)
            .collect();
        let figures: Vec<[f64; 4]> = (0..runs)
            .map_while(|_| answer(program, reply(bytes)))
            .collect();
        let column = |at: usize| figures.iter().map(|figures| figures[at]).collect();
        Row::of(program.name(), &format!("{what}: wall"), "ms", budgets[0]).print(column(0));
        Row::of(
            program.name(),
            &format!("{what}: wall, the server alone"),
            "ms",
            "",
        )
        .print(server);
        Row::of(program.name(), &format!("{what}: CPU"), "ms", budgets[1]).print(column(1));
        Row::of(
            program.name(),
            &format!("{what}: to the terminal"),
            "kB",
            budgets[2],
        )
        .print(column(2));
        Row::of(program.name(), &format!("{what}: memory after"), "MB", "").print(column(3));
    }
}

/// Wall and CPU time in ms, kB to the terminal, MB of memory afterwards.
fn answer(program: &Program, reply: Reply) -> Option<[f64; 4]> {
    let home = tempfile::tempdir().unwrap();
    let server = program.serve([reply]);
    let mut screen = Screen::idle(program, home.path(), Some(&server));
    screen.type_prompt();
    let (cpu, bytes) = (screen.cpu(), screen.bytes);
    let pressed = screen.press("\r");
    let shown = screen.wait(|text| text.contains("The very end."))?;
    // Includes work after the last word, such as colours and the session file.
    screen.rest(Duration::from_millis(500));
    Some([
        (shown - pressed).as_secs_f64() * 1e3,
        screen.cpu() - cpu,
        (screen.bytes - bytes) as f64 / 1e3,
        process::memory(screen.pid()),
    ])
}

/// This many bytes of text as models write it.
pub fn markdown(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1_000);
    for section in 1.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!(
            "## Section {section}: how the tokens are checked\n\n\
             The **session** keeps a `token` and compares it with *care*; see [the notes]\
             (https://example.org/notes/{section}) for why a plain comparison leaks time. What \
             follows is long enough to be wrapped on a screen of ordinary width, twice over.\n\n\
             - first, the token is read from the header\n- then it is hashed with `sha256`\n  \
             and a salt of 16 bytes\n- at last both sides are compared\n\n\
             ```rust\nfn verify_{section}(token: &str, known: &str) -> bool {{\n    \
             // constant time\n    token.bytes().zip(known.bytes()).fold(0, |acc, (a, b)| acc | \
             (a ^ b)) == 0\n}}\n```\n\n\
             | step | cost | note |\n| --- | ---: | --- |\n| read | {section} µs | once |\n\
             | hash | 12 µs | **each** time |\n\n"
        ));
    }
    text
}
