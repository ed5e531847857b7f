//! The report: sections of checks, as text or JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::app::humanize::plural;
use crate::app::sanitize::for_terminal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    /// Not checked, or not there: neither good nor bad.
    Note,
    /// tiller works without it.
    Hint,
    /// Required, but missing or broken.
    Bad,
}

#[derive(Clone, Debug)]
pub struct Check {
    name: String,
    state: State,
    text: String,
    way_out: Option<String>,
}

impl Check {
    pub fn good(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Good,
            text: text.into(),
            way_out: None,
        }
    }

    /// Something that isn't checked, or needn't be there.
    pub fn note(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            state: State::Note,
            ..Self::good(name, text)
        }
    }

    /// A limitation: tiller works, but less well.
    pub fn hint(
        name: impl Into<String>,
        text: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Hint,
            way_out: Some(way_out.into()).filter(|way_out: &String| !way_out.is_empty()),
            ..Self::good(name, text)
        }
    }

    /// A problem: tiller doesn't work.
    pub fn bad(
        name: impl Into<String>,
        text: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Bad,
            ..Self::hint(name, text, way_out)
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

#[derive(Clone, Debug)]
pub struct Section {
    pub title: &'static str,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub sections: Vec<Section>,
}

impl Report {
    /// True if nothing required is missing.
    pub fn is_good(&self) -> bool {
        self.count(State::Bad) == 0
    }

    /// One line per check, with the fix below it.
    pub fn text(&self) -> String {
        let checks = || self.sections.iter().flat_map(|section| &section.checks);
        let width = checks().map(|check| check.name.chars().count()).max();
        let width = width.unwrap_or_default();
        let write = |out: &mut String, check: &Check| {
            let mark = match check.state {
                State::Good => "✓",
                State::Note => "-",
                State::Hint => "!",
                State::Bad => "✗",
            };
            let name = for_terminal(&check.name);
            let indent = " ".repeat(width + 6);
            let mut head = format!("  {mark} {name:width$}  ");
            for line in for_terminal(&check.text).lines() {
                let _ = writeln!(out, "{head}{line}");
                head.clone_from(&indent);
            }
            for line in check.way_out.iter().flat_map(|text| text.lines()) {
                let _ = writeln!(out, "{indent}→ {}", for_terminal(line));
            }
        };
        let mut out = String::new();
        for Section { title, checks } in &self.sections {
            let _ = writeln!(out, "{title}");
            for check in checks {
                write(&mut out, check);
            }
            out.push('\n');
        }
        let (bad, hints) = (self.count(State::Bad), self.count(State::Hint));
        let parts = [(bad, "problem", "problems"), (hints, "hint", "hints")].into_iter();
        let parts = parts.filter(|(count, ..)| *count > 0);
        let parts: Vec<_> = parts
            .map(|(count, one, many)| plural(count, one, many))
            .collect();
        let end = match (bad, parts.is_empty()) {
            (_, true) => "Everything looks good.".to_owned(),
            (0, false) => format!("tiller works; {}:", parts.join(", ")),
            _ => format!("{}:", parts.join(", ")),
        };
        let _ = writeln!(out, "{end}");
        // Again, as they may have scrolled away.
        for state in [State::Bad, State::Hint] {
            let counted = checks().filter(|check| check.state == state);
            counted.for_each(|check| write(&mut out, check));
        }
        out
    }

    pub fn json(&self) -> Value {
        let check = |check: &Check| {
            let state = match check.state {
                State::Good => "good",
                State::Note => "note",
                State::Hint => "hint",
                State::Bad => "bad",
            };
            let mut value = json!({ "name": check.name, "state": state, "text": check.text });
            if let Some(way_out) = &check.way_out {
                value["wayOut"] = json!(way_out);
            }
            value
        };
        let section = |section: &Section| {
            let checks: Vec<Value> = section.checks.iter().map(check).collect();
            json!({ "title": section.title, "checks": checks })
        };
        let sections: Vec<Value> = self.sections.iter().map(section).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": self.is_good(),
            "sections": sections,
        })
    }

    fn count(&self, state: State) -> u64 {
        let checks = self.sections.iter().flat_map(|section| &section.checks);
        checks.filter(|check| check.state == state).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_stand_in_a_column_and_the_ways_out_beneath_their_texts() {
        let report = Report {
            sections: vec![
                Section {
                    title: "One",
                    checks: vec![
                        Check::good("git", "2.47"),
                        Check::bad("sessions", "cannot be\nwritten", "chmod it"),
                    ],
                },
                Section {
                    title: "Two",
                    checks: vec![Check::hint("colours", "16 \x1b[31m", "")],
                },
            ],
        };
        let expected = "One\n  ✓ git       2.47\n  ✗ sessions  cannot be\n              written\n\
                        \x20             → chmod it\n\nTwo\n  ! colours   16 ";
        assert!(report.text().starts_with(expected), "{}", report.text());
        let end = "\n\n1 problem, 1 hint:\n  ✗ sessions  cannot be\n              written\n              → chmod it\n\
                   \x20 ! colours   16 ␛[31m\n";
        assert!(report.text().ends_with(end), "{}", report.text());
        assert!(!report.text().contains('\x1b'));
        assert!(!report.is_good());
        let json = report.json();
        assert_eq!(json["sections"][0]["checks"][1]["wayOut"], "chmod it");
        assert_eq!(json["ok"], false);
    }
}
