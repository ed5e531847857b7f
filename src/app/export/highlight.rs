//! Syntax highlighting for exported pages: runs of text get a class, which the style sheet colors.
//! Long lines, long blocks and everything after the first megabytes stay plain, so that a large
//! session exports in seconds.

use std::path::Path;
use std::sync::OnceLock;

use syntect::highlighting::{
    Color, HighlightState, Highlighter, RangedHighlightIterator, ScopeSelectors, StyleModifier,
    Theme, ThemeItem,
};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::escape::{push_element, push_text};
use crate::app::grammar;

/// Scopes and the class for each.
const RULES: &[(&str, &str)] = &[
    ("comment, punctuation.definition.comment", "c"),
    (
        "string, punctuation.definition.string, constant.character",
        "s",
    ),
    ("constant.numeric, constant.language, constant.other", "n"),
    ("keyword, storage, keyword.operator.word", "k"),
    ("keyword.operator, punctuation", "o"),
    (
        "entity.name.function, support.function, variable.function, entity.name.macro, support.macro",
        "f",
    ),
    (
        "entity.name.type, entity.name.class, entity.name.struct, entity.name.enum, entity.name.trait, support.type, support.class, storage.type.class",
        "t",
    ),
    (
        "entity.name.tag, entity.other.attribute-name, support.type.property-name, meta.mapping.key string",
        "g",
    ),
    ("markup.heading, entity.name.section", "h"),
    ("markup.inserted", "i"),
    ("markup.deleted", "d"),
];
/// Most bytes of a line to highlight.
const LINE: usize = 2_000;
/// Most bytes of a block to highlight.
const BLOCK: usize = 100_000;
/// Most bytes of a page to highlight.
const PAGE: usize = 1_500_000;

/// Highlights the code of one page.
#[derive(Default)]
pub(super) struct Colors {
    known: OnceLock<Known>,
    used: usize,
}

struct Known {
    syntaxes: SyntaxSet,
    theme: Theme,
}

pub(super) struct Lines<'a> {
    known: &'a Known,
    highlighter: Highlighter<'a>,
    parse: ParseState,
    state: HighlightState,
    with_end: String,
}

impl Colors {
    /// A highlighter for `text` by its fence's language or file name; `None` for plain text.
    pub fn lines(&mut self, language: &str, text: &str) -> Option<Lines<'_>> {
        if language.is_empty() || text.len() > BLOCK || self.used > PAGE {
            return None;
        }
        let known = self.known.get_or_init(Known::new);
        let syntax = known.syntax(language)?;
        self.used += text.len();
        let highlighter = Highlighter::new(&known.theme);
        Some(Lines {
            known,
            state: HighlightState::new(&highlighter, ScopeStack::new()),
            highlighter,
            parse: ParseState::new(syntax),
            with_end: String::new(),
        })
    }

    pub fn push(&mut self, out: &mut String, language: &str, text: &str) {
        let text = &text.replace("\r\n", "\n");
        let Some(mut lines) = self.lines(language, text) else {
            return push_text(out, text);
        };
        for line in text.split_inclusive('\n') {
            lines.push(out, line.trim_end_matches('\n'));
            if line.ends_with('\n') {
                out.push('\n');
            }
        }
    }
}

impl Lines<'_> {
    /// Appends the next line, passed without its line end.
    pub fn push(&mut self, out: &mut String, line: &str) {
        if line.len() > LINE {
            return push_text(out, line);
        }
        line.clone_into(&mut self.with_end);
        self.with_end.push('\n');
        let Ok(changes) = self.parse.parse_line(&self.with_end, &self.known.syntaxes) else {
            return push_text(out, line);
        };
        let pieces = RangedHighlightIterator::new(
            &mut self.state,
            &changes,
            &self.with_end,
            &self.highlighter,
        );
        let mut run = ("", 0..0);
        for (style, text, range) in pieces {
            let end = range.end.min(line.len());
            // A blank looks the same in any color.
            let class = if text.trim().is_empty() {
                run.0
            } else {
                let rule = usize::from(style.foreground.r).checked_sub(1);
                rule.and_then(|rule| RULES.get(rule)).map_or("", |it| it.1)
            };
            if class != run.0 {
                push_run(out, run.0, &line[run.1.clone()]);
                run = (class, run.1.end..end);
            }
            run.1.end = end.max(run.1.end);
        }
        push_run(out, run.0, &line[run.1]);
    }
}

impl Known {
    fn new() -> Self {
        let items = RULES.iter().enumerate().filter_map(|(rule, (scopes, _))| {
            let scope: ScopeSelectors = scopes.parse().ok()?;
            let style = StyleModifier {
                foreground: Some(numbered(rule + 1)),
                ..StyleModifier::default()
            };
            Some(ThemeItem { scope, style })
        });
        let mut theme = Theme {
            scopes: items.collect(),
            ..Theme::default()
        };
        theme.settings.foreground = Some(numbered(0));
        Self {
            syntaxes: two_face::syntax::extra_newlines(),
            theme,
        }
    }

    fn syntax(&self, language: &str) -> Option<&SyntaxReference> {
        let name = Path::new(language).file_name()?.to_str()?;
        let end = name.rsplit_once('.').map_or(name, |(_, end)| end);
        let find = |token: &str| grammar::find(&self.syntaxes, token);
        let syntax = find(name).or_else(|| find(end))?;
        (syntax.name != "Plain Text").then_some(syntax)
    }
}

/// The color of rule `number`, from 1; 0 means no rule.
fn numbered(number: usize) -> Color {
    let (r, g, b, a) = (number as u8, 0, 0, 255);
    Color { r, g, b, a }
}

fn push_run(out: &mut String, class: &str, text: &str) {
    match (class, text) {
        (_, "") => {}
        ("", text) => push_text(out, text),
        (class, text) => push_element(out, "span", class, text),
    }
}
