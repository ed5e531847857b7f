//! The task that tends to one supervisor: hands it the command, passes orders on, takes reports,
//! and takes over when the supervisor is stopped, killed or silent.
//!
//! It outlives whoever asked for the command, so that an abort need not wait for the dying.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::orphans;
use super::processes::{Fate, Shared, ShellEnd};
use super::table::{self, State};
use super::tree::{GIVE_UP, GRACE, Haste};
use super::wire::{Order, Report};

/// A supervisor that was told something answers within this time or is taken for lost.
const ANSWER: Duration = Duration::from_millis(500);
/// How often a supervisor is looked at while nothing happens.
const LOOK: Duration = Duration::from_millis(500);
/// The same while it ends the tree.
const LOOK_ENDING: Duration = Duration::from_millis(50);

/// All that the task needs.
pub(super) struct Seat {
    pub child: Child,
    pub pid: Pid,
    /// When the supervisor started, in the process table's terms.
    pub started: u64,
    pub control: StdUnixStream,
    pub request: Vec<u8>,
    pub orders: watch::Receiver<Order>,
    pub fate: watch::Sender<Fate>,
    pub shared: Arc<Shared>,
    pub id: u64,
}

/// Returns when nobody is left of the command.
pub(super) async fn tend(mut seat: Seat) {
    if let Err(error) = talk(&mut seat).await {
        tracing::debug!(%error, pid = %seat.pid, "control channel of a supervisor");
    }
    let signal = collect(&mut seat.child).await;
    if !seat.fate.borrow().gone {
        take_over(&mut seat, signal).await;
    }
    for process in &seat.fate.borrow().left {
        tracing::warn!(process, "a process of a command could not be ended");
    }
    seat.shared.remove(seat.id);
}

/// Talks with the supervisor until it closes the channel or is beyond help.
async fn talk(seat: &mut Seat) -> io::Result<()> {
    let control = seat.control.try_clone()?;
    let mut control = UnixStream::from_std(control)?;
    control
        .write_all(&std::mem::take(&mut seat.request))
        .await?;
    let mut text = Vec::new();
    let mut given = Order::Run;
    // Until when the next word must have come.
    let mut patience: Option<Instant> = None;
    let mut look = Instant::now() + LOOK;
    loop {
        tokio::select! {
            biased;
            Ok(()) = seat.orders.changed() => {
                given = *seat.orders.borrow_and_update();
                wake(&seat.child);
                control.write_all(&[given.byte()]).await?;
                patience = Some(Instant::now() + ANSWER);
                look = Instant::now() + LOOK_ENDING;
            }
            read = control.read_buf(&mut text) => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let line = String::from_utf8_lossy(&line);
                    match Report::parse(line.trim_end()) {
                        // Also the answer to being woken, which has no time limit.
                        Some(Report::Heard) if given == Order::Run => {}
                        Some(Report::Heard) => {
                            let most = if given == Order::Kill { GIVE_UP } else { GRACE + GIVE_UP };
                            patience = Some(Instant::now() + most + ANSWER);
                        }
                        Some(report) => note(&seat.fate, report),
                        None => {}
                    }
                }
            }
            () = sleep_until(look) => {
                if given > Order::Run {
                    // `kill -STOP $PPID` in a loop would win against a single wake.
                    wake(&seat.child);
                    look = Instant::now() + LOOK_ENDING;
                } else {
                    let now = table::entry(seat.pid);
                    if now.is_some_and(|entry| entry.state == State::Stopped) {
                        control.write_all(&[Order::Run.byte()]).await?;
                        wake(&seat.child);
                    }
                    look = Instant::now() + LOOK;
                }
                if patience.is_some_and(|until| until < Instant::now()) {
                    return Ok(());
                }
            }
        }
    }
}

fn note(fate: &watch::Sender<Fate>, report: Report) {
    fate.send_modify(|fate| match report {
        Report::NotStarted(why) => fate.shell = Some(ShellEnd::NotStarted(why)),
        Report::Exited(code) => fate.shell = Some(ShellEnd::Exited(code)),
        Report::Killed(signal) => fate.shell = Some(ShellEnd::Killed(signal)),
        Report::Left(process) => fate.left.push(process),
        Report::Done => fate.gone = true,
        Report::Heard => {}
    });
}

/// Lets a stopped supervisor go on.
fn wake(child: &Child) {
    // The id is there only while the child is not collected, so it cannot be a stranger's.
    if let Some(id) = child.id() {
        let _ = kill(Pid::from_raw(id as i32), Signal::SIGCONT);
    }
}

/// Waits for the supervisor's end, which it has announced or is refused; the signal, if it was
/// one.
async fn collect(child: &mut Child) -> Option<i32> {
    let ended = match timeout(ANSWER, child.wait()).await {
        Ok(ended) => ended,
        Err(_) => {
            let _ = child.start_kill();
            child.wait().await
        }
    };
    ended.ok().and_then(|status| status.signal())
}

/// Ends what a lost supervisor left behind.
async fn take_over(seat: &mut Seat, signal: Option<i32>) {
    tracing::debug!(pid = %seat.pid, ?signal, "a supervisor was lost; ending what it left");
    let (done, ended) = oneshot::channel();
    let shared = Arc::clone(&seat.shared);
    let orders = seat.orders.clone();
    let started = seat.started;
    // A thread of its own: the runtime waits for its blocking threads at exit, and this one may
    // take seconds.
    std::thread::spawn(move || {
        let left = orphans::end(&shared, started, || {
            if *orders.borrow() == Order::Kill {
                Haste::Now
            } else {
                Haste::None
            }
        });
        let _ = done.send(left);
    });
    let left = ended.await.unwrap_or_default();
    seat.fate.send_modify(|fate| {
        fate.shell.get_or_insert(ShellEnd::Unseen(signal));
        fate.gone = true;
        fate.left = left.iter().map(ToString::to_string).collect();
    });
}
