//! House rules, checked in the source text: direction of imports, size of files, where code may
//! print, draw or name a vendor. rustc and clippy check the rest (docs, unsafe).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One source file: its path in the package, with forward slashes, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines with the program's own code and attributes. Leaves out comments and the unit tests
    /// at the end of the file.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn sources(folder: &str) -> Vec<Source> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join(folder), &mut paths);
    paths.sort();
    let found: Vec<Source> = paths
        .into_iter()
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/"),
        })
        .collect();
    assert!(!found.is_empty(), "no sources below {folder}");
    found
}

/// Fails with every line of code below `folder` that contains one of `words`, except in files that
/// `allowed` accepts.
fn forbid(folder: &str, words: &[&str], allowed: impl Fn(&str) -> bool, why: &str) {
    let mut faults = Vec::new();
    for source in sources(folder) {
        if allowed(&source.path) {
            continue;
        }
        for (number, line) in source.code() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                faults.push(format!("{}:{number}: {word}", source.path));
            }
        }
    }
    assert!(faults.is_empty(), "{why}:\n{}", faults.join("\n"));
}

#[test]
fn front_ends_do_not_import_each_other() {
    forbid(
        "src/app/cli",
        &["app::tui", "app::serve"],
        |_| false,
        "cli must not use another front end",
    );
    forbid(
        "src/app/tui",
        &["app::cli::", "app::serve"],
        |_| false,
        "tui must not use another front end",
    );
}

// What they are made of knows no front end, so that the next one can use it too.
#[test]
fn what_front_ends_share_knows_none_of_them() {
    for folder in [
        "host", "serve", "sessions", "export", "branches", "config", "keys", "files",
    ] {
        forbid(
            &format!("src/app/{folder}"),
            &["app::tui", "app::cli"],
            |_| false,
            "only boot knows the screen and the command line",
        );
    }
    for folder in ["host", "sessions", "branches", "config", "keys", "files"] {
        forbid(
            &format!("src/app/{folder}"),
            &["app::out::", "app::serve"],
            |_| false,
            "it prints nothing and serves no one",
        );
    }
}

#[test]
fn ratatui_crossterm_and_clap_stay_in_their_folders() {
    forbid(
        "src",
        &["ratatui", "crossterm"],
        |path| path.starts_with("src/app/tui"),
        "ratatui and crossterm belong to app/tui",
    );
    forbid(
        "src",
        &["clap"],
        |path| path.starts_with("src/app/args/") || path.starts_with("src/app/boot/"),
        "clap belongs to the command line",
    );
}

/// The names of the `pub fn`s in a file's code.
fn public_functions(source: &Source) -> impl Iterator<Item = &str> {
    source.code().filter_map(|(_, line)| {
        let line = line.trim_start().strip_prefix("pub")?;
        let (before, after) = line.split_once("fn ")?;
        let visibility = before.split_whitespace().all(|word| {
            word.starts_with('(') || word.ends_with(')') || matches!(word, "async" | "const")
        });
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        visibility.then_some(&after[..end])
    })
}

// rustc's dead_code lint misses items that a library makes public for its tests.
#[test]
fn every_public_function_has_a_caller() {
    let sources = sources("src");
    let mut uses: HashMap<&str, usize> = HashMap::new();
    let mut definitions: HashMap<&str, usize> = HashMap::new();
    // What it writes is compiled too.
    let build = include_str!("../build.rs");
    for word in build.split(|c: char| !c.is_alphanumeric() && c != '_') {
        *uses.entry(word).or_default() += 1;
    }
    for source in &sources {
        for (_, line) in source.code() {
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                *uses.entry(word).or_default() += 1;
            }
        }
        for name in public_functions(source) {
            *definitions.entry(name).or_default() += 1;
        }
    }
    let mut faults = Vec::new();
    for source in &sources {
        for name in public_functions(source) {
            if uses[name] == definitions[name] {
                faults.push(format!("{}: {name}", source.path));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "only tests call these:\n{}",
        faults.join("\n")
    );
}

#[test]
fn only_the_command_line_prints() {
    forbid(
        "src",
        &["println!", "eprintln!", "print!(", "eprint!(", "io::stdout"],
        |path| {
            path.starts_with("src/app/cli")
                || path == "src/app/out.rs"
                // The terminal must write its frames.
                || path == "src/app/tui/terminal/tty.rs"
                || path.starts_with("src/app/boot")
        },
        "stdout carries only the answer or the protocol",
    );
}

#[test]
fn providers_do_not_import_each_other() {
    let all = ["anthropic", "openai", "google"];
    for provider in all {
        let others = all.iter().filter(|other| **other != provider);
        let paths: Vec<String> = others
            .flat_map(|other| [format!("crate::{other}"), format!("super::{other}")])
            .collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let folder = format!("src/llm/{provider}");
        forbid(
            &folder,
            &paths,
            |_| false,
            "a provider must not use another one",
        );
    }
}

#[test]
fn the_view_does_not_import_the_update() {
    forbid(
        "src/app/tui/view",
        &["tui::update", "super::update", "super::super::update"],
        |_| false,
        "the view only reads; the update writes",
    );
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let is_small = |path: &str| path.matches('/').count() < 5;
    forbid(
        "src/app/tui/popups",
        &["tui::update", "super::keys", "topmost!"],
        |path| is_small(path) || file(path) == "keys.rs",
        "in the folder of a popup, only the keys change the app",
    );
    forbid(
        "src/app/tui/popups",
        &["tui::view", "super::view"],
        |path| is_small(path) || !["state.rs", "keys.rs"].contains(&&*file(path)),
        "the state and the keys of a popup draw nothing",
    );
}

#[test]
fn the_agent_loop_names_no_vendor() {
    for file in ["src/agent/runner/run.rs", "src/agent/runner/turn.rs"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let text = text.to_lowercase();
        for vendor in ["anthropic", "openai", "claude", "gpt", "gemini", "google"] {
            assert!(!text.contains(vendor), "{file} names {vendor}");
        }
    }
}

/// The owner of the conversation must answer immediately: a hanging disk must not delay a command.
#[test]
fn the_actor_touches_no_file() {
    let actor = sources("src/agent/actor");
    let prompt = sources("src/agent/memory").into_iter();
    let prompt = prompt.filter(|it| it.path.ends_with("session_prompt.rs"));
    for source in actor.into_iter().chain(prompt) {
        for look in [
            ".exists()",
            ".is_dir()",
            ".is_file()",
            "metadata(",
            "std::fs",
            "canonicalize(",
        ] {
            assert!(
                !source.text.contains(look),
                "{} must not call {look}",
                source.path
            );
        }
    }
}

#[test]
fn files_stay_small() {
    let crowded: Vec<String> = sources("src")
        .iter()
        .filter(|source| source.text.lines().count() > 500)
        .map(|source| format!("{}: {} lines", source.path, source.text.lines().count()))
        .collect();
    assert!(
        crowded.is_empty(),
        "files above 500 lines; find a way to split them:\n{}",
        crowded.join("\n")
    );
}

#[test]
fn every_file_begins_with_its_purpose() {
    let silent: Vec<String> = sources("src")
        .into_iter()
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| source.path)
        .collect();
    assert!(
        silent.is_empty(),
        "files without a //! comment at the top: {}",
        silent.join(", ")
    );
}

#[test]
fn mod_files_contain_no_logic() {
    let mut faults = Vec::new();
    for source in sources("src")
        .iter()
        .filter(|source| source.path.ends_with("/mod.rs") || source.path.ends_with("/lib.rs"))
    {
        for (number, line) in source.code() {
            if line.contains("fn ") || line.trim_start().starts_with("impl ") {
                faults.push(format!("{}:{number}", source.path));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "mod.rs and lib.rs may contain no functions and no impl blocks:\n{}",
        faults.join("\n")
    );
}

#[test]
fn tests_never_sleep_to_wait() {
    let mut faults = Vec::new();
    for source in sources("tests") {
        if source.path == "tests/tidy.rs" {
            continue;
        }
        for (number, line) in source.text.lines().enumerate() {
            let sleeps = line.contains("thread::sleep") || line.contains("time::sleep");
            // A poll in a wait with a deadline says so on its line.
            if sleeps && !line.contains("// poll") {
                faults.push(format!("{}:{}", source.path, number + 1));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "wait for a condition with a deadline (mark its poll with `// poll`):\n{}",
        faults.join("\n")
    );
}
