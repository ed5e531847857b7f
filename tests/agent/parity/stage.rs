//! One cell of the matrix: a scripted server, an agent with the built-in tools in its own folder,
//! and the result.

use std::sync::Arc;

use serde_json::{Value, json};
use tiller::agent::process::{Orphans, Processes};
use tiller::agent::{AgentEvent, ToolSettings, Toolbox, tools};
use tiller::llm::{EditFormat, Model};

use crate::agent::fixture::{Setup, TestAgent};
use crate::llm::kit;
pub use crate::support::model_server::Reply;
use crate::support::model_server::{ModelServer, Recorded, Script, Wire};

/// A vendor's model: its wire and its editing format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Anthropic,
    OpenAi,
    OpenAiChat,
    Gemini,
}

impl Profile {
    /// The columns of the matrix.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Gemini];

    fn wire(self) -> Wire {
        match self {
            Self::Anthropic => Wire::Anthropic,
            Self::OpenAi => Wire::Responses,
            Self::OpenAiChat => Wire::Chat,
            Self::Gemini => Wire::Google,
        }
    }

    fn format(self) -> EditFormat {
        match self {
            Self::Anthropic => EditFormat::Edit,
            Self::OpenAi | Self::OpenAiChat => EditFormat::ApplyPatch,
            Self::Gemini => EditFormat::Replace,
        }
    }

    /// The name of its editing tool.
    pub fn editing(self) -> &'static str {
        match self.format() {
            EditFormat::Edit => "edit",
            EditFormat::ApplyPatch => "apply_patch",
            EditFormat::Replace => "replace",
        }
    }

    /// A reply that changes one line in each of these files: path, old line, new line.
    pub fn edits(self, edits: &[(&str, &str, &str)]) -> Reply {
        let mut reply = Reply::new();
        let mut patch = String::from("*** Begin Patch\n");
        for (path, old, new) in edits {
            match self.format() {
                EditFormat::ApplyPatch => {
                    let section = format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n");
                    patch.push_str(&section);
                }
                EditFormat::Edit => {
                    let args = json!({ "file_path": path, "old_text": old, "new_text": new });
                    reply = reply.and_call("edit", args);
                }
                EditFormat::Replace => {
                    let args = json!({ "file_path": path, "old_string": old, "new_string": new });
                    reply = reply.and_call("replace", args);
                }
            }
        }
        match self.format() {
            EditFormat::ApplyPatch => {
                patch += "*** End Patch\n";
                reply.and_call("apply_patch", json!({ "patch": patch }))
            }
            _ => reply,
        }
    }

    /// A reply that makes a new file of one line.
    pub fn creates(self, path: &str, line: &str) -> Reply {
        match self.format() {
            EditFormat::Edit => Reply::call(
                "write",
                json!({ "file_path": path, "content": format!("{line}\n") }),
            ),
            EditFormat::ApplyPatch => Reply::call(
                "apply_patch",
                json!({ "patch": format!("*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch") }),
            ),
            EditFormat::Replace => Reply::call(
                "replace",
                json!({ "file_path": path, "old_string": "", "new_string": format!("{line}\n") }),
            ),
        }
    }
}

/// An agent at work.
pub struct Stage {
    pub profile: Profile,
    pub server: ModelServer,
    pub agent: TestAgent,
}

impl Stage {
    pub fn new(profile: Profile, replies: Vec<Reply>) -> Self {
        let server = ModelServer::start(Script::of(replies));
        let processes = Processes::with_supervisor(env!("CARGO_BIN_EXE_tiller"), Orphans::Leave);
        let tools = tools::builtin(&ToolSettings::default());
        let agent = Setup {
            provider: Some(Arc::new(kit::wires(&server))),
            model: Some(model(profile, &server)),
            toolbox: Some(Toolbox::new(tools)),
            processes: Some(processes),
            ..Setup::default()
        };
        Self {
            profile,
            agent: agent.start(),
            server,
        }
    }

    /// Another vendor's model, on the same server.
    pub fn model(&self, profile: Profile) -> Model {
        model(profile, &self.server)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.agent.cwd.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub async fn tool_started(&mut self) {
        self.agent
            .until(|event| matches!(event, AgentEvent::ToolStart { .. }))
            .await;
    }

    /// The tool shows output only once it runs, so files for undo are already stored.
    pub async fn tool_says_something(&mut self) {
        self.agent
            .until(|event| matches!(event, AgentEvent::ToolUpdate { .. }))
            .await;
    }

    pub async fn queued(&mut self) {
        self.agent
            .until(|event| matches!(event, AgentEvent::QueueUpdate { steering, .. } if !steering.is_empty()))
            .await;
    }

    pub fn played(self) -> Played {
        Played {
            profile: self.profile,
            requests: self.server.requests(),
            story: self.agent.story(),
            stage: self,
        }
    }
}

fn model(profile: Profile, server: &ModelServer) -> Model {
    let wire = profile.wire();
    Model {
        edit_format: profile.format(),
        ..kit::model(wire, &server.url(wire))
    }
}

/// The result of a scenario.
pub struct Played {
    pub profile: Profile,
    pub requests: Vec<Recorded>,
    pub story: Vec<String>,
    stage: Stage,
}

impl Played {
    pub fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.stage.agent.cwd.join(path)).unwrap_or_default()
    }

    pub fn stage_has(&self, path: &str) -> bool {
        self.stage.agent.cwd.join(path).exists()
    }

    /// The tool results in the last request.
    #[track_caller]
    pub fn results(&self) -> Vec<String> {
        self.requests.last().unwrap().results()
    }

    /// The settings of a request: everything but the conversation.
    pub fn settings(&self, request: usize) -> Value {
        let mut body = self.requests[request].body.clone();
        for key in ["messages", "input", "contents"] {
            body.as_object_mut().unwrap().remove(key);
        }
        body
    }

    /// Events nest, and every call has a start and an end.
    pub fn events_are_whole(&self, name: &str) {
        let story = &self.story;
        let count = |start: &str| story.iter().filter(|line| line.starts_with(start)).count();
        for thing in ["agent", "turn", "tool"] {
            let (starts, ends) = (
                count(&format!("{thing} start")),
                count(&format!("{thing} end")),
            );
            assert_eq!(starts, ends, "{:?} {name}: {story:#?}", self.profile);
        }
        assert_eq!(count("turn start"), self.requests.len(), "{story:#?}");
        let last = self.requests.last().unwrap();
        let results = self
            .story
            .iter()
            .filter(|line| line.starts_with("tool end"))
            .count();
        assert_eq!(last.results().len(), results, "{:?} {name}", self.profile);
    }
}
