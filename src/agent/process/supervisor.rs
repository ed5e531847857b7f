//! The supervisor: a small process between tiller and one command. It starts the shell, adopts
//! every orphaned descendant (Linux), reports, and kills them all on tiller's order or when tiller
//! ends. In a sandbox it is a child of the started process and the first one in a pid namespace:
//! however it ends, the kernel kills the rest. If `bwrap` created the namespaces, the started
//! process itself is the first one.
//!
//! One thread, no runtime, no log. The command's output doesn't pass through it: the shell writes
//! straight into tiller's pipe, and the supervisor closes its own ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, close, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use signal_hook::consts::signal as signals;

use super::forbidden::Forbidden;
use super::sandbox::{self, Entered, Layer, Share, Side};
use super::shell;
use super::table;
use super::tree::{self, Descendants, Remaining};
use super::wire::{self, ExitStatus, Order, Report, Request};

/// Limit for one pass of reaping: when many processes end at once, killing comes first.
const REAP_LIMIT: Duration = Duration::from_millis(3);

/// The whole life of a supervisor. `main` calls it first if the program was started as `tiller
/// __supervise`; standard input is the control channel.
pub fn supervise_main() -> ExitCode {
    let is_trial = std::env::args_os()
        .nth(2)
        .is_some_and(|it| it == sandbox::TRIAL);
    let done = if is_trial {
        sandbox::answer_trial()
    } else {
        supervise()
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn supervise() -> io::Result<()> {
    let inherited = inherited_descriptors();
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Started by hand from a terminal, this would wait forever.
    stream.peer_addr()?;
    setsid()?;
    become_subreaper();
    ignore_signals()?;
    let mut request = wire::read_request(&mut stream)?;
    let sandbox = request.sandbox.as_ref();
    if !sandbox.is_some_and(|sandbox| sandbox.without.contains(&Layer::Descriptors)) {
        for number in inherited {
            let _ = close(number);
        }
    }
    let mut reports = stream.try_clone()?;
    // Before the fork. Later, the child replaces `/dev` while its parent is in the same namespace,
    // and that could open what is about to be covered: then `/dev` would never become read-only.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    match start(&mut request, stream, &null) {
        Ok(Role::Supervisor(mut supervisor)) => {
            let is_empty = supervisor.run();
            if supervisor.is_init && !is_empty {
                // The process outside reports it once this one and all others are gone.
                return Ok(());
            }
            // Before closing the file watch, which takes the kernel a while.
            wire::send(&mut reports, &Report::Done);
            return Ok(());
        }
        Ok(Role::Waiter(init)) => {
            close_output(&null)?;
            while waitpid(init, None) == Err(Errno::EINTR) {}
        }
        Err(error) => {
            let not_started = ExitStatus::NotStarted(error.to_string());
            wire::send(&mut reports, &Report::Shell(not_started));
        }
    }
    wire::send(&mut reports, &Report::Done);
    Ok(())
}

/// The open descriptors above stderr that tiller's parent left open, which could give a command access
/// to files that its sandbox hides. tiller's own are close-on-exec. Call before this process opens
/// anything.
fn inherited_descriptors() -> Vec<RawFd> {
    let listed = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let numbers: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    // Except the descriptor used to read the list.
    let open = |number: &RawFd| fs::symlink_metadata(format!("/dev/fd/{number}")).is_ok();
    numbers.into_iter().filter(open).collect()
}

enum Role {
    Supervisor(Supervisor),
    /// To wait for the first process of the command's namespace, which does the work. Once it ends,
    /// the kernel has killed all others in the namespace.
    Waiter(Pid),
}

/// Confines this process, or a child of it, and starts the shell there.
fn start(request: &mut Request, mut stream: UnixStream, null: &File) -> io::Result<Role> {
    let share = std::mem::replace(&mut request.share, Share::Alone);
    let makes = matches!(share, Share::Make);
    let sandbox = request.sandbox.as_ref();
    let by_bwrap = sandbox::is_within();
    let entered = sandbox.map(|sandbox| {
        if by_bwrap {
            Ok(Entered::by_bwrap(sandbox))
        } else {
            sandbox::enter(sandbox, share)
        }
    });
    let entered = entered.transpose().map_err(io::Error::other)?;
    if makes {
        let made = entered.as_ref().and_then(|entered| entered.made.as_ref());
        wire::send_network(&mut stream, made);
    }
    let mut is_init = false;
    if let (Some(entered), Some(sandbox)) = (&entered, sandbox)
        && !by_bwrap
    {
        match entered.split().map_err(io::Error::other)? {
            Side::Outside(init) => return Ok(Role::Waiter(init)),
            Side::Inside => is_init = sandbox.has_init(),
        }
    }
    let supervisor = Supervisor::start(request, entered, stream, is_init)?;
    close_output(null)?;
    Ok(Role::Supervisor(supervisor))
}

/// Otherwise the reader of the command's output would wait for this process too.
fn close_output(null: &File) -> io::Result<()> {
    dup2_stdin(null)?;
    dup2_stdout(null)?;
    dup2_stderr(null)?;
    Ok(())
}

struct Supervisor {
    control: Control,
    child_signal: UnixStream,
    tree: Tree,
    /// It is the first process in a pid namespace.
    is_init: bool,
}

impl Supervisor {
    fn start(
        request: &Request,
        entered: Option<Entered>,
        stream: UnixStream,
        is_init: bool,
    ) -> io::Result<Self> {
        let (child_signal, sender) = UnixStream::pair()?;
        child_signal.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signals::SIGCHLD, sender)?;
        let forbidden = Forbidden::watch(request.sandbox.as_ref());
        if let (Some(entered), Some(sandbox)) = (entered, &request.sandbox) {
            entered.confine(sandbox).map_err(io::Error::other)?;
        }
        let shell = shell::start(request)?;
        Ok(Self {
            tree: Tree {
                shell,
                reports: stream.try_clone()?,
                forbidden,
                must_end: false,
                ending: false,
            },
            control: Control {
                stream,
                was_stopped: false,
            },
            child_signal,
            is_init,
        })
    }

    /// Waits for the last process, an order to end, or tiller's end. Returns whether none is left.
    fn run(&mut self) -> bool {
        loop {
            let limit = match self.tree.reap() {
                Remaining::Nothing => return true,
                Remaining::Processes => PollTimeout::NONE,
                Remaining::Zombies => PollTimeout::ZERO,
            };
            let order = if self.tree.must_end {
                Order::Kill
            } else {
                self.wait(limit)
            };
            if order > Order::Run {
                self.end(order);
                self.tree.refuse();
                return false;
            }
        }
    }

    /// Sleeps until an order arrives or a child changes, at most `limit`.
    fn wait(&mut self, limit: PollTimeout) -> Order {
        let made = self.tree.forbidden.events();
        let control = self.control.stream.as_fd();
        let mut fds = [control, self.child_signal.as_fd(), made.unwrap_or(control)]
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        // An error is EINTR, so check everything.
        let _ = poll(&mut fds, limit);
        let [ordered, signalled, made] = fds.map(|fd| fd.any().unwrap_or(false));
        if made {
            self.tree.refuse();
        }
        if signalled {
            let _ = self.child_signal.read(&mut [0; 256]);
        }
        if ordered {
            self.control.receive()
        } else {
            Order::Run
        }
    }

    fn end(&mut self, order: Order) {
        self.tree.ending = true;
        let left = tree::stop(&mut self.tree, order, |time| {
            let limit = PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO);
            let mut fds = [PollFd::new(self.control.stream.as_fd(), PollFlags::POLLIN)];
            if !matches!(poll(&mut fds, limit), Ok(1..)) {
                return Order::Stop;
            }
            let order = self.control.receive();
            if order < Order::Kill {
                // At its end the channel is always readable, so poll doesn't wait.
                std::thread::sleep(time);
            }
            order
        });
        for process in left {
            wire::send(&mut self.tree.reports, &Report::Left(process.to_string()));
        }
    }
}

/// The channel for orders.
struct Control {
    stream: UnixStream,
    /// The command stopped us with SIGSTOP. While tiller lives, it continues us. After its end no
    /// process does, so there can't be a grace period.
    was_stopped: bool,
}

impl Control {
    /// Acknowledges the orders that arrived and returns the strictest.
    fn receive(&mut self) -> Order {
        let mut bytes = [0; 64];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(count @ 1..) => {
                    let order = wire::strictest(&bytes[..count]);
                    wire::send(&mut self.stream, &Report::Ack);
                    self.was_stopped |= order == Order::Run;
                    return order;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // tiller has ended.
                _ if self.was_stopped => return Order::Kill,
                _ => return Order::Stop,
            }
        }
    }
}

/// The processes below the supervisor.
struct Tree {
    shell: Pid,
    reports: UnixStream,
    forbidden: Forbidden,
    /// A forbidden file must end the command.
    must_end: bool,
    /// Kills its processes before touching the file system, which may hang.
    ending: bool,
}

impl Tree {
    /// Moves forbidden files away and reports them.
    fn refuse(&mut self) {
        for one in self.forbidden.refuse() {
            wire::send(&mut self.reports, &Report::Refused(one.to_string()));
            self.must_end |= one.ends_command();
        }
    }

    /// Reaps ended processes, and reports the shell's exit if it is among them.
    fn wait_for_ended(&mut self) -> (Option<ExitStatus>, Remaining) {
        let began = Instant::now();
        let mut exit = None;
        while began.elapsed() < REAP_LIMIT {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) if pid == self.shell => {
                    exit = Some(ExitStatus::Exited(code));
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.shell => {
                    exit = Some(ExitStatus::Killed(signal as i32));
                }
                Ok(WaitStatus::StillAlive) => return (exit, Remaining::Processes),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return (exit, Remaining::Nothing),
            }
        }
        (exit, Remaining::Zombies)
    }
}

impl Descendants for Tree {
    /// Only the kernel can tell that no process is left. In a chain of processes that fork and
    /// exit, each has ended before a listing sees it.
    fn reap(&mut self) -> Remaining {
        let (exit, remaining) = self.wait_for_ended();
        // tiller may run something outside the sandbox as soon as it sees this report.
        if !self.ending && (exit.is_some() || matches!(remaining, Remaining::Nothing)) {
            self.refuse();
        }
        if let Some(exit) = exit {
            wire::send(&mut self.reports, &Report::Shell(exit));
        }
        remaining
    }

    fn children(&mut self) -> Vec<Pid> {
        table::children(Pid::this())
    }
}

/// Adopts the command's orphans instead of init, and sets the name for `ps`. Continues when tiller
/// ends, even if a command has stopped us (`kill -STOP $PPID`).
#[cfg(target_os = "linux")]
fn become_subreaper() {
    use nix::sys::{prctl, signal::Signal};

    let _ = prctl::set_child_subreaper(true);
    let _ = prctl::set_name(c"tiller");
    let _ = prctl::set_pdeathsig(Signal::SIGCONT);
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() {}

/// Uses handlers, because the shell would inherit SIG_IGN or a mask. Nothing reads the flag.
fn ignore_signals() -> io::Result<()> {
    let unread = Arc::new(AtomicBool::new(false));
    for signal in [
        signals::SIGTERM,
        signals::SIGINT,
        signals::SIGHUP,
        signals::SIGQUIT,
        signals::SIGUSR1,
        signals::SIGUSR2,
        signals::SIGALRM,
        signals::SIGTSTP,
        signals::SIGTTIN,
        signals::SIGTTOU,
    ] {
        signal_hook::flag::register(signal, Arc::clone(&unread))?;
    }
    Ok(())
}
