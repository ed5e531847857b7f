//! Session files cut at any byte. The session opens and says what was lost. The next request equals
//! the one from before the cut entry.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::RunOutcome;
use tiller::agent::session::Session;
use tiller::llm::{Request, anthropic, google, openai};

use super::fixture::{Act, Setup, TestAgent, say};
use crate::llm::kit;
use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::prefix::goes_on_from;

/// How many bytes at the end of the file the test tries as cuts.
const TAIL: usize = 4096;
/// The distance between cuts on all wires but the first, where every byte is tried.
/// `TILLER_CUT_STEP` sets it for all.
const STEP: usize = 101;
/// How many files are cut in parallel.
const FILES: usize = 16;

/// A session recorded over one wire.
struct Stage {
    wire: Wire,
    model: tiller::llm::Model,
    whole: Vec<u8>,
    /// The bodies of its requests, each with the file's size when it was sent.
    requests_with_sizes: Vec<(usize, Value)>,
}

/// A file that is cut at many places.
struct Cut {
    stage: Arc<Stage>,
    folder: Arc<TempDir>,
    path: PathBuf,
    /// The next request's body for a session with this many bytes.
    expected: HashMap<usize, Vec<u8>>,
}

impl Stage {
    /// A session with thinking, parallel calls and an answer, all within the tail.
    async fn new(wire: Wire) -> Self {
        let server = ModelServer::start(Script::of([
            Reply::new()
                .think("Two things to look at.")
                .say("I look: größe \"quoted\".")
                .and_call("read", json!({"file_path": "a.rs"}))
                .and_call("grep", json!({"pattern": "x\ty"})),
            Reply::new()
                .think("So.")
                .and_call("read", json!({"file_path": "b.rs"})),
            Reply::text("That is **it**: 日本 🦀."),
        ]));
        let model = kit::model(wire, &server.url(wire));
        let mut agent = Setup {
            provider: Some(Arc::new(kit::wires(&server))),
            model: Some(model.clone()),
            ..setup()
        }
        .start();
        agent.prompt("Look around, please");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        agent.handle.shutdown().await;
        Self {
            wire,
            model,
            requests_with_sizes: requests_with_sizes(&agent, &server),
            whole: fs::read(&agent.session).unwrap(),
        }
    }

    fn body(&self, request: &Request) -> Vec<u8> {
        match self.wire {
            Wire::Anthropic => anthropic::request::body(request),
            Wire::Chat => openai::chat::request::body(request),
            Wire::Responses => openai::responses::request::body(request),
            Wire::Google => google::request::body(request),
        }
    }
}

impl Cut {
    fn new(stage: &Arc<Stage>) -> Self {
        // In memory if the system has it, so that nothing waits for a disk.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        let folder = Arc::new(folder.unwrap());
        fs::create_dir(folder.path().join("work")).unwrap();
        Self {
            stage: Arc::clone(stage),
            path: folder.path().join("session.jsonl"),
            folder,
            expected: HashMap::new(),
        }
    }

    /// Opens the session with `text` and returns what was lost.
    fn open(&self, text: &[u8]) -> Vec<String> {
        fs::write(&self.path, text).unwrap();
        let (_, problems) = Session::open(self.folder.path(), &self.path).unwrap();
        problems
    }

    /// The body of the next prompt's request in the opened session.
    async fn next_body(&self) -> Vec<u8> {
        let mut agent = Setup {
            answers: vec![say("Yes.")],
            resume: Some((Arc::clone(&self.folder), self.path.clone())),
            model: Some(self.stage.model.clone()),
            ..setup()
        }
        .start();
        agent.prompt("And on");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        agent.handle.shutdown().await;
        self.stage.body(&agent.script.requests()[0])
    }

    async fn at(&mut self, cut: usize) {
        let stage = Arc::clone(&self.stage);
        let whole = &stage.whole;
        let ends = whole[..cut].iter().rposition(|byte| *byte == b'\n');
        let ends = ends.unwrap() + 1;
        // An entry that lacks only its newline is whole.
        let kept = if whole[cut] == b'\n' { cut + 1 } else { ends };
        let problems = self.open(&whole[..cut]);
        let at = format!("{:?}, cut at {cut} of {}", stage.wire, whole.len());
        if kept == ends && cut > ends {
            assert!(
                problems.concat().contains("its last entry was cut off"),
                "{at}: {problems:?}"
            );
            let torn_file = self.path.with_extension("jsonl.torn");
            let torn = fs::read(&torn_file).unwrap();
            assert_eq!(torn.strip_suffix(b"\n"), Some(&whole[ends..cut]), "{at}");
            fs::remove_file(&torn_file).unwrap();
        } else {
            assert_eq!(problems, Vec::<String>::new(), "{at}");
        }
        let body = self.next_body().await;
        if !self.expected.contains_key(&kept) {
            assert_eq!(self.open(&whole[..kept]), Vec::<String>::new(), "{at}");
            let expected = self.next_body().await;
            // An earlier request whose entries are all still there is a prefix of the new one.
            let next = serde_json::from_slice(&expected).unwrap();
            let mut requests = stage.requests_with_sizes.iter().rev();
            let (_, last) = requests.find(|(bytes, _)| *bytes <= kept).unwrap();
            assert!(goes_on_from(last, &next), "{at}");
            self.expected.insert(kept, expected);
        }
        assert!(body == self.expected[&kept], "{at}: the request changed");
    }
}

/// A session's requests, each with the file's size when the call began.
fn requests_with_sizes(agent: &TestAgent, server: &ModelServer) -> Vec<(usize, Value)> {
    let text = fs::read_to_string(&agent.session).unwrap();
    let (mut bytes, mut begun) = (0, Vec::new());
    for line in text.split_inclusive('\n') {
        if line.contains("api_call_start") {
            begun.push(bytes);
        }
        bytes += line.len();
    }
    let bodies = server.requests().into_iter().map(|request| request.body);
    assert_eq!(begun.len(), 3);
    begun.into_iter().zip(bodies).collect()
}

fn setup() -> Setup {
    let text = "0123456789abcdef\n".repeat(40);
    Setup {
        tools: ["read", "grep"]
            .map(|name| (name, true, Act::Succeed(text.clone())))
            .to_vec(),
        ..Setup::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_file_sends_the_request_from_before_the_cut_entry() {
    let step = std::env::var("TILLER_CUT_STEP").ok();
    let step: Option<usize> = step.map(|step| step.parse().unwrap());
    for wire in Wire::ALL {
        let coarse = if wire == Wire::ALL[0] { 1 } else { STEP };
        let step = step.unwrap_or(coarse);
        let stage = Arc::new(Stage::new(wire).await);
        let end = stage.whole.len();
        let cuts: Vec<usize> = (end - TAIL..end).rev().step_by(step).collect();
        let files = cuts.chunks(cuts.len().div_ceil(FILES)).map(|cuts| {
            let (mut file, cuts) = (Cut::new(&stage), cuts.to_vec());
            tokio::spawn(async move {
                for cut in cuts {
                    file.at(cut).await;
                }
                file.expected
            })
        });
        let mut expected = HashMap::new();
        for file in join_all(files).await {
            expected.extend(file.unwrap());
        }
        assert!(
            expected.len() > 3,
            "{wire:?}: the tail holds too few requests"
        );
    }
}
