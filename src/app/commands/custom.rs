//! The user's own slash commands: Markdown files that send a prompt, and skills. They are those of other
//! agents, in the folders where these have them.

use std::fs;
use std::path::{Path, PathBuf};

use super::unknown::word_of;
use crate::agent::git::project_root;
use crate::agent::memory::{FrontMatter, skill_folders, skills_in};
use crate::app::attachments::typed_text;
use crate::app::dirs::Dirs;
use crate::llm::Content;
use crate::llm::read_small::read_small;

/// Folders with command files, in the home folder and in a project, and whether `$1` is the second argument
/// there.
const FOLDERS: [(&str, bool); 6] = [
    (".tiller/prompts", false),
    (".claude/commands", true),
    (".codex/prompts", false),
    (".opencode/command", false),
    (".pi/prompts", false),
    (".cursor/commands", false),
];

/// Deepest folder in which command files are looked for.
const MAX_DEPTH: usize = 3;

/// Most command files.
const MAX_FILES: usize = 500;

/// What users may type before a name.
const PREFIXES: [&str; 4] = ["skill:", "prompts:", "project:", "user:"];

/// Separates the line as typed from the text of the file.
const FROM: &str = "\n\n[From ";

/// A slash command from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub help: String,
    /// What to type behind it.
    pub argument: Option<String>,
    /// Its Markdown file.
    pub file: PathBuf,
    /// Whether that belongs to the project.
    pub of_project: bool,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With the number of the first argument.
    Prompt(usize),
    Skill,
}

/// Where the user's slash commands are.
#[derive(Clone, Debug)]
pub struct CustomCommands {
    config: PathBuf,
    home: Option<PathBuf>,
    cwd: PathBuf,
}

impl CustomCommands {
    /// Those of the user, and of the project around `cwd`.
    pub fn new(dirs: &Dirs, cwd: &Path) -> Self {
        Self {
            config: dirs.config.clone(),
            home: dirs.home.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// All commands, the user's first. Of equal names the first counts. Blocks.
    pub fn list(&self) -> Vec<CustomCommand> {
        let mut all: Vec<CustomCommand> = Vec::new();
        let root = project_root(&self.cwd);
        let mut add = |mut command: CustomCommand| {
            command.of_project = command.file.starts_with(root);
            if !all.iter().any(|it| it.name == command.name) {
                all.push(command);
            }
        };
        let below = (self.cwd != root).then_some(&*self.cwd);
        let places = self.home.as_deref().into_iter().chain([root]).chain(below);
        let folders = places.flat_map(|place| FOLDERS.map(|(name, zero)| (place.join(name), zero)));
        for (folder, from_zero) in [(self.config.join("prompts"), false)]
            .into_iter()
            .chain(folders)
        {
            let mut files = Vec::new();
            command_files(&folder, "", 0, &mut files);
            files.sort();
            for (name, file) in files {
                add(prompt_file(name, file, usize::from(!from_zero)));
            }
        }
        for folder in skill_folders(self.home.as_deref(), Some(&self.cwd)) {
            for skill in skills_in(&folder) {
                add(CustomCommand {
                    name: skill.name,
                    help: skill.description,
                    argument: None,
                    file: skill.file,
                    of_project: false,
                    kind: Kind::Skill,
                });
            }
        }
        all
    }

    /// The prompt for a line such as `/fix 12`, if a file defines that command. Blocks.
    ///
    /// # Errors
    /// Returns why its file can't be read.
    pub fn prompt(&self, typed: &str) -> Result<Option<String>, String> {
        let typed = typed.trim();
        let Some(command) = typed.strip_prefix('/') else {
            return Ok(None);
        };
        let Some(word) = word_of(command) else {
            return Ok(None);
        };
        let names = [Some(word)]
            .into_iter()
            .chain(PREFIXES.map(|it| word.strip_prefix(it)));
        let names: Vec<&str> = names.flatten().collect();
        let all = self.list();
        let mut found = names
            .iter()
            .filter_map(|name| all.iter().find(|it| it.name == *name));
        let Some(found) = found.next() else {
            return Ok(None);
        };
        let text = read_small(&found.file).map_err(|error| error.to_string())?;
        let body = found.expand(&text, command[word.len()..].trim());
        let file = found.file.strip_prefix(&self.cwd).unwrap_or(&found.file);
        Ok(Some(format!("{typed}{FROM}{}]\n\n{body}", file.display())))
    }
}

impl CustomCommand {
    /// Whether it is a skill, which the model may also use by itself.
    pub fn is_skill(&self) -> bool {
        self.kind == Kind::Skill
    }

    /// The text of its file, with `arguments`.
    fn expand(&self, text: &str, arguments: &str) -> String {
        let (_, body) = FrontMatter::split(text);
        let first = match self.kind {
            Kind::Prompt(first) => first,
            Kind::Skill => 0,
        };
        let (mut body, used) = with_arguments(body.trim_end(), arguments, first);
        if self.kind == Kind::Skill {
            let folder = self
                .file
                .parent()
                .unwrap_or(&self.file)
                .display()
                .to_string();
            body = body.replace("${CLAUDE_SKILL_DIR}", &folder);
            body = format!("Base directory for this skill: {folder}\n\n{body}");
        }
        if !used && !arguments.is_empty() {
            body.push_str(&format!("\n\nARGUMENTS: {arguments}"));
        }
        body
    }
}

/// The message as typed, if it was made from a command's file.
pub(super) fn as_typed(content: &[Content]) -> Option<String> {
    let text = typed_text(content);
    let (typed, _) = text.split_once(FROM)?;
    (typed.starts_with('/') && !typed.contains('\n')).then(|| typed.to_owned())
}

/// Adds the Markdown files below `folder`, with their names: `web/page.md` is `web:page`.
fn command_files(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(stem) = path.file_stem().and_then(|it| it.to_str()) else {
            continue;
        };
        let name = format!("{prefix}{stem}");
        if path.is_dir() && depth < MAX_DEPTH {
            command_files(&path, &format!("{name}:"), depth + 1, found);
        } else if path.extension().is_some_and(|it| it == "md")
            && word_of(&name).is_some_and(|word| word.len() == name.len())
            && found.len() < MAX_FILES
        {
            found.push((name, path));
        }
    }
}

fn prompt_file(name: String, file: PathBuf, first: usize) -> CustomCommand {
    let text = read_small(&file).unwrap_or_default();
    let (front, body) = FrontMatter::split(&text);
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    let help = front.get("description").or(line).unwrap_or_default();
    CustomCommand {
        name,
        help: help.to_owned(),
        argument: front.get("argument-hint").map(str::to_owned),
        file,
        of_project: false,
        kind: Kind::Prompt(first),
    }
}

/// Replaces `$ARGUMENTS`, `$@`, `$1` and `$ARGUMENTS[0]` in `body`, in one pass, so that arguments stay as
/// typed. `first` is the number of the first argument. The second value tells whether there was any.
fn with_arguments(body: &str, arguments: &str, first: usize) -> (String, bool) {
    let words = words(arguments);
    let word = |number: usize, first: usize| {
        let at = number.checked_sub(first);
        at.and_then(|at| words.get(at)).map_or("", String::as_str)
    };
    let (mut text, mut used, mut rest) = (String::new(), false, body);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let (value, length) = if let Some(after) = behind.strip_prefix("ARGUMENTS") {
            let index = after.strip_prefix('[').and_then(|it| it.split_once(']'));
            let index = index.and_then(|(index, _)| Some((index.parse().ok()?, index.len() + 2)));
            match index {
                Some((index, length)) => (word(index, 0), "ARGUMENTS".len() + length),
                None => (arguments, "ARGUMENTS".len()),
            }
        } else if behind.starts_with('@') {
            (arguments, 1)
        } else if (1..=2).contains(&digits) {
            let number = behind[..digits].parse().unwrap_or(usize::MAX);
            (word(number, first), digits)
        } else {
            text.push('$');
            rest = behind;
            continue;
        };
        used = true;
        text.push_str(value);
        rest = &behind[length..];
    }
    text.push_str(rest);
    (text, used)
}

/// The words of the arguments. Quotes hold several together.
fn words(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in arguments.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => (quote, begun) = (Some(c), true),
            (c, None) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(files: &[(&str, &str)]) -> (tempfile::TempDir, CustomCommands) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let commands = CustomCommands {
            config: dir.path().join("config"),
            home: Some(dir.path().join("home")),
            cwd: dir.path().join("work"),
        };
        (dir, commands)
    }

    #[test]
    fn a_command_of_a_file_sends_its_text_with_the_arguments() {
        let (_dir, commands) = commands(&[
            ("work/.git/HEAD", ""),
            (
                "work/.claude/commands/fix.md",
                "---\ndescription: Fix it\n---\nFix $0, then $1. All: $ARGUMENTS\n",
            ),
            ("work/.claude/commands/web/page.md", "Page"),
            (
                "config/prompts/plain.md",
                "Do $1 for $2; it costs $5.20 or $ 3\n",
            ),
            ("home/.claude/commands/same.md", "user"),
            ("work/.claude/commands/same.md", "project"),
            (
                "work/.agents/skills/pdf/SKILL.md",
                "---\ndescription: Forms\n---\nIn ${CLAUDE_SKILL_DIR}: $0",
            ),
        ]);
        let body = |typed: &str| {
            let prompt = commands.prompt(typed).unwrap()?;
            assert_eq!(
                as_typed(&[Content::text(prompt.clone())]).as_deref(),
                Some(typed.trim())
            );
            Some(prompt.split_once("]\n\n").unwrap().1.to_owned())
        };
        for (typed, expected) in [
            ("/fix 12 'b c'", Some("Fix 12, then b c. All: 12 'b c'")),
            ("/project:fix $1", Some("Fix $1, then . All: $1")),
            ("/web:page", Some("Page")),
            ("/web:page now", Some("Page\n\nARGUMENTS: now")),
            ("/plain a b", Some("Do a for b; it costs .20 or $ 3")),
            ("/same", Some("user")),
            ("/page", None),
            ("/etc/fix", None),
            ("fix", None),
        ] {
            assert_eq!(body(typed).as_deref(), expected, "{typed}");
        }
        let skill = body("/skill:pdf form").unwrap();
        assert!(
            skill.starts_with("Base directory for this skill: /"),
            "{skill}"
        );
        assert!(skill.ends_with("/pdf: form"), "{skill}");
        assert_eq!(body("/pdf form"), Some(skill));
        let listed = commands.list();
        let listed: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(listed, ["plain", "same", "fix", "web:page", "pdf"]);
    }
}
