//! The tools of one agent: which exist, which of them the model may use, which edit format it is
//! offered, and whether arguments are valid. Runs none of them.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::mcp::tools_for_many;
use super::schema::Schema;
use super::tool::MCP_PREFIX;
use super::tool::Tool;
use super::tools::own::Declares;
use tiller_llm::nearest::nearest;
use tiller_llm::{EditFormat, ToolSpec};

/// The name of all editing tools in policies. They are variants of one tool: the model determines
/// which is offered, calls to any of them are accepted, and a policy applies to all.
const EDIT: &str = "edit";

/// The tools that an agent may use, and the names of the blocked ones.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    /// Schemas of `tools`, compiled when first needed because each takes milliseconds.
    schemas: Vec<Arc<OnceLock<Schema>>>,
    blocked: Vec<String>,
    /// Whether tools of servers are allowed too.
    selection: ToolSelection,
    /// How many of `tools` aren't of servers.
    own: Option<usize>,
    /// Those without the user's, once the user has any.
    built_in: Option<Arc<[Arc<dyn Tool>]>>,
    /// How many of the last aren't offered, but may be called.
    hidden: usize,
}

/// The meaning of a tool name.
pub enum Lookup<'a> {
    /// A tool that the model may use.
    Tool(&'a Arc<dyn Tool>),
    /// A tool that a policy blocks.
    Blocked,
    /// An unknown tool.
    Unknown,
}

impl Toolbox {
    /// Creates a toolbox of `tools`, all allowed. If two have the same name, the first is used.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut toolbox = Self::default();
        for tool in tools {
            toolbox.add(tool);
        }
        toolbox
    }

    fn add(&mut self, tool: Arc<dyn Tool>) {
        if self.position(&tool.spec().name).is_none() {
            self.tools.push(tool);
            self.schemas.push(Arc::default());
        }
    }

    /// Returns this toolbox with `tools` of the user, in place of those that it had, and without tools of servers.
    /// One with the name of a built-in tool replaces that.
    pub(crate) fn with_own(&self, mut tools: Vec<Arc<dyn Tool>>) -> Self {
        let built_in = self.built_in.clone();
        let built_in = built_in.unwrap_or_else(|| {
            let own = self.own.unwrap_or(self.tools.len());
            self.tools[..own].into()
        });
        tools.retain(|tool| {
            let name = &tool.spec().name;
            self.selection.allows(name, &[]) && (!self.selection.must_read(name) || reads(&**tool))
        });
        let mut toolbox = Self {
            selection: self.selection.clone(),
            blocked: self.blocked.clone(),
            ..Self::default()
        };
        for tool in &*built_in {
            let name = &tool.spec().name;
            let own = tools.iter().find(|own| own.spec().name == *name);
            toolbox.add(Arc::clone(own.unwrap_or(tool)));
        }
        for tool in tools {
            toolbox.add(tool);
        }
        toolbox.built_in = Some(built_in);
        toolbox
    }

    /// Returns this toolbox with `tools` of MCP servers, in place of those that it had. If there are too many
    /// for a request, the model is offered two others to find and call them.
    pub(crate) fn with_servers(&self, mut tools: Vec<Arc<dyn Tool>>) -> Self {
        let own = self.own.unwrap_or(self.tools.len());
        tools.retain(|tool| self.selection.allows(&tool.spec().name, &[]));
        let mut toolbox = self.clone();
        toolbox.tools.truncate(own);
        toolbox.schemas.truncate(own);
        toolbox.own = Some(own);
        let offered = tools_for_many(&tools);
        let hides = offered.is_some();
        for tool in offered.into_iter().flatten() {
            toolbox.add(tool);
        }
        let before = toolbox.tools.len();
        for tool in tools {
            toolbox.add(tool);
        }
        toolbox.hidden = if hides {
            toolbox.tools.len() - before
        } else {
            0
        };
        toolbox
    }

    /// Returns `true` if it has tools of MCP servers.
    pub(crate) fn has_servers(&self) -> bool {
        self.own.is_some_and(|own| own < self.tools.len())
    }

    /// Keeps those of `tools` that `selection` allows. The others are known as blocked.
    ///
    /// # Errors
    /// Fails if the selection names an unknown tool, and lists the known names.
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
        toolbox.selection = selection.clone();
        toolbox.blocked = others.iter().map(|tool| tool.spec().name.clone()).collect();
        Ok(toolbox)
    }

    /// Returns the tools, in the order the model sees them.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// Returns the tools for a model that edits in `format`. Of the editing tools, that is only the
    /// one with this format, or the first if it is missing. Blocked tools aren't mentioned.
    pub fn specs(&self, format: EditFormat) -> Vec<ToolSpec> {
        let tools = &self.tools[..self.tools.len() - self.hidden];
        let formats = || tools.iter().filter_map(|tool| tool.edit_format());
        let offered = formats()
            .find(|own| *own == format)
            .or_else(|| formats().next());
        let is_offered = |tool: &&Arc<dyn Tool>| match tool.edit_format() {
            None => true,
            own => own == offered,
        };
        let tools = tools.iter().filter(is_offered);
        tools.map(|tool| tool.spec().clone()).collect()
    }

    /// Looks up `name`.
    pub fn find(&self, name: &str) -> Lookup<'_> {
        match self.position(name) {
            Some(index) => Lookup::Tool(&self.tools[index]),
            None if self.blocked.iter().any(|blocked| blocked == name) => Lookup::Blocked,
            None => Lookup::Unknown,
        }
    }

    /// Returns arguments as the tool `name` should receive them, coerced if it allows that.
    ///
    /// # Errors
    /// Returns everything that violates the tool's schema, joined by `; `.
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

/// Whether a tool of the user declares that it changes nothing.
fn reads(tool: &dyn Tool) -> bool {
    let program = tool.effects(&Value::Null).program;
    program.is_some_and(|it| it.declares == Declares::Reads)
}

/// Returns a tool's name in policies.
fn policy_name<'a>(name: &'a str, editing: &[String]) -> &'a str {
    if editing.iter().any(|editing| editing == name) {
        EDIT
    } else {
        name
    }
}

const READ_ONLY: &str = "read_only";
/// The tool sets by name. `None` means everything.
const SETS: [(&str, Option<&[&str]>); 4] = [
    ("all", None),
    // Tools that change code, without the search tools, because bash can search too.
    ("coding", Some(&["read", "bash", EDIT, "write"])),
    (READ_ONLY, Some(&["read", "grep", "find", "ls"])),
    ("none", Some(&[])),
];

/// Which tools a user lets the model use. Written as `all`, `coding`, `read_only` or `none`, or as
/// names (`read,grep`), then `+name` and `-name`, in any order, joined by commas. Names replace a
/// set, and removals apply last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// The base; `None` means every tool.
    base: Option<Vec<String>>,
    add: Vec<String>,
    block: Vec<String>,
    /// Names besides those of built-in tools.
    own: Vec<String>,
    /// Whether the base is a set of tools that change nothing.
    only_reads: bool,
}

impl ToolSelection {
    /// Returns the selection, which may also name these tools of the user.
    pub fn with_own(mut self, names: Vec<String>) -> Self {
        self.own = names;
        self
    }

    /// Returns `true` if the tool `name` may be used. `editing` are the names of the editing tools.
    fn allows(&self, name: &str, editing: &[String]) -> bool {
        let name = policy_name(name, editing);
        let listed = |list: &Vec<String>| {
            list.iter()
                .any(|listed| policy_name(listed, editing) == name)
        };
        (self.base.as_ref().is_none_or(listed) || listed(&self.add)) && !listed(&self.block)
    }

    /// Returns `true` if the tool `name` is there because it changes nothing.
    fn must_read(&self, name: &str) -> bool {
        let listed = |list: &Vec<String>| list.iter().any(|listed| listed == name);
        self.only_reads && self.base.as_ref().is_some_and(listed) && !listed(&self.add)
    }

    /// Returns `true` if `tool` may be used.
    pub fn offers(&self, name: &str, edits: bool) -> bool {
        let editing = edits.then(|| name.to_owned());
        self.allows(name, editing.as_slice())
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
        let is_known = |name: &&String| {
            known.contains(name)
                || self.own.contains(name)
                || tolerated.contains(&name.as_str())
                || name.starts_with(MCP_PREFIX)
        };
        let wrong = named.find(|name| !is_known(name));
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
        selection.only_reads =
            selection.base.is_none() && set.is_some_and(|(name, _)| *name == READ_ONLY);
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
    use crate::tools::{ToolSettings, builtin};

    #[test]
    fn schemas_compile_lazily_and_once_for_all_clones() {
        let toolbox = Toolbox::new(builtin(&ToolSettings::default()));
        let clone = toolbox.clone();
        toolbox.check("ls", Value::Null).unwrap_err();
        let compiled = |schema: &&Arc<OnceLock<Schema>>| schema.get().is_some();
        assert_eq!(clone.schemas.iter().filter(compiled).count(), 1);
    }
}
