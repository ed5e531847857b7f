//! Tools whose arguments have a type: all built-in ones. Their arguments are coerced and validated
//! by `schema`, then parsed once, here; no tool looks into JSON itself.

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::agent::schema::{self, Schema};
use crate::agent::tool::{Details, Effects, Tool, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::call;
use crate::llm::{EditFormat, ToolSpec};

/// A tool with typed arguments.
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments. What a call leaves out, or gets wrong before its validation, has a default.
    type Args: DeserializeOwned + Default + Send;

    /// As [`Tool::spec`].
    fn spec(&self) -> &ToolSpec;

    /// As [`Tool::schema`].
    fn schema(&self) -> Schema {
        Schema::lenient(&self.spec().parameters)
    }

    /// As [`Tool::edit_format`].
    fn edit_format(&self) -> Option<EditFormat> {
        None
    }

    /// As [`Tool::effects`].
    fn effects(&self, args: Self::Args) -> Effects;

    /// As [`Tool::preview`].
    fn preview(&self, args: Self::Args) -> Details;

    /// As [`Tool::execute`].
    fn run(
        &self,
        args: Self::Args,
        context: ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// Makes a [`Tool`] of a [`TypedTool`].
pub struct Typed<T>(pub T);

impl<T: TypedTool> Typed<T> {
    /// Arguments that may not have been validated.
    fn parse(&self, args: &Value) -> T::Args {
        let fitting = schema::fitting(&self.0.spec().parameters, args);
        serde_json::from_value(fitting).unwrap_or_default()
    }
}

impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn schema(&self) -> Schema {
        self.0.schema()
    }

    fn edit_format(&self) -> Option<EditFormat> {
        self.0.edit_format()
    }

    fn effects(&self, args: &Value) -> Effects {
        self.0.effects(self.parse(args))
    }

    fn preview(&self, args: &Value) -> Details {
        self.0.preview(self.parse(args))
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args =
                serde_json::from_value(args).map_err(|error| call::invalid(&error.to_string()))?;
            self.0.run(args, context).await
        })
    }
}
