//! Linker options for Linux with glibc.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The functions that run until the first prompt, then those of a run, in the order of their first
/// call. `.ci/function-order` writes the file. Missing and new names do no harm.
const ORDER: &str = "assets/function-order.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
