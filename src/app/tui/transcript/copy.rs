//! What of a conversation can be copied without pointing at it.

use std::borrow::Cow;

use super::cell::CellBody;
use super::state::Transcript;
use crate::agent::Details;

#[derive(Clone, Debug)]
pub enum CopySource<'a> {
    Reply(&'a str),
    Call {
        command: Option<&'a str>,
        output: Cow<'a, str>,
    },
    /// What a call changed, in the display form of diffs.
    Change(Cow<'a, str>),
    Prompt(&'a str),
}

impl Transcript {
    /// The texts that can be copied, newest first, as far as they are in memory.
    pub fn copy_sources(&self) -> impl Iterator<Item = CopySource<'_>> {
        self.newest()
            .filter_map(|index| match &self.cell(index)?.body {
                CellBody::User { text, .. } => Some(CopySource::Prompt(text)),
                CellBody::Assistant { text, .. } => Some(CopySource::Reply(text)),
                CellBody::Tool(tool) if matches!(*tool.details, Details::Diff(_)) => {
                    Some(CopySource::Change(tool.source()))
                }
                CellBody::Tool(tool) => Some(CopySource::Call {
                    command: match &*tool.details {
                        Details::Command(command) => Some(&command.command),
                        _ => None,
                    },
                    output: tool.source(),
                }),
                _ => None,
            })
    }
}
