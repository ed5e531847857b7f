//! The names by which hooks know tools and their arguments: Claude Code's.

use serde_json::{Map, Value, json};

/// Our tools and what hooks call them. The first is the name they see; a matcher may use any.
const TOOLS: [(&str, &[&str]); 9] = [
    ("bash", &["Bash"]),
    ("read", &["Read"]),
    ("write", &["Write"]),
    ("edit", &["Edit", "MultiEdit"]),
    ("apply_patch", &["apply_patch", "Edit", "Write", "MultiEdit"]),
    ("grep", &["Grep"]),
    ("find", &["Glob"]),
    ("ls", &["LS"]),
    ("todo", &["TodoWrite"]),
];

/// Arguments with another name there.
const ARGUMENTS: [(&str, &str); 3] = [
    ("old_text", "old_string"),
    ("new_text", "new_string"),
    ("allow_multiple", "replace_all"),
];

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

/// The arguments of tool `name` under the names that hooks know.
pub(super) fn tool_input(name: &str, args: &Value) -> Value {
    let Value::Object(map) = args else {
        return args.clone();
    };
    let renamed = |map: &Map<String, Value>| -> Map<String, Value> {
        let rename = |key: &String| {
            let known = ARGUMENTS.iter().find(|(ours, _)| ours == key);
            known.map_or_else(|| key.clone(), |(_, theirs)| (*theirs).to_owned())
        };
        map.iter().map(|(key, value)| (rename(key), value.clone())).collect()
    };
    let mut input = match name {
        "edit" => renamed(map),
        _ => map.clone(),
    };
    match name {
        "edit" => {
            if let Some(Value::Array(edits)) = input.get_mut("edits") {
                for edit in edits {
                    if let Value::Object(one) = edit {
                        *one = renamed(one);
                    }
                }
            }
        }
        "apply_patch" => {
            if let Some(patch) = input.remove("patch") {
                input.insert("command".to_owned(), patch);
            }
        }
        _ => {}
    }
    Value::Object(input)
}

/// The arguments of tool `name` from those of a hook.
pub(crate) fn from_input(name: &str, input: &Value) -> Value {
    let mut args = input.clone();
    if let (Value::Object(map), "apply_patch") = (&mut args, name)
        && let Some(patch) = map.remove("command")
    {
        map.insert("patch".to_owned(), patch);
    }
    args
}

/// What hooks learn of a result: a command's output has fields of its own.
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
        let args = json!({"file_path": "a", "edits": [{"old_text": "x", "new_text": "y"}]});
        let input = json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]});
        assert_eq!(tool_input("edit", &args), input);
        let patch = json!({"patch": "*** Begin Patch"});
        let input = tool_input("apply_patch", &patch);
        assert_eq!(input, json!({"command": "*** Begin Patch"}));
        assert_eq!(from_input("apply_patch", &input), patch);
    }
}
