//! Parses reasoning between `<think>` and `</think>` at the beginning of the text, from servers without
//! a field for it. Tags anywhere else belong to the answer.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A part of the streamed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Text(String),
    Thinking(String),
}

/// The parser, fed with deltas split anywhere.
#[derive(Debug)]
pub enum ThinkTagParser {
    /// At the beginning: `pending` can become the opening tag.
    Start {
        pending: String,
    },
    /// In the reasoning: `pending` can become the closing tag. Trims leading space.
    Thinking {
        pending: String,
        trim_leading: bool,
    },
    Between,
    Answer,
}

impl Default for ThinkTagParser {
    fn default() -> Self {
        Self::Start {
            pending: String::new(),
        }
    }
}

impl ThinkTagParser {
    pub fn push(&mut self, text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        self.parse(text, &mut segments);
        segments
    }

    fn parse(&mut self, text: &str, segments: &mut Vec<Segment>) {
        match self {
            Self::Start { pending } => {
                pending.push_str(text);
                let start = pending.trim_start();
                if let Some(rest) = start.strip_prefix(OPEN) {
                    let rest = rest.to_owned();
                    *self = Self::Thinking {
                        pending: String::new(),
                        trim_leading: true,
                    };
                    self.parse(&rest, segments);
                } else if !OPEN.starts_with(start) {
                    let all = std::mem::take(pending);
                    *self = Self::Answer;
                    segments.push(Segment::Text(all));
                }
            }
            Self::Thinking {
                pending,
                trim_leading,
            } => {
                pending.push_str(text);
                if *trim_leading {
                    *pending = pending.trim_start().to_owned();
                }
                if let Some((thinking, rest)) = pending.split_once(CLOSE) {
                    if !thinking.is_empty() {
                        segments.push(Segment::Thinking(thinking.to_owned()));
                    }
                    let rest = rest.to_owned();
                    *self = Self::Between;
                    self.parse(&rest, segments);
                    return;
                }
                let complete = pending.len() - partial_close(pending);
                if complete > 0 {
                    *trim_leading = false;
                    segments.push(Segment::Thinking(pending.drain(..complete).collect()));
                }
            }
            Self::Between => {
                let text = text.trim_start();
                if !text.is_empty() {
                    *self = Self::Answer;
                    segments.push(Segment::Text(text.to_owned()));
                }
            }
            Self::Answer if text.is_empty() => {}
            Self::Answer => segments.push(Segment::Text(text.to_owned())),
        }
    }

    /// Flushes the pending text, when no more follows.
    pub fn flush(&mut self) -> Option<Segment> {
        let segment = match std::mem::replace(self, Self::Answer) {
            Self::Start { pending } => Segment::Text(pending),
            Self::Thinking { pending, .. } => Segment::Thinking(pending),
            Self::Between | Self::Answer => return None,
        };
        let (Segment::Text(pending) | Segment::Thinking(pending)) = &segment;
        (!pending.is_empty()).then_some(segment)
    }
}

/// How many bytes at the end of `text` can start the closing tag.
fn partial_close(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE[..*length]))
        .unwrap_or_default()
}
