//! What the log contains for each call.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tiller::agent::{AgentEvent, Toolbox};
use tracing_subscriber::fmt::MakeWriter;

use super::fixture::*;

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    /// The log lines about this test's tools, from `Tool` on, with times as `N`.
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let digits = regex::Regex::new("[0-9]+ms").unwrap();
        text.lines()
            .filter(|line| line.contains("logged_"))
            .filter_map(|line| {
                Some(
                    digits
                        .replace(&line[line.find("Tool")?..], "Nms")
                        .into_owned(),
                )
            })
            .collect()
    }
}

#[tokio::test]
async fn each_call_is_logged_with_its_end_and_time() {
    let log = Log::default();
    // The log is global: tracing caches per call site whether a subscriber listens, and checks only
    // the first thread that arrives.
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(log.clone())
        .init();

    let gate = Gate::new();
    let shared = Arc::default();
    let tools = vec![
        FakeTool::new("logged_quick", false, Act::Succeed("done".into()), &shared) as _,
        FakeTool::new(
            "logged_barred",
            false,
            Act::Succeed("never".into()),
            &shared,
        ) as _,
        FakeTool::new("logged_broken", false, Act::Fail("no".into()), &shared) as _,
        FakeTool::new("logged_slow", false, Act::Gate(gate.clone()), &shared) as _,
    ];
    let mut agent = Setup {
        answers: vec![call(&[
            ("c1", "logged_quick", json!({})),
            ("c2", "logged_barred", json!({})),
            ("c3", "logged_broken", json!({})),
            ("c4", "logged_unknown", json!({})),
            ("c5", "logged_slow", json!({})),
            ("c6", "logged_quick", json!({})),
        ])],
        toolbox: Some(Toolbox::select(tools, &"-logged_barred".parse().unwrap()).unwrap()),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.abort();
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    assert_eq!(
        log.lines(),
        [
            "Tool: logged_quick | completed after Nms",
            "Tool blocked by policy: logged_barred",
            "Tool: logged_barred | refused",
            "Tool: logged_broken | failed after Nms",
            "Tool: logged_unknown | refused",
            "Tool: logged_slow | cancelled after Nms",
            "Tool: logged_quick | cancelled",
        ]
    );
}
