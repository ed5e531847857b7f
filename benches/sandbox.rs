//! The cost of a sandbox: runs `true` with and without one, in turn.
//!
//! `cargo bench --bench sandbox`; `TILLER_BENCH_PROGRAM=PATH` for another supervisor.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark prints its figures and stops at the first surprise"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tiller::agent::process::sandbox::{Network, Sandbox};
use tiller::agent::process::{Orphans, Processes, Spawn};
use tokio_util::sync::CancellationToken;

const RUNS: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // `cargo test --benches` runs this too, but it must measure nothing then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let tiller = std::env::var_os("TILLER_BENCH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_tiller").into(), PathBuf::from);
    let processes = Processes::with_supervisor(tiller, Orphans::Leave);
    let folder = tempfile::tempdir().unwrap();
    for name in ["ws/.git/hooks", "tmp", "hidden/a", "hidden/b", "hidden/c"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    let path = |name: &str| folder.path().join(name);
    let whole = Sandbox {
        writable: vec![path("ws")],
        read_only: vec![path("ws/.git/hooks")],
        hidden: ["hidden/a", "hidden/b", "hidden/c"].map(path).to_vec(),
        tmp: Some(path("tmp")),
        ..Sandbox::default()
    };
    let host = Sandbox {
        network: Network::Host,
        ..whole.clone()
    };
    let kinds = [
        ("none", None),
        ("sandbox", Some(whole)),
        ("network", Some(host)),
    ];
    let kinds = kinds.map(|(name, sandbox)| (name, sandbox.map(Arc::new)));
    let mut times: [Vec<f64>; 3] = Default::default();
    // In turn, so that a busy moment affects all of them.
    for _ in 0..RUNS {
        for ((_, sandbox), times) in kinds.iter().zip(&mut times) {
            let spawn = Spawn {
                command: "true".to_owned(),
                cwd: path("ws"),
                environment: std::env::vars_os().collect(),
                sandbox: sandbox.clone(),
            };
            let began = Instant::now();
            let running = processes.start(spawn, &CancellationToken::new()).unwrap();
            let mut status = running.status();
            status.wait_for(|status| status.gone).await.unwrap();
            times.push(began.elapsed().as_secs_f64() * 1e3);
            processes.empty().await;
        }
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    });
    println!(
        "{:10} {:>9} {:>9} {:>6}   budget: 5 ms more",
        "true", "median ms", "more ms", "ratio"
    );
    for ((name, _), median) in kinds.iter().zip(medians) {
        let (more, ratio) = (median - medians[0], median / medians[0]);
        println!("{name:10} {median:9.2} {more:9.2} {ratio:6.2}");
    }
}
