//! The user's own slash commands: Markdown files that send a prompt, and skills. They are those of other
//! agents, in the folders where these have them. Those of a project are used only once it is trusted.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::arguments::with_arguments;
use super::unknown::word_of;
use crate::agent::git::project_root;
use crate::agent::hooks::FROM_FILE;
use crate::agent::mcp::McpPrompt;
use crate::agent::memory::{FrontMatter, real_file, skill_folders, skills_in};
use crate::app::attachments::typed_text;
use crate::app::dirs::Dirs;
use crate::llm::Content;
use crate::llm::read_small::read_small;

/// Folders with command files, in the home folder and in a project, and whether `$1` is the second argument
/// there.
pub const COMMAND_FOLDERS: [(&str, bool); 6] = [
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

/// A slash command from a file or an MCP server.
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

/// Why the command of a file isn't used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The project that has the command of this name isn't trusted.
    Untrusted(String),
    /// Its file can't be read, for this reason.
    Unreadable(String),
}

impl Unusable {
    /// The message in tiller itself, where the user can type `/trust`.
    pub fn on_screen(&self) -> String {
        match self {
            Self::Untrusted(name) => {
                format!("/{name} is a command of this project: /trust lets it be used")
            }
            Self::Unreadable(why) => why.clone(),
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untrusted(name) => write!(
                f,
                "/{name} is a command of this project, which isn't trusted: add --trust, or type /trust in \
                 tiller once"
            ),
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With the number of the first argument.
    Prompt(usize),
    Skill,
    /// A prompt of an MCP server.
    Server,
}

/// Where the user's slash commands are.
#[derive(Clone, Debug)]
pub struct CustomCommands {
    config: PathBuf,
    home: Option<PathBuf>,
    cwd: PathBuf,
    is_trusted: bool,
}

impl CustomCommands {
    /// Those of the user, and of the project around `cwd` if it is trusted.
    pub fn new(dirs: &Dirs, cwd: &Path, is_trusted: bool) -> Self {
        Self {
            config: dirs.config.clone(),
            home: dirs.home.clone(),
            cwd: cwd.to_owned(),
            is_trusted,
        }
    }

    /// All commands to use, the user's first. Of equal names the first counts. Blocks.
    pub fn list(&self) -> Vec<CustomCommand> {
        let mut names = HashSet::new();
        let usable = self.found().into_iter().filter(|it| self.may_use(it));
        let first = usable.filter(|it| names.insert(it.name.clone()));
        let described = first.filter_map(|mut command| {
            if !command.is_skill() {
                let text = self.read(&command).ok()?;
                command.describe(&text);
            }
            Some(command)
        });
        described.collect()
    }

    /// All commands, the user's first, also those of an untrusted project. Only skills are described.
    fn found(&self) -> Vec<CustomCommand> {
        let root = project_root(&self.cwd);
        let below = (self.cwd != root).then_some(&*self.cwd);
        let places = self.home.iter().map(|home| (&**home, false));
        let places = places.chain([root].into_iter().chain(below).map(|it| (it, true)));
        let own = (self.config.join("prompts"), false, false);
        let folders = places.flat_map(|(place, of_project)| {
            COMMAND_FOLDERS.map(|(name, from_zero)| (place.join(name), from_zero, of_project))
        });
        let mut all = Vec::new();
        for (folder, from_zero, of_project) in [own].into_iter().chain(folders) {
            let mut walk = Walk {
                project: of_project.then_some(root),
                seen: HashSet::new(),
                found: Vec::new(),
            };
            walk.add(&folder, "", 0);
            walk.found.sort();
            all.extend(walk.found.into_iter().map(|(name, file)| CustomCommand {
                name,
                help: String::new(),
                argument: None,
                file,
                of_project,
                kind: Kind::Prompt(usize::from(!from_zero)),
            }));
        }
        for folder in skill_folders(self.home.as_deref(), Some(&self.cwd)) {
            all.extend(skills_in(&folder).into_iter().map(|skill| CustomCommand {
                name: skill.name,
                help: skill.description,
                argument: None,
                file: skill.file,
                of_project: folder.project.is_some(),
                kind: Kind::Skill,
            }));
        }
        all.sort_by_key(|command| command.of_project);
        all
    }

    fn may_use(&self, command: &CustomCommand) -> bool {
        self.is_trusted || !command.of_project
    }

    fn read(&self, command: &CustomCommand) -> Result<String, String> {
        let project = command.of_project.then(|| project_root(&self.cwd));
        let text = real_file(&command.file, project).and_then(|real| read_small(&real));
        text.map_err(|error| format!("can't use {}: {error}", self.shown(command)))
    }

    /// The path of the command's file, relative to the working folder if it lies there.
    fn shown<'a>(&self, command: &'a CustomCommand) -> std::path::Display<'a> {
        let file = &command.file;
        file.strip_prefix(&self.cwd).unwrap_or(file).display()
    }

    /// The prompt for a line such as `/fix 12`, if a file defines that command. Blocks.
    ///
    /// # Errors
    /// Returns why the command isn't used.
    pub fn prompt(&self, typed: &str) -> Result<Option<String>, Unusable> {
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
        let all = self.found();
        let find = |name: &&str| all.iter().find(|it| it.name == **name);
        let usable = |name: &&str| find(name).filter(|it| self.may_use(it));
        let found = names.iter().find_map(usable);
        let Some(found) = found else {
            let untrusted = names.iter().find_map(find);
            return untrusted.map_or(Ok(None), |it| Err(Unusable::Untrusted(it.name.clone())));
        };
        let text = self.read(found).map_err(Unusable::Unreadable)?;
        let body = found.expand(&text, command[word.len()..].trim());
        let file = self.shown(found);
        Ok(Some(as_sent(typed, &file.to_string(), &body)))
    }
}

/// What stands between the typed line and the prompt of a server.
pub(crate) const FROM_SERVER: &str = "\n\n[From MCP server ";

/// The prompt for `typed`, which stands for `body`.
pub(crate) fn as_sent(typed: &str, from: &str, body: &str) -> String {
    let typed = typed.trim();
    format!("{typed}{FROM_FILE}{from}]\n\n{body}")
}

impl CustomCommand {
    /// The command for a prompt of an MCP server.
    pub fn of_server(prompt: McpPrompt) -> Self {
        Self {
            name: prompt.name,
            help: prompt.description,
            argument: prompt.arguments,
            file: format!("<mcp:{}>", prompt.server).into(),
            of_project: false,
            kind: Kind::Server,
        }
    }

    /// Whether it is a skill, which the model may also use by itself.
    pub fn is_skill(&self) -> bool {
        self.kind == Kind::Skill
    }

    /// Fills in what its file says about it.
    fn describe(&mut self, text: &str) {
        let (front, body) = FrontMatter::split(text);
        let line = body.lines().map(str::trim).find(|line| !line.is_empty());
        let help = front.get("description").or(line).unwrap_or_default();
        help.clone_into(&mut self.help);
        self.argument = front.get("argument-hint").map(str::to_owned);
    }

    /// The text of its file, with `arguments`.
    fn expand(&self, text: &str, arguments: &str) -> String {
        let (_, body) = FrontMatter::split(text);
        let first = match self.kind {
            Kind::Prompt(first) => first,
            Kind::Skill | Kind::Server => 0,
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
            body.push_str("\n\nARGUMENTS: ");
            body.push_str(arguments);
        }
        body
    }
}

/// The message as typed, if it was made from a command's file.
pub(super) fn as_typed(content: &[Content]) -> Option<String> {
    let text = typed_text(content);
    let (typed, _) = text.split_once(FROM_FILE)?;
    (typed.starts_with('/') && !typed.contains('\n')).then(|| typed.to_owned())
}

/// Looks for command files in a folder.
struct Walk<'a> {
    /// The project that the folder belongs to, which no link leads out of.
    project: Option<&'a Path>,
    /// The folders looked into: links must not make circles.
    seen: HashSet<PathBuf>,
    /// The files, with their names.
    found: Vec<(String, PathBuf)>,
}

impl Walk<'_> {
    /// Adds the Markdown files below `folder`: `web/page.md` is `web:page`.
    fn add(&mut self, folder: &Path, prefix: &str, depth: usize) {
        let Ok(real) = real_file(folder, self.project) else {
            return;
        };
        if depth > MAX_DEPTH || !self.seen.insert(real) {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Some(stem) = path.file_stem().and_then(|it| it.to_str()) else {
                continue;
            };
            let name = format!("{prefix}{stem}");
            if path.is_dir() {
                self.add(&path, &format!("{name}:"), depth + 1);
            } else if path.extension().is_some_and(|it| it == "md")
                && word_of(&name).is_some_and(|word| word.len() == name.len())
                && self.found.len() < MAX_FILES
            {
                self.found.push((name, path));
            }
        }
    }
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
            is_trusted: true,
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

    #[test]
    fn a_projects_files_are_plain_and_lie_in_it_and_hold_no_secrets() {
        use std::os::unix::fs::symlink;
        let (dir, commands) = commands(&[
            ("work/.git/HEAD", ""),
            ("work/.claude/commands/a.md", "Plain"),
            ("work/.claude/skills/b/SKILL.md", "Plain"),
            ("work/.env", "KEY=1"),
            ("work/text.md", "Linked"),
            ("home/.netrc", "password"),
            ("home/dotfiles/own.md", "Own"),
            ("home/.claude/commands/mine.md", "Mine"),
        ]);
        let at = |path: &str| dir.path().join(path);
        let link = |from: &str, to: &Path| {
            fs::create_dir_all(at(from).parent().unwrap()).unwrap();
            symlink(to, at(from)).unwrap();
        };
        let fifo = |path: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            nix::unistd::mkfifo(&at(path), nix::sys::stat::Mode::S_IRWXU).unwrap();
        };
        fifo("work/.claude/commands/fifo.md");
        fifo("work/.claude/skills/pipe/SKILL.md");
        link("work/.claude/commands/tty.md", Path::new("/dev/tty"));
        link("work/.claude/commands/rel.md", &at("home/.netrc"));
        link("work/.claude/commands/env.md", &at("work/.env"));
        link("work/.claude/commands/in.md", &at("work/text.md"));
        link("work/.claude/commands/out", &at("home/dotfiles"));
        link("work/.claude/commands/again", &at("work/.claude/commands"));
        link("work/.claude/skills/net/SKILL.md", &at("home/.netrc"));
        link(
            "work/.claude/skills/far/SKILL.md",
            &at("home/dotfiles/own.md"),
        );
        link("home/.claude/commands/dot.md", &at("home/dotfiles/own.md"));
        link("home/.claude/commands/key.md", &at("home/.netrc"));
        let listed = commands.list();
        let listed: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(listed, ["dot", "mine", "a", "in", "b"]);
        for (typed, expected) in [
            ("/in", Ok(Some("Linked"))),
            ("/dot", Ok(Some("Own"))),
            ("/fifo", Err("fifo.md: it is not a plain file")),
            ("/tty", Err("tty.md: it is outside the project")),
            ("/rel", Err("rel.md: it is outside the project")),
            ("/env", Err("env.md: it may hold secrets")),
            ("/key", Err("key.md: it may hold secrets")),
            ("/out:own", Ok(None)),
            ("/pipe", Ok(None)),
            ("/net", Ok(None)),
            ("/far", Ok(None)),
        ] {
            let prompt = commands.prompt(typed);
            let fits = match (&prompt, expected) {
                (Ok(Some(prompt)), Ok(Some(end))) => prompt.ends_with(end),
                (Ok(None), Ok(None)) => true,
                (Err(why), Err(end)) => why.to_string().ends_with(end),
                _ => false,
            };
            assert!(fits, "{typed}: {prompt:?}");
        }
    }

    #[test]
    fn commands_of_an_untrusted_project_are_not_used() {
        let (_dir, mut commands) = commands(&[
            ("work/.git/HEAD", ""),
            ("work/.claude/commands/fix.md", "project"),
            ("work/.claude/commands/same.md", "project"),
            ("work/.agents/skills/pdf/SKILL.md", "project"),
            ("home/.claude/skills/same/SKILL.md", "user"),
        ]);
        commands.is_trusted = false;
        let listed = commands.list();
        let listed: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(listed, ["same"]);
        let own = commands.prompt("/same").unwrap().unwrap();
        assert!(own.ends_with("user"), "{own}");
        for (typed, name) in [
            ("/fix 1", "fix"),
            ("/project:fix", "fix"),
            ("/skill:pdf", "pdf"),
        ] {
            let why = commands.prompt(typed).unwrap_err();
            assert_eq!(why, Unusable::Untrusted(name.to_owned()), "{typed}");
        }
        assert_eq!(commands.prompt("/else"), Ok(None));
    }
}
