//! Steering by file and signal: on SIGUSR1, tiller sends the content of a file as a message. It
//! renames the file before reading it, so that a later writer starts a new one, and removes it once
//! the message is accepted.
//!
//! The file is `steer-PID` in tiller's own folder, or `.tiller/steer` in the working folder. A command
//! must not create a `.tiller`, so while one runs tiller would move away a new one of the user, too.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::unistd::Uid;
use tokio::task::spawn_blocking;

use super::steer_socket::model_chosen;
use crate::agent::{Accept, AgentHandle, NoticeLevel, QueueKind, STEER_ORIGIN, Submission};
use crate::app::signals::Signals;
use crate::app::steer::MAX_MESSAGE;
use crate::llm::Content;

/// Relative to the working folder.
const FILE: &str = ".tiller/steer";
/// Ends the name of the file while its message is being delivered.
const TAKEN: &str = ".taken";

/// Handles SIGUSR1. `state` is tiller's own folder. With `must_choose` a message waits until the user has
/// chosen a model. Call within a tokio runtime.
pub fn steer_by_file(
    handle: AgentHandle,
    state: &Path,
    cwd: &Path,
    accept: Accept,
    must_choose: bool,
) -> io::Result<()> {
    let mut signals = Signals::new([(Signal::SIGUSR1 as i32, ())])?;
    let own = state.join(format!("steer-{}", std::process::id()));
    let in_project = cwd.join(FILE);
    tokio::spawn(async move {
        if must_choose {
            model_chosen(&handle).await;
        }
        loop {
            signals.next().await;
            let is_own = fs::symlink_metadata(&own).is_ok();
            let place = if is_own { &own } else { &in_project };
            if let Err(text) = deliver(&handle, place.clone(), accept).await {
                tracing::warn!("{text}");
                handle.notify(NoticeLevel::Warning, text);
            }
        }
    });
    Ok(())
}

async fn deliver(handle: &AgentHandle, place: PathBuf, accept: Accept) -> Result<(), String> {
    let is_in_project = place.ends_with(FILE);
    let name = if is_in_project {
        Path::new(FILE)
    } else {
        &place
    };
    let name = name.display().to_string();
    let refused = |why: String| format!("Got SIGUSR1, but couldn't send {name}: {why}");
    let lost = io::Error::other::<tokio::task::JoinError>;
    let original = place.clone();
    let taken = spawn_blocking(move || take(&place)).await;
    let taken = taken.unwrap_or_else(|error| Err(lost(error)));
    let (text, taken) = taken.map_err(|error| refused(error.to_string()))?;
    let message = Submission {
        kind: QueueKind::Steering,
        content: vec![Content::text(text)],
        origin: Some(STEER_ORIGIN.to_owned()),
        session: None,
        accept,
    };
    let delivered = handle.submit(message).await;
    let is_sent = delivered.is_ok();
    let put = move || {
        if is_sent {
            fs::remove_file(&taken)
        } else {
            // Doesn't replace a file that was written meanwhile.
            fs::hard_link(&taken, original).and_then(|()| fs::remove_file(&taken))
        }
    };
    let put = spawn_blocking(put)
        .await
        .unwrap_or_else(|error| Err(lost(error)));
    delivered.map_err(|error| refused(error.to_string()))?;
    put.map_err(|error| format!("{name} was sent, but {name}{TAKEN} couldn't be removed: {error}"))
}

/// Moves the file away and reads it. Returns its text and new path.
fn take(place: &Path) -> io::Result<(String, PathBuf)> {
    let mut taken = place.as_os_str().to_owned();
    taken.push(TAKEN);
    let taken = PathBuf::from(taken);
    // A link could lead out of the project.
    let folder = fs::symlink_metadata(place.parent().unwrap_or(place))?;
    if !folder.is_dir() {
        return Err(refusal("its folder is a link, or not a folder"));
    }
    check(&fs::symlink_metadata(place)?)?;
    if fs::symlink_metadata(&taken).is_ok() {
        return Err(refusal(&format!(
            "{} holds an earlier message that wasn't sent: send that again, or remove it",
            taken.file_name().unwrap_or_default().display()
        )));
    }
    fs::rename(place, &taken)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(&taken)?;
    // The file may have been swapped since the first check.
    check(&file.metadata()?)?;
    Ok((read(&file)?, taken))
}

fn check(found: &Metadata) -> io::Result<()> {
    let is_foreign = found.uid() != Uid::effective().as_raw();
    let faults = [
        (found.is_symlink(), "it is a symbolic link"),
        (found.is_dir(), "it is a folder"),
        (found.file_type().is_fifo(), "it is a named pipe"),
        (!found.is_file(), "it is not a regular file"),
        (is_foreign, "it belongs to another user"),
        (found.nlink() != 1, "it has several hard links"),
        (found.len() > MAX_MESSAGE as u64, "it is longer than 1 MiB"),
    ];
    let fault = faults.iter().find(|(is_faulty, _)| *is_faulty);
    fault.map_or(Ok(()), |(_, fault)| Err(refusal(fault)))
}

fn read(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_MESSAGE as u64).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // Model servers reject NUL.
    Ok(text
        .trim_end_matches(['\n', '\r'])
        .replace('\0', "\u{fffd}"))
}

fn refusal(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}
