//! The user's decisions about a project: whether to trust it (`projects.toml` next to the settings,
//! or `--trust`), and its permission rules. Only a trusted project's instruction files, settings
//! and system prompt apply, because they steer a program that runs commands.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Table;

use super::commands::COMMAND_FOLDERS;
use super::config::{Layers, add_project_file, set_in_file};
use super::outcome::StartError;
use super::rule_store::{append_project_rules, project_rules};
use crate::agent::git::project_root;
use crate::agent::memory::{
    InstructionSources, PROJECT_FOLDER, SKILL_FOLDERS, SYSTEM_FILES, instruction_files,
};
use crate::agent::permission::Rule;
use crate::llm::read_small::read_small;

/// The table of verdicts in `projects.toml`. A repository's verdict covers everything in it.
const TABLE: &str = "trust";
const SETTINGS: &str = "config.toml";
/// Files in a project that may have hooks.
pub const PROJECT_HOOKS: [&str; 4] = [
    ".tiller/hooks.json",
    CLAUDE_SETTINGS,
    ".claude/settings.local.json",
    ".codex/hooks.json",
];
const CLAUDE_SETTINGS: &str = ".claude/settings.json";
const TRUSTED: &str = "trusted";
const DENIED: &str = "denied";

/// The user's verdict on a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Trusted,
    Denied,
    /// Undecided; treated like not trusted.
    Unknown,
}

/// A project and whether the user trusts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    file: PathBuf,
    /// The repository, or else the working folder.
    root: PathBuf,
    cwd: PathBuf,
    /// Files that apply only if it is trusted.
    brings: Vec<String>,
    pub verdict: Verdict,
    /// The user's permission rules for this project.
    pub rules: Vec<Rule>,
}

impl Trust {
    /// Reads the verdict on the project around `cwd` from `file`.
    pub fn load(file: &Path, cwd: &Path) -> Result<Self, StartError> {
        let root = project_root(cwd);
        let fault = |what: String| StartError::usage(format!("{}: {what}", file.display()));
        let text = match read_small(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(fault(error.to_string())),
        };
        let verdict = verdict(&text, root, is_repository).map_err(fault)?;
        let rules = project_rules(&text, root).map_err(fault)?;
        Ok(Self {
            file: file.to_owned(),
            root: root.to_owned(),
            cwd: cwd.to_owned(),
            brings: brings(root, cwd),
            verdict,
            rules,
        })
    }

    /// True if the project's files apply.
    pub fn is_trusted(&self) -> bool {
        self.verdict == Verdict::Trusted
    }

    pub fn add_settings(&self, layers: &mut Layers) {
        if self.is_trusted() {
            add_project_file(layers, &Self::settings_file(&self.cwd), &self.root);
        }
    }

    /// True if the project has a settings file that tiller ignores.
    pub fn ignores_settings(&self) -> bool {
        !self.is_trusted() && Self::settings_file(&self.cwd).is_file()
    }

    /// The settings file of the project around `cwd`.
    pub fn settings_file(cwd: &Path) -> PathBuf {
        project_root(cwd).join(PROJECT_FOLDER).join(SETTINGS)
    }

    /// The sources of instruction files, with or without trust.
    pub fn sources(&self, trusted: bool) -> InstructionSources {
        InstructionSources {
            user: self.file.parent().map(Path::to_path_buf),
            home: std::env::home_dir(),
            project: trusted,
        }
    }

    /// The same project with this verdict, read again from disk.
    pub fn with_verdict(&self, trusted: bool) -> Self {
        let verdict = if trusted {
            Verdict::Trusted
        } else {
            Verdict::Denied
        };
        Self {
            brings: brings(&self.root, &self.cwd),
            verdict,
            ..self.clone()
        }
    }

    /// Saves the verdict for later runs; returns a message.
    pub fn keep(&self) -> Result<String, String> {
        let root = self.root.to_str().ok_or_else(|| {
            format!(
                "can't save trust for {}: its name isn't UTF-8",
                self.root.display()
            )
        })?;
        let trusted = self.is_trusted();
        let too_wide =
            self.root == Path::new("/") || std::env::home_dir().as_ref() == Some(&self.root);
        if trusted && too_wide {
            return Err(format!(
                "{root} holds more than one project; trust the project's own folder instead"
            ));
        }
        let verdict = if trusted { TRUSTED } else { DENIED };
        set_in_file(&self.file, TABLE, root, verdict)?;
        if !trusted {
            return Ok(format!("{root} is not trusted; /trust to change that"));
        }
        let prompts = SYSTEM_FILES.map(|name| format!("{PROJECT_FOLDER}/{name}"));
        let (prompts, others): (Vec<&str>, Vec<&str>) = (self.brings.iter())
            .map(String::as_str)
            .partition(|path| prompts.iter().any(|prompt| prompt == path));
        let mut text = format!("{root} is trusted");
        text.push_str(if is_repository(&self.root) {
            ", with everything in it, including other repositories"
        } else {
            ", but not its subfolders: it isn't a git repository"
        });
        for (when, what) in [
            ("From your next message on", others),
            ("In new sessions", prompts),
        ] {
            if !what.is_empty() {
                let _ = write!(text, "\n{when}: {}", what.join(", "));
            }
        }
        if has_foreign_permissions(&self.root) {
            let _ = write!(
                text,
                "\n{CLAUDE_SETTINGS}: its permissions don't apply here; see `tiller docs \
                 coming-from#your-permission-lists`"
            );
        }
        Ok(text)
    }

    /// Saves permission rules for later runs in this project; returns the file.
    pub fn keep_rules(&self, rules: &[Rule]) -> Result<&Path, String> {
        append_project_rules(&self.file, &self.root, rules)?;
        Ok(&self.file)
    }

    /// The files that tiller ignores until the user decides, if any.
    pub fn undecided(&self) -> Option<String> {
        let undecided = self.verdict == Verdict::Unknown && !self.brings.is_empty();
        undecided.then(|| self.brings.join(", "))
    }
}

/// Whether Claude Code's settings in this folder have permissions, which the user may rely on.
fn has_foreign_permissions(root: &Path) -> bool {
    has_key(&root.join(CLAUDE_SETTINGS), "permissions")
}

/// The files of Claude Code in `home` that the user may rely on and that don't count here.
pub fn unread_files(home: &Path) -> Option<String> {
    let rules =
        has_foreign_permissions(home).then(|| format!("permissions in ~/{CLAUDE_SETTINGS}"));
    let instructions = home.join(".claude/CLAUDE.md").exists();
    let instructions = instructions.then(|| "~/.claude/CLAUDE.md".to_owned());
    let unread: Vec<String> = rules.into_iter().chain(instructions).collect();
    (!unread.is_empty()).then(|| unread.join(" and "))
}

fn has_key(file: &Path, key: &str) -> bool {
    let settings = read_small(file).ok();
    let settings = settings.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    settings.is_some_and(|settings| settings.get(key).is_some())
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists()
}

/// The verdict on `root` in `text`, from its nearest listed ancestor. A verdict on a folder that
/// isn't a repository covers only that folder, because its subfolders are other projects.
fn verdict(
    text: &str,
    root: &Path,
    is_repository: impl Fn(&Path) -> bool,
) -> Result<Verdict, String> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| format!("it is not valid TOML:\n{error}"))?;
    let Some(folders) = table.get(TABLE) else {
        return Ok(Verdict::Unknown);
    };
    let folders = (folders.as_table()).ok_or_else(|| format!("[{TABLE}] is not a table"))?;
    let said = root.ancestors().find_map(|folder| {
        let value = folders.get(folder.to_str()?)?;
        let reaches = folder == root || value.as_str() != Some(TRUSTED) || is_repository(folder);
        reaches.then_some((folder, value))
    });
    match said {
        None => Ok(Verdict::Unknown),
        Some((_, value)) if value.as_str() == Some(TRUSTED) => Ok(Verdict::Trusted),
        Some((_, value)) if value.as_str() == Some(DENIED) => Ok(Verdict::Denied),
        Some((folder, value)) => Err(format!(
            "{} = {value}: expected \"{TRUSTED}\" or \"{DENIED}\"",
            folder.display()
        )),
    }
}

fn brings(root: &Path, cwd: &Path) -> Vec<String> {
    let mut folders: Vec<_> = (cwd.ancestors())
        .take_while(|folder| folder.starts_with(root))
        .collect();
    folders.reverse();
    let files = folders.into_iter().flat_map(|folder| {
        let names = instruction_files(folder).into_iter();
        names.map(move |name| {
            let path = folder.join(name);
            let shown = path.strip_prefix(root).unwrap_or(&path);
            shown.display().to_string()
        })
    });
    let own = [SETTINGS].into_iter().chain(SYSTEM_FILES);
    let own = own.map(|name| Path::new(PROJECT_FOLDER).join(name));
    let own = own.filter(|path| root.join(path).is_file());
    let commands = COMMAND_FOLDERS.iter().map(|&(name, _)| name.to_owned());
    let skills = SKILL_FOLDERS.iter().map(|&name| name.to_owned());
    let skills = commands
        .chain(skills)
        .filter(|name| root.join(name).is_dir());
    let hooks = PROJECT_HOOKS.iter().map(|&name| name.to_owned());
    let hooks = hooks.filter(|name| has_key(&root.join(name), "hooks"));
    files
        .chain(own.map(|path| path.display().to_string()))
        .chain(skills)
        .chain(hooks)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_decides() {
        let text = "[trust]\n\"/w\" = \"trusted\"\n\"/w/bad\" = \"denied\"\n\"/w/odd\" = \"perhaps\"\n\"/home\" = \"trusted\"\n";
        let verdict = |text: &str, root: &Path| verdict(text, root, |it| it == Path::new("/w"));
        for (root, expected) in [
            ("/w", Ok(Verdict::Trusted)),
            ("/w/a/b", Ok(Verdict::Trusted)),
            ("/w/bad/c", Ok(Verdict::Denied)),
            ("/home", Ok(Verdict::Trusted)),
            ("/home/evil", Ok(Verdict::Unknown)),
            ("/wide", Ok(Verdict::Unknown)),
            ("/", Ok(Verdict::Unknown)),
        ] {
            assert_eq!(verdict(text, Path::new(root)), expected, "{root}");
        }
        for (text, root, expected) in [
            (text, "/w/odd", "expected \"trusted\" or \"denied\""),
            ("trust = 3", "/w", "not a table"),
            ("[", "/w", "not valid TOML"),
        ] {
            let error = verdict(text, Path::new(root)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(verdict("", Path::new("/w")), Ok(Verdict::Unknown));
    }

    #[test]
    fn trust_names_settings_of_claude_code_that_do_not_apply() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".claude")).unwrap();
        let file = dir.path().join("projects.toml");
        for (text, expected) in [
            (r#"{"model": "x"}"#, None),
            (
                r#"{"permissions": {}, "hooks": {}}"#,
                Some("its permissions don't apply here"),
            ),
            (
                r#"{"hooks": {}}"#,
                Some("From your next message on: .claude/settings.json"),
            ),
        ] {
            std::fs::write(dir.path().join(CLAUDE_SETTINGS), text).unwrap();
            let trust = Trust::load(&file, dir.path()).unwrap();
            let told = trust.with_verdict(true).keep().unwrap();
            assert_eq!(told.contains(CLAUDE_SETTINGS), expected.is_some(), "{told}");
            assert!(told.contains(expected.unwrap_or_default()), "{told}");
        }
    }

    #[test]
    fn only_what_brings_something_along_is_undecided() {
        let dir = tempfile::tempdir().unwrap();
        let (file, cwd) = (dir.path().join("projects.toml"), dir.path().join("p/a"));
        std::fs::create_dir_all(&cwd).unwrap();
        std::fs::create_dir_all(dir.path().join("p/.git")).unwrap();
        let trust = || Trust::load(&file, &cwd).unwrap();
        assert_eq!(trust().undecided(), None);
        std::fs::write(dir.path().join("p/AGENTS.md"), "").unwrap();
        std::fs::write(cwd.join("GEMINI.md"), "").unwrap();
        assert_eq!(
            trust().undecided().as_deref(),
            Some("AGENTS.md, a/GEMINI.md")
        );
        for (trusted, verdict) in [(true, Verdict::Trusted), (false, Verdict::Denied)] {
            trust().with_verdict(trusted).keep().unwrap();
            assert_eq!(trust().verdict, verdict);
            assert_eq!(trust().undecided(), None);
        }
    }
}
