//! The iterations: a line of figures for each, and the content of one.

use ratatui::style::Style;

use super::line::StyledLine;
use super::popup::{Popup, PopupDrawn, on_row, split};
use crate::agent::ToolStatus;
use crate::agent::session::{CallSummary, Iteration, IterationSummary};
use crate::app::action::Action;
use crate::app::humanize::{dollars, measured, plural, short};
use crate::app::tui::app::App;
use crate::app::tui::overlay::{IterationPicker, OpenedIteration};
use crate::llm::message::content_text;
use crate::llm::{Content, Message};

/// Maximum lines shown of one message or result.
const MAX_LINES: usize = 200;
const MAX_LINE: usize = 2_000;

/// Maximum columns of the box. Its rows are figures in columns, so they can be longer than prose.
const BOX: u16 = 140;

pub fn draw(popup: &mut Popup<'_>, list: &IterationPicker) -> Option<PopupDrawn> {
    match &list.opened {
        Some(opened) => draw_opened(popup, list, opened),
        None => draw_list(popup, list),
    }
}

fn draw_list(popup: &mut Popup<'_>, list: &IterationPicker) -> Option<PopupDrawn> {
    let app = popup.app;
    let enter = app.key(Action::Accept);
    let close = app.key(Action::Back);
    let notes = [
        format!(" {enter} details · {close} close "),
        format!(" {close} close "),
    ];
    let listed = list.count(&app.timeline).max(1);
    let area = popup.open_wide("Iterations", (BOX, (2 + listed).min(32)), &notes)?;
    popup.query(&list.picker, area);
    let said = match (&list.error, list.is_read() || app.status.session.is_none()) {
        (Some(error), _) => error.clone(),
        (None, true) => list.count(&app.timeline).to_string(),
        (None, false) => "Reading…".to_owned(),
    };
    let columns = Columns::of(usize::from(area.width));
    popup.aside(&said, area);
    popup.line(&columns.header(popup.quiet()), split(area, 1).1);
    let (_, below) = split(area, 2);
    let none = match list.picker.query() {
        _ if !list.is_read() && app.status.session.is_some() => "",
        "" => "No model calls yet",
        _ => "No match",
    };
    Some(popup.matches(&list.picker, none, below, |place, style| {
        Some(columns.line(app, list.row(&app.timeline, place)?, style))
    }))
}

struct Columns {
    first_token: bool,
    cached: bool,
}

impl Columns {
    fn of(width: usize) -> Self {
        Self {
            first_token: width >= 60,
            cached: width >= 76,
        }
    }

    fn header(&self, style: Style) -> StyledLine {
        let mut line = StyledLine::of(format!("{:>5}  {:>10}", "#", "took"), style);
        if self.first_token {
            line.push(format!("  {:>9}", "1st token"), style);
        }
        line.push(format!("  {:>6} {:>6}", "in", "out"), style);
        if self.cached {
            line.push(format!(" {:>6}", "cached"), style);
        }
        line.with(format!("  {:>7}  calls", "cost"), style)
    }

    fn line(&self, app: &App, row: &IterationSummary, base: Style) -> StyledLine {
        let theme = &app.theme;
        let tone = |style| on_row(theme, base, style);
        let quiet = tone(theme.dim);
        let mut line = StyledLine::of(format!("{:>5}  {:>10}", row.number, took(app, row)), base);
        if self.first_token {
            let first = row.first_token_ms.map(measured).unwrap_or_default();
            line.push(format!("  {first:>9}"), quiet);
        }
        let usage = &row.usage;
        let tokens = |count: u64| match count {
            0 => String::new(),
            count => short(count),
        };
        let (input, output) = (tokens(usage.input), tokens(usage.output));
        line.push(format!("  {input:>6} {output:>6}"), base);
        if self.cached {
            line.push(format!(" {:>6}", tokens(usage.cache_read)), quiet);
        }
        let cost = Some(usage.cost.total).filter(|cost| *cost > 0.0);
        let cost = cost.map(dollars).unwrap_or_default();
        line.push(format!("  {cost:>7}  "), base);
        if row.calls.is_empty() {
            let text = if row.ended.is_none() { "…" } else { "answer" };
            line.push(text, quiet);
        }
        for (at, call) in row.calls.iter().enumerate() {
            line.push(if at == 0 { "" } else { " · " }, quiet);
            line.push(&call.name, base);
            let failed = call.status.is_some_and(ToolStatus::is_error);
            let style = if failed { tone(theme.error) } else { quiet };
            let end = end(call);
            if !end.is_empty() {
                line.push(format!(" {end}"), style);
            }
        }
        if !row.prompt.is_empty() {
            line.push(format!("  ❯ {}", row.prompt), quiet);
        }
        line
    }
}

fn took(app: &App, row: &IterationSummary) -> String {
    match (row.began, row.ended) {
        (0, _) => String::new(),
        (began, Some(ended)) => measured(ended.abs_diff(began)),
        (began, None) if app.is_running() => measured(app.now.abs_diff(began)),
        _ => "cut off".to_owned(),
    }
}

fn end(call: &CallSummary) -> String {
    let label = match call.status {
        None => "running",
        Some(ToolStatus::Ok) => "",
        Some(ToolStatus::Error) => "failed",
        Some(ToolStatus::Skipped) => "skipped",
        Some(ToolStatus::Cancelled) => "stopped",
    };
    match call.duration_ms {
        Some(took) => format!("{} {label}", measured(took)).trim_end().to_owned(),
        None => label.to_owned(),
    }
}

fn draw_opened(
    popup: &mut Popup<'_>,
    list: &IterationPicker,
    opened: &OpenedIteration,
) -> Option<PopupDrawn> {
    let app = popup.app;
    let keys = [Action::Left, Action::Right, Action::Back].map(|action| app.key(action));
    let [left, right, close] = keys;
    let notes = [
        format!(" {left} {right} previous, next · {close} back "),
        format!(" {close} back "),
    ];
    let (row, last) = list.numbered(&app.timeline, opened.number);
    let title = format!("Iteration {} of {last}", opened.number);
    let area = popup.open_wide(&title, (BOX, popup.most_rows()), &notes)?;
    let columns = usize::from(area.width);
    let mut text = Text {
        app,
        columns,
        lines: Vec::new(),
    };
    if let Some(row) = row {
        text.lines.push(Columns::of(columns).header(text.quiet()));
        let row = IterationSummary {
            prompt: String::new(),
            ..row.clone()
        };
        text.lines
            .push(Columns::of(columns).line(app, &row, app.theme.popup));
    }
    match &opened.content {
        None => text.note("Reading…"),
        Some(Err(error)) => text.note(error),
        Some(Ok(iteration)) => text.iteration(iteration),
    }
    Some(popup.page(&text.lines, opened.pager, area))
}

struct Text<'a> {
    app: &'a App,
    columns: usize,
    lines: Vec<StyledLine>,
}

impl Text<'_> {
    fn quiet(&self) -> Style {
        self.app.theme.popup.patch(self.app.theme.dim)
    }

    fn iteration(&mut self, iteration: &Iteration) {
        for message in &iteration.messages {
            match &**message {
                Message::User(said) => {
                    let who = said.origin.as_deref().unwrap_or("You");
                    self.heading(who, "");
                    self.content(&said.content);
                }
                Message::Assistant(answer) => {
                    let model = format!("{}/{}", answer.provider, answer.model);
                    self.heading(&model, &stop(iteration));
                    for block in &answer.content {
                        match block {
                            Content::Text(text) => self.text(&text.text, self.app.theme.popup),
                            Content::Thinking(block) => self.text(&block.thinking, self.quiet()),
                            Content::ToolCall(call) => {
                                self.heading(&call.name, "call");
                                self.text(&call.arguments.to_string(), self.quiet());
                            }
                            Content::Image(image) => self.note(&format!("[{}]", image.mime_type)),
                        }
                    }
                    if let Some(error) = &answer.error_message {
                        self.text(error, self.app.theme.popup.patch(self.app.theme.error));
                    }
                }
                Message::ToolResult(result) => {
                    let took = result.duration_ms.map(measured).unwrap_or_default();
                    let failed = if result.is_error { "failed " } else { "" };
                    self.heading(&result.tool_name, &format!("result {failed}{took}"));
                    self.content(&result.content);
                }
            }
        }
    }

    fn heading(&mut self, title: &str, note: &str) {
        self.lines.push(StyledLine::new());
        let line = StyledLine::of(title, self.app.theme.popup_title);
        self.lines
            .push(line.with(format!("  {note}"), self.quiet()));
    }

    fn note(&mut self, text: &str) {
        self.lines.push(StyledLine::new());
        let lines = StyledLine::wrapped(text, self.quiet(), self.columns);
        self.lines.extend(lines);
    }

    fn content(&mut self, content: &[Content]) {
        self.text(&content_text(content), self.app.theme.popup);
        for block in content {
            if let Content::Image(image) = block {
                self.text(&format!("[{}]", image.mime_type), self.quiet());
            }
        }
    }

    fn text(&mut self, text: &str, style: Style) {
        let mut lines = text.trim_end().lines();
        for line in lines.by_ref().take(MAX_LINES) {
            let line = &line[..line.floor_char_boundary(MAX_LINE)];
            let rows = StyledLine::wrapped(line, style, self.columns.saturating_sub(2).max(1));
            for row in rows {
                self.lines.push(StyledLine::of("  ", style).then(&row));
            }
        }
        let rest = lines.count() as u64;
        if rest > 0 {
            let rest = format!("  … {}", plural(rest, "more line", "more lines"));
            self.lines.push(StyledLine::of(rest, self.quiet()));
        }
    }
}

fn stop(iteration: &Iteration) -> String {
    let stop = iteration.metadata.get("stop_reason");
    let stop = stop.and_then(|stop| stop.as_str());
    stop.unwrap_or_default().to_owned()
}
