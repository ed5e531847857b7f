//! Diagrams of mermaid as lines that can be read: an arrow a line, by the names that nodes have. Flowcharts
//! and sequence diagrams; anything else, and what is not understood, stays as it was written.

use std::collections::{HashMap, HashSet};

/// The diagram line by line, each with the number of the line that it stands for; none where it is shown
/// as it was written.
pub fn outline(source: &str) -> Option<Vec<(usize, String)>> {
    if source.len() > MAX_SOURCE {
        return None;
    }
    let lines = source.lines().enumerate();
    let lines: Vec<_> = lines.map(|(number, line)| (number, line.trim())).collect();
    let is_said = |line: &str| !line.is_empty() && !line.starts_with("%%");
    let mut said = lines.into_iter().filter(|(_, line)| is_said(line));
    let (first, kind) = said.next()?;
    let (kind, more) = kind.split_once(';').unwrap_or((kind, ""));
    let more = Some((first, more.trim())).filter(|(_, more)| !more.is_empty());
    let rest: Vec<_> = more.into_iter().chain(said).collect();
    let out = match kind.split_whitespace().next()? {
        "graph" | "flowchart" => flowchart(&rest)?,
        "sequenceDiagram" => sequence(&rest)?,
        _ => return None,
    };
    let out = out
        .into_iter()
        .map(|(number, text)| (number, one_line(&text)));
    Some(out.collect()).filter(|out: &Vec<_>| !out.is_empty())
}

/// A text with blanks for the line ends that labels are written with.
fn one_line(text: &str) -> String {
    let breaks = ["<br/>", "<br>", "<br />", "<BR/>", "<BR>"];
    let with_blanks = |text: String, it| text.replace(it, " ");
    breaks.into_iter().fold(text.to_owned(), with_blanks)
}

/// Bytes of a diagram beyond which it is shown as it was written.
const MAX_SOURCE: usize = 32 * 1024;
/// The same of a name, which is written out wherever it is used.
const MAX_NAME: usize = 500;

/// Statements that say how it looks.
const LOOKS: [&str; 6] = [
    "classDef",
    "class",
    "style",
    "click",
    "linkStyle",
    "direction",
];

fn flowchart(lines: &[(usize, &str)]) -> Option<Vec<(usize, String)>> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut parsed: Vec<(usize, usize, Statement<'_>)> = Vec::new();
    let mut depth = 0_usize;
    for &(number, line) in lines {
        for line in line
            .split(';')
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let word = line.split_whitespace().next().unwrap_or_default();
            if LOOKS.contains(&word) {
                continue;
            }
            if word == "subgraph" {
                let title = &line[word.len()..];
                let (id, label) = title.split_once('[').unwrap_or((title, title));
                let label = label.trim().trim_end_matches(']').trim_matches('"');
                names.insert(id.trim(), label);
                parsed.push((number, depth, Statement::Group(label)));
                depth += 1;
            } else if line == "end" {
                depth = depth.saturating_sub(1);
            } else {
                let statement = arrows(line)?;
                for (nodes, _) in &statement {
                    names.extend(
                        nodes
                            .iter()
                            .filter_map(|(id, label)| Some((*id, (*label)?))),
                    );
                }
                parsed.push((number, depth, Statement::Arrows(statement)));
            }
        }
    }
    if names.values().any(|name| name.len() > MAX_NAME) {
        return None;
    }
    let mut out = Vec::new();
    for (number, depth, statement) in parsed {
        let indent = "  ".repeat(depth.min(8));
        match statement {
            Statement::Group(title) => out.push((number, format!("{indent}▸ {title}"))),
            Statement::Arrows(arrows) => {
                let mut text = indent;
                for (nodes, arrow) in arrows {
                    let named = nodes.iter().map(|(id, _)| *names.get(id).unwrap_or(id));
                    text.push_str(&named.collect::<Vec<_>>().join(" & "));
                    if let Some(arrow) = arrow {
                        text.extend([" ", &*arrow, " "]);
                    }
                }
                out.push((number, text));
            }
        }
    }
    Some(out)
}

/// A node by its id, and what it is called.
type Node<'a> = (&'a str, Option<&'a str>);

enum Statement<'a> {
    Group(&'a str),
    /// Nodes, each with the arrow behind them.
    Arrows(Vec<(Vec<Node<'a>>, Option<String>)>),
}

/// `A[Start] -->|yes| B & C --> D`.
fn arrows(line: &str) -> Option<Vec<(Vec<Node<'_>>, Option<String>)>> {
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        let mut nodes = Vec::new();
        loop {
            let (found, behind) = node(rest)?;
            nodes.push(found);
            rest = behind.trim_start();
            match rest.strip_prefix('&') {
                Some(more) => rest = more.trim_start(),
                None => break,
            }
        }
        if rest.is_empty() {
            out.push((nodes, None));
            return Some(out);
        }
        let (arrow, behind) = arrow(rest)?;
        out.push((nodes, Some(arrow)));
        rest = behind.trim_start();
    }
}

/// A node at the start of `text`, and what follows it.
fn node(text: &str) -> Option<(Node<'_>, &str)> {
    let belongs = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let id = &text[..text.len() - text.trim_start_matches(belongs).len()];
    if id.is_empty() {
        return None;
    }
    let rest = &text[id.len()..];
    let (name, rest) = if rest.starts_with(['[', '(', '{', '>']) {
        let (name, behind) = label(rest)?;
        (Some(name), behind)
    } else {
        (None, rest)
    };
    let class = rest.strip_prefix(":::");
    let rest = class.map_or(rest, |class| class.trim_start_matches(belongs));
    Some(((id, name), rest))
}

/// Brackets around what a node is called, and what they end with; the longest first.
const SHAPES: [(&str, [&str; 2]); 12] = [
    ("(((", [")))"; 2]),
    ("((", ["))"; 2]),
    ("([", ["])"; 2]),
    ("[[", ["]]"; 2]),
    ("[(", [")]"; 2]),
    ("{{", ["}}"; 2]),
    ("[/", ["/]", "\\]"]),
    ("[\\", ["\\]", "/]"]),
    ("(", [")"; 2]),
    ("[", ["]"; 2]),
    ("{", ["}"; 2]),
    (">", ["]"; 2]),
];

/// What a node is called, in the brackets at the start of `text`, and what follows them.
fn label(text: &str) -> Option<(&str, &str)> {
    SHAPES.iter().find_map(|(open, ends)| {
        let inside = text.strip_prefix(open)?;
        ends.iter().find_map(|end| match inside.strip_prefix('"') {
            Some(quoted) => {
                let (label, behind) = quoted.split_once('"')?;
                Some((label, behind.strip_prefix(end)?))
            }
            None => {
                let (label, behind) = inside.split_once(end)?;
                // Else it is the end of another node.
                let is_whole = !label.contains(&end[end.len() - 1..]);
                is_whole.then(|| (label.trim().trim_matches('"'), behind))
            }
        })
    })
}

/// An arrow at the start of `text`, as it is shown, and what follows it.
fn arrow(text: &str) -> Option<(String, &str)> {
    let is_line = |c: char| matches!(c, '-' | '=' | '.' | '<' | '>');
    let stroke = &text[..text.len() - text.trim_start_matches(is_line).len()];
    if stroke.len() < 2 {
        return None;
    }
    let rest = &text[stroke.len()..];
    // A circle or a cross at its end.
    let ended = rest.strip_prefix(['o', 'x']);
    let ended = ended.filter(|rest| rest.starts_with([' ', '|']));
    let mut behind = ended.unwrap_or(rest);
    let mut label = "";
    let mut ends = stroke;
    if let Some(said) = behind.strip_prefix('|') {
        let end = said.find('|')?;
        (label, behind) = (&said[..end], &said[end + 1..]);
    } else if ended.is_none() && ["--", "==", "-."].contains(&stroke.trim_start_matches('<')) {
        // Text between two parts of the line.
        let next = ["--", "==", ".-"]
            .into_iter()
            .filter_map(|part| behind.find(part))
            .min();
        if let Some(at) = next {
            let rest = &behind[at..];
            ends = &rest[..rest.len() - rest.trim_start_matches(is_line).len()];
            (label, behind) = (&behind[..at], &rest[ends.len()..]);
        }
    }
    let line = match stroke {
        it if it.contains('.') => "┄",
        it if it.contains('=') => "═",
        _ => "─",
    };
    let head = if ends.ends_with('>') { "▶" } else { line };
    let tail = if stroke.starts_with('<') { "◀" } else { line };
    let label = label.trim().trim_matches('"');
    let shown = if label.is_empty() {
        format!("{tail}{line}{head}")
    } else {
        format!("{tail}{line} {label} {line}{head}")
    };
    Some((shown, behind))
}

/// Arrows of sequence diagrams, each before those that it begins with, and how they are shown.
const MESSAGES: [(&str, &str); 10] = [
    ("<<-->>", "◀┄▶"),
    ("<<->>", "◀─▶"),
    ("-->>", "┄┄▶"),
    ("->>", "──▶"),
    ("--x", "┄┄✗"),
    ("--)", "┄┄▷"),
    ("-->", "┄┄┄"),
    ("-x", "──✗"),
    ("-)", "──▷"),
    ("->", "───"),
];

fn sequence(lines: &[(usize, &str)]) -> Option<Vec<(usize, String)>> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut declared = Vec::new();
    let mut used = HashSet::new();
    let mut out = Vec::new();
    let mut depth = 0_usize;
    for &(number, line) in lines {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let mut said = None;
        match word {
            "participant" | "actor" => {
                let (id, name) = rest.split_once(" as ").unwrap_or((rest, rest));
                if name.len() > MAX_NAME {
                    return None;
                }
                names.insert(id.trim(), name.trim());
                declared.push((number, id.trim()));
                continue;
            }
            "autonumber" | "activate" | "deactivate" | "create" | "destroy" => continue,
            "title" | "title:" => said = Some((rest.to_owned(), depth)),
            "end" => {
                depth = depth.saturating_sub(1);
                continue;
            }
            "loop" | "alt" | "opt" | "par" | "critical" | "break" | "rect" | "box" => {
                said = Some((format!("▸ {word} {rest}"), depth));
                depth += 1;
            }
            "else" | "and" | "option" => {
                said = Some((format!("▸ {word} {rest}"), depth.saturating_sub(1)));
            }
            "Note" | "note" => {
                let (place, text) = rest.split_once(':').unwrap_or((rest, ""));
                let ids = place.split_inclusive([' ', ',']).map(|part| {
                    let id = part.trim_end_matches([' ', ',']);
                    used.insert(id);
                    let name = *names.get(id).unwrap_or(&id);
                    format!("{name}{}", &part[id.len()..])
                });
                said = Some((format!("✎ {}:{text}", ids.collect::<String>()), depth));
            }
            _ => {}
        }
        let (text, depth) = match said {
            Some(said) => said,
            None => {
                let signs = MESSAGES
                    .iter()
                    .filter_map(|(sign, shown)| Some((line.find(sign)?, *sign, *shown)));
                let (at, sign, shown) = signs.min_by_key(|(at, ..)| *at)?;
                let (from, rest) = (&line[..at], &line[at + sign.len()..]);
                if from.contains(':') {
                    return None;
                }
                let (to, text) = rest.split_once(':').unwrap_or((rest, ""));
                let [from, to] = [from, to].map(|id| {
                    let id = id.trim().trim_start_matches(['+', '-']).trim();
                    used.insert(id);
                    *names.get(id).unwrap_or(&id)
                });
                (format!("{from} {shown} {to}   {}", text.trim()), depth)
            }
        };
        let indent = "  ".repeat(depth.min(8));
        out.push((number, format!("{indent}{}", text.trim_end())));
    }
    // Who takes part without a word stands where that is said.
    let silent = declared.into_iter().filter(|(_, id)| !used.contains(id));
    out.extend(silent.map(|(number, id)| (number, names[id].to_owned())));
    out.sort_by_key(|(number, _)| *number);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::outline;

    fn check(source: &str, expected: &[&str]) {
        let lines = outline(source).unwrap_or_default();
        let lines: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(lines, expected, "{source}");
    }

    #[test]
    fn diagrams_become_lines() {
        check(
            "flowchart TD\n  A[Start] --> B{Is it?}\n  B -->|yes| C(Save it)\n  B -- no --> D[\"End (now)\"]\n  %% a comment\n  C & D -.-> E((Done))\n  style A fill:#f9f\n  E === A",
            &[
                "Start ──▶ Is it?",
                "Is it? ── yes ─▶ Save it",
                "Is it? ── no ─▶ End (now)",
                "Save it & End (now) ┄┄▶ Done",
                "Done ═══ Start",
            ],
        );
        check(
            "graph LR; A-->B-->C\nsubgraph one [The one]\nD\nend",
            &["A ──▶ B ──▶ C", "▸ The one", "  D"],
        );
        check(
            "flowchart LR\nA --- B[b()] --> C\nD --x E -- f --> G\nH[/api] <-- i --> J[/k/]\nL[m (n)] --> O[\"p]\"]\nsubgraphs --> A",
            &[
                "A ─── b() ──▶ C",
                "D ─── E ── f ─▶ G",
                "/api ◀─ i ─▶ k",
                "m (n) ──▶ p]",
                "subgraphs ──▶ A",
            ],
        );
        check(
            "sequenceDiagram\n  title Two\n  A->B: to -->> C, a-x",
            &["Two", "A ─── B   to -->> C, a-x"],
        );
        check(
            "sequenceDiagram\n  participant A as Alice\n  A->>Bob: Hello, Bob\n  loop each day\n    Bob-->>A: Hi: you\n  end\n  Note over A: thinks",
            &[
                "Alice ──▶ Bob   Hello, Bob",
                "▸ loop each day",
                "  Bob ┄┄▶ Alice   Hi: you",
                "✎ over Alice: thinks",
            ],
        );
        check(
            "flowchart TD\n A[One<br/>two] --> api\n subgraph api [The API]\n B -- a<br>b --> C\n end\n subgraph Other\n D\n end",
            &[
                "One two ──▶ The API",
                "▸ The API",
                "  B ── a b ─▶ C",
                "▸ Other",
                "  D",
            ],
        );
        check(
            "sequenceDiagram\n participant A as Alice\n participant S as Server<br/>(HTTP)\n actor B\n participant C\n A->>S: hi\n Note right of B: sees",
            &["C", "Alice ──▶ Server (HTTP)   hi", "✎ right of B: sees"],
        );
        for source in [
            "",
            "pie\n \"a\": 1",
            "graph TD\n ???",
            "graph TD",
            "graph TD\n A[b[0]] --> C",
            "sequenceDiagram\nlink A: b @ https://c->d",
            "sequenceDiagram\nnothing",
        ] {
            assert_eq!(outline(source), None, "{source}");
        }
        let name = "x".repeat(1000);
        for long in [
            format!("graph TD\n{}", "A --> B\n".repeat(5_000)),
            format!("graph TD\nA[{name}] --> A"),
            format!("sequenceDiagram\nactor A as {name}\nA->A"),
        ] {
            assert_eq!(outline(&long), None);
        }
    }
}
