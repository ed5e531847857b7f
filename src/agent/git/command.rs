//! Runs git so that it starts nothing of the user's: no hooks, no file system monitor, no pager, no
//! maintenance, no prompts, and none of tiller's secrets in its environment. Filters don't run, because
//! no command used here applies them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;

use super::search_path::search_path;

/// Variables passed on to git: what it needs to find its settings, and no secrets.
const VARIABLES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "TMPDIR"];
/// Overrides of user settings that would start programs or write to more files.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];
/// Most bytes of git's error message to keep.
const MAX_TEXT: usize = 600;

/// Why git didn't do as asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It isn't installed.
    #[error("git isn't in PATH")]
    Missing,
    /// It refused.
    #[error("git {command} failed: {text}")]
    Refused {
        /// The command, without its options.
        command: String,
        /// What git said.
        text: String,
    },
    /// It can't be run or read from.
    #[error("{what} {}: {error}", .folder.display())]
    Io {
        /// What failed.
        what: &'static str,
        /// The folder it works in.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Git {
    folder: PathBuf,
    settings: Vec<String>,
    variables: Vec<(OsString, OsString)>,
}

impl Git {
    pub fn within(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            settings: SETTINGS.map(str::to_owned).into(),
            variables: Vec::new(),
        }
    }

    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Overrides a setting, as in `name=value`.
    pub fn set(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Also disables the hooks defined in settings, for commands that would run them.
    pub fn without_hooks(self) -> Result<Self, GitError> {
        let list = ["config", "--list", "--name-only", "-z"];
        let listed = self.run(&list)?;
        let names: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).filter_map(hook).collect();
        let count = names.len().to_string();
        // Not with `-c`, because a name may contain `=`.
        let git = self.with("GIT_CONFIG_COUNT", count);
        let off = |git: Self, (at, name): (usize, &[u8])| {
            let key = [b"hook.", name, b".enabled"].concat();
            git.with(format!("GIT_CONFIG_KEY_{at}"), OsString::from_vec(key))
                .with(format!("GIT_CONFIG_VALUE_{at}"), "false")
        };
        Ok(names.into_iter().enumerate().fold(git, off))
    }

    /// Runs git and returns its output.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, GitError> {
        let output = self
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| self.cannot_start(error))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(refused(arguments, &output.stderr))
    }

    /// Returns the path that git prints as its only line.
    pub fn path<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<PathBuf, GitError> {
        let mut line = self.run(arguments)?;
        line.pop_if(|byte| *byte == b'\n');
        Ok(PathBuf::from(OsString::from_vec(line)))
    }

    /// Writes `input` to git while `read` reads its output.
    pub fn converse<S: AsRef<OsStr>, T>(
        &self,
        arguments: &[S],
        input: &[u8],
        read: impl FnOnce(BufReader<ChildStdout>) -> io::Result<T>,
    ) -> Result<T, GitError> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| self.cannot_start(error))?;
        let (stdin, mut stderr) = (child.stdin.take(), child.stderr.take());
        let (answer, said) = thread::scope(|scope| {
            let asked = scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            let said = scope.spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.as_mut().map(|said| said.read_to_end(&mut text));
                text
            });
            let answer = child.stdout.take().map(|out| read(BufReader::new(out)));
            let _ = asked.join();
            (answer, said.join().unwrap_or_default())
        });
        let ended = child.wait().is_ok_and(|status| status.success());
        match answer {
            Some(answer) if ended => answer.map_err(self.io("can't read from git in")),
            _ => Err(refused(arguments, &said)),
        }
    }

    /// Reads the contents `ids` in this order. `take` gets `None` for one that is missing.
    pub fn blobs<E: From<GitError>>(
        &self,
        ids: &[&str],
        mut take: impl FnMut(usize, Option<Vec<u8>>) -> Result<(), E>,
    ) -> Result<(), E> {
        if ids.is_empty() {
            return Ok(());
        }
        let asked = format!("{}\n", ids.join("\n"));
        let mut taken = Ok(());
        let read = self.converse(&["cat-file", "--batch"], asked.as_bytes(), |mut out| {
            for index in 0..ids.len() {
                taken = take(index, next_blob(&mut out)?);
                if taken.is_err() {
                    break;
                }
            }
            Ok(())
        });
        taken.and(read.map_err(E::from))
    }

    pub(super) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let own = VARIABLES.iter();
        let own = own.filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new("git");
        command
            .arg("--no-pager")
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]))
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(own)
            .env("PATH", search_path(Some(&self.folder)))
            .envs([
                ("LC_ALL", "C"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_OPTIONAL_LOCKS", "0"),
                // Don't fetch missing objects of a partial clone now.
                ("GIT_NO_LAZY_FETCH", "1"),
            ])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The same error means that the program or the folder is missing.
    fn cannot_start(&self, error: io::Error) -> GitError {
        if error.kind() == io::ErrorKind::NotFound && self.folder.is_dir() {
            return GitError::Missing;
        }
        self.io("can't run git in")(error)
    }

    fn io(&self, what: &'static str) -> impl FnOnce(io::Error) -> GitError {
        let folder = self.folder.clone();
        move |error| GitError::Io {
            what,
            folder,
            error,
        }
    }
}

/// One answer: `ID blob SIZE`, the bytes and a line end; or `ID missing`.
fn next_blob(out: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    out.read_line(&mut line)?;
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, kind, size] = fields[..] else {
        return Ok(None);
    };
    let mut bytes = vec![0; size.parse::<usize>().map_err(io::Error::other)? + 1];
    out.read_exact(&mut bytes)?;
    bytes.pop();
    Ok((kind == "blob").then_some(bytes))
}

/// Returns the name of the hook that the setting `key` is about.
fn hook(key: &[u8]) -> Option<&[u8]> {
    let key = key.strip_prefix(b"hook.")?;
    let end = key.iter().rposition(|byte| *byte == b'.')?;
    Some(&key[..end])
}

fn refused<S: AsRef<OsStr>>(arguments: &[S], said: &[u8]) -> GitError {
    let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    let words: Vec<_> = words.take_while(|word| !word.starts_with('-')).collect();
    let text = String::from_utf8_lossy(said);
    let text = text.trim();
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    GitError::Refused {
        command: words.join(" "),
        text: text.strip_prefix("fatal: ").unwrap_or(text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_from_settings_are_disabled() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::within(folder.path());
        git.run(&["init", "-q"]).unwrap();
        let hooks = ["lint", "a b.c=d", "post-checkout"];
        for (name, key) in [
            (hooks[0], "command"),
            (hooks[0], "event"),
            (hooks[1], "event"),
            (hooks[2], "enabled"),
        ] {
            let key = format!("hook.{name}.{key}");
            git.run(&["config", &key, "true"]).unwrap();
        }
        // A setting for all hooks has no hook name.
        git.run(&["config", "hook.jobs", "2"]).unwrap();
        let git = git.without_hooks().unwrap();
        for name in hooks {
            let key = format!("hook.{name}.enabled");
            let read = git.run(&["config", "--get", &key]).unwrap();
            assert_eq!(read, b"false\n", "{name}");
        }
        assert_eq!(git.variables.len(), 1 + 2 * hooks.len());
    }
}
