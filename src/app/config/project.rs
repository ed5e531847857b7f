//! The settings of a trusted project, `.tiller/config.toml`. A project can't run a program, name an
//! address or a key, or give a tool more access. If the file has an error, tiller applies only its
//! limits and reports the rest: another person's mistake shouldn't stop the user.

use std::path::Path;

use toml::{Table, Value};

use super::check::collect_keys;
use super::layers::{Layer, Layers, Origin, cannot_read};
use super::places::PROTECTED;
use super::settings::Settings;
use crate::agent::word_list::WordList;
use crate::llm::read_small::read_small;

/// The settings allowed in a project; a name that ends in a dot includes everything in it.
const PROJECT_SETTINGS: WordList = WordList(
    "agent. compaction. retry. models.default models.thinking models.fallback models.favorites \
     models.max_output tools.bash.timeout_seconds tools.bash.max_timeout_seconds \
     tools.bash.max_output_chars tools.bash.max_output_lines tools.read. tools.search.",
);
/// Limits that a project can set: rules that make things stricter, and more protected paths.
const LIMITS: [&str; 2] = ["permission.rules", PROTECTED];

/// Permission settings that no project may change.
const LOOSENING: [&str; 4] = ["mode", "redact", "writable", "caches"];

const ELSEWHERE: &str = "put it into your own settings (`tiller config edit`)";

/// Adds the settings file of a trusted project in `root`, if it exists. If it has an error,
/// `project_fault` says what and where.
pub fn add_project_file(layers: &mut Layers, path: &Path, root: &Path) {
    let text = match read(path, root) {
        Ok(None) => return,
        Ok(Some(text)) => text,
        Err(fault) => {
            layers.project_unlimited = true;
            layers.project_fault = Some(fault);
            return;
        }
    };
    let Err(fault) = try_to_add(layers, path, &text, |_| ()) else {
        return;
    };
    let limits = try_to_add(layers, path, &text, keep_limits);
    layers.project_unlimited =
        limits.is_err() && text.contains("permission") || may_lose_limits(&text);
    let _ = limits.or_else(|_| try_to_add(layers, path, &text, keep_known_limits));
    layers.project_fault = Some(fault);
}

/// True if limits may be lost: in a misspelled section, or in invalid TOML.
fn may_lose_limits(text: &str) -> bool {
    fn names_limits(value: &Value) -> bool {
        match value {
            Value::Array(all) => all.iter().any(names_limits),
            Value::Table(table) => {
                let is_one = |key: &str| ["rules", "protected"].contains(&key);
                (table.iter()).any(|(key, value)| is_one(key) || names_limits(value))
            }
            _ => false,
        }
    }
    let Ok(mut table) = text.parse::<Table>() else {
        return text.contains("rules") || text.contains("protected");
    };
    table.remove("permission");
    table.keys().any(|name| name.starts_with("perm")) || names_limits(&Value::Table(table))
}

/// Leaves only the limits of a project's settings. Unknown keys stay, so that they are reported.
pub(super) fn keep_limits(table: &mut Table) {
    table.retain(|section, permission| {
        let permission = permission
            .as_table_mut()
            .filter(|_| section == "permission");
        permission.is_some_and(|permission| {
            permission.retain(|key, _| !LOOSENING.contains(&key));
            !permission.is_empty()
        })
    });
}

fn keep_known_limits(table: &mut Table) {
    keep_limits(table);
    if let Some(Value::Table(permission)) = table.get_mut("permission") {
        permission.retain(|key, _| key == "rules" || key == "protected");
    }
}

fn try_to_add(
    layers: &mut Layers,
    path: &Path,
    text: &str,
    reduce: fn(&mut Table),
) -> Result<(), String> {
    let mut with_project = layers.clone();
    // Report unknown and wrong values first.
    let mut layer = Layer::parse(Origin::Project(path.to_owned()), text.to_owned())?;
    reduce(&mut layer.table);
    check_permitted(with_project.add(layer).map_err(without_own_settings)?)?;
    // Only this finds words without meaning. Don't blame the project for a fault of the user's.
    if let Err(error) = Settings::resolve(&with_project)
        && Settings::resolve(layers).is_ok()
    {
        return Err(error);
    }
    *layers = with_project;
    Ok(())
}

fn check_permitted(layer: &Layer) -> Result<(), String> {
    let mut keys = Vec::new();
    collect_keys(&layer.table, "", &mut keys);
    match keys.into_iter().find(|key| !is_permitted(key)) {
        Some(key) => Err(format!(
            "setting {key} ({}): a project can't set it; {ELSEWHERE}",
            layer.place(&key)
        )),
        None => Ok(()),
    }
}

fn is_permitted(key: &str) -> bool {
    let allowed = |name: &str| name == key || name.ends_with('.') && key.starts_with(name);
    PROJECT_SETTINGS.words().chain(LIMITS).any(allowed)
}

/// The error without a suggestion that a project can't follow.
fn without_own_settings(fault: String) -> String {
    let suggested = fault.split_once("did you mean ");
    let Some((before, key)) = suggested.and_then(|(it, key)| Some((it, key.strip_suffix('?')?)))
    else {
        return fault;
    };
    if is_permitted(key) {
        return fault;
    }
    format!("{before}a project can't set {key}; {ELSEWHERE}")
}

/// The file's text, if it is a regular file in `root`.
fn read(path: &Path, root: &Path) -> Result<Option<String>, String> {
    let error = |why: &dyn std::fmt::Display| cannot_read(path, why);
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(io) if io.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(io) => return Err(error(&io)),
    };
    if !root.canonicalize().is_ok_and(|root| real.starts_with(root)) {
        return Err(error(&"it links to a file outside the project"));
    }
    read_small(&real).map(Some).map_err(|io| error(&io))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::llm::read_small::MAX_BYTES;

    fn added(text: &str) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, text).unwrap();
        let mut layers = Layers::defaults();
        add_project_file(&mut layers, &path, dir.path());
        let fault = layers.project_fault.take().map_or(Ok(()), Err);
        if fault.is_err() {
            let entries = |layers: &Layers| format!("{:?}", layers.entries());
            assert_eq!(entries(&layers), entries(&Layers::defaults()), "{text}");
        }
        fault
    }

    #[test]
    fn a_project_sets_less() {
        for (text, refused) in [
            ("agent.max_iterations = 7\nmodels.default = \"lab/a\"", None),
            ("[agent.loop_guard]\nenabled = false", None),
            ("permission.mode = \"full\"", Some("permission.mode")),
            ("permission.protected = [\"secrets\"]", None),
            ("permission.writable = [\"/\"]", Some("permission.writable")),
            ("permission.caches = []", Some("permission.caches")),
            ("tools.set = \"all\"", Some("tools.set")),
            ("tools.bash.secret_env = []", Some("tools.bash.secret_env")),
            ("models.aliases.fast = \"x\"", Some("models.aliases.fast")),
            (
                "models.servers.ollama = \"h:1\"",
                Some("models.servers.ollama"),
            ),
            ("models.catalogue_url = \"x\"", Some("models.catalogue_url")),
            (
                "auth.env_file_folders = [\"/\"]",
                Some("auth.env_file_folders"),
            ),
        ] {
            match (added(text), refused) {
                (added, None) => assert_eq!(added, Ok(()), "{text}"),
                (added, Some(key)) => {
                    let error = added.unwrap_err();
                    let start = format!("setting {key} (project: ");
                    assert!(error.starts_with(&start), "{error}");
                    assert!(
                        error.contains("/config.toml:1): a project can't"),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_file_with_an_error_adds_nothing_and_the_line_is_told() {
        for (text, line, expected) in [
            ("\nagent.max = 3", 2, "did you mean agent.max_iterations?"),
            ("[agent]\n\nmax_iterations = \"x\"", 3, "a whole number"),
            (
                "[agent]\nsteering_mode = \"some\"",
                2,
                "expected one of all, one",
            ),
        ] {
            let error = added(text).unwrap_err();
            let place = format!("/config.toml:{line})");
            assert!(
                error.contains(&place) && error.contains(expected),
                "{error}"
            );
        }
        // A suggestion that a project can follow.
        let error = added("[permission]\ndefaultMode = \"plan\"").unwrap_err();
        let end = "a project can't set permission.mode; put it into your own settings (`tiller config edit`)";
        assert!(error.ends_with(end), "{error}");
        let error = added("a = 1\nb\n").unwrap_err();
        assert!(
            error.contains("config.toml is not valid TOML") && error.contains("line 2"),
            "{error}"
        );
    }

    #[test]
    fn of_a_file_with_an_error_the_limits_hold() {
        let rule = "[[permission.rules]]\ntool = \"bash\"\naction = \"deny\"\n";
        for (rest, counts, whole) in [
            ("[ui]\nthem = \"x\"\n", true, true),
            ("[models]\nof_a_newer_tiller = 1\n", true, true),
            (
                "[permission]\nmode = \"full\"\nprotected = [\"a\"]\n",
                true,
                true,
            ),
            ("[permission]\nrules = 3\n", false, false),
            ("[[permission.rule]]\naction = \"deny\"\n", true, false),
            ("[permission]\nof_a_newer_tiller = 1\n", true, false),
            ("[[permision.rules]]\naction = \"deny\"\n", false, false),
            ("rulez = 1 # protected\n", true, true),
            ("[[permision]]\naction = \"deny\"\n", true, false),
            (
                "[[tools.permission.rules]]\naction = \"deny\"\n",
                false,
                false,
            ),
            ("[ui\n", false, false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("config.toml");
            fs::write(
                &path,
                format!("{rest}{}", if rest.contains("rules") { "" } else { rule }),
            )
            .unwrap();
            let mut layers = Layers::defaults();
            add_project_file(&mut layers, &path, dir.path());
            assert!(layers.project_fault.is_some(), "{rest}");
            let rules = Settings::resolve(&layers).unwrap().permission_rules.rules;
            assert_eq!(rules.len(), usize::from(counts), "{rest}");
            assert_eq!(layers.project_unlimited, !whole, "{rest}");
        }
    }

    #[test]
    fn only_a_plain_file_of_the_project_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("p");
        fs::create_dir(&root).unwrap();
        let path = root.join("config.toml");
        let read = || {
            let mut layers = Layers::defaults();
            add_project_file(&mut layers, &path, &root);
            layers.project_fault.map_or(Ok(()), Err)
        };
        assert_eq!(read(), Ok(()));
        fs::write(dir.path().join("outside"), "secret").unwrap();
        std::os::unix::fs::symlink("../outside", &path).unwrap();
        let error = read().unwrap_err();
        assert!(
            error.ends_with("it links to a file outside the project"),
            "{error}"
        );
        fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read().unwrap_err().ends_with("it is not a plain file"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "#".repeat(MAX_BYTES as usize + 1)).unwrap();
        assert!(read().unwrap_err().ends_with("larger than 8 MiB"));
    }
}
