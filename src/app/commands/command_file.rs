//! Files of other agents that define slash commands. tiller doesn't run them; a mention sends one.

use std::path::Path;

use super::unknown::word_of;
use crate::agent::git::project_root;
use crate::app::attachments::mention;

/// Where other agents have them, in a project.
const FOLDERS: [&str; 5] = [
    ".claude/commands",
    ".opencode/command",
    ".pi/prompts",
    ".cursor/commands",
    ".codex/prompts",
];

/// What to type instead of a command that another agent has in a file of the project around `cwd`: a
/// mention of the file, and the arguments.
pub(crate) fn instead_of_command(typed: &str, cwd: &Path) -> Option<String> {
    let command = typed.trim().strip_prefix('/')?;
    let word = word_of(command)?;
    // `/frontend:fix` is `frontend/fix.md`, `/project:fix` is `fix.md`.
    let names = [word.replace(':', "/"), word.rsplit(':').next()?.to_owned()];
    let folders = [cwd, project_root(cwd)].into_iter();
    let mut files = folders.flat_map(|folder| FOLDERS.map(|it| folder.join(it)));
    let file = files.find_map(|folder| {
        let mut files = names.iter().map(|name| folder.join(format!("{name}.md")));
        files.find(|file| file.is_file())
    })?;
    let path = file.strip_prefix(cwd).unwrap_or(&file);
    let mention = mention(&path.display().to_string(), "");
    Some(format!("{mention}{}", &command[word.len()..]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_command_file_is_mentioned_with_the_arguments() {
        let dir = tempfile::tempdir().unwrap();
        let commands = dir.path().join(".claude/commands/web");
        fs::create_dir_all(&commands).unwrap();
        fs::write(commands.join("page.md"), "").unwrap();
        fs::write(dir.path().join(".claude/commands/fix.md"), "").unwrap();
        for (typed, expected) in [
            ("/fix 12 now", Some("@.claude/commands/fix.md 12 now")),
            ("/project:fix", Some("@.claude/commands/fix.md")),
            ("/web:page", Some("@.claude/commands/web/page.md")),
            ("/page", None),
            ("/etc/fix", None),
        ] {
            let found = instead_of_command(typed, dir.path());
            assert_eq!(found.as_deref(), expected, "{typed}");
        }
    }
}
