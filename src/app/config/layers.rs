//! Layers of settings: defaults, the user's file, a trusted project's, `--config`, flags. Later layers win. The defaults are the schema: a key that is not there does not exist, and a value
//! must be of the default's type. A table that is empty there takes any names, with strings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::llm::nearest::nearest_few;

/// The default settings, in the form of a user's file.
pub const DEFAULTS: &str = include_str!("../../../assets/config.toml");

/// What a project may set, with all below a name that ends in a dot. No keys, no addresses, nothing
/// that lets a tool do or see more.
const PROJECT_SETTINGS: [&str; 12] = [
    "agent.",
    "retry.",
    "models.default",
    "models.thinking",
    "models.fallback",
    "models.favorites",
    "tools.bash.timeout_seconds",
    "tools.bash.max_timeout_seconds",
    "tools.bash.max_output_chars",
    "tools.bash.max_output_lines",
    "tools.read.",
    "tools.search.",
];

/// Where a value comes from, from weakest to strongest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The file of a project that is trusted.
    Project(PathBuf),
    /// `--config KEY=VALUE`.
    Command,
    /// A flag of its own, such as `--model`.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) => write!(f, "user: {}", path.display()),
            Self::Project(path) => write!(f, "project: {}", path.display()),
            Self::Command => f.write_str("--config"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// All layers, weakest first.
#[derive(Clone, Debug)]
pub struct Layers {
    layers: Vec<(Origin, Table)>,
}

impl Layers {
    /// The built-in defaults alone.
    pub fn defaults() -> Self {
        let table = DEFAULTS.parse();
        let table = table.expect("assets/config.toml is checked by a test");
        Self {
            layers: vec![(Origin::Default, table)],
        }
    }

    /// Adds the user's settings file. One that does not exist adds nothing.
    pub fn add_file(&mut self, path: &Path) -> Result<(), String> {
        match read(path)? {
            Some(table) => self.add(Origin::User(path.to_owned()), table),
            None => Ok(()),
        }
    }

    /// Adds the settings file of a trusted project, which may set less. One that does not exist adds
    /// nothing.
    pub fn add_project_file(&mut self, path: &Path) -> Result<(), String> {
        let Some(table) = read(path)? else {
            return Ok(());
        };
        let origin = Origin::Project(path.to_owned());
        let mut keys = Vec::new();
        collect_keys(&table, "", &mut keys);
        let may_set = |key: &String| {
            let allowed =
                |name: &&str| *name == key || name.ends_with('.') && key.starts_with(*name);
            PROJECT_SETTINGS.iter().any(allowed)
        };
        let refused = keys.into_iter().find(|key| !may_set(key));
        // Unknown and wrong values are told first.
        self.add(origin.clone(), table)?;
        match refused {
            Some(key) => Err(format!(
                "setting {key} ({origin}): a project may not set it; put it into your own settings \
                 (`tiller config path`)"
            )),
            None => Ok(()),
        }
    }

    /// Adds one `KEY=VALUE`. The value is TOML; a bare word is a string.
    pub fn add_assignment(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            format!("--config '{text}' is not KEY=VALUE, for example agent.max_iterations=50")
        })?;
        let (key, value) = (key.trim(), value.trim());
        let string = Value::String(value.to_owned());
        let table = format!("{key} = {value}")
            .parse::<Table>()
            .or_else(|_| format!("{key} = {string}").parse::<Table>())
            .unwrap_or_else(|_| nested(key, string));
        self.add(Origin::Command, table)
    }

    /// Adds the value of a flag.
    pub fn add_flag(
        &mut self,
        flag: &'static str,
        key: &str,
        value: impl Into<Value>,
    ) -> Result<(), String> {
        self.add(Origin::Flag(flag), nested(key, value.into()))
    }

    /// Every setting in force: dotted key, value, origin; in the order of the defaults.
    pub fn entries(&self) -> Vec<(String, &Value, &Origin)> {
        let mut keys = Vec::new();
        if let Some((_, defaults)) = self.layers.first() {
            collect_keys(defaults, "", &mut keys);
        }
        let mut entries = Vec::new();
        for key in keys {
            match self.get(&key) {
                Some((Value::Table(_), _)) => {
                    for (name, (value, origin)) in self.string_entries(&key) {
                        entries.push((dotted(&key, &quoted(name)), value, origin));
                    }
                }
                Some((value, origin)) => entries.push((key, value, origin)),
                None => {}
            }
        }
        entries
    }

    /// The names and strings of a table that takes any names, of all layers together.
    pub fn string_map(&self, key: &str) -> BTreeMap<String, String> {
        let entries = self.string_entries(key).into_iter();
        entries
            .filter_map(|(name, (value, _))| Some((name.to_owned(), value.as_str()?.to_owned())))
            .collect()
    }

    fn string_entries(&self, key: &str) -> BTreeMap<&str, (&Value, &Origin)> {
        let mut entries = BTreeMap::new();
        for (origin, table) in &self.layers {
            let table = get(table, key).and_then(Value::as_table);
            for (name, value) in table.into_iter().flatten() {
                entries.insert(name.as_str(), (value, origin));
            }
        }
        entries
    }

    /// The value in force of a dotted key, and where it comes from.
    pub fn get(&self, key: &str) -> Option<(&Value, &Origin)> {
        self.layers
            .iter()
            .rev()
            .find_map(|(origin, table)| get(table, key).map(|value| (value, origin)))
    }

    fn add(&mut self, origin: Origin, table: Table) -> Result<(), String> {
        if let Some((_, defaults)) = self.layers.first() {
            check(defaults, defaults, &table, "", &origin)?;
        }
        // Stable order: a file read after a flag must still lose to it.
        let at = self
            .layers
            .partition_point(|(existing, _)| *existing <= origin);
        self.layers.insert(at, (origin, table));
        Ok(())
    }
}

/// The settings in a file, if there is one.
fn read(path: &Path) -> Result<Option<Table>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(format!(
                "cannot read the settings file {}: {error}",
                path.display()
            ));
        }
    };
    let table = text.parse().map_err(|error: toml::de::Error| {
        format!("{} is not valid TOML:\n{error}", path.display())
    })?;
    Ok(Some(table))
}

fn nested(key: &str, value: Value) -> Table {
    let mut parts = key.rsplit('.');
    let mut table = Table::new();
    table.insert(parts.next().unwrap_or(key).to_owned(), value);
    for part in parts {
        let mut outer = Table::new();
        outer.insert(part.to_owned(), Value::Table(table));
        table = outer;
    }
    table
}

fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let mut value = table.get(parts.next()?)?;
    for part in parts {
        value = value.as_table()?.get(part)?;
    }
    Some(value)
}

fn collect_keys(table: &Table, prefix: &str, out: &mut Vec<String>) {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match value {
            Value::Table(inner) if !inner.is_empty() => collect_keys(inner, &key, out),
            _ => out.push(key),
        }
    }
}

/// A name as TOML takes it in a dotted key.
fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        Value::String(name.to_owned()).to_string()
    }
}

fn dotted(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

fn check(
    root: &Table,
    schema: &Table,
    table: &Table,
    prefix: &str,
    origin: &Origin,
) -> Result<(), String> {
    for (name, value) in table {
        let key = dotted(prefix, name);
        match (schema.get(name), value) {
            (None, Value::String(_)) if schema.is_empty() => {}
            (None, _) if schema.is_empty() => {
                return Err(format!(
                    "setting {key} = {value} ({origin}): expected a string"
                ));
            }
            (None, _) => return Err(unknown(root, &key, origin)),
            (Some(Value::Table(inner)), Value::Table(given)) => {
                check(root, inner, given, &key, origin)?;
            }
            (Some(expected), given) if !fits(expected, given) => {
                return Err(format!(
                    "setting {key} = {given} ({origin}): expected {}, such as {expected}",
                    kind(expected)
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn fits(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Integer(_), Value::Integer(number)) => *number >= 0,
        (Value::Array(_), Value::Array(items)) => items.iter().all(Value::is_str),
        _ => expected.same_type(given),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number from 0",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list of strings",
        Value::Table(_) => "a table",
    }
}

fn unknown(root: &Table, key: &str, origin: &Origin) -> String {
    let mut keys = Vec::new();
    collect_keys(root, "", &mut keys);
    // The last part alone is what users remember: `max_iterations` finds `agent.max_iterations`.
    let names = keys.iter().flat_map(|known| {
        let last = known.rsplit('.').next().unwrap_or(known);
        [(known.as_str(), known), (last, known)]
    });
    let way_out = match nearest_few(key, names, 1).pop() {
        Some(known) => format!("did you mean {known}?"),
        None => "`tiller config show` lists all settings".to_owned(),
    };
    format!("unknown setting {key} ({origin}): {way_out}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(layers: &mut Layers, text: &str) -> Result<(), String> {
        layers.add(Origin::User("/c/config.toml".into()), text.parse().unwrap())
    }

    // A5, A6
    #[test]
    fn precedence_is_the_order_of_origins_whatever_the_order_of_reading() {
        let mut layers = Layers::defaults();
        let limit = |layers: &Layers| {
            let (value, origin) = layers.get("agent.max_iterations").unwrap();
            (value.as_integer().unwrap(), origin.to_string())
        };
        assert_eq!(limit(&layers), (100, "default".to_owned()));
        layers
            .add_flag("--max-iterations", "agent.max_iterations", 5)
            .unwrap();
        layers.add_assignment("agent.max_iterations=4").unwrap();
        user(&mut layers, "agent.max_iterations = 2").unwrap();
        assert_eq!(limit(&layers), (5, "--max-iterations".to_owned()));
        layers.layers.pop();
        assert_eq!(limit(&layers), (4, "--config".to_owned()));
        layers.layers.pop();
        assert_eq!(limit(&layers), (2, "user: /c/config.toml".to_owned()));
    }

    #[test]
    fn what_is_not_in_the_defaults_is_refused_with_what_is_expected() {
        let mut layers = Layers::defaults();
        for (text, expected) in [
            (
                "agent.max_iteration = 2",
                "did you mean agent.max_iterations?",
            ),
            ("max_iterations = 2", "did you mean agent.max_iterations?"),
            (
                "[tools.bash]\ntimeout = 3",
                "did you mean tools.bash.timeout_seconds?",
            ),
            ("qqq = 2", "`tiller config show` lists all settings"),
            ("agent.max_iterations = \"ten\"", "a whole number"),
            ("agent.max_iterations = -1", "a whole number"),
            ("agent.skip_on_steering = 1", "true or false"),
            ("models.default = 7", "a string"),
            ("tools.bash.secret_env = [1]", "a list of strings"),
            ("agent = 3", "a table"),
            ("models.aliases = 3", "a table"),
            ("[models.aliases]\nfast = 3", "models.aliases.fast = 3"),
            ("models.fallback = \"a\"", "a list of strings"),
        ] {
            let error = user(&mut layers, text).unwrap_err();
            assert!(
                error.contains(expected) && error.contains("/c/config.toml"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn assignments_take_toml_and_bare_words() {
        let mut layers = Layers::defaults();
        layers
            .add_assignment("models.default=anthropic/x:high")
            .unwrap();
        layers.add_assignment("ui.theme = \"light\"").unwrap();
        layers
            .add_assignment("agent.skip_on_steering=false")
            .unwrap();
        let value = |key: &str| layers.get(key).unwrap().0.clone();
        assert_eq!(value("models.default").as_str(), Some("anthropic/x:high"));
        assert_eq!(value("ui.theme").as_str(), Some("light"));
        assert_eq!(value("agent.skip_on_steering").as_bool(), Some(false));
        assert!(
            layers
                .add_assignment("nonsense")
                .unwrap_err()
                .contains("KEY=VALUE")
        );
    }

    #[test]
    fn a_table_of_names_is_put_together_from_all_layers() {
        let mut layers = Layers::defaults();
        layers
            .add_assignment("models.aliases.fast = lab/c:low")
            .unwrap();
        user(
            &mut layers,
            "[models.aliases]\nfast = \"lab/a\"\n\"v1.5\" = \"lab/b\"\n",
        )
        .unwrap();
        let table = layers.string_map("models.aliases");
        assert_eq!(table["fast"], "lab/c:low");
        assert_eq!(table["v1.5"], "lab/b");
        let shown: Vec<String> = layers
            .entries()
            .into_iter()
            .filter(|(key, ..)| key.starts_with("models.aliases"))
            .map(|(key, value, origin)| format!("{key} = {value} # {origin}"))
            .collect();
        assert_eq!(
            shown,
            [
                "models.aliases.fast = \"lab/c:low\" # --config",
                "models.aliases.\"v1.5\" = \"lab/b\" # user: /c/config.toml",
            ]
        );
    }

    #[test]
    fn a_project_sets_less() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        for (text, refused) in [
            ("agent.max_iterations = 7\nmodels.default = \"lab/a\"", None),
            ("[agent.loop_guard]\nenabled = false", None),
            ("permission.mode = \"full\"", Some("permission.mode")),
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
            std::fs::write(&path, text).unwrap();
            let added = Layers::defaults().add_project_file(&path);
            match refused {
                None => assert_eq!(added, Ok(()), "{text}"),
                Some(key) => {
                    let error = added.unwrap_err();
                    assert!(
                        error.starts_with(&format!("setting {key} (project: ")),
                        "{error}"
                    );
                    assert!(error.contains("may not set it"), "{error}");
                }
            }
        }
        let mut layers = Layers::defaults();
        std::fs::write(&path, "agent.max_iterations = 7").unwrap();
        layers.add_project_file(&path).unwrap();
        user(&mut layers, "agent.max_iterations = 2").unwrap();
        assert_eq!(
            layers.get("agent.max_iterations").unwrap().0.as_integer(),
            Some(7)
        );
    }

    #[test]
    fn a_broken_file_is_named_and_a_missing_one_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let mut layers = Layers::defaults();
        layers.add_file(&path).unwrap();
        std::fs::write(&path, "[agent\n").unwrap();
        let error = layers.add_file(&path).unwrap_err();
        assert!(error.contains("config.toml is not valid TOML"), "{error}");
        let error = layers.add_file(dir.path()).unwrap_err();
        assert!(error.contains("cannot read the settings file"), "{error}");
    }
}
