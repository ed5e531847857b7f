//! Makes the README's pictures and the recording from the real program.
//!
//! `cargo build --release && cargo run --example pictures`
//!
//! Starts the binary in a pseudo-terminal, with a scripted model, in a small repository, and types
//! what a person would. Writes the screen as SVG and the output as an asciicast (`asciinema play
//! assets/work.cast`).
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[allow(dead_code, unused_imports, missing_docs, clippy::pedantic)]
#[path = "../tests/support/model_server/mod.rs"]
mod model_server;

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use model_server::{ModelServer, Script};
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use vt100::{Cell, Color};

const COLUMNS: NonZero<u16> = NonZero::new(100).unwrap();
const ROWS: NonZero<u16> = NonZero::new(36).unwrap();
/// How long to wait for a text.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long the screen must be unchanged before its picture is taken.
const QUIET: Duration = Duration::from_millis(400);
/// Width and height of a cell, in pixels.
const CELL: (f32, f32) = (8.4, 18.0);
const BACKGROUND: &str = "#15161b";
const FOREGROUND: &str = "#d7dae0";

fn main() {
    let program = PathBuf::from("target/release/tiller").canonicalize();
    let program = program.expect("target/release/tiller: build it first");
    let assets = Path::new("assets");
    let place = tempfile::tempdir().unwrap();
    let shop = place.path().join("shop");
    plant(&shop);
    let script = fs::read_to_string("examples/scripts/login.toml").unwrap();
    let server = ModelServer::start(Script::parse(&script).unwrap());
    let mut window = Window::open(&program, &shop, place.path(), &server);
    window.wait_for("F1");
    window.type_text("Fix the login bug in auth.rs; keep the tests green\r");
    window.wait_for("the only place that compares");
    window.picture(&assets.join("work.svg"));
    window.type_text("/mo");
    window.picture(&assets.join("menu.svg"));
    window.type_text("\x15Now publish it\r");
    window.wait_for("Run this command?");
    window.picture(&assets.join("question.svg"));
    fs::write(assets.join("work.cast"), window.recording()).unwrap();
    window.type_text("\x1b");
}

/// A small repository with a bug.
fn plant(shop: &Path) {
    for (path, text) in [
        (
            "src/auth.rs",
            "//! Who may come in.\n\nuse crate::bytes::constant_time_eq;\n\nimpl Session {\n    \
             /// Whether `token` is the one of this session.\n    \
             pub fn verify_token(&self, token: &str) -> bool {\n        token == self.token\n    }\n}\n",
        ),
        (
            "src/main.rs",
            "mod auth;\nmod bytes;\n\nfn main() {\n    shop::serve();\n}\n",
        ),
        (
            "tests/run.sh",
            "for it in accepts_a_token rejects_an_empty_token rejects_an_expired_token\ndo\n    \
             echo \"test auth::$it ... ok\"\n    sleep 0.4\ndone\necho\necho '3 passed'\n",
        ),
    ] {
        let path = shop.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let script = "git init -q -b main && git add -A && git -c user.name=T -c user.email=t@example.com \
                  commit -qm 'A shop' && git checkout -qb login-bug";
    let mut git = Command::new("sh");
    let done = git.args(["-c", script]).current_dir(shop).status();
    assert!(done.unwrap().success(), "git");
}

/// A terminal that runs the program.
struct Window {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    began: Instant,
    changed: Instant,
    /// The output, each piece with the seconds since the start.
    output: Vec<(f64, String)>,
}

impl Window {
    fn open(program: &Path, cwd: &Path, home: &Path, server: &ModelServer) -> Self {
        let size = PtySize {
            rows: ROWS.get(),
            cols: COLUMNS.get(),
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(["--model", "anthropic/claude-sonnet-5-5"]);
        command.cwd(cwd);
        command.env_clear();
        for (name, value) in server.env() {
            command.env(name, value);
        }
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("HOME", home);
        command.env("LANG", "C.UTF-8");
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        pair.slave.spawn_command(command).unwrap();
        let now = Instant::now();
        let seen = Arc::new(Mutex::new(Seen {
            screen: vt100::Parser::new(ROWS, COLUMNS, 0),
            began: now,
            changed: now,
            output: Vec::new(),
        }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            let mut bytes = vec![0; 65_536];
            let mut held = Vec::new();
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut seen = shared.lock().unwrap();
                seen.screen.process(&bytes[..count]);
                held.extend_from_slice(&bytes[..count]);
                // A character may arrive in two parts.
                let whole = match std::str::from_utf8(&held) {
                    Ok(_) => held.len(),
                    Err(error) => error.valid_up_to(),
                };
                let rest = held.split_off(whole);
                let text = String::from_utf8(std::mem::replace(&mut held, rest)).unwrap();
                seen.changed = Instant::now();
                let at = (seen.changed - seen.began).as_secs_f64();
                seen.output.push((at, text));
            }
        });
        Self {
            keys: pair.master.take_writer().unwrap(),
            master: pair.master,
            seen,
        }
    }

    fn type_text(&mut self, text: &str) {
        for key in text.chars() {
            self.keys.write_all(key.to_string().as_bytes()).unwrap();
            self.keys.flush().unwrap();
            thread::sleep(Duration::from_millis(25));
        }
    }

    fn wait_for(&self, text: &str) {
        let began = Instant::now();
        while !self
            .seen
            .lock()
            .unwrap()
            .screen
            .screen()
            .contents()
            .contains(text)
        {
            assert!(began.elapsed() < DEADLINE, "{text:?} did not come");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the screen is quiet and writes it.
    fn picture(&self, path: &Path) {
        while self.seen.lock().unwrap().changed.elapsed() < QUIET {
            thread::sleep(Duration::from_millis(20));
        }
        // Only now is it certain that the terminal's size hasn't changed.
        let size = self.master.get_size().unwrap();
        let seen = self.seen.lock().unwrap();
        fs::write(path, svg(seen.screen.screen(), size.rows, size.cols)).unwrap();
        println!("{}", path.display());
    }

    /// In asciinema's format: <https://docs.asciinema.org/manual/asciicast/v2/>.
    fn recording(&self) -> String {
        let mut cast = format!("{{\"version\": 2, \"width\": {COLUMNS}, \"height\": {ROWS}}}\n");
        for (at, text) in &self.seen.lock().unwrap().output {
            let event = serde_json::json!([(at * 1000.0).round() / 1000.0, "o", text]);
            let _ = writeln!(cast, "{event}");
        }
        cast
    }
}

fn svg(screen: &vt100::Screen, rows: u16, columns: u16) -> String {
    let (width, height) = (f32::from(columns) * CELL.0, f32::from(rows) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -12 {:.0} {:.0}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect x=\"-12\" y=\"-12\" width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n",
        width + 24.0,
        height + 24.0,
    );
    for row in 0..rows {
        let cells: Vec<&Cell> = (0..columns).filter_map(|at| screen.cell(row, at)).collect();
        let mut at = 0;
        for run in cells.chunk_by(|a, b| look(a) == look(b)) {
            draw(&mut svg, run, at, row);
            at += run.len();
        }
    }
    let (row, column) = screen.cursor_position();
    let _ = writeln!(
        svg,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"2\" height=\"{:.1}\" fill=\"{FOREGROUND}\"/>\n</svg>",
        f32::from(column) * CELL.0,
        f32::from(row) * CELL.1 + 2.0,
        CELL.1 - 4.0,
    );
    svg
}

/// What adjacent cells must share to be drawn together.
fn look(cell: &Cell) -> (Color, Color, [bool; 5]) {
    let marks = [
        cell.bold(),
        cell.dim(),
        cell.italic(),
        cell.underline(),
        cell.inverse(),
    ];
    (cell.fgcolor(), cell.bgcolor(), marks)
}

fn draw(svg: &mut String, run: &[&Cell], at: usize, row: u16) {
    let Some(first) = run.first() else { return };
    let (x, y) = (at as f32 * CELL.0, f32::from(row) * CELL.1);
    let width = run.len() as f32 * CELL.0;
    let (mut ink, mut ground) = (color(first.fgcolor()), color(first.bgcolor()));
    if first.inverse() {
        let swapped = ground.unwrap_or_else(|| BACKGROUND.to_owned());
        ground = Some(ink.unwrap_or_else(|| FOREGROUND.to_owned()));
        ink = Some(swapped);
    }
    if let Some(ground) = ground {
        // Slightly taller, so that no gap shows between rows.
        let height = CELL.1 + 0.3;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{ground}\"/>"
        );
    }
    let text: String = run
        .iter()
        .filter(|cell| !cell.is_wide_continuation())
        .map(|cell| {
            if cell.has_contents() {
                cell.contents()
            } else {
                " "
            }
        })
        .collect();
    if text.trim().is_empty() {
        return;
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let ink = ink.unwrap_or_else(|| FOREGROUND.to_owned());
    let mut marks = String::new();
    for (set, mark) in [
        (first.bold(), " font-weight=\"bold\""),
        (first.italic(), " font-style=\"italic\""),
        (first.underline(), " text-decoration=\"underline\""),
        (first.dim(), " opacity=\"0.6\""),
    ] {
        marks.push_str(if set { mark } else { "" });
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" fill=\"{ink}\"{marks} xml:space=\"preserve\">{text}</text>",
        y + CELL.1 * 0.75,
    );
}

/// tiller uses no indexed colors on a 24-bit terminal, so eight are enough for other programs.
fn color(color: Color) -> Option<String> {
    const NAMED: [&str; 8] = [
        "#2a2c34", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
    ];
    match color {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(index) => Some(NAMED[usize::from(index) % NAMED.len()].to_owned()),
    }
}
