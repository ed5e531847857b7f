//! `tiller sessions show`: the facts and the conversation of a session, of its current branch or of all.
//! Written entry by entry, so that a long session takes no memory.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use serde_json::json;

use super::entry_text::{entry, entry_line};
use super::place::SessionsPlace;
use crate::agent::session::{NodeId, SessionView, Tree, live_sessions};
use crate::app::args::SessionShowArgs;
use crate::app::humanize::{abbreviate_home, plural};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::find;

pub fn show(what: &SessionShowArgs, place: &SessionsPlace<'_>) -> Result<Outcome, StartError> {
    let path = find(&what.session, &place.root)?;
    let view = SessionView::open(&path).map_err(|error| {
        let shown = path.display();
        StartError::failed(format!("can't read the session {shown}: {error}"))
    })?;
    for problem in view.problems() {
        out::eprint_line(&format!("{}: {problem}", path.display()));
    }
    let written = if what.iterations {
        json_array(view.iterations())
    } else if let Some(number) = what.iteration {
        return iteration(&view, number);
    } else if what.json {
        entries(&view, what.all)
    } else {
        text(&view, what.all, place)
    };
    Ok(match written {
        Ok(()) => Outcome::Done,
        Err(error) => out::write_failed(&error),
    })
}

fn entries(view: &SessionView, all: bool) -> io::Result<()> {
    let nodes = if all {
        view.tree().nodes().collect()
    } else {
        view.branch()
    };
    let lines = nodes.into_iter().filter_map(|node| view.line(node).ok());
    json_array(lines)
}

fn iteration(view: &SessionView, number: usize) -> Result<Outcome, StartError> {
    if let Some(iteration) = view.iteration(number) {
        return Ok(out::print(&format!("{}\n", json!(iteration))));
    }
    let count = view.iterations().count() as u64;
    let shown = view.path().display();
    let count = plural(count, "iteration", "iterations");
    Err(StartError::usage(format!(
        "no iteration {number}: the branch of {shown} has {count}, numbered from 1"
    )))
}

/// Writes an array with one item per line.
fn json_array(items: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
    let mut before = "[";
    for item in items {
        out::write(format!("{before}{}", json!(item)).as_bytes())?;
        before = ",\n";
    }
    let end = if before == "[" { "[]\n" } else { "]\n" };
    out::write(end.as_bytes())
}

fn text(view: &SessionView, all: bool, place: &SessionsPlace<'_>) -> io::Result<()> {
    write(&facts(view, place))?;
    if all {
        return whole_tree(view);
    }
    for node in view.branch() {
        if let Some(text) = entry(view, node) {
            write(&format!("\n{text}"))?;
        }
    }
    Ok(())
}

fn facts(view: &SessionView, place: &SessionsPlace<'_>) -> String {
    let (header, tree) = (view.header(), view.tree());
    let live = live_sessions(&place.root);
    let live = live.iter().find(|record| record.path == view.path());
    let state = live.map_or_else(
        || String::from("closed"),
        |record| format!("{} (process {})", record.state.as_str(), record.pid),
    );
    let model = view
        .model()
        .map(|it| format!("{}/{}", it.provider, it.model_id));
    let leaves = leaves(tree);
    let branches = match leaves {
        0 | 1 => String::new(),
        leaves => format!(", {leaves} branches"),
    };
    let torn = match view.torn() {
        0 => String::new(),
        bytes => format!(", the last one cut off after {bytes} bytes"),
    };
    let entries = tree.nodes().len();
    let mut text = String::new();
    for (label, fact) in [
        ("session", Some(header.id.clone())),
        ("name", tree.name().map(str::to_owned)),
        (
            "folder",
            Some(abbreviate_home(header.cwd.as_ref(), place.home)),
        ),
        ("started", Some(header.timestamp.clone())),
        ("state", Some(state)),
        ("model", model),
        ("entries", Some(format!("{entries}{branches}{torn}"))),
        ("copy of", header.parent_session.clone()),
        ("file", Some(abbreviate_home(view.path(), place.home))),
    ] {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            let _ = writeln!(text, "{label:<9}{fact}");
        }
    }
    text
}

fn leaves(tree: &Tree) -> usize {
    let mut leaf = vec![true; tree.nodes().len()];
    for parent in tree.nodes().filter_map(|node| tree.node(node).parent) {
        leaf[parent.index()] = false;
    }
    leaf.into_iter().filter(|leaf| *leaf).count()
}

/// One line per entry, depth first; a branch is indented from where it starts.
fn whole_tree(view: &SessionView) -> io::Result<()> {
    let tree = view.tree();
    let mut children = vec![Vec::new(); tree.nodes().len()];
    let mut roots = Vec::new();
    for node in tree.nodes() {
        match tree.node(node).parent {
            Some(parent) => children[parent.index()].push(node),
            None => roots.push(node),
        }
    }
    let mut on_branch = vec![false; tree.nodes().len()];
    for node in view.branch() {
        on_branch[node.index()] = true;
    }
    let mut open: Vec<(NodeId, usize)> = below(&roots, 0);
    write("\n")?;
    while let Some((node, depth)) = open.pop() {
        let mark = if on_branch[node.index()] { '*' } else { ' ' };
        let line = entry_line(view, node);
        let label = tree.label(node).map(|label| format!("  [{label}]"));
        let line = format!(
            "{mark} {}{line}{}",
            "  ".repeat(depth),
            label.unwrap_or_default()
        );
        write(&format!("{}\n", line.trim_end()))?;
        open.extend(below(&children[node.index()], depth));
    }
    Ok(())
}

/// The children of an entry, the first last. An only child isn't indented.
fn below(children: &[NodeId], depth: usize) -> Vec<(NodeId, usize)> {
    let depth = depth + usize::from(children.len() > 1);
    children.iter().rev().map(|node| (*node, depth)).collect()
}

fn write(text: &str) -> io::Result<()> {
    out::write(for_terminal(text).as_bytes())
}
