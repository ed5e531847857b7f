//! Folders and files in the settings: workspace, protected paths, caches writable for commands.

use std::path::{Path, PathBuf};

use super::layers::{Layer, Layers, Origin};
use crate::app::args::existing_folder;

/// Paths that a project may add to.
pub(super) const PROTECTED: &str = "permission.protected";
/// Folders that must exist.
pub const WRITABLE: &str = "permission.writable";

/// Absolute paths, which need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceSettings {
    /// Workspace folders besides the project's own.
    pub writable: Vec<PathBuf>,
    /// Protected paths besides the built-in list.
    pub protected: Vec<PathBuf>,
    /// Folders outside the workspace that sandboxed commands may write: build caches.
    pub caches: Vec<PathBuf>,
}

impl PlaceSettings {
    /// What's wrong with writable folders that aren't there, as `--add-dir` says it.
    pub fn missing_folders(&self) -> impl Iterator<Item = String> {
        self.writable.iter().filter_map(|folder| {
            let why = existing_folder(folder).err()?;
            Some(format!("{}: {why}", folder.display()))
        })
    }

    /// Warnings about paths that don't exist. They may be misspelled.
    pub fn missing(&self) -> Vec<String> {
        let missing = self
            .protected
            .iter()
            .filter(|path| path.symlink_metadata().is_err());
        let told = missing.map(|path| {
            format!(
                "{PROTECTED}: {} doesn't exist. If you misspelled it, nothing protects the right one",
                path.display()
            )
        });
        let folders = self.missing_folders();
        told.chain(folders.map(|why| format!("{WRITABLE}: {why}")))
            .collect()
    }
}

/// Parses them. A path that depends on the current folder is an error.
pub(super) fn place_settings(layers: &Layers) -> Result<PlaceSettings, String> {
    let strongest = |key| {
        layers
            .with(key)
            .last()
            .map_or(Ok(Vec::new()), |layer| paths(layer, key))
    };
    // Each layer adds to it, because a project must not unprotect a path.
    let protected = layers.with(PROTECTED).map(|layer| paths(layer, PROTECTED));
    let protected: Vec<Vec<PathBuf>> = protected.collect::<Result<_, _>>()?;
    Ok(PlaceSettings {
        writable: strongest(WRITABLE)?,
        protected: protected.concat(),
        caches: strongest("permission.caches")?,
    })
}

fn paths(layer: &Layer, key: &str) -> Result<Vec<PathBuf>, String> {
    let items = layer.value(key).and_then(|value| value.as_array());
    let texts = items.into_iter().flatten().filter_map(|item| item.as_str());
    let resolve = |text: &str| {
        // A folder includes everything in it, so `/*` and `/**` add nothing.
        let folder = text.strip_suffix("/**").or(text.strip_suffix("/*"));
        let folder = folder.unwrap_or(text);
        let wrong = if folder.contains(['*', '?', '[']) {
            "has a wildcard, which matches nothing here; name the folder or the file"
        } else if key == PROTECTED && !text.is_empty() {
            "isn't an absolute path; start it with / or ~/, or put it into the project's .tiller/config.toml, \
             where paths are relative"
        } else {
            "isn't an absolute path; start it with / or ~/"
        };
        let path = absolute(folder, &layer.origin).filter(|_| !folder.contains(['*', '?', '[']));
        path.ok_or_else(|| format!("setting {key} ({}): {text:?} {wrong}", layer.place(key)))
    };
    texts.map(resolve).collect()
}

/// A project's paths are relative to it.
fn absolute(text: &str, origin: &Origin) -> Option<PathBuf> {
    if text.is_empty() {
        return None;
    }
    let path = match (text.strip_prefix('~'), origin) {
        (Some(rest), _) if rest.is_empty() || rest.starts_with('/') => {
            std::env::home_dir()?.join(rest.trim_start_matches('/'))
        }
        (_, Origin::Project(file)) => file.parent().and_then(Path::parent)?.join(text),
        _ => PathBuf::from(text),
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_a_project_adds_what_is_protected() {
        let home = std::env::home_dir().unwrap();
        let mut layers = Layers::defaults();
        for text in [
            "permission.writable=[\"~\", \"~/w\", \"/w\"]",
            "permission.protected=[\"/mine\"]",
            "permission.caches=[]",
        ] {
            layers.add_assignment(text).unwrap();
        }
        let file = PathBuf::from("/shop/.tiller/config.toml");
        let text = "permission.protected = [\"secrets\", \"~/theirs\"]";
        layers
            .add_text(Origin::Project(file), text.to_owned())
            .unwrap();
        let places = place_settings(&layers).unwrap();
        assert_eq!(places.writable, [home.clone(), home.join("w"), "/w".into()]);
        let protected: [PathBuf; 3] = ["/shop/secrets".into(), home.join("theirs"), "/mine".into()];
        assert_eq!(places.protected, protected);
        assert!(places.caches.is_empty());
        let missing = places.missing();
        assert_eq!(missing.len(), 5, "{missing:?}");
        assert!(missing[2].contains("/mine doesn't exist"), "{missing:?}");
        let told = "permission.writable: /w: ";
        assert!(missing[4].starts_with(told), "{missing:?}");
    }

    #[test]
    fn a_path_that_means_another_one_elsewhere_is_refused() {
        for key in [
            "permission.writable",
            "permission.protected",
            "permission.caches",
        ] {
            for path in ["w", "./w", "../w", "~other/w", ""] {
                let mut layers = Layers::defaults();
                layers.add_assignment(&format!("{key}=[{path:?}]")).unwrap();
                let error = place_settings(&layers).unwrap_err();
                let expected = format!("setting {key} (--config): {path:?} isn't an absolute path");
                assert!(error.starts_with(&expected), "{error}");
                let place = "put it into the project's .tiller/config.toml";
                let is_protected = key == PROTECTED && !path.is_empty();
                assert_eq!(error.contains(place), is_protected, "{error}");
            }
        }
    }

    #[test]
    fn wildcards_are_refused_but_for_a_whole_folder() {
        let protected = |path: &str| {
            let mut layers = Layers::defaults();
            let assignment = format!("{PROTECTED}=[{path:?}]");
            layers.add_assignment(&assignment).unwrap();
            place_settings(&layers).map(|places| places.protected)
        };
        for path in ["/shop/secrets", "/shop/secrets/**", "/shop/secrets/*"] {
            assert_eq!(protected(path), Ok(vec!["/shop/secrets".into()]));
        }
        for path in ["/shop/*.pem", "/shop/**/key", "/shop/secret?", "/shop/[ab]"] {
            let error = protected(path).unwrap_err();
            assert!(error.contains("has a wildcard"), "{error}");
        }
    }

    #[test]
    fn the_shipped_caches_hold_no_programs_and_no_start_up_files() {
        let home = std::env::home_dir().unwrap();
        let places = place_settings(&Layers::defaults()).unwrap();
        assert!(!places.caches.is_empty());
        for cache in places.caches {
            let below = cache.strip_prefix(&home).unwrap();
            assert!(
                below.components().count() > 1,
                "{}: too much",
                below.display()
            );
            for program in [
                ".cargo/bin",
                ".local/bin",
                "go/bin",
                ".bun/bin",
                ".npm-global/bin",
                ".cache/pypoetry/virtualenvs",
            ] {
                assert!(
                    !Path::new(program).starts_with(below),
                    "{}",
                    below.display()
                );
            }
        }
    }
}
