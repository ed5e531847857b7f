//! What the model answers in a story: words, calls that ask the user, failures, silence.

use serde_json::json;

use super::random::Random;
use crate::support::model_server::{Failure, Reply, Script};

/// More answers than any story needs.
pub const REPLIES: usize = 80;

/// The gate that holds answer `number` until the story opens it or stops the run.
pub fn gate(number: usize) -> String {
    format!("held-{number}")
}

/// A story's script. Commands that need permission make a file called `asked-N`.
pub fn script(random: &mut Random) -> Script {
    Script::of((0..REPLIES).map(|number| reply(random, number)))
}

fn reply(random: &mut Random, number: usize) -> Reply {
    let text = format!("Answer {number}.");
    let touch = json!({"command": format!("touch asked-{number}")});
    let ask = json!({
        "question": format!("Which one, {number}?"),
        "choices": ["yes and more", "no", "2 replicas"],
    });
    match random.below(14) {
        0..=3 => Reply::text(text),
        4 => Reply::new().say_slowly(text.repeat(12), 7, 3),
        5 => Reply::new()
            .say(text)
            .gate(&gate(number))
            .say(" And the rest."),
        6 => Reply::new().hold_headers(&gate(number)).say(text),
        7 | 8 => Reply::new().say(text).and_call("bash", touch),
        9 => Reply::new().say(text).and_call("ask_user", ask),
        10 => Reply::new()
            .say(text)
            .and_call("ask_user", ask)
            .and_call("bash", touch),
        11 => Reply::new()
            .say(text)
            .and_call("ls", json!({}))
            .and_call("read", json!({"file_path": "a.txt"})),
        12 => Reply::new().say(text).and_call(
            "write",
            json!({"file_path": format!("asked-{number}"), "content": "x"}),
        ),
        _ => Reply::error(*random.pick(&[Failure::Server, Failure::NotFound, Failure::Forbidden])),
    }
}
