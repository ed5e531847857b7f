//! The first line on the socket of an open session, and its answer, in the format of pi's RPC (`steer` and
//! `follow_up`, docs/rpc-commands.md of `@earendil-works/pi-coding-agent`; `tiller_attach` is tiller's own).
//! Opens no socket itself.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Delivery, QueueKind};

/// Largest message; as much as a prompt accepts from a pipe.
pub const MAX_MESSAGE: usize = 1024 * 1024;
/// Longest line. Each newline and quote in a message takes two bytes there.
pub const MAX_LINE: usize = 2 * MAX_MESSAGE + 4096;

/// A message for an open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteerRequest {
    /// Returned in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// The queue to wait in while the agent works.
    pub r#type: SteerCommand,
    pub message: String,
    /// The session it is meant for; refused if another one is open by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Asks for the whole protocol of `--mode rpc` on this connection. After a response that it succeeded, the
/// connection carries lines as stdin and stdout do there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachRequest {
    pub r#type: AttachCommand,
    /// The session it is meant for; refused if another one is open by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For a screen instead of RPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenRequest>,
}

/// Asks for the full screen in the client's terminal. The session's program draws it and reads the keys there,
/// while the client sends [`ScreenSignal`]s, a line each, until a [`ScreenUpdate::End`] arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenRequest {
    /// The terminal's device.
    pub terminal: PathBuf,
    /// Its file system, inode and device number. In another container, the path may be another terminal's.
    pub device: [u64; 3],
    /// The client's environment, as far as it describes the terminal.
    #[serde(default)]
    pub env: HashMap<String, String>,
}

/// Something that happened to a client in whose terminal the screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ScreenSignal {
    /// The terminal has another size.
    Resize,
    /// The client got this signal and ends.
    End { signal: i32 },
    /// Answered by [`ScreenUpdate::Alive`].
    Ping,
    /// No answer came: the client has taken its terminal back, and nothing may write there any more.
    TakenBack,
}

/// What the client learns about the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ScreenUpdate {
    /// The program runs and reads the keys.
    Alive,
    /// The screen has left the terminal and restored it.
    End {
        /// The client's exit code.
        code: u8,
        /// What to tell the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
}

impl ScreenUpdate {
    pub fn end(code: u8, text: impl Into<String>) -> Self {
        Self::End {
            code,
            text: Some(text.into()),
        }
    }
}

/// The type of an [`AttachRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachCommand {
    TillerAttach,
}

/// The answer to an [`AttachRequest`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AttachResponse {
    r#type: String,
    command: AttachCommand,
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AttachRequest {
    pub fn to(session: String, screen: Option<ScreenRequest>) -> Self {
        Self {
            r#type: AttachCommand::TillerAttach,
            session: Some(session),
            screen,
        }
    }
}

impl AttachResponse {
    pub fn of(attached: Result<(), String>) -> Self {
        Self {
            r#type: "response".to_owned(),
            command: AttachCommand::TillerAttach,
            success: attached.is_ok(),
            error: attached.err(),
        }
    }
}

/// The queue of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteerCommand {
    /// Delivered before the next tool or model call.
    Steer,
    /// Delivered when the run is done.
    FollowUp,
}

impl From<SteerCommand> for QueueKind {
    fn from(command: SteerCommand) -> Self {
        match command {
            SteerCommand::Steer => Self::Steering,
            SteerCommand::FollowUp => Self::FollowUp,
        }
    }
}

/// The result of sending a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteerResponse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    r#type: String,
    /// The request's type, if readable.
    pub command: Option<SteerCommand>,
    /// True if the message was accepted; otherwise no part of it was.
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Taken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// As pi words it.
    pub disposition: Disposition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    Started,
    Queued,
}

impl SteerResponse {
    pub fn to(request: SteerRequest, delivered: Result<Delivery, String>) -> Self {
        let command = Some(request.r#type);
        Self {
            id: request.id,
            command,
            ..Self::of(delivered)
        }
    }

    pub fn refused(error: String) -> Self {
        Self::of(Err(error))
    }

    fn of(delivered: Result<Delivery, String>) -> Self {
        let taken = |delivery: &Delivery| Taken {
            disposition: match delivery {
                Delivery::Started(_) => Disposition::Started,
                Delivery::Queued(_) => Disposition::Queued,
            },
        };
        Self {
            id: None,
            r#type: "response".to_owned(),
            command: None,
            success: delivered.is_ok(),
            data: delivered.as_ref().ok().map(taken),
            error: delivered.err(),
        }
    }
}

pub fn to_line(record: &impl Serialize) -> Vec<u8> {
    // These types have string keys only, so serializing can't fail.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}
