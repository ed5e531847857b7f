//! Replaces a small file of tiller's own. Files that tools edit have more to preserve
//! (`agent::tools::edit`).

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::Path;

/// Replaces the content of `path` with `text`, all or nothing. Keeps a link a link and creates missing
/// folders. Only the owner can read the file unless `permissions` say more.
pub fn replace_file(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".tiller-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
