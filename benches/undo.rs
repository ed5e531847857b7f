//! The cost of undo over 44,000 files: before the first command of a turn, before later ones, and
//! at the end of the turn. Runs in a clean repository, then with untracked files, then again.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tiller::agent::undo::Undo;

const FILES: usize = 44_000;
const ROUNDS: usize = 15;
/// Number of untracked files.
const UNTRACKED: usize = 500;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = dir.path().canonicalize().expect("its path").join("repo");
    plant(&root);
    measure("a clean repository", &root, &dir.path().join("undo"));
    for number in 0..UNTRACKED {
        let text = format!("{number}\n").repeat(1000);
        fs::write(root.join(format!("new{number}.txt")), text).expect("a file");
    }
    let name = format!("with {UNTRACKED} files that git does not have");
    measure(&name, &root, &dir.path().join("other"));
}

fn measure(name: &str, root: &Path, home: &Path) {
    let undo = Undo::new(home.to_owned(), 512 << 20);
    let (mut first, mut later, mut close) = (Vec::new(), Vec::new(), Vec::new());
    let mut once = None;
    for round in 0..=ROUNDS {
        undo.prompt("session", "Prompt");
        let took = time(|| drop(undo.before_command(root).expect("covered")));
        match round {
            0 => once = Some(took),
            _ => first.push(took),
        }
        later.push(time(|| drop(undo.before_command(root).expect("covered"))));
        fs::write(root.join("crate0/src/part0/file0.rs"), format!("{round}")).expect("a file");
        close.push(time(|| {
            undo.close().expect("closed");
        }));
    }
    println!("{name}:");
    println!(
        "  the first time             {:>9.2?}",
        once.unwrap_or_default()
    );
    for (what, mut times) in [
        ("first command of a turn", first),
        ("later command", later),
        ("end of a turn", close),
    ] {
        times.sort();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("  {what:<26} {median:>9.2?}   worst {worst:>9.2?}");
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn plant(root: &Path) {
    for number in 0..FILES {
        let folder = root.join(format!(
            "crate{}/src/part{}",
            number / 1100,
            number / 22 % 50
        ));
        if number % 22 == 0 {
            fs::create_dir_all(&folder).expect("folders");
        }
        let text = format!("let value = {number};\n").repeat(20 + number % 160);
        fs::write(folder.join(format!("file{number}.rs")), text).expect("a file");
    }
    fs::write(root.join(".gitignore"), "*.log\ntarget/\n").expect("a file");
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "x"],
        // git can't be sure about a file that changed the moment it looked.
        &["update-index", "-q", "--refresh"],
    ] {
        let mut git = Command::new("git");
        git.args(identity).args(arguments).current_dir(root);
        assert!(git.status().expect("git").success(), "{arguments:?}");
    }
}
