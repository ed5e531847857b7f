//! What hostile commands try, as data. Each attempt has a script and the layers that stop it, and
//! each of these layers alone is enough. A script prints ESCAPED if it got through, or UNAVAILABLE
//! if this machine can't run it.
//!
//! `@WS@ @OUT@ @HOME@ ...` stand for places outside the sandbox, see `outside.rs`.

use tiller::agent::process::sandbox::Layer::{self, *};

/// One attempt to get out.
pub struct Attempt {
    pub name: &'static str,
    pub script: Script,
    /// Each of these layers stops it.
    pub stopped_by: &'static [Layer],
}

/// The script in its language.
pub enum Script {
    /// For bash. It got through if it exits successfully.
    Bash(&'static str),
    /// For python, after `PRELUDE`. It got through if it reaches its end.
    Python(&'static str),
}

const fn bash(name: &'static str, stopped_by: &'static [Layer], script: &'static str) -> Attempt {
    Attempt {
        name,
        script: Script::Bash(script),
        stopped_by,
    }
}

const fn python(name: &'static str, stopped_by: &'static [Layer], script: &'static str) -> Attempt {
    Attempt {
        name,
        script: Script::Python(script),
        stopped_by,
    }
}

/// Runs before each python script.
pub const PRELUDE: &str = r#"
import ctypes, errno, fcntl, os, platform, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
def check(result):
    if result < 0:
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT):
            unavailable(os.strerror(code))
        raise OSError(code, os.strerror(code))
    return result
def call(number, *arguments):
    if isinstance(number, tuple):
        number = number[1 if ARM else 0]
    return check(libc.syscall(ctypes.c_long(number), *map(argument, arguments)))
def argument(value):
    return ctypes.c_long(value) if isinstance(value, int) else value
def unavailable(why):
    print("UNAVAILABLE", why)
    sys.exit(1)
def open_socket(*arguments):
    try:
        return socket.socket(*arguments)
    except OSError as error:
        if error.errno in (errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT):
            unavailable(error)
        raise
"#;

const FILES: &[Layer] = &[Namespaces, Landlock];
/// The layers that confine signals.
const SIGNALS: &[Layer] = &[Processes, Landlock];

/// Changes to files outside the workspace. In `plan` the workspace is outside too.
pub const WRITES: &[Attempt] = &[
    bash("append by absolute path", FILES, "echo x >> @OUT@/file"),
    bash("append by ..", FILES, "echo x >> ../outside/file"),
    bash("a new file", FILES, "echo x > @OUT@/new"),
    bash("a new folder", FILES, "mkdir @OUT@/new"),
    bash(
        "remove a file",
        FILES,
        "rm -f @OUT@/file && [ ! -e @OUT@/file ]",
    ),
    bash("remove a folder", FILES, "rmdir @OUT@/empty"),
    bash("truncate by path", FILES, "truncate -s 0 @OUT@/file"),
    python(
        "truncate by descriptor",
        FILES,
        "os.ftruncate(os.open('@OUT@/file', os.O_RDWR), 0)",
    ),
    bash(
        "through a symbolic link to a file",
        FILES,
        "ln -s @OUT@/file @MINE@/l && echo x >> @MINE@/l",
    ),
    bash(
        "through a symbolic link to a folder",
        FILES,
        "ln -s @OUT@ @MINE@/l && echo x > @MINE@/l/new",
    ),
    bash(
        "through a chain of links with ..",
        FILES,
        "ln -s / @MINE@/a && ln -s a@OUT@/../outside @MINE@/b && echo x > @MINE@/b/new",
    ),
    bash(
        "a hard link",
        FILES,
        "ln @OUT@/file @MINE@/h && echo x >> @MINE@/h",
    ),
    python(
        "a hard link by descriptor",
        FILES,
        "fd = os.open('@OUT@/file', os.O_PATH)\ncheck(libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'@MINE@/h', 0x400))",
    ),
    python(
        "rename into",
        FILES,
        "open('@MINE@/mine', 'w').close(); os.rename('@MINE@/mine', '@OUT@/new')",
    ),
    python(
        "rename away",
        FILES,
        "os.rename('@OUT@/file', '@OUT@/other')",
    ),
    python(
        "exchange",
        FILES,
        "call((316, 276), -100, b'@OUT@/file', -100, b'@OUT@/empty', 2)",
    ),
    bash(
        "/proc/self/root",
        FILES,
        "echo x >> /proc/self/root@OUT@/file",
    ),
    bash(
        "/proc/self/cwd/..",
        FILES,
        "echo x >> /proc/self/cwd/../outside/file",
    ),
    python(
        "relative to a descriptor",
        FILES,
        "folder = os.open('@OUT@', os.O_PATH)\nos.write(os.open('file', os.O_WRONLY, dir_fd=folder), b'x')",
    ),
    python(
        "reopened through /proc/self/fd",
        FILES,
        "fd = os.open('@OUT@/file', os.O_RDONLY)\nos.write(os.open(f'/proc/self/fd/{fd}', os.O_WRONLY), b'x')",
    ),
    python(
        "shared memory map",
        FILES,
        "import mmap\nmap = mmap.mmap(os.open('@OUT@/file', os.O_RDWR), 4)\nmap[0:1] = b'x'",
    ),
    python(
        "a file without a name",
        FILES,
        "os.open('@OUT@', os.O_TMPFILE | os.O_RDWR)",
    ),
    bash("a fifo", FILES, "mkfifo @OUT@/new"),
    bash("a symbolic link", FILES, "ln -s /etc/passwd @OUT@/new"),
    python(
        "a socket",
        &[Namespaces, Landlock, Seccomp],
        "socket.socket(socket.AF_UNIX).bind('@OUT@/new')",
    ),
    // Landlock can't stop these.
    bash("permissions", &[Namespaces], "chmod 666 @OUT@/file"),
    bash("times", &[Namespaces], "touch -d 2001-01-01 @OUT@/file"),
    python(
        "attributes",
        &[Namespaces],
        "os.setxattr('@OUT@/file', 'user.x', b'x')",
    ),
    // Files that something outside runs later.
    bash(
        "a start-up file of the shell",
        FILES,
        "echo 'evil' >> @HOME@/.bashrc",
    ),
    bash(
        "a program on PATH",
        FILES,
        "mkdir -p @HOME@/bin && echo evil > @HOME@/bin/ls",
    ),
    bash(
        "LD_PRELOAD for every session",
        FILES,
        "mkdir -p @HOME@/.config/environment.d && echo LD_PRELOAD=/tmp/x.so > @HOME@/.config/environment.d/x.conf",
    ),
    bash(
        "the editor of git",
        FILES,
        "HOME=@HOME@ git config --global core.editor evil",
    ),
    bash(
        "the pager of git",
        FILES,
        "HOME=@HOME@ git config --global core.pager evil",
    ),
    bash(
        "a service of the user",
        FILES,
        "mkdir -p @HOME@/.config/systemd/user && echo x > @HOME@/.config/systemd/user/x.service",
    ),
    bash("a file in the system's /tmp", FILES, "echo x >> @TMP@/file"),
    bash(
        "shared memory of others",
        &[Namespaces],
        "[ -e /dev/shm/@MARK@ ] && echo x >> /dev/shm/@MARK@",
    ),
    bash(
        "a descriptor that tiller inherited",
        &[Descriptors],
        "echo x >&@FILE_FD@",
    ),
    python(
        "a folder that tiller inherited",
        &[Descriptors, Landlock],
        "os.write(os.open('file', os.O_WRONLY, dir_fd=@FOLDER_FD@), b'x')",
    ),
];

/// Changes to what is read-only in the workspace (`auto`).
pub const READ_ONLY: &[Attempt] = &[
    bash(
        "a hook of git",
        &[Namespaces],
        "echo evil > .git/hooks/pre-commit",
    ),
    bash(
        "another folder of hooks",
        &[Namespaces],
        "mv .git/hooks .git/h && mkdir .git/hooks",
    ),
    bash(
        "hooks removed and made again",
        &[Namespaces],
        "rm -rf .git/hooks; mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
    ),
    bash(
        "fsmonitor in .git/config",
        &[Namespaces],
        "git config --file .git/config core.fsmonitor evil",
    ),
    bash(
        "a pager in .git/config",
        &[Namespaces],
        "echo '[core]pager=evil' >> .git/config",
    ),
    python(
        "another .git/config",
        &[Namespaces],
        "open('.git/c', 'w').write('[core]fsmonitor=evil'); os.rename('.git/c', '.git/config')",
    ),
    bash(
        "another .git",
        &[Namespaces],
        "mv .git .old && mkdir .git && echo '[core]fsmonitor=evil' > .git/config",
    ),
    python(
        "an exchanged .git",
        &[Namespaces],
        "os.mkdir('new'); call((316, 276), -100, b'new', -100, b'.git', 2)",
    ),
    bash(
        "settings of the project",
        &[Namespaces],
        "echo evil >> .tiller/config.toml",
    ),
    bash(
        "another .tiller",
        &[Namespaces],
        "mv .tiller .t && mkdir .tiller",
    ),
    bash(
        "a hard link to .git/config",
        &[Namespaces],
        "ln .git/config c && echo evil >> c",
    ),
    bash(
        "through /proc/self/root",
        &[Namespaces],
        "echo evil >> /proc/self/root@WS@/.git/config",
    ),
];

/// Reads of hidden files.
pub const SECRETS: &[Attempt] = &[
    bash("a hidden folder", FILES, "grep hush @HOME@/.ssh/id"),
    bash("a hidden file", FILES, "grep hush @HOME@/.netrc"),
    bash(
        "a hidden file by ..",
        FILES,
        "grep hush ../home/.ssh/../.netrc",
    ),
    bash(
        "a hidden file through a link",
        FILES,
        "ln -s @HOME@/.netrc @MINE@/l; grep hush @MINE@/l",
    ),
    bash(
        "a hidden file through /proc/self/root",
        FILES,
        "grep hush /proc/self/root@HOME@/.netrc",
    ),
    bash(
        "a hidden file through /proc/PID/root",
        FILES,
        "grep hush /proc/@PID@/root@HOME@/.netrc",
    ),
    bash(
        "a hard link to a hidden file",
        FILES,
        "ln @HOME@/.netrc @MINE@/h; grep hush @MINE@/h",
    ),
    bash(
        "a hidden folder renamed",
        FILES,
        "mv @HOME@/.ssh @HOME@/s && grep hush @HOME@/s/id",
    ),
    bash(
        "the cover taken off",
        FILES,
        "umount -l @HOME@/.ssh; grep hush @HOME@/.ssh/id",
    ),
    bash(
        "the cover taken off in a namespace",
        FILES,
        "unshare -Urm sh -c 'umount -l @HOME@/.ssh; grep hush @HOME@/.ssh/id' || grep hush @HOME@/.ssh/id",
    ),
    bash(
        "the environment of a process",
        FILES,
        "tr '\\0' '\\n' < /proc/@PID@/environ | grep hush",
    ),
    bash(
        "a device of the machine",
        FILES,
        "[ -n '@DEVICE@' ] || { echo UNAVAILABLE no device; exit 1; }; : < @DEVICE@",
    ),
];

/// Attempts on other processes and the terminal.
pub const PROCESSES: &[Attempt] = &[
    bash("kill", SIGNALS, "kill -CONT @PID@"),
    python(
        "tgkill",
        SIGNALS,
        "call((234, 131), @PID@, @PID@, signal.SIGCONT)",
    ),
    python(
        "a signal by pidfd",
        SIGNALS,
        "call(424, call(434, @PID@, 0), signal.SIGCONT, None, 0)",
    ),
    python(
        "a signal by sigqueue",
        SIGNALS,
        "call((129, 138), @PID@, signal.SIGCONT, struct.pack('iiiiiiQ96x', 18, 0, -1, 0, os.getpid(), os.getuid(), 0))",
    ),
    python(
        "ptrace",
        &[Namespaces, Landlock, Seccomp],
        "call((101, 117), 0x4206, @PID@, 0, 0)",
    ),
    python(
        "process_vm_readv",
        &[Namespaces, Landlock, Seccomp],
        r#"
address = int(open('/proc/@PID@/maps').readline().split('-')[0], 16)
buffer = ctypes.create_string_buffer(8)
local = struct.pack('QQ', ctypes.addressof(buffer), 8)
remote = struct.pack('QQ', address, 8)
call((310, 270), @PID@, local, 1, remote, 1, 0)"#,
    ),
    python(
        "a descriptor of another process",
        &[Namespaces, Landlock, Seccomp],
        "call(438, call(434, @PID@, 0), 0, 0)",
    ),
    bash("/proc/PID/mem", FILES, ": <> /proc/@PID@/mem"),
    bash("/proc/PID/root", FILES, "ls /proc/@PID@/root/"),
    bash("/proc/PID/cwd", FILES, "ls /proc/@PID@/cwd/"),
    bash("/proc/PID/fd", FILES, "readlink /proc/@PID@/fd/0"),
    bash("/proc/PID/ns", FILES, "readlink /proc/@PID@/ns/mnt"),
    bash("the user's terminal", FILES, "exec 3<>@TERMINAL@"),
    python(
        "typing into a terminal",
        &[Seccomp],
        r#"
import termios
master, slave = os.openpty()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    try:
        fcntl.ioctl(slave, termios.TIOCSTI, b'x')
        os._exit(0)
    except OSError as error:
        os._exit(2 if error.errno == errno.EIO else 1)
code = os.waitstatus_to_exitcode(os.wait()[1])
if code == 2: unavailable('this kernel has no TIOCSTI')
if code: sys.exit(code)"#,
    ),
    python(
        "shared memory of System V",
        &[Namespaces],
        "libc.shmat.restype = ctypes.c_long\ncheck(libc.shmat(@SHM@, None, 0))",
    ),
];

/// Attempts on networks and sockets.
pub const NETWORK: &[Attempt] = &[
    bash(
        "TCP over IPv4",
        &[Namespaces, Landlock, Seccomp],
        "exec 3<>/dev/tcp/127.0.0.1/@TCP4@",
    ),
    python(
        "TCP over IPv6",
        &[Namespaces, Landlock, Seccomp],
        r#"
if not @TCP6@: unavailable('no IPv6')
socket.create_connection(('::1', @TCP6@), 5)"#,
    ),
    python(
        "UDP over IPv4",
        &[Namespaces, Seccomp],
        r#"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)
s.sendto(b'x', ('127.0.0.1', @UDP4@)); s.recv(8)"#,
    ),
    python(
        "UDP over IPv6",
        &[Namespaces, Seccomp],
        r#"
if not @UDP6@: unavailable('no IPv6')
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.settimeout(1)
s.sendto(b'x', ('::1', @UDP6@)); s.recv(8)"#,
    ),
    python(
        "a question to a name server",
        &[Namespaces, Seccomp],
        r#"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)
s.connect(('127.0.0.1', @UDP4@))
s.send(b'\x12\x34\1\0\0\1\0\0\0\0\0\0\6secret\7example\3org\0\0\1\0\1'); s.recv(512)"#,
    ),
    python(
        "an address of this machine",
        &[Namespaces, Seccomp],
        r#"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.connect(('192.0.2.1', 9))
except OSError as error:
    if error.errno == errno.ENETUNREACH and not @ROUTE@: unavailable('no network')
    raise"#,
    ),
    python(
        "an abstract socket",
        &[Namespaces, Landlock, Seccomp],
        "socket.socket(socket.AF_UNIX).connect('\\0@MARK@')",
    ),
    python(
        "a socket like Docker's",
        &[Namespaces, Seccomp],
        "socket.socket(socket.AF_UNIX).connect('@OUT@/docker.sock')",
    ),
    python(
        "a socket through a link",
        &[Namespaces, Seccomp],
        "os.symlink('@OUT@/docker.sock', '@MINE@/s')\nsocket.socket(socket.AF_UNIX).connect('@MINE@/s')",
    ),
    python(
        "a socket in the system's /tmp",
        &[Namespaces, Seccomp],
        "socket.socket(socket.AF_UNIX).connect('@TMP@/agent.sock')",
    ),
    python(
        "a socket in the workspace",
        &[Namespaces, Seccomp],
        "socket.socket(socket.AF_UNIX).connect('@WS@/theirs.sock')",
    ),
    python(
        "a second name of a socket in the workspace",
        &[Namespaces, Seccomp],
        r#"
try: os.link('@WS@/theirs.sock', '@WS@/mine.sock')
except OSError: os.rename('@WS@/theirs.sock', '@WS@/mine.sock')
socket.socket(socket.AF_UNIX).connect('@WS@/mine.sock')"#,
    ),
    python(
        "a socket of datagrams",
        &[Namespaces, Seccomp],
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '@OUT@/log.sock')",
    ),
    python(
        "a raw socket",
        &[Privileges, Seccomp, Namespaces],
        r#"
if os.getuid() != 0: unavailable('needs root')
if not @ROUTE@: unavailable('no network')
if open('/proc/self/net/dev').read().count(':') < 2: raise OSError('not of this machine')
open_socket(socket.AF_INET, socket.SOCK_RAW, 1)"#,
    ),
    python(
        "a packet socket",
        &[Privileges, Seccomp],
        r#"
if os.getuid() != 0: unavailable('needs root')
open_socket(socket.AF_PACKET, socket.SOCK_RAW, 3)"#,
    ),
    python(
        "generic netlink",
        &[Seccomp],
        "open_socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)",
    ),
    python(
        "netlink of devices",
        &[Seccomp],
        "open_socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)",
    ),
    python(
        "a socket of the virtual machine",
        &[Seccomp],
        "open_socket(40, socket.SOCK_STREAM)",
    ),
    python(
        "a socket of the kernel's ciphers",
        &[Seccomp],
        "open_socket(38, 5)",
    ),
];

/// Attempts on the kernel itself, and ways to undo the layers.
pub const KERNEL: &[Attempt] = &[
    bash("a nested user namespace", &[Seccomp], "unshare -U true"),
    python(
        "a nested user namespace by clone",
        &[Seccomp],
        r#"
pid = call((56, 220), 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0: os._exit(0)"#,
    ),
    python(
        "a nested user namespace by clone3",
        &[Seccomp],
        r#"
arguments = struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
pid = libc.syscall(435, arguments, len(arguments))
if pid == 0: os._exit(0)
check(pid)"#,
    ),
    python(
        "a namespace for the clock",
        &[Seccomp],
        "check(libc.unshare(0x10000080))",
    ),
    python(
        "a mount in a namespace",
        &[Seccomp, Landlock],
        r#"
check(libc.unshare(0x10020000))
check(libc.mount(None, b'/', None, 0x44000, None))
check(libc.mount(b'/usr', b'/mnt', None, 0x1000, None))"#,
    ),
    python(
        "a namespace entered",
        &[Seccomp, Privileges],
        r#"
if os.getuid() != 0: unavailable('needs root')
check(libc.setns(os.open('/proc/self/ns/net', os.O_RDONLY), 0))"#,
    ),
    python(
        "io_uring",
        &[Seccomp],
        "call(425, 4, ctypes.create_string_buffer(120))",
    ),
    python(
        "a key of the session",
        &[Seccomp],
        "call((248, 217), b'user', b'tiller-test', b'x', 1, -2)",
    ),
    python("userfaultfd", &[Seccomp], "call((323, 282), 1)"),
    python(
        "perf_event_open",
        &[Seccomp],
        r#"
try: call((298, 241), struct.pack('IIQQQQQ72x', 1, 120, 1, 0, 0, 0, 0x62), 0, -1, -1, 0)
except OSError as error:
    if error.errno == errno.EACCES: unavailable(error)
    raise"#,
    ),
    python(
        "system calls of 32 bits",
        &[Seccomp],
        r#"
if platform.machine() != 'x86_64': unavailable('another architecture')
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('53b814000000cd805bc3'))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
pid = os.fork()
if pid == 0: os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid() else 2)
code = os.waitstatus_to_exitcode(os.wait()[1])
if code == -signal.SIGSEGV: unavailable('no 32-bit programs')
if code: sys.exit(code)"#,
    ),
    python(
        "system calls of x32",
        &[Seccomp],
        r#"
if ARM: unavailable('another architecture')
call(0x40000000 | 39)"#,
    ),
    bash(
        "privileges by a setuid program",
        &[Privileges, Landlock, Seccomp],
        "grep -q 'NoNewPrivs:\\s0' /proc/self/status",
    ),
];

/// Changes to the workspace, which `plan` doesn't allow.
pub const PLAN: &[Attempt] = &[
    bash("a file of the workspace", FILES, "echo x >> file"),
    bash("a new file in the workspace", FILES, "echo x > new"),
    bash("a repository", FILES, "git init -q sub"),
    bash("the workspace renamed", FILES, "mv @WS@ @WS@2"),
];
