//! Changes one value in a settings file, or appends to it. The rest of the file doesn't change:
//! comments, order, blank lines, unknown keys. The new file is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

use super::check::place_of;
use super::layers::{Layers, TYPED};
use super::settings::Settings;
use crate::llm::read_small::read_small;
use crate::llm::replace_file::replace_file;

/// How long to wait for other programs that change the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two tries to lock it.
const PAUSE: Duration = Duration::from_millis(20);

/// Sets the string `name` of `table` in `file`, which may be new. Unchanged on errors.
pub fn set_in_file(file: &Path, table: &str, name: &str, value: &str) -> Result<(), String> {
    let named = |message: String| format!("{}: {message}", file.display());
    change_file(file, |text| {
        set_value(text, &[table], name, value.into()).map_err(named)
    })
}

/// Sets the dotted setting `key` in the user's `file`, which may be new. Unchanged on errors. Other
/// mistakes in the file don't matter: they were there before.
pub fn set_checked(file: &Path, key: &str, value: &toml::Value) -> Result<(), String> {
    let named = |message: String| format!("{}: {message}", file.display());
    let mut layers = Layers::defaults();
    layers.add_value(TYPED, key, value)?;
    Settings::resolve(&layers)?;
    let value: Value = value
        .to_string()
        .parse()
        .map_err(|_| named(format!("can't write {value}")))?;
    let (tables, name) = parts(key)?;
    change_file(file, |text| {
        set_value(text, &tables, &name, value).map_err(named)
    })
}

/// The value that a user means who types `typed` for the setting `key`, as `tiller config set` reads it.
pub fn typed_value(key: &str, typed: &str) -> Result<toml::Value, String> {
    let mut layers = Layers::defaults();
    let value = layers.add_typed(&TYPED, key, typed)?;
    Settings::resolve(&layers).map(|_| value)
}

/// The tables and the name in a dotted key, without quotes.
fn parts(key: &str) -> Result<(Vec<String>, String), String> {
    let parts = Key::parse(key).unwrap_or_default();
    let mut parts: Vec<String> = parts.iter().map(|part| part.get().to_owned()).collect();
    let name = parts.pop();
    let name = name.ok_or_else(|| format!("'{key}' is not the name of a setting"))?;
    Ok((parts, name))
}

/// Removes the dotted setting `key` from the user's settings `file`, which restores its default. An
/// error leaves the file unchanged.
pub fn unset_checked(file: &Path, key: &str) -> Result<(), String> {
    let named = |message: String| format!("{}: {message}", file.display());
    let (tables, name) = parts(key)?;
    change_file(file, |text| {
        let mut document = parse(text).map_err(named)?;
        let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
        for part in &tables {
            table = table
                .and_then(|table| table.get_mut(part))
                .and_then(Item::as_table_like_mut);
        }
        match table.as_ref().and_then(|table| table.get(&name)) {
            Some(Item::Value(_)) => table.and_then(|table| table.remove(&name)),
            Some(_) => return Err(named(is_section(&name))),
            None => return Err(named(format!("{key} isn't set here"))),
        };
        let without = document.to_string();
        let plain = [&tables[..], &[name]].concat().join(".");
        let cut = cut_out(text, &plain)
            .filter(|cut| cut.parse::<toml::Table>().ok() == without.parse::<toml::Table>().ok());
        let cut = cut.unwrap_or(without);
        Ok(without_empty_section(&cut, &tables.join(".")).unwrap_or(cut))
    })
}

/// `text` without the heading of `section`, if nothing is left below it and no comment is above it.
fn without_empty_section(text: &str, section: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heading = format!("[{section}]");
    let (before, rest) = lines.split_at(lines.iter().position(|it| it.trim() == heading)?);
    let blank = rest[1..].iter().take_while(|it| it.trim().is_empty());
    let behind = &rest[1 + blank.count()..];
    let is_empty = behind.first().is_none_or(|it| it.starts_with('['));
    let has_comment = before.last().is_some_and(|it| it.starts_with('#'));
    let before = before.concat();
    let before = match before.trim_end() {
        above if behind.is_empty() && !above.is_empty() => format!("{above}\n"),
        "" => String::new(),
        _ => before,
    };
    (is_empty && !has_comment).then(|| before + &behind.concat())
}

fn is_section(name: &str) -> String {
    format!("can't change '{name}', which has its own section; use tiller config edit")
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    let parsed: Result<DocumentMut, _> = text.parse();
    parsed
        .map_err(|error| format!("not valid TOML; to fix that first: tiller config edit\n{error}"))
}

/// `text` without the key and its value, keeping comments. `None` if other keys share the lines.
fn cut_out(text: &str, key: &str) -> Option<String> {
    let (start, end) = place_of(text, key)?;
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let next = text[end..].find('\n').map_or(text.len(), |it| end + it + 1);
    let behind = text[end..next].trim_start_matches([' ', '\t']);
    let behind = if behind.starts_with('#') { behind } else { "" };
    Some(format!("{}{behind}{}", &text[..line], &text[next..]))
}

/// Appends tables to `file`; creates the file if needed. `check` sees the whole text first. An error
/// leaves the file unchanged.
pub fn append_to_file(
    file: &Path,
    tables: &str,
    check: impl FnOnce(&str, String) -> Result<(), String>,
) -> Result<(), String> {
    change_file(file, |text| {
        let new = match text.trim_end() {
            "" => tables.to_owned(),
            before => format!("{before}\n\n{tables}"),
        };
        check(text, new.clone()).map(|()| new)
    })
}

/// Removes one table of the array under `keys` in `file`, or nothing: `find` says which. True if it
/// removed one.
pub fn remove_table(
    file: &Path,
    keys: &[&str],
    find: impl FnOnce(&str) -> Result<Option<usize>, String>,
) -> Result<bool, String> {
    if !file.exists() {
        return Ok(false);
    }
    let named = |message: String| format!("{}: {message}", file.display());
    let mut removed = false;
    change_file(file, |text| {
        let Some(at) = find(text).map_err(named)? else {
            return Ok(text.to_owned());
        };
        let mut document = parse(text).map_err(named)?;
        let (last, outer) = keys.split_last().unwrap_or((&"", &[]));
        let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
        for key in outer {
            table = table
                .and_then(|table| table.get_mut(key))
                .and_then(Item::as_table_like_mut);
        }
        removed = true;
        match table.and_then(|table| table.get_mut(last)) {
            Some(Item::ArrayOfTables(tables)) if at < tables.len() => {
                tables.remove(at);
            }
            Some(Item::Value(Value::Array(tables))) if at < tables.len() => {
                tables.remove(at);
            }
            _ => return Err(named(is_section(last))),
        }
        // The blank line between this table and the next one.
        let new = document.to_string();
        let starts_blank = text.starts_with('\n');
        Ok(if starts_blank {
            new
        } else {
            new.trim_start_matches('\n').to_owned()
        })
    })?;
    Ok(removed)
}

/// Replaces the text of `file` with the result of `change`. A lock file beside it makes writers take
/// turns; `file` itself is replaced.
fn change_file(
    file: &Path,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> Result<(), String> {
    let error = |message: String| format!("{}: {message}", file.display());
    let io_error = |io: io::Error| error(io.to_string());
    let _lock = lock(file).map_err(io_error)?;
    let (text, permissions) = match read_small(file) {
        Ok(text) => {
            let meta = fs::metadata(file).map_err(io_error)?;
            (text, Some(meta.permissions()))
        }
        Err(io) if io.kind() == ErrorKind::NotFound => (String::new(), None),
        Err(io) => return Err(io_error(io)),
    };
    let text = in_style_of(&text, change(&text)?);
    if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(error("the file is read-only".to_owned()));
    }
    replace_file(file, &text, permissions).map_err(io_error)
}

/// With the byte order mark and the line ends that the file had: the parser keeps neither.
fn in_style_of(before: &str, after: String) -> String {
    let mark = '\u{feff}';
    let lines = before.matches('\n').count();
    let after = if lines > 0 && before.matches("\r\n").count() == lines {
        after.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        after
    };
    if before.starts_with(mark) && !after.starts_with(mark) {
        format!("{mark}{after}")
    } else {
        after
    }
}

/// Locks a file of settings against other programs, until the result is dropped.
pub(crate) fn lock(file: &Path) -> io::Result<File> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    let path = file.with_extension("lock");
    let mut options = File::options();
    let lock = options.write(true).create(true).truncate(false).mode(0o600);
    let lock = lock.open(&path)?;
    let tries = PATIENCE.as_millis() / PAUSE.as_millis();
    for _ in 0..tries {
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => thread::sleep(PAUSE),
            locked => return locked.map(|()| lock).map_err(io::Error::from),
        }
    }
    let seconds = PATIENCE.as_secs();
    Err(io::Error::other(format!(
        "another program has locked {} for {seconds} s. End it, or try again later",
        path.display()
    )))
}

fn set_value(
    text: &str,
    tables: &[impl AsRef<str>],
    name: &str,
    value: Value,
) -> Result<String, String> {
    let mut document = parse(text)?;
    if document.is_empty() && !text.trim().is_empty() {
        // Only comments: add new text below them.
        let new = set_value("", tables, name, value)?;
        return Ok(format!("{}\n\n{new}", text.trim_end()));
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (at, part) in tables.iter().enumerate() {
        let part = part.as_ref();
        let inner = table.entry(part).or_insert_with(|| {
            let mut table = Table::new();
            // Only the innermost table has a heading.
            table.set_implicit(at + 1 < tables.len());
            Item::Table(table)
        });
        table = inner
            .as_table_like_mut()
            .ok_or_else(|| format!("'{part}' is not a table; use tiller config edit"))?;
    }
    let mut new = value;
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            // Keep the comment after it, and the blanks around it.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        Some(other) if !other.is_none() => {
            return Err(is_section(name));
        }
        _ => {
            table.insert(name, Item::Value(new));
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_default(file: &Path, value: &str) -> Result<(), String> {
        set_in_file(file, "models", "default", value)
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        for (before, after) in [
            ("", "[models]\ndefault = \"a/b\"\n"),
            (
                "# mine\n[models]\n  default = \"x\" # why\nfuture = 1\n\n[ui]\ntheme = 'dark'\n",
                "# mine\n[models]\n  default = \"a/b\" # why\nfuture = 1\n\n[ui]\ntheme = 'dark'\n",
            ),
            (
                "[ui]\ntheme = \"dark\"\n",
                "[ui]\ntheme = \"dark\"\n\n[models]\ndefault = \"a/b\"\n",
            ),
            (
                "models.thinking = \"high\"\n",
                "models.thinking = \"high\"\nmodels.default = \"a/b\"\n",
            ),
            (
                "models = { default = \"x\" }\n",
                "models = { default = \"a/b\" }\n",
            ),
            (
                "[models]\n# liked\nfavorites = [\n  \"a\", # one\n]\n",
                "[models]\n# liked\nfavorites = [\n  \"a\", # one\n]\ndefault = \"a/b\"\n",
            ),
            ("# mine\n\n", "# mine\n\n[models]\ndefault = \"a/b\"\n"),
            (
                "[models.aliases]\nfast = \"x\"\n",
                "[models]\ndefault = \"a/b\"\n[models.aliases]\nfast = \"x\"\n",
            ),
        ] {
            let set = set_value(before, &["models"], "default", "a/b".into());
            assert_eq!(set.unwrap(), after, "{before}");
        }
    }

    #[test]
    fn a_file_of_windows_keeps_its_mark_and_line_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let before = "\u{feff}[ui]\r\ntheme = \"dark\"\r\n";
        fs::write(&file, before).unwrap();
        set_default(&file, "a/b").unwrap();
        let after = format!("{before}\r\n[models]\r\ndefault = \"a/b\"\r\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), after);
    }

    #[test]
    fn settings_are_set_where_they_belong_and_taken_out_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let text = || fs::read_to_string(&file).unwrap();
        fs::write(&file, "# mine\n[ui]\ntheme = \"dark\" # why\n").unwrap();
        set_checked(&file, "ui.theme", &"nord".into()).unwrap();
        set_checked(&file, "tools.bash.timeout_seconds", &7.into()).unwrap();
        let set = "# mine\n[ui]\ntheme = \"nord\" # why\n\n[tools.bash]\ntimeout_seconds = 7\n";
        assert_eq!(text(), set);
        for (key, value) in [
            ("ui.notify", toml::Value::from("whistle")),
            ("ui.mouse", 3.into()),
            ("ui.colour", true.into()),
        ] {
            let error = set_checked(&file, key, &value).unwrap_err();
            assert!(error.contains(key), "{error}");
            assert_eq!(text(), set, "it is as it was");
        }
        unset_checked(&file, "tools.bash.timeout_seconds").unwrap();
        assert!(unset_checked(&file, "tools.read.max_lines").is_err());
        assert_eq!(text(), "# mine\n[ui]\ntheme = \"nord\" # why\n");
    }

    #[test]
    fn a_setting_that_is_taken_out_leaves_its_comments() {
        for (before, after) in [
            (
                "# mine\n[ui]\n# dark, for the eyes\ntheme = \"x\" # why\nvim = true\n",
                "# mine\n[ui]\n# dark, for the eyes\n# why\nvim = true\n",
            ),
            ("# a\nui.theme = 'x'\n# b\n", "# a\n# b\n"),
            (
                "ui = { theme = \"x\", vim = true }\n",
                "ui = { vim = true }\n",
            ),
            ("[ui]\ntheme = \"\"\"\na\n\"\"\" # c\n", "[ui]\n# c\n"),
            ("[ui]\ntheme = \"x\"", ""),
            ("# eyes\n[ui]\ntheme = \"x\"\n", "# eyes\n[ui]\n"),
            (
                "[ui]\ntheme = \"x\"\n\n[budget]\nusd = 1\n",
                "[budget]\nusd = 1\n",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.toml");
            fs::write(&file, before).unwrap();
            unset_checked(&file, "ui.theme").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), after, "{before}");
        }
    }

    #[test]
    fn changes_at_the_same_moment_all_land() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        thread::scope(|scope| {
            for number in 0..16 {
                let file = &file;
                scope.spawn(move || {
                    set_in_file(file, "models.aliases", &format!("a{number}"), "x").unwrap();
                });
            }
        });
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches("= \"x\"").count(), 16, "{text}");
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for text in ["[models\n", "models = 3\n", "[models.default]\nx = 1\n"] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.toml");
            fs::write(&file, text).unwrap();
            let error = set_default(&file, "a/b").unwrap_err();
            assert!(error.contains("config.toml"), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn links_and_permissions_survive_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.toml");
        fs::write(&real, "# x\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("config.toml");
        symlink(&real, &link).unwrap();
        set_default(&link, "a/\"b\"").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        let text = fs::read_to_string(&real).unwrap();
        assert!(text.starts_with("# x\n") && text.contains("a/"), "{text}");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        // The third is the lock.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
        let error = set_default(&link, "c/d").unwrap_err();
        assert!(error.contains("read-only"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_made_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/config.toml");
        set_default(&file, "a/b").unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "[models]\ndefault = \"a/b\"\n"
        );
    }
}
