//! Landlock rules: writing only in writable folders; no signals to outside processes, and no
//! tracing of them.
//!
//! Landlock can only allow, and can't exclude a part of an allowed folder. So it can't protect a
//! read-only folder within a writable one. If no mounts cover hidden folders, it allows everything
//! next to them and above one by one.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use super::spec::{Network, Sandbox};

/// The newest version these rules use; older kernels get what they support.
const NEWEST: ABI = ABI::V9;
/// Devices that a command may write to.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/fd",
];

/// Restricts this process and returns the Landlock version. With `mounts`, hidden paths are already
/// covered and `/dev` is private.
pub(super) fn restrict(sandbox: &Sandbox, mounts: bool) -> Result<u32, String> {
    match rules(sandbox, mounts) {
        Ok(LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as u32),
        Ok(LandlockStatus::NotEnabled) => Err("Landlock is not enabled in this kernel".to_owned()),
        Ok(_) => Err("this kernel has no Landlock (Linux 5.13)".to_owned()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}

fn rules(sandbox: &Sandbox, mounts: bool) -> Result<LandlockStatus, RulesetError> {
    let (read, write) = (AccessFs::from_read(NEWEST), AccessFs::from_write(NEWEST));
    let handled = if mounts { write } else { read | write };
    let mut rules = Ruleset::default()
        .handle_access(handled)?
        .scope(Scope::from_all(NEWEST))?;
    if !mounts && sandbox.network != Network::Host {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?;
    let temporary = [(&sandbox.tmp, "/tmp"), (&sandbox.var_tmp, "/var/tmp")];
    let temporary = temporary.into_iter().filter_map(|(folder, place)| {
        let folder = folder.as_deref()?;
        Some(if mounts { Path::new(place) } else { folder })
    });
    let writable = sandbox.writable.iter().map(PathBuf::as_path);
    let writable = writable.chain(temporary).chain([Path::new("/dev/shm")]);
    rules = rules.add_rules(path_beneath_rules(writable, handled))?;
    let on_devices: BitFlags<AccessFs> =
        AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    if mounts {
        rules = rules.add_rules(path_beneath_rules(["/dev"], on_devices))?;
    } else {
        // Only new terminals, because the user's own would reveal typed text.
        let devices = DEVICES.iter().filter(|path| **path != "/dev/pts");
        rules = rules.add_rules(path_beneath_rules(devices, on_devices | AccessFs::ReadFile))?;
        rules = rules.add_rules(path_beneath_rules(
            ["/"],
            AccessFs::ReadDir | AccessFs::Execute,
        ))?;
        let mut hidden = vec![Path::new("/dev")];
        hidden.extend(sandbox.hidden.iter().map(PathBuf::as_path));
        let mut readable = Vec::new();
        list_beside(Path::new("/"), &hidden, &mut readable);
        readable.extend(sandbox.readable.iter().cloned());
        rules = rules.add_rules(path_beneath_rules(readable, read))?;
    }
    Ok(rules.restrict_self()?.landlock)
}

/// The largest files and folders in `path` that contain nothing hidden.
fn list_beside(path: &Path, hidden: &[&Path], found: &mut Vec<PathBuf>) {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A rule on a link would apply to its target, so links are never allowed.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            list_beside(&entry.path(), hidden, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_hidden_folders_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/secret", "a/b/c", "d"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("secret", root.join("a/link")).unwrap();
        let mut found = Vec::new();
        list_beside(
            root,
            &[&root.join("a/secret"), &root.join("gone")],
            &mut found,
        );
        found.sort();
        assert_eq!(found, ["a/b", "a/file", "d"].map(|path| root.join(path)));
    }
}
