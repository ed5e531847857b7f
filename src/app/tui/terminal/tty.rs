//! The terminal that a screen uses: the program's own, or that of a client that attached to its session.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use nix::fcntl::OFlag;
use nix::sys::termios::tcgetsid;
use nix::unistd::getsid;
use ratatui_core::layout::Size;
use rustix::termios::{Winsize, tcgetwinsize};

use crate::app::steer::ScreenRequest;

/// The most columns and rows to draw: some terminals report impossible sizes.
const LARGEST: Size = Size::new(1_000, 500);

/// What tells a device from all others.
pub(crate) fn identity(device: &Metadata) -> [u64; 3] {
    [device.dev(), device.ino(), device.rdev()]
}

/// A terminal, and the environment of the program that runs in it.
#[derive(Debug)]
pub struct Tty {
    input: OwnedFd,
    output: OwnedFd,
    /// `None` for this process's own terminal and environment.
    client: Option<ScreenRequest>,
}

impl Tty {
    /// The terminal on stdin and stdout. Without one, reads the controlling terminal.
    ///
    /// # Errors
    /// Fails if no file descriptors are left.
    pub fn own() -> io::Result<Self> {
        let stdin = io::stdin();
        let input = if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned()?
        } else {
            File::open("/dev/tty").map_or_else(
                |_| stdin.as_fd().try_clone_to_owned(),
                |file| Ok(file.into()),
            )?
        };
        Ok(Self {
            input,
            output: io::stdout().as_fd().try_clone_to_owned()?,
            client: None,
        })
    }

    /// The terminal of a client. It must not become this process's controlling terminal.
    ///
    /// # Errors
    /// Fails if the device can't be opened or isn't a terminal.
    pub(crate) fn of_client(request: ScreenRequest) -> io::Result<Self> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(&request.terminal)?;
        if !device.is_terminal() {
            return Err(io::Error::other("it isn't a terminal"));
        }
        if identity(&device.metadata()?) != request.device {
            return Err(io::Error::other(
                "there it is another one; do you run in a container?",
            ));
        }
        if tcgetsid(&device).is_ok_and(|session| getsid(None) == Ok(session)) {
            return Err(io::Error::other(
                "that tiller was started in it; use another terminal",
            ));
        }
        Ok(Self {
            input: device.try_clone()?.into(),
            output: device.into(),
            client: Some(request),
        })
    }

    /// Where to read keys, and the terminal to set.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Where to write.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// What the client sent, or `None` for the program's own terminal.
    pub(crate) fn client(&self) -> Option<&ScreenRequest> {
        self.client.as_ref()
    }

    /// An environment variable of the program in this terminal.
    pub fn var(&self, name: &str) -> Option<String> {
        match &self.client {
            Some(client) => client.env.get(name).cloned(),
            None => std::env::var(name).ok(),
        }
    }

    /// The current size, capped. If the terminal has none: `COLUMNS` and `LINES`, else 80x24.
    pub fn size(&self) -> Size {
        let known = |size: u16, variable, default| match size {
            0 => {
                let size = self.var(variable).and_then(|text| text.parse().ok());
                size.filter(|size| *size > 0).unwrap_or(default)
            }
            size => size,
        };
        let size = self.winsize();
        Size {
            width: known(size.map_or(0, |it| it.ws_col), "COLUMNS", 80).min(LARGEST.width),
            height: known(size.map_or(0, |it| it.ws_row), "LINES", 24).min(LARGEST.height),
        }
    }

    /// A cell's size in pixels, if the terminal reports it with its size.
    pub fn cell(&self) -> Option<(u16, u16)> {
        let size = self.winsize()?;
        let cell = (
            size.ws_xpixel.checked_div(size.ws_col)?,
            size.ws_ypixel.checked_div(size.ws_row)?,
        );
        (cell.0 > 0 && cell.1 > 0).then_some(cell)
    }

    fn winsize(&self) -> Option<Winsize> {
        let input = || tcgetwinsize(&self.input);
        tcgetwinsize(&self.output).or_else(|_| input()).ok()
    }
}
