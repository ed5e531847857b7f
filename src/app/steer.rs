//! What goes over the socket of an open session: one JSON line in, one out, in the words of pi's RPC
//! (`steer` and `follow_up`, docs/rpc-commands.md of `@earendil-works/pi-coding-agent`). Opens no
//! socket: that is done by those who speak over it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Delivery, QueueKind};

/// Most bytes of a message; as much as may be piped into a prompt.
pub const MAX_MESSAGE: usize = 1024 * 1024;
/// Most bytes of a line. Every line end and quote of a message takes two bytes in it.
pub const MAX_LINE: usize = 2 * MAX_MESSAGE + 4096;

/// A message for an open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteerRequest {
    /// Comes back in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// Which queue it waits in while a run is under way.
    pub r#type: SteerCommand,
    pub message: String,
    /// The id of the session it is meant for; refused when another one is open by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Which queue a message waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteerCommand {
    /// Goes out before the next tool or model call.
    Steer,
    /// Goes out when the run is done.
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

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteerResponse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    r#type: String,
    /// The type of the request; none when it could not be read.
    pub command: Option<SteerCommand>,
    /// Whether it was taken. If not, nothing of it was.
    pub success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Taken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// In pi's words.
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
                Delivery::Started => Disposition::Started,
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
    // These types have string keys only and cannot fail to serialise.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}
