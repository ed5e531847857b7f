//! The rows of a prompt: what was typed behind its mark, then each picture below its caption. One that
//! is long is folded, or not, and opened with a key.

use super::LayoutOptions;
use super::picture::PictureRows;
use crate::app::tui::picture::{Picture, PlacedPicture};
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::text::{Break, Fill, Line, Opens, Prefix, RenderContext, Row, lines, wrap};
use crate::app::tui::transcript::Fold;

/// Below a message that was not typed here.
const EXTERNAL: &str = "from another program";

/// Lines of a folded prompt that are shown at its beginning and at its end: what is asked about a
/// text that was pasted stands before or behind it.
const PROMPT_HEAD: usize = 3;
const PROMPT_TAIL: usize = 3;

pub struct Prompt<'a> {
    /// Its last lines are the captions of its pictures.
    pub text: &'a str,
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
        let typed = lines(text).count().saturating_sub(self.pictures.len());
        let hidden = match self.fold {
            Fold::Folded if self.is_long => PROMPT_HEAD..typed.saturating_sub(PROMPT_TAIL),
            _ => 0..0,
        };
        for (number, (at, line)) in lines(text).enumerate() {
            if number == hidden.start && !hidden.is_empty() {
                rows.push(more_lines(context, hidden.len(), options.fold_key));
            }
            if hidden.contains(&number) {
                continue;
            }
            let source = at as u32..(at + line.len()) as u32;
            let picture = number
                .checked_sub(typed)
                .and_then(|at| self.pictures.get(at));
            let look = match picture {
                Some(_) => style.patch(context.theme.dim),
                None => style,
            };
            let line = Line::visible(line, look, source.start);
            wrap(&line, &prefix, context.measure, Break::Words, rows);
            prefix.first = prefix.rest.clone();
            if let Some(picture) = picture {
                let caption = rows.len() - 1;
                let mut below = PictureRows { rows, placed };
                let shown = (picture, self.fold);
                below.push(context, options, shown, &prefix.rest, source);
                // It is one line with them.
                rows[caption].soft_wrap = rows.len() > caption + 1;
            }
        }
        let opens = |row: &Row| row.opens == Opens::Cell;
        if self.is_long || rows[from_row..].iter().any(opens) {
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

/// How many lines of a prompt are folded away, and how to see them.
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
