//! The names by which hooks know tools and their arguments: Claude Code's.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Our tools and what hooks call them. The first is the name they see; a matcher may use any.
const TOOLS: [(&str, &[&str]); 11] = [
    ("bash", &["Bash"]),
    ("read", &["Read"]),
    ("write", &["Write"]),
    ("edit", &["Edit", "MultiEdit"]),
    ("replace", &["Edit", "MultiEdit"]),
    (
        "apply_patch",
        &["apply_patch", "Edit", "Write", "MultiEdit"],
    ),
    ("grep", &["Grep"]),
    ("find", &["Glob"]),
    ("ls", &["LS"]),
    ("todo", &["TodoWrite"]),
    ("web_fetch", &["WebFetch"]),
];

/// Arguments of tools with another name there.
const OF_EDIT: [(&str, &str); 2] = [("old_text", "old_string"), ("new_text", "new_string")];
const OF_REPLACE: [(&str, &str); 1] = [("allow_multiple", "replace_all")];
const OF_PATCH: [(&str, &str); 1] = [("patch", "command")];

/// The names of tool `name`: the one that hooks see, then others that a matcher may use.
pub(super) fn tool_names(name: &str) -> Vec<&str> {
    let known = TOOLS.iter().find(|(ours, _)| *ours == name);
    let theirs = known.map_or(&[][..], |(_, theirs)| theirs);
    let mut names = theirs.to_vec();
    if !names.contains(&name) {
        names.push(name);
    }
    names
}

/// The arguments of tool `name` under the names that hooks know, with absolute paths.
pub(super) fn tool_input(name: &str, args: &Value, cwd: &Path) -> Value {
    let Value::Object(map) = args else {
        return args.clone();
    };
    let mut input = renamed(map, |key| {
        let pair = pairs(name).iter().find(|(ours, _)| *ours == key);
        pair.map(|(_, theirs)| *theirs)
    });
    // One edit in a list has the form of a single one.
    if edits(&mut input).is_some_and(|edits| edits.len() == 1)
        && let Some(Value::Array(edits)) = input.remove("edits")
    {
        let only = edits
            .into_iter()
            .filter_map(|edit| edit.as_object().cloned());
        input.extend(only.flatten());
    }
    if tool_names(name).len() > 1 {
        for key in ["file_path", "path"] {
            if let Some(Value::String(path)) = input.get_mut(key) {
                *path = cwd.join(&*path).to_string_lossy().into_owned();
            }
        }
    }
    Value::Object(input)
}

/// The arguments of tool `name` from those of a hook.
pub(crate) fn from_input(name: &str, input: &Value) -> Value {
    let Value::Object(map) = input else {
        return input.clone();
    };
    Value::Object(renamed(map, |key| {
        let pair = pairs(name).iter().find(|(_, theirs)| *theirs == key);
        pair.map(|(ours, _)| *ours)
    }))
}

fn pairs(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "edit" => &OF_EDIT,
        "replace" => &OF_REPLACE,
        "apply_patch" => &OF_PATCH,
        _ => &[],
    }
}

fn edits(input: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    input.get_mut("edits").and_then(Value::as_array_mut)
}

/// `map` and the edits in it, with the new names that `name` has for keys.
fn renamed(
    map: &Map<String, Value>,
    name: impl Fn(&str) -> Option<&'static str> + Copy,
) -> Map<String, Value> {
    let entries = map.iter().map(|(key, value)| {
        let key = name(key).unwrap_or(key);
        (key.to_owned(), value.clone())
    });
    let mut all: Map<String, Value> = entries.collect();
    for edit in edits(&mut all).into_iter().flatten() {
        if let Value::Object(one) = edit {
            *one = renamed(one, name);
        }
    }
    all
}

/// The result of a tool, in the form that hooks expect: an object for a command, else text.
pub(super) fn tool_response(name: &str, text: &str) -> Value {
    if name == "bash" {
        return json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false});
    }
    Value::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_the_names_that_they_know() {
        assert_eq!(tool_names("edit"), ["Edit", "MultiEdit", "edit"]);
        assert_eq!(tool_names("mcp__lab__x"), ["mcp__lab__x"]);
        let pair = |old, new| json!({"old_text": old, "new_text": new});
        let args = json!({"file_path": "/w/a", "edits": [pair("x", "y"), pair("v", "w")]});
        let pair = |old, new| json!({"old_string": old, "new_string": new});
        let input = json!({"file_path": "/w/a", "edits": [pair("x", "y"), pair("v", "w")]});
        assert_eq!(tool_input("edit", &args, Path::new("/w")), input);
        assert_eq!(from_input("edit", &input), args);
        let one = json!({"file_path": "a", "edits": [args["edits"][0]]});
        let input = json!({"file_path": "/w/a", "old_string": "x", "new_string": "y"});
        assert_eq!(tool_input("edit", &one, Path::new("/w")), input);
        let args = json!({"file_path": "/w/a", "old_text": "x", "new_text": "y"});
        assert_eq!(from_input("edit", &input), args);
        let patch = json!({"patch": "*** Begin Patch"});
        let input = tool_input("apply_patch", &patch, Path::new("/w"));
        assert_eq!(input, json!({"command": "*** Begin Patch"}));
        assert_eq!(from_input("apply_patch", &input), patch);
    }
}
