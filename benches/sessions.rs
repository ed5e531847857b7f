//! Sessions on disk: opening one of 128 MB, continuing from any entry of it, and listing 10,000.
//!
//! `cargo bench --bench sessions`. If `TILLER_BENCH_PI` is the folder of pi's unpacked npm package,
//! it also prints pi's times for the same files.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and has nobody to report errors to"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use divan::{Bencher, black_box};
use tiller::agent::session::{Session, SessionIndex, all_sessions};
use tiller::app::branches::Outline;

/// Size of the session to open, in bytes.
const SIZE: usize = 128 * 1024 * 1024;
/// Size of each of its tool results, in bytes.
const RESULT: usize = 4 * 1024;
/// How many sessions to list.
const COUNT: usize = 10_000;
const PI: &str = "TILLER_BENCH_PI";

fn main() {
    divan::main();
}

fn header(id: usize) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id:08}\",\"timestamp\":\"2026-11-20T10:00:00.000Z\",\"cwd\":\"/home/me/shop\"}}\n"
    )
}

fn message(line: usize, role: &str, text: &str) -> String {
    let parent = match line {
        0 => String::from("null"),
        line => format!("\"{:08x}\"", line - 1),
    };
    format!(
        "{{\"type\":\"message\",\"id\":\"{line:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-11-20T10:00:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"timestamp\":1}}}}\n"
    )
}

fn peak_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A session of 128 MB in `root`.
fn big(root: &Path) -> PathBuf {
    let path = root.join("2026-11-20_big.jsonl");
    let text = "x".repeat(RESULT);
    let mut file = BufWriter::new(fs::File::create(&path).unwrap());
    file.write_all(header(0).as_bytes()).unwrap();
    for line in 0..SIZE / RESULT {
        let role = ["user", "assistant", "toolResult"][line % 3];
        file.write_all(message(line, role, &text).as_bytes())
            .unwrap();
    }
    path
}

/// A folder of many small sessions.
fn many(root: &Path) {
    let folder = root.join("--home-me-shop--");
    fs::create_dir(&folder).unwrap();
    for id in 0..COUNT {
        let mut text = header(id);
        let _ = write!(text, "{}", message(0, "user", "Fix the failing test"));
        fs::write(folder.join(format!("2026-11-20_{id:08}.jsonl")), text).unwrap();
    }
}

/// Prints pi's time for the same. `PI` names the folder of its npm package.
fn pi(what: &str, script: &str, argument: &Path) {
    let Some(package) = std::env::var_os(PI).map(PathBuf::from) else {
        println!("{what}: {PI} names no package of pi to compare with");
        return;
    };
    let module = package.join("dist/core/session-manager.js");
    let module = module.display();
    let script = format!(
        "import {{ SessionManager }} from '{module}';\nconst path = process.argv[1];\n\
         for (let round = 0; round < 3; round++) {{ let start = performance.now();\n{script}\n\
         console.log((performance.now() - start).toFixed(1) + ' ms'); }}"
    );
    let ran = Command::new("node")
        .args(["--input-type=module", "-e", &script])
        .arg(argument)
        .output();
    match ran {
        Ok(ran) if ran.status.success() => {
            let times = String::from_utf8_lossy(&ran.stdout).replace('\n', " ");
            println!("{what}: pi takes {times}");
        }
        Ok(ran) => println!("{what}: pi: {}", String::from_utf8_lossy(&ran.stderr)),
        Err(error) => println!("{what}: no pi to compare with: {error}"),
    }
}

#[divan::bench(sample_count = 10)]
fn open_128_mb(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let path = big(root.path());
    let open = |path: &Path| Session::open(root.path(), path).unwrap();
    let before = peak_kb();
    drop(open(&path));
    println!(
        "peak memory before and after opening: {before:?} {:?} kB",
        peak_kb()
    );
    pi("open 128 MB", "SessionManager.open(path);", &path);
    bencher.bench_local(|| drop(black_box(open(&path))));
}

/// Continues from entries all over the session. Includes storing that.
#[divan::bench(sample_count = 100)]
fn fork_in_128_mb(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let path = big(root.path());
    let (mut session, _) = Session::open(root.path(), &path).unwrap();
    let nodes: Vec<_> = session.tree().nodes().collect();
    let script = "const m = SessionManager.open(path); const all = m.getEntries();\n\
                  start = performance.now(); m.branch(all[all.length >> 1].id);";
    pi("fork in 128 MB", script, &path);
    let mut at = 0;
    bencher.bench_local(|| {
        at = (at + 7919) % nodes.len();
        black_box(session.go_to(Some(nodes[at])))
    });
}

/// The screen's list of the entries on the current branch.
#[divan::bench(sample_count = 20)]
fn branch_of_128_mb(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let path = big(root.path());
    let (session, _) = Session::open(root.path(), &path).unwrap();
    bencher.bench_local(|| black_box(session.branch().len()));
}

/// The summary of every entry, as the tree on the screen shows it.
#[divan::bench(sample_count = 3)]
fn outline_of_128_mb(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let path = big(root.path());
    let (session, _) = Session::open(root.path(), &path).unwrap();
    bencher.bench_local(|| black_box(Outline::of(&session.snapshot())));
}

fn list(root: &Path) -> usize {
    let stored = all_sessions(root).unwrap();
    let mut index = SessionIndex::load(root);
    index.read_new(&stored);
    let titles = stored.iter().map(|session| index.head(session).title.len());
    let length = titles.sum::<usize>();
    index.save();
    length
}

#[divan::bench(sample_count = 10)]
fn list_10_000(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    many(root.path());
    list(root.path());
    let script = "await SessionManager.list('/home/me/shop', path);";
    pi("list 10,000", script, &root.path().join("--home-me-shop--"));
    bencher.bench_local(|| black_box(list(root.path())));
}

/// The same without an index.
#[divan::bench(sample_count = 10)]
fn list_10_000_for_the_first_time(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    many(root.path());
    bencher
        .with_inputs(|| drop(fs::remove_file(root.path().join(".index.json"))))
        .bench_local_values(|()| black_box(list(root.path())));
}
