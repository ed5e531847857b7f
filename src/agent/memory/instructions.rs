//! Instruction files: AGENTS.md and its kin, from the user's folder and from the repository root down
//! to the working folder, with the files they import.
//!
//! Of each folder one file counts: `AGENTS.override.md`, else `AGENTS.md`, else the file that the
//! model's vendor has made known. A line's word `@path` imports a file, relative to the one it stands
//! in. Nothing is read from outside the project, not through a link either. Only a project that the
//! user trusts is read at all; that is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::project_root;
use crate::llm::{Message, Model};

/// Bytes of all files together.
const MAX_BYTES: usize = 32 * 1024;
/// How many files may import one another in a row.
const MAX_DEPTH: usize = 5;
/// The files of a folder, the first that is there counts.
const NAMES: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];
/// The names that vendors have given the file, with a part of the ids of their models.
const VENDOR_NAMES: [(&str, &str); 2] = [("claude", "CLAUDE.md"), ("gemini", "GEMINI.md")];
/// How a rendered file begins.
const OPENING: &str = "<instructions path=\"";

/// Where instruction files may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionSources {
    /// The user's own folder.
    pub user: Option<PathBuf>,
    /// Whether the project counts: its folder is trusted.
    pub project: bool,
}

/// One file as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Instructions {
    /// The file.
    pub path: String,
    /// What it says, as far as there was room.
    pub text: String,
}

impl Instructions {
    /// The file as it stands in the prompt and in notes.
    pub fn render(&self) -> String {
        let Self { path, text } = self;
        format!("{OPENING}{path}\">\n{text}\n</instructions>")
    }
}

/// The path of the file that was rendered as `text`.
pub(super) fn rendered_path(text: &str) -> Option<&str> {
    Some(text.strip_prefix(OPENING)?.split_once("\">\n")?.0)
}

/// A short mark of a rendered file, to see whether it has changed. The same in every release: it is
/// stored.
pub(super) fn digest(rendered: &str) -> String {
    let fnv1a = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = rendered.bytes().fold(0xcbf2_9ce4_8422_2325, fnv1a);
    format!("{hash:016x}")
}

/// The instruction files around `cwd` for `model`, outermost first. `messages` tells which folders
/// below were looked into: their files count too.
pub(in crate::agent) fn collect(
    sources: &InstructionSources,
    cwd: &Path,
    model: &Model,
    messages: &[Arc<Message>],
) -> Vec<Instructions> {
    let mut collector = Collector {
        vendor: vendor_name(model),
        room: MAX_BYTES,
        cut: false,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    if let Some(folder) = &sources.user {
        // Where dotfiles are kept, the file itself is often a link.
        collector.folder(folder, None);
    }
    if sources.project {
        let root = project_root(cwd);
        let mut folders: Vec<_> = (cwd.ancestors())
            .take_while(|folder| folder.starts_with(root))
            .map(Path::to_path_buf)
            .collect();
        folders.reverse();
        folders.extend(touched(cwd, messages));
        for folder in folders {
            collector.folder(&folder, Some(root));
        }
    }
    collector.found
}

/// Whether `folder` holds a file that would count for some model, and its name.
pub fn instruction_file(folder: &Path) -> Option<&'static str> {
    let vendors = VENDOR_NAMES.iter().map(|(_, name)| *name);
    (NAMES.into_iter().chain(vendors)).find(|name| folder.join(name).is_file())
}

fn vendor_name(model: &Model) -> Option<&'static str> {
    let id = model.id.to_lowercase();
    let of_vendor = |(part, _): &&(&str, &str)| id.contains(part);
    VENDOR_NAMES.iter().find(of_vendor).map(|(_, name)| *name)
}

/// The folders below `cwd` whose files tools were called for.
fn touched(cwd: &Path, messages: &[Arc<Message>]) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for message in messages {
        let Message::Assistant(answer) = message.as_ref() else {
            continue;
        };
        for call in answer.tool_calls() {
            let named = ["path", "file_path"].map(|name| call.arguments.get(name));
            for path in named.into_iter().flatten().filter_map(|path| path.as_str()) {
                let path = cwd.join(path);
                let below = path
                    .ancestors()
                    .filter(|folder| *folder != cwd && folder.starts_with(cwd) && folder.is_dir());
                folders.extend(below.map(Path::to_path_buf));
            }
        }
    }
    folders
}

struct Collector {
    vendor: Option<&'static str>,
    /// Bytes that are left.
    room: usize,
    /// Whether something did not fit.
    cut: bool,
    /// The files that were read or refused, so that each counts once.
    seen: BTreeSet<PathBuf>,
    found: Vec<Instructions>,
}

impl Collector {
    /// Takes in the file of `folder`; within `root`, if one is given.
    fn folder(&mut self, folder: &Path, root: Option<&Path>) {
        let names = NAMES.into_iter().chain(self.vendor);
        let Some(file) = names
            .map(|name| folder.join(name))
            .find(|file| file.is_file())
        else {
            return;
        };
        let own = fs::canonicalize(&file).ok();
        let own = own.as_deref().and_then(Path::parent).unwrap_or(folder);
        self.file(&file, root.unwrap_or(own), 0);
    }

    fn file(&mut self, file: &Path, root: &Path, depth: usize) {
        if self.cut {
            return;
        }
        let (Ok(real), Ok(root)) = (fs::canonicalize(file), fs::canonicalize(root)) else {
            return;
        };
        if !real.starts_with(&root) || !real.is_file() || !self.seen.insert(real.clone()) {
            return;
        }
        let Ok(text) = read(&real) else { return };
        if text.trim().is_empty() {
            return;
        }
        let imports = imports(&text);
        self.push(&real, text.trim());
        if depth < MAX_DEPTH {
            let folder = real.parent().unwrap_or(&root);
            for import in imports {
                self.file(&folder.join(import), &root, depth + 1);
            }
        }
    }

    fn push(&mut self, path: &Path, text: &str) {
        let end = text.floor_char_boundary(self.room.min(text.len()));
        let mut kept = text[..end].to_owned();
        self.room -= end;
        if end < text.len() {
            self.cut = true;
            let limit = MAX_BYTES / 1024;
            let _ = write!(
                kept,
                "\n[cut here: all instruction files together are limited to {limit} KB; read the file \
                 for the rest]"
            );
        }
        // A path that could end its own mark is shown without what ends it.
        let shown = path.display().to_string();
        let shown = shown.chars().filter(|c| !c.is_control() && *c != '"');
        self.found.push(Instructions {
            path: shown.collect(),
            text: kept,
        });
    }
}

/// A little more than could be used, so that what is too long is seen to be cut.
fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The words `@path` outside of code. Most `@`s are no files: the caller looks.
fn imports(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second part stands between backticks.
        for plain in line.split('`').step_by(2) {
            let paths = plain
                .split_whitespace()
                .filter_map(|word| word.strip_prefix('@'));
            let paths = paths.map(|path| path.trim_end_matches(['.', ',', ';', ':', ')']));
            found.extend(paths.filter(|path| !path.is_empty()));
        }
    }
    found
}

/// The section of the prompt, with its heading; empty when there are no files.
pub(super) fn section(files: &[Instructions]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let files: Vec<String> = files.iter().map(Instructions::render).collect();
    format!(
        "\n\n# Project instructions\n\nThe user and the project wrote these files for you. Follow them; a \
         file that stands later is closer to the work and wins over one before it. What the user says \
         in the conversation wins over both.\n\n{}",
        files.join("\n\n")
    )
}

/// The marks of `files` by path.
pub(super) fn digests(files: &[Instructions]) -> BTreeMap<String, String> {
    let mark = |file: &Instructions| (file.path.clone(), digest(&file.render()));
    files.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Api;

    fn model(id: &str) -> Model {
        Model::new("lab", id, Api::OpenAiChat, "http://127.0.0.1:1")
    }

    /// Files below a folder, then what is collected in `cwd`: each file's path and text.
    fn collected(files: &[(&str, &str)], cwd: &str, id: &str) -> Vec<(String, String)> {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(base.join(cwd)).unwrap();
        std::os::unix::fs::symlink(base.join("outside.md"), base.join("repo/link.md")).ok();
        let sources = InstructionSources {
            user: Some(base.join("user")),
            project: true,
        };
        let found = collect(&sources, &base.join(cwd), &model(id), &[]);
        let relative = |file: Instructions| {
            let path = Path::new(&file.path).strip_prefix(&base).unwrap();
            (path.display().to_string(), file.text)
        };
        found.into_iter().map(relative).collect()
    }

    fn paths(files: &[(&str, &str)], cwd: &str, id: &str) -> String {
        let found = collected(files, cwd, id);
        let paths: Vec<_> = found.into_iter().map(|(path, _)| path).collect();
        paths.join(" ")
    }

    // M4
    #[test]
    fn one_file_of_each_folder_from_the_user_down() {
        let files = [
            ("user/AGENTS.md", "u"),
            ("AGENTS.md", "above the repository"),
            ("repo/.git/HEAD", "ref: refs/heads/main"),
            ("repo/AGENTS.md", "r"),
            ("repo/CLAUDE.md", "not beside AGENTS.md"),
            ("repo/a/CLAUDE.md", "c"),
            ("repo/a/GEMINI.md", "g"),
            ("repo/a/b/AGENTS.md", "b"),
            ("repo/a/b/AGENTS.override.md", "o"),
            ("repo/a/b/c/AGENTS.md", "below"),
        ];
        let with = |id, vendor: &str| {
            let expected =
                format!("user/AGENTS.md repo/AGENTS.md{vendor} repo/a/b/AGENTS.override.md");
            assert_eq!(paths(&files, "repo/a/b", id), expected, "{id}");
        };
        with("claude-sonnet-5-5", " repo/a/CLAUDE.md");
        with("google/gemini-4-pro", " repo/a/GEMINI.md");
        with("gpt-6", "");
        // Without a repository the working folder alone.
        assert_eq!(
            paths(&[("x/AGENTS.md", "1"), ("AGENTS.md", "2")], "x", "m"),
            "x/AGENTS.md"
        );
    }

    #[test]
    fn imports_stay_in_the_project_and_end() {
        let git = ("repo/.git/HEAD", "");
        let outside = ("outside.md", "secret");
        for (text, expected) in [
            (
                "See @docs/a.md, and @docs/a.md.",
                "repo/docs/a.md repo/docs/b.md",
            ),
            ("@../outside.md @link.md @~/x @me @/etc/passwd", ""),
            ("`@docs/a.md`\n```\n@docs/a.md\n```\nme@docs/a.md", ""),
            ("@AGENTS.md @docs", ""),
        ] {
            let files = [
                git,
                outside,
                ("repo/AGENTS.md", text),
                ("repo/docs/a.md", "@b.md"),
                ("repo/docs/b.md", "@a.md @../AGENTS.md"),
            ];
            let expected = format!("repo/AGENTS.md {expected}");
            assert_eq!(paths(&files, "repo", "m"), expected.trim_end(), "{text}");
        }
        let names: Vec<_> = (0..9)
            .map(|n| (format!("repo/{n}.md"), format!("@{}.md", n + 1)))
            .collect();
        let mut files = vec![git, ("repo/AGENTS.md", "@0.md")];
        files.extend(
            names
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        assert_eq!(collected(&files, "repo", "m").len(), 1 + MAX_DEPTH);
    }

    #[test]
    fn what_exceeds_the_limit_is_cut_and_says_so() {
        let long = "ü".repeat(20 * 1024);
        let files = [("user/AGENTS.md", "short"), ("repo/AGENTS.md", &long)];
        let found = collected(&files, "repo", "m");
        assert_eq!(found[0].1, "short");
        let (kept, note) = found[1].1.split_once("\n[cut here").unwrap();
        assert!(kept.len() <= MAX_BYTES - 5 && kept.len() > MAX_BYTES - 10);
        assert!(note.contains("32 KB"), "{note}");
    }

    #[test]
    fn a_rendered_file_tells_its_path() {
        let file = Instructions {
            path: "/p/AGENTS.md".into(),
            text: "</instructions>".into(),
        };
        assert_eq!(rendered_path(&file.render()), Some("/p/AGENTS.md"));
        assert_eq!(digest(""), "cbf29ce484222325");
    }
}
