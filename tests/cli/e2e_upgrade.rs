//! A session over several days, time zones, releases and models. Each request begins with the one
//! before.

use std::fmt::Write;
use std::fs;

use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{ModelServer, Recorded, Reply, Script, Wire};
use crate::support::prefix::{beginning, common, goes_on_from};
use crate::support::sandbox::Sandbox;

const OLD_SYSTEM: &str = "You are an agent of an older release.";
const OLD_TOOL: &str = "The words of an older release for this tool.";

/// Makes the stored session look like another release's, with a different prompt and tool
/// descriptions.
fn age(sandbox: &Sandbox) {
    let file = sandbox.session_files().pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let mut aged = String::new();
    for line in text.lines() {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        if entry["customType"] == "tiller.prompt" {
            entry["data"]["system"] = json!(OLD_SYSTEM);
            for tool in entry["data"]["tools"].as_array_mut().unwrap() {
                tool["description"] = json!(OLD_TOOL);
            }
            let _ = writeln!(aged, "{entry}");
        } else {
            let _ = writeln!(aged, "{line}");
        }
    }
    assert!(aged.contains(OLD_TOOL));
    fs::write(&file, aged).unwrap();
}

#[test]
fn a_session_keeps_its_prefix_across_days_zones_upgrades_and_models() {
    for (wire, another) in Wire::ALL
        .into_iter()
        .zip(Wire::ALL.into_iter().cycle().skip(1))
    {
        let answer = |text: &str| Reply::new().think("Let me think.").say(text);
        // Without thinking, because thinking would be bound to the prompt that changes below.
        let look = Reply::call("ls", json!({}));
        let server = ModelServer::start(Script::of([
            look,
            Reply::text("One."),
            answer("Two."),
            answer("Three."),
            answer("Four."),
            answer("Five."),
        ]));
        let mut sandbox = job::sandbox();
        sandbox.use_server(&server);
        let run = |sandbox: &Sandbox, zone: &str, args: &[&str]| {
            let mut command = sandbox.tiller(args);
            let output = command.env("TZ", zone).output().unwrap();
            assert!(output.status.success(), "{wire:?} {args:?} {output:?}");
        };
        // The westernmost zone, where it's still yesterday.
        let (west, east) = ("WST+12", "EST-14");
        run(
            &sandbox,
            west,
            &["-p", "-m", wire.model(), "--thinking", "low", "first"],
        );
        age(&sandbox);
        run(&sandbox, west, &["-p", "-c", "second"]);
        let today = server.requests().pop().unwrap();
        // Another day, another zone, and a release with another prompt and other tool descriptions.
        run(&sandbox, east, &["-p", "-c", "third"]);
        let next_day = server.requests().pop().unwrap();
        run(
            &sandbox,
            east,
            &["-p", "-c", "-m", another.model(), "fourth"],
        );
        let other = server.requests().pop().unwrap();
        run(&sandbox, east, &["-p", "-c", "-m", wire.model(), "fifth"]);
        let back = server.requests().pop().unwrap();

        let bodies = [&today, &next_day, &other, &back];
        let size = |request: &Recorded| beginning(&request.body).len();
        let prefix = |request: &Recorded| common(&today.body, &request.body);
        println!(
            "{wire:?}: {:?} bytes of prompt, tools and conversation; in common with the first: {:?}",
            bodies.map(size),
            bodies.map(prefix),
        );
        assert!(goes_on_from(&today.body, &next_day.body), "{wire:?}");
        assert!(goes_on_from(&next_day.body, &back.body), "{wire:?}");
        for (request, words) in bodies.iter().zip(["second", "third", "fourth", "fifth"]) {
            let text = request.text();
            // A model with another edit format has its own prompt.
            if words != "fourth" {
                assert!(text.contains(OLD_SYSTEM), "{wire:?} {words}");
                assert!(text.contains(OLD_TOOL), "{wire:?} {words}");
            }
            assert!(request.last_user().contains(words), "{wire:?} {words}");
            let notes = text.matches("The date is now").count();
            assert_eq!(notes, usize::from(words != "second"), "{wire:?} {words}");
        }
        assert!(other.text().contains("Three."));
        assert!(back.text().contains("Four."));
    }
}
