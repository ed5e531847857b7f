//! Finds instruction files (AGENTS.md and similar) with their imports. It looks in the user's
//! folder or else at Claude Code's, and from the repository root down to the working folder.
//!
//! In each folder it takes `AGENTS.override.md` or else `AGENTS.md`, then the file named by the
//! model's vendor if it says something else. If there are none, it takes another vendor's. It
//! includes folders below the working folder once a tool has read in them. A word `@path` imports a
//! file, relative to the importing one; see `imports`. It reads nothing outside the project, not
//! even through a link, and nothing that may contain secrets. The caller decides whether the project
//! is trusted; an untrusted one isn't read.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::imports::{imports, is_secret};
use super::instructions::{Instructions, read_text, shown};
use super::skills::{skill_folders, skill_lists};
use crate::git::project_root;
use tiller_llm::Model;

/// Most bytes of all files together.
const MAX_BYTES: usize = 32 * 1024;
/// Maximum depth of imports.
const MAX_DEPTH: usize = 5;
/// A folder's own instruction files; the first that exists wins.
const NAMES: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];
/// Vendors' file names, each with a part of their model ids.
const VENDOR_NAMES: [(&str, &str); 2] = [("claude", "CLAUDE.md"), ("gemini", "GEMINI.md")];
const INNER: &str = ".claude/CLAUDE.md";
/// Vendors' file names, and `None` for models without one.
const VENDOR_FILES: [Option<&str>; 3] = [None, Some(VENDOR_NAMES[0].1), Some(VENDOR_NAMES[1].1)];
/// Why a file is left out.
const OUTSIDE: &str = "it is outside the project";
const SECRET: &str = "it may hold secrets";
const MISSING: &str = "it doesn't exist";

/// Where instruction files may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionSources {
    /// The user's own folder.
    pub user: Option<PathBuf>,
    /// The user's home, which has [skills](super::Skill).
    pub home: Option<PathBuf>,
    /// Whether to read the project, because its folder is trusted.
    pub project: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    /// The files, outermost first.
    pub files: Vec<Instructions>,
    /// Files left out, with reasons.
    pub refused: Vec<String>,
}

/// Collects the instruction files around `cwd` and in `folders`, where tools have read. One list
/// for each vendor's file name, and one without.
pub(super) fn collect(
    sources: &InstructionSources,
    cwd: &Path,
    folders: &BTreeSet<PathBuf>,
) -> Vec<(Option<&'static str>, Collected)> {
    let look = |folder: &Path| (folder.to_owned(), instruction_files(folder));
    let own = sources.user.as_deref().map(look);
    let own = own.filter(|(_, files)| !files.is_empty());
    let user = own.or_else(|| Some((sources.home.clone()?, vec![INNER])));
    let root = sources.project.then(|| project_root(cwd));
    let scope = root.and_then(|root| fs::canonicalize(root).ok());
    let mut project = Vec::new();
    if let (Some(root), Some(_)) = (root, &scope) {
        let around = cwd.ancestors().take_while(|it| it.starts_with(root));
        project.extend(around.map(look));
        project.reverse();
        project.extend(folders.iter().map(|it| look(it)));
    }
    let trusted = scope.is_some().then_some(cwd);
    let skills = skill_lists(&skill_folders(sources.home.as_deref(), trusted));
    let of_vendor = |vendor| {
        let mut collector = Collector {
            vendor,
            home: std::env::home_dir(),
            own: sources.user.as_deref(),
            room: MAX_BYTES,
            seen: BTreeSet::new(),
            found: Collected::default(),
        };
        if let Some(user) = &user {
            collector.user_folder(user);
        }
        for folder in &project {
            for file in collector.files_of(folder) {
                collector.add(&file, scope.as_slice());
            }
        }
        collector.found.files.extend(skills.iter().cloned());
        (vendor, collector.found)
    };
    VENDOR_FILES.map(of_vendor).into()
}

/// The files in `folder` that some model reads.
pub fn instruction_files(folder: &Path) -> Vec<&'static str> {
    let vendors = VENDOR_NAMES.iter().map(|(_, name)| *name);
    let names = NAMES.into_iter().chain(vendors).chain([INNER]);
    let mut found: Vec<&str> = names.filter(|name| folder.join(name).is_file()).collect();
    let has_outer = found.contains(&VENDOR_NAMES[0].1);
    found.retain(|name| *name != INNER || !has_outer);
    found
}

/// The vendor's file name for `model`.
pub(super) fn vendor_file(model: &Model) -> Option<&'static str> {
    let id = model.id.to_lowercase();
    let of_vendor = |(part, _): &&(&str, &str)| id.contains(part);
    VENDOR_NAMES.iter().find(of_vendor).map(|(_, name)| *name)
}

/// A folder and its file names that some model reads.
type Looked = (PathBuf, Vec<&'static str>);

struct Collector<'a> {
    vendor: Option<&'static str>,
    home: Option<PathBuf>,
    /// The user's own folder, which contains keys.
    own: Option<&'a Path>,
    /// Bytes left.
    room: usize,
    /// Files already read, so that none appears twice.
    seen: BTreeSet<PathBuf>,
    found: Collected,
}

impl Collector<'_> {
    /// Adds the files in the user's own folder. They may be links, as is common for dotfiles, and
    /// may import any file of the user.
    fn user_folder(&mut self, folder: &Looked) {
        for file in self.files_of(folder) {
            let real = fs::canonicalize(&file);
            let beside = real.iter().filter_map(|real| real.parent());
            let home = self.home.iter().filter_map(|it| fs::canonicalize(it).ok());
            let scope: Vec<PathBuf> = beside.map(Path::to_path_buf).chain(home).collect();
            self.add(&file, &scope);
        }
    }

    /// The files in `folder` that the model reads.
    fn files_of(&self, (folder, found): &Looked) -> Vec<PathBuf> {
        let there = |name: &&str| found.contains(name);
        let own = NAMES.into_iter().find(there);
        let inner = (self.vendor == Some(VENDOR_NAMES[0].1)).then_some(INNER);
        let vendor = self.vendor.filter(there).or(inner.filter(there));
        // A project may have them for another agent only.
        let names = own.into_iter().chain(vendor).chain(found.first().copied());
        let most = 1 + usize::from(own.is_some() && vendor.is_some());
        names.take(most).map(|name| folder.join(name)).collect()
    }

    fn add(&mut self, file: &Path, scope: &[PathBuf]) {
        let Ok(real) = fs::canonicalize(file) else {
            return;
        };
        if !scope.iter().any(|folder| real.starts_with(folder)) {
            self.refuse(file, OUTSIDE);
        } else if real.file_name() != file.file_name() && self.is_secret(&real) {
            // A link.
            self.refuse(file, SECRET);
        } else {
            self.file(&real, scope, 0);
        }
    }

    /// Adds the file at `real` and its imports.
    fn file(&mut self, real: &Path, scope: &[PathBuf], depth: usize) {
        if !self.seen.insert(real.to_path_buf()) {
            return;
        }
        let text = match read_text(real, MAX_BYTES) {
            Ok(text) => text,
            Err(reason) => return self.refuse(real, &reason),
        };
        let text = text.trim();
        if text.is_empty() || self.repeats(text) {
            return;
        }
        let folder = real.parent().unwrap_or(real);
        let mut taken = Vec::new();
        let mut left_out = String::new();
        for import in imports(text) {
            match self.judge(folder, import, scope, depth) {
                Ok(path) => taken.extend(path),
                Err(reason) => {
                    let _ = write!(left_out, "\n[not loaded: @{import}: {reason}]");
                    let path = match import.strip_prefix("~/") {
                        Some(_) => PathBuf::from(format!("@{import}")),
                        None => folder.join(import),
                    };
                    self.refuse(&path, reason);
                }
            }
        }
        self.push(real, text, &left_out);
        for path in taken {
            self.file(&path, scope, depth + 1);
        }
    }

    /// Resolves an import in a file of `folder` that names a file, or says why it is left out.
    fn judge(
        &self,
        folder: &Path,
        import: &str,
        scope: &[PathBuf],
        depth: usize,
    ) -> Result<Option<PathBuf>, &'static str> {
        let path = match (import.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => folder.join(import),
        };
        let real = match fs::canonicalize(&path) {
            Ok(real) if real.is_file() => real,
            // Projects name files in home folders that only some users have.
            Err(_) if path.extension() == Some("md".as_ref()) && !import.starts_with("~/") => {
                return Err(MISSING);
            }
            _ => return Ok(None),
        };
        if self.seen.contains(&real) {
            return Ok(None);
        }
        if !scope.iter().any(|folder| real.starts_with(folder)) {
            return Err(OUTSIDE);
        }
        if is_secret(&path) || self.is_secret(&real) {
            return Err(SECRET);
        }
        if depth == MAX_DEPTH {
            return Err("imports are nested too deeply");
        }
        Ok(Some(real))
    }

    fn is_secret(&self, real: &Path) -> bool {
        let own = self.own.and_then(|folder| fs::canonicalize(folder).ok());
        let own = own.is_some_and(|folder| real.starts_with(folder));
        own && real.extension() != Some("md".as_ref()) || is_secret(real)
    }

    /// True if an earlier file says the same. Often one is a copy for another vendor's models.
    fn repeats(&self, text: &str) -> bool {
        self.found.files.iter().any(|file| file.text == text)
    }

    fn refuse(&mut self, path: &Path, reason: &str) {
        (self.found.refused).push(format!("{}: {reason}", shown(path)));
    }

    fn push(&mut self, path: &Path, text: &str, left_out: &str) {
        let end = text.floor_char_boundary(self.room.min(text.len()));
        let mut kept = text[..end].to_owned();
        if end < text.len() {
            // No room left, not even for a short file.
            self.room = 0;
            if !kept.is_empty() {
                kept.push('\n');
            }
            let limit = MAX_BYTES / 1024;
            let _ = write!(
                kept,
                "[cut here: instruction files may have {limit} KB in total; read the file for the rest]"
            );
        } else {
            self.room -= end;
        }
        kept.push_str(left_out);
        self.found.files.push(Instructions {
            path: shown(path),
            text: kept,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiller_llm::Api;

    fn model(id: &str) -> Model {
        Model::new("lab", id, Api::OpenAiChat, "http://127.0.0.1:1")
    }

    /// Files below a folder, then what is collected in `cwd` when a tool has looked into
    /// `repo/below`: each file's path and text, and what was refused.
    fn collected(files: &[(&str, &str)], cwd: &str, id: &str) -> (Vec<(String, String)>, String) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(base.join(cwd)).unwrap();
        std::os::unix::fs::symlink(base.join("outside.md"), base.join("repo/link.md")).ok();
        std::os::unix::fs::symlink(base.join("repo/.env"), base.join("repo/plain.md")).ok();
        let sources = InstructionSources {
            home: Some(base.join("home")),
            user: Some(base.join("user")),
            project: true,
        };
        let below = BTreeSet::from([base.join("repo/below")]);
        let vendor = vendor_file(&model(id));
        let found = collect(&sources, &base.join(cwd), &below);
        let found = found
            .into_iter()
            .find(|(name, _)| *name == vendor)
            .unwrap()
            .1;
        let relative = |file: Instructions| {
            let path = Path::new(&file.path).strip_prefix(&base).unwrap();
            (path.display().to_string(), file.text)
        };
        let refused = found.refused.join("\n").replace(base.to_str().unwrap(), "");
        (found.files.into_iter().map(relative).collect(), refused)
    }

    fn paths(files: &[(&str, &str)], cwd: &str, id: &str) -> String {
        let (found, _) = collected(files, cwd, id);
        let paths: Vec<_> = found.into_iter().map(|(path, _)| path).collect();
        paths.join(" ")
    }

    #[test]
    fn the_files_of_each_folder_from_the_user_down() {
        let files = [
            ("user/AGENTS.md", "u"),
            ("AGENTS.md", "above the repository"),
            ("repo/.git/HEAD", "ref: refs/heads/main"),
            ("repo/AGENTS.md", "r"),
            ("repo/CLAUDE.md", "beside AGENTS.md"),
            ("repo/GEMINI.md", "r"),
            ("repo/a/CLAUDE.md", "c"),
            ("repo/a/GEMINI.md", "@../AGENTS.md"),
            ("repo/a/.claude/CLAUDE.md", "beside CLAUDE.md"),
            ("repo/a/b/AGENTS.md", "b"),
            ("repo/a/b/AGENTS.override.md", "o"),
            ("repo/a/b/c/AGENTS.md", "not looked into"),
            ("repo/below/AGENTS.md", "looked into"),
        ];
        for (id, vendor) in [
            ("claude-sonnet-5-5", " repo/CLAUDE.md repo/a/CLAUDE.md"),
            // The one at the root says what AGENTS.md says.
            ("google/gemini-4-pro", " repo/a/GEMINI.md"),
            ("gpt-6", " repo/a/CLAUDE.md"),
        ] {
            let expected = format!(
                "user/AGENTS.md repo/AGENTS.md{vendor} repo/a/b/AGENTS.override.md \
                 repo/below/AGENTS.md"
            );
            assert_eq!(paths(&files, "repo/a/b", id), expected, "{id}");
        }
        let inner = [("repo/.git/HEAD", ""), ("repo/.claude/CLAUDE.md", "i")];
        for id in ["claude-sonnet-5-5", "gpt-6"] {
            assert_eq!(paths(&inner, "repo", id), "repo/.claude/CLAUDE.md", "{id}");
        }
        let home = [("user/AGENTS.md", "u"), ("home/.claude/CLAUDE.md", "h")];
        assert_eq!(paths(&home, "x", "gpt-6"), "user/AGENTS.md");
        assert_eq!(paths(&home[1..], "x", "m"), "home/.claude/CLAUDE.md");
        // Without a repository the working folder alone.
        assert_eq!(
            paths(&[("x/AGENTS.md", "1"), ("AGENTS.md", "2")], "x", "m"),
            "x/AGENTS.md"
        );
    }

    #[test]
    fn imports_stay_in_the_project_and_end() {
        let (outside, secret) = ("it is outside the project", "it may hold secrets");
        for (text, expected, refused) in [
            (
                "See @docs/a.md, and @docs/a.md.",
                "repo/docs/a.md repo/docs/b.md",
                Vec::new(),
            ),
            ("@../outside.md", "", vec![("/repo/../outside.md", outside)]),
            ("@link.md", "", vec![("/repo/link.md", outside)]),
            ("@/etc/passwd", "", vec![("/etc/passwd", outside)]),
            ("@.env", "", vec![("/repo/.env", secret)]),
            ("@plain.md", "", vec![("/repo/plain.md", secret)]),
            (
                "@~/nothing.md @me @types/node @docs @AGENTS.md",
                "",
                Vec::new(),
            ),
            (
                "@docs/gone.md",
                "",
                vec![("/repo/docs/gone.md", "it doesn't exist")],
            ),
            (
                "`@docs/a.md`\n```\n@docs/a.md\n```\nme@docs/a.md",
                "",
                Vec::new(),
            ),
            (
                "@picture.png",
                "",
                vec![("/repo/picture.png", "it isn't text")],
            ),
        ] {
            let files = [
                ("repo/.git/HEAD", ""),
                ("outside.md", "secret"),
                ("repo/.env", "KEY=secret"),
                ("repo/AGENTS.md", text),
                ("repo/docs/a.md", "@b.md"),
                ("repo/docs/b.md", "@a.md @../AGENTS.md"),
                ("repo/picture.png", "\0"),
            ];
            let expected = format!("repo/AGENTS.md {expected}");
            assert_eq!(paths(&files, "repo", "m"), expected.trim_end(), "{text}");
            let (found, told) = collected(&files, "repo", "m");
            let lines = refused
                .iter()
                .map(|(path, reason)| format!("{path}: {reason}"));
            assert_eq!(told, lines.collect::<Vec<_>>().join("\n"), "{text}");
            for (_, reason) in refused
                .iter()
                .filter(|(_, reason)| *reason != "it isn't text")
            {
                let note = format!("\n[not loaded: {text}: {reason}]");
                assert!(found[0].1.ends_with(&note), "{found:?}");
            }
        }
    }

    #[test]
    fn a_file_that_is_a_link_to_a_secret_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap();
        fs::create_dir(cwd.join(".git")).unwrap();
        let sources = InstructionSources {
            home: None,
            user: None,
            project: true,
        };
        for (secret, refused) in [(".env", true), (".git/config", true), ("README.md", false)] {
            fs::write(cwd.join(secret), "token").unwrap();
            std::os::unix::fs::symlink(secret, cwd.join("AGENTS.md")).unwrap();
            let found = collect(&sources, &cwd, &BTreeSet::new()).remove(0).1;
            assert_eq!(found.files.is_empty(), refused, "{secret}");
            assert_eq!(!found.refused.is_empty(), refused, "{secret}");
            fs::remove_file(cwd.join("AGENTS.md")).unwrap();
        }
    }

    #[test]
    fn what_the_user_wrote_imports_from_beside_it_but_no_keys() {
        let files = [
            ("user/AGENTS.md", "@style.md @auth.toml @../outside.md"),
            ("user/style.md", "Be brief."),
            ("user/auth.toml", "key"),
            ("outside.md", ""),
        ];
        assert_eq!(paths(&files, "x", "m"), "user/AGENTS.md user/style.md");
        let (_, refused) = collected(&files, "x", "m");
        assert_eq!(
            refused,
            "/user/auth.toml: it may hold secrets\n/user/../outside.md: it is outside the project"
        );
    }

    #[test]
    fn a_chain_of_imports_ends() {
        let names: Vec<_> = (0..9)
            .map(|n| (format!("repo/{n}.md"), format!("@{}.md", n + 1)))
            .collect();
        let mut files = vec![("repo/.git/HEAD", ""), ("repo/AGENTS.md", "@0.md")];
        let names = names.iter();
        files.extend(names.map(|(path, text)| (path.as_str(), text.as_str())));
        let (found, refused) = collected(&files, "repo", "m");
        assert_eq!(found.len(), 1 + MAX_DEPTH);
        assert_eq!(refused, "/repo/5.md: imports are nested too deeply");
    }

    #[test]
    fn what_exceeds_the_limit_is_cut_and_says_so() {
        let long = "ü".repeat(20 * 1024);
        let files = [
            ("user/AGENTS.md", "short"),
            ("repo/AGENTS.md", &long),
            ("repo/below/AGENTS.md", "no room"),
        ];
        let (found, _) = collected(&files, "repo", "m");
        assert_eq!(found[0].1, "short");
        let (kept, note) = found[1].1.split_once("\n[cut here").unwrap();
        assert!(kept.len() <= MAX_BYTES - 5 && kept.len() > MAX_BYTES - 10);
        assert!(note.contains("32 KB"), "{note}");
        assert!(found[2].1.starts_with("[cut here"), "{found:?}");
    }
}
