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

    /// The tools as a model that edits in `format` gets them: of the editing tools only the one
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

/// The sets by the names users write, and what is in them; none means everything.
const SETS: [(&str, Option<&[&str]>); 4] = [
    ("all", None),
    // What changes code, without the searching tools (bash searches too).
    ("coding", Some(&["read", "bash", EDIT, "write"])),
    ("read_only", Some(&["read", "grep", "find", "ls"])),
    ("none", Some(&[])),
];

/// Which tools a user lets the model use. Written as `all`, `coding`, `read_only` or `none`, or
/// as names (`read,grep`), then `+name` and `-name`, in any order, joined by commas. Names count
/// instead of a set, and what is taken away is taken away last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// The base; none is every tool.
    base: Option<Vec<String>>,
    add: Vec<String>,
    block: Vec<String>,
}

impl ToolSelection {
    /// Whether the tool `name` may be used; `editing` are the names of the editing tools.
    fn allows(&self, name: &str, editing: &[String]) -> bool {
        let name = policy_name(name, editing);
        let listed = |list: &Vec<String>| {
            list.iter()
                .any(|listed| policy_name(listed, editing) == name)
        };
        (self.base.as_ref().is_none_or(listed) || listed(&self.add)) && !listed(&self.block)
    }

    fn check_names(&self, known: &[String]) -> Result<(), String> {
        let of_sets = SETS.iter().filter_map(|(_, members)| *members).flatten();
        let tolerated: Vec<&str> = of_sets.copied().collect();
        let mut named = self
            .base
            .iter()
            .flatten()
            .chain(&self.add)
            .chain(&self.block);
        let wrong = named.find(|name| !known.contains(name) && !tolerated.contains(&name.as_str()));
        wrong.map_or(Ok(()), |name| Err(unknown(name, known)))
    }
}

impl FromStr for ToolSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut selection = Self::default();
        let mut set = None;
        let items = text.split(',').map(str::trim);
        for item in items.filter(|item| !item.is_empty()) {
            let named_set = SETS
                .iter()
                .find(|(name, _)| *name == item.replace('-', "_"));
            if let Some(name) = item.strip_prefix('+') {
                selection.add.push(name.trim().to_owned());
            } else if let Some(name) = item.strip_prefix('-') {
                selection.block.push(name.trim().to_owned());
            } else if let Some(named) = named_set {
                if set.replace(named).is_some_and(|before| before != named) {
                    return Err(format!("'{text}' has two tool sets: give one"));
                }
            } else {
                let names = selection.base.get_or_insert_default();
                names.push(item.to_owned());
            }
        }
        let members = set.and_then(|(_, members)| *members);
        let members = members.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        selection.base = selection.base.or(members);
        Ok(selection)
    }
}

fn unknown(name: &str, known: &[String]) -> String {
    let hint = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!(" (did you mean '{near}'?)"),
        None => String::new(),
    };
    let known = known.join(", ");
    format!("unknown tool '{name}'{hint}. Tools: {known}. Sets: all, coding, read_only, none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::{ToolSettings, builtin};

    #[test]
    fn schemas_compile_when_first_needed_and_once_for_all_clones() {
        let toolbox = Toolbox::new(builtin(&ToolSettings::default()));
        let clone = toolbox.clone();
        toolbox.check("ls", Value::Null).unwrap_err();
        let compiled = |schema: &&Arc<OnceLock<Schema>>| schema.get().is_some();
        assert_eq!(clone.schemas.iter().filter(compiled).count(), 1);
    }
}
