//! The cost of a key while searching: for a file among 1,000,000 paths, and for an earlier prompt
//! among 16 MB of prompts.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use tiller::app::files::FileIndex;
use tiller::app::tui::composer::{History, Narrowing};

fn main() {
    divan::main();
}

static INDEX: LazyLock<FileIndex> = LazyLock::new(|| FileIndex::new(paths(1_000_000)));

/// Paths like those of a large repository: few words, often repeated, five folders deep.
fn paths(count: usize) -> Vec<String> {
    const WORDS: [&str; 16] = [
        "core", "widgets", "render", "Network", "auth", "store", "index", "vendor", "tests", "api",
        "session", "parser", "utils", "image", "platform", "config",
    ];
    let word = |n: usize| WORDS[n % WORDS.len()];
    let path = |n: usize| {
        let [a, b, c] = [n / 7, n / 131, n / 3_011].map(word);
        format!("{a}/{b}_{}/{c}/{}_{n}.rs", n / 500, word(n / 3))
    };
    (0..count).map(path).collect()
}

/// Queries from one that nearly every path matches to one that none does.
#[divan::bench(args = ["e", "se", "src", "auth", "auth/", "session_4711", "snwk9", "zzzz", "platform_99999"])]
fn search(bencher: Bencher<'_, '_>, typed: &str) {
    LazyLock::force(&INDEX);
    bencher.bench(|| INDEX.search(black_box(typed), 60));
}

static HISTORY: LazyLock<History> = LazyLock::new(|| History::new(prompts(10_000)));

/// Prompts of 1.6 kB on average. Most are short.
fn prompts(count: usize) -> Vec<String> {
    let paths = paths(count);
    let prompt = |n: usize| {
        let lines = if n.is_multiple_of(10) { 350 } else { 2 };
        let words = paths[n..].iter().chain(&paths).take(lines);
        words.fold(format!("Look at {n}:"), |text, path| text + "\n" + path)
    };
    (0..count).map(prompt).collect()
}

/// Measures the last letter of a query whose earlier letters were already searched for.
#[divan::bench(args = ["e", "zq", "co", "core", "look at", "session_4711", "snwk9", "tests parser", "zzzz", "lkat"])]
fn prompt(bencher: Bencher<'_, '_>, typed: &str) {
    let mut known = Narrowing::default();
    let ends = typed.char_indices().map(|(at, _)| at);
    ends.for_each(|end| drop(HISTORY.search(&typed[..end], &mut known)));
    bencher
        .with_inputs(|| known.clone())
        .bench_refs(|known| HISTORY.search(black_box(typed), known));
}

#[divan::bench]
fn read_prompts(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| prompts(10_000))
        .bench_values(History::new);
}
