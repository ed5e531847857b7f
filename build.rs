//! Links the program for a fixed address on Linux. Else the loader has 33,000 pointers to adjust in
//! each process: 0.4 ms and 0.5 MB, and every command starts this program as its supervisor.
//! Stack, heap and libraries stay where chance puts them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let dynamic = !target("FEATURE").contains("crt-static");
    if target("OS") == "linux" && target("ENV") == "gnu" && dynamic {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
