//! `--events FILE`: appends the events of a run to a file as the records of JSON mode, with any
//! front end. A separate thread writes them, so that a full or slow disk or an unread FIFO blocks
//! nothing. Records beyond the buffer are dropped, counted and reported.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::agent::session::Header;
use crate::agent::{AgentHandle, NoticeLevel, SlowReader};
use crate::app::outcome::StartError;
use crate::app::records::{Recorder, to_line};
use crate::llm::os_error::plain;

/// Most bytes that may wait to be written.
const MAX_WAITING: usize = 16 * 1024 * 1024;
/// At the end, how long to wait without progress, and how long in all.
const STUCK: Duration = Duration::from_millis(100);
const AT_MOST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    /// `None` if opening it would wait for a reader.
    file: Option<File>,
}

impl EventsFile {
    pub fn open(path: &Path) -> Result<Self, StartError> {
        let fault = |what: &str| StartError::usage(format!("--events {}: {what}", path.display()));
        let shared =
            "stdout is in use; name a file, or use --mode json to get the events on stdout";
        if path == Path::new("-") {
            return Err(fault(shared));
        }
        let found = path.metadata().ok();
        let file = match found {
            Some(found) if found.is_dir() => {
                return Err(fault("it is a folder; name a file in it"));
            }
            Some(found) if found.file_type().is_fifo() => None,
            _ => {
                let mut options = OpenOptions::new();
                let file = options.append(true).create(true).mode(0o600).open(path);
                let advice = "; name a file in a folder that exists and that you can write to";
                Some(file.map_err(|error| fault(&format!("{}{advice}", plain(error))))?)
            }
        };
        if file.as_ref().is_some_and(is_stdout) {
            return Err(fault(shared));
        }
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// Writes the session's `header` and every event from now on.
    pub fn follow(self, header: &Header, handle: &AgentHandle) -> EventsWriter {
        let mut events = handle.subscribe(SlowReader::Wait);
        let (lines, inbox) = mpsc::channel::<String>();
        let (done, written) = oneshot::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let writer = Writer {
            name: self.path.display().to_string(),
            handle: handle.clone(),
            waiting: Arc::clone(&waiting),
        };
        let run = move || {
            writer.run(&self.path, self.file, &inbox);
            let _ = done.send(());
        };
        let named = thread::Builder::new().name(String::from("events-file"));
        if let Err(error) = named.spawn(run) {
            tracing::warn!("no events are written: {error}");
        }
        let mut queue = Queue {
            lines,
            waiting: Arc::clone(&waiting),
            lost: 0,
        };
        // Writes the header with the first record, when the front end can already see a failure.
        let mut header = Some(to_line(header));
        tokio::spawn(async move {
            let mut recorder = Recorder::default();
            while let Some(event) = events.recv().await {
                if let Some(record) = recorder.record(&event) {
                    header.take().into_iter().for_each(|line| queue.push(line));
                    queue.push(to_line(&record));
                }
            }
        });
        EventsWriter { waiting, written }
    }
}

fn is_stdout(file: &File) -> bool {
    // `/dev/null` may be both.
    let stdout = Path::new("/dev/fd/1").metadata().ok();
    match (file.metadata().ok(), stdout) {
        (Some(file), Some(stdout)) if !file.file_type().is_char_device() => {
            (file.dev(), file.ino()) == (stdout.dev(), stdout.ino())
        }
        _ => false,
    }
}

#[derive(Debug)]
pub struct EventsWriter {
    waiting: Arc<AtomicUsize>,
    written: oneshot::Receiver<()>,
}

impl EventsWriter {
    /// Waits until everything is written or writing is stuck. The agent must be gone by then.
    pub async fn finish(mut self) {
        let deadline = Instant::now() + AT_MOST;
        let mut before = self.waiting.load(Ordering::Relaxed);
        while timeout(STUCK, &mut self.written).await.is_err() {
            let waiting = self.waiting.load(Ordering::Relaxed);
            if waiting >= before || Instant::now() > deadline {
                tracing::warn!("{waiting} bytes of events were not written");
                return;
            }
            before = waiting;
        }
    }
}

struct Queue {
    lines: mpsc::Sender<String>,
    waiting: Arc<AtomicUsize>,
    /// Lines dropped since the last write.
    lost: usize,
}

impl Queue {
    fn push(&mut self, line: String) {
        if self.waiting.load(Ordering::Relaxed) + line.len() > MAX_WAITING {
            self.lost += 1;
            return;
        }
        if self.lost > 0 {
            let record = json!({"type": "events_lost", "count": std::mem::take(&mut self.lost)});
            self.send(to_line(&record));
        }
        self.send(line);
    }

    fn send(&self, line: String) {
        self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        let _ = self.lines.send(line);
    }
}

struct Writer {
    name: String,
    handle: AgentHandle,
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    fn run(self, path: &Path, file: Option<File>, inbox: &mpsc::Receiver<String>) {
        let opened = match file {
            Some(file) => Ok(file),
            // Waits for a reader.
            None => OpenOptions::new().append(true).open(path),
        };
        let mut file = match opened {
            Ok(file) => file,
            Err(error) => return self.tell(&error),
        };
        // Whether the file ends mid-line, and how many lines failed since the last success.
        let (mut torn, mut failed) = (false, None);
        for line in inbox {
            let length = line.len();
            match write(&mut file, &line, &mut torn, &mut failed) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return self.tell(&error);
                }
                Err(error) => {
                    if failed.is_none() {
                        self.tell(&error);
                    }
                    *failed.get_or_insert(0) += 1;
                }
            }
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
    }

    fn tell(&self, error: &io::Error) {
        let text = format!("Can't write events to {}: {error}", self.name);
        self.handle.notify(NoticeLevel::Warning, text);
    }
}

/// Writes a line, and before it a record about lines that failed.
fn write(
    file: &mut File,
    line: &str,
    torn: &mut bool,
    failed: &mut Option<usize>,
) -> io::Result<()> {
    if *torn {
        file.write_all(b"\n")?;
        *torn = false;
    }
    if let Some(count) = *failed {
        let record = to_line(&json!({"type": "events_lost", "count": count}));
        append(file, &record, torn)?;
        *failed = None;
    }
    append(file, line, torn)
}

/// Writes one line, with one system call if possible. Sets `torn` if only a part was written.
fn append(file: &mut File, line: &str, torn: &mut bool) -> io::Result<()> {
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                *torn = rest.len() < line.len();
                return Err(error);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_opened_gets_advice() {
        let open = |path: &str| EventsFile::open(Path::new(path)).map(drop);
        for (path, advice) in [
            ("/nope/x", "name a file in a folder that exists"),
            ("/", "it is a folder; name a file in it"),
        ] {
            let error = open(path).unwrap_err();
            assert!(error.message.contains(advice), "{error}");
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let (lines, inbox) = mpsc::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let mut queue = Queue {
            lines,
            waiting: Arc::clone(&waiting),
            lost: 0,
        };
        let line = "x".repeat(MAX_WAITING / 4);
        for _ in 0..7 {
            queue.push(line.clone());
        }
        assert_eq!(inbox.try_iter().count(), 4);
        assert_eq!(waiting.swap(0, Ordering::Relaxed), MAX_WAITING);
        queue.push("next\n".into());
        let sent: Vec<String> = inbox.try_iter().collect();
        assert_eq!(sent, ["{\"type\":\"events_lost\",\"count\":3}\n", "next\n"]);
    }

    #[test]
    fn a_torn_line_is_ended_and_what_was_lost_is_said() {
        // A pipe without a reader takes a piece of a line; then there is room again.
        let (reader, writer) = io::pipe().unwrap();
        let mut file = File::from(std::os::fd::OwnedFd::from(writer));
        nix::fcntl::fcntl(
            &file,
            nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK),
        )
        .unwrap();
        let mut torn = false;
        let long = "a".repeat(1024 * 1024);
        assert!(append(&mut file, &long, &mut torn).is_err());
        assert!(torn);
        let mut reader = reader;
        let mut some = vec![0; 64 * 1024];
        io::Read::read_exact(&mut reader, &mut some).unwrap();
        let mut failed = Some(1);
        write(&mut file, "b\n", &mut torn, &mut failed).unwrap();
        drop(file);
        let mut rest = String::new();
        io::Read::read_to_string(&mut reader, &mut rest).unwrap();
        let end = "\n{\"type\":\"events_lost\",\"count\":1}\nb\n";
        assert!(rest.ends_with(end), "{rest}");
        assert_eq!((torn, failed), (false, None));
    }
}
