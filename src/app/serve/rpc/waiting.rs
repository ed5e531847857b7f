//! Commands that are answered when the agent has carried them out.

use std::collections::VecDeque;
use std::io;

use serde_json::{Value, json};

use super::answers::data;
use super::output::Output;
use crate::agent::CompactionOutcome;

/// The ids of these commands.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// `abort`: until the agent is idle.
    pub aborts: Vec<Option<Value>>,
    /// `compact`: until the compaction ends.
    pub compactions: VecDeque<Option<Value>>,
}

impl Waiting {
    pub fn is_empty(&self) -> bool {
        self.aborts.is_empty() && self.compactions.is_empty()
    }

    /// A requested compaction has ended.
    pub async fn compacted(
        &mut self,
        outcome: &CompactionOutcome,
        output: &mut Output,
    ) -> io::Result<()> {
        let Some(id) = self.compactions.pop_front() else {
            return Ok(());
        };
        let answer = match outcome {
            CompactionOutcome::Done {
                summary,
                first_kept_entry_id,
                tokens_before,
                tokens_after,
                usage,
            } => data(json!({
                "summary": summary,
                "firstKeptEntryId": first_kept_entry_id,
                "tokensBefore": tokens_before,
                "estimatedTokensAfter": tokens_after,
                "usage": usage,
                "details": {},
            })),
            CompactionOutcome::Failed { message } => Err(message.clone()),
            CompactionOutcome::Aborted => Err("Compaction cancelled".to_owned()),
        };
        output.respond(id.as_ref(), "compact", answer).await
    }

    /// The agent is idle.
    pub async fn settled(&mut self, output: &mut Output) -> io::Result<()> {
        for id in std::mem::take(&mut self.aborts) {
            output.respond(id.as_ref(), "abort", Ok(None)).await?;
        }
        for id in std::mem::take(&mut self.compactions) {
            let error = Err("Nothing to compact".to_owned());
            output.respond(id.as_ref(), "compact", error).await?;
        }
        Ok(())
    }
}
