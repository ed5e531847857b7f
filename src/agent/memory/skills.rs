//! Skills: folders with a `SKILL.md` that holds instructions for one kind of task. The model gets their
//! names and descriptions; it reads the file when a task fits. The form is that of
//! <https://agentskills.io/specification>.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::imports::is_secret;
use super::instructions::{Instructions, shown};
use crate::git::project_root;
use tiller_llm::read_small::open_plain;

/// Folders with skills, in a home folder and in a project.
pub const SKILL_FOLDERS: [&str; 3] = [".agents/skills", ".claude/skills", ".codex/skills"];

/// The file of a skill.
const FILE: &str = "SKILL.md";

/// Most bytes of a file in which its front matter is looked for.
const HEAD: u64 = 8 * 1024;

/// Most characters of a description, as the specification has it.
const MAX_DESCRIPTION: usize = 1024;

/// Most skills of a folder.
const MAX_SKILLS: usize = 200;

/// Most bytes of all lists together.
const MAX_BYTES: usize = 16 * 1024;

const INTRODUCTION: &str = "Skills: instructions for special tasks. When the task fits a description, read the skill's file \
     before you begin, and follow it. Paths in it are relative to its folder.";

/// The keys and values before the text of a Markdown file, between lines of `---`. Knows the part of YAML that
/// people use there: plain and quoted values, and values on indented lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter(Vec<(String, String)>);

impl FrontMatter {
    /// Splits a file into its front matter, which may be empty, and its text.
    pub fn split(text: &str) -> (Self, &str) {
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = text.split_inclusive('\n');
        if lines.next().map(str::trim_end) != Some("---") {
            return (Self::default(), text);
        }
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut at = text.find('\n').map_or(text.len(), |at| at + 1);
        for line in lines {
            at += line.len();
            if line.trim_end() == "---" {
                let unquoted = |(key, value): (String, String)| (key, unquoted(value.trim()));
                let fields = fields.into_iter().map(unquoted).collect();
                return (Self(fields), text[at..].trim_start_matches(['\r', '\n']));
            }
            let is_indented = line.starts_with([' ', '\t']);
            match (line.split_once(':'), fields.last_mut()) {
                (_, Some((_, value))) if is_indented => {
                    value.push(' ');
                    value.push_str(line.trim());
                }
                (Some((key, value)), _) => {
                    // `>` and `|` announce a value on the next lines.
                    let value = value.trim().trim_start_matches(['>', '|', '-']);
                    fields.push((key.trim().to_owned(), value.to_owned()));
                }
                _ => {}
            }
        }
        // Without an end, it is text.
        (Self::default(), text)
    }

    /// The value of `key`, if it isn't empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let found = fields
            .find(|(name, _)| name == key)
            .map(|(_, value)| &**value);
        found.filter(|value| !value.is_empty())
    }
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        let inner = value
            .strip_prefix(quote)
            .and_then(|it| it.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner.to_owned();
        }
    }
    value.to_owned()
}

/// A skill that the model may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The name of its folder.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// Whether only the user may call it.
    pub by_user_only: bool,
}

/// A folder that may hold skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolder {
    /// Its real path.
    pub path: PathBuf,
    /// The project that it belongs to; `None` if it is the user's own.
    pub project: Option<PathBuf>,
}

/// The real path of a command's or skill's file. The user's own may be a link, as is common for dotfiles; one
/// of `project` must not lead out of it.
///
/// # Errors
/// Returns why its text must not reach the model, or why it can't be found.
pub fn real_file(path: &Path, project: Option<&Path>) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    if let Some(project) = project
        && !real.starts_with(fs::canonicalize(project)?)
    {
        return Err(io::Error::other("it is outside the project"));
    }
    if path.is_symlink() && is_secret(&real) {
        return Err(io::Error::other("it may hold secrets"));
    }
    Ok(real)
}

/// The skills in `folder`, by name. Folders without a readable `SKILL.md` are none.
pub fn skills_in(folder: &SkillFolder) -> Vec<Skill> {
    let entries = fs::read_dir(&folder.path).into_iter().flatten().flatten();
    let skills = entries.filter_map(|entry| {
        let file = entry.path().join(FILE);
        let mut bytes = Vec::new();
        let real = real_file(&file, folder.project.as_deref()).ok()?;
        open_plain(&real)
            .ok()?
            .take(HEAD)
            .read_to_end(&mut bytes)
            .ok()?;
        let head = String::from_utf8_lossy(&bytes);
        let (front, text) = FrontMatter::split(&head);
        let described = front.get("description").map(str::to_owned).or_else(|| {
            let first = text.lines().map(str::trim).find(|line| !line.is_empty());
            first.map(|line| line.trim_start_matches('#').trim().to_owned())
        })?;
        let when = front.get("when_to_use").map(|when| format!(" {when}"));
        let described = format!("{described}{}", when.unwrap_or_default());
        Some(Skill {
            name: entry.file_name().into_string().ok()?,
            description: described.chars().take(MAX_DESCRIPTION).collect(),
            file,
            by_user_only: front.get("disable-model-invocation") == Some("true"),
        })
    });
    let mut skills: Vec<Skill> = skills.take(MAX_SKILLS).collect();
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills
}

/// The folders that may hold skills: the user's, then those of the project around `cwd`, if it is trusted.
pub fn skill_folders(home: Option<&Path>, project: Option<&Path>) -> Vec<SkillFolder> {
    let root = project.map(project_root);
    let below = project.filter(|cwd| Some(*cwd) != root);
    let of_project = [root, below].into_iter().flatten();
    let places = home.into_iter().map(|home| (home, None));
    let places = places.chain(of_project.map(|place| (place, root)));
    let mut folders: Vec<SkillFolder> = Vec::new();
    for (place, project) in places {
        for folder in SKILL_FOLDERS.map(|name| place.join(name)) {
            let path = fs::canonicalize(&folder).unwrap_or(folder);
            // One may be a link to another.
            if path.is_dir() && folders.iter().all(|it| it.path != path) {
                let project = project.map(Path::to_path_buf);
                folders.push(SkillFolder { path, project });
            }
        }
    }
    folders
}

/// What the model reads about the skills, a list for each folder.
pub(super) fn skill_lists(folders: &[SkillFolder]) -> Vec<Instructions> {
    let (mut lists, mut room) = (Vec::new(), MAX_BYTES);
    for folder in folders {
        let mut text = String::new();
        for skill in skills_in(folder).iter().filter(|skill| !skill.by_user_only) {
            let Skill {
                name, description, ..
            } = skill;
            let line = format!("\n- {name}: {description} ({name}/{FILE})");
            if line.len() > room {
                let _ = write!(text, "\n[more skills in this folder]");
                break;
            }
            room -= line.len();
            text.push_str(&line);
        }
        if !text.is_empty() {
            lists.push(Instructions {
                path: shown(&folder.path),
                text: format!("{INTRODUCTION}{text}"),
            });
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_split_from_the_text() {
        for (text, fields, rest) in [
            (
                "---\nname: a\ndescription: \"x: y\"\n---\n\nBody\n",
                "name=a description=x: y",
                "Body\n",
            ),
            ("---\r\nname: 'b'\r\n---\r\nBody", "name=b", "Body"),
            (
                "---\ndescription: >-\n  one\n  two\nname: c\n---\n",
                "description=one two name=c",
                "",
            ),
            ("---\nname: d\n", "", "---\nname: d\n"),
            ("no front matter\n---\n", "", "no front matter\n---\n"),
        ] {
            let (front, body) = FrontMatter::split(text);
            let shown: Vec<String> = front.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
            assert_eq!((shown.join(" ").as_str(), body), (fields, rest), "{text}");
        }
    }

    #[test]
    fn the_model_gets_names_and_descriptions_and_no_text() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let folder = home.path().join(".claude/skills").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(FILE), text).unwrap();
        };
        write("pdf", "---\ndescription: Fills forms\n---\nSECRET BODY");
        write("bare", "# First line\n\nmore");
        write(
            "hidden",
            "---\ndescription: x\ndisable-model-invocation: true\n---\n",
        );
        fs::create_dir_all(home.path().join(".claude/skills/empty")).unwrap();
        std::os::unix::fs::symlink(home.path().join(".claude"), home.path().join(".agents"))
            .unwrap();
        let folders = skill_folders(Some(home.path()), None);
        let lists = skill_lists(&folders);
        assert_eq!(lists.len(), 1, "{lists:?}");
        let list = lists[0].text.strip_prefix(INTRODUCTION).unwrap();
        assert_eq!(
            list,
            "\n- bare: First line (bare/SKILL.md)\n- pdf: Fills forms (pdf/SKILL.md)"
        );
        let all: Vec<String> = skills_in(&folders[0])
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(all, ["bare", "hidden", "pdf"]);
    }

    #[test]
    fn a_projects_skill_is_no_link_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("netrc/.netrc", "machine x password y");
        write("far/SKILL.md", "Elsewhere");
        write("p/.git/HEAD", "");
        write("p/.agents/skills/near/SKILL.md", "Here");
        let skills = dir.path().join("p/.agents/skills");
        fs::create_dir(skills.join("net")).unwrap();
        for (from, to) in [("net/SKILL.md", "netrc/.netrc"), ("far", "far")] {
            std::os::unix::fs::symlink(dir.path().join(to), skills.join(from)).unwrap();
        }
        let found = |folders: &[SkillFolder]| -> Vec<String> {
            let skills = folders.iter().flat_map(skills_in);
            skills.map(|skill| skill.name).collect()
        };
        let project = dir.path().join("p");
        assert_eq!(found(&skill_folders(None, Some(&project))), ["near"]);
        // The user's own may be a link, but not to a secret.
        let own = found(&skill_folders(Some(&project), None));
        assert_eq!(own, ["far", "near"]);
    }
}
