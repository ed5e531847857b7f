//! Runs the real binary in a pseudo-terminal and reads it through a terminal emulator: keys go in,
//! what a person would see comes out. Every wait is for a condition, with a deadline that prints
//! the screen. Nothing just sleeps.

mod keys;
mod terminal;
mod view;

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::sandbox::Sandbox;

pub use terminal::Terminal;
pub use view::{Style, View};

/// How long any wait may take. Generous, for loaded machines.
const DEADLINE: Duration = Duration::from_mins(2);

/// A program about to be started.
pub struct Launch<'a> {
    sandbox: &'a Sandbox,
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    columns: u16,
    rows: u16,
    told: Option<(u16, u16)>,
    terminal: Terminal,
}

/// A running program and its terminal. Killed when dropped.
pub struct Screen {
    shared: Arc<Shared>,
    /// None after the terminal hung up.
    master: Mutex<Option<Box<dyn MasterPty + Send>>>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    pid: Pid,
    settings: String,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    vte: vte::Parser,
    answers: terminal::Answers,
    raw: Vec<u8>,
    exit: Option<Exit>,
    closed: bool,
    /// True while the terminal doesn't read the program's output.
    frozen: bool,
    /// True after the terminal went away.
    gone: bool,
    /// True while the terminal is about to answer.
    answering: bool,
    /// True if the last key was Enter.
    entered: bool,
}

/// How long to wait before a second Enter, so that tiller doesn't take it for a slip.
const NO_SLIP: Duration = Duration::from_millis(300);

/// How the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    pub code: u32,
    pub signal: Option<String>,
}

impl<'a> Launch<'a> {
    /// Runs tiller in `sandbox`, in an 80x24 terminal that answers like a modern one.
    pub fn new(sandbox: &'a Sandbox) -> Self {
        Self {
            sandbox,
            arguments: Vec::new(),
            env: Vec::new(),
            columns: 80,
            rows: 24,
            told: None,
            terminal: Terminal::Kitty,
        }
    }

    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|it| (*it).to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// The terminal reports this size although it has another one.
    pub fn telling(mut self, columns: u16, rows: u16) -> Self {
        self.told = Some((columns, rows));
        self
    }

    pub fn terminal(mut self, terminal: Terminal) -> Self {
        self.terminal = terminal;
        self
    }

    /// Starts tiller.
    pub fn start(self) -> Screen {
        self.start_program(&super::program())
    }

    /// Starts another program in the same environment.
    pub fn start_program(self, program: &str) -> Screen {
        let pair = native_pty_system()
            .openpty(
                self.told
                    .map_or(size(self.columns, self.rows), |told| size(told.0, told.1)),
            )
            .unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(&self.arguments);
        command.cwd(self.sandbox.path());
        command.env_clear();
        let defaults = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        for (name, value) in defaults {
            command.env(name, value);
        }
        for (name, value) in self.sandbox.env().iter().chain(&self.env) {
            command.env(name, value);
        }
        let settings = settings(pair.master.as_ref());
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let pid = Pid::from_raw(child.process_id().unwrap() as i32);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                parser: vt100::Parser::new(one(self.rows), one(self.columns), 1_000),
                vte: vte::Parser::new(),
                answers: terminal::Answers::new(self.terminal),
                raw: Vec::new(),
                exit: None,
                closed: false,
                frozen: false,
                gone: false,
                answering: false,
                entered: false,
            }),
            changed: Condvar::new(),
        });
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let reader = pair.master.try_clone_reader().unwrap();
        let (seen, answer) = (shared.clone(), writer.clone());
        std::thread::spawn(move || read(reader, &seen, &answer));
        let waited = shared.clone();
        std::thread::spawn(move || {
            let exit = child.wait().map(|status| Exit {
                code: status.exit_code(),
                signal: status.signal().map(str::to_owned),
            });
            waited.lock().exit = exit.ok();
            waited.changed.notify_all();
        });
        Screen {
            shared,
            master: Mutex::new(Some(pair.master)),
            writer,
            pid,
            settings,
        }
    }
}

impl Screen {
    /// Types keys. Plain characters stand for themselves; `<enter>`, `<esc>`, `<c-c>`, `<a-enter>`,
    /// `<s-tab>`, `<up>`, `<pgup>`, `<f1>`, `<lt>` and the like are keys. Without the kitty
    /// protocol `<esc>` must come last, because a key right after it would mean Alt.
    pub fn keys(&self, keys: &str) {
        let entered = std::mem::replace(&mut self.shared.lock().entered, keys.ends_with("<enter>"));
        if entered && keys.starts_with("<enter>") {
            self.settle(NO_SLIP, 4 * NO_SLIP);
        }
        let flags = self.shared.lock().answers.flags();
        self.send(&keys::encode(keys, flags));
    }

    /// Pastes text the way a terminal does.
    pub fn paste(&self, text: &str) {
        self.send(b"\x1b[200~");
        self.send(text.as_bytes());
        self.send(b"\x1b[201~");
    }

    /// Sends raw bytes.
    pub fn send(&self, bytes: &[u8]) {
        let mut writer = lock(&self.writer);
        // A program that has exited reads no more. The next wait reports that.
        let _ = writer.write_all(bytes).and_then(|()| writer.flush());
    }

    /// Resizes the terminal.
    pub fn resize(&self, columns: u16, rows: u16) {
        let mut state = self.shared.lock();
        state.parser.set_size(one(rows), one(columns));
        self.tell(columns, rows);
    }

    /// Reports a size that the terminal doesn't have.
    pub fn tell(&self, columns: u16, rows: u16) {
        self.master(|it| it.resize(size(columns, rows)).unwrap());
    }

    /// Hangs up without notice, as when the user closes the window.
    pub fn hang_up(&self) {
        self.shared.lock().gone = true;
        // The reader thread lets go of the terminal when the next byte arrives.
        let path = self.master(|it| it.tty_name().unwrap());
        let mut slave = std::fs::OpenOptions::new()
            .write(true)
            .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
            .open(path)
            .unwrap();
        slave.write_all(&[0]).unwrap();
        drop(slave);
        let mut state = self.shared.lock();
        while !state.closed {
            state = self.shared.wait(state, DEADLINE);
        }
        drop(state);
        *lock(&self.writer) = Box::new(std::io::sink());
        lock(&self.master).take();
    }

    fn master<T>(&self, with: impl Fn(&(dyn MasterPty + Send)) -> T) -> T {
        with(lock(&self.master).as_deref().unwrap())
    }

    /// Stops reading, and fills the buffer until the program can't write any more.
    pub fn freeze(&self) {
        self.shared.lock().frozen = true;
        let mut slave = std::fs::OpenOptions::new()
            .write(true)
            .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
            .open(self.master(|it| it.tty_name().unwrap()))
            .unwrap();
        // Terminals show nothing for NUL. One read may still be in progress, so once isn't enough.
        let mut fulls = 0;
        while fulls < 20 {
            match slave.write(&[0; 4096]) {
                Ok(1..) => fulls = 0,
                Ok(0) | Err(_) => {
                    fulls += 1;
                    std::thread::sleep(Duration::from_millis(1)); // poll
                }
            }
        }
    }

    /// Reads again.
    pub fn thaw(&self) {
        self.shared.lock().frozen = false;
        self.shared.changed.notify_all();
    }

    /// Waits until the program has asked what the terminal is, and has all its answers.
    #[track_caller]
    pub fn wait_answered(&self) {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        while state.answering || !state.raw.windows(3).any(|bytes| bytes == b"\x1b[c") {
            assert!(
                Instant::now() < end,
                "timed out waiting for the terminal's answers"
            );
            state = self.shared.wait(state, DEADLINE);
        }
    }

    /// Waits until the program exits, even if nobody has read its output.
    #[track_caller]
    pub fn wait_dead(&self) -> Exit {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        loop {
            if let Some(exit) = state.exit.clone() {
                return exit;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "timed out waiting for the exit: {}",
                self.threads()
            );
            state = self.shared.wait(state, left);
        }
    }

    /// What each thread of the program waits for, and which signals are pending.
    fn threads(&self) -> String {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let process = format!("/proc/{}", self.pid);
        let status = read(&format!("{process}/status"));
        let of_interest = ["State", "PPid", "SigPnd", "ShdPnd", "SigBlk", "SigCgt"];
        let status = status
            .lines()
            .filter(|line| of_interest.iter().any(|name| line.starts_with(name)));
        let mut lines: Vec<String> = status.map(str::to_owned).collect();
        for thread in std::fs::read_dir(format!("{process}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let file = |name| read(&thread.path().join(name).to_string_lossy());
            lines.push(format!(
                "{} {} {}",
                file("comm").trim(),
                file("wchan"),
                file("syscall").trim()
            ));
        }
        lines.join("\n")
    }

    /// Waits until a line of the screen contains `text`.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("the text {text:?}"), |view| view.contains(text));
    }

    /// Waits until no line of the screen contains `text`.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("{text:?} to go"), |view| !view.contains(text));
    }

    /// Waits for a condition. Looks only at finished frames.
    #[track_caller]
    pub fn wait_until(&self, what: &str, ready: impl Fn(&View) -> bool) {
        self.wait_map(what, |view| ready(view).then_some(()));
    }

    /// Waits for a condition that returns a value.
    #[track_caller]
    pub fn wait_map<T>(&self, what: &str, ready: impl Fn(&View) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        loop {
            if !state.answers.in_frame()
                && let Some(found) = ready(&view(&state))
            {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && (!state.closed || state.exit.is_none()),
                "timed out waiting for {what}; exit: {:?}; the screen:\n{}",
                state.exit,
                view(&state).picture()
            );
            state = self.shared.wait(state, left);
        }
    }

    /// Waits until nothing was drawn for `still`, but at most `most`. For drivers that don't know
    /// what their keys will do.
    pub fn settle(&self, still: Duration, most: Duration) {
        let end = Instant::now() + most;
        let mut state = self.shared.lock();
        loop {
            let written = state.raw.len();
            let waited = self.shared.changed.wait_timeout(state, still);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            let is_still = timeout.timed_out() && state.raw.len() == written;
            if is_still || state.exit.is_some() || Instant::now() >= end {
                return;
            }
        }
    }

    /// True if the program has exited.
    pub fn has_exited(&self) -> bool {
        self.shared.lock().exit.is_some()
    }

    /// Looks at the screen right now.
    pub fn look<T>(&self, look: impl Fn(&View) -> T) -> T {
        look(&view(&self.shared.lock()))
    }

    /// The screen as text, for messages and simple checks.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the lifetimes need it"
    )]
    pub fn text(&self) -> String {
        self.look(|view| view.text())
    }

    /// The lines of the normal screen and its scrollback, without trailing blanks.
    pub fn everything(&self) -> Vec<String> {
        let mut state = self.shared.lock();
        let screen = state.parser.screen_mut();
        let (_, columns) = screen.size();
        let mut lines = Vec::new();
        for offset in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(offset);
            lines.extend(screen.rows(0, columns.get()).take(1));
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, columns.get()));
        lines.iter().map(|it| it.trim_end().to_owned()).collect()
    }

    /// True while the alternate screen shows.
    pub fn is_alternate(&self) -> bool {
        self.shared.lock().parser.screen().alternate_screen()
    }

    /// Every byte the program has written.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.lock().raw.clone()
    }

    /// The SGR numbers of all colours the program has used.
    pub fn colours(&self) -> Vec<u16> {
        self.shared.lock().answers.colours()
    }

    /// Waits until the program has exited and all its output is read.
    #[track_caller]
    pub fn wait_exit(&self) -> Exit {
        let end = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        loop {
            if let Some(exit) = state.exit.clone().filter(|_| state.closed) {
                return exit;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "timed out waiting for the exit (exit: {:?}); the screen:\n{}",
                state.exit,
                view(&state).picture()
            );
            state = self.shared.wait(state, left);
        }
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Sends a signal, unless the program has exited.
    pub fn signal(&self, signal: Signal) {
        let state = self.shared.lock();
        if state.exit.is_none() {
            let _ = kill(self.pid, signal);
        }
    }

    /// The terminal modes the program has set and not reset. Empty when it cleaned up.
    pub fn modes_left(&self) -> Vec<String> {
        self.shared.lock().answers.leftovers()
    }

    /// Those modes, plus changed terminal settings. For a program that has exited or stopped.
    pub fn leftovers(&self) -> Vec<String> {
        let state = self.shared.lock();
        let mut left = state.answers.leftovers();
        let now = self.master(settings);
        if now != self.settings {
            left.push(format!("terminal settings: {} became {now}", self.settings));
        }
        if state.parser.screen().hide_cursor() {
            left.push("the cursor is hidden".to_owned());
        }
        left
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, left: Duration) -> MutexGuard<'a, State> {
        // Wakes up twice a second, to notice a program that dies silently.
        let left = left.min(Duration::from_millis(500));
        let waited = self.changed.wait_timeout(state, left);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The terminal's side: shows output and answers questions.
fn read(mut reader: Box<dyn Read + Send>, shared: &Shared, writer: &Mutex<Box<dyn Write + Send>>) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        let mut guard = shared.lock();
        while guard.frozen {
            guard = shared.wait(guard, DEADLINE);
        }
        if guard.gone {
            break;
        }
        let state = &mut *guard;
        state.raw.extend_from_slice(&bytes[..count]);
        state.parser.process(&bytes[..count]);
        let cursor = state.parser.screen().cursor_position();
        state.answers.cursor(cursor);
        state.answers.pass(&bytes[..count]);
        state.vte.advance(&mut state.answers, &bytes[..count]);
        let answer = state.answers.take();
        state.answering = !answer.is_empty();
        let slow = state.answers.terminal == Terminal::Slow;
        drop(guard);
        shared.changed.notify_all();
        let (step, pause) = if slow {
            (1, Duration::from_millis(40))
        } else {
            (answer.len().max(1), Duration::ZERO)
        };
        for piece in answer.chunks(step) {
            std::thread::park_timeout(pause);
            let mut writer = lock(writer);
            let _ = writer.write_all(piece).and_then(|()| writer.flush());
        }
        shared.lock().answering = false;
        shared.changed.notify_all();
    }
    drop(reader);
    shared.lock().closed = true;
    shared.changed.notify_all();
}

fn view(state: &State) -> View<'_> {
    View::new(state.parser.screen())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn one(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).unwrap()
}

/// Echo, line mode and the rest, in a form to compare.
fn settings(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the harness itself, with a shell as the program.
    #[test]
    fn the_harness_runs_a_shell() {
        let sandbox = Sandbox::new();
        let script = "printf '\\033[1;31mred\\033[0m ready\\n'; read -r line; echo \"got $line\"; \
                      stty -echo; printf '\\033[?2004h'; exit 3";
        let screen = Launch::new(&sandbox)
            .args(&["-c", script])
            .start_program("bash");
        screen.wait_for("red ready");
        let style = screen.look(|view| view.style_of("red")).unwrap();
        assert!(style.bold && style.fg == vt100::Color::Idx(1));
        screen.keys("hello<enter>");
        screen.wait_for("got hello");
        assert_eq!(screen.wait_exit().code, 3);
        let left = screen.leftovers().join("\n");
        assert!(left.contains("2004") && left.contains("settings"), "{left}");
    }

    #[test]
    fn a_modern_terminal_answers_questions() {
        let sandbox = Sandbox::new();
        let script = "stty raw -echo; printf '\\033[?u\\033]11;?\\033\\\\\\033[c'; \
                      head -c 39 | od -An -c -w39; stty sane";
        let screen = Launch::new(&sandbox)
            .args(&["-c", script])
            .size(200, 5)
            .start_program("bash");
        screen.wait_until("three answers", |view| {
            let text = view.text().replace(' ', "");
            text.contains("[?0u") && text.contains("rgb:") && text.contains("[?62;22c")
        });
    }
}
