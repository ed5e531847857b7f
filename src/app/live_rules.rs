//! The stored permission rules of a running session: reads them again after their files have changed. The other
//! settings need a restart, and it says so if `config.toml` changes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::config::Settings;
use super::dirs::Dirs;
use super::outcome::StartError;
use super::plan;
use super::trust::{Trust, Verdict};
use crate::agent::RuleSource;
use crate::agent::permission::Rule;
use crate::llm::read_small::read_small;

/// Settings whose change needs no restart: rules apply at once, and a session has its own model.
const NEED_NO_RESTART: [&str; 2] = ["permission.rules", "models.default"];

/// What differs after a file's change; `None` without a file.
pub type Stamp = Option<(u64, u64, (i64, i64), (i64, i64))>;

/// The files with the rules for a folder.
pub struct LiveRules {
    dirs: Dirs,
    cwd: PathBuf,
    /// `--trust`.
    trusts: bool,
    /// The values of `--config`.
    config: Vec<String>,
    read: [Stamp; 3],
    /// The user's settings file.
    own: Table,
}

impl LiveRules {
    /// Expects the rules to be read already, from the files as they are.
    pub fn new(dirs: Dirs, cwd: &Path, trusts: bool, config: Vec<String>) -> Self {
        let mut rules = Self {
            dirs,
            cwd: cwd.to_owned(),
            trusts,
            config,
            read: [None; 3],
            own: Table::new(),
        };
        rules.read = rules.stamps();
        rules.own = rules.own_settings().unwrap_or_default();
        rules
    }

    fn stamps(&self) -> [Stamp; 3] {
        let of_project = Trust::settings_file(&self.cwd);
        [
            stamp(&self.dirs.config_file()),
            stamp(&self.dirs.projects_file()),
            stamp(&of_project),
        ]
    }

    /// The user's settings; `None` if the file isn't valid.
    fn own_settings(&self) -> Option<Table> {
        match read_small(&self.dirs.config_file()) {
            Ok(text) => text.parse().ok(),
            Err(error) => (error.kind() == std::io::ErrorKind::NotFound).then(Table::new),
        }
    }

    fn rules(&self) -> Result<Vec<Rule>, StartError> {
        let mut trust = Trust::load(&self.dirs.projects_file(), &self.cwd)?;
        if self.trusts {
            trust.verdict = Verdict::Trusted;
        }
        let layers = plan::layers(&self.dirs, Some(&trust), &self.config)?;
        if let (true, Some(fault)) = (layers.project_unlimited, &layers.project_fault) {
            return Err(StartError::usage(fault.clone()));
        }
        let settings = Settings::resolve(&layers).map_err(StartError::usage)?;
        let mut rules = settings.permission_rules.rules;
        rules.extend(trust.rules);
        Ok(rules)
    }
}

impl RuleSource for LiveRules {
    fn changed(&mut self) -> Option<Result<Vec<Rule>, String>> {
        // Before reading, so that a change during it is found next time.
        let now = self.stamps();
        if self.read == now {
            return None;
        }
        self.read = now;
        Some(self.rules().map_err(|error| error.message))
    }

    fn other_changes(&mut self) -> Option<String> {
        let now = self.own_settings()?;
        let mut keys = BTreeSet::new();
        differing(&self.own, &now, "", &mut keys);
        self.own = now;
        keys.retain(|key| !NEED_NO_RESTART.contains(&&**key));
        let keys: Vec<String> = keys.into_iter().collect();
        (!keys.is_empty()).then(|| {
            let keys = keys.join(", ");
            format!("config.toml has changed: {keys}. Restart tiller to use it")
        })
    }
}

/// Collects the dotted keys whose values differ.
fn differing(one: &Table, other: &Table, prefix: &str, keys: &mut BTreeSet<String>) {
    let none = Value::Table(Table::new());
    for name in one.keys().chain(other.keys()) {
        let [before, after] = [one, other].map(|it| it.get(name));
        let tables = [before, after].map(|it| it.unwrap_or(&none).as_table());
        let key = format!("{prefix}{name}");
        if let [Some(before), Some(after)] = tables {
            differing(before, after, &format!("{key}."), keys);
        } else if before != after {
            keys.insert(key);
        }
    }
}

/// What to compare to find out whether `file` has changed.
pub fn stamp(file: &Path) -> Stamp {
    let file = fs::metadata(file).ok()?;
    let (modified, changed) = (
        (file.mtime(), file.mtime_nsec()),
        (file.ctime(), file.ctime_nsec()),
    );
    Some((file.ino(), file.size(), modified, changed))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const ALLOWS: &str =
        "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"make\"]\naction = \"allow\"\n";
    const DENIES: &str =
        "[[permission.rules]]\ntool = \"bash\"\nprefix = [\"rm\"]\naction = \"deny\"\n";

    #[test]
    fn changed_files_are_read_again_and_a_broken_one_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join(".tiller")).unwrap();
        let home = folder.path().to_string_lossy().into_owned();
        let env = HashMap::from([("HOME".to_owned(), home)]);
        let dirs = Dirs::from_env(&env, || None).unwrap();
        fs::create_dir_all(&dirs.config).unwrap();
        let assigned = "permission.rules=[{tool=\"bash\", prefix=[\"ls\"], action=\"ask\"}]";
        let mut source = LiveRules::new(dirs.clone(), &root, false, vec![assigned.to_owned()]);
        let mut changed = || {
            let rules = source.changed()?;
            Some(rules.map(|all| all.iter().map(Rule::what).collect::<Vec<_>>().join("; ")))
        };
        assert_eq!(changed(), None);
        fs::write(dirs.config_file(), ALLOWS).unwrap();
        let own = "allow bash \"make\"; ask bash \"ls\"";
        assert_eq!(changed(), Some(Ok(own.to_owned())));
        assert_eq!(changed(), None);
        // The project's count once it is trusted.
        fs::write(root.join(".tiller/config.toml"), DENIES).unwrap();
        assert_eq!(changed(), Some(Ok(own.to_owned())));
        let trust = Trust::load(&dirs.projects_file(), &root).unwrap();
        trust.with_verdict(true).keep().unwrap();
        let all = "allow bash \"make\"; deny bash \"rm\"; ask bash \"ls\"";
        assert_eq!(changed(), Some(Ok(all.to_owned())));
        for (file, text) in [
            (dirs.config_file(), "[permission\n"),
            (dirs.config_file(), ALLOWS),
            (root.join(".tiller/config.toml"), "[permission\nrules"),
        ] {
            fs::write(file, text).unwrap();
            let is_broken = text != ALLOWS;
            assert_eq!(changed().map(|it| it.is_err()), Some(is_broken), "{text}");
            assert_eq!(changed(), None);
        }
    }

    #[test]
    fn changed_settings_that_need_a_restart_are_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_string_lossy().into_owned();
        let env = HashMap::from([("HOME".to_owned(), home)]);
        let dirs = Dirs::from_env(&env, || None).unwrap();
        fs::create_dir_all(&dirs.config).unwrap();
        fs::write(dirs.config_file(), "[ui]\nvim = true\n").unwrap();
        let mut source = LiveRules::new(dirs.clone(), folder.path(), false, Vec::new());
        let own = "[budget]\nusd = 2.0\n[models]\ndefault = \"a/b\"\n";
        for (text, told) in [
            (format!("{own}{ALLOWS}"), Some("budget.usd, ui.vim")),
            (own.to_owned(), None),
            ("[ui\n".to_owned(), None),
            (own.replace('2', "3"), Some("budget.usd")),
        ] {
            fs::write(dirs.config_file(), &text).unwrap();
            let told = told
                .map(|keys| format!("config.toml has changed: {keys}. Restart tiller to use it"));
            assert_eq!(source.other_changes(), told, "{text}");
            assert_eq!(source.other_changes(), None);
        }
    }
}
