//! The settings files, and the project in the working folder.

use std::path::Path;

use super::report::{Check, Section};
use crate::agent::git::project_root;
use crate::app::humanize::abbreviate_home;
use crate::app::trust::{Trust, Verdict};

/// Reports whether a file is valid, or each of its `faults`; they name the line.
pub fn problems(name: &'static str, file: &Path, faults: &[String]) -> Vec<Check> {
    let way_out = format!("Fix it: {}", file.display());
    match faults {
        [] if file.exists() => vec![Check::good(name, "valid")],
        [] => vec![Check::note(name, "not present")],
        faults => (faults.iter())
            .map(|fault| Check::bad(name, fault, &way_out))
            .collect(),
    }
}

/// What tiller can't use in a file with hooks, servers or tools.
pub fn not_used(file: &Path, faults: &[String]) -> Vec<Check> {
    let hint = |fault: &String| {
        let what = format!("{}: {fault}", file.display());
        Check::hint(
            "not used",
            what,
            "Fix it there; /hooks, /mcp and /tools list all of them",
        )
    };
    faults.iter().map(hint).collect()
}

/// Claude Code's permissions, which the user may rely on.
pub fn unread_permissions() -> Check {
    let what = "the permissions in ~/.claude/settings.json don't apply here: \
                tiller docs coming-from#your-permission-lists";
    Check::note("Claude Code", what)
}

pub fn left_out(name: &'static str, fault: &str) -> Check {
    Check::hint(
        name,
        format!("settings ignored: {fault}"),
        "Fix this file in the project, or ask its maintainers to",
    )
}

/// A setting that may not do what the user wants.
pub fn doubtful(why: &str) -> Check {
    Check::hint(
        "folders",
        why,
        "Compare it with your files: tiller config edit",
    )
}

/// The working folder: its repository, and whether the user trusts it.
pub fn project(cwd: &Path, home: Option<&Path>, trust: Option<&Trust>) -> Section {
    let root = project_root(cwd);
    let mut checks = vec![Check::good("folder", abbreviate_home(cwd, home))];
    checks.push(if root.join(".git").exists() {
        Check::good("repository", abbreviate_home(root, home))
    } else {
        Check::note("repository", "not a git repository (no /try)")
    });
    checks.extend(trust.map(|trust| match trust.verdict {
        Verdict::Trusted => {
            Check::good("trust", "trusted: its settings and instructions are in use")
        }
        Verdict::Denied => Check::note("trust", "not trusted (your choice)"),
        Verdict::Unknown => match trust.undecided() {
            None => Check::note("trust", "nothing here needs trust"),
            Some(files) => Check::hint(
                "trust",
                format!("ignored until you decide: {files}"),
                "Type /trust in tiller, or start it once with --trust",
            ),
        },
    }));
    Section {
        title: "Project",
        checks,
    }
}
