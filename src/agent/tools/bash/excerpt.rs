//! Shortens a long text for the model: its beginning and end, with a line between them about what is
//! missing. The limits bound its memory.

/// Keeps the head and tail of a growing text.
#[derive(Clone, Debug)]
pub struct Excerpt {
    limits: Limits,
    /// The first fifth of `limits.chars` characters.
    head: String,
    head_chars: usize,
    /// At least the last `limits.chars` characters, or all.
    tail: String,
    /// Characters and line ends so far, without `held`.
    chars: u64,
    line_ends: u64,
    /// Trailing line ends: part of the text only if more follows.
    held: u64,
}

/// The limits for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters (Unicode scalar values).
    pub chars: usize,
    pub lines: usize,
}

impl Excerpt {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            head: String::new(),
            head_chars: 0,
            tail: String::new(),
            chars: 0,
            line_ends: 0,
            held: 0,
        }
    }

    pub fn push(&mut self, text: &str) {
        let body = text.trim_end_matches('\n');
        let ends = (text.len() - body.len()) as u64;
        if body.is_empty() {
            self.held += ends;
            return;
        }
        let held = std::mem::replace(&mut self.held, ends);
        if held > 0 {
            self.chars += held;
            self.line_ends += held;
            // More than the limit would be dropped at once.
            let most = held.min(self.limits.chars as u64) as usize;
            self.append(&"\n".repeat(most));
        }
        self.chars += body.chars().count() as u64;
        self.line_ends += memchr::memchr_iter(b'\n', body.as_bytes()).count() as u64;
        self.append(body);
    }

    /// Lines so far, including an unfinished one.
    pub fn lines(&self) -> u64 {
        match self.chars {
            0 => self.held,
            _ => self.line_ends + self.held.max(1),
        }
    }

    /// The last lines followed by `next`: at most `lines` lines and `chars` characters, including `next`,
    /// without trailing line ends.
    pub fn last_with(&self, next: &str, lines: usize, chars: usize) -> String {
        let between = "\n".repeat((self.held as usize).min(lines));
        let text = format!("{}{between}{next}", last_chars(&self.tail, chars));
        last_lines(last_chars(text.trim_end_matches('\n'), chars), lines).to_owned()
    }

    /// Whether the whole text fits, with `notes` on their own lines after it.
    pub fn fits(&self, notes: &[String]) -> bool {
        let lines = if self.chars == 0 {
            0
        } else {
            self.line_ends + 1
        };
        let room = self.room(notes);
        self.chars <= room.chars as u64 && lines <= room.lines as u64
    }

    /// The text with `notes` after it, without trailing line ends. If it doesn't all fit, `marker` says
    /// what is missing, from the number of characters left out and in total.
    pub fn cut(&self, notes: &[String], marker: impl Fn(u64, u64) -> String) -> String {
        if self.fits(notes) {
            return self.tail.clone();
        }
        let room = self.room(notes);
        // The longest possible marker, and a line end on each side.
        let marker_chars = marker(self.chars, self.chars).chars().count() + 2;
        let chars = room.chars.saturating_sub(marker_chars);
        let lines = room.lines.saturating_sub(1);
        let head = first_chars(&self.head, chars);
        let head = first_lines(head, lines.min(self.limits.lines / 5));
        let head_chars = head.chars().count();
        let tail = last_chars(&self.tail, chars - head_chars);
        let tail = last_lines(tail, lines.saturating_sub(head.lines().count()));
        let left_out = self.chars - (head_chars + tail.chars().count()) as u64;
        let before = if head.is_empty() || head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let after = if tail.is_empty() { "" } else { "\n" };
        let marker = marker(left_out, self.chars);
        format!("{head}{before}{marker}{after}{tail}")
    }

    /// The limits minus the size of `notes`.
    fn room(&self, notes: &[String]) -> Limits {
        let chars: usize = notes.iter().map(|note| note.chars().count() + 1).sum();
        Limits {
            chars: self.limits.chars.saturating_sub(chars),
            lines: self.limits.lines.saturating_sub(notes.len()),
        }
    }

    fn append(&mut self, text: &str) {
        // A fifth of what the model gets is the beginning.
        let more = first_chars(text, self.limits.chars / 5 - self.head_chars);
        self.head.push_str(more);
        self.head_chars += more.chars().count();
        let keep = self.limits.chars.max(1);
        self.tail.push_str(last_chars(text, keep));
        // Rarely, so that each byte moves only a few times.
        if self.tail.len() > 8 * keep + 4096 {
            let start = self.tail.len() - last_chars(&self.tail, keep).len();
            self.tail.drain(..start);
        }
    }
}

fn first_chars(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

fn last_chars(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().take(count).last();
    &text[start.map_or(text.len(), |(start, _)| start)..]
}

fn first_lines(text: &str, count: usize) -> &str {
    let lines = text.split_inclusive('\n').take(count);
    &text[..lines.map(str::len).sum()]
}

fn last_lines(text: &str, count: usize) -> &str {
    let lines = text.split_inclusive('\n').rev().take(count);
    &text[text.len() - lines.map(str::len).sum::<usize>()..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Truncation never splits a character (or this would not be a String) and never exceeds the
        // limits. It keeps a beginning and an end of the text.
        #[test]
        fn limits_hold_for_any_text(
            parts in proptest::collection::vec("[aé漢\n👩]{0,60}", 0..30),
            chars in 60usize..400,
            lines in 5usize..40,
            notes in proptest::collection::vec("\\[exit code 1\\]", 0..3),
        ) {
            let mut excerpt = Excerpt::new(Limits { chars, lines });
            for part in &parts {
                excerpt.push(part);
            }
            let text = parts.concat();
            let text = text.trim_end_matches('\n');
            let cut = excerpt.cut(&notes, |left_out, total| format!("<{left_out}/{total}>"));
            let all = [vec![cut.clone()], notes.clone()].concat().join("\n");
            prop_assert!(all.chars().count() <= chars, "{} > {chars}", all.chars().count());
            prop_assert!(all.lines().count() <= lines, "{} > {lines}", all.lines().count());
            let total = text.chars().count();
            if excerpt.fits(&notes) {
                prop_assert_eq!(cut, text);
            } else {
                let (head, rest) = cut.split_once('<').unwrap();
                let (left_out, tail) = rest.split_once(&format!("/{total}>")).unwrap();
                let left_out: usize = left_out.parse().unwrap();
                let head = if text.starts_with(head) { head } else { head.trim_end_matches('\n') };
                let tail = tail.strip_prefix('\n').unwrap_or(tail);
                prop_assert!(text.starts_with(head));
                prop_assert!(text.ends_with(tail));
                let kept = head.chars().count() + tail.chars().count();
                // A line end before the marker may be the text's or ours.
                let spare = usize::from(head.ends_with('\n'));
                prop_assert!((total..=total + spare).contains(&(kept + left_out)));
            }
        }

        #[test]
        fn the_size_of_the_pieces_does_not_matter(
            text in "[aé漢\n👩]{0,600}",
            size in 1usize..50,
        ) {
            let limits = Limits { chars: 100, lines: 12 };
            let marker = |left_out: u64, total: u64| format!("<{left_out}/{total}>");
            let mut whole = Excerpt::new(limits);
            whole.push(&text);
            let mut pieces = Excerpt::new(limits);
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(size) {
                pieces.push(&piece.iter().collect::<String>());
            }
            prop_assert_eq!(whole.cut(&[], marker), pieces.cut(&[], marker));
            prop_assert_eq!(whole.lines(), pieces.lines());
        }
    }
}
