//! The lines of the session file, which pi reads too. Omits an incomplete last line.

use std::io::{self, BufRead, BufReader};

use serde_json::json;

use super::format::Scope;
use super::redact::redact_line;
use crate::agent::session::SessionView;
use crate::llm::auth::Redactor;

pub fn jsonl(session: &SessionView, scope: Scope, redactor: &Redactor) -> io::Result<Vec<u8>> {
    let mut lines = BufReader::new(session.lines()?);
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        push_line(&mut out, &redact_line(&line, redactor));
        line.clear();
        if scope == Scope::Branch {
            push_branch(&mut out, session, redactor)?;
            break;
        }
    }
    Ok(out)
}

/// Appends the entries up to the leaf, then their name and labels, even from other branches.
fn push_branch(out: &mut Vec<u8>, session: &SessionView, redactor: &Redactor) -> io::Result<()> {
    let tree = session.tree();
    let path = session.branch();
    let mut last = None;
    let mut time = json!(session.header().timestamp);
    for &node in &path {
        let line = session.bytes(node)?;
        push_line(out, &redact_line(&line, redactor));
        last = Some(tree.id(node));
        if let Some(timestamp) = session.line(node)?.get_mut("timestamp") {
            time = timestamp.take();
        }
    }
    let mut taken = 0_u32;
    let mut last = last.map(str::to_owned);
    let labels = path.iter().filter_map(|node| {
        let label = tree.label(*node)?;
        Some(json!({"type": "label", "targetId": tree.id(*node), "label": label}))
    });
    let name = tree.name();
    let name = name.map(|name| json!({"type": "session_info", "name": name}));
    for mut entry in labels.chain(name) {
        let id = loop {
            taken += 1;
            let id = format!("{taken:08x}");
            if tree.find(&id).is_none() {
                break id;
            }
        };
        entry["id"] = json!(id);
        entry["parentId"] = json!(last);
        entry["timestamp"] = time.clone();
        push_line(out, &redact_line(&serde_json::to_vec(&entry)?, redactor));
        last = Some(id);
    }
    Ok(())
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    if line.last().is_some_and(|last| *last != b'\n') {
        out.push(b'\n');
    }
}
