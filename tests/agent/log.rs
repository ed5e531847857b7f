//! What the log says of each call.

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
    /// Its lines from `Tool` on, their numbers as `N`.
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let digits = regex::Regex::new("[0-9]+ms").unwrap();
        text.lines()
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

// I9, K22, H11
#[tokio::test]
async fn each_call_is_logged_with_its_end_and_time() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let gate = Gate::new();
    let shared = Arc::default();
    let tools = vec![
        FakeTool::new("quick", false, Act::Succeed("done".into()), &shared) as _,
        FakeTool::new("barred", false, Act::Succeed("never".into()), &shared) as _,
        FakeTool::new("slow", false, Act::Gate(gate.clone()), &shared) as _,
    ];
    let mut bench = Setup {
        answers: vec![call(&[
            ("c1", "quick", json!({})),
            ("c2", "barred", json!({})),
            ("c3", "slow", json!({})),
        ])],
        toolbox: Some(Toolbox::select(tools, &"-barred".parse().unwrap()).unwrap()),
        ..Setup::default()
    }
    .start();
    bench.prompt("Go");
    gate.reached().await;
    bench.handle.abort();
    bench
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    assert_eq!(
        log.lines(),
        [
            "Tool: quick | completed after Nms",
            "Tool blocked by policy: barred",
            "Tool: slow | cancelled after Nms",
        ]
    );
}
