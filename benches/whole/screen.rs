//! A program in a pseudo-terminal: keys go in, the screen's text comes out. Each piece of output
//! gets its time when it arrives, so that reading the screen affects no figure.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::model_server::ModelServer;
use crate::process;
use crate::program::Program;

/// How long anything may take before a measurement gives up.
const DEADLINE: Duration = Duration::from_mins(1);
const SIZE: PtySize = PtySize {
    rows: 40,
    cols: 120,
    pixel_width: 0,
    pixel_height: 0,
};

/// A running program and its screen. Killed when dropped.
pub struct Screen {
    /// When it was started.
    pub started: Instant,
    pub bytes: usize,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<(Instant, Vec<u8>)>,
    input: Box<dyn Write + Send>,
    terminal: vt100::Parser,
    /// When the last piece of output arrived.
    last: Instant,
    master: Box<dyn MasterPty + Send>,
}

impl Screen {
    /// Starts `program` with `home` as its home and working folder, talking to `server`.
    pub fn start(program: &Program, home: &Path, server: Option<&ModelServer>) -> Self {
        let pty = native_pty_system().openpty(SIZE).unwrap();
        let mut command = CommandBuilder::new(&program.path);
        command.cwd(home);
        command.env_clear();
        for (name, value) in environment(home) {
            command.env(name, value);
        }
        program.prepare(&mut command, home, server);
        let mut reader = pty.master.try_clone_reader().unwrap();
        let input = pty.master.take_writer().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender
                    .send((Instant::now(), buffer[..count].to_vec()))
                    .is_err()
                {
                    break;
                }
            }
        });
        let started = Instant::now();
        let child = pty.slave.spawn_command(command).unwrap();
        Self {
            started,
            bytes: 0,
            child,
            output,
            input,
            terminal: vt100::Parser::new(
                NonZeroU16::new(SIZE.rows).unwrap(),
                NonZeroU16::new(SIZE.cols).unwrap(),
                0,
            ),
            last: started,
            master: pty.master,
        }
    }

    /// Starts the program and waits until it's idle.
    pub fn idle(program: &Program, home: &Path, server: Option<&ModelServer>) -> Self {
        let mut screen = Self::start(program, home, server);
        screen.wait(|text| !text.trim().is_empty());
        screen.rest(program.warm_up());
        screen
    }

    /// Presses keys. Returns the moment just before.
    pub fn press(&mut self, keys: &str) -> Instant {
        let now = Instant::now();
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
        now
    }

    /// Types a prompt. Pauses for programs that would take it for a paste.
    pub fn type_prompt(&mut self) {
        self.press("go");
        self.rest(Duration::from_millis(400));
    }

    /// Types a prompt and sends it. Returns the moment just before.
    pub fn submit(&mut self) -> Instant {
        self.type_prompt();
        self.press("\r")
    }

    /// Waits until the screen's text passes. Returns when the deciding bytes arrived.
    pub fn wait(&mut self, passes: impl Fn(&str) -> bool) -> Option<Instant> {
        let deadline = Instant::now() + DEADLINE;
        while !passes(&self.text()) {
            if self
                .take(deadline.saturating_duration_since(Instant::now()))
                .is_err()
            {
                eprintln!("gave up at:\n{}", self.text());
                return None;
            }
        }
        Some(self.last)
    }

    /// Waits for `time` and reads the program's output meanwhile.
    pub fn rest(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while self
            .take(end.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
    }

    /// Resizes the terminal to this many columns. Returns the milliseconds until the last byte of
    /// the redraw.
    pub fn resize(&mut self, columns: u16) -> Option<f64> {
        let bytes = self.bytes;
        let began = Instant::now();
        let size = PtySize {
            cols: columns,
            ..SIZE
        };
        self.master.resize(size).unwrap();
        let (rows, columns) = (NonZeroU16::new(SIZE.rows), NonZeroU16::new(columns));
        self.terminal.screen_mut().set_size(rows?, columns?);
        self.rest(Duration::from_millis(400));
        (self.bytes > bytes).then(|| (self.last - began).as_secs_f64() * 1e3)
    }

    /// What the screen shows.
    pub fn text(&self) -> String {
        self.terminal.screen().contents()
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Milliseconds of CPU so far, of the program and everything it started.
    pub fn cpu(&self) -> f64 {
        process::cpu(self.pid())
    }

    fn take(&mut self, time: Duration) -> Result<(), RecvTimeoutError> {
        let (at, bytes) = self.output.recv_timeout(time)?;
        self.last = at;
        self.bytes += bytes.len();
        // Some programs wait for these answers before they draw.
        for (question, answer) in [(&b"\x1b[6n"[..], "\x1b[1;1R"), (b"\x1b[c", "\x1b[?62;22c")] {
            if bytes.windows(question.len()).any(|part| part == question) {
                let _ = self.input.write_all(answer.as_bytes());
            }
        }
        self.terminal.process(&bytes);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The environment. It inherits only PATH from the real user.
pub fn environment(home: &Path) -> Vec<(&'static str, PathBuf)> {
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
