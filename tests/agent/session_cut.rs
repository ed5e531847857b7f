//! A session file that ends anywhere: it opens, says what was lost, and the next request is that of
//! the session as it was before the entry that was cut.

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

/// Bytes at the end of the file that are cut.
const TAIL: usize = 4096;
/// Every how many bytes this is done on all wires but the first, which does it at each;
/// `TILLER_CUT_STEP` says otherwise for all.
const STEP: usize = 101;
/// Files that are cut side by side.
const FILES: usize = 16;

/// A session as it was written on a wire.
struct Stage {
    wire: Wire,
    model: tiller::llm::Model,
    whole: Vec<u8>,
    /// The bodies of its requests, each with the bytes that the file had when it left.
    asked: Vec<(usize, Value)>,
}

/// A file that is cut again and again.
struct Cut {
    stage: Arc<Stage>,
    folder: Arc<TempDir>,
    path: PathBuf,
    /// The body of the next request of the session with so many bytes.
    expected: HashMap<usize, Vec<u8>>,
}

impl Stage {
    /// A session with thinking, calls side by side and an answer, all of it in the tail.
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
            asked: asked(&agent, &server),
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
        // Where the kernel has one, in memory: nothing waits for a disk.
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

    /// Opens the session as `text` and says what was lost.
    fn open(&self, text: &[u8]) -> Vec<String> {
        fs::write(&self.path, text).unwrap();
        let (_, problems) = Session::open(self.folder.path(), &self.path).unwrap();
        problems
    }

    /// The body of the request behind the next prompt in what was opened.
    async fn go_on(&self) -> Vec<u8> {
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
        // An entry that only lacks its line end is whole.
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
        let body = self.go_on().await;
        if !self.expected.contains_key(&kept) {
            assert_eq!(self.open(&whole[..kept]), Vec::<String>::new(), "{at}");
            let expected = self.go_on().await;
            // What was asked before, and is all still there, is its beginning.
            let next = serde_json::from_slice(&expected).unwrap();
            let mut asked = stage.asked.iter().rev();
            let (_, last) = asked.find(|(bytes, _)| *bytes <= kept).unwrap();
            assert!(goes_on_from(last, &next), "{at}");
            self.expected.insert(kept, expected);
        }
        assert!(body == self.expected[&kept], "{at}: another request");
    }
}

/// The requests of a session, each with the bytes that stood in the file before its call began.
fn asked(agent: &TestAgent, server: &ModelServer) -> Vec<(usize, Value)> {
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

// L4
#[tokio::test(flavor = "multi_thread")]
async fn a_file_cut_anywhere_asks_as_it_did_before_the_entry_that_was_cut() {
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
        assert!(expected.len() > 3, "{wire:?}: the tail holds several");
    }
}
