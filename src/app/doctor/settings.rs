//! The files that say how tiller works, and the project it works in.

use std::path::Path;

use super::report::{Check, Section};
use crate::agent::memory::project_root;
use crate::app::humanize::abbreviate_home;
use crate::app::trust::{Trust, Verdict};

/// Whether a file is good: `result` says what is wrong with it, with the line.
pub fn problem(name: &'static str, file: &Path, result: &Result<(), String>) -> Check {
    match result {
        Ok(()) if file.exists() => Check::good(name, "is understood"),
        Ok(()) => Check::good(name, "is not there"),
        Err(why) => Check::bad(name, why, format!("Mend it: {}", file.display())),
    }
}

pub fn left_out(name: &'static str, fault: &str) -> Check {
    Check::hint(
        name,
        format!("its settings were left out: {fault}"),
        "Who works on the project can mend it",
    )
}

/// The working folder: its repository, and whether what it brings along counts.
pub fn project(cwd: &Path, home: Option<&Path>, trust: Option<&Trust>) -> Section {
    let root = project_root(cwd);
    let mut checks = vec![Check::good("folder", abbreviate_home(cwd, home))];
    checks.push(if root.join(".git").exists() {
        Check::good("repository", abbreviate_home(root, home))
    } else {
        Check::good("repository", "not a git repository (no /try)")
    });
    checks.extend(trust.map(|trust| match trust.verdict {
        Verdict::Trusted => Check::good("trust", "trusted: what it brings along counts"),
        Verdict::Denied => Check::good("trust", "not trusted, as you said"),
        Verdict::Unknown => match trust.undecided() {
            None => Check::good("trust", "nothing here needs trust"),
            Some(files) => Check::hint(
                "trust",
                format!("left out until you decide: {files}"),
                "/trust, or --trust for one run",
            ),
        },
    }));
    Section {
        title: "Project",
        checks,
    }
}
