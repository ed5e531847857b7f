//! The `ask_user` tool: a question that only the user can answer. The run waits for it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths;
use crate::question::{Answer, ChoiceSubject, Subject};
use crate::tool::{Details, Effects, OtherDetails, ToolContext, ToolError, ToolOutput};
use crate::tools::call;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::ToolSpec;

const NAME: &str = "ask_user";

/// The most choices that a question can offer.
const MOST_CHOICES: usize = 4;

pub struct AskUser;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Args {
    question: String,
    choices: Vec<String>,
}

impl TypedTool for AskUser {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        typed::spec(
            NAME,
            "Ask the user for a decision that only the user can make, and wait. The answer may be free \
             text.",
            &["question"],
            json!({
                "question": {"type": "string"},
                "choices": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": MOST_CHOICES,
                    "description": "Most likely first"
                }
            }),
        )
    }

    fn effects(&self, _args: Args) -> Effects {
        Effects {
            asks: true,
            ..Effects::default()
        }
    }

    fn preview(&self, args: Args) -> Details {
        details(&args, None)
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let choices = args.choices.iter().map(|choice| choice.trim());
        let choices = choices.filter(|choice| !choice.is_empty());
        let subject = Subject::Choice(ChoiceSubject {
            question: args.question.trim().to_owned(),
            choices: choices.take(MOST_CHOICES).map(str::to_owned).collect(),
        });
        let asker = &context.asker;
        let answer = asker.ask(&context.call_id, NAME, subject, &context.cancel);
        match answer.await {
            Some(Answer::Reply(text)) => {
                let shown = details(&args, Some(&text));
                Ok(ToolOutput::new(format!("The user answered: {text}"), shown))
            }
            Some(Answer::Refuse { reason: Some(text) }) => {
                let shown = details(&args, Some(&text));
                let text = format!("The user chose none and answered: {text}");
                Ok(ToolOutput::new(text, shown))
            }
            Some(_) => Err(ToolError::new(
                "The user did not answer. Continue as you think best, or stop.",
            )),
            None if context.cancel.is_cancelled() => Err(call::cancelled()),
            None => Err(ToolError::new(
                "This run can't ask the user. Decide yourself and say what you assumed.",
            )),
        }
    }
}

fn details(args: &Args, answer: Option<&str>) -> Details {
    Details::Other(OtherDetails {
        title: paths::readable(args.question.trim().as_ref()),
        value: answer.map_or(Value::Null, |answer| {
            json!(paths::readable(answer.as_ref()))
        }),
    })
}
