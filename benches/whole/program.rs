//! The programs that are measured, and what each needs to talk to the scripted server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use crate::model_server::{ModelServer, Recorded, Reply, Script, Wire};
use crate::screen::Screen;

/// An address where nobody listens: for what asks no model.
const NOBODY: &str = "http://127.0.0.1:9";

/// What those say who ask for a title beside the first prompt.
const TITLE: &str = "concise, single-line task title";

/// A terminal agent.
#[derive(Clone, Debug)]
pub struct Program {
    kind: Kind,
    pub path: PathBuf,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Tiller,
    Codex,
    Pi,
}

impl Program {
    pub fn tiller(path: PathBuf) -> Self {
        Self {
            kind: Kind::Tiller,
            path,
        }
    }

    /// The peers that are on PATH.
    pub fn peers() -> Vec<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| {
            std::env::split_paths(&path)
                .map(|folder| folder.join(name))
                .find(|path| path.is_file())
        };
        [(Kind::Codex, "codex"), (Kind::Pi, "pi")]
            .into_iter()
            .filter_map(|(kind, name)| {
                Some(Self {
                    kind,
                    path: find(name)?,
                })
            })
            .collect()
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Tiller => "tiller",
            Kind::Codex => "codex",
            Kind::Pi => "pi",
        }
    }

    pub fn is_tiller(&self) -> bool {
        matches!(self.kind, Kind::Tiller)
    }

    /// How long it needs from its first frame until it takes a prompt.
    pub fn warm_up(&self) -> Duration {
        Duration::from_millis(if self.is_tiller() { 500 } else { 3_000 })
    }

    /// Whether it reads files by commands alone.
    pub fn has_no_read(&self) -> bool {
        matches!(self.kind, Kind::Codex)
    }

    /// What is on the screen as long as something runs, and only then.
    pub fn is_busy(&self, text: &str) -> bool {
        match self.kind {
            Kind::Tiller => text.contains("Esc stops"),
            Kind::Codex => text.contains("esc to interrupt"),
            Kind::Pi => text.contains("Working"),
        }
    }

    /// Whether the editor is there and holds `typed`: a terminal that was not taken yet echoes too.
    pub fn holds(&self, text: &str, typed: char) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let with = |at: &usize| lines[*at].contains(typed);
        (0..lines.len()).filter(with).any(|at| match self.kind {
            Kind::Tiller => lines[at].starts_with('│'),
            Kind::Codex => lines[at].starts_with('›'),
            Kind::Pi => at > 0 && lines[at - 1].starts_with('─'),
        })
    }

    /// A call of the tool that runs a command.
    pub fn command(&self, say: String, command: &str) -> Reply {
        let (name, arguments): (&str, Value) = match self.kind {
            Kind::Tiller | Kind::Pi => ("bash", json!({"command": command})),
            Kind::Codex => ("exec_command", json!({"cmd": command})),
        };
        Reply::new().say(say).and_call(name, arguments)
    }

    /// The requests of prompts and results, which were answered. Copies all: not while time is taken.
    pub fn requests(server: &ModelServer) -> impl Iterator<Item = Recorded> {
        let requests = server.requests().into_iter();
        requests.filter(|request| !request.last_user().contains(TITLE))
    }

    /// The first request, once all of its answer was sent.
    pub fn answered(server: &ModelServer, screen: &mut Screen) -> Recorded {
        loop {
            let request = Self::requests(server).next().unwrap();
            if request.answered.is_some() {
                return request;
            }
            screen.rest(Duration::from_millis(50));
        }
    }

    /// A server that answers it like this.
    pub fn serve(&self, replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        let title = Reply::text("A title").when(TITLE).repeat();
        let server = ModelServer::start(Script::of([title].into_iter().chain(replies)));
        if !self.is_tiller() {
            server.be_lenient();
        }
        server
    }

    /// Writes its settings below `home`, and gives the command its arguments and environment.
    pub fn prepare(&self, command: &mut CommandBuilder, home: &Path, server: Option<&ModelServer>) {
        let url = |wire| server.map_or_else(|| NOBODY.to_owned(), |server| server.url(wire));
        match self.kind {
            Kind::Tiller => {
                // It must not stop for having worked long.
                command.args(["--max-iterations", "10000"]);
                command.env("ANTHROPIC_API_KEY", "test-key-anthropic");
                command.env("ANTHROPIC_BASE_URL", url(Wire::Anthropic));
            }
            Kind::Codex => {
                let settings = format!(
                    "model = \"gpt-scripted\"\nmodel_provider = \"scripted\"\n\
                     approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
                     check_for_update_on_startup = false\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\n\
                     env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n\
                     [projects.\"{}\"]\ntrust_level = \"trusted\"\n",
                    url(Wire::Responses),
                    home.display()
                );
                write(&home.join(".codex/config.toml"), &settings);
                command.env("OPENAI_API_KEY", "test-key-openai");
            }
            Kind::Pi => {
                let models = json!({"providers": {"scripted": {
                    "baseUrl": url(Wire::Anthropic),
                    "api": "anthropic-messages",
                    "apiKey": "test-key-anthropic",
                    "models": [{"id": "scripted"}],
                }}});
                write(&home.join(".pi/agent/models.json"), &models.to_string());
                command.env("PI_OFFLINE", "1");
                command.args(["--provider", "scripted", "--model", "scripted"]);
            }
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
