//! The terminal's modes: taken on, given back on every way out.
//!
//! Exit, error, panic, suspension and the external editor all go through `Modes::leave`; only
//! `kill -9` escapes it. `ScreenBuffer` makes the bytes of a frame, `TtyWriter` writes them. Reading is
//! `input`'s business.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};
use nix::sys::termios::{FlushArg, SetArg, Termios, cfmakeraw, tcflush, tcgetattr, tcsetattr};
use ratatui::layout::Size;

use super::tty_writer::TtyWriter;
use crate::app::sanitize::visible;

/// Mouse buttons and drags, with wide coordinates; crossterm would ask for every motion as well.
const MOUSE: &[u8] = b"\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l";
/// No scroll region, and lines wrap: what a frame cut short may have left behind.
const RESET: &[u8] = b"\x1b[r\x1b[?7h";
/// tmux passes modified keys on only to those who ask this way.
const TMUX_KEYS: &[u8] = b"\x1b[>4;2m";
const TMUX_KEYS_OFF: &[u8] = b"\x1b[>4m";
/// The kitty keyboard protocol: Ctrl+Enter and a lone Esc become unmistakable, and shortcuts work
/// on layouts without Latin letters.
const KITTY: PushKeyboardEnhancementFlags = PushKeyboardEnhancementFlags(
    KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
        .union(KeyboardEnhancementFlags::REPORT_ALTERNATE_KEYS),
);
/// Asks which of its flags are in force.
const ASK_KITTY: &[u8] = b"\x1b[?u";
/// Kitty flags, background color, and last what every terminal answers (DA1).
const QUESTIONS: &[u8] = b"\x1b[?u\x1b]11;?\x1b\\\x1b[c";
/// How long a terminal that does not read holds up the way out.
const TIMEOUT: Duration = Duration::from_millis(50);

/// The terminal while it is ours.
#[derive(Debug)]
pub struct Terminal {
    modes: Arc<Modes>,
}

impl Terminal {
    /// Takes the terminal: raw mode, alternate screen, mouse. From here on a panic on this thread
    /// gives it back before it is reported; panics elsewhere go to the log, for a report would be
    /// painted over the screen.
    pub fn enter() -> io::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::other(
                "the full screen needs a terminal on stdin and stdout; use -p to print instead",
            ));
        }
        if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Err(io::Error::other(
                "TERM=dumb: the full screen needs a terminal that can move its cursor; \
                 use -p to print instead",
            ));
        }
        let modes = Arc::new(Modes {
            out: TtyWriter::open(io::stdout().as_fd())?,
            original: Mutex::new(tcgetattr(io::stdin())?),
            active: AtomicBool::new(false),
            kitty: AtomicBool::new(false),
            unanswered: AtomicBool::new(false),
            tmux: std::env::var_os("TMUX").is_some(),
        });
        catch_panics(Arc::clone(&modes));
        modes.enter()?;
        Ok(Self { modes })
    }

    /// Gives the terminal back, for a while or for good.
    pub fn leave(&self) {
        self.modes.leave();
    }

    /// Leaves `text` on the main screen, after [`Terminal::leave`], if there is room for it: a
    /// terminal that does not read holds nobody up.
    pub fn say(&self, text: &str) {
        if !text.is_empty() {
            let _ = self
                .modes
                .out
                .write(format!("{}\n", visible(text)).as_bytes());
        }
    }

    /// Takes it again. The screen's content is lost by then.
    pub fn resume(&self) -> io::Result<()> {
        self.modes.enter()
    }

    /// Takes the settings of now for those to be restored at the end: after a suspension, since
    /// the shell may have changed them for good (`stty`). Not after an editor, which may have been
    /// killed and left its own.
    pub fn adopt_settings(&self) {
        if let Ok(now) = tcgetattr(io::stdin()) {
            *self.modes.original() = now;
        }
    }

    /// Takes it again after the program was stopped from outside, without having left.
    pub fn reenter(&self) -> io::Result<()> {
        self.modes.leave();
        self.modes.enter()
    }

    /// Writes a frame. What the terminal does not take at once is kept for it.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.modes.out.write(bytes)
    }

    /// Whether it has not taken everything yet: then there is no use in another frame.
    pub fn is_behind(&self) -> bool {
        self.modes.out.is_behind()
    }

    /// Waits until it has taken everything.
    pub async fn caught_up(&self) -> io::Result<()> {
        self.modes.out.caught_up().await
    }

    /// Asks what it can do; the answers come as input. To be called after the first frame.
    pub fn ask(&self) -> io::Result<()> {
        self.modes.unanswered.store(true, Ordering::Relaxed);
        self.modes.out.write(QUESTIONS)
    }

    /// The last of the answers has come.
    pub fn answered(&self) {
        self.modes.unanswered.store(false, Ordering::Relaxed);
    }

    /// Switches unmistakable keys on, once the terminal said that it has them, and asks whether it
    /// did.
    pub fn enable_kitty(&self) -> io::Result<()> {
        if self.modes.kitty.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        queue!(bytes, KITTY)?;
        bytes.extend_from_slice(ASK_KITTY);
        self.modes.out.write(&bytes)
    }

    /// Its size now. Where it does not know (0 on a serial line): `COLUMNS` and `LINES`, else 80x24.
    pub fn size() -> Size {
        let (width, height) = crossterm::terminal::size().unwrap_or_default();
        let known = |size: u16, name, usual| match size {
            0 => {
                let told = std::env::var(name).ok().and_then(|text| text.parse().ok());
                told.filter(|size| *size > 0).unwrap_or(usual)
            }
            size => size,
        };
        Size {
            width: known(width, "COLUMNS", 80),
            height: known(height, "LINES", 24),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.modes.leave();
    }
}

/// What must be given back, shared with the panic hook.
#[derive(Debug)]
struct Modes {
    out: TtyWriter,
    original: Mutex<Termios>,
    active: AtomicBool,
    kitty: AtomicBool,
    unanswered: AtomicBool,
    tmux: bool,
}

impl Modes {
    fn original(&self) -> std::sync::MutexGuard<'_, Termios> {
        self.original.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> io::Result<()> {
        let mut raw = self.original().clone();
        cfmakeraw(&mut raw);
        tcsetattr(io::stdin(), SetArg::TCSANOW, &raw)?;
        self.active.store(true, Ordering::Relaxed);
        let mut bytes = Vec::new();
        queue!(
            bytes,
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableFocusChange
        )?;
        bytes.extend_from_slice(MOUSE);
        if self.tmux {
            bytes.extend_from_slice(TMUX_KEYS);
        }
        if self.kitty.load(Ordering::Relaxed) {
            queue!(bytes, KITTY)?;
        }
        self.out.write(&bytes)
    }

    /// All modes off, whatever a frame cut short has left behind.
    fn leave_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory cannot fail.
        if self.kitty.load(Ordering::Relaxed) {
            let _ = queue!(bytes, PopKeyboardEnhancementFlags);
        }
        if self.tmux {
            bytes.extend_from_slice(TMUX_KEYS_OFF);
        }
        let _ = queue!(bytes, EndSynchronizedUpdate, SetAttribute(Attribute::Reset));
        bytes.extend_from_slice(RESET);
        bytes.extend_from_slice(MOUSE_OFF);
        let _ = queue!(
            bytes,
            DisableFocusChange,
            DisableBracketedPaste,
            Show,
            LeaveAlternateScreen
        );
        bytes
    }

    /// Gives everything back; a second call does nothing. A terminal that is gone is no error here.
    fn leave(&self) {
        if !self.active.swap(false, Ordering::Relaxed) {
            return;
        }
        self.out.finish(&self.leave_bytes(), TIMEOUT);
        if self.unanswered.load(Ordering::Relaxed) {
            // Answers still under way would be typed into the shell.
            let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
        }
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.original());
    }
}

fn catch_panics(modes: Arc<Modes>) {
    let previous = panic::take_hook();
    let screen_thread = thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if !modes.active.load(Ordering::Relaxed) {
            previous(info);
        } else if thread::current().id() == screen_thread {
            modes.leave();
            previous(info);
        } else {
            tracing::error!("{info}");
        }
    }));
}
