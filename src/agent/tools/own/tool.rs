//! A tool of the user, as a tool of the agent.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::super::bash::{Bash, Line};
use super::manifest::OwnTool;
use crate::hooks::quoted;
use crate::session::make_private;
use crate::tool::{
    CommandDetails, Details, Effects, OtherDetails, OwnProgram, Tool, ToolContext, ToolError,
    ToolOutput,
};
use tiller_llm::{Content, EditFormat, ToolSpec};

/// Most bytes of standard error that the model gets of a failed call.
const MAX_ERRORS: usize = 16 * 1024;
/// The longest value of a variable in bytes. Linux takes 128 KiB.
const MAX_VARIABLE: usize = 32 * 1024;
/// Longest arguments in a title, in characters.
const MAX_TITLE: usize = 400;

/// Runs a program of the user.
pub(super) struct Program {
    own: OwnTool,
    spec: ToolSpec,
    bash: Arc<Bash>,
}

/// A result that says more than its text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Structured {
    content: String,
    #[serde(default)]
    details: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

impl Program {
    pub fn of(own: OwnTool, bash: &Arc<Bash>) -> Arc<dyn Tool> {
        let spec = ToolSpec {
            name: own.name.clone(),
            description: own.description.clone(),
            parameters: own.parameters.clone(),
            ..ToolSpec::default()
        };
        let bash = Arc::clone(bash);
        Arc::new(Self { own, spec, bash })
    }

    /// The shell line, with the call's arguments on standard input. The model gets standard error only of a
    /// failed call, or of one that takes too long: warnings on it would be part of the result.
    fn line(&self, input: &Path) -> String {
        let [program, input] = [&*self.own.program, input].map(word);
        format!(
            "e=$(mktemp) || exit 126; exec 3>\"$e\" 4<\"$e\"; rm -f \"$e\"; \
             trap 'tail -c {MAX_ERRORS} <&4; exit 143' TERM; {program} <{input} 2>&3 3>&- 4<&-; \
             c=$?; [ $c = 0 ] || tail -c {MAX_ERRORS} <&4; exit $c"
        )
    }

    /// The call as the screen shows it.
    fn shown(&self, title: &str) -> String {
        format!("{} {title}", self.own.name)
    }

    async fn run(&self, args: &Value, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let folder = context.spill_file.parent().unwrap_or(Path::new("/tmp"));
        let input = input_file(folder, args);
        let input =
            input.map_err(|error| ToolError::new(format!("Can't pass the arguments: {error}")))?;
        let title = title(args);
        let line = Line {
            command: self.line(input.path()),
            limit: self.own.timeout,
            environment: variables(args),
            details: CommandDetails {
                command: self.shown(&title),
                ..CommandDetails::default()
            },
        };
        let output = self.bash.run_line(line, context).await?;
        Ok(structured(&output, &title).unwrap_or(output))
    }
}

impl Tool for Program {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// One that replaces an editing tool is offered to the same models.
    fn edit_format(&self) -> Option<EditFormat> {
        match self.own.name.as_str() {
            "edit" => Some(EditFormat::Edit),
            "apply_patch" => Some(EditFormat::ApplyPatch),
            "replace" => Some(EditFormat::Replace),
            _ => None,
        }
    }

    fn effects(&self, _args: &Value) -> Effects {
        Effects {
            command: Some(word(&self.own.program)),
            program: Some(OwnProgram {
                declares: self.own.declares,
                folder: self.own.folder.clone(),
                interpreter: self.own.interpreter.clone(),
            }),
            ..Effects::default()
        }
    }

    /// The user decides by it, so it is whole.
    fn preview(&self, args: &Value) -> Details {
        Details::Command(CommandDetails {
            command: self.shown(&arguments(args)),
            ..CommandDetails::default()
        })
    }

    fn execute(
        &self,
        args: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.run(&args, context).await })
    }
}

fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// The arguments in a line.
fn arguments(args: &Value) -> String {
    match args {
        Value::Object(map) if map.is_empty() => "(no arguments)".to_owned(),
        args => args.to_string(),
    }
}

/// The arguments in a short line.
fn title(args: &Value) -> String {
    let text = arguments(args);
    let mut title: String = text.chars().take(MAX_TITLE).collect();
    if title.len() < text.len() {
        title.push('…');
    }
    title
}

/// A file with the arguments, which commands in the sandbox can read.
fn input_file(folder: &Path, args: &Value) -> io::Result<NamedTempFile> {
    make_private(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix("tool-")
        .tempfile_in(folder)?;
    writeln!(file, "{args}")?;
    Ok(file)
}

/// A variable for each argument that is a text, a number or a truth value.
fn variables(args: &Value) -> Vec<(OsString, OsString)> {
    let mut variables = Vec::new();
    for (key, value) in args.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => continue,
        };
        if value.len() <= MAX_VARIABLE && !value.contains('\0') {
            let mut name = String::from("TILLER_ARG_");
            for c in key.chars() {
                let fits = c.is_ascii_alphanumeric();
                let _ = write!(name, "{}", if fits { c.to_ascii_uppercase() } else { '_' });
            }
            variables.push((name.into(), value.into()));
        }
    }
    variables
}

/// The result, if the program wrote exactly an object with `content`.
fn structured(output: &ToolOutput, title: &str) -> Option<ToolOutput> {
    let Details::Command(details) = &output.details else {
        return None;
    };
    if output.is_error || details.truncated {
        return None;
    }
    let result: Structured = serde_json::from_str(&details.output).ok()?;
    let shown = result
        .details
        .unwrap_or_else(|| result.content.clone().into());
    Some(ToolOutput {
        content: vec![Content::text(result.content)],
        details: Details::Other(OtherDetails {
            title: title.to_owned(),
            value: shown,
        }),
        is_error: result.is_error,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::super::settings::ToolSettings;
    use super::super::manifest::Declares;
    use super::*;

    #[test]
    fn a_question_shows_all_arguments() {
        let own = OwnTool {
            name: "query".to_owned(),
            description: String::new(),
            parameters: json!({}),
            declares: Declares::Writes,
            timeout: Duration::from_secs(1),
            program: "/t/query".into(),
            folder: None,
            interpreter: String::new(),
        };
        let bash = Arc::new(Bash::new(&ToolSettings::default()));
        let args = json!({"sql": format!("{}; DROP TABLE customers", " ".repeat(MAX_TITLE))});
        let Details::Command(details) = Program::of(own, &bash).preview(&args) else {
            panic!("no command");
        };
        assert!(details.command.ends_with("; DROP TABLE customers\"}"));
        assert!(title(&args).ends_with('…'));
    }

    #[test]
    fn scalars_become_variables() {
        let args = json!({"city": "Bonn", "max-days": 3, "long": true, "list": [1], "nul": "\0"});
        let expected = [
            ("TILLER_ARG_CITY", "Bonn"),
            ("TILLER_ARG_MAX_DAYS", "3"),
            ("TILLER_ARG_LONG", "true"),
        ];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(variables(&args), expected);
    }

    #[test]
    fn only_an_exact_object_says_more_than_its_text() {
        let check = |text: &str, expected: Option<(&str, bool)>| {
            let details = Details::Command(CommandDetails {
                output: text.to_owned(),
                ..CommandDetails::default()
            });
            let result = structured(&ToolOutput::new(text, details), "");
            let said = result.as_ref().map(|it| match &it.content[0] {
                Content::Text(text) => (&*text.text, it.is_error),
                other => panic!("{other:?}"),
            });
            assert_eq!(said, expected, "{text}");
        };
        check(r#"{"content": "a"}"#, Some(("a", false)));
        check(r#"{"content": "a", "is_error": true}"#, Some(("a", true)));
        check(
            r#"{"content": "a", "details": {"n": 1}}"#,
            Some(("a", false)),
        );
        check(r#"{"content": "a", "more": 1}"#, None);
        check(r#"{"content": ["a"]}"#, None);
        check(r#"{"content": "a"} x"#, None);
        check(r#"{"a": 1}"#, None);
        check("", None);
    }
}
