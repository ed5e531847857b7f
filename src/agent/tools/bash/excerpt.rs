//! Shortens a long text for the model to its beginning and its end, with a line between them that
//! says what is missing. Memory is bounded by the limits.

/// Keeps head and tail of a text that grows.
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
    /// Trailing line ends: not part of the text unless more follows.
    held: u64,
}

/// How much the model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters (Unicode scalar values).
    pub chars: usize,
    /// Lines.
    pub lines: usize,
}

/// A finished excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The text, without line ends at its end.
    pub text: String,
    /// Characters left out.
    pub left_out: u64,
}

impl Excerpt {
    /// An empty text.
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

    /// Appends `text`.
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
            // More than the limit would be gone again at once.
            let most = held.min(self.limits.chars as u64) as usize;
            self.append(&"\n".repeat(most));
        }
        self.chars += body.chars().count() as u64;
        self.line_ends += memchr::memchr_iter(b'\n', body.as_bytes()).count() as u64;
        self.append(body);
    }

    /// Lines so far, an unfinished one included.
    pub fn lines(&self) -> u64 {
        match self.chars {
            0 => self.held,
            _ => self.line_ends + self.held.max(1),
        }
    }

    /// The last lines followed by `next`: at most `lines` lines and `chars`
    /// characters, `next` included, without line ends at their end.
    pub fn last_with(&self, next: &str, lines: usize, chars: usize) -> String {
        let between = "\n".repeat((self.held as usize).min(lines));
        let text = format!("{}{between}{next}", last_chars(&self.tail, chars));
        last_lines(last_chars(text.trim_end_matches('\n'), chars), lines).to_owned()
    }

    /// The excerpt, with room for `reserve` (which the caller appends on lines of its own). It
    /// is the whole text when that fits; else `marker` says what is missing, given the counts of
    /// characters left out and of all.
    pub fn cut(&self, reserve: &str, marker: impl Fn(u64, u64) -> String) -> Cut {
        let reserve_chars = match reserve.chars().count() {
            0 => 0,
            count => count + 1,
        };
        let reserve_lines = reserve.lines().count();
        let total = self.chars;
        let lines = if total == 0 { 0 } else { self.line_ends + 1 };
        let chars_left = self.limits.chars.saturating_sub(reserve_chars);
        let lines_left = self.limits.lines.saturating_sub(reserve_lines);
        if total <= chars_left as u64 && lines <= lines_left as u64 {
            return Cut {
                text: self.tail.clone(),
                left_out: 0,
            };
        }
        // The longest the marker can get, and a line end on either side of it.
        let marker_chars = marker(total, total).chars().count() + 2;
        let chars_left = chars_left.saturating_sub(marker_chars);
        let lines_left = lines_left.saturating_sub(1);
        let head = first_chars(&self.head, chars_left);
        let head = first_lines(head, lines_left.min(self.limits.lines / 5));
        let head_chars = head.chars().count();
        let tail = last_chars(&self.tail, chars_left - head_chars);
        let tail = last_lines(tail, lines_left.saturating_sub(head.lines().count()));
        let left_out = total.saturating_sub((head_chars + tail.chars().count()) as u64);
        let before = if head.is_empty() || head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let after = if tail.is_empty() { "" } else { "\n" };
        Cut {
            text: format!("{head}{before}{}{after}{tail}", marker(left_out, total)),
            left_out,
        }
    }

    fn append(&mut self, text: &str) {
        // A fifth of what the model gets is the beginning.
        let more = first_chars(text, self.limits.chars / 5 - self.head_chars);
        self.head.push_str(more);
        self.head_chars += more.chars().count();
        let keep = self.limits.chars.max(1);
        self.tail.push_str(last_chars(text, keep));
        // Rarely, so that a byte is moved a few times at most.
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
    if text.len() <= count {
        return text;
    }
    match count.checked_sub(1) {
        None => "",
        Some(before) => match text.char_indices().rev().nth(before) {
            Some((start, _)) => &text[start..],
            None => text,
        },
    }
}

fn first_lines(text: &str, count: usize) -> &str {
    match text.match_indices('\n').take(count).last() {
        None if count == 0 => "",
        Some((end, _)) if text[..end].matches('\n').count() + 1 == count => &text[..=end],
        _ => text,
    }
}

fn last_lines(text: &str, count: usize) -> &str {
    if count == 0 {
        return "";
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    match memchr::memrchr_iter(b'\n', body.as_bytes()).nth(count - 1) {
        Some(end) => &text[end + 1..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str, chars: usize, lines: usize, reserve: &str) -> Cut {
        let mut excerpt = Excerpt::new(Limits { chars, lines });
        excerpt.push(text);
        excerpt.cut(reserve, |left_out, total| format!("<{left_out}/{total}>"))
    }

    // J6
    #[test]
    fn what_fits_is_whole_and_what_does_not_is_cut_in_the_middle() {
        let whole = |text: &str| Cut {
            text: text.to_owned(),
            left_out: 0,
        };
        assert_eq!(cut("", 100, 10, ""), whole(""));
        assert_eq!(cut("a\nb\n\n", 100, 10, ""), whole("a\nb"));
        let text = "x".repeat(100);
        assert_eq!(cut(&text, 100, 10, ""), whole(&text));
        assert_eq!(cut(&format!("{text}\n"), 100, 10, ""), whole(&text));
        // 20 characters of the head, 11 for the marker at its longest and its line ends, 69 of the tail.
        let text = format!("{}{}{}", "h".repeat(20), "m".repeat(20), "t".repeat(70));
        let expected = format!("{}\n<21/110>\n{}", "h".repeat(20), "t".repeat(69));
        assert_eq!(
            cut(&text, 100, 10, ""),
            Cut {
                text: expected,
                left_out: 21
            }
        );
    }

    #[test]
    fn the_last_lines_are_at_hand() {
        let mut excerpt = Excerpt::new(Limits {
            chars: 100,
            lines: 10,
        });
        excerpt.push("one\ntwo\nthree\n");
        assert_eq!(excerpt.last_with("", 2, 100), "two\nthree");
        assert_eq!(excerpt.last_with("fo", 2, 100), "three\nfo");
        assert_eq!(excerpt.last_with("", 9, 4), "hree");
        assert_eq!(excerpt.lines(), 3);
        excerpt.push("four");
        assert_eq!(
            (excerpt.last_with("", 1, 100).as_str(), excerpt.lines()),
            ("four", 4)
        );
        excerpt.push("\n\n\n");
        assert_eq!(excerpt.lines(), 6);
    }

    proptest! {
        // Truncation never splits a character (or this would not be a String), never exceeds
        // the limits, and what it keeps is a beginning and an end of the text.
        #[test]
        fn limits_hold_for_any_text(
            parts in proptest::collection::vec("[aé漢\n👩]{0,60}", 0..30),
            chars in 60usize..400,
            lines in 5usize..40,
            reserve in "(\\[exit code 1\\])?",
        ) {
            let mut excerpt = Excerpt::new(Limits { chars, lines });
            for part in &parts {
                excerpt.push(part);
            }
            let text = parts.concat();
            let text = text.trim_end_matches('\n');
            let cut = excerpt.cut(&reserve, |left_out, total| format!("<{left_out}/{total}>"));
            let mut all = cut.text.clone();
            if !reserve.is_empty() {
                all = format!("{all}\n{reserve}");
            }
            prop_assert!(all.chars().count() <= chars, "{} > {chars}", all.chars().count());
            prop_assert!(all.lines().count() <= lines, "{} > {lines}", all.lines().count());
            if cut.left_out == 0 {
                prop_assert_eq!(cut.text, text);
            } else {
                let marker = format!("<{}/{}>", cut.left_out, text.chars().count());
                let (head, tail) = cut.text.split_once(&marker).unwrap();
                let head = if text.starts_with(head) { head } else { head.trim_end_matches('\n') };
                let tail = tail.strip_prefix('\n').unwrap_or(tail);
                prop_assert!(text.starts_with(head));
                prop_assert!(text.ends_with(tail));
                let kept = (head.chars().count() + tail.chars().count()) as u64;
                // A line end before the marker may be the text's or ours.
                let spare = u64::from(head.ends_with('\n'));
                let total = text.chars().count() as u64;
                prop_assert!((total..=total + spare).contains(&(kept + cut.left_out)));
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
            prop_assert_eq!(whole.cut("", marker), pieces.cut("", marker));
            prop_assert_eq!(whole.lines(), pieces.lines());
        }
    }
}
