//! The wrappers whose operands are a command, and the options before it. Data.

use super::options::Options;
use crate::agent::word_list::WordList;

/// Programs with a sub-command that runs a command in an environment of theirs: the name, the
/// sub-command, the options behind it, and the operands before the command.
pub(super) const RUNNERS: &[(&str, &str, Options, usize)] = &[
    (
        "uv",
        "run",
        options(
            "qvn",
            "p",
            "frozen locked no-sync isolated active offline all-extras no-project",
            "with python extra group env-file directory project package",
        ),
        0,
    ),
    (
        "poetry",
        "run",
        options("qv", "CP", "", "directory project"),
        0,
    ),
    ("pipenv", "run", options("qv", "", "", "python"), 0),
    ("pdm", "run", options("sp", "", "", ""), 0),
    ("hatch", "run", options("qv", "e", "", "env"), 0),
    (
        "bundle",
        "exec",
        options("", "", "keep-file-descriptors", "gemfile"),
        0,
    ),
    (
        "npm",
        "exec",
        options("y", "pw", "yes", "package workspace"),
        0,
    ),
    (
        "pnpm",
        "exec",
        options("rc", "C", "recursive shell-mode", "dir filter"),
        0,
    ),
    ("yarn", "exec", options("", "", "", ""), 0),
    ("direnv", "exec", options("", "", "", ""), 1),
    ("rustup", "run", options("", "", "install", ""), 1),
    ("mise", "exec", options("qv", "C", "", "cd jobs"), 0),
    (
        "conda",
        "run",
        options(
            "v",
            "np",
            "no-capture-output live-stream",
            "name prefix cwd",
        ),
        0,
    ),
];

/// Programs that run a command somewhere among their arguments; where is not looked at closely.
pub(super) const LOOSE: WordList = WordList(
    "abduco aws-vault bwrap chamber cpulimit daemonize dbus-launch dbus-run-session distrobox \
    doppler dotenv dotenvx dtach dumb-init eatmydata expect fakechroot fakeroot firejail flatpak \
    gosu guix hyperfine i386 linux32 linux64 ltrace nix nix-shell nocache nsenter numactl op \
    perf pkexec prlimit proot proxychains proxychains4 rlwrap run0 runcon screen setarch setpriv \
    sg start-stop-daemon su-exec systemd-run tini tmux toolbox torify torsocks tsocks unshare \
    vagrant valgrind xvfb-run",
);

/// A program that runs the command that its operands are.
pub(super) struct Wrapper {
    pub name: &'static str,
    pub options: Options,
    /// Operands before the command.
    pub operands: usize,
    /// Whether assignments may stand before the command.
    pub assigns: bool,
    /// Whether it may do more than it could by itself.
    pub raises: bool,
}

const fn wrapper(name: &'static str, options: Options) -> Wrapper {
    Wrapper {
        name,
        options,
        operands: 0,
        assigns: false,
        raises: false,
    }
}

impl Wrapper {
    const fn with_operands(self, operands: usize) -> Self {
        Self { operands, ..self }
    }

    const fn with_assignments(self) -> Self {
        Self {
            assigns: true,
            ..self
        }
    }

    const fn raising(self) -> Self {
        Self {
            raises: true,
            ..self
        }
    }
}

pub(super) const fn options(
    flags: &'static str,
    valued: &'static str,
    long_flags: &'static str,
    long_valued: &'static str,
) -> Options {
    Options {
        flags,
        valued,
        long_flags: WordList(long_flags),
        long_valued: WordList(long_valued),
        numbers: false,
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        options(
            "AbBEeHiKklnPSsVv",
            "CDghpRrTtUu",
            "askpass background bell edit set-home login list non-interactive preserve-groups \
             preserve-env shell stdin validate",
            "chdir chroot close-from command-timeout group host other-user prompt role type user",
        ),
    )
    .with_assignments()
    .raising(),
    wrapper("doas", options("Lns", "Cu", "", "")).raising(),
    wrapper(
        "env",
        options("i0v", "uC", "ignore-environment null debug", "unset chdir"),
    )
    .with_assignments(),
    wrapper(
        "nice",
        Options {
            numbers: true,
            ..options("", "n", "", "adjustment")
        },
    ),
    wrapper("ionice", options("t", "cn", "ignore", "class classdata")),
    wrapper(
        "timeout",
        options(
            "vfp",
            "ks",
            "foreground preserve-status verbose",
            "kill-after signal",
        ),
    )
    .with_operands(1),
    wrapper(
        "time",
        options("apvq", "f", "append portability verbose quiet", "format"),
    ),
    wrapper("nohup", options("", "", "", "")),
    wrapper("setsid", options("cfw", "", "ctty fork wait", "")),
    wrapper("stdbuf", options("", "ioe", "", "input output error")),
    wrapper("taskset", options("ac", "", "all-tasks cpu-list", "")).with_operands(1),
    wrapper("chrt", options("bfior", "", "batch fifo idle other rr", "")).with_operands(1),
    wrapper("chroot", options("", "", "skip-chdir", "userspec groups"))
        .with_operands(1)
        .raising(),
    wrapper(
        "strace",
        options("cCdfFiqrtTvxyzZkDn", "abeEIoOpPsSuUX", "", ""),
    ),
    wrapper("caffeinate", options("dimsu", "tw", "", "")),
    wrapper("faketime", options("fmp", "", "", "")).with_operands(1),
    wrapper("unbuffer", options("p", "", "", "")),
    wrapper("chronic", options("ev", "", "", "")),
    wrapper("busybox", options("", "", "", "")),
    wrapper("toybox", options("", "", "", "")),
    wrapper("builtin", options("", "", "", "")),
    wrapper("exec", options("cl", "a", "", "")),
];
