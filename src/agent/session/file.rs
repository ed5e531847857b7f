//! Writes one session file. Each entry is one line and one write, so a crash can tear at most the
//! last line. Lines that failed wait in memory and go first next time. Never changes written lines,
//! and reads the file only to restore a removed one.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::make_private;
use super::sync::Syncer;

/// The file of one session, which may not exist yet.
#[derive(Debug)]
pub(super) struct SessionFile {
    path: PathBuf,
    unwritten: VecDeque<Vec<u8>>,
    /// A partial write couldn't be undone, or the last line was found without its end.
    torn: bool,
    /// Whether new lines must survive a power cut.
    to_sync: bool,
    disk: Option<Disk>,
}

/// When a line must survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sync {
    /// At once.
    Now,
    /// Together with the next urgent line.
    Later,
}

#[derive(Debug)]
struct Disk {
    file: Arc<File>,
    syncer: Option<Syncer>,
}

impl SessionFile {
    /// A file that starts with the line `header` at the first write. Touches no disk yet.
    pub fn new(path: PathBuf, header: Vec<u8>) -> Self {
        Self {
            path,
            unwritten: VecDeque::from([header]),
            torn: false,
            to_sync: true,
            disk: None,
        }
    }

    /// Opens the file at `path`, of which `length` bytes are valid. Moves the rest to `PATH.torn`.
    /// `unterminated` means its last line has no newline.
    ///
    /// # Errors
    /// The rest can't be moved.
    pub fn existing(
        path: PathBuf,
        file: File,
        length: u64,
        unterminated: bool,
    ) -> io::Result<Self> {
        if file.metadata()?.len() > length {
            let mut torn = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(torn_path(&path))?;
            (&file).seek(io::SeekFrom::Start(length))?;
            io::copy(&mut &file, &mut torn)?;
            torn.write_all(b"\n")?;
            torn.sync_data()?;
            file.set_len(length)?;
        }
        Ok(Self {
            path,
            unwritten: VecDeque::new(),
            torn: unterminated,
            to_sync: false,
            disk: Some(Disk::on(file)),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file; `None` before the first write.
    pub fn open_file(&self) -> Option<&Arc<File>> {
        self.disk.as_ref().map(|disk| &disk.file)
    }

    pub fn waiting(&self) -> usize {
        self.unwritten.len()
    }

    /// Queues a line for [`SessionFile::write_out`].
    pub fn push(&mut self, line: Vec<u8>, sync: Sync) {
        self.unwritten.push_back(line);
        self.to_sync |= sync == Sync::Now;
    }

    /// Writes the queued lines. Calls `written` with each line's offset and length without newline.
    pub fn write_out(&mut self, mut written: impl FnMut(u64, u64)) -> io::Result<()> {
        let disk = match &mut self.disk {
            Some(disk) => disk,
            none => none.insert(Disk::create(&self.path)?),
        };
        // Another program removed it, but the open file is still readable.
        if disk.file.metadata().is_ok_and(|data| data.nlink() == 0) {
            *disk = disk.restored(&self.path)?;
        }
        while let Some(line) = self.unwritten.front() {
            if self.torn {
                (&*disk.file).write_all(b"\n")?;
                self.torn = false;
            }
            let offset = disk.write(line).inspect_err(|error| {
                self.torn = error.kind() == io::ErrorKind::WriteZero;
            })?;
            written(offset, line.len() as u64 - 1);
            self.unwritten.pop_front();
        }
        if let Some(syncer) = &disk.syncer
            && std::mem::take(&mut self.to_sync)
        {
            syncer.request();
        }
        Ok(())
    }

    /// The last sync error, reported once.
    pub fn take_sync_error(&self) -> Option<io::Error> {
        self.disk.as_ref()?.syncer.as_ref()?.take_error()
    }

    /// Waits until everything is synced, then lets another program write.
    pub async fn close(&self) {
        let Some(disk) = &self.disk else { return };
        if let Some(syncer) = &disk.syncer {
            syncer.settle().await;
        }
        let _ = disk.file.unlock();
    }
}

/// Where the torn end of a file goes.
pub(super) fn torn_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".torn");
    name.into()
}

/// Locks `file` for one writer; false if another has it. Does nothing where locks don't work.
pub(super) fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The sync thread may hold the file a little longer.
        let _ = self.file.unlock();
    }
}

impl Disk {
    fn create(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        lock(&file);
        Ok(Self::on(file))
    }

    fn on(file: File) -> Self {
        let file = Arc::new(file);
        // Without this thread, each write still reaches the kernel.
        let syncer = Syncer::spawn(Arc::clone(&file)).ok();
        Self { file, syncer }
    }

    /// Recreates a removed file with all its content.
    fn restored(&self, path: &Path) -> io::Result<Self> {
        // Leaves another file alone, and avoids a copy for each waiting entry.
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private(folder)?;
        // Appears only once complete, readable by its owner only.
        let mut copy = tempfile::Builder::new()
            .prefix(".session-")
            .append(true)
            .tempfile_in(folder)?;
        let mut old = &*self.file;
        old.seek(io::SeekFrom::Start(0))?;
        io::copy(&mut old, copy.as_file_mut())?;
        let file = copy.persist_noclobber(path).map_err(|error| error.error)?;
        lock(&file);
        Ok(Self::on(file))
    }

    /// Appends a line with one write, and returns its offset. `WriteZero`: a partial write stayed.
    fn write(&self, line: &[u8]) -> io::Result<u64> {
        let mut file = &*self.file;
        // Not cached: another program may have appended.
        let offset = file.metadata()?.len();
        let written = loop {
            match file.write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if written == line.len() {
            return Ok(offset);
        }
        file.set_len(offset)
            .map_err(|_| io::Error::from(io::ErrorKind::WriteZero))?;
        Err(io::ErrorKind::StorageFull.into())
    }
}
