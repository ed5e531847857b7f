//! Tools with typed arguments: all built-in ones. `schema` coerces and validates arguments, then they are
//! parsed once, here. No tool handles JSON.

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::schema::{self, Schema};
use crate::tool::{Details, Effects, Rehearsal, Tool, ToolContext, ToolError, ToolOutput};
use crate::tools::call;
use tiller_llm::{EditFormat, ToolSpec};

pub trait TypedTool: Send + Sync + 'static {
    /// The arguments. Missing ones, and invalid ones before validation, have defaults.
    type Args: DeserializeOwned + Default + Send;

    /// Like [`Tool::spec`]; made once.
    fn spec(&self) -> ToolSpec;

    /// Like [`Tool::schema`]; `parameters` are those of the spec.
    fn schema(&self, parameters: Value) -> Schema {
        Schema::lenient(&parameters)
    }

    fn edit_format(&self) -> Option<EditFormat> {
        None
    }

    fn effects(&self, args: Self::Args) -> Effects;

    fn preview(&self, args: Self::Args) -> Details;

    fn rehearse(
        &self,
        _args: Self::Args,
        _context: ToolContext,
    ) -> impl Future<Output = Result<Option<Rehearsal>, ToolError>> + Send {
        ready(Ok(None))
    }

    /// Like [`Tool::execute`].
    fn run(
        &self,
        args: Self::Args,
        context: ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A spec whose arguments are an object with only these `properties`.
pub fn spec(
    name: &str,
    description: impl Into<String>,
    required: &[&str],
    properties: Value,
) -> ToolSpec {
    let mut parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    });
    if let (true, Value::Object(map)) = (required.is_empty(), &mut parameters) {
        map.shift_remove("required");
    }
    ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters,
        ..ToolSpec::default()
    }
}

/// Makes a [`Tool`] from a [`TypedTool`].
struct Typed<T> {
    tool: T,
    spec: ToolSpec,
}

/// Wraps `tool` for the agent.
pub fn typed(tool: impl TypedTool) -> Arc<dyn Tool> {
    let spec = tool.spec();
    Arc::new(Typed { tool, spec })
}

impl<T: TypedTool> Typed<T> {
    /// Arguments that may not be validated yet.
    fn parse(&self, args: &Value) -> T::Args {
        let fitting = schema::fitting(&self.spec.parameters, args);
        serde_json::from_value(fitting).unwrap_or_default()
    }
}

impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn schema(&self) -> Schema {
        self.tool.schema(self.spec.parameters.clone())
    }

    fn edit_format(&self) -> Option<EditFormat> {
        self.tool.edit_format()
    }

    fn effects(&self, args: &Value) -> Effects {
        self.tool.effects(self.parse(args))
    }

    fn preview(&self, args: &Value) -> Details {
        self.tool.preview(self.parse(args))
    }

    fn rehearse(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<Option<Rehearsal>, ToolError>> {
        Box::pin(async move { self.tool.rehearse(validated(args)?, context).await })
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.tool.run(validated(args)?, context).await })
    }
}

fn validated<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    serde_json::from_value(args).map_err(|error| call::invalid(&error.to_string()))
}
