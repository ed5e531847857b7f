//! Which tools the model can use, and which editing tool it gets.

use tiller::agent::toolbox::Lookup;
use tiller::agent::tools::builtin;
use tiller::agent::{ToolSelection, ToolSettings, Toolbox};
use tiller::llm::EditFormat::{self, ApplyPatch, Edit, Replace};

const ALL: &str = "read bash edit apply_patch replace write grep find ls";

/// The built-in tools with these names that `selection` allows.
fn select(names: &str, selection: &str) -> Result<Toolbox, String> {
    let mut tools = builtin(&ToolSettings::default());
    tools.retain(|tool| names.split(' ').any(|name| name == tool.spec().name));
    Toolbox::select(tools, &selection.parse()?)
}

fn offered(names: &str, selection: &str, format: EditFormat) -> String {
    let specs = select(names, selection).unwrap().specs(format);
    let names: Vec<_> = specs.into_iter().map(|spec| spec.name).collect();
    names.join(" ")
}

#[test]
fn one_editing_tool_is_offered_and_a_selection_applies_to_all() {
    let every = "read edit apply_patch replace write";
    for (tools, selection, format, expected) in [
        (every, "", Edit, "read edit write"),
        (every, "", ApplyPatch, "read apply_patch write"),
        (every, "", Replace, "read replace write"),
        (every, "coding", ApplyPatch, "read apply_patch write"),
        (every, "read_only", ApplyPatch, "read"),
        (every, "edit", Replace, "replace"),
        (every, "apply_patch", Edit, "edit"),
        (every, "-edit", ApplyPatch, "read write"),
        (every, "-replace", Edit, "read write"),
        ("read edit", "", ApplyPatch, "read edit"),
        ("apply_patch replace", "", Edit, "apply_patch"),
        ("apply_patch replace", "coding", Edit, "apply_patch"),
    ] {
        let got = offered(tools, selection, format);
        assert_eq!(got, expected, "{tools:?} {selection:?} {format:?}");
    }
}

#[test]
fn a_selection_can_have_sets_lists_and_signs() {
    for (selection, expected) in [
        ("", "read bash edit write grep find ls"),
        ("all", "read bash edit write grep find ls"),
        ("coding", "read bash edit write"),
        ("read_only", "read grep find ls"),
        ("read-only", "read grep find ls"),
        ("none", ""),
        ("grep, read", "read grep"),
        ("coding,+grep", "read bash edit write grep"),
        ("-bash", "read edit write grep find ls"),
        ("none,+ls", "ls"),
        ("all,read", "read"),
        ("coding,ls", "ls"),
        ("read,bash,-bash", "read"),
        ("+bash,-bash,read", "read"),
    ] {
        assert_eq!(offered(ALL, selection, Edit), expected, "{selection:?}");
    }
}

#[test]
fn unknown_names_are_reported() {
    let error = select(ALL, "reed").err().unwrap();
    assert!(
        error.starts_with("unknown tool 'reed' (did you mean 'read'?). Tools: read, bash, "),
        "{error}"
    );
    assert!(select(ALL, "attach").is_err());
    assert!("all,none".parse::<ToolSelection>().is_err());
    assert!("all,all".parse::<ToolSelection>().is_ok());
}

#[test]
fn a_blocked_tool_is_not_unknown() {
    let toolbox = select(ALL, "-edit").unwrap();
    assert!(matches!(toolbox.find("read"), Lookup::Tool(_)));
    assert!(matches!(toolbox.find("apply_patch"), Lookup::Blocked));
    assert!(matches!(toolbox.find("foo"), Lookup::Unknown));
}

#[test]
fn of_two_tools_with_one_name_the_first_wins() {
    let settings = ToolSettings::default();
    let twice = builtin(&settings).into_iter().chain(builtin(&settings));
    let once = builtin(&settings).len();
    assert_eq!(Toolbox::new(twice.collect()).tools().len(), once);
}
