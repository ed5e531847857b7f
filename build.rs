//! Collects the prompts of `assets/prompts`, and sets linker options for Linux with glibc.

use std::env::var;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The functions that run until the first prompt, then those of a run, in the order of their first
/// call. `.ci/function-order` writes the file. Missing and new names do no harm.
const ORDER: &str = "assets/function-order.txt";

/// Markdown files with front matter: the commands that send a prompt.
const PROMPTS: &str = "assets/prompts";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={PROMPTS}");
    write_prompts();
    println!("cargo::rerun-if-changed=src/malloc.c");
    println!("cargo::rerun-if-changed={ORDER}");
    let target = |part| var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    for object in cc::Build::new()
        .file("src/malloc.c")
        .compile_intermediates()
    {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    // A fixed address. Otherwise the loader must adjust 33,000 pointers in each process: 0.4 ms and
    // 0.5 MB. Every command starts this program as its supervisor. Stack, heap and libraries keep
    // random addresses.
    if !target("FEATURE").contains("crt-static") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    // Placed side by side, these functions take half the memory, because the kernel maps code in
    // units of 64 kB.
    let order = PathBuf::from(var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(ORDER);
    let flags = [
        format!("-Wl,--symbol-ordering-file={}", order.display()),
        "-Wl,--no-warn-symbol-ordering".to_owned(),
    ];
    if var("PROFILE").is_ok_and(|profile| profile == "release") && links_with(&flags) {
        for flag in flags {
            println!("cargo::rustc-link-arg-bins={flag}");
        }
    }
}

/// Writes `PROMPTS`, a static `SlashCommand` for each file, in the order of their names.
fn write_prompts() {
    let folder = PathBuf::from(var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(PROMPTS);
    let files = std::fs::read_dir(&folder).expect("assets/prompts");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let (mut rows, mut list) = (String::new(), String::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("UTF-8");
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = text.strip_prefix("---\n").expect("front matter");
        let (fields, prompt) = text.split_once("\n---\n").expect("front matter");
        let field = |name: &str| {
            let mut lines = fields.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let help = field("description").expect("a description");
        let argument = field("argument-hint");
        let id = name.to_uppercase().replace('-', "_");
        let prompt = prompt.trim_start();
        let _ = writeln!(
            rows,
            "static {id}: SlashCommand = SlashCommand::of_prompt(&{id}, {name:?}, {help:?}, {argument:?}, {prompt:?});"
        );
        let _ = write!(list, "&{id}, ");
    }
    let text = format!("{rows}pub(super) static PROMPTS: &[&SlashCommand] = &[{list}];\n");
    let out = Path::new(&var("OUT_DIR").unwrap_or_default()).join("prompts.rs");
    std::fs::write(out, text).expect("OUT_DIR is writable");
}

/// True if the linker accepts these flags. Tries them on an empty program, because not every linker
/// can order functions.
fn links_with(flags: &[String]) -> bool {
    let folder = var("OUT_DIR").unwrap_or_default();
    let source = Path::new(&folder).join("empty.rs");
    if std::fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut command = Command::new(var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    command.args(["--crate-type=bin", "--out-dir", &folder]);
    command
        .arg("--target")
        .arg(var("TARGET").unwrap_or_default());
    let own = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(own.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = var("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    command.args(flags.iter().map(|flag| format!("-Clink-arg={flag}")));
    let status = command
        .arg(source)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
