//! tiller's folders: permissions, free space, and the size of the undo data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use rustix::fs::statvfs;

use super::report::{Check, Section};
use crate::app::dirs::{Dirs, unwritable};
use crate::app::humanize::{abbreviate_home, bytes};
use crate::app::outcome::StartError;

/// Below this, tiller can't be relied on to store anything.
const NEEDED: u64 = 50_000_000;
/// Below this, tiller suggests freeing some space.
const COMFORTABLE: u64 = 1_000_000_000;

pub fn folders(dirs: &Dirs, named_config: Result<(), StartError>) -> Section {
    let home = dirs.home.as_deref();
    let mut settings = None;
    if let Err(error) = named_config {
        let (what, way_out) = error
            .message
            .split_once(". ")
            .unwrap_or((&error.message, ""));
        settings = Some(Check::hint("settings", what.to_owned(), way_out.to_owned()));
    }
    let named = [
        ("settings", dirs.config.clone(), "TILLER_CONFIG_DIR"),
        ("data", dirs.data.clone(), "TILLER_DATA_DIR"),
        ("sessions", dirs.sessions(), "TILLER_DATA_DIR"),
        ("log", dirs.log(), "XDG_STATE_HOME"),
    ];
    let rest = named.get(usize::from(settings.is_some())..);
    let rest = rest.unwrap_or_default();
    let mut checks: Vec<Check> = settings.into_iter().collect();
    checks.extend(writable(rest, home, unwritable));
    let auth = dirs.auth_file();
    if let Ok(meta) = fs::metadata(&auth) {
        let mode = meta.mode() & 0o777;
        let text = format!("{}, mode {mode:03o}", abbreviate_home(&auth, home));
        checks.push(if mode & 0o077 != 0 {
            let way_out = format!("Other users can read them: chmod 600 {}", auth.display());
            Check::bad("stored keys", text, way_out)
        } else {
            Check::good("stored keys", text)
        });
    }
    checks.extend(room(&dirs.data));
    let undo = dirs.undo();
    if undo.is_dir() {
        let text = format!("{} of saved file versions", bytes(size(&undo)));
        checks.push(Check::good("undo data", text));
    }
    Section {
        title: "Folders",
        checks,
    }
}

/// Checks folders. The first unwritable one names the variables to set for all of them.
fn writable(
    folders: &[(&str, PathBuf, &str)],
    home: Option<&Path>,
    unwritable: impl Fn(&Path) -> Option<(&Path, Errno)>,
) -> Vec<Check> {
    let blocked = |(_, path, _): &&(&str, PathBuf, &str)| {
        unwritable(path).is_some_and(|(_, why)| why != Errno::ENOTDIR)
    };
    let mut variables: Vec<&str> = folders.iter().filter(blocked).map(|it| it.2).collect();
    variables.dedup();
    let mut checks = Vec::new();
    for (name, path, _) in folders {
        let shown = abbreviate_home(path, home);
        checks.push(match unwritable(path) {
            Some((nearest, Errno::ENOTDIR)) => Check::bad(
                *name,
                format!("{shown}: {} is not a folder", nearest.display()),
                format!("Move or rename {}", nearest.display()),
            ),
            Some((nearest, why)) => {
                let (nearest, why) = (nearest.display(), why.desc());
                let way_out = match std::mem::take(&mut variables).join(", ") {
                    all if all.is_empty() => all,
                    all => format!(
                        "Check its owner and permissions: ls -ld {nearest}\nOr set {all} to a folder that you can write"
                    ),
                };
                Check::bad(
                    *name,
                    format!("{shown} isn't writable: {nearest}: {why}"),
                    way_out,
                )
            }
            None if path.exists() => Check::good(*name, shown),
            None => Check::good(*name, format!("{shown} (created when needed)")),
        });
    }
    checks
}

fn room(data: &Path) -> Option<Check> {
    let nearest = data.ancestors().find(|path| path.exists())?;
    let disk = statvfs(nearest).ok()?;
    let free = disk.f_bavail * disk.f_frsize;
    let text = format!("{} free", bytes(free));
    let way_out = "Free some space: sessions, drafts and undo data go here";
    Some(match free {
        COMFORTABLE.. => Check::good("disk", text),
        NEEDED.. => Check::hint("disk", text, way_out),
        _ => Check::bad("disk", text, way_out),
    })
}

fn size(folder: &Path) -> u64 {
    let mut total = 0;
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) => total += meta.len(),
                Err(_) => {}
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_are_named_once() {
        let folders = [
            (
                "settings",
                PathBuf::from("/.config/tiller"),
                "TILLER_CONFIG_DIR",
            ),
            ("data", PathBuf::from("/.local/tiller"), "TILLER_DATA_DIR"),
            (
                "sessions",
                PathBuf::from("/.local/tiller/sessions"),
                "TILLER_DATA_DIR",
            ),
        ];
        fn root(path: &Path) -> Option<(&Path, Errno)> {
            path.ancestors().last().map(|root| (root, Errno::EACCES))
        }
        let section = Section {
            title: "Folders",
            checks: writable(&folders, None, root),
        };
        let text = crate::app::doctor::report::Report {
            sections: vec![section],
        }
        .text();
        let (list, _) = text.split_once("\n\n").unwrap();
        assert_eq!(
            list,
            "Folders\n  \
             ✗ settings  /.config/tiller isn't writable: /: Permission denied\n              \
             → Check its owner and permissions: ls -ld /\n              \
             → Or set TILLER_CONFIG_DIR, TILLER_DATA_DIR to a folder that you can write\n  \
             ✗ data      /.local/tiller isn't writable: /: Permission denied\n  \
             ✗ sessions  /.local/tiller/sessions isn't writable: /: Permission denied"
        );
    }
}
