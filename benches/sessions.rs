//! Sessions on disk: opening one of 128 MB, and listing 10,000.
//!
//! `cargo bench --bench sessions`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and has nobody to report errors to"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use divan::{Bencher, black_box};
use tiller::agent::session::{Session, SessionIndex, all_sessions};

/// Bytes of the session that is opened.
const SIZE: usize = 128 * 1024 * 1024;
/// Bytes of one of its results.
const RESULT: usize = 4 * 1024;
/// Sessions that are listed.
const COUNT: usize = 10_000;

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

#[divan::bench(sample_count = 10)]
fn open_128_mb(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("2026-11-20_big.jsonl");
    let text = "x".repeat(RESULT);
    let mut file = fs::File::create(&path).unwrap();
    std::io::Write::write_all(&mut file, header(0).as_bytes()).unwrap();
    for line in 0..SIZE / RESULT {
        let role = ["user", "assistant", "toolResult"][line % 3];
        std::io::Write::write_all(&mut file, message(line, role, &text).as_bytes()).unwrap();
    }
    drop(file);
    let open = |path: &Path| Session::open(root.path(), path).unwrap();
    let before = peak_kb();
    drop(open(&path));
    println!(
        "peak memory before and after opening: {before:?} {:?} kB",
        peak_kb()
    );
    bencher.bench_local(|| drop(black_box(open(&path))));
}

#[divan::bench(sample_count = 10)]
fn list_10_000(bencher: Bencher) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("--home-me-shop--");
    fs::create_dir(&folder).unwrap();
    for id in 0..COUNT {
        let mut text = header(id);
        let _ = write!(text, "{}", message(0, "user", "Fix the failing test"));
        fs::write(folder.join(format!("2026-11-20_{id:08}.jsonl")), text).unwrap();
    }
    let list = || {
        let stored = all_sessions(root.path()).unwrap();
        let mut index = SessionIndex::load(root.path());
        let titles = stored.iter().map(|session| index.head(session).title.len());
        let length = titles.sum::<usize>();
        index.save();
        length
    };
    list();
    bencher.bench_local(|| black_box(list()));
}
