//! What attempts try to reach outside the sandbox: a process with a secret, a terminal, servers on
//! every kind of network and socket, and files that a program left open.

use std::fs::{self, File};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::openpty;
use tempfile::TempDir;

use crate::support::marked::MarkedProcesses;

pub struct Outside {
    victim: Child,
    terminal: (OwnedFd, String),
    tmp: TempDir,
    mark: String,
    shared_memory: String,
    inherited: (File, File),
    tcp: [Option<TcpListener>; 2],
    udp: [Option<u16>; 2],
    _sockets: [UnixListener; 2],
}

impl Outside {
    pub fn new() -> Self {
        let tmp = tempfile::Builder::new()
            .prefix("tiller")
            .tempdir_in("/tmp")
            .unwrap();
        fs::write(tmp.path().join("file"), "x\n").unwrap();
        fs::create_dir(tmp.path().join("folder")).unwrap();
        fs::write(tmp.path().join("folder/file"), "x\n").unwrap();
        let mark = MarkedProcesses::new().mark().to_owned();
        fs::write(format!("/dev/shm/{mark}"), "x\n").unwrap();
        let abstract_name = SocketAddr::from_abstract_name(&mark).unwrap();
        let pty = openpty(None, None).unwrap();
        let slave = fs::read_link(format!("/proc/self/fd/{}", pty.slave.as_raw_fd())).unwrap();
        let inherited = (
            File::options()
                .append(true)
                .open(tmp.path().join("file"))
                .unwrap(),
            File::open(tmp.path().join("folder")).unwrap(),
        );
        for file in [&inherited.0, &inherited.1] {
            fcntl(file.as_fd(), FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        }
        Self {
            victim: victim(),
            terminal: (pty.master, slave.display().to_string()),
            shared_memory: make_shared_memory(),
            inherited,
            tcp: ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).ok()),
            udp: ["127.0.0.1:0", "[::1]:0"].map(echo),
            _sockets: [
                UnixListener::bind(tmp.path().join("agent.sock")).unwrap(),
                UnixListener::bind_addr(&abstract_name).unwrap(),
            ],
            tmp,
            mark,
        }
    }

    /// `script` with its placeholders replaced by this machine's places.
    pub fn fill_in(&self, script: &str) -> String {
        let tcp = self.tcp.each_ref().map(|listener| {
            listener
                .as_ref()
                .map_or(0, |it| it.local_addr().unwrap().port())
        });
        let has_route = UdpSocket::bind("0.0.0.0:0")
            .and_then(|socket| socket.connect("192.0.2.1:9"))
            .is_ok();
        let values = [
            ("@PID@", self.victim.id().to_string()),
            ("@DEVICE@", device().to_owned()),
            ("@TERMINAL@", self.terminal.1.clone()),
            ("@TMP@", self.tmp.path().display().to_string()),
            ("@MARK@", self.mark.clone()),
            ("@SHM@", self.shared_memory.clone()),
            ("@FILE_FD@", self.inherited.0.as_raw_fd().to_string()),
            ("@FOLDER_FD@", self.inherited.1.as_raw_fd().to_string()),
            ("@TCP4@", tcp[0].to_string()),
            ("@TCP6@", tcp[1].to_string()),
            ("@UDP4@", self.udp[0].unwrap_or_default().to_string()),
            ("@UDP6@", self.udp[1].unwrap_or_default().to_string()),
            ("@ROUTE@", u8::from(has_route).to_string()),
        ];
        let fill = |script: String, (name, value): &(&str, String)| script.replace(name, value);
        values.iter().fold(script.to_owned(), fill)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(format!("/dev/shm/{}", self.mark));
        let _ = Command::new("ipcrm")
            .args(["-m", &self.shared_memory])
            .status();
    }
}

/// A process with no more privileges than a command. As root it gives up capabilities.
fn victim() -> Child {
    let mut command = if nix::unistd::getuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", "sleep", "600"]);
        command
    } else {
        let mut command = Command::new("sleep");
        command.arg("600");
        command
    };
    command
        .env("SECRET", "hush")
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// A device that users may open.
fn device() -> &'static str {
    let devices = ["/dev/fuse", "/dev/kvm", "/dev/autofs"];
    devices
        .into_iter()
        .find(|path| File::open(path).is_ok())
        .unwrap_or_default()
}

/// A server that echoes what it gets, for as long as the tests run. Returns its port.
fn echo(address: &str) -> Option<u16> {
    let socket = UdpSocket::bind(address).ok()?;
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((count, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..count], from);
        }
    });
    Some(port)
}

fn make_shared_memory() -> String {
    let made = Command::new("ipcmk").args(["-M", "4096"]).output().unwrap();
    let said = String::from_utf8(made.stdout).unwrap();
    said.split_whitespace().last().unwrap_or("-1").to_owned()
}
