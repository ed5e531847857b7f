//! Leaving a branch with a summary of it: asks the model what was done there, and has the actor go on
//! from elsewhere with the answer. The request is the conversation as it is with one question behind
//! it, so that the cached prefix serves it too. Whatever fails leaves everything as it was.

use std::sync::Arc;

use super::attempt::request;
use super::compact::ask;
use super::env::RunEnv;
use super::link::{Leave, Opening, RunLink};
use super::lookout::Lookout;
use crate::agent::event::{NoticeLevel, Phase, RunOutcome, now_ms};
use crate::llm::Message;
use crate::llm::message::content_text;

const QUESTION: &str = "\
[The conversation goes on from an earlier point. What was said since the message quoted at the end is \
left behind as a branch; your answer to this message is all that is known of it there. Do not go on \
with the task and call no tool. Answer with a summary of that branch only, in plain Markdown: what was \
tried and why, what worked and what did not, decisions with their reasons, which files were read and \
changed, and what is left to do. Keep exact names, paths, commands, numbers and error messages.]

The branch begins with this message:
";

/// The run that leaves a branch.
pub(in crate::agent) async fn leave_branch(
    link: &RunLink,
    env: &RunEnv,
    opening: Opening,
    leave: Leave,
) -> RunOutcome {
    Lookout::begin(link, &env.home, opening).await;
    let Ok(turn) = link.current_turn().await else {
        return RunOutcome::Done;
    };
    link.phase(Phase::Compacting).await;
    let mut request = request(env, &turn);
    let question = Message::user(format!("{QUESTION}{}", leave.begins), now_ms());
    request.messages.push(Arc::new(question));
    match ask(link, env, &turn, request).await {
        Ok(answer) => {
            let text = content_text(&answer.content);
            link.leave(leave, (text, answer.usage)).await;
            RunOutcome::Done
        }
        Err(Some(error)) => {
            let text = format!(
                "The branch was not left, for there is no summary of it: {}\nWithout a summary it can be left at once: /tree",
                error.message
            );
            link.notice(NoticeLevel::Error, text).await;
            // What was typed meanwhile was meant for elsewhere: it waits.
            let message = error.message;
            RunOutcome::Failed { message }
        }
        Err(None) => {
            let text = "The branch was not left: the summary was stopped.";
            link.notice(NoticeLevel::Info, text).await;
            RunOutcome::Aborted
        }
    }
}
