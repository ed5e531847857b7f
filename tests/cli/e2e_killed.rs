//! SIGKILL at any point of a run loses at most the message being written.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;

use crate::support::job;
use crate::support::model_server::{Recorded, Reply, Said, Wire};
use crate::support::prefix::goes_on_from;
use crate::support::sandbox::Sandbox;

/// How many runs to kill, unless `TILLER_KILL_POINTS` is set.
const POINTS: usize = 20;
const AND_ON: &str = "and on with it";

fn points() -> usize {
    let points = std::env::var("TILLER_KILL_POINTS").ok();
    points.map_or(POINTS, |points| points.parse().unwrap())
}

/// The job, slow enough to be killed between any two of its bytes.
fn replies() -> Vec<Reply> {
    let mut replies: Vec<Reply> = job::replies()
        .into_iter()
        .map(|reply| reply.when(job::PROMPT).in_pieces_of(40))
        .collect();
    replies.push(Reply::text("On it goes.").when(AND_ON));
    replies
}

fn start(sandbox: &Sandbox, wire: Wire) -> Child {
    let mut command = sandbox.tiller(&["--mode", "json", "-m", wire.model(), job::PROMPT]);
    command.spawn().unwrap()
}

/// Well-spread numbers that are the same in every run.
fn spread(seed: u64, below: usize) -> usize {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)) % below as u64) as usize
}

/// The complete lines of `text` as records.
fn records(text: &[u8]) -> Vec<Value> {
    let end = text.iter().rposition(|byte| *byte == b'\n');
    let text = std::str::from_utf8(&text[..end.map_or(0, |end| end + 1)]).unwrap();
    let parse = |line| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

#[test]
fn a_killed_run_resumes_from_its_last_complete_message() {
    let (_server, sandbox) = job::stage_with(replies());
    let ran = sandbox.run(&["--mode", "json", "-m", Wire::Chat.model(), job::PROMPT]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let whole = ran.stdout.len();
    let mut interrupted = 0;
    for point in 0..points() {
        let wire = Wire::ALL[point % Wire::ALL.len()];
        let (server, sandbox) = job::stage_with(replies());
        let mut child = start(&sandbox, wire);
        let mut said = vec![0; spread(point as u64, whole)];
        let mut stdout = child.stdout.take().unwrap();
        let mut read = 0;
        while read < said.len() {
            match stdout.read(&mut said[read..]).unwrap() {
                0 => break,
                more => read += more,
            }
        }
        said.truncate(read);
        child.kill().unwrap();
        child.wait().unwrap();
        let at = format!("point {point}, {wire:?}, after {read} bytes of output");
        let begun = |file: &PathBuf| fs::metadata(file).unwrap().len() > 0;
        let Some(file) = sandbox.session_files().into_iter().find(begun) else {
            assert!(
                server.requests().is_empty(),
                "{at}: the prompt was sent but not stored"
            );
            continue;
        };
        let before = fs::read(&file).unwrap();
        let messages = |kind: &str, records: &[Value]| {
            let of = |record: &&Value| record["type"] == kind;
            records.iter().filter(of).count()
        };
        let (kept, shown) = (records(&before), records(&said));
        let stored = messages("message", &kept);
        let told = messages("message_end", &shown);
        assert!(
            stored >= told,
            "{at}: the file has {stored} of {told} messages seen on stdout"
        );
        for ended in shown.iter().filter(|it| it["type"] == "tool_execution_end") {
            let is_result = |it: &&Value| it["message"]["toolCallId"] == ended["toolCallId"];
            assert!(
                kept.iter().any(|it| is_result(&it)),
                "{at}: {ended} has no result"
            );
        }

        let earlier = server.requests();
        let ran = sandbox.run(&["-p", "-c", AND_ON]);
        assert_eq!(ran.code, Some(0), "{at}: {ran:#?}");
        let request = server.requests().pop().unwrap();
        let on = |said: &Said| matches!(said, Said::User(text) if text.contains(AND_ON));
        assert!(request.said().iter().any(on), "{at}");
        let goes_on = |one: &Recorded| goes_on_from(&one.body, &request.body);
        for one in &earlier {
            assert!(goes_on(one), "{at}:\n{:#}\n{:#}", one.body, request.body);
        }
        let after = fs::read(&file).unwrap();
        let whole_lines = before.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        assert!(after.starts_with(&before[..whole_lines]), "{at}: rewritten");
        let torn = before.len() > whole_lines;
        assert_eq!(ran.stderr.contains("cut off"), torn, "{at}: {}", ran.stderr);
        interrupted += 1;
    }
    assert!(interrupted > 0, "every run was killed before its prompt");
}
