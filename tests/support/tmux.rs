//! The real binary in tmux, which rewraps rows when it's resized and keeps scrollback. Uses its own
//! tmux server, which ends when it's dropped.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::sandbox::Sandbox;

const DEADLINE: Duration = Duration::from_mins(2);

/// A program in a tmux terminal.
pub struct Tmux {
    socket: String,
}

impl Tmux {
    /// Starts tiller in `sandbox`, in a terminal of this size. Returns none where there's no tmux.
    #[expect(clippy::print_stdout, reason = "a test that shows nothing says so")]
    pub fn start(
        sandbox: &Sandbox,
        arguments: &[&str],
        (columns, rows): (u16, u16),
    ) -> Option<Self> {
        let folder = sandbox.path().parent()?.join("run");
        let tmux = Self {
            socket: folder.join("tmux").to_str()?.to_owned(),
        };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut command = tmux.command();
        command.env_clear().envs(sandbox.env().iter().cloned());
        command.args([
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "-c",
        ]);
        command.arg(sandbox.path());
        command.arg(env!("CARGO_BIN_EXE_tiller")).args(arguments);
        command.args([";", "set", "-g", "remain-on-exit", "on"]);
        command.args([";", "set", "-g", "history-limit", "5000"]);
        let Ok(started) = command.output() else {
            println!("skipped: there is no tmux");
            return None;
        };
        assert!(started.status.success(), "{}", text(&started.stderr));
        Some(tmux)
    }

    /// Types. A key by tmux's name (`Enter`, `Escape`, `C-d`) must be an item of its own.
    pub fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.run(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Everything in the scrollback and on the screen, with wrapped rows joined.
    pub fn everything(&self) -> String {
        text(&self.run(&["capture-pane", "-p", "-J", "-S", "-"]).stdout)
    }

    /// Waits until the text of the screen is `ready`.
    #[track_caller]
    pub fn wait(&self, what: &str, ready: impl Fn(&str) -> bool) {
        let end = Instant::now() + DEADLINE;
        loop {
            let screen = text(&self.run(&["capture-pane", "-p"]).stdout);
            if ready(&screen) {
                return;
            }
            assert!(
                Instant::now() < end,
                "timed out waiting for {what}:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(20)); // poll
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
