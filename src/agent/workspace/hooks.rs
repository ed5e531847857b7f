//! What git's settings tell it to use: a replacement hooks folder, and remotes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::locate::Zone;
use super::places::Workspace;
use crate::git::{Setting, Settings, git_folders, is_git_folder, read_small, text_of};
use crate::hash;
use crate::paths::real;
use crate::word_list::WordList;

/// Returns the folder that `core.hooksPath` names for the working tree at `tree`, as set by the
/// repository, the user or the machine. Doesn't follow included files.
pub(super) fn hooks_folder(tree: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let git = git_folders(tree)?;
    let of_repository = [git.own.join("config.worktree"), git.common.join("config")];
    let of_user = home.into_iter().flat_map(settings_of_user);
    let mut files = of_repository.into_iter().chain(of_user);
    let named = files.find_map(|file| {
        let settings = Settings::read(&read_small(&file)?);
        settings.value("core.hookspath").map(str::to_owned)
    })?;
    Some(match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => tree.join(named).components().collect(),
    })
}

/// A program that git starts for files it checks out or merges, or a hook that comes with them.
pub const FILTER: &str = "a filter";
/// A program that git starts to reach a remote.
pub const TRANSPORT: &str = "a transport";
/// Programs that run files of their working folder, or their arguments.
const INTERPRETERS: WordList = WordList(
    "ash awk bash bun busybox cargo command csh dash deno doas ed env eval exec expect find fish gawk go java \
     julia just ksh lua m4 make mawk nawk nice node nodejs nohup npm npx perl php pipenv pnpm poetry pwsh \
     python ruby sed setsid sh source stdbuf sudo tclsh test time timeout uv uvx xargs yarn zsh",
);
/// Options of ssh without a value that start nothing.
const SSH_OPTIONS: WordList = WordList("-4 -6 -A -C -T -a -q -v -x");
/// Settings that `-o` may change.
const SSH_SETTINGS: WordList = WordList(
    "addkeystoagent batchmode connecttimeout identitiesonly identityfile serveralivecountmax \
     serveraliveinterval stricthostkeychecking userknownhostsfile",
);
/// Variables that name a program, and the git setting with the same effect.
const VARIABLES: [(&str, &str, &str); 5] = [
    ("GIT_SSH_COMMAND", "core", "sshcommand"),
    ("GIT_SSH", "core", "askpass"),
    ("GIT_ASKPASS", "core", "askpass"),
    ("SSH_ASKPASS", "core", "askpass"),
    ("GIT_PROXY_COMMAND", "core", "askpass"),
];

/// The user's and the machine's git settings files, highest priority first.
fn settings_of_user(home: &Path) -> impl Iterator<Item = PathBuf> {
    let file = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let own = [".gitconfig", ".config/git/config"].map(|name| home.join(name));
    let moved = file("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let own = own
        .into_iter()
        .chain(moved.map(|folder| folder.join("git/config")));
    let of_machine = file("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    let only = file("GIT_CONFIG_GLOBAL");
    let own = own.filter(|_| only.is_none()).collect::<Vec<_>>();
    let all = only.into_iter().chain(own).chain([of_machine]);
    all.filter(|path| path != Path::new("/dev/null"))
}

/// Programs that git starts because of environment variables.
fn settings_of_environment() -> impl Iterator<Item = Setting> {
    VARIABLES.iter().filter_map(|(variable, section, key)| {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
        Some(Setting::new(section, key, &value.to_string_lossy()))
    })
}

/// A repository's remotes, and what git would run to reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitRemotes {
    /// The names of the remotes that have an address.
    pub names: Vec<String>,
    /// The default remote to fetch from.
    pub fetches_from: Option<String>,
    /// The default remote to push to.
    pub pushes_to: Option<String>,
    /// The SHA-256, in hexadecimal, of all settings of the repository except branch settings. They
    /// determine where a remote is and how git reaches it.
    pub fingerprint: String,
    /// The existing hooks, and [`FILTER`] or [`TRANSPORT`] if the settings name a program that
    /// sandboxed commands may have written.
    pub hooks: Vec<String>,
    /// `true` if it has submodules, which have their own settings.
    pub has_modules: bool,
}

impl Workspace {
    /// Returns the remotes of the repository that git finds in `folder`, a real path. `None` if it
    /// isn't one of the workspace's own, or can't be understood.
    pub fn remotes(&self, folder: &Path) -> Option<GitRemotes> {
        let mut above = folder.ancestors();
        let has_git = |folder: &&Path| {
            folder.join(".git").symlink_metadata().is_ok() || is_git_folder(folder)
        };
        let tree = above.find(has_git)?;
        let git = git_folders(tree)?;
        let is_ours = self.projects().iter().any(|root| root == tree);
        if !is_ours || !git.belong_to(tree) {
            return None;
        }
        if [&git.own, &git.common]
            .iter()
            .any(|git| writes_elsewhere(git))
        {
            return None;
        }
        let mut settings = Settings::read(&read_small(&git.common.join("config"))?);
        let of_tree = git.own.join("config.worktree");
        if of_tree.symlink_metadata().is_ok() {
            let of_tree = Settings::read(&read_small(&of_tree)?);
            settings.whole &= of_tree.whole;
            settings.all.extend(of_tree.all);
        }
        let includes = |one: &Setting| one.name().starts_with("include");
        if !settings.whole || settings.all.iter().any(includes) {
            return None;
        }
        let fixed = settings
            .all
            .iter()
            .filter(|one| !one.name().starts_with("branch."));
        let fingerprint = hash::of_bytes(text_of(fixed).as_bytes());
        let names = settings.remotes().map(|(name, _)| name.to_owned());
        let mut names: Vec<String> = names.collect();
        names.dedup();
        let head = read_small(&git.own.join("HEAD"))?;
        let branch = head
            .trim_end()
            .strip_prefix("ref: refs/heads/")
            .unwrap_or_default();
        let value = |name: &str| settings.value(name).map(str::to_owned);
        let of_branch = |key: &str| value(&format!("branch.{branch}.{key}"));
        let only = if let [only] = names.as_slice() {
            only.as_str()
        } else {
            "origin"
        };
        let fetches_from = of_branch("remote").unwrap_or_else(|| only.to_owned());
        let pushes_to = of_branch("pushremote").or_else(|| value("remote.pushdefault"));
        let folder = hooks_folder(tree, self.home()).unwrap_or_else(|| git.common.join("hooks"));
        let hooks = fs::read_dir(&folder).into_iter().flatten().flatten();
        let hooks = hooks.filter_map(|entry| entry.file_name().into_string().ok());
        let hooks = hooks.filter(|name| runs_something(&folder, name));
        let all = self.settings_of_user()?.into_iter().chain(settings.all);
        let all: Vec<Setting> = all.chain(settings_of_environment()).collect();
        let programs = all.iter().filter_map(|one| self.program(one));
        // Hooks in the working tree come with what is pulled, and run at once.
        let [place, common] =
            [&folder, &git.common].map(|it| real(it).unwrap_or_else(|_| it.clone()));
        let is_pulled = place.starts_with(tree) && !place.starts_with(common);
        let programs = programs.chain(is_pulled.then_some(FILTER));
        Some(GitRemotes {
            pushes_to: Some(pushes_to.unwrap_or_else(|| fetches_from.clone())),
            fetches_from: Some(fetches_from),
            fingerprint,
            hooks: hooks.chain(programs.map(str::to_owned)).collect(),
            has_modules: tree.join(".gitmodules").exists() || git.common.join("modules").exists(),
            names,
        })
    }

    /// Returns the user's own git settings, with everything they include. `None` if they may redirect
    /// git to another remote or repository than the project's settings do.
    fn settings_of_user(&self) -> Option<Vec<Setting>> {
        let mut all = Vec::new();
        // Variables that contain settings.
        let more = ["GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"];
        // Variables that redirect git to another repository.
        let elsewhere = ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"];
        let mut variables = more.into_iter().chain(elsewhere);
        let home = self.home().unwrap_or(Path::new("/"));
        let redirects = variables.any(|name| std::env::var_os(name).is_some())
            || settings_of_user(home).any(|file| self.redirects_git(&file, home, 0, &mut all));
        (!redirects).then_some(all)
    }

    /// Returns `true` if a file, or one that it includes under any condition, redirects git. Collects
    /// their settings in `all`.
    fn redirects_git(
        &self,
        file: &Path,
        home: &Path,
        depth: usize,
        all: &mut Vec<Setting>,
    ) -> bool {
        let is_included = depth > 0;
        let place = file.canonicalize();
        // A missing file may appear any moment.
        let shown = place.as_deref().unwrap_or(file);
        let is_open = || is_included || self.zone(shown) == Zone::Inside;
        if self.is_written(shown) && is_open() {
            return true;
        }
        if place.is_err() {
            return false;
        }
        let settings = read_small(file).map(|text| Settings::read(&text));
        let Some(settings) = settings.filter(|it| it.whole && depth < MAX_INCLUDES) else {
            return true;
        };
        settings.all.into_iter().any(|one| {
            let name = one.name();
            if name.starts_with("include") && name.rsplit('.').next() == Some("path") {
                let path = one.value.as_deref().unwrap_or_default();
                let included = match path.strip_prefix("~/") {
                    Some(rest) => home.join(rest),
                    // Only git knows what `~NAME` and `%(prefix)` mean.
                    None if path.starts_with(['~', '%']) => return true,
                    None => file.parent().unwrap_or(file).join(path),
                };
                return self.redirects_git(&included, home, depth + 1, all);
            }
            let redirects = name == "remote.pushdefault"
                || name.starts_with("submodule.")
                || name.ends_with(".recursesubmodules")
                || is_included && name == "core.hookspath";
            all.push(one);
            redirects
        })
    }

    /// Returns `true` if all remotes of the repository are folders on this machine, or there are
    /// none. Git then fetches from them without a network.
    pub fn has_local_remotes(&self) -> bool {
        let git = git_folders(&self.roots()[0]);
        let text = git.and_then(|git| read_small(&git.common.join("config")));
        let settings = Settings::read(&text.unwrap_or_default());
        settings.whole
            && settings
                .remotes()
                .all(|(_, url)| url.starts_with(['/', '.']) || url.starts_with("file://"))
    }
}

/// The kind of program that a setting has git start.
fn kind_of(setting: &Setting) -> Option<&'static str> {
    let name = setting.name();
    let key = name.rsplit('.').next().unwrap_or_default();
    let of = |section: &str| name.starts_with(section);
    match key {
        "clean" | "smudge" | "process" if of("filter.") => Some(FILTER),
        "driver" if of("merge.") => Some(FILTER),
        "fsmonitor" if of("core.") => Some(FILTER),
        "program" | "defaultkeycommand" if of("gpg.") => Some(TRANSPORT),
        "sshcommand" | "askpass" | "gitproxy" | "alternaterefscommand" if of("core.") => {
            Some(TRANSPORT)
        }
        "command" if of("hook.") => Some(TRANSPORT),
        "recentobjectshook" if of("gc.") => Some(TRANSPORT),
        "path" if of("lfs.customtransfer.") => Some(TRANSPORT),
        "helper" if of("credential.") => Some(TRANSPORT),
        "uploadpack" | "receivepack" | "vcs" if of("remote.") => Some(TRANSPORT),
        _ => None,
    }
}

impl Workspace {
    /// The kind of program that a setting has git start, if it may run a file that a command has written.
    fn program(&self, setting: &Setting) -> Option<&'static str> {
        let kind = kind_of(setting)?;
        let value = setting.value.as_deref().unwrap_or("true").trim();
        let line = value.strip_prefix('!').unwrap_or(value).replace("$@", "");
        // A space that is part of a path, as in Windows paths.
        let line = line.replace("\\ ", "\u{1}");
        // Git starts these two without a shell.
        let is_path = setting.name().ends_with(".askpass") || setting.name().ends_with(".program");
        let line = if is_path {
            line.replace(' ', "\u{1}")
        } else {
            line
        };
        let mut words = line.split_whitespace();
        let program = words.next().unwrap_or_default().replace('\u{1}', " ");
        let plain =
            |c: char| c.is_alphanumeric() || "_-./~%@:=,+\u{1}".contains(c) || c.is_whitespace();
        let path = match (program.strip_prefix("~/"), self.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(&program),
        };
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let names_file = words.clone().any(|word| {
            let word = word.rsplit('=').next().unwrap_or_default();
            let word = word.replace('\u{1}', " ");
            let place = match (word.strip_prefix("~/"), self.home()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => self.roots()[0].join(&word),
            };
            let is_written = || real(&place).map_or(true, |it| self.is_written(&it));
            place.is_file() && is_written()
        });
        let is_of_others = if path.is_absolute() {
            real(&path).is_ok_and(|path| !self.is_written(&path))
        } else {
            !program.contains('/') && !self.written_on_path(&program)
        };
        let is_plain_ssh = || {
            let mut options = words.clone();
            while let Some(option) = options.next() {
                let is_fine = match option {
                    "-F" => matches!(options.next(), Some("/dev/null" | "none")),
                    "-i" | "-p" => options.next().is_some(),
                    _ => option.strip_prefix("-o").map_or_else(
                        || SSH_OPTIONS.contains(option),
                        |set| {
                            let set = Some(set).filter(|set| !set.is_empty());
                            let set = set.or_else(|| options.next()).unwrap_or_default();
                            let name = set.split('=').next().unwrap_or_default();
                            SSH_SETTINGS.contains(&name.to_ascii_lowercase())
                        },
                    ),
                };
                if !is_fine {
                    return false;
                }
            }
            true
        };
        let is_safe = matches!(line.as_str(), "" | "true" | "false")
            || line.chars().all(plain)
                && is_of_others
                && !names_file
                && !INTERPRETERS.contains(name)
                && (name != "ssh" || is_plain_ssh());
        (!is_safe).then_some(kind)
    }

    /// Returns `true` if `PATH` may lead to a program with this name that a command has written.
    fn written_on_path(&self, name: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Relative entries are resolved where git starts it.
        let folders = std::env::split_paths(&path).map(|folder| self.roots()[0].join(folder));
        let is_written = |path: &Path| real(path).is_ok_and(|it| self.is_written(&it));
        let found = folders
            .map(|folder| folder.join(name))
            .find(|it| it.exists());
        found.is_some_and(|it| is_written(&it) || it.parent().is_some_and(is_written))
    }
}

/// Returns `true` if git would run something for the hook `name` in `folder`. husky keeps a file for
/// every hook in `.husky/_`, which only starts the one in `.husky`.
fn runs_something(folder: &Path, name: &str) -> bool {
    let of_husky = folder.parent().filter(|_| folder.ends_with(".husky/_"));
    let mode = fs::metadata(folder.join(name)).map(|it| it.permissions().mode());
    let is_program = mode.is_ok_and(|mode| mode & 0o111 != 0);
    let starts = of_husky.is_none_or(|husky| husky.join(name).exists());
    is_program && !name.contains('.') && starts && !is_of_lfs(&folder.join(name))
}

/// Returns `true` if it is the hook that `git lfs install` creates.
fn is_of_lfs(hook: &Path) -> bool {
    let text = read_small(hook).unwrap_or_default();
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let name = hook.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let call = format!("git lfs {name} \"$@\"");
    text.contains(&call)
        && lines.all(|line| {
            let looks = "command -v git-lfs >/dev/null 2>&1 || { ";
            let is_look = line.starts_with(looks) && line.ends_with("exit 2; }");
            line.starts_with('#') || is_look || line == call
        })
}

/// Longest chain of includes, the same as git's limit.
const MAX_INCLUDES: usize = 10;
/// Most entries of a git folder that are examined.
const MAX_ENTRIES: usize = 20_000;

/// Returns `true` if git, writing in its folder, could follow a link to elsewhere, or if the folder holds
/// too much to tell.
fn writes_elsewhere(git: &Path) -> bool {
    let mut left = MAX_ENTRIES;
    let mut has = |name: &&str, deep| has_link(&git.join(name), deep, &mut left);
    ["", "objects", "objects/pack", "objects/info"]
        .iter()
        .any(|name| has(name, false))
        || ["logs", "refs"].iter().any(|name| has(name, true))
}

/// Returns `true` if `folder` contains a link, with `deep` at any depth.
fn has_link(folder: &Path, deep: bool, left: &mut usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        *left = left.saturating_sub(1);
        let is_folder = match entry.file_type() {
            Ok(kind) if !kind.is_symlink() && *left > 0 => kind.is_dir(),
            _ => return true,
        };
        if deep && is_folder && has_link(&entry.path(), deep, left) {
            return true;
        }
    }
    false
}
