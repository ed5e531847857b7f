//! A session file that ends anywhere: it opens, says what was lost, and the next request is that of
//! the session as it was before the entry that was cut.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use tiller::agent::RunOutcome;
use tiller::agent::session::Session;

use super::fixture::{Act, Setup};
use crate::llm::kit;
use crate::support::model_server::{ModelServer, Recorded, Reply, Script, Wire};
use crate::support::prefix::goes_on_from;

/// Bytes at the end of the file that are cut.
const TAIL: usize = 4096;
/// Every how many bytes a request is made; `TILLER_CUT_STEP` says otherwise. The file is opened at
/// every one.
const STEP: usize = 101;

struct Stage {
    server: ModelServer,
    wire: Wire,
    folder: Arc<TempDir>,
    path: PathBuf,
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
        let mut agent = setup(&server, wire).start();
        agent.prompt("Look around, please");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        agent.handle.shutdown().await;
        Self {
            folder: Arc::clone(&agent.folder),
            path: agent.session.clone(),
            server,
            wire,
        }
    }

    /// Opens the session as `text` and says what was lost.
    fn open(&self, text: &[u8]) -> Vec<String> {
        fs::write(&self.path, text).unwrap();
        let (_, problems) = Session::open(self.folder.path(), &self.path).unwrap();
        problems
    }

    /// The request behind the next prompt in what was opened.
    async fn go_on(&self) -> Recorded {
        self.server.push(Reply::text("Yes."));
        let resume = Some((Arc::clone(&self.folder), self.path.clone()));
        let mut agent = Setup {
            resume,
            ..setup(&self.server, self.wire)
        }
        .start();
        agent.prompt("And on");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        agent.handle.shutdown().await;
        self.server.requests().pop().unwrap()
    }
}

fn setup(server: &ModelServer, wire: Wire) -> Setup {
    let text = "0123456789abcdef\n".repeat(40);
    Setup {
        provider: Some(Arc::new(kit::wires(server))),
        model: Some(kit::model(wire, &server.url(wire))),
        tools: ["read", "grep"]
            .map(|name| (name, true, Act::Succeed(text.clone())))
            .to_vec(),
        ..Setup::default()
    }
}

fn step() -> usize {
    let step = std::env::var("TILLER_CUT_STEP").ok();
    step.map_or(STEP, |step| step.parse().unwrap())
}

// L4
#[tokio::test]
async fn a_file_cut_anywhere_asks_as_it_did_before_the_entry_that_was_cut() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let whole = fs::read(&stage.path).unwrap();
        let torn_file = stage.path.with_extension("jsonl.torn");
        let before = stage.server.requests();
        let mut expected: HashMap<usize, Recorded> = HashMap::new();
        for cut in (whole.len() - TAIL..whole.len()).rev() {
            let asked = cut.is_multiple_of(step());
            // Opening is the same for all.
            if !asked && wire != Wire::ALL[0] {
                continue;
            }
            let text = &whole[..cut];
            let ends = whole[..cut]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .unwrap()
                + 1;
            // An entry that only lacks its line end is whole.
            let kept = if whole[cut] == b'\n' { cut + 1 } else { ends };
            let problems = stage.open(text);
            let at = format!("{wire:?}, cut at {cut} of {}", whole.len());
            if kept == ends && cut > ends {
                assert!(
                    problems.concat().contains("was cut off in writing"),
                    "{at}: {problems:?}"
                );
                let torn = fs::read(&torn_file).unwrap();
                assert_eq!(torn.strip_suffix(b"\n"), Some(&whole[ends..cut]), "{at}");
                fs::remove_file(&torn_file).unwrap();
            } else {
                assert_eq!(problems, Vec::<String>::new(), "{at}");
            }
            if !asked {
                continue;
            }
            let request = stage.go_on().await;
            if let std::collections::hash_map::Entry::Vacant(entry) = expected.entry(kept) {
                assert_eq!(stage.open(&whole[..kept]), Vec::<String>::new(), "{at}");
                entry.insert(stage.go_on().await);
            }
            let text = |request: &Recorded| request.text();
            assert_eq!(text(&request), text(&expected[&kept]), "{at}");
            // Requests of before whose messages are all still there are its beginning.
            let first = &before[0];
            assert!(goes_on_from(&first.body, &request.body), "{at}");
        }
        assert!(
            expected.len() > 3,
            "{wire:?}: the tail holds several entries"
        );
    }
}
