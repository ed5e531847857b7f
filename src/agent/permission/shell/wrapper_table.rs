//! The wrappers whose operands are a command, and the options before it. Data.

use super::options::Options;

/// Programs with a sub-command that runs a command in an environment of theirs: the name, the
/// sub-command, the options behind it, and the operands before the command.
pub(super) const RUNNERS: &[(&str, &str, Options, usize)] = &[
    (
        "uv",
        "run",
        options(
            "qvn",
            "p",
            &[
                "frozen",
                "locked",
                "no-sync",
                "isolated",
                "active",
                "offline",
                "all-extras",
                "no-project",
            ],
            &[
                "with",
                "python",
                "extra",
                "group",
                "env-file",
                "directory",
                "project",
                "package",
            ],
        ),
        0,
    ),
    (
        "poetry",
        "run",
        options("qv", "CP", &[], &["directory", "project"]),
        0,
    ),
    ("pipenv", "run", options("qv", "", &[], &["python"]), 0),
    ("pdm", "run", options("sp", "", &[], &[]), 0),
    ("hatch", "run", options("qv", "e", &[], &["env"]), 0),
    (
        "bundle",
        "exec",
        options("", "", &["keep-file-descriptors"], &["gemfile"]),
        0,
    ),
    (
        "npm",
        "exec",
        options("y", "pw", &["yes"], &["package", "workspace"]),
        0,
    ),
    (
        "pnpm",
        "exec",
        options("rc", "C", &["recursive", "shell-mode"], &["dir", "filter"]),
        0,
    ),
    ("yarn", "exec", options("", "", &[], &[]), 0),
    ("direnv", "exec", options("", "", &[], &[]), 1),
    ("rustup", "run", options("", "", &["install"], &[]), 1),
    ("mise", "exec", options("qv", "C", &[], &["cd", "jobs"]), 0),
    (
        "conda",
        "run",
        options(
            "v",
            "np",
            &["no-capture-output", "live-stream"],
            &["name", "prefix", "cwd"],
        ),
        0,
    ),
];

/// Programs that run a command somewhere among their arguments; where is not looked at closely.
pub(super) const LOOSE: &[&str] = &[
    "abduco",
    "aws-vault",
    "bwrap",
    "chamber",
    "cpulimit",
    "daemonize",
    "dbus-launch",
    "dbus-run-session",
    "distrobox",
    "doppler",
    "dotenv",
    "dotenvx",
    "dtach",
    "dumb-init",
    "eatmydata",
    "expect",
    "fakechroot",
    "fakeroot",
    "firejail",
    "flatpak",
    "gosu",
    "guix",
    "hyperfine",
    "i386",
    "linux32",
    "linux64",
    "ltrace",
    "nix",
    "nix-shell",
    "nocache",
    "nsenter",
    "numactl",
    "op",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "run0",
    "runcon",
    "screen",
    "setarch",
    "setpriv",
    "sg",
    "start-stop-daemon",
    "su-exec",
    "systemd-run",
    "tini",
    "tmux",
    "toolbox",
    "torify",
    "torsocks",
    "tsocks",
    "unshare",
    "vagrant",
    "valgrind",
    "xvfb-run",
];

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

const PLAIN: Wrapper = Wrapper {
    name: "",
    options: Options {
        flags: "",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        numbers: false,
    },
    operands: 0,
    assigns: false,
    raises: false,
};

pub(super) const fn options(
    flags: &'static str,
    valued: &'static str,
    long_flags: &'static [&'static str],
    long_valued: &'static [&'static str],
) -> Options {
    Options {
        flags,
        valued,
        long_flags,
        long_valued,
        numbers: false,
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        options: options(
            "AbBEeHiKklnPSsVv",
            "CDghpRrTtUu",
            &[
                "askpass",
                "background",
                "bell",
                "edit",
                "set-home",
                "login",
                "list",
                "non-interactive",
                "preserve-groups",
                "preserve-env",
                "shell",
                "stdin",
                "validate",
            ],
            &[
                "chdir",
                "chroot",
                "close-from",
                "command-timeout",
                "group",
                "host",
                "other-user",
                "prompt",
                "role",
                "type",
                "user",
            ],
        ),
        assigns: true,
        raises: true,
        ..PLAIN
    },
    Wrapper {
        name: "doas",
        options: options("Lns", "Cu", &[], &[]),
        raises: true,
        ..PLAIN
    },
    Wrapper {
        name: "env",
        options: options(
            "i0v",
            "uC",
            &["ignore-environment", "null", "debug"],
            &["unset", "chdir"],
        ),
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        name: "nice",
        options: Options {
            numbers: true,
            ..options("", "n", &[], &["adjustment"])
        },
        ..PLAIN
    },
    Wrapper {
        name: "ionice",
        options: options("t", "cn", &["ignore"], &["class", "classdata"]),
        ..PLAIN
    },
    Wrapper {
        name: "timeout",
        options: options(
            "vfp",
            "ks",
            &["foreground", "preserve-status", "verbose"],
            &["kill-after", "signal"],
        ),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "time",
        options: options(
            "apvq",
            "f",
            &["append", "portability", "verbose", "quiet"],
            &["format"],
        ),
        ..PLAIN
    },
    Wrapper {
        name: "nohup",
        ..PLAIN
    },
    Wrapper {
        name: "setsid",
        options: options("cfw", "", &["ctty", "fork", "wait"], &[]),
        ..PLAIN
    },
    Wrapper {
        name: "stdbuf",
        options: options("", "ioe", &[], &["input", "output", "error"]),
        ..PLAIN
    },
    Wrapper {
        name: "taskset",
        options: options("ac", "", &["all-tasks", "cpu-list"], &[]),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "chrt",
        options: options("bfior", "", &["batch", "fifo", "idle", "other", "rr"], &[]),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "chroot",
        options: options("", "", &["skip-chdir"], &["userspec", "groups"]),
        operands: 1,
        raises: true,
        ..PLAIN
    },
    Wrapper {
        name: "strace",
        options: options("cCdfFiqrtTvxyzZkDn", "abeEIoOpPsSuUX", &[], &[]),
        ..PLAIN
    },
    Wrapper {
        name: "caffeinate",
        options: options("dimsu", "tw", &[], &[]),
        ..PLAIN
    },
    Wrapper {
        name: "faketime",
        options: options("fmp", "", &[], &[]),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "unbuffer",
        options: options("p", "", &[], &[]),
        ..PLAIN
    },
    Wrapper {
        name: "chronic",
        options: options("ev", "", &[], &[]),
        ..PLAIN
    },
    Wrapper {
        name: "busybox",
        ..PLAIN
    },
    Wrapper {
        name: "toybox",
        ..PLAIN
    },
    Wrapper {
        name: "builtin",
        ..PLAIN
    },
    Wrapper {
        name: "exec",
        options: options("cl", "a", &[], &[]),
        ..PLAIN
    },
];
