//! Rows with two halves side by side, each with text of its own: what was, and what is.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::highlight::CodeLine;
use super::row::{CodeRef, Row};

/// Where the halves of a row are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Halves {
    /// Byte of the row's text at which the right one begins.
    pub right: u32,
    /// The code that each shows, and the bytes of the text that it stands at.
    pub code: [Option<(CodeRef, Range<u32>)>; 2],
}

/// Which half is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What was.
    Left,
    /// What is.
    Right,
}

/// The colors of the code in a row, half by half; of a whole one only the first.
pub type RowColors<'a> = [Option<CodeLine<'a>>; 2];

/// Code with its colors, and the bytes of a row's text that it stands at.
pub(super) type ColoredCode<'a> = (CodeRef, &'a Range<u32>, CodeLine<'a>);

impl Row {
    /// The code that the row shows, half by half.
    pub fn codes(&self) -> [Option<(CodeRef, &Range<u32>)>; 2] {
        match &self.halves {
            None => [self.code.map(|code| (code, &self.content)), None],
            Some(halves) => {
                let code = |side: usize| {
                    let code = halves.code[side].as_ref();
                    code.map(|(code, content)| (*code, content))
                };
                [code(0), code(1)]
            }
        }
    }

    /// The code at a byte of the text, and where its half ends.
    pub(super) fn code_at<'a>(
        &'a self,
        byte: usize,
        colors: &RowColors<'a>,
    ) -> (usize, Option<ColoredCode<'a>>) {
        let right = self.halves.as_ref().map(|halves| halves.right as usize);
        let side = usize::from(right.is_some_and(|right| byte >= right));
        let end = right.filter(|_| side == 0).unwrap_or(usize::MAX);
        let code = self.codes()[side].zip(colors[side]);
        (end, code.map(|((code, at), line)| (code, at, line)))
    }

    /// The half that a byte of the text is in, if there are two.
    pub fn side_of(&self, byte: u32) -> Option<Side> {
        let halves = self.halves.as_ref()?;
        Some(if byte < halves.right {
            Side::Left
        } else {
            Side::Right
        })
    }

    /// What of the bytes `range` of the text is in one half, where there are two.
    pub fn within(&self, range: Range<u32>, side: Side) -> Range<u32> {
        let Some(halves) = &self.halves else {
            return range;
        };
        match side {
            Side::Left => range.start.min(halves.right)..range.end.min(halves.right),
            Side::Right => range.start.max(halves.right)..range.end.max(halves.right),
        }
    }
}
