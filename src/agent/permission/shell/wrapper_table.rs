//! Data: wrappers whose operands are a command, and the options before it.

use super::options::{Options, options};
use crate::word_list::WordList;

/// Programs with a sub-command that runs a command in their environment. Each has its name, the
/// sub-command, the options after it, and the number of operands before the command.
pub(super) const RUNNERS: &[(&str, &str, &str, usize)] = &[
    (
        "uv",
        "run",
        "q v n p: frozen locked no-sync isolated active offline all-extras no-project with: \
        python: extra: group: env-file: directory: project: package:",
        0,
    ),
    ("poetry", "run", "q v C: P: directory: project:", 0),
    ("pipenv", "run", "q v python:", 0),
    ("pdm", "run", "s p", 0),
    ("hatch", "run", "q v e: env:", 0),
    ("bundle", "exec", "keep-file-descriptors gemfile:", 0),
    ("npm", "exec", "y p: w: yes package: workspace:", 0),
    (
        "pnpm",
        "exec",
        "r c C: recursive shell-mode dir: filter:",
        0,
    ),
    ("yarn", "exec", "", 0),
    ("direnv", "exec", "", 1),
    ("rustup", "run", "install", 1),
    ("mise", "exec", "q v C: cd: jobs:", 0),
    (
        "conda",
        "run",
        "v n: p: no-capture-output live-stream name: prefix: cwd:",
        0,
    ),
];

/// Programs that run a command somewhere in their arguments. tiller doesn't look for the exact place.
pub(super) const LOOSE: WordList = WordList(
    "abduco aws-vault bwrap chamber cpulimit daemonize dbus-launch dbus-run-session distrobox \
    doppler dotenv dotenvx dtach dumb-init eatmydata expect fakechroot fakeroot firejail flatpak \
    gosu guix hyperfine i386 linux32 linux64 ltrace nix nix-shell nocache nsenter numactl op \
    perf pkexec prlimit proot proxychains proxychains4 rlwrap run0 runcon screen setarch setpriv \
    sg start-stop-daemon su-exec systemd-run tini tmux toolbox torify torsocks tsocks unshare \
    vagrant valgrind xvfb-run",
);

/// A program whose operands are a command that it runs.
pub(super) struct Wrapper {
    pub name: &'static str,
    pub options: Options,
    /// How many operands come before the command.
    pub operands: usize,
    /// Whether assignments can come before the command.
    pub assigns: bool,
    /// Whether the command can do more than if it ran alone.
    pub raises: bool,
}

const fn wrapper(name: &'static str, known: &'static str) -> Wrapper {
    Wrapper {
        name,
        options: options(known),
        operands: 0,
        assigns: false,
        raises: false,
    }
}

impl Wrapper {
    const fn with_operands(mut self, operands: usize) -> Self {
        self.operands = operands;
        self
    }

    const fn with_numbers(mut self) -> Self {
        self.options.numbers = true;
        self
    }

    const fn with_assignments(mut self) -> Self {
        self.assigns = true;
        self
    }

    const fn raising(mut self) -> Self {
        self.raises = true;
        self
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "A b B E e H i K k l n P S s V v C: D: g: h: p: R: r: T: t: U: u: askpass background \
        bell edit set-home login list non-interactive preserve-groups preserve-env shell stdin \
        validate chdir: chroot: close-from: command-timeout: group: host: other-user: prompt: \
        role: type: user:",
    )
    .with_assignments()
    .raising(),
    wrapper("doas", "L n s C: u:").raising(),
    wrapper(
        "env",
        "i 0 v u: C: ignore-environment null debug unset: chdir:",
    )
    .with_assignments(),
    wrapper("nice", "n: adjustment:").with_numbers(),
    wrapper("ionice", "t c: n: ignore class: classdata:"),
    wrapper(
        "timeout",
        "v f p k: s: foreground preserve-status verbose kill-after: signal:",
    )
    .with_operands(1),
    wrapper(
        "time",
        "a p v q f: append portability verbose quiet format:",
    ),
    wrapper("nohup", ""),
    wrapper("setsid", "c f w ctty fork wait"),
    wrapper("stdbuf", "i: o: e: input: output: error:"),
    wrapper("taskset", "a c all-tasks cpu-list").with_operands(1),
    wrapper("chrt", "b f i o r batch fifo idle other rr").with_operands(1),
    wrapper("chroot", "skip-chdir userspec: groups:")
        .with_operands(1)
        .raising(),
    wrapper(
        "strace",
        "c C d f F i q r t T v x y z Z k D n a: b: e: E: I: o: O: p: P: s: S: u: U: X:",
    ),
    wrapper("caffeinate", "d i m s u t: w:"),
    wrapper("faketime", "f m p").with_operands(1),
    wrapper("unbuffer", "p"),
    wrapper("chronic", "e v"),
    wrapper("busybox", ""),
    wrapper("toybox", ""),
    wrapper("builtin", ""),
    wrapper("exec", "c l a:"),
];
