//! The tests' model server for people: serves a script over every wire. With it you can try the
//! screen by hand, without a key, with delays, errors, stalls and cuts.
//!
//! `cargo run --example model_server -- examples/scripts/tour.toml [ADDRESS]`
//!
//! `tests/support/model_server/mod.rs` describes the format of a script.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[allow(dead_code, unused_imports, missing_docs, clippy::pedantic)]
#[path = "../tests/support/model_server/mod.rs"]
mod model_server;

use std::process::ExitCode;

use model_server::{ModelServer, Script};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: cargo run --example model_server -- SCRIPT.toml [ADDRESS]");
        return ExitCode::from(2);
    };
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let script = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| Script::parse(&text));
    let script = match script {
        Ok(script) => script,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let server = ModelServer::start_at(script, &address);
    server.be_lenient();
    println!("Serving {path}. In another terminal:\n");
    for (name, value) in server.env() {
        println!("export {name}={value}");
    }
    println!("\ncargo run -- --model anthropic/claude-sonnet-5-5    # Anthropic Messages");
    println!("cargo run -- --model openai/gpt-scripted            # OpenAI Responses");
    println!("cargo run -- --model google/gemini-3.8-flash        # Google generateContent");
    println!("cargo run -- --model groq/scripted                  # OpenAI Chat Completions\n");
    report(&server);
    ExitCode::SUCCESS
}

/// Prints a line for each request, until the process is killed.
fn report(server: &ModelServer) {
    for number in 0.. {
        let request = server.next_request(number);
        let last: String = request.last_user().chars().take(60).collect();
        let results = request.results().len();
        println!(
            "{} {} {last:?}, {results} results",
            request.method, request.path
        );
        if let Some(why) = &request.refused {
            println!("  refused: {why}");
        }
    }
}
