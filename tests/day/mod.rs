//! A day's work in `auto`: thirty prompts, in the words users type, over four repositories, with a
//! model's tool calls for them. Each call ends as it would without a sandbox. The only questions
//! are the listed ones, each with its reason.
//!
//! The prompts are data: `cargo.toml`, `npm.toml`, `python.toml` and `git.toml`.

#![expect(
    clippy::print_stdout,
    reason = "what was done is shown where it went wrong, and what was left out is said"
)]

use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply, Script, Wire};
use crate::support::sandbox::Sandbox;

/// The most questions per day.
const MOST_QUESTIONS: usize = 3;
const PROMPTS: usize = 30;

/// One repository and the work in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    /// The programs it requires.
    needs: Vec<String>,
    /// The script that makes the repository in its empty folder.
    setup: String,
    prompt: Vec<Prompt>,
}

/// The user's message, and the model's calls for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    text: String,
    calls: Vec<Call>,
}

/// A tool call: a command, or another tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    run: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: Value,
    /// The command's exit code, unless it succeeds.
    #[serde(default)]
    exit: i64,
    /// The reason shown with the question, or none if the call just runs.
    asks: Option<String>,
}

impl Call {
    fn reply(&self) -> Reply {
        match (&self.run, &self.tool) {
            (Some(command), None) => Reply::call("bash", json!({"command": command})),
            (None, Some(tool)) => Reply::call(tool, self.args.clone()),
            _ => panic!("a call must be a command or a tool"),
        }
    }

    fn name(&self) -> &str {
        let name = self.run.as_ref().or(self.tool.as_ref());
        name.map_or("", |name| name)
    }
}

fn repository(text: &str) -> Repository {
    toml::from_str(text).unwrap()
}

const ALL: [&str; 4] = [
    include_str!("cargo.toml"),
    include_str!("npm.toml"),
    include_str!("python.toml"),
    include_str!("git.toml"),
];

#[test]
fn a_day_is_thirty_prompts_and_asks_three_times_at_most() {
    let all = ALL.map(repository);
    let prompts = all.iter().flat_map(|it| &it.prompt);
    assert!(prompts.clone().count() >= PROMPTS);
    let questions = prompts
        .flat_map(|it| &it.calls)
        .filter(|it| it.asks.is_some());
    let questions: Vec<&str> = questions.map(Call::name).collect();
    assert!(questions.len() <= MOST_QUESTIONS, "{questions:?}");
}

#[test]
fn a_rust_project() {
    work(include_str!("cargo.toml"));
}

#[test]
fn a_node_project() {
    work(include_str!("npm.toml"));
}

#[test]
fn a_python_project() {
    work(include_str!("python.toml"));
}

#[test]
fn branches_and_a_remote() {
    work(include_str!("git.toml"));
}

/// Works through the prompts of a repository.
fn work(text: &str) {
    let repository = repository(text);
    for program in &repository.needs {
        let look = Command::new("bash")
            .args(["-c", &format!("{program} --version")])
            .output();
        if !look.unwrap().status.success() {
            println!("SKIPPED: no {program} here");
            return;
        }
    }
    let sandbox = place();
    if !sandbox.machine_confines() {
        return;
    }
    let mut setup = Command::new("bash");
    setup
        .args(["-ec", &repository.setup])
        .current_dir(sandbox.path());
    let setup = setup.env_clear().envs(sandbox.env()).output().unwrap();
    assert!(setup.status.success(), "{setup:#?}");
    let mut wrong = Vec::new();
    for (number, prompt) in repository.prompt.iter().enumerate() {
        do_prompt(&sandbox, number > 0, prompt, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A home folder like an engineer's: a name for git, and the machine's programs.
fn place() -> Sandbox {
    let mut sandbox = Sandbox::outside_tmp().with_default_mode();
    let home = sandbox
        .env()
        .into_iter()
        .find(|(name, _)| name == "HOME")
        .unwrap()
        .1;
    let settings = "[user]\nname = Dev\nemail = dev@example.org\n[advice]\ndetachedHead = false\n";
    std::fs::write(format!("{home}/.gitconfig"), settings).unwrap();
    // Version managers store the programs here.
    let own = std::env::var("HOME").unwrap();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")] {
        let folder = std::env::var(name).unwrap_or_else(|_| format!("{own}/{folder}"));
        sandbox.set(name, &folder);
    }
    sandbox
}

/// Runs one prompt in the current session and adds deviations to `wrong`.
fn do_prompt(sandbox: &Sandbox, again: bool, prompt: &Prompt, wrong: &mut Vec<String>) {
    for (call, ended) in prompt.calls.iter().zip(run(sandbox, again, prompt)) {
        println!("$ {}\n{}\n", call.name(), said(&ended));
        if !is_as_listed(call, &ended) {
            wrong.push(format!("{}\n$ {}\n{ended}", prompt.text, call.name()));
        }
    }
}

/// Has the model make the calls of a prompt, and returns the records of their ends.
fn run(sandbox: &Sandbox, again: bool, prompt: &Prompt) -> Vec<Value> {
    let replies = prompt.calls.iter().map(Call::reply);
    let server = ModelServer::start(Script::of(replies.chain([Reply::text("Done.")])));
    let model = Wire::Anthropic.model();
    let mut command = sandbox.tiller(&["--mode", "json", "-m", model, &prompt.text]);
    if again {
        command.arg("-c");
    }
    let output = command.envs(server.env()).output().unwrap();
    // Exit code 3 means that tiller refused a call it would have asked a user about.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:#?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let records = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let ended = records.filter(|it: &Value| it["type"] == "tool_execution_end");
    let ended: Vec<Value> = ended.collect();
    assert_eq!(ended.len(), prompt.calls.len(), "{}: {stdout}", prompt.text);
    ended
}

/// The model's text for a call.
fn said(ended: &Value) -> String {
    let content = ended["result"]["content"].as_array().unwrap();
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|it| it["text"].as_str())
        .collect();
    texts.join("\n")
}

fn is_as_listed(call: &Call, ended: &Value) -> bool {
    let said = said(ended);
    let asked = said.starts_with("Not permitted: ") || said.contains("[its output contains “");
    match &call.asks {
        Some(reason) => asked && said.contains(reason.as_str()),
        None if call.exit == 0 => !asked && ended["isError"] == false,
        None => !asked && ended["result"]["details"]["exitCode"] == call.exit,
    }
}
