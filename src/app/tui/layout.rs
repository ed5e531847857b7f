//! The layout for any screen size. Pure arithmetic: `update` uses it for the editor's width and for
//! clicks, `view` to paint.

use ratatui_core::layout::{Rect, Size};

/// The parts of the screen, top to bottom; parts without room are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    pub transcript: Rect,
    /// The rail next to the conversation on a wide screen.
    pub rail: Rect,
    /// A blank row below the conversation, or the line above the queue.
    pub rule: Rect,
    pub todo: Rect,
    pub queue: Rect,
    pub question: Rect,
    /// Whether part of the question is hidden.
    pub question_cut: bool,
    pub activity: Rect,
    /// The editor with its border, if it has one.
    pub editor: Rect,
    pub text: Rect,
    pub status: Rect,
    /// The rows of the list in an overlay; drawing sets it.
    pub list: Rect,
    /// The entry or line in its first row.
    pub list_top: usize,
    /// For a text: the line in the first row when scrolled to the end.
    pub list_end: usize,
    /// The rows of the completion list; drawing sets it.
    pub completion: Rect,
    /// The entry in its first row.
    pub completion_top: usize,
    /// The pill that jumps to the end; drawing sets it.
    pub pill: Rect,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub editor_rows: u16,
    pub queue_rows: u16,
    pub todo_rows: u16,
    pub question_rows: u16,
    pub rail: bool,
    /// Rows needed by the activity line.
    pub activity_rows: u16,
}

/// The most columns of text, however wide the screen: longer lines are hard to read.
pub const MEASURE: u16 = 100;
/// The fewest columns of the conversation next to the rail.
const CONVERSATION: u16 = 142;
/// Screens from this width on have room for the rail.
pub const RAIL_FROM: u16 = CONVERSATION + 30;
const RAIL_COLUMNS: u16 = 52;
const QUEUE_ROWS: u16 = 6;

impl Areas {
    pub fn new(size: Size, wanted: Wanted) -> Self {
        let border = has_border(size);
        let frame = if border { 2 } else { 0 };
        let mut left = size.height;
        let mut take = |rows: u16| {
            let rows = rows.min(left);
            left -= rows;
            rows
        };
        // Earlier parts get room first.
        let text_rows = take(wanted.editor_rows.clamp(1, editor_size(size).1));
        let frame_rows = take(frame);
        // On a roomy screen the line is always there, so that nothing jumps.
        let activity_rows = take(wanted.activity_rows.max(u16::from(size.height >= 16)));
        let status_rows = take(u16::from(size.height >= 4));
        let spare = size
            .height
            .saturating_sub(text_rows + frame_rows + activity_rows + status_rows);
        // A question comes before anything the user is reading.
        let question_rows = take(wanted.question_rows.min(spare - spare / 4));
        let spare = spare - question_rows;
        let queue_rows = take(wanted.queue_rows.min(QUEUE_ROWS).min(spare / 2));
        let spare = spare - queue_rows;
        // It always gets at least one row.
        let todo_rows = take(wanted.todo_rows.min((spare / 3).max(1)).min(spare / 2));
        // A blank row below the conversation; a line if messages are queued.
        let rule_rows = take(u16::from(
            size.height >= if queue_rows + todo_rows > 0 { 16 } else { 20 },
        ));
        let transcript_rows = left;

        let mut y = 0;
        let mut row = |height: u16| {
            let area = Rect::new(0, y, size.width, height);
            y += height;
            area
        };
        let mut transcript = row(transcript_rows);
        let mut rail = Rect::ZERO;
        if wanted.rail {
            rail = transcript;
            rail.width = size.width.saturating_sub(CONVERSATION).min(RAIL_COLUMNS);
            transcript.width -= rail.width;
            rail.x = transcript.right();
        }
        let mut strip = |height: u16| {
            let area = row(height);
            let width = area.width.min(MEASURE + 1);
            Rect { width, ..area }
        };
        let rule = strip(rule_rows);
        let todo = strip(todo_rows);
        let queue = strip(queue_rows);
        let question = strip(question_rows);
        let activity = row(activity_rows);
        let editor = row(text_rows + frame_rows);
        let text = if border {
            let inner = Rect {
                x: 2,
                y: editor.y + 1,
                width: size.width.saturating_sub(4),
                height: text_rows,
            };
            inner.intersection(editor)
        } else {
            editor
        };
        Self {
            transcript,
            rail,
            rule,
            todo,
            queue,
            question,
            activity,
            editor,
            text,
            status: row(status_rows),
            ..Self::default()
        }
    }

    /// The same with exactly this many rows for the conversation, and the other parts right below.
    pub fn with_transcript_rows(mut self, rows: u16) -> Self {
        let up = self.transcript.height.saturating_sub(rows);
        self.transcript.height -= up;
        for part in [
            &mut self.rule,
            &mut self.todo,
            &mut self.queue,
            &mut self.question,
            &mut self.activity,
            &mut self.editor,
            &mut self.text,
            &mut self.status,
        ] {
            part.y = part.y.saturating_sub(up);
        }
        self
    }
}

/// Columns and rows of the editor's text on a screen of this size.
pub fn editor_size(size: Size) -> (u16, u16) {
    let width = if has_border(size) {
        size.width.saturating_sub(4)
    } else {
        size.width
    };
    (
        width.max(1),
        (size.height.saturating_sub(6) / 2).clamp(1, 10),
    )
}

fn has_border(size: Size) -> bool {
    size.height >= 8 && size.width >= 12
}
