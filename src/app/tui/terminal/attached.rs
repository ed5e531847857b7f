//! A screen in another terminal: `tiller attach` lends its terminal to the session's program, which draws and
//! reads there. Both ends are here.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::ttyname;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout_at};

use super::modes::restore_bytes;
use super::signals::SignalEvent;
use super::tty::Tty;
use crate::agent::Snapshot;
use crate::app::out;
use crate::app::signals::Signals;
use crate::app::steer::{ScreenRequest, ScreenSignal, ScreenUpdate, to_line};
use crate::app::tui::effects::effect::TerminalEffect;
use crate::app::tui::event_loop::run;
use crate::app::tui::msg::EffectResult;
use crate::app::tui::options::{ExitKind, Joining, TuiOptions};

/// How often the client asks whether the session's program still reads the keys, and how long that may take.
/// Without it, a program that hangs would lock the client's terminal.
const PING: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(9);
/// How long a client that was told to end waits for the screen to restore the terminal.
const LEAVING: Duration = Duration::from_secs(1);

/// The client's variables that describe its terminal and its clipboard. No others are sent.
const VARIABLES: &[&str] = &[
    "TERM",
    "COLORTERM",
    "COLORFGBG",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "TMUX",
    "STY",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "XTERM_VERSION",
    "WT_SESSION",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SSH_CLIENT",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WSL_DISTRO_NAME",
    "TERMUX_VERSION",
];

/// Shows the screen in a client's terminal until the user leaves it, or the client or the session ends. Blocks,
/// so call it on a thread of its own.
pub(crate) fn show(
    runtime: &Handle,
    stream: UnixStream,
    snapshot: Snapshot,
    options: impl FnOnce(Joining) -> TuiOptions,
) {
    let (sender, signals) = mpsc::unbounded_channel();
    let joining = Joining {
        snapshot: Arc::new(snapshot),
        signals,
    };
    let update = stream.try_clone().and_then(|stream| follow(stream, sender));
    let update = match update {
        Ok(()) => {
            let options = AssertUnwindSafe(|| runtime.block_on(Box::pin(run(options(joining)))));
            match catch_unwind(options) {
                Ok(kind) => end_of(kind),
                Err(_) => ScreenUpdate::end(101, "The screen crashed; the session continues"),
            }
        }
        Err(error) => ScreenUpdate::end(1, format!("can't start a screen: {error}")),
    };
    let _ = (&stream).write_all(&to_line(&update));
}

/// Passes on what the client sends, until it is gone.
fn follow(stream: UnixStream, signals: mpsc::UnboundedSender<SignalEvent>) -> io::Result<()> {
    let mut to = stream.try_clone()?;
    let thread = thread::Builder::new().name("client".to_owned());
    thread.spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let signal = match serde_json::from_str(&line) {
                Ok(ScreenSignal::Resize) => SignalEvent::Resize,
                Ok(ScreenSignal::End { signal }) => SignalEvent::End(signal),
                Ok(ScreenSignal::Ping) => {
                    let _ = to.write_all(&to_line(&ScreenUpdate::Alive));
                    continue;
                }
                Err(_) => continue,
            };
            if signals.send(signal).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

fn end_of(kind: ExitKind) -> ScreenUpdate {
    let code = kind.code();
    match kind {
        ExitKind::Unusable(why) => ScreenUpdate::end(code, why),
        ExitKind::Reopen(session) => {
            let text = format!("tiller --session {} opens it", session.display());
            ScreenUpdate::end(code, text)
        }
        _ => ScreenUpdate::End { code, text: None },
    }
}

/// What a screen in a client's terminal can't do, as its result: an editor would be a child of this process, and
/// not in the foreground there.
pub(crate) fn refused(tty: &Tty, effect: &TerminalEffect) -> Option<EffectResult> {
    tty.client()?;
    let why = "The editor opens only in the terminal that started tiller".to_owned();
    match effect {
        TerminalEffect::OpenFile(..) => Some(EffectResult::FileClosed(Err(why))),
        TerminalEffect::Edit(text) => Some(EffectResult::Edited(text.clone(), Err(why))),
        _ => None,
    }
}

/// The terminal of this process, to lend to a session's program.
pub(crate) struct LentTerminal {
    settings: Termios,
}

impl LentTerminal {
    /// Describes the terminal, for the request.
    ///
    /// # Errors
    /// Fails if stdin isn't a terminal.
    pub fn new() -> io::Result<(Self, ScreenRequest)> {
        let settings = tcgetattr(io::stdin())?;
        let terminal = ttyname(io::stdin())?;
        let var = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
        let env = VARIABLES.iter().filter_map(var).collect();
        Ok((Self { settings }, ScreenRequest { terminal, env }))
    }

    /// Waits until the program gives the terminal back. Restores it if the program dies or hangs. Returns the
    /// exit code, and what to tell the user.
    ///
    /// # Errors
    /// Fails if signals can't be caught.
    pub async fn lend(self, stream: UnixStream) -> io::Result<(u8, Option<String>)> {
        match wait(stream).await? {
            Some((code, text)) => Ok((code, text)),
            None => {
                let _ = out::write(&restore_bytes());
                let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.settings);
                Ok((0, Some("The session has ended".to_owned())))
            }
        }
    }
}

/// The exit code and text of the screen's end; `None` if the program is gone or hangs.
async fn wait(stream: UnixStream) -> io::Result<Option<(u8, Option<String>)>> {
    stream.set_nonblocking(true)?;
    let (from, mut to) = tokio::net::UnixStream::from_std(stream)?.into_split();
    let mut lines = tokio::io::BufReader::new(from).lines();
    let end = |signal: Signal| (signal as i32, Some(signal as i32));
    let mut signals = Signals::new([
        end(Signal::SIGTERM),
        end(Signal::SIGHUP),
        end(Signal::SIGINT),
        (Signal::SIGWINCH as i32, None),
    ])?;
    let mut ping = interval(PING);
    let mut deadline = Instant::now() + PATIENCE;
    loop {
        let signal = tokio::select! {
            signal = signals.next() => match signal {
                Some(signal) => {
                    deadline = Instant::now() + LEAVING;
                    ScreenSignal::End { signal }
                }
                None => ScreenSignal::Resize,
            },
            line = timeout_at(deadline, lines.next_line()) => match line {
                Ok(Ok(Some(line))) => match serde_json::from_str(&line) {
                    Ok(ScreenUpdate::End { code, text }) => return Ok(Some((code, text))),
                    _ => {
                        deadline = Instant::now() + PATIENCE;
                        continue;
                    }
                },
                _ => return Ok(None),
            },
            _ = ping.tick() => ScreenSignal::Ping,
        };
        if to.write_all(&to_line(&signal)).await.is_err() {
            return Ok(None);
        }
    }
}
