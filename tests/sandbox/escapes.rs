//! Every attempt to get out fails, and each layer listed for it stops it alone. With all of its
//! listed layers off, the attempt gets through.

use std::sync::OnceLock;

use futures_util::stream::{self, StreamExt};
use tiller::agent::process::sandbox::{Layer, Sandbox};

use super::attempts::{
    Attempt, KERNEL, NETWORK, PLAN, PRELUDE, PROCESSES, READ_ONLY, SECRETS, Script, WRITES,
};
use super::outside::Outside;
use super::place::{Place, machine_has_all_layers, without};

const EVERYWHERE: [&[Attempt]; 5] = [WRITES, SECRETS, PROCESSES, NETWORK, KERNEL];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Auto,
    Plan,
}

/// The outcome of an attempt.
#[derive(Debug, PartialEq)]
enum Outcome {
    Escaped,
    Stopped(String),
    /// This machine can't run the attempt.
    Unavailable(String),
}

impl Mode {
    fn sandbox(self, place: &Place) -> Sandbox {
        match self {
            Self::Auto => place.auto(),
            Self::Plan => place.plan(),
        }
    }

    fn attempts(self) -> impl Iterator<Item = &'static Attempt> {
        let own = match self {
            Self::Auto => READ_ONLY,
            Self::Plan => PLAN,
        };
        EVERYWHERE.into_iter().chain([own]).flatten()
    }
}

/// Runs an attempt with these layers off.
async fn attempt(mode: Mode, attempt: &Attempt, off: &[Layer], outside: &Outside) -> Outcome {
    let place = Place::new();
    let sandbox = without(mode.sandbox(&place), off);
    let mine = if off.contains(&Layer::Namespaces) {
        sandbox.tmp.clone().unwrap()
    } else {
        "/tmp".into()
    };
    let command = match attempt.script {
        Script::Bash(script) => format!("{{ {script}\n}} && echo ESCAPED"),
        Script::Python(script) => {
            let file = format!("{PRELUDE}{script}\nprint('ESCAPED')\n");
            format!("exec {} -I - <<'END'\n{file}END", python())
        }
    };
    let mut command = outside.fill_in(&command);
    for (name, path) in [
        ("@WS@", place.path("ws")),
        ("@OUT@", place.path("outside")),
        ("@HOME@", place.path("home")),
        ("@MINE@", mine),
    ] {
        command = command.replace(name, &path.display().to_string());
    }
    if mode == Mode::Auto && off.is_empty() {
        // So that the attempt joins this command's network.
        place.run(sandbox.clone(), "true").await;
    }
    let ran = place.run(sandbox, &command).await;
    let last = ran.output.lines().last().unwrap_or_default();
    if let Some(why) = last.strip_prefix("UNAVAILABLE") {
        Outcome::Unavailable(why.trim().to_owned())
    } else if last == "ESCAPED" {
        Outcome::Escaped
    } else {
        Outcome::Stopped(format!("{:?} {}", ran.exit, ran.output.trim()))
    }
}

/// The real interpreter, because `python3` in PATH may be a script that looks for it.
fn python() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let output = std::process::Command::new("python3")
            .args([
                "-c",
                "import os, sys; print(os.path.realpath(sys.executable))",
            ])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

async fn check(runs: Vec<(Mode, &'static Attempt, Vec<Layer>, bool)>) {
    if !machine_has_all_layers() {
        return;
    }
    let outside = Outside::new();
    let tried = stream::iter(runs).map(|(mode, one, off, gets_through)| {
        let outside = &outside;
        async move {
            let outcome = attempt(mode, one, &off, outside).await;
            let fault = match &outcome {
                Outcome::Escaped => !gets_through,
                Outcome::Stopped(_) => gets_through,
                Outcome::Unavailable(why) => {
                    if gets_through {
                        println!("SKIPPED {}: {why}", one.name);
                    }
                    false
                }
            };
            let name = one.name;
            fault.then(|| format!("{mode:?}, {name}, without {off:?}: {outcome:?}"))
        }
    });
    let faults: Vec<_> = tried
        .buffer_unordered(4)
        .filter_map(async |it| it)
        .collect()
        .await;
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn there_are_at_least_sixty_attempts() {
    let mut names: Vec<_> = Mode::Auto.attempts().map(|attempt| attempt.name).collect();
    assert!(names.len() >= 60, "{}", names.len());
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "two attempts have the same name");
}

#[tokio::test]
async fn every_attempt_fails() {
    let all = |mode: Mode| mode.attempts().map(move |one| (mode, one, vec![], false));
    check(all(Mode::Auto).chain(all(Mode::Plan)).collect()).await;
}

#[tokio::test]
async fn an_attempt_succeeds_without_the_layers_that_stop_it() {
    let all = |mode: Mode| {
        mode.attempts()
            .map(move |one| (mode, one, one.stopped_by.to_vec(), true))
    };
    let plan = PLAN
        .iter()
        .map(|one| (Mode::Plan, one, one.stopped_by.to_vec(), true));
    check(all(Mode::Auto).chain(plan).collect()).await;
}

#[tokio::test]
async fn each_layer_stops_its_attempts_alone() {
    let mut runs = Vec::new();
    for attempt in Mode::Auto.attempts() {
        for layer in attempt.stopped_by {
            let others = attempt.stopped_by.iter().filter(|other| *other != layer);
            runs.push((Mode::Auto, attempt, others.copied().collect(), false));
        }
    }
    check(runs).await;
}
