//! What the screen shows at one moment.

/// The screen at one moment.
pub struct View<'a> {
    screen: &'a vt100::Screen,
}

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub fg: vt100::Color,
    pub bg: vt100::Color,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(screen: &'a vt100::Screen) -> Self {
        Self { screen }
    }

    /// True while this is the alternate screen.
    pub fn is_alternate(&self) -> bool {
        self.screen.alternate_screen()
    }

    /// The lines, without trailing blanks.
    pub fn lines(&self) -> Vec<String> {
        let (_, columns) = self.screen.size();
        self.screen
            .rows(0, columns.get())
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    pub fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// True if a line contains `text`.
    pub fn contains(&self, text: &str) -> bool {
        self.lines().iter().any(|line| line.contains(text))
    }

    /// The first line with `text`.
    pub fn line_with(&self, text: &str) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains(text))
    }

    /// Row and column where `text` begins. Columns count cells.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        let (rows, columns) = self.screen.size();
        for row in 0..rows.get() {
            // Cells and bytes differ, so this compares the text from each column on.
            let rest = |from: u16| -> String {
                (from..columns.get())
                    .filter_map(|column| self.screen.cell(row, column))
                    .filter(|cell| !cell.is_wide_continuation())
                    .map(|cell| {
                        if cell.has_contents() {
                            cell.contents()
                        } else {
                            " "
                        }
                    })
                    .collect()
            };
            if rest(0).contains(text) {
                return (0..columns.get())
                    .find(|column| rest(*column).starts_with(text))
                    .map(|column| (row, column));
            }
        }
        None
    }

    /// The style of a cell.
    pub fn style_at(&self, row: u16, column: u16) -> Option<Style> {
        self.screen.cell(row, column).map(|cell| Style {
            fg: cell.fgcolor(),
            bg: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        })
    }

    /// The style of the first cell of `text`.
    pub fn style_of(&self, text: &str) -> Option<Style> {
        self.find(text)
            .and_then(|(row, column)| self.style_at(row, column))
    }

    /// Row and column of the cursor, if it's visible.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        (!self.screen.hide_cursor()).then(|| self.screen.cursor_position())
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.screen.size();
        (columns.get(), rows.get())
    }

    /// The screen with a frame around it, for messages.
    pub fn picture(&self) -> String {
        let edge = "─".repeat(usize::from(self.size().0));
        let mut picture = format!("┌{edge}\n");
        for line in self.lines() {
            picture.extend(["│", &line, "\n"]);
        }
        picture + &format!("└{edge} cursor {:?}", self.cursor())
    }
}
