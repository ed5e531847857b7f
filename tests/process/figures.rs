//! Measures how long it takes to end processes: `cargo test --test main figures -- --ignored
//! --nocapture`. For meaningful figures, set `TILLER_TEST_SUPERVISOR=target/release/tiller`.

use std::time::{Duration, Instant};

use super::bash_tool::BashTool;
use super::survivors::ESCAPES;
use crate::support::marked::MarkedProcesses;

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures, tests nothing"]
async fn figures() {
    for escape in ESCAPES {
        let bash = BashTool::new();
        let marked = MarkedProcesses::new();
        let mut times = Vec::new();
        for _ in 0..3 {
            let call = bash.start(&marked.script(escape.script));
            marked.wait_for(escape.alive).await;
            let before = Instant::now();
            call.cancel.cancel();
            bash.processes.stop_all();
            let _ = call.raw().await;
            let answered = before.elapsed();
            bash.processes.empty().await;
            times.push((before.elapsed(), answered));
            marked.assert_none().await;
        }
        times.sort();
        let (dead, answered) = times[1];
        println!(
            "{:45} dead after {:8.1} ms (worst {:8.1}), answered after {:5.2} ms",
            escape.name,
            millis(dead),
            millis(times[2].0),
            millis(answered)
        );
    }
    for command in ["true", "echo x"] {
        let bash = BashTool::new();
        let mut times = Vec::new();
        for _ in 0..200 {
            let before = Instant::now();
            bash.run(command).await;
            times.push(before.elapsed());
        }
        times.sort();
        println!(
            "{command:45} {:.2} ms, p95 {:.2} ms",
            millis(times[100]),
            millis(times[190])
        );
    }
    for command in [
        "head -c 1000000000 /dev/zero | tr '\\0' 'x' | fold",
        "seq 20000000",
    ] {
        let bash = BashTool::new();
        let before = Instant::now();
        let outcome = bash.run(command).await;
        let seconds = before.elapsed().as_secs_f64();
        println!(
            "{command:45} {:.0} MB/s",
            outcome.details.total_bytes as f64 / seconds / 1e6
        );
    }
}
