//! A project with its own home. No program reads or writes the real user's files, and dropping it
//! deletes everything.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::model_server::{ModelServer, Wire};

/// How long a program may run before the test fails.
const DEADLINE: Duration = Duration::from_mins(2);

/// True if a sandbox test can run because nothing is `broken`. Otherwise it fails, unless this
/// variable says to skip such tests.
#[track_caller]
#[expect(clippy::print_stdout, reason = "a test that shows nothing says so")]
pub fn may_run(broken: &[String]) -> bool {
    const SKIP: &str = "TILLER_TEST_NO_SANDBOX";
    if broken.is_empty() {
        return true;
    }
    let broken = broken.join("; ");
    assert!(
        std::env::var_os(SKIP).is_some(),
        "The sandbox doesn't work fully on this machine: {broken}. Set {SKIP}=1 to skip its tests."
    );
    println!("SKIPPED: no whole sandbox works on this machine: {broken}");
    false
}

/// A temporary project and home.
pub struct Sandbox {
    root: TempDir,
    /// Added to the environment of every program.
    env: Vec<(String, String)>,
}

impl Sandbox {
    /// An empty project.
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// A project with these files, as pairs of path and content.
    pub fn with(files: &[(&str, &str)]) -> Self {
        Self::below(&std::env::temp_dir(), files)
    }

    /// An empty project outside `/tmp`, because sandboxed commands may write to `/tmp`.
    pub fn outside_tmp() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let in_tmp = folder.starts_with("/tmp");
        let folder = if in_tmp {
            Path::new("/var/tmp")
        } else {
            folder
        };
        Self::below(folder, &[])
    }

    fn below(folder: &Path, files: &[(&str, &str)]) -> Self {
        let root = tempfile::Builder::new()
            .prefix("tiller-test-")
            .tempdir_in(folder)
            .unwrap();
        let sandbox = Self {
            root,
            env: Vec::new(),
        };
        for folder in [
            "project", "home", "config", "data", "state", "cache", "tmp", "run",
        ] {
            fs::create_dir(sandbox.root.path().join(folder)).unwrap();
        }
        sandbox.write_settings("[permission]\nmode = \"full\"\n");
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox
    }

    /// Restores what a new user has: the default permission mode instead of `full`.
    pub fn with_default_mode(self) -> Self {
        self.write_settings("");
        self
    }

    /// True if this machine can confine commands. If it can't, see [`may_run`].
    #[track_caller]
    pub fn machine_confines(&self) -> bool {
        let doctor = self.run(&["doctor", "--json"]).stdout;
        let doctor: Value = serde_json::from_str(&doctor).unwrap();
        let sections = doctor["sections"].as_array().unwrap().iter();
        let mut checks = sections.flat_map(|it| it["checks"].as_array().unwrap());
        let together = checks.find(|it| it["name"] == "together").unwrap();
        let broken = (together["state"] != "good").then(|| together.to_string());
        may_run(broken.as_slice())
    }

    fn write_settings(&self, text: &str) {
        // Model servers that run on the test machine must not affect the test.
        let text = format!("[models]\nlocal = false\n{text}");
        fs::write(self.config().join("config.toml"), text).unwrap();
    }

    /// The project's folder, with symlinks resolved.
    pub fn path(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("project")
    }

    /// The folder of `config.toml` and `models.toml`.
    pub fn config(&self) -> PathBuf {
        self.root.path().join("config")
    }

    /// The folder of the sessions.
    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// The folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// Writes a file in the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join("project").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file in the project.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Makes the project a git repository with one commit.
    pub fn git_init(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "first"]);
    }

    /// Runs git in the project.
    pub fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        command.args(arguments).current_dir(self.path());
        command.env_clear().envs(self.env());
        assert!(command.status().unwrap().success(), "git {arguments:?}");
    }

    /// Sets a variable for every program started after this.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Points every program started after this to `server`, for every wire.
    pub fn use_server(&mut self, server: &ModelServer) {
        for (name, value) in server.env() {
            self.set(name, &value);
        }
    }

    /// The whole environment of a program. It inherits only PATH from the test.
    pub fn env(&self) -> Vec<(String, String)> {
        let folder = |name: &str| self.root.path().join(name).display().to_string();
        let mut env = vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("HOME".to_owned(), folder("home")),
            ("XDG_CONFIG_HOME".to_owned(), folder("home/.config")),
            ("XDG_DATA_HOME".to_owned(), folder("home/.local/share")),
            ("XDG_STATE_HOME".to_owned(), folder("state")),
            ("XDG_CACHE_HOME".to_owned(), folder("cache")),
            ("XDG_RUNTIME_DIR".to_owned(), folder("run")),
            ("TMPDIR".to_owned(), folder("tmp")),
            ("TILLER_CONFIG_DIR".to_owned(), folder("config")),
            ("TILLER_DATA_DIR".to_owned(), folder("data")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("SHELL".to_owned(), "/bin/bash".to_owned()),
            ("USER".to_owned(), "tester".to_owned()),
        ];
        env.extend(self.env.iter().cloned());
        env
    }

    /// A command that runs tiller in the project, without a terminal.
    pub fn tiller(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(super::program());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(self.env())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs tiller until it exits.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, None)
    }

    /// Runs tiller with this stdin until it exits.
    #[track_caller]
    pub fn run_with(&self, arguments: &[&str], stdin: Option<&str>) -> Ran {
        let mut command = self.tiller(arguments);
        if stdin.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().unwrap();
        if let Some(text) = stdin {
            let mut pipe = child.stdin.take().unwrap();
            let text = text.to_owned();
            // A program that never reads its stdin must not hang the test.
            std::thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        let pid = nix::unistd::Pid::from_raw(child.id() as i32);
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            use std::sync::mpsc::RecvTimeoutError::Timeout;
            let late = ended.recv_timeout(DEADLINE) == Err(Timeout);
            if late {
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
            late
        });
        let started = Instant::now();
        let output = child.wait_with_output().unwrap();
        drop(done);
        let ran = Ran::new(output, started.elapsed());
        assert!(!watch.join().unwrap(), "it had to be killed: {ran:#?}");
        ran
    }

    /// The session files, oldest first.
    pub fn session_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(&self.data(), &mut files);
        files.retain(|path| path.extension().is_some_and(|it| it == "jsonl"));
        files.retain(|path| path.starts_with(self.data().join("sessions")));
        files.sort();
        files
    }

    /// The lines of the only session.
    #[track_caller]
    pub fn session(&self) -> Vec<Value> {
        let files = self.session_files();
        assert_eq!(files.len(), 1, "expected one session: {files:?}");
        let text = fs::read_to_string(&files[0]).unwrap();
        let parse = |line: &str| serde_json::from_str(line).unwrap();
        text.lines().map(parse).collect()
    }

    /// The messages of the only session, in order.
    #[track_caller]
    pub fn session_messages(&self) -> Vec<Value> {
        self.session()
            .into_iter()
            .filter(|entry| entry["type"] == "message")
            .map(|entry| entry["message"].clone())
            .collect()
    }

    /// Everything in the log.
    pub fn log(&self) -> String {
        let files = self.all_files().into_iter();
        files
            .filter(|file| file.extension().is_some_and(|it| it == "log"))
            .filter(|file| file.starts_with(self.root.path().join("state")))
            .map(|file| fs::read_to_string(file).unwrap())
            .collect()
    }

    /// Every file in the sandbox, to check what a test left behind.
    pub fn all_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(self.root.path(), &mut files);
        files
    }

    /// Processes that belong to this sandbox by folder, environment or command line, as `pid
    /// command`. Leaves out the pids in `but`.
    pub fn processes(&self, but: &[i32]) -> Vec<String> {
        let root = self.root.path().canonicalize().unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(pid) = name.parse::<i32>() else {
                continue;
            };
            let bytes = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
            let command = String::from_utf8_lossy(&bytes("cmdline")).replace('\0', " ");
            let inside =
                fs::read_link(entry.path().join("cwd")).is_ok_and(|it| it.starts_with(&root));
            let root = root.to_string_lossy().into_owned();
            let named = command.contains(&root)
                || String::from_utf8_lossy(&bytes("environ")).contains(&root);
            // A zombie has no command line.
            if (inside || named) && !command.is_empty() && !but.contains(&pid) {
                found.push(format!("{pid} {command}"));
            }
        }
        found
    }

    /// Waits until no process of this sandbox is left, except those in `but`. Returns how long that
    /// took.
    #[track_caller]
    pub fn wait_no_processes(&self, but: &[i32]) -> Duration {
        let started = Instant::now();
        loop {
            let left = self.processes(but);
            if left.is_empty() {
                return started.elapsed();
            }
            assert!(started.elapsed() < DEADLINE, "still alive: {left:#?}");
            std::thread::yield_now();
        }
    }

    /// Writes a `models.toml` with this provider, which uses `server` over `wire`.
    pub fn add_provider(&self, name: &str, server: &ModelServer, wire: Wire) {
        let text = format!(
            "[providers.{name}]\napi = \"{}\"\nbase_url = \"{}\"\napi_key = \"literal-key\"\n\
             [[providers.{name}.models]]\nid = \"scripted\"\n",
            wire.api(),
            server.url(wire)
        );
        fs::write(self.config().join("models.toml"), text).unwrap();
    }
}

/// What a finished program left: output, exit status and time.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Ran {
    fn new(output: Output, took: Duration) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            took,
        }
    }

    /// The records of `--mode json`.
    #[track_caller]
    pub fn records(&self) -> Vec<Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
        };
        self.stdout.lines().map(parse).collect()
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}
