//! Messages as they come in, and errors as they go out.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::app::serve::lines::ReadLine;

/// One message of the client.
#[derive(Debug)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Params,
    },
    Notification {
        method: String,
        params: Params,
    },
    /// The answer to a request of tiller; `None` if it failed.
    Response {
        id: Value,
        result: Option<Value>,
    },
}

/// What reading a line gives. An error comes with the id to answer, which may be null.
pub(super) type ReadMessage = Result<Incoming, (Value, RpcError)>;

/// Parameters as they were written. As values, they would take a multiple of their length.
pub(super) type Params = Box<RawValue>;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    code: i32,
    message: String,
}

/// What a request gets.
pub(super) type Answer = Result<Value, RpcError>;

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(-32700, message)
    }

    /// The request makes no sense, or not now.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    pub fn method(method: &str) -> Self {
        Self::new(-32601, format!("tiller has no method {method}"))
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    /// The user has to add a key first.
    pub fn auth(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    pub fn no_session(id: &str) -> Self {
        Self::new(-32002, format!("no session {id}"))
    }

    pub fn to_json(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

impl Incoming {
    /// Parses what was read.
    pub fn of(line: ReadLine) -> ReadMessage {
        let line = line.map_err(|why| (Value::Null, RpcError::parse(why)))?;
        Self::parse(&line)
    }

    fn parse(line: &[u8]) -> ReadMessage {
        let message: serde_json::Result<HashMap<String, Params>> = serde_json::from_slice(line);
        let mut message = message.map_err(|error| {
            let error = if error.is_data() {
                RpcError::request("expected one object a line")
            } else {
                RpcError::parse(format!("not JSON: {error}"))
            };
            (Value::Null, error)
        })?;
        let value = |raw: Params| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
        let id = message.remove("id").map(value);
        let fault = |why| {
            let id = id.clone().unwrap_or_default();
            Err((id, RpcError::request(why)))
        };
        match &id {
            None | Some(Value::Null | Value::String(_) | Value::Number(_)) => {}
            Some(_) => {
                let why = "the id must be a text or a number";
                return Err((Value::Null, RpcError::request(why)));
            }
        }
        let params = message.remove("params").unwrap_or_default();
        match (message.remove("method").map(value), id.clone()) {
            (Some(Value::String(method)), Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(Value::String(method)), None) => Ok(Self::Notification { method, params }),
            (Some(_), _) => fault("the method must be a text"),
            (None, Some(id)) if message.contains_key("error") => {
                Ok(Self::Response { id, result: None })
            }
            (None, Some(id)) if message.contains_key("result") => {
                let result = message.remove("result").map(value);
                Ok(Self::Response { id, result })
            }
            (None, _) => fault("expected a method or a result"),
        }
    }
}

/// Reads the parameters of a method.
pub(super) fn params<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get()).map_err(|error| RpcError::params(error.to_string()))
}

/// `session/new`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    pub cwd: PathBuf,
    #[serde(default)]
    pub mcp_servers: Vec<Value>,
}

/// `session/load` and `session/resume`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OldSession {
    pub session_id: String,
    pub cwd: PathBuf,
    #[serde(default)]
    pub mcp_servers: Vec<Value>,
}

/// `session/list`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ListSessions {
    pub cwd: Option<PathBuf>,
}

/// `$/cancel_request`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelRequest {
    pub request_id: Value,
}

/// `session/cancel`, `session/close` and `session/delete`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToSession {
    pub session_id: String,
}

/// `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    pub session_id: String,
    pub prompt: Vec<Block>,
}

/// `session/set_mode`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetMode {
    pub session_id: String,
    pub mode_id: String,
}

/// `session/set_config_option`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetOption {
    pub session_id: String,
    pub config_id: String,
    pub value: String,
}

/// One block of a prompt.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Block {
    Text { text: String },
    Image { data: String, mime_type: String },
    ResourceLink { uri: String },
    Resource { resource: Resource },
}

/// A file, or a part of it, that the editor sends along.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    pub uri: String,
    pub text: Option<String>,
    pub blob: Option<String>,
    pub mime_type: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn a_bad_line_is_a_typed_error() {
        for (line, id, code) in [
            ("{", Value::Null, -32700),
            ("[]", Value::Null, -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":1}"#,
                json!("a"),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#,
                Value::Null,
                -32600,
            ),
        ] {
            let (answered, error) = Incoming::parse(line.as_bytes()).unwrap_err();
            assert_eq!((answered, error.code), (id, code), "{line}");
        }
        let error =
            params::<ToSession>(&to_raw_value(&json!({"sessionId": 7})).unwrap()).unwrap_err();
        assert_eq!(error.code, -32602);
    }
}
