//! `/export` in the full screen: parses its argument, writes the file and answers with a message.

use std::io;
use std::path::{Path, PathBuf};

use super::exported::Export;
use super::format::{Format, Scope};
use super::write::{IfExists, same_file, write_file, write_new};
use crate::agent::git::project_root;
use crate::agent::session::SessionView;
use crate::app::humanize::grouped;
use crate::llm::auth::Redactor;

/// The folder for exports without a name: `cwd`, or `exports` if that is in a repository, where an
/// export might be committed.
pub fn default_folder(cwd: &Path, exports: PathBuf) -> PathBuf {
    if project_root(cwd).join(".git").exists() {
        exports
    } else {
        cwd.to_owned()
    }
}

/// Exports the session in `file`. `argument` is `[--branch] [--force] [FILE]`, with FILE relative
/// to `cwd`; without it, to a new file in `folder`. Returns a message for the user.
pub fn export_on_request(
    file: &Path,
    argument: &str,
    (cwd, folder): (&Path, &Path),
    redactor: &Redactor,
) -> Result<String, String> {
    let request = Request::parse(argument)?;
    if !file.exists() {
        return Err(String::from("Nothing to export yet"));
    }
    let failed = |error: io::Error| format!("Can't export the session: {error}");
    let session = SessionView::open(file).map_err(failed)?;
    let shown = |path: &Path| path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    let target = request.target.as_deref().map(|target| cwd.join(target));
    let is_folder = target.as_deref().is_none_or(Path::is_dir);
    let format = match target.as_deref() {
        Some(target) if !is_folder => Format::of_file(target).ok_or_else(|| {
            let target = shown(target);
            format!("Nothing exported: {target} must end in .html, .md or .jsonl")
        })?,
        _ => Format::default(),
    };
    let export = Export::new(&session, format, request.scope, redactor).map_err(failed)?;
    let written = match &target {
        Some(target) if same_file(target, file) => {
            let target = shown(target);
            return Err(format!(
                "{target} is the session itself; choose another file"
            ));
        }
        Some(target) if !is_folder => write_file(target, &export.bytes, request.if_exists)
            .map(|()| target.clone())
            .map_err(|error| (target.clone(), error)),
        Some(inside) => write_new(inside, &export.title, format.as_str(), &export.bytes),
        None => write_new(folder, &export.title, format.as_str(), &export.bytes),
    };
    match written {
        Ok(path) => {
            let what = match (format, request.scope) {
                (Format::Md, _) | (_, Scope::Branch) => "the current branch",
                _ => "all branches",
            };
            let size = grouped(export.bytes.len().div_ceil(1000) as u64);
            // Users must find a file whose place they didn't choose.
            let path = match target {
                None => path.display().to_string(),
                Some(_) => shown(&path),
            };
            Ok(format!(
                "Exported to {path} ({what}, {size} KB, keys removed)"
            ))
        }
        Err((path, error)) => {
            let path = shown(&path);
            Err(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("{path} already exists; /export --force {path} replaces it")
                }
                io::ErrorKind::NotFound => {
                    format!("{path}: its folder doesn't exist. Create it, or choose another file")
                }
                _ => format!("Can't write {path}: {error}"),
            })
        }
    }
}

/// Exports the session in `file` as a page, to `target` or to a new file in `folder`, and returns
/// the page's path.
pub fn export_html(
    file: &Path,
    target: Option<&Path>,
    folder: &Path,
    redactor: &Redactor,
) -> Result<PathBuf, String> {
    let failed = |error: io::Error| format!("Can't export the session: {error}");
    let session = SessionView::open(file).map_err(failed)?;
    let export = Export::new(&session, Format::Html, Scope::All, redactor).map_err(failed)?;
    let written = match target {
        Some(target) if same_file(target, file) => {
            return Err(format!("{} is the session itself", target.display()));
        }
        Some(target) => write_file(target, &export.bytes, IfExists::Replace)
            .map(|()| target.to_owned())
            .map_err(|error| (target.to_owned(), error)),
        None => write_new(folder, &export.title, Format::Html.as_str(), &export.bytes),
    };
    written.map_err(|(path, error)| format!("Can't write {}: {error}", path.display()))
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    scope: Scope,
    if_exists: IfExists,
    target: Option<PathBuf>,
}

impl Request {
    fn parse(argument: &str) -> Result<Self, String> {
        let mut request = Self {
            scope: Scope::All,
            if_exists: IfExists::Refuse,
            target: None,
        };
        let mut rest = argument.trim();
        while let Some(option) = rest.strip_prefix("--") {
            let (word, after) = option
                .split_once(char::is_whitespace)
                .unwrap_or((option, ""));
            match word {
                "branch" => request.scope = Scope::Branch,
                "force" => request.if_exists = IfExists::Replace,
                other => {
                    return Err(format!(
                        "/export has no --{other}; it has --branch and --force"
                    ));
                }
            }
            rest = after.trim_start();
        }
        let home = rest.strip_prefix("~/").zip(std::env::home_dir());
        request.target = match home {
            Some((below, home)) => Some(home.join(below)),
            None => (!rest.is_empty()).then(|| PathBuf::from(rest)),
        };
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_without_a_name_stays_out_of_repositories() {
        let dir = tempfile::tempdir().unwrap();
        let exports = dir.path().join("exports");
        let folder = dir.path().join("src");
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(default_folder(&folder, exports.clone()), folder);
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(default_folder(&folder, exports.clone()), exports);
    }

    #[test]
    fn options_come_before_a_name_that_may_hold_spaces() {
        let request = |scope, if_exists, target: &str| {
            let target = (!target.is_empty()).then(|| PathBuf::from(target));
            Ok(Request {
                scope,
                if_exists,
                target,
            })
        };
        for (typed, expected) in [
            ("", request(Scope::All, IfExists::Refuse, "")),
            (" a b.md ", request(Scope::All, IfExists::Refuse, "a b.md")),
            ("--branch", request(Scope::Branch, IfExists::Refuse, "")),
            (
                "--force  --branch x.jsonl",
                request(Scope::Branch, IfExists::Replace, "x.jsonl"),
            ),
            (
                "--all x",
                Err("/export has no --all; it has --branch and --force".into()),
            ),
        ] {
            assert_eq!(Request::parse(typed), expected, "{typed}");
        }
    }
}
