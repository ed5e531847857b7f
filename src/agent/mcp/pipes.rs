//! A server's standard input and standard error. Commands have no standard input, and their outputs
//! share one pipe, so these two are FIFOs in a folder that only the user can read.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;
use tokio::net::unix::pipe;

pub(super) struct Pipes {
    /// Holds both.
    pub folder: TempDir,
    pub input: pipe::Sender,
    pub errors: pipe::Receiver,
}

impl Pipes {
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("tiller-mcp-").tempdir()?;
        let input = pipe::Sender::from_file(fifo(&folder.path().join(INPUT))?)?;
        let errors = pipe::Receiver::from_file(fifo(&folder.path().join(ERRORS))?)?;
        Ok(Self {
            folder,
            input,
            errors,
        })
    }

    /// The paths of the two, for redirections.
    pub fn paths(&self) -> [PathBuf; 2] {
        [INPUT, ERRORS].map(|name| self.folder.path().join(name))
    }
}

const INPUT: &str = "in";
const ERRORS: &str = "err";

/// Makes a FIFO and opens it for reading and writing, which waits for no other end.
fn fifo(path: &Path) -> io::Result<File> {
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
    File::options()
        .read(true)
        .write(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(path)
}
