//! What the server replies, built in code or read from TOML. Independent of the wires.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::failure::Failure;

/// Replies and their pace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    pub split: Option<usize>,
    pub delay_ms: Option<u64>,
    #[serde(rename = "reply")]
    pub replies: Vec<Reply>,
}

/// Characters in each delta (0: all at once), and milliseconds before each delta.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    pub split: Option<usize>,
    pub delay_ms: Option<u64>,
}

impl Pace {
    pub fn or(self, other: Self) -> Self {
        Self {
            split: self.split.or(other.split),
            delay_ms: self.delay_ms.or(other.delay_ms),
        }
    }
}

/// The reply to one request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    pub when: Option<String>,
    pub repeat: bool,
    pub wait_ms: u64,
    pub gate: Option<String>,
    pub error: Option<Failure>,
    pub message: Option<String>,
    pub status: Option<u16>,
    pub headers: BTreeMap<String, String>,
    pub body: Option<String>,
    pub usage: Option<Usage>,
    pub stop: Option<String>,
    pub split: Option<usize>,
    pub delay_ms: Option<u64>,
    pub write_bytes: Option<usize>,
    pub write_delay_ms: u64,
    pub cut_at: Option<usize>,
    pub cut: Cut,
    pub steps: Vec<Step>,
}

/// Token counts that the vendor reports.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Prompt tokens that weren't in a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

/// How to end a connection early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// FIN in the middle of the body.
    #[default]
    Close,
    /// RST.
    Reset,
    /// Ends the body properly, but too early.
    End,
}

/// One step of a streamed reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawStep")]
pub enum Step {
    Thinking {
        text: String,
        signature: Option<String>,
        pace: Pace,
    },
    Redacted(String),
    Text {
        text: String,
        pace: Pace,
    },
    Call {
        name: String,
        id: Option<String>,
        arguments: String,
        pace: Pace,
    },
    Pause(u64),
    Gate(String),
    Stall,
    Raw(Vec<u8>),
    Error {
        failure: Failure,
        message: Option<String>,
    },
    Cut(Cut),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawStep {
    thinking: Option<String>,
    signature: Option<String>,
    redacted: Option<String>,
    text: Option<String>,
    call: Option<String>,
    id: Option<String>,
    args: Option<Value>,
    args_text: Option<String>,
    split: Option<usize>,
    delay_ms: Option<u64>,
    pause_ms: Option<u64>,
    gate: Option<String>,
    stall: bool,
    raw: Option<String>,
    error: Option<Failure>,
    message: Option<String>,
    cut: Option<Cut>,
}

impl TryFrom<RawStep> for Step {
    type Error = String;

    fn try_from(raw: RawStep) -> Result<Self, String> {
        let pace = Pace {
            split: raw.split,
            delay_ms: raw.delay_ms,
        };
        Ok(if let Some(text) = raw.thinking {
            Self::Thinking {
                text,
                signature: raw.signature,
                pace,
            }
        } else if let Some(data) = raw.redacted {
            Self::Redacted(data)
        } else if let Some(text) = raw.text {
            Self::Text { text, pace }
        } else if let Some(name) = raw.call {
            let given = raw.args.map(|args| args.to_string());
            Self::Call {
                name,
                id: raw.id,
                arguments: raw.args_text.or(given).unwrap_or_else(|| "{}".to_owned()),
                pace,
            }
        } else if let Some(ms) = raw.pause_ms {
            Self::Pause(ms)
        } else if let Some(gate) = raw.gate {
            Self::Gate(gate)
        } else if raw.stall {
            Self::Stall
        } else if let Some(bytes) = raw.raw {
            Self::Raw(bytes.into_bytes())
        } else if let Some(failure) = raw.error {
            Self::Error {
                failure,
                message: raw.message,
            }
        } else if let Some(cut) = raw.cut {
            Self::Cut(cut)
        } else {
            return Err(
                "a step needs one of thinking, redacted, text, call, pause_ms, gate, stall, raw, \
                 error, cut"
                    .to_owned(),
            );
        })
    }
}

impl Script {
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            split: None,
            delay_ms: None,
            replies: replies.into_iter().collect(),
        }
    }

    pub fn parse(toml: &str) -> Result<Self, String> {
        toml::from_str(toml).map_err(|error| error.to_string())
    }
}

/// Building a reply in code: each call adds to it.
impl Reply {
    pub fn new() -> Self {
        Self::default()
    }

    /// A reply of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().say(text)
    }

    /// A reply of one tool call.
    pub fn call(name: &str, args: Value) -> Self {
        Self::new().and_call(name, args)
    }

    /// An HTTP error in the vendor's words.
    pub fn error(failure: Failure) -> Self {
        Self {
            error: Some(failure),
            ..Self::default()
        }
    }

    /// Any HTTP response.
    pub fn http(status: u16, content_type: &str, body: &str) -> Self {
        Self {
            status: Some(status),
            body: Some(body.to_owned()),
            ..Self::default()
        }
        .header("content-type", content_type)
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn say(self, text: impl Into<String>) -> Self {
        self.step(Step::Text {
            text: text.into(),
            pace: Pace::default(),
        })
    }

    /// Text in deltas of `split` characters, one every `delay_ms`.
    pub fn say_slowly(self, text: impl Into<String>, split: usize, delay_ms: u64) -> Self {
        self.step(Step::Text {
            text: text.into(),
            pace: Pace {
                split: Some(split),
                delay_ms: Some(delay_ms),
            },
        })
    }

    pub fn think(self, text: impl Into<String>) -> Self {
        self.step(Step::Thinking {
            text: text.into(),
            signature: None,
            pace: Pace::default(),
        })
    }

    pub fn and_call(self, name: &str, args: Value) -> Self {
        self.call_text(name, &args.to_string())
    }

    /// A call with this argument text, even if it's invalid JSON.
    pub fn call_text(self, name: &str, arguments: &str) -> Self {
        self.step(Step::Call {
            name: name.to_owned(),
            id: None,
            arguments: arguments.to_owned(),
            pace: Pace {
                split: Some(7),
                delay_ms: None,
            },
        })
    }

    pub fn gate(self, name: &str) -> Self {
        self.step(Step::Gate(name.to_owned()))
    }

    /// Holds the headers until the test releases `name`.
    pub fn hold_headers(mut self, name: &str) -> Self {
        self.gate = Some(name.to_owned());
        self
    }

    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    pub fn cut(self, how: Cut) -> Self {
        self.step(Step::Cut(how))
    }

    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    pub fn fail(self, failure: Failure) -> Self {
        self.step(Step::Error {
            failure,
            message: None,
        })
    }

    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    /// Sends the body in pieces of this many bytes.
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.write_bytes = Some(bytes);
        self
    }

    pub fn cut_after(mut self, bytes: usize, how: Cut) -> Self {
        self.cut_at = Some(bytes);
        self.cut = how;
        self
    }

    pub fn when(mut self, text: &str) -> Self {
        self.when = Some(text.to_owned());
        self
    }

    pub fn repeat(mut self) -> Self {
        self.repeat = true;
        self
    }

    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
