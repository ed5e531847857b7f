//! The supervisor: a small process between tiller and one command. It starts the shell, inherits
//! every descendant that loses its parent (Linux), reports, and ends them all when it is told to
//! or when tiller is gone.
//!
//! One thread, no runtime, no log. It never touches the command's output: the shell writes
//! straight into tiller's pipe, which is why the supervisor gives up its own ends of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use signal_hook::consts::signal as signals;

use super::table;
use super::tree::{self, Brood, GRACE, Haste, Rest};
use super::wire::{self, Order, Report};

/// A pass of collecting the dead takes no longer: with many dying at once killing comes first.
const REAP_LIMIT: Duration = Duration::from_millis(3);
/// Longer commands do not fit into one argument (128 KiB with its end on Linux).
const ARGUMENT_LIMIT: usize = 120 * 1024;

/// The whole life of a supervisor. `main` calls it first of all when the program was started as
/// `tiller __supervise`; standard input is the control channel.
pub fn supervise_main() -> ExitCode {
    match Supervisor::start() {
        Ok(mut supervisor) => {
            supervisor.run();
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}

struct Supervisor {
    control: UnixStream,
    child_signal: UnixStream,
    family: Family,
    /// Tiller found us stopped once. While it lives it wakes us; when it is gone nobody does, so
    /// there is no time for a grace then.
    mistrust: bool,
    /// A command too long for an argument; kept open because the shell reads it through us.
    _script: Option<Script>,
}

impl Supervisor {
    fn start() -> io::Result<Self> {
        let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // By hand, from a terminal, this would wait for ever.
        control.peer_addr()?;
        setsid()?;
        take_office();
        let (child_signal, sender) = UnixStream::pair()?;
        child_signal.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signals::SIGCHLD, sender)?;
        endure_signals()?;

        let command = wire::read_request(&mut control)?;
        let (shell, script) = match start_shell(&command) {
            Ok(started) => started,
            Err(error) => {
                wire::say(&mut control, &Report::NotStarted(error.to_string()));
                wire::say(&mut control, &Report::Done);
                return Err(error);
            }
        };
        let null = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;
        let reports = control.try_clone()?;
        Ok(Self {
            control,
            child_signal,
            family: Family { shell, reports },
            mistrust: false,
            _script: script,
        })
    }

    /// Waits for the first of: nobody left, an order to end, tiller gone.
    fn run(&mut self) {
        loop {
            if self.family.reap() == Rest::Nobody {
                break;
            }
            let order = self.wait();
            if order > Order::Run {
                self.end(order);
                break;
            }
        }
        wire::say(&mut self.control, &Report::Done);
    }

    fn end(&mut self, order: Order) {
        let grace = if order == Order::Kill {
            Duration::ZERO
        } else {
            GRACE
        };
        let Self {
            control,
            family,
            mistrust,
            ..
        } = self;
        let left = tree::stop(family, grace, |time| {
            let limit = PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO);
            let mut fds = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
            if !matches!(poll(&mut fds, limit), Ok(1..)) {
                return Haste::None;
            }
            match hear(control) {
                Heard::Order(Order::Kill) => Haste::Now,
                Heard::Order(_) => Haste::None,
                Heard::Gone if *mistrust => Haste::Now,
                Heard::Gone => {
                    // The channel stays readable now, so poll would not wait.
                    std::thread::sleep(time);
                    Haste::None
                }
            }
        });
        for process in left {
            wire::say(&mut self.control, &Report::Left(process.to_string()));
        }
    }

    /// Sleeps until there is an order or a child has changed.
    fn wait(&mut self) -> Order {
        let mut fds = [
            PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.child_signal.as_fd(), PollFlags::POLLIN),
        ];
        // An error is EINTR: look at everything.
        let _ = poll(&mut fds, PollTimeout::NONE);
        let [told, died] = fds.map(|fd| fd.any().unwrap_or(false));
        if died {
            let _ = self.child_signal.read(&mut [0; 256]);
        }
        if !told {
            return Order::Run;
        }
        match hear(&mut self.control) {
            Heard::Order(order) => {
                self.mistrust |= order == Order::Run;
                order
            }
            Heard::Gone if self.mistrust => Order::Kill,
            Heard::Gone => Order::Stop,
        }
    }
}

/// What the control channel holds.
enum Heard {
    /// Orders; the strictest of them.
    Order(Order),
    /// Tiller has gone.
    Gone,
}

fn hear(control: &mut UnixStream) -> Heard {
    let mut bytes = [0; 64];
    loop {
        match control.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return Heard::Gone,
            Ok(count) => {
                wire::say(control, &Report::Heard);
                let orders = bytes[..count].iter().copied().map(Order::from_byte);
                return Heard::Order(orders.max().unwrap_or_default());
            }
        }
    }
}

/// Everything below the supervisor.
struct Family {
    shell: Pid,
    reports: UnixStream,
}

impl Brood for Family {
    /// Nobody is left when the kernel says so. A listing could not: in a chain of processes that
    /// fork and exit, each is gone before it is seen.
    fn reap(&mut self) -> Rest {
        let began = Instant::now();
        while began.elapsed() < REAP_LIMIT {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) if pid == self.shell => {
                    wire::say(&mut self.reports, &Report::Exited(code));
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.shell => {
                    wire::say(&mut self.reports, &Report::Killed(signal as i32));
                }
                Ok(WaitStatus::StillAlive) => return Rest::Somebody,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return Rest::Nobody,
            }
        }
        Rest::Somebody
    }

    fn children(&mut self) -> Vec<Pid> {
        table::children(Pid::this())
    }
}

/// Orphans of the command come to us instead of to init; `ps` shows who we are; and if a command
/// has stopped us (`kill -STOP $PPID`), the death of tiller wakes us to end it.
#[cfg(target_os = "linux")]
fn take_office() {
    use nix::sys::{prctl, signal::Signal};

    let _ = prctl::set_child_subreaper(true);
    let _ = prctl::set_name(c"tiller");
    let _ = prctl::set_pdeathsig(Signal::SIGCONT);
}

#[cfg(not(target_os = "linux"))]
fn take_office() {}

/// Handlers, not SIG_IGN and not a mask: the shell would inherit those. Nothing looks at the
/// flag; being interrupted is all a signal does to us, so that `kill $PPID` harms nobody.
fn endure_signals() -> io::Result<()> {
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

fn start_shell(command: &[u8]) -> io::Result<(Pid, Option<Script>)> {
    let script = (command.len() > ARGUMENT_LIMIT)
        .then(|| Script::new(command))
        .transpose()?;
    let line = match &script {
        Some(script) => script.line(),
        None => String::from_utf8_lossy(command).into_owned(),
    };
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for shell in ["bash", "/bin/bash", "/usr/bin/bash", "sh"] {
        let started = Command::new(shell)
            .arg("-c")
            .arg(&line)
            .stdin(Stdio::null())
            // A group of its own: `kill 0` in a script must not reach us.
            .process_group(0)
            .spawn();
        match started {
            Ok(child) => return Ok((Pid::from_raw(child.id() as i32), script)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(last.kind(), "no bash and no sh in PATH"))
}

/// A command in a file that only this user can read.
struct Script {
    file: tempfile::NamedTempFile,
}

impl Script {
    fn new(command: &[u8]) -> io::Result<Self> {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), command)?;
        if cfg!(target_os = "linux") {
            // The shell reads it through /proc, so the name can go now: nothing stays behind
            // even if we are killed.
            fs::remove_file(file.path())?;
        }
        Ok(Self { file })
    }

    /// The line that runs it. `.` reads all of it before it runs any of it.
    fn line(&self) -> String {
        if cfg!(target_os = "linux") {
            let fd = self.file.as_file().as_raw_fd();
            format!(". /proc/{}/fd/{fd}", std::process::id())
        } else {
            format!(". '{}'", self.file.path().display())
        }
    }
}
