//! The `apply_patch` tool against the public scenarios in `tests/conformance/apply_patch`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::TestTools;

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/apply_patch");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// All files below `folder`, by relative path.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(at: &Path, root: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        let Ok(entries) = fs::read_dir(at) else {
            return;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                // A dangling link is in the list, too.
                found.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

#[test]
fn every_public_scenario_passes() {
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), 25);
    for scenario in scenarios {
        let name = scenario.file_name().unwrap().to_string_lossy().into_owned();
        let tools = TestTools::new();
        let before = tree(&scenario.join("input"));
        for (path, bytes) in &before {
            tools.put(path.to_str().unwrap(), bytes);
        }
        let patch = fs::read_to_string(scenario.join("patch.txt")).unwrap();
        let result = tools.call("apply_patch", json!({ "patch": patch }));
        let expected = if name.starts_with("015") {
            before.clone()
        } else {
            tree(&scenario.join("expected"))
        };
        assert_eq!(tree(&tools.path("")), expected, "{name}: {result:?}");
        let changes = expected != before;
        assert_eq!(result.is_ok(), changes, "{name}: {result:?}");
    }
}
