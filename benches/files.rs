//! Finding files by a few letters among 1,000,000 paths: what a key costs while a file is mentioned.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use tiller::app::files::FileIndex;

fn main() {
    divan::main();
}

static INDEX: LazyLock<FileIndex> = LazyLock::new(|| FileIndex::new(paths(1_000_000)));

/// Paths as a large repository has them: a few words again and again, five folders deep.
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

/// From what nearly every path holds to what none does.
#[divan::bench(args = ["e", "se", "src", "auth", "auth/", "session_4711", "snwk9", "zzzz", "platform_99999"])]
fn search(bencher: Bencher<'_, '_>, typed: &str) {
    LazyLock::force(&INDEX);
    bencher.bench(|| INDEX.search(black_box(typed), 60));
}
