//! The tools of one agent: which are there, which of them the model may use, which shape of editing
//! it is offered, and whether arguments fit. Runs none of them.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::schema::Schema;
use super::tool::Tool;
use crate::llm::nearest::nearest;
use crate::llm::{EditFormat, ToolSpec};

/// What policies call the editing tools: they are shapes of one. Which is offered depends on the
/// model; a call to any of them is understood, and a policy for one holds for all.
const EDIT: &str = "edit";

/// The tools an agent may use, and those it knows but may not.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    /// Schemas of `tools`, compiled when first needed: each costs milliseconds.
    schemas: Vec<Arc<OnceLock<Schema>>>,
    blocked: Vec<String>,
}

/// What a name stands for.
pub enum Lookup<'a> {
    /// A tool that may be used.
    Tool(&'a Arc<dyn Tool>),
    /// A tool that policy keeps from the model.
    Blocked,
    /// Nothing.
    Unknown,
}

impl Toolbox {
    /// A toolbox of `tools`, all allowed. Of two with one name the first counts.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut toolbox = Self::default();
        for tool in tools {
            if toolbox.position(&tool.spec().name).is_none() {
                toolbox.tools.push(tool);
                toolbox.schemas.push(Arc::default());
            }
        }
        toolbox
    }

    /// Of `tools`, those that `selection` allows; the others are known as blocked.
    ///
    /// # Errors
    /// When the selection names a tool that is not among them, with the names that are.
    pub fn select(tools: Vec<Arc<dyn Tool>>, selection: &ToolSelection) -> Result<Self, String> {
        let names = |keep: fn(&Arc<dyn Tool>) -> bool| -> Vec<String> {
            let kept = tools.iter().filter(|tool| keep(tool));
            kept.map(|tool| tool.spec().name.clone()).collect()
        };
        selection.check_names(&names(|_| true))?;
        let editing = names(|tool| tool.edit_format().is_some());
        let (allowed, others): (Vec<_>, Vec<_>) = tools
            .into_iter()
            .partition(|tool| selection.allows(&tool.spec().name, &editing));
        let mut toolbox = Self::new(allowed);
        toolbox.blocked = others.iter().map(|tool| tool.spec().name.clone()).collect();
        Ok(toolbox)
    }

    /// The tools, in the order the model sees them.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// What a model that edits in `format` is told of the tools: of the editing tools only the one
    /// of its shape, or the first there is when that one is missing. Blocked tools are not
    /// mentioned.
    pub fn specs(&self, format: EditFormat) -> Vec<ToolSpec> {
        let formats = || self.tools.iter().filter_map(|tool| tool.edit_format());
        let offered = formats()
            .find(|own| *own == format)
            .or_else(|| formats().next());
        let is_offered = |tool: &&Arc<dyn Tool>| match tool.edit_format() {
            None => true,
            own => own == offered,
        };
        let tools = self.tools.iter().filter(is_offered);
        tools.map(|tool| tool.spec().clone()).collect()
    }

    /// What `name` stands for.
    pub fn find(&self, name: &str) -> Lookup<'_> {
        match self.position(name) {
            Some(index) => Lookup::Tool(&self.tools[index]),
            None if self.blocked.iter().any(|blocked| blocked == name) => Lookup::Blocked,
            None => Lookup::Unknown,
        }
    }

    /// Arguments for the tool `name` as it should get them: coerced where it takes that.
    ///
    /// # Errors
    /// Everything that does not fit the tool's schema, joined by `; `.
    pub fn check(&self, name: &str, args: Value) -> Result<Value, String> {
        let Some(index) = self.position(name) else {
            return Ok(args);
        };
        self.schemas[index]
            .get_or_init(|| self.tools[index].schema())
            .check(args)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.spec().name == name)
    }
}

/// What policies call a tool.
fn policy_name<'a>(name: &'a str, editing: &[String]) -> &'a str {
    if editing.iter().any(|editing| editing == name) {
        EDIT
    } else {
        name
    }
}

/// A named set of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// Every tool there is.
    #[default]
    All,
    /// What changes code, without the searching tools (bash searches too).
    Coding,
    /// What only looks.
    ReadOnly,
    /// None.
    None,
}

/// The sets by the names users write.
const SETS: [(&str, ToolSet); 4] = [
    ("all", ToolSet::All),
    ("coding", ToolSet::Coding),
    ("read_only", ToolSet::ReadOnly),
    ("none", ToolSet::None),
];

impl ToolSet {
    /// Its members; none means that everything is one.
    fn members(self) -> Option<&'static [&'static str]> {
        match self {
            Self::All => None,
            Self::Coding => Some(&["read", "bash", EDIT, "write", "attach"]),
            Self::ReadOnly => Some(&["read", "grep", "find", "ls"]),
            Self::None => Some(&[]),
        }
    }

    fn contains(self, name: &str) -> bool {
        self.members().is_none_or(|members| members.contains(&name))
    }
}

/// Which tools a user lets the model use. Written as `all`, `coding`, `read_only` or `none`, or
/// as names (`read,grep`), then `+name` and `-name`, in any order, joined by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// The base.
    pub set: ToolSet,
    /// When given, counts instead of the set.
    pub allow: Option<Vec<String>>,
    /// Allowed besides.
    pub add: Vec<String>,
    /// Applied last: blocked wins over everything.
    pub block: Vec<String>,
}

impl ToolSelection {
    /// Whether the tool `name` may be used; `editing` are the names of the editing tools.
    fn allows(&self, name: &str, editing: &[String]) -> bool {
        let name = policy_name(name, editing);
        let listed = |list: &[String]| {
            list.iter()
                .any(|listed| policy_name(listed, editing) == name)
        };
        let base = match &self.allow {
            Some(allow) => listed(allow),
            None => self.set.contains(name),
        };
        (base || listed(&self.add)) && !listed(&self.block)
    }

    fn check_names(&self, known: &[String]) -> Result<(), String> {
        let of_sets = SETS.iter().filter_map(|(_, set)| set.members()).flatten();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let tolerated: Vec<&str> = of_sets.copied().collect();
        let allow = self.allow.iter().flatten();
        for name in allow.chain(&self.add).chain(&self.block) {
            if !known.contains(&name.as_str()) && !tolerated.contains(&name.as_str()) {
                return Err(unknown(name, &known));
            }
        }
        Ok(())
    }
}

impl FromStr for ToolSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut selection = Self::default();
        let mut set = None;
        for item in text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            let named_set = SETS
                .iter()
                .find(|(name, _)| *name == item.replace('-', "_"));
            if let Some(name) = item.strip_prefix('+') {
                selection.add.push(name.trim().to_owned());
            } else if let Some(name) = item.strip_prefix('-') {
                selection.block.push(name.trim().to_owned());
            } else if let Some((_, named)) = named_set {
                if set.replace(*named).is_some_and(|before| before != *named) {
                    return Err(format!("two tool sets in '{text}': give one"));
                }
            } else {
                selection
                    .allow
                    .get_or_insert_default()
                    .push(item.to_owned());
            }
        }
        selection.set = set.unwrap_or_default();
        Ok(selection)
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!(" (did you mean '{near}'?)"),
        None => String::new(),
    };
    let known = known.join(", ");
    format!("unknown tool '{name}'{hint}: there are {known}; sets are all, coding, read_only, none")
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;
    use serde_json::json;

    use super::super::tool::{Details, TextDetails, ToolContext, ToolError, ToolOutput};
    use super::*;

    struct Named(ToolSpec);

    impl Tool for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn edit_format(&self) -> Option<EditFormat> {
            match self.0.name.as_str() {
                "edit" => Some(EditFormat::Edit),
                "apply_patch" => Some(EditFormat::ApplyPatch),
                "replace" => Some(EditFormat::Replace),
                _ => None,
            }
        }

        fn schema(&self) -> Schema {
            Schema::lenient(&self.0.parameters)
        }

        fn preview(&self, _: &Value) -> Details {
            Details::Text(TextDetails::default())
        }

        fn execute(
            &self,
            _: Value,
            _: ToolContext,
        ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
            Box::pin(async { Err(ToolError::new("not for running")) })
        }
    }

    fn all() -> Vec<Arc<dyn Tool>> {
        named(&["read", "write", "edit", "bash", "grep", "find", "ls"])
    }

    fn named(names: &[&str]) -> Vec<Arc<dyn Tool>> {
        names
            .iter()
            .map(|&name| {
                Arc::new(Named(ToolSpec {
                    name: name.into(),
                    description: String::new(),
                    parameters: json!({
                        "type": "object",
                        "properties": { "n": { "type": "integer" } },
                    }),
                    ..ToolSpec::default()
                })) as Arc<dyn Tool>
            })
            .collect()
    }

    // K23, Q 9 to 11
    #[test]
    fn one_shape_of_editing_is_offered_and_policy_is_for_all_of_them() {
        use EditFormat::{ApplyPatch, Edit, Replace};
        let every = ["read", "edit", "apply_patch", "replace", "write"];
        for (tools, selection, format, expected) in [
            (&every[..], "", Edit, "read edit write"),
            (&every, "", ApplyPatch, "read apply_patch write"),
            (&every, "", Replace, "read replace write"),
            (&every, "coding", ApplyPatch, "read apply_patch write"),
            (&every, "read_only", ApplyPatch, "read"),
            (&every, "edit", Replace, "replace"),
            (&every, "apply_patch", Edit, "edit"),
            (&every, "-edit", ApplyPatch, "read write"),
            (&every, "-replace", Edit, "read write"),
            (&every[..2], "", ApplyPatch, "read edit"),
            (&every[2..4], "", Edit, "apply_patch"),
        ] {
            let got = offered(named(tools), selection, format);
            assert_eq!(got, expected, "{tools:?} {selection:?} {format:?}");
        }
        let toolbox = Toolbox::select(named(&every), &"-edit".parse().unwrap()).unwrap();
        assert!(matches!(toolbox.find("apply_patch"), Lookup::Blocked));
        let toolbox = Toolbox::new(named(&every));
        assert!(matches!(toolbox.find("replace"), Lookup::Tool(_)));
    }

    fn names(text: &str) -> String {
        offered(all(), text, EditFormat::Edit)
    }

    fn offered(tools: Vec<Arc<dyn Tool>>, selection: &str, format: EditFormat) -> String {
        let toolbox = Toolbox::select(tools, &selection.parse().unwrap()).unwrap();
        let specs = toolbox.specs(format).into_iter();
        let names: Vec<_> = specs.map(|spec| spec.name).collect();
        names.join(" ")
    }

    // K20, K21
    #[test]
    fn sets_lists_and_signs() {
        for (text, expected) in [
            ("", "read write edit bash grep find ls"),
            ("all", "read write edit bash grep find ls"),
            ("coding", "read write edit bash"),
            ("read_only", "read grep find ls"),
            ("read-only", "read grep find ls"),
            ("none", ""),
            ("grep, read", "read grep"),
            ("coding,+grep", "read write edit bash grep"),
            ("-bash", "read write edit grep find ls"),
            ("none,+ls", "ls"),
            ("all,read", "read"),
            ("read,bash,-bash", "read"),
            ("+bash,-bash,read", "read"),
            ("coding,-attach", "read write edit bash"),
        ] {
            assert_eq!(names(text), expected, "{text:?}");
        }
    }

    #[test]
    fn wrong_names_are_told() {
        let text = Toolbox::select(all(), &"reed".parse().unwrap())
            .err()
            .unwrap();
        assert!(text.starts_with("unknown tool 'reed' (did you mean 'read'?): there are read, "));
        assert!("all,none".parse::<ToolSelection>().is_err());
        assert!("all,all".parse::<ToolSelection>().is_ok());
    }

    // K22
    #[test]
    fn blocked_is_not_unknown() {
        let toolbox = Toolbox::select(all(), &"-bash".parse().unwrap()).unwrap();
        assert!(matches!(toolbox.find("read"), Lookup::Tool(_)));
        assert!(matches!(toolbox.find("bash"), Lookup::Blocked));
        assert!(matches!(toolbox.find("foo"), Lookup::Unknown));
        assert_eq!(
            toolbox.check("read", json!({ "n": "5" })),
            Ok(json!({ "n": 5 }))
        );
        let compiled =
            |toolbox: &Toolbox| toolbox.schemas.iter().filter(|s| s.get().is_some()).count();
        assert_eq!(compiled(&toolbox), 1, "schemas compile when first needed");
        assert_eq!(compiled(&toolbox.clone()), 1, "and once for all clones");
    }

    #[test]
    fn the_first_of_two_tools_with_one_name_counts() {
        let twice = all().into_iter().chain(all()).collect();
        assert_eq!(Toolbox::new(twice).tools().len(), 7);
    }
}
