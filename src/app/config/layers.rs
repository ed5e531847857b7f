//! Layers of settings, the last wins: defaults, user, trusted project, `--config`, flags.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::check::{RULES, check, collect_keys, dotted, fits, line_of, meant_value};
use super::project::keep_limits;
use crate::llm::toml_fault::reworded;

/// The default settings, in the format of a user's file.
pub const DEFAULTS: &str = include_str!("../../../assets/config.toml");

/// The source of a value, from weakest to strongest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Default,
    User(PathBuf),
    /// A trusted project's file.
    Project(PathBuf),
    /// `--config KEY=VALUE`.
    Command,
    /// A flag, such as `--model`.
    Flag(&'static str),
}

/// What the user sets in a sub-command.
pub const TYPED: Origin = Origin::Flag("command line");

impl Origin {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::User(path) | Self::Project(path) => Some(path),
            _ => None,
        }
    }
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
    pub(super) layers: Vec<Layer>,
    /// Why tiller ignores a trusted project's settings, if it does.
    pub project_fault: Option<String>,
    /// Whether the project limits calls but couldn't be read.
    pub project_unlimited: bool,
    /// Errors in ignored settings of the user's file.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub origin: Origin,
    pub table: Table,
    /// The text of the file; empty without a file.
    pub text: String,
}

impl Layer {
    pub(super) fn parse(origin: Origin, text: String) -> Result<Self, String> {
        let table = text.parse().map_err(|error: toml::de::Error| {
            let file = origin.file().unwrap_or(Path::new("settings"));
            let hint = match origin {
                Origin::User(_) => "; to fix that first: tiller config edit",
                _ => ":",
            };
            format!(
                "{} is not valid TOML{hint}\n{}",
                file.display(),
                error
                    .to_string()
                    .trim_end()
                    .replace(error.message(), &reworded(&text, &error))
            )
        })?;
        Ok(Self {
            origin,
            table,
            text,
        })
    }

    pub(super) fn new(origin: Origin, table: Table) -> Self {
        let text = String::new();
        Self {
            origin,
            table,
            text,
        }
    }

    pub fn value(&self, key: &str) -> Option<&Value> {
        get(&self.table, key)
    }

    /// Where `key` is set: the origin, with the line in a file.
    pub fn place(&self, key: &str) -> String {
        match line_of(&self.text, key) {
            Some(line) => format!("{}:{line}", self.origin),
            None => self.origin.to_string(),
        }
    }
}

/// Whether `typed` lacks a closing bracket.
fn is_unclosed(typed: &str) -> bool {
    let count = |bracket| typed.matches(bracket).count();
    count('[') > count(']') || count('{') > count('}')
}

impl Layers {
    pub fn defaults() -> Self {
        let table = DEFAULTS.parse();
        let table = table.expect("assets/config.toml is checked by a test");
        Self {
            layers: vec![Layer::new(Origin::Default, table)],
            project_fault: None,
            project_unlimited: false,
            left_out: Vec::new(),
        }
    }

    pub(super) fn add_text(&mut self, origin: Origin, text: String) -> Result<&Layer, String> {
        self.add(Layer::parse(origin, text)?)
    }

    /// Adds one `KEY=VALUE`. The value is TOML; a bare word is a string.
    pub fn add_assignment(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            format!("--config '{text}' is not KEY=VALUE, such as ui.vim=true; for a file, TILLER_CONFIG_DIR=DIR uses another folder")
        })?;
        let added = self.add_typed(&Origin::Command, key.trim(), value.trim());
        added.map(|_| ())
    }

    /// Adds a value as typed, which needn't be TOML (see `meant_value`), and returns it.
    pub fn add_typed(&mut self, origin: &Origin, key: &str, typed: &str) -> Result<Value, String> {
        let toml = typed.parse().ok();
        let defaults = &self.layers[0].table;
        let name = Value::from("");
        let expected = get(defaults, key).unwrap_or(&name);
        if toml.is_none() && (expected.is_array() || key == RULES) && is_unclosed(typed) {
            let example = match key {
                RULES => r#"[{tool="bash", prefix=["npm", "test"], action="allow"}]"#,
                _ => r#"["one", "two"]"#,
            };
            return Err(format!(
                "setting {key} ({origin}): a bracket isn't closed. A list looks like this: {key}={example}"
            ));
        }
        let value = match expected {
            _ if key == RULES => toml,
            expected => toml
                .clone()
                .filter(|it| fits(expected, it))
                .or_else(|| meant_value(expected, typed))
                .or(toml),
        };
        let value = value.unwrap_or_else(|| Value::from(typed));
        let added = self.add_value(origin.clone(), key, &value);
        added.map(|()| value)
    }

    pub fn add_value(&mut self, origin: Origin, key: &str, value: &Value) -> Result<(), String> {
        let table = format!("{key} = {value}").parse();
        let table = table.map_err(|_| {
            format!(
                "'{key}' is not the name of a setting; write KEY=VALUE, for example agent.max_iterations=50"
            )
        })?;
        self.add(Layer::new(origin, table)).map(|_| ())
    }

    /// Every current setting in the order of the defaults: dotted key, value, origin.
    pub fn entries(&self) -> Vec<(String, &Value, &Origin)> {
        let mut keys = Vec::new();
        if let Some(defaults) = self.layers.first() {
            collect_keys(&defaults.table, "", &mut keys);
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

    /// The names and strings of a free-form table, from all layers.
    pub fn string_map(&self, key: &str) -> BTreeMap<String, String> {
        let entries = self.string_entries(key).into_iter();
        entries
            .filter_map(|(name, (value, _))| Some((name.to_owned(), value.as_str()?.to_owned())))
            .collect()
    }

    fn string_entries(&self, key: &str) -> BTreeMap<&str, (&Value, &Origin)> {
        let mut entries = BTreeMap::new();
        for layer in &self.layers {
            let table = get(&layer.table, key).and_then(Value::as_table);
            for (name, value) in table.into_iter().flatten() {
                entries.insert(name.as_str(), (value, &layer.origin));
            }
        }
        entries
    }

    pub fn has_project(&self) -> bool {
        let origins = self.layers.iter().map(|layer| &layer.origin);
        origins
            .into_iter()
            .any(|origin| matches!(origin, Origin::Project(_)))
    }

    pub fn without_project(mut self) -> Self {
        self.layers
            .retain(|layer| !matches!(layer.origin, Origin::Project(_)));
        self
    }

    /// Keeps only a project's limits on calls.
    pub fn with_limits_of_project(mut self) -> Self {
        let of_project = |layer: &&mut Layer| matches!(layer.origin, Origin::Project(_));
        let layers = self.layers.iter_mut().filter(of_project);
        layers.for_each(|layer| keep_limits(&mut layer.table));
        self
    }

    /// The current value of a dotted key, and its origin.
    pub fn get(&self, key: &str) -> Option<(&Value, &Origin)> {
        let (value, layer) = self.find(key)?;
        Some((value, &layer.origin))
    }

    /// The current value of a dotted key, and its layer.
    pub(super) fn find(&self, key: &str) -> Option<(&Value, &Layer)> {
        let mut layers = self.layers.iter().rev();
        layers.find_map(|layer| Some((get(&layer.table, key)?, layer)))
    }

    /// The layers that set this key, weakest first.
    pub(super) fn with(&self, key: &str) -> impl Iterator<Item = &Layer> {
        let layers = self.layers.iter();
        layers.filter(move |layer| get(&layer.table, key).is_some())
    }

    /// The error `why` about the value of a setting, with its place.
    pub fn fault(&self, key: &str, why: &str) -> String {
        match self.find(key) {
            Some((value, layer)) => {
                format!("setting {key} = {value} ({}): {why}", layer.place(key))
            }
            None => format!("setting {key}: {why}"),
        }
    }

    pub(super) fn add(&mut self, layer: Layer) -> Result<&Layer, String> {
        if let Some(defaults) = self.layers.first() {
            check(&defaults.table, &layer.table, &|key| layer.place(key))?;
        }
        // Stable order: a file read after a flag must still lose to it.
        let at = self
            .layers
            .partition_point(|existing| existing.origin <= layer.origin);
        self.layers.insert(at, layer);
        Ok(&self.layers[at])
    }
}

pub(super) fn cannot_read(path: &Path, why: &dyn fmt::Display) -> String {
    format!("can't read the settings file {}: {why}", path.display())
}

pub(super) fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let mut value = table.get(parts.next()?)?;
    for part in parts {
        value = value.as_table()?.get(part)?;
    }
    Some(value)
}

/// Quotes a name for a dotted TOML key.
fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        Value::String(name.to_owned()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(layers: &mut Layers, text: &str) -> Result<(), String> {
        let origin = Origin::User("/c/config.toml".into());
        layers.add_text(origin, text.to_owned()).map(|_| ())
    }

    #[test]
    fn precedence_is_the_order_of_origins_whatever_the_order_of_reading() {
        let mut layers = Layers::defaults();
        let limit = |layers: &Layers| {
            let (value, origin) = layers.get("agent.max_iterations").unwrap();
            (value.as_integer().unwrap(), origin.to_string())
        };
        assert_eq!(limit(&layers), (100, "default".to_owned()));
        layers
            .add_value(
                Origin::Flag("--max-iterations"),
                "agent.max_iterations",
                &5.into(),
            )
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
            ("qqq = 2", "`tiller config list` lists all settings"),
            ("agent.max_iterations = \"ten\"", "a whole number"),
            ("budget.usd = \"2\"", "write 2, without quotes"),
            ("models.servers.vllm = \"x\"", "config get models.servers`"),
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
                error.contains(expected) && error.contains("/c/config.toml:"),
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
        for (open, told) in [
            ("models.favorites=[a,b", r#"favorites=["one", "two"]"#),
            ("permission.rules=[{", "permission.rules=[{tool="),
        ] {
            let why = layers.add_assignment(open).unwrap_err();
            assert!(why.contains("a bracket isn't closed"), "{why}");
            assert!(why.contains(told), "{why}");
        }
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
    fn a_broken_file_is_named_and_a_missing_one_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let mut layers = Layers::defaults();
        layers.add_user_file(&path).unwrap();
        std::fs::write(&path, "[agent\n").unwrap();
        let error = layers.add_user_file(&path).unwrap_err();
        let told = "config.toml is not valid TOML; to fix that first: tiller config edit";
        assert!(error.contains(told), "{error}");
        let error = layers.add_user_file(dir.path()).unwrap_err();
        assert!(error.contains("can't read the settings file"), "{error}");
    }

    #[test]
    fn a_wrong_setting_is_left_out_and_one_of_permission_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let mut layers = Layers::defaults();
        let text = "them = 'dark'\n[ui]\nnotify = 'whistle'\nvim = true\n[future]\na.b = 1\n";
        std::fs::write(&path, text).unwrap();
        layers.add_user_file(&path).unwrap();
        assert_eq!(layers.get("ui.vim").unwrap().0, &Value::Boolean(true));
        let left_out = layers.left_out.join("\n");
        for told in [
            "them (user: ",
            "config.toml:1)",
            "ui.notify = ",
            "config.toml:3)",
            "future (user: ",
        ] {
            assert!(left_out.contains(told), "{told}: {left_out}");
        }
        // A section of another agent is one mistake.
        let mut layers = Layers::defaults();
        let text = "[mcp_servers.foo]\ncommand = 'x'\n[mcp_servers.bar]\nurl = 'y'\n";
        std::fs::write(&path, text).unwrap();
        layers.add_user_file(&path).unwrap();
        let [fault] = &*layers.left_out else {
            panic!("{:?}", layers.left_out);
        };
        assert!(
            fault.contains("unknown setting mcp_servers (user: "),
            "{fault}"
        );
        assert!(fault.contains("config.toml:1)"), "{fault}");
        for text in [
            "[permission]\nmood = 'ask'\n",
            "[permission]\nmode = 'fool'\n",
            "[permision]\nmode = 'ask'\n",
            "mode = 'ask'\n",
            "[budget]\nusd = '5'\n",
            "[budgets]\nusd = 5.0\n",
            "[permisions]\ntimeout = 5\n",
            "approval_policy = 'never'\n",
            "[ui\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let mut layers = Layers::defaults();
            assert!(layers.add_user_file(&path).is_err(), "{text}");
        }
        let text = "[permission]\nmode = 'fool'\n[budget]\nusd = '5'\n[ui]\nnotify = 'whistle'\n";
        std::fs::write(&path, text).unwrap();
        let all = Layers::defaults().add_user_file(&path).unwrap_err();
        for line in ["config.toml:2)", "config.toml:4)", "config.toml:6)"] {
            assert_eq!(all.matches(line).count(), 1, "{line}: {all}");
        }
    }
}
