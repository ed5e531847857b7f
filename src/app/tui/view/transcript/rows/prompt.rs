//! The rows of a prompt: the text after its mark, then each picture below its caption. A long prompt is
//! folded: a label for each paste, and only the first and last of many lines.

use std::ops::Range;

use super::LayoutOptions;
use super::picture::PictureRows;
use crate::app::humanize::plural;
use crate::app::tui::picture::{Picture, PlacedPicture};
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::text::{Break, Fill, Line, Opens, Prefix, RenderContext, Row, wrap};
use crate::app::tui::transcript::{Fold, PROMPT_LINES};

/// Shown below a message that was not typed here.
const EXTERNAL: &str = "from another program";

/// Lines at both ends of a folded prompt, where a question about a pasted text is.
const PROMPT_HEAD: usize = 3;
const PROMPT_TAIL: usize = 3;

pub struct Prompt<'a> {
    /// The last lines are the captions of the pictures.
    pub text: &'a str,
    pub pastes: &'a [Range<u32>],
    pub pictures: &'a [Picture],
    pub is_external: bool,
    pub fold: Fold,
    pub is_long: bool,
}

impl Prompt<'_> {
    pub fn write(
        &self,
        context: RenderContext<'_>,
        options: LayoutOptions<'_>,
        rows: &mut Vec<Row>,
        placed: &mut Vec<PlacedPicture>,
    ) {
        let style = context.theme.user;
        let from_row = rows.len();
        let margin = " ".repeat(context.margin);
        let mut first = Line::of(margin.as_str(), style);
        first.push("❯ ", context.theme.user_mark);
        let rest = Line::of(format!("{margin}  "), style);
        let mut prefix = Prefix { first, rest };
        let text = self.text.trim_end_matches('\n');
        let is_folded = self.is_long && self.fold == Fold::Folded;
        let parts = parts(text, if is_folded { self.pastes } else { &[] });
        let lines = parts.chunk_by(|one, other| one.line == other.line);
        let typed = lines.clone().count().saturating_sub(self.pictures.len());
        let hidden = if is_folded && typed > PROMPT_LINES {
            PROMPT_HEAD..typed - PROMPT_TAIL
        } else {
            0..0
        };
        for (number, parts) in lines.enumerate() {
            if number == hidden.start && !hidden.is_empty() {
                rows.push(more_lines(context, hidden.len(), options.fold_key));
            }
            if hidden.contains(&number) {
                continue;
            }
            let picture = number
                .checked_sub(typed)
                .and_then(|at| self.pictures.get(at));
            let dim = style.patch(context.theme.dim);
            let look = if picture.is_some() { dim } else { style };
            let mut line = Line::default();
            for part in parts {
                let source = &part.source;
                let raw = &text[source.start as usize..source.end as usize];
                if part.is_paste {
                    line.push_source(&paste_label(raw), dim, source.clone());
                } else {
                    line.push_visible(raw, look, source.start);
                }
            }
            let first = rows.len();
            wrap(&line, &prefix, context.columns, Break::Words, rows);
            if parts.iter().any(|part| part.is_paste) {
                rows[first..]
                    .iter_mut()
                    .for_each(|row| row.opens = Opens::Paste);
            }
            prefix.first = prefix.rest.clone();
            if let (Some(picture), [part, ..]) = (picture, parts) {
                let caption = rows.len() - 1;
                let mut below = PictureRows { rows, placed };
                let shown = (picture, self.fold);
                below.push(context, options, shown, &prefix.rest, part.source.clone());
                // The caption is one line together with the rows of its picture.
                rows[caption].soft_wrap = rows.len() > caption + 1;
            }
        }
        let opens = |row: &Row| row.opens == Opens::Cell;
        let is_open = self.is_long || rows[from_row..].iter().any(opens);
        if is_open && rows[from_row].opens == Opens::Nothing {
            rows[from_row].opens = Opens::Cell;
        }
        if self.is_external {
            let dim = style.patch(context.theme.dim);
            let note = format!("{margin}  {EXTERNAL}");
            rows.push(Line::of(note, dim).into_row());
        }
        for row in &mut rows[from_row..] {
            row.fill = Fill::new(style, context.margin, context.columns + 1);
        }
    }
}

/// A part of a prompt's line: typed text, or a paste shown as a label.
struct Part {
    line: usize,
    source: Range<u32>,
    is_paste: bool,
}

/// The parts of all lines, at least one per line. A paste belongs to the line it begins in.
fn parts(text: &str, pastes: &[Range<u32>]) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut line, mut at) = (0, 0);
    let end = text.len() as u32;
    let pastes = pastes.iter().map(|it| it.start.min(end)..it.end.min(end));
    for paste in pastes.map(Some).chain([None]) {
        let until = paste.as_ref().map_or(end, |paste| paste.start);
        for (number, typed) in text[at as usize..until as usize].split('\n').enumerate() {
            line += usize::from(number > 0);
            let shown = typed.strip_suffix('\r').unwrap_or(typed).len() as u32;
            parts.push(Part {
                line,
                source: at..at + shown,
                is_paste: false,
            });
            at += typed.len() as u32 + 1;
        }
        if let Some(paste) = paste {
            at = paste.end;
            parts.push(Part {
                line,
                source: paste,
                is_paste: true,
            });
        }
    }
    parts
}

fn paste_label(paste: &str) -> String {
    let lines = paste.lines().count() as u64;
    let size = match lines {
        0 | 1 => plural(paste.chars().count() as u64, "character", "characters"),
        _ => plural(lines, "line", "lines"),
    };
    format!("⟦{size} pasted⟧")
}

/// The number of folded lines of a prompt, and how to see them.
fn more_lines(context: RenderContext<'_>, count: usize, key: &str) -> Row {
    let theme = context.theme;
    let mut text = format!("  … {count} more lines");
    if !key.is_empty() {
        text = format!("{text} · {key}");
    }
    let mut line = Line::of(" ".repeat(context.margin), theme.user);
    line.push(
        &ellipsis(&text, context.room()),
        theme.user.patch(theme.dim),
    );
    let mut row = line.into_row();
    row.opens = Opens::Cell;
    row
}
