//! Texts that can be copied from the conversation without selecting them.

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
    /// The changes of a call, as displayed in its diff.
    Change(Cow<'a, str>),
    Prompt(&'a str),
}

impl Transcript {
    /// The texts to copy, newest first, from the loaded pages.
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
