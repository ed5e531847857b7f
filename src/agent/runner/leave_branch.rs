//! Leaving a branch with a summary: asks the model what was done there, and the actor continues
//! elsewhere with the answer. The request is the unchanged conversation plus one question, so that it
//! hits the cached prefix. A failure leaves everything unchanged.

use std::sync::Arc;

use super::attempt::request;
use super::link::{Leave, Opening, RunLink, RunMessage, Step, Turn};
use super::lookout::Lookout;
use super::summary::{BRANCH_SUMMARY, MAX_HALVINGS, Spent, ask, is_too_long};
use crate::event::{NoticeLevel, Phase, RunOutcome, now_ms};
use crate::memory::compaction::{Window, overhead, size, tail, tokens};
use tiller_llm::{ErrorClass, LlmError, Message};

const QUESTION: &str = "[The conversation will continue from an earlier point. Everything since the \
    message quoted at the end becomes a separate branch; your answer to this message is all that remains \
    of it. Do not continue the task and call no tools. Answer with a summary of that branch only, in \
    plain Markdown: what was tried and why, what worked and what did not, decisions with their reasons, \
    which files were read and changed, and what is left to do. Keep exact names, paths, commands, \
    numbers and error messages.]

The branch begins with this message:
";

pub(crate) async fn leave_branch(link: &RunLink, opening: Opening, leave: Leave) -> RunOutcome {
    Lookout::begin(link, opening).await;
    let Ok(turn) = link.next_turn(Step::Same).await else {
        return RunOutcome::Done;
    };
    link.phase(Phase::Compacting).await;
    let mut spent = Spent::new(BRANCH_SUMMARY, &turn.model);
    let summary = summarize(link, &turn, &leave, &mut spent).await;
    if summary.is_err() {
        spent.clone().report(link).await;
    }
    match summary {
        Ok(text) => {
            let summary = (text, spent.usage);
            link.ask(|reply| RunMessage::Leave(leave, summary, reply))
                .await;
            RunOutcome::Done
        }
        Err(Some(error)) => {
            // Messages typed meanwhile were meant for the other branch, so they stay queued.
            let message = format!(
                "Couldn't summarize the branch, so you're still on it: {}\n\
                 To switch without a summary: /tree",
                error.message
            );
            RunOutcome::Failed { message }
        }
        Err(None) => {
            let text = "Summary stopped; you're still on this branch.";
            link.notice(NoticeLevel::Info, text).await;
            RunOutcome::Aborted
        }
    }
}

/// Asks at the end of the conversation, or of the branch's last messages if the conversation is too long.
async fn summarize(
    link: &RunLink,
    turn: &Turn,
    leave: &Leave,
    spent: &mut Spent,
) -> Result<String, Option<LlmError>> {
    let (prompt, messages) = (&turn.prompt, &turn.messages);
    let fixed = overhead(prompt);
    let all = tokens(prompt, messages).max(fixed + size(messages, prompt.thinking_from));
    let mut room = Window::of(&turn.model, &turn.rules.compaction).room();
    let mut fits = all <= room;
    let mut halvings = 0;
    loop {
        let mut request = request(&link.env, turn);
        if !fits {
            let tail = tail(prompt, messages, leave.first, room);
            request.messages = tail.ok_or_else(|| Some(too_long()))?;
            request.thinking_from = request.messages.len();
        }
        let question = Message::user(format!("{QUESTION}{}", leave.begins), now_ms());
        request.messages.push(Arc::new(question));
        match ask(link, turn, request, spent).await {
            Err(Some(error)) if is_too_long(&error) && halvings < MAX_HALVINGS => {
                halvings += 1;
                fits = false;
                room = fixed + room.min(all).saturating_sub(fixed) / 2;
            }
            done => return done,
        }
    }
}

fn too_long() -> LlmError {
    let text = "its last message is too long for the model's window";
    LlmError::new(ErrorClass::Overflow, text)
}
