//! A server's standard input and standard error. Commands have no standard input, and their outputs
//! share one pipe, so these two are FIFOs in a folder that only the user can read. If tiller is killed, the next
//! session removes it like the temporary folders of sessions.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;
use tokio::net::unix::pipe;

use crate::lock::FileLock;
use crate::workspace::PREFIX;

pub(super) struct Pipes {
    /// Holds both.
    pub folder: Folder,
    pub input: pipe::Sender,
    pub errors: pipe::Receiver,
}

/// Removes itself when it is dropped.
pub(super) struct Folder {
    folder: TempDir,
    /// Another session must not remove it.
    _lock: FileLock,
}

impl Folder {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Pipes {
    pub fn new() -> io::Result<Self> {
        let temporary = std::env::temp_dir().canonicalize()?;
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(temporary)?;
        let lock = File::open(folder.path())?;
        lock.lock_shared()?;
        let folder = Folder {
            folder,
            _lock: FileLock(lock),
        };
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
