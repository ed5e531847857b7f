//! The tools of one agent: names, sets, policies, validation. (Contract stub.)

use std::sync::Arc;

use super::tool::Tool;
use crate::llm::ToolSpec;

/// The tools an agent may use.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// A toolbox of `tools`, all allowed.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// What the model is told of the tools.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// The tools, in the order the model sees them.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }
}
