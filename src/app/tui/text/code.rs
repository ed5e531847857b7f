//! The colors found so far, and the lines still to highlight. Each line is highlighted once, and
//! only after its block has been on the screen.

use std::collections::HashMap;

use super::highlight::{CodeJob, CodeKey, CodeLine, CodeRun, HighlightWorker};
use super::row::{CodeRef, Fill, Row};

/// The colors of code blocks, by cell and block number.
#[derive(Debug, Default)]
pub struct HighlightCache {
    worker: Option<HighlightWorker>,
    blocks: HashMap<CodeKey, Block>,
    /// Blocks with lines to send to the worker.
    due: Vec<CodeKey>,
    generation: u32,
}

#[derive(Debug, Default)]
struct Block {
    generation: u32,
    language: Box<str>,
    seen: bool,
    known: usize,
    /// The last lines, which weren't sent yet.
    waiting: Vec<String>,
    lines: Vec<Box<[CodeRun]>>,
}

impl HighlightCache {
    /// An empty cache; without a worker, code stays plain.
    pub fn new(worker: Option<HighlightWorker>) -> Self {
        Self {
            worker,
            ..Self::default()
        }
    }

    /// Queues a line of a block for highlighting. Lines come in order; known lines are skipped.
    pub fn queue_line(&mut self, key: CodeKey, language: &str, line: usize, text: &str) {
        if language.is_empty() || self.worker.is_none() {
            return;
        }
        let generation = self.generation;
        let block = self.blocks.entry(key).or_insert_with(|| Block {
            generation,
            language: language.into(),
            ..Block::default()
        });
        if line != block.known {
            return;
        }
        block.known += 1;
        if block.seen && block.waiting.is_empty() {
            self.due.push(key);
        }
        block.waiting.push(text.to_owned());
    }

    /// Notes that a line of this block is on the screen. Only then is it worth highlighting: most
    /// of the code in a long answer is never seen.
    pub fn see(&mut self, key: CodeKey) {
        if let Some(block) = self.blocks.get_mut(&key)
            && !block.seen
        {
            block.seen = true;
            self.due.push(key);
        }
    }

    /// Sends the queued lines of visible blocks to the worker.
    pub fn flush(&mut self) {
        let Some(worker) = &self.worker else { return };
        for key in self.due.drain(..) {
            let Some(block) = self.blocks.get_mut(&key) else {
                continue;
            };
            let lines = std::mem::take(&mut block.waiting);
            if lines.is_empty() {
                continue;
            }
            worker.send(CodeJob {
                key,
                generation: block.generation,
                language: block.language.to_string(),
                first_line: block.known - lines.len(),
                lines,
            });
        }
    }

    /// Takes the worker's results. Returns whether there were any.
    pub fn poll(&mut self) -> bool {
        let mut found = false;
        while let Some(done) = self.worker.as_ref().and_then(HighlightWorker::receive) {
            if let Some(block) = self.blocks.get_mut(&done.key)
                && block.generation == done.generation
                && block.lines.len() == done.first_line
            {
                block.lines.extend(done.lines);
                found = true;
            }
        }
        found
    }

    /// The colors of the line of code in a row of `cell`.
    pub fn colors(&self, cell: usize, row: &Row) -> Option<CodeLine<'_>> {
        let place = row.code?;
        let block = self.blocks.get(&(cell, place.block))?;
        let runs = block.lines.get(place.line as usize)?;
        let styles = self.worker.as_ref()?.styles();
        let line = CodeLine { runs, styles };
        // While open, the block may have been parsed differently; then the colors don't match.
        let end = place.from + row.content.len() as u32;
        (!runs.is_empty() && line.end() >= end).then_some(line)
    }

    /// Whether the code in a row of `cell` has its colors, or never will.
    pub fn is_colored(&self, cell: usize, row: &Row) -> bool {
        let waits = |place: CodeRef| {
            let block = self.blocks.get(&(cell, place.block));
            block.is_some_and(|block| block.lines.len() <= place.line as usize)
        };
        self.worker.is_none() || !row.code.is_some_and(waits)
    }

    /// Drops the colors of a cell, because its text changed or it's far away.
    pub fn forget(&mut self, cell: usize) {
        self.generation += 1;
        self.blocks.retain(|key, _| key.0 != cell);
    }

    /// Drops everything but the worker.
    pub fn clear(&mut self) {
        self.generation += 1;
        self.blocks.clear();
        self.due.clear();
    }
}

pub fn mark_code(rows: &mut [Row], block: u32, line: usize, fill: Fill) {
    let mut from = 0;
    for row in rows {
        row.fill = fill;
        row.code = Some(CodeRef {
            block,
            line: line as u32,
            from,
        });
        from += row.content.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long answer that arrives at once highlights no unseen code, and no line twice.
    #[test]
    fn only_visible_code_is_highlighted_and_only_once() {
        let (worker, jobs) = HighlightWorker::unstarted();
        let mut highlights = HighlightCache::new(Some(worker));
        let sent = |highlights: &mut HighlightCache| -> Vec<String> {
            highlights.flush();
            jobs.try_iter().flat_map(|job| job.lines).collect()
        };
        for block in 0..3 {
            highlights.queue_line((0, block), "rust", 0, "let x;");
        }
        assert_eq!(sent(&mut highlights), [""; 0]);
        highlights.see((0, 1));
        assert_eq!(sent(&mut highlights), ["let x;"]);
        // Laid out again at another width.
        highlights.queue_line((0, 1), "rust", 0, "let x;");
        highlights.see((0, 1));
        assert_eq!(sent(&mut highlights), [""; 0]);
        highlights.queue_line((0, 1), "rust", 1, "let y;");
        assert_eq!(sent(&mut highlights), ["let y;"]);
    }
}
