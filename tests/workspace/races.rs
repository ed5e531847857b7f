//! A second thread swaps folders and links while tools work. At no time does a tool read or change
//! anything outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tiller::agent::workspace::Reach;

use super::doors::Fixture;

/// Calls of each tool.
const ROUNDS: usize = 300;
/// The most calls, if none of them has hit a moment when it was possible.
const MOST: usize = 20 * ROUNDS;

/// Calls `work` while another thread keeps swapping the workspace's folder `name` with a link to an
/// outside folder. Returns the number of swaps.
fn while_swapped(fixture: &Fixture, name: &str, work: impl FnOnce()) -> usize {
    let swapped = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (place, link) = (fixture.root.join(name), fixture.root.join("link"));
    symlink(fixture.home.join("other"), &link).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swapped.fetch_add(1, Ordering::Relaxed);
            }
        });
        work();
        stop.store(true, Ordering::Relaxed);
    });
    swapped.into_inner()
}

/// Makes many calls while `d` is swapped, and returns their results.
fn calls(tool: &str, args: impl Fn(usize) -> Value, reach: impl Fn(&Fixture) -> Reach) -> Calls {
    let fixture = Fixture::new();
    let folder = fixture.root.join("d");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("secret"), "inside\n").unwrap();
    let before = fixture.outside();
    let mut calls = Calls::default();
    let swaps = while_swapped(&fixture, "d", || {
        for round in 0..MOST {
            if round >= ROUNDS && calls.done > 0 {
                break;
            }
            match fixture.call(tool, args(round), reach(&fixture)) {
                Ok(text) => {
                    calls.done += 1;
                    calls.leaked += usize::from(text.contains("SECRET"));
                }
                Err(error) => calls.leaked += usize::from(error.contains("SECRET")),
            }
        }
    });
    calls.escaped = fixture.outside() != before;
    assert!(swaps > 0, "{tool}: no swap happened");
    calls
}

#[derive(Debug, Default)]
struct Calls {
    done: usize,
    leaked: usize,
    escaped: bool,
}

#[test]
fn a_link_swapped_in_during_a_call_does_not_lead_out() {
    let patch = |round: usize| {
        let body = format!("*** Add File: d/new{round}\n+PWNED");
        json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")})
    };
    type Args = Box<dyn Fn(usize) -> Value>;
    let tools: [(&str, Args); 7] = [
        ("read", Box::new(|_| json!({"file_path": "d/secret"}))),
        (
            "grep",
            Box::new(|_| json!({"pattern": "SECRET|inside", "path": "d"})),
        ),
        ("grep", Box::new(|_| json!({"pattern": "SECRET|inside"}))),
        ("ls", Box::new(|_| json!({"path": "d"}))),
        (
            "write",
            Box::new(|round| json!({"file_path": format!("d/new{round}"), "content": "PWNED"})),
        ),
        (
            "write",
            Box::new(|round| json!({"file_path": format!("d/x{round}/new"), "content": "PWNED"})),
        ),
        ("apply_patch", Box::new(patch)),
    ];
    for (tool, args) in tools {
        let calls = calls(tool, args, Fixture::inside);
        assert!(calls.leaked == 0 && !calls.escaped, "{tool}: {calls:?}");
        assert!(calls.done > 0, "{tool}: no call succeeded: {calls:?}");
    }
}

/// With full reach the same calls lead out, so the race is real.
#[test]
fn with_full_reach_the_same_calls_lead_out() {
    let args = |_| json!({"file_path": "d/secret"});
    let read = calls("read", args, |_| Reach::everything());
    assert!(read.leaked > 0, "{read:?}");
    let args = |round| json!({"file_path": format!("d/new{round}"), "content": "PWNED"});
    let written = calls("write", args, |_| Reach::everything());
    assert!(written.escaped, "{written:?}");
}
