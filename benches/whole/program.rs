//! The programs to measure, and what each needs to talk to the scripted server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use crate::model_server::{ModelServer, Recorded, Reply, Script, Wire};
use crate::screen::Screen;

/// An address without a listener, for runs that ask no model.
const NOBODY: &str = "http://127.0.0.1:9";

/// Text in the request of programs that ask for a title besides the first prompt.
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

    /// The peers found on PATH.
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

    /// How long it takes from its first frame until it accepts a prompt.
    pub fn warm_up(&self) -> Duration {
        Duration::from_millis(if self.is_tiller() { 500 } else { 3_000 })
    }

    /// True if it has no read tool and reads files only with commands.
    pub fn has_no_read(&self) -> bool {
        matches!(self.kind, Kind::Codex)
    }

    /// True while the screen shows that something runs.
    pub fn is_busy(&self, text: &str) -> bool {
        match self.kind {
            Kind::Tiller => text.contains("Esc stops"),
            Kind::Codex => text.contains("esc to interrupt"),
            Kind::Pi => text.contains("Working"),
        }
    }

    /// True if the editor is there and contains `typed`. Before that the terminal itself echoes
    /// keys.
    pub fn holds(&self, text: &str, typed: char) -> bool {
        let lines: Vec<&str> = text.lines().collect();
        let with = |at: &usize| lines[*at].contains(typed);
        (0..lines.len()).filter(with).any(|at| match self.kind {
            Kind::Tiller => lines[at].starts_with('│'),
            Kind::Codex => lines[at].starts_with('›'),
            Kind::Pi => at > 0 && lines[at - 1].starts_with('─'),
        })
    }

    /// A call of its command tool.
    pub fn command(&self, say: String, command: &str) -> Reply {
        let (name, arguments): (&str, Value) = match self.kind {
            Kind::Tiller | Kind::Pi => ("bash", json!({"command": command})),
            Kind::Codex => ("exec_command", json!({"cmd": command})),
        };
        Reply::new().say(say).and_call(name, arguments)
    }

    /// The answered requests of prompts and results. Copies all, so don't call it during a
    /// measurement.
    pub fn requests(server: &ModelServer) -> impl Iterator<Item = Recorded> {
        let requests = server.requests().into_iter();
        requests.filter(|request| !request.last_user().contains(TITLE))
    }

    /// The first request, once its answer was sent completely.
    pub fn answered(server: &ModelServer, screen: &mut Screen) -> Recorded {
        loop {
            let request = Self::requests(server).next().unwrap();
            if request.answered.is_some() {
                return request;
            }
            screen.rest(Duration::from_millis(50));
        }
    }

    /// A server that gives this program these replies.
    pub fn serve(&self, replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        let title = Reply::text("A title").when(TITLE).repeat();
        let server = ModelServer::start(Script::of([title].into_iter().chain(replies)));
        if !self.is_tiller() {
            server.be_lenient();
        }
        server
    }

    /// Writes its settings below `home`, and sets the command's arguments and environment.
    pub fn prepare(&self, command: &mut CommandBuilder, home: &Path, server: Option<&ModelServer>) {
        let url = |wire| server.map_or_else(|| NOBODY.to_owned(), |server| server.url(wire));
        match self.kind {
            Kind::Tiller => {
                // A long run must not hit the limit.
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
