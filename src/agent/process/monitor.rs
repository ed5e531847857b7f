//! The task that follows one supervisor: sends it the command and orders, and receives reports. If
//! the supervisor is stopped, killed or silent, it kills the processes itself.
//!
//! It outlives the caller, so that aborting doesn't wait for processes to end.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{OwnedMutexGuard, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::orphans;
use super::registry::{Registry, Status};
use super::sandbox::{Namespaces, Share, Slot};
use super::table::{self, State};
use super::tree::GIVE_UP;
use super::wire::{self, ExitStatus, Order, Report, Reports};

/// How long a stopped supervisor may leave an order unacknowledged. One that runs on a busy machine
/// also gets [`GIVE_UP`], because it kills processes more reliably than the fallback. Also its
/// extra time beyond what it gives the processes.
const ANSWER: Duration = Duration::from_millis(500);
/// How long a command waits for another one's network before creating its own.
const NETWORK: Duration = Duration::from_millis(500);
/// How often to check whether a signal stopped the supervisor.
const CHECK: Duration = Duration::from_millis(500);
/// How often to continue it while it kills the processes.
const CHECK_ENDING: Duration = Duration::from_millis(50);

pub(super) struct Monitor {
    pub child: Child,
    pub pid: Pid,
    pub orders: watch::Receiver<Order>,
    pub status: watch::Sender<Status>,
    pub registry: Arc<Registry>,
    /// The network it shares with other commands.
    pub network: Option<Slot>,
    /// The command's id in the registry.
    pub id: u64,
}

type Making = OwnedMutexGuard<Option<Arc<Namespaces>>>;

impl Monitor {
    /// Sends `request` and returns when the whole process tree has ended.
    pub(super) async fn run(mut self, control: StdUnixStream, request: Vec<u8>) {
        if let Err(error) = self.follow(control, request).await {
            tracing::debug!(%error, pid = %self.pid, "control channel of a supervisor");
        }
        let lost = !self.status.borrow().gone;
        // Registered until it is reaped.
        let supervisor = lost.then(|| table::entry(self.pid)).flatten();
        let signal = self.reap().await;
        if lost {
            tracing::debug!(pid = %self.pid, ?signal, "a supervisor was lost");
            let left = if self.registry.adopts() {
                self.end_orphans(supervisor.map_or(0, |entry| entry.started))
                    .await
            } else {
                Vec::new()
            };
            self.status.send_modify(|status| {
                status.shell.get_or_insert(ExitStatus::Unknown(signal));
                status.gone = true;
                status.left = left;
            });
        }
        for process in &self.status.borrow().left {
            tracing::warn!(process, "tiller couldn't stop a command's process");
        }
        self.registry.remove(self.id);
    }

    /// Sends orders and receives reports until the supervisor closes the channel or is given up.
    /// Still reads reports from an ended supervisor.
    async fn follow(&mut self, control: StdUnixStream, request: Vec<u8>) -> io::Result<()> {
        let (share, mut making) = self.share().await;
        let _ = wire::begin(&control, &share);
        let (reader, mut writer) = UnixStream::from_std(control)?.into_split();
        let mut reports = Reports::new(reader);
        let _ = writer.write_all(&request).await;
        let mut given = Order::Run;
        let mut next_check = Instant::now() + CHECK;
        // Deadline for the next report.
        let mut deadline: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                Ok(()) = self.orders.changed() => {
                    given = *self.orders.borrow_and_update();
                    self.wake();
                    let _ = writer.write_all(&[given as u8]).await;
                    deadline = Some(Instant::now() + ANSWER);
                    next_check = Instant::now() + CHECK_ENDING;
                }
                report = reports.next() => {
                    let Some(report) = report? else { return Ok(()) };
                    if let Some(mut network) = making.take() {
                        *network = reports.network().map(Arc::new);
                    }
                    let is_over = matches!(report, Report::Done);
                    self.status.send_modify(|status| match report {
                        Report::Shell(exit) => status.shell = Some(exit),
                        Report::Left(process) => status.left.push(process),
                        Report::Refused(what) => status.refused.push(what),
                        Report::Done => status.gone = true,
                        Report::Network => {}
                        Report::Ack => {
                            let time = given.grace() + GIVE_UP + ANSWER;
                            deadline = deadline.map(|_| Instant::now() + time);
                        }
                    });
                    if is_over {
                        self.registry.over(self.id);
                    }
                }
                () = sleep_until(next_check) => {
                    let is_stopped = is_stopped(self.pid);
                    if given > Order::Run {
                        // Repeatedly, because a command may stop the supervisor in a loop.
                        self.wake();
                        next_check = Instant::now() + CHECK_ENDING;
                    } else {
                        if is_stopped {
                            let _ = writer.write_all(&[Order::Run as u8]).await;
                            self.wake();
                        }
                        next_check = Instant::now() + CHECK;
                    }
                    if deadline.is_some_and(|deadline| is_over(deadline, is_stopped)) {
                        let _ = self.child.start_kill();
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The role in a shared network. If this command creates one, others wait for the lock.
    async fn share(&self) -> (Share, Option<Making>) {
        let Some(slot) = &self.network else {
            return (Share::Alone, None);
        };
        let (mut orders, lock) = (self.orders.clone(), Arc::clone(slot).lock_owned());
        let waited = tokio::select! {
            waited = timeout(NETWORK, lock) => waited.ok(),
            // A command that ends at once needs no network.
            _ = orders.wait_for(|order| *order > Order::Run) => None,
        };
        match waited {
            Some(making) => match &*making {
                Some(made) => (Share::Join(Arc::clone(made)), None),
                None => (Share::Make, Some(making)),
            },
            None => (Share::Alone, None),
        }
    }

    fn wake(&self) {
        // The id exists only until the child is reaped, so it can't belong to another process.
        if let Some(id) = self.child.id() {
            let _ = kill(Pid::from_raw(id as i32), Signal::SIGCONT);
        }
    }

    /// Waits for the supervisor's announced exit, or kills it. Returns the signal it died of.
    async fn reap(&mut self) -> Option<i32> {
        let ended = match timeout(ANSWER, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                let _ = self.child.start_kill();
                self.child.wait().await
            }
        };
        ended.ok().and_then(|status| status.signal())
    }

    /// Kills what a lost supervisor started at `since` (0: unknown) left to this process. Returns
    /// the processes that survived.
    async fn end_orphans(&self, since: u64) -> Vec<String> {
        let (done, ended) = oneshot::channel();
        let (registry, orders) = (Arc::clone(&self.registry), self.orders.clone());
        // A separate thread: at exit the runtime waits for its own, and this may take seconds.
        std::thread::spawn(move || {
            let left = orphans::end(&registry, since, || *orders.borrow());
            let _ = done.send(left);
        });
        let left = ended.await.unwrap_or_default();
        left.iter().map(ToString::to_string).collect()
    }
}

fn is_stopped(supervisor: Pid) -> bool {
    table::entry(supervisor).is_some_and(|entry| entry.state == State::Stopped)
}

/// True if it's time to give up on a supervisor due to report by `deadline`.
fn is_over(deadline: Instant, is_stopped: bool) -> bool {
    let patience = if is_stopped { Duration::ZERO } else { GIVE_UP };
    Instant::now() > deadline + patience
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;
    use crate::process::registry::Orphans;
    use crate::process::wire;

    /// Of a supervisor that does nothing.
    fn monitor(orders: &watch::Sender<Order>, network: Option<Slot>) -> Monitor {
        let mut command = Command::new("sleep");
        let child = command.arg("60").kill_on_drop(true).spawn().unwrap();
        Monitor {
            pid: Pid::from_raw(child.id().unwrap() as i32),
            child,
            orders: orders.subscribe(),
            status: watch::Sender::default(),
            registry: Arc::new(Registry::new("true".into(), Orphans::Leave)),
            id: 1,
            network,
        }
    }

    /// How long, on the test's clock, tiller waits for a supervisor that falls silent.
    async fn patience(reports: &[Report]) -> Duration {
        let (control, mut supervisor) = StdUnixStream::pair().unwrap();
        control.set_nonblocking(true).unwrap();
        for report in reports {
            wire::send(&mut supervisor, report);
        }
        let orders = watch::Sender::new(Order::Run);
        let monitor = monitor(&orders, None);
        orders.send(Order::Stop).unwrap();
        let began = Instant::now();
        monitor.run(control, Vec::new()).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervisor_that_is_silent_but_not_stopped_is_given_time() {
        let patience = patience(&[]).await;
        assert!((GIVE_UP..GIVE_UP + 3 * ANSWER).contains(&patience));
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervisor_that_ends_the_processes_has_its_time() {
        assert!(patience(&[Report::Ack]).await > Order::Stop.grace() + GIVE_UP);
    }

    // The kernel takes its time to let go of a supervisor.
    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_the_end_of_a_supervisor_whose_processes_are_gone() {
        let (control, mut supervisor) = StdUnixStream::pair().unwrap();
        control.set_nonblocking(true).unwrap();
        wire::send(&mut supervisor, &Report::Done);
        let orders = Arc::new(watch::Sender::new(Order::Run));
        let (registry, scope) = (Registry::new("true".into(), Orphans::Leave), Arc::default());
        let sleeps = || Command::new("sleep").arg("60").kill_on_drop(true).spawn();
        let (id, pid, child) = registry.start(&scope, &orders, None, sleeps).unwrap();
        let monitor = Monitor {
            pid,
            child,
            registry: Arc::new(registry),
            id,
            ..monitor(&orders, None)
        };
        let mut alive = scope.alive.subscribe();
        let began = Instant::now();
        let follows = tokio::spawn(monitor.run(control, Vec::new()));
        alive.wait_for(|alive| *alive == 0).await.unwrap();
        assert!(began.elapsed() < ANSWER);
        assert!(kill(pid, None).is_ok());
        follows.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn an_abort_does_not_wait_for_the_network_of_others() {
        let slot = Slot::default();
        let _making = slot.lock().await;
        let orders = watch::Sender::new(Order::Run);
        let monitor = monitor(&orders, Some(Arc::clone(&slot)));
        orders.send(Order::Stop).unwrap();
        let began = Instant::now();
        assert!(matches!(monitor.share().await, (Share::Alone, None)));
        assert!(began.elapsed() < NETWORK);
    }

    // By its command in a tight loop, or by a tracer.
    #[tokio::test(start_paused = true)]
    async fn a_supervisor_that_is_stopped_is_given_up_at_once() {
        let deadline = Instant::now();
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(is_over(deadline, true));
        assert!(!is_over(deadline, false));
    }
}
