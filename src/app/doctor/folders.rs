//! tiller's folders: permissions, free space, and the size of the undo data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use rustix::fs::statvfs;

use super::report::{Check, Section};
use crate::app::dirs::Dirs;
use crate::app::humanize::{abbreviate_home, bytes};
use crate::app::outcome::StartError;

/// Below this, tiller can't be relied on to store anything.
const NEEDED: u64 = 50_000_000;
/// Below this, tiller suggests freeing some space.
const COMFORTABLE: u64 = 1_000_000_000;

pub fn folders(dirs: &Dirs, named_config: Result<(), StartError>) -> Section {
    let home = dirs.home.as_deref();
    let mut checks = vec![
        match named_config {
            Ok(()) => folder("settings", &dirs.config, home),
            Err(error) => {
                let (what, way_out) = error
                    .message
                    .split_once(". ")
                    .unwrap_or((&error.message, ""));
                Check::hint("settings", what.to_owned(), way_out.to_owned())
            }
        },
        folder("data", &dirs.data, home),
        folder("sessions", &dirs.sessions(), home),
        folder("log", &dirs.log(), home),
    ];
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

fn folder(name: &str, path: &Path, home: Option<&Path>) -> Check {
    let shown = abbreviate_home(path, home);
    let there = path.exists();
    // tiller creates a missing folder on demand, in the nearest existing one.
    let nearest = path.ancestors().find(|path| path.exists());
    let nearest = nearest.unwrap_or(Path::new("/"));
    let flags = AccessFlags::W_OK | AccessFlags::X_OK;
    match faccessat(AT_FDCWD, nearest, flags, AtFlags::AT_EACCESS) {
        _ if !nearest.is_dir() => Check::bad(
            name,
            format!("{shown}: {} is not a folder", nearest.display()),
            format!("Move or rename {}", nearest.display()),
        ),
        Err(error) => Check::bad(
            name,
            format!(
                "{shown} isn't writable: {}: {}",
                nearest.display(),
                error.desc()
            ),
            format!(
                "Check its owner and permissions: ls -ld {}",
                nearest.display()
            ),
        ),
        Ok(()) if there => Check::good(name, shown),
        Ok(()) => Check::good(name, format!("{shown} (created when needed)")),
    }
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
