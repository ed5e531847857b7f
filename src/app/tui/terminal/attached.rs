//! A screen in another terminal: `tiller attach` lends its terminal to the session's program, which draws and
//! reads there. Both ends are here.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp, ttyname};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout_at};

use super::modes::restore_bytes;
use super::signals::{ClientSignals, SignalEvent};
use super::tty::{Tty, identity};
use crate::agent::Snapshot;
use crate::agent::session::StoredSession;
use crate::app::out;
use crate::app::signals::Signals;
use crate::app::steer::{ScreenRequest, ScreenSignal, ScreenUpdate, to_line};
use crate::app::tui::effects::effect::TerminalEffect;
use crate::app::tui::event_loop::run;
use crate::app::tui::msg::EffectResult;
use crate::app::tui::options::{ExitKind, Joining, TuiOptions};

/// How often the client checks that the session's program still runs, and how long the answer may take.
/// Otherwise a stopped program would lock the client's terminal.
const PING: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(9);
/// Longest line of a client, in bytes.
const MAX_LINE: u64 = 4096;
const ENDED: &str = "the session has ended";
const LOST: &str =
    "lost the connection to the session; if it still runs, tiller attach shows it again";
const SILENT: &str = "the session's tiller doesn't answer; is it stopped?";
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
    "VTE_VERSION",
    "KONSOLE_VERSION",
    "KITTY_WINDOW_ID",
    "ALACRITTY_WINDOW_ID",
    "DOMTERM",
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
/// so it needs its own thread.
pub(crate) fn show(
    runtime: &Handle,
    stream: UnixStream,
    snapshot: Snapshot,
    options: impl FnOnce(Joining) -> TuiOptions,
) {
    let update = match stream.try_clone().and_then(follow) {
        Ok(signals) => {
            let options = options(Joining {
                snapshot: Arc::new(snapshot),
                signals,
            });
            let handle = options.host.handle.clone();
            let screen = AssertUnwindSafe(|| runtime.block_on(Box::pin(run(options))));
            let update = match catch_unwind(screen) {
                Ok(kind) => end_of(kind),
                Err(_) => ScreenUpdate::end(101, "the screen crashed; the session continues"),
            };
            handle.detach();
            update
        }
        Err(error) => ScreenUpdate::end(1, format!("can't start a screen: {error}")),
    };
    let _ = (&stream).write_all(&to_line(&update));
    // Ends the thread that follows the client.
    let _ = stream.shutdown(Shutdown::Both);
}

/// Passes on what the client sends, until it is gone.
fn follow(stream: UnixStream) -> io::Result<ClientSignals> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let client = Arc::new(stream.try_clone()?);
    let (signals, received) = mpsc::unbounded_channel();
    let thread = thread::Builder::new().name("client".to_owned());
    thread.spawn(move || {
        // After this long without a ping the client is stopped, and the shell uses its terminal.
        let mut from = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut from).take(MAX_LINE).read_until(b'\n', &mut line);
            if read.is_err() || line.last() != Some(&b'\n') {
                return;
            }
            let signal = match serde_json::from_slice(&line) {
                Ok(ScreenSignal::Resize) => Some(SignalEvent::Resize),
                Ok(ScreenSignal::End { signal }) => Some(SignalEvent::End(signal)),
                Ok(ScreenSignal::TakenBack) => Some(SignalEvent::TakenBack),
                Ok(ScreenSignal::Ping) => None,
                Err(_) => continue,
            };
            if signals.send(signal).is_err() {
                return;
            }
        }
    })?;
    Ok(ClientSignals { received, client })
}

fn end_of(kind: ExitKind) -> ScreenUpdate {
    let code = kind.code();
    match kind {
        ExitKind::Unusable(why) => ScreenUpdate::end(code, why),
        ExitKind::SessionEnded => ScreenUpdate::end(code, ENDED),
        ExitKind::Reopen(session) => {
            let text = format!("tiller --session {} opens it", session.display());
            ScreenUpdate::end(code, text)
        }
        ExitKind::Attach(session) => {
            let text = format!("tiller attach {} joins it", StoredSession::at(&session).id);
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
    /// Fails if stdin isn't a terminal that knows escape sequences, or if this process isn't in its foreground:
    /// then the shell reads the keys.
    pub fn new() -> io::Result<(Self, ScreenRequest)> {
        let settings = tcgetattr(io::stdin())?;
        let terminal = ttyname(io::stdin())?;
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || tcgetpgrp(io::stdin()) != Ok(getpgrp()) {
            return Err(io::Error::other("not in the foreground of a terminal"));
        }
        let device = identity(&std::fs::metadata(&terminal)?);
        let var = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
        let env = VARIABLES.iter().filter_map(var).collect();
        let request = ScreenRequest {
            terminal,
            device,
            env,
        };
        Ok((Self { settings }, request))
    }

    /// Waits until the program gives the terminal back. Restores it if the program dies or hangs. Returns the
    /// exit code, and what to tell the user.
    ///
    /// # Errors
    /// Fails if signals can't be caught.
    pub async fn lend(self, stream: UnixStream) -> io::Result<(u8, Option<String>)> {
        match wait(stream).await? {
            Lent::Ended(code, text) => Ok((code, text)),
            lost => {
                let _ = out::write(&restore_bytes());
                let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.settings);
                Ok(match lost {
                    Lent::Silent => (1, Some(SILENT.to_owned())),
                    _ => (1, Some(LOST.to_owned())),
                })
            }
        }
    }
}

/// How the terminal came back.
enum Lent {
    /// The screen ended, with this exit code and text.
    Ended(u8, Option<String>),
    /// The connection broke, probably because the program is gone.
    Gone,
    /// The program doesn't answer.
    Silent,
}

impl Lent {
    /// The screen ended. If that was for a hangup that the client didn't report, the client was stopped for too long.
    fn ended(code: u8, text: Option<String>, is_ending: bool) -> Self {
        let is_lost = code == ExitKind::TerminalGone.code() && !is_ending;
        Self::Ended(code, text.or_else(|| is_lost.then(|| LOST.to_owned())))
    }
}

/// Forwards signals until the terminal comes back.
async fn wait(stream: UnixStream) -> io::Result<Lent> {
    stream.set_nonblocking(true)?;
    let (from, mut to) = tokio::net::UnixStream::from_std(stream)?.into_split();
    let mut lines = tokio::io::BufReader::new(from).lines();
    let end = |signal: Signal| (signal as i32, Some(signal as i32));
    let mut signals = Signals::new([
        end(Signal::SIGTERM),
        end(Signal::SIGHUP),
        end(Signal::SIGINT),
        (Signal::SIGWINCH as i32, None),
        // A stopped client couldn't restore the terminal for the shell.
        (Signal::SIGTSTP as i32, None),
    ])?;
    let mut ping = interval(PING);
    let mut deadline = Instant::now() + PATIENCE;
    let (mut is_ending, mut is_cut) = (false, false);
    loop {
        let signal = tokio::select! {
            signal = signals.next(), if !is_cut => match signal {
                Some(signal) => {
                    is_ending = true;
                    deadline = Instant::now() + LEAVING;
                    ScreenSignal::End { signal }
                }
                None => ScreenSignal::Resize,
            },
            line = timeout_at(deadline, lines.next_line()) => match line {
                Ok(Ok(Some(line))) => match serde_json::from_str(&line) {
                    Ok(ScreenUpdate::End { code, text }) => {
                        return Ok(Lent::ended(code, text, is_ending));
                    }
                    // A screen that doesn't end may still answer pings.
                    _ if is_ending => continue,
                    _ => {
                        deadline = Instant::now() + PATIENCE;
                        continue;
                    }
                },
                // This client itself was stopped: what came meanwhile isn't read yet.
                Err(_) if deadline.elapsed() > LEAVING => {
                    deadline = Instant::now() + LEAVING;
                    continue;
                }
                Err(_) => {
                    let _ = to.write_all(&to_line(&ScreenSignal::TakenBack)).await;
                    return Ok(Lent::Silent);
                }
                _ => return Ok(Lent::Gone),
            },
            _ = ping.tick(), if !is_cut => ScreenSignal::Ping,
        };
        // The reason may still wait to be read.
        is_cut = to.write_all(&to_line(&signal)).await.is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::terminal::signals::Source;

    #[test]
    fn a_client_that_was_stopped_for_too_long_says_that_the_connection_was_lost() {
        for (code, is_ending, said) in [
            (129, false, Some(LOST)),
            (129, true, None),
            (0, false, None),
        ] {
            let Lent::Ended(ended, text) = Lent::ended(code, None, is_ending) else {
                panic!();
            };
            assert_eq!((ended, text.as_deref()), (code, said));
        }
    }

    /// Otherwise a hung screen would lock the client's terminal.
    #[test]
    fn only_a_screen_that_runs_answers_a_ping() {
        let (client, stream) = UnixStream::pair().unwrap();
        let mut signals = Source::Client(follow(stream).unwrap());
        for sent in [ScreenSignal::Ping, ScreenSignal::Resize] {
            (&client).write_all(&to_line(&sent)).unwrap();
        }
        let Source::Client(followed) = &mut signals else {
            unreachable!();
        };
        while followed.received.len() < 2 {
            thread::yield_now();
        }
        client.set_nonblocking(true).unwrap();
        let mut line = String::new();
        assert!(BufReader::new(&client).read_line(&mut line).is_err());

        client.set_nonblocking(false).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let signal = runtime.unwrap().block_on(async {
            let signal = signals.next().await;
            tokio::task::yield_now().await;
            signal
        });
        assert_eq!(signal, SignalEvent::Resize);
        BufReader::new(&client).read_line(&mut line).unwrap();
        assert_eq!(line.as_bytes(), to_line(&ScreenUpdate::Alive));
    }
}
