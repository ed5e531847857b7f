//! The terminal's modes: set while tiller runs, restored on every exit.
//!
//! Exit, error, panic, suspension and the external editor all go through `Modes::leave`; only SIGKILL
//! doesn't. `ScreenBuffer` makes the bytes of a frame, `TtyWriter` writes them, `input` reads.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, SetArg, Termios, cfmakeraw, tcflush, tcgetattr, tcsetattr};

use super::tty::Tty;
use super::tty_writer::{Patience, TtyWriter};
use super::window::{NO_PROGRESS, OWN_CURSOR, shows_progress};
use crate::app::manners::Manners;
use crate::app::sanitize::visible;
use crate::app::tui::picture::terminal::queries;

/// Bracketed paste, focus reports, reports of a switch to dark or light.
const ENTER: &[u8] = b"\x1b[?2004h\x1b[?1004h\x1b[?2031h";
/// The alternate screen, and the way back, out of any scroll region.
const ALTERNATE: &[u8] = b"\x1b[?1049h";
const NO_REGION: &[u8] = b"\x1b[r";
const ALTERNATE_OFF: &[u8] = b"\x1b[?1049l";
/// Below all rows. On the main screen `ALTERNATE_OFF` returns there; on the alternate one it doesn't.
const BOTTOM: &[u8] = b"\x1b[9999B\r\n\x1b7";
/// Mouse buttons and drags (not every motion) with wide coordinates.
const MOUSE: &[u8] = b"\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l";
/// Saves and restores the window title.
const TITLE: &[u8] = b"\x1b[22;0t";
const TITLE_OFF: &[u8] = b"\x1b[23;0t";
/// Ends the synchronized update of an interrupted frame.
const END_UPDATE: &[u8] = b"\x1b[?2026l";
/// Undoes `ENTER` and the leftovers of an interrupted frame: style, no line wrap, hidden cursor.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?2031l\x1b[?1004l\x1b[?2004l";
/// modifyOtherKeys: tmux passes on modified keys only to programs that set it.
const TMUX_KEYS: &[u8] = b"\x1b[>4;2m";
const TMUX_KEYS_OFF: &[u8] = b"\x1b[>4m";
/// The kitty keyboard protocol with flags 1 (disambiguate: Ctrl+Enter and a lone Esc) and 4
/// (alternate keys: shortcuts on layouts without Latin letters).
const KITTY: &[u8] = b"\x1b[>5u";
const KITTY_OFF: &[u8] = b"\x1b[<1u";
const QUERY_KITTY: &[u8] = b"\x1b[?u";
const QUERIES: &str = "\x1b[?u\x1b]11;?\x1b\\";
/// Every terminal answers this (DA1), so it ends a round of queries.
const QUERY_ATTRIBUTES: &str = "\x1b[c";
/// How often to wait for replies at exit, each time for `TIMEOUT`.
const REPLIES: usize = 4;
/// How long a terminal that doesn't read or reply can delay the exit.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The same for frames, which are worthless by then, and for last words.
const FRAMES: Patience = Patience {
    for_more: TIMEOUT,
    in_all: TIMEOUT,
};
/// The same while printing rows that stay: a slow line keeps taking some.
const PRINT: Patience = Patience {
    for_more: Duration::from_secs(1),
    in_all: Duration::from_secs(10),
};
/// The same if the screen continues afterwards: less than the agent waits for its subscribers.
const PRINT_AND_GO_ON: Patience = Patience {
    in_all: Duration::from_secs(4),
    ..PRINT
};

/// The terminal while tiller uses it.
#[derive(Debug)]
pub struct Terminal {
    modes: Arc<Modes>,
}

impl Terminal {
    /// Sets raw mode, alternate screen and mouse. From here on, a panic on this thread restores the
    /// terminal before it's reported. Panics elsewhere go to the log, because a report would be
    /// painted over the screen.
    pub fn enter(tty: Arc<Tty>, manners: Manners) -> io::Result<Self> {
        if !tty.input().is_terminal() || !tty.output().is_terminal() {
            return Err(io::Error::other(
                "the full screen needs a terminal on stdin and stdout; use -p to print instead",
            ));
        }
        if tty.var("TERM").is_some_and(|term| term == "dumb") {
            return Err(io::Error::other(
                "TERM=dumb: the full screen needs a terminal that can move its cursor; \
                 use -p to print instead",
            ));
        }
        let modes = Arc::new(Modes {
            out: TtyWriter::open(tty.output(), tty.client().is_none())?,
            original: Mutex::new(tcgetattr(tty.input())?),
            active: AtomicBool::new(false),
            alternate: AtomicBool::new(!manners.inline),
            rows_below: AtomicU16::new(0),
            kitty: AtomicBool::new(false),
            kitty_pushed: [AtomicBool::new(false), AtomicBool::new(false)],
            unanswered: AtomicBool::new(false),
            asked_colors: AtomicBool::new(false),
            discarded: AtomicBool::new(false),
            unconfirmed: AtomicBool::new(false),
            tmux: tty.var("TMUX").is_some(),
            mouse: AtomicBool::new(manners.mouse),
            cursor_shaped: Arc::default(),
            manners,
            tty,
        });
        // Only one terminal can be the program's own.
        if modes.tty.client().is_none() {
            catch_panics(Arc::clone(&modes));
        }
        modes.enter()?;
        Ok(Self { modes })
    }

    /// Stops using the terminal without restoring it, because another program uses it now.
    pub fn abandon(&self) {
        self.modes.active.store(false, Ordering::Relaxed);
    }

    /// Whether it may be written to.
    pub fn is_ours(&self) -> bool {
        self.modes.active.load(Ordering::Relaxed)
    }

    /// Restores the terminal, temporarily or for good. Returns whether it took all output.
    pub fn leave(&self, is_end: bool) -> bool {
        self.modes.leave(is_end)
    }

    /// Prints `text` on the main screen after [`Terminal::leave`], if the terminal is quick.
    pub fn print(&self, text: &str) {
        if !text.is_empty() {
            let line = format!("{}\n", visible(text));
            self.modes.out.say(line.as_bytes(), FRAMES);
        }
    }

    pub(crate) fn resume(&self) -> io::Result<()> {
        self.modes.enter()
    }

    /// The bytes that switch to or from the alternate screen, with its modes.
    pub fn switch(&self, to_alternate: bool) -> Vec<u8> {
        self.modes.switch(to_alternate)
    }

    /// Sets how many rows below the cursor are in use: a panic message goes below them.
    pub fn set_rows_below(&self, rows: u16) {
        self.modes.rows_below.store(rows, Ordering::Relaxed);
    }

    /// Saves the current settings to restore at the end, after a suspension, because the shell may
    /// have changed them (`stty`). Not after an editor: a killed one leaves its own.
    pub fn adopt_settings(&self) {
        if let Ok(now) = tcgetattr(self.modes.tty.input()) {
            *self.modes.original() = now;
        }
    }

    /// Writes a frame. Bytes that the terminal doesn't take at once are written later.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.modes.out.write(bytes)
    }

    /// Whether the terminal hasn't read everything yet: another frame would only queue up.
    pub fn is_behind(&self) -> bool {
        self.modes.out.is_behind()
    }

    pub(crate) async fn caught_up(&self) -> io::Result<()> {
        self.modes.out.caught_up().await
    }

    /// Sets whether the cursor has a shape to reset at the end.
    pub fn cursor_shaped(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.modes.cursor_shaped)
    }

    pub(crate) fn set_mouse(&self, on: bool) -> io::Result<()> {
        self.modes.mouse.store(on, Ordering::Relaxed);
        if !self.modes.alternate.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.modes.out.write(if on { MOUSE } else { MOUSE_OFF })
    }

    /// Queries the terminal's features; replies come as input. Call it after the first frame.
    pub fn query(&self) -> io::Result<()> {
        self.modes.unanswered.store(true, Ordering::Relaxed);
        let pictures = queries(self.modes.manners.images, |name| self.modes.tty.var(name));
        let queries = format!("{QUERIES}{pictures}{QUERY_ATTRIBUTES}");
        self.modes.out.write(queries.as_bytes())
    }

    /// Queries the terminal's colors: the sixteen, text and background.
    pub fn query_colors(&self) -> io::Result<()> {
        self.modes.unanswered.store(true, Ordering::Relaxed);
        self.modes.asked_colors.store(true, Ordering::Relaxed);
        let mut queries = String::new();
        for index in 0..16 {
            let _ = write!(queries, "\x1b]4;{index};?\x1b\\");
        }
        queries.push_str("\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b[c");
        self.modes.out.write(queries.as_bytes())
    }

    /// Repeats queries whose replies [`Terminal::leave`] discarded. Returns whether there were any.
    pub fn query_again(&self) -> io::Result<bool> {
        let did = self.modes.discarded.swap(false, Ordering::Relaxed);
        if did {
            self.query()?;
            if self.modes.asked_colors.load(Ordering::Relaxed) {
                self.query_colors()?;
            }
        }
        Ok(did)
    }

    pub(crate) fn answered(&self) {
        self.modes.unanswered.store(false, Ordering::Relaxed);
    }

    /// Notes that the terminal reported the kitty keyboard protocol as active.
    pub fn kitty_confirmed(&self) {
        self.modes.unconfirmed.store(false, Ordering::Relaxed);
    }

    /// Turns on the kitty keyboard protocol, if supported, and queries whether it is active.
    pub fn enable_kitty(&self) -> io::Result<()> {
        if self.modes.kitty.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.modes.unconfirmed.store(true, Ordering::Relaxed);
        let bytes = [self.modes.push_kitty(), QUERY_KITTY].concat();
        self.modes.out.write(&bytes)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.modes.leave(true);
    }
}

/// The state to restore, shared with the panic hook.
#[derive(Debug)]
struct Modes {
    out: TtyWriter,
    original: Mutex<Termios>,
    active: AtomicBool,
    /// Whether the alternate screen is showing.
    alternate: AtomicBool,
    rows_below: AtomicU16,
    /// Whether the terminal supports the kitty keyboard protocol, and on which screens it's on:
    /// each screen has its own flags.
    kitty: AtomicBool,
    kitty_pushed: [AtomicBool; 2],
    /// Whether replies are pending, and separately one about the kitty protocol.
    unanswered: AtomicBool,
    unconfirmed: AtomicBool,
    /// Whether the colors were queried, and whether replies were discarded since.
    asked_colors: AtomicBool,
    discarded: AtomicBool,
    tmux: bool,
    mouse: AtomicBool,
    cursor_shaped: Arc<AtomicBool>,
    manners: Manners,
    tty: Arc<Tty>,
}

impl Modes {
    fn original(&self) -> MutexGuard<'_, Termios> {
        self.original.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> io::Result<()> {
        let mut raw = self.original().clone();
        cfmakeraw(&mut raw);
        tcsetattr(self.tty.input(), SetArg::TCSANOW, &raw)?;
        self.active.store(true, Ordering::Relaxed);
        let mut bytes = [
            when(self.manners.title, TITLE),
            ENTER,
            when(self.tmux, TMUX_KEYS),
        ]
        .concat();
        if self.manners.inline {
            self.alternate.store(false, Ordering::Relaxed);
            bytes.extend_from_slice(self.push_kitty());
        } else {
            bytes.extend(self.switch(true));
        }
        self.out.write(&bytes)
    }

    /// The bytes that switch to or from the alternate screen, with mouse and keyboard modes.
    fn switch(&self, to_alternate: bool) -> Vec<u8> {
        if to_alternate {
            self.alternate.store(true, Ordering::Relaxed);
            let mouse = when(self.mouse.load(Ordering::Relaxed), MOUSE);
            return [ALTERNATE, mouse, self.push_kitty()].concat();
        }
        let bytes = [self.pop_kitty(), MOUSE_OFF, NO_REGION, ALTERNATE_OFF].concat();
        self.alternate.store(false, Ordering::Relaxed);
        [&bytes, self.push_kitty()].concat()
    }

    /// Turns on the kitty keyboard protocol for the current screen, if it should be on there.
    fn push_kitty(&self) -> &'static [u8] {
        let wanted = self.kitty.load(Ordering::Relaxed) && self.active.load(Ordering::Relaxed);
        when(
            wanted && !self.pushed().swap(true, Ordering::Relaxed),
            KITTY,
        )
    }

    fn pop_kitty(&self) -> &'static [u8] {
        when(self.pushed().swap(false, Ordering::Relaxed), KITTY_OFF)
    }

    fn pushed(&self) -> &AtomicBool {
        &self.kitty_pushed[usize::from(self.alternate.load(Ordering::Relaxed))]
    }

    /// Restores everything; a second call does nothing. A terminal that is gone isn't an error
    /// here. Returns whether the terminal took everything that was printed.
    fn leave(&self, is_end: bool) -> bool {
        if !self.active.swap(false, Ordering::Relaxed) {
            return true;
        }
        let tmux = when(self.tmux, TMUX_KEYS_OFF);
        let title = when(self.manners.title, TITLE_OFF);
        let shows = shows_progress(|name| self.tty.var(name));
        let progress = when(self.manners.progress && shows, NO_PROGRESS.as_bytes());
        let back = if self.alternate.load(Ordering::Relaxed) {
            self.switch(false)
        } else {
            Vec::new()
        };
        let below = match self.rows_below.swap(0, Ordering::Relaxed) {
            0 => String::new(),
            rows => format!("\x1b[{rows}B\r\n"),
        };
        let kitty = self.pop_kitty();
        let is_shaped = self.cursor_shaped.swap(false, Ordering::Relaxed);
        let cursor = when(is_shaped, OWN_CURSOR.as_bytes());
        let end = [LEAVE, cursor, below.as_bytes(), title].concat();
        let bytes = [END_UPDATE, &back, kitty, tmux, progress, &end].concat();
        let prints = self.manners.inline;
        let patience = match (prints, is_end) {
            (true, true) => PRINT,
            (true, false) => PRINT_AND_GO_ON,
            (false, _) => FRAMES,
        };
        let is_printed = self.out.finish(&bytes, patience) || !prints;
        if [&self.unanswered, &self.unconfirmed].map(|it| it.swap(false, Ordering::Relaxed))
            != [false; 2]
        {
            discard_replies(self.tty.input());
            self.discarded.store(true, Ordering::Relaxed);
        }
        let _ = tcsetattr(self.tty.input(), SetArg::TCSANOW, &self.original());
        is_printed
    }
}

/// The bytes that restore a terminal which a screen left in an unknown state.
pub(super) fn restore_bytes() -> Vec<u8> {
    [
        END_UPDATE,
        KITTY_OFF,
        TMUX_KEYS_OFF,
        MOUSE_OFF,
        NO_REGION,
        BOTTOM,
        ALTERNATE_OFF,
        LEAVE,
        TITLE_OFF,
    ]
    .concat()
}

fn when(on: bool, bytes: &'static [u8]) -> &'static [u8] {
    if on { bytes } else { b"" }
}

/// Discards pending replies, which would end up in the shell.
fn discard_replies(input: BorrowedFd<'_>) {
    for _ in 0..REPLIES {
        let _ = tcflush(input, FlushArg::TCIFLUSH);
        let mut fds = [PollFd::new(input, PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(TIMEOUT).unwrap_or(PollTimeout::ZERO);
        if poll(&mut fds, timeout).is_ok_and(|ready| ready == 0) {
            break;
        }
    }
}

fn catch_panics(modes: Arc<Modes>) {
    let previous = panic::take_hook();
    let screen_thread = thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if !modes.active.load(Ordering::Relaxed) {
            previous(info);
        } else if thread::current().id() == screen_thread {
            modes.leave(true);
            previous(info);
        } else {
            tracing::error!("{info}");
        }
    }));
}
