//! A screen without a terminal: takes keys and agent events, gives effects and frames.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};
use ratatui_core::style::Color;
use tiller::agent::permission::PermissionMode;
use tiller::agent::{AgentEvent, Event, Phase, QueueKind, Queued, RunCounter, RunState};
use tiller::app::action::Action;
use tiller::app::commands;
use tiller::app::tui::app::{App, Start, Status};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::keymap::Keymap;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::{
    InputEvent, KeyCode, KeyModifiers, KeyPress, MouseButton, MouseEvent, MouseEventKind,
};
use tiller::app::tui::terminal::screen_buffer::ScreenBuffer;
use tiller::app::tui::text::link::LinkTable;
use tiller::app::tui::theme::{ColorDepth, Theme};
use tiller::app::tui::update::update;
use tiller::app::tui::view::{ViewCache, view};
use tiller::llm::{Api, Content, Message, Model, ThinkingLevel};

/// The time at the start of every test.
pub const START: i64 = 1_800_000_000_000;

/// A whole screen under test.
pub struct TestTui {
    pub app: App,
    pub now: i64,
    cache: ViewCache,
    seq: u64,
    counter: RunCounter,
    said: Vec<Arc<Message>>,
    /// The effects of the last frame.
    pub settled: Vec<Effect>,
}

impl TestTui {
    pub fn new(width: u16, height: u16) -> Self {
        Self::starting(width, height, Start::default())
    }

    pub fn starting(width: u16, height: u16, start: Start) -> Self {
        Self::with_keys(width, height, start, Keymap::default())
    }

    /// The same with the user's key bindings.
    pub fn with_keys(width: u16, height: u16, start: Start, keymap: Keymap) -> Self {
        let theme = Theme::load("dark", ColorDepth::TrueColor).expect("built in");
        let status = Status {
            home: Some(PathBuf::from("/home/me")),
            branch: Some("main".into()),
            permission: PermissionMode::Full,
            ..Status::new(Path::new("/home/me/shop"), model(), ThinkingLevel::High)
        };
        let size = Size::new(width, height);
        let mut app = App::new(size, START, keymap, theme, status);
        app.tells_keys = true;
        app.start = start;
        Self {
            app,
            now: START,
            cache: ViewCache::default(),
            seq: 0,
            counter: RunCounter::default(),
            said: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Handles a message at the current time.
    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = self.send_all(msg);
        // Other tests check how prompts and drafts are saved.
        let keeps = |effect: &Effect| matches!(effect, Effect::Remember(_) | Effect::SaveDraft(_));
        effects.retain(|effect| !keeps(effect));
        effects
    }

    /// The same including effects that write to disk.
    pub fn send_all(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.app, self.now, msg)
    }

    /// Presses a key such as `ctrl+c` or `enter`.
    pub fn key(&mut self, key: &str) -> Vec<Effect> {
        self.send(Msg::Input(InputEvent::Key(key.parse().expect(key))))
    }

    /// Types text key by key.
    pub fn write(&mut self, text: &str) {
        for c in text.chars() {
            let key = KeyPress::plain(KeyCode::Char(c));
            self.send(Msg::Input(InputEvent::Key(key)));
        }
    }

    /// Sends a mouse event at a cell of the screen.
    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Vec<Effect> {
        self.send(Msg::Input(InputEvent::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        })))
    }

    /// Clicks with the left button.
    pub fn click(&mut self, column: u16, row: u16) -> Vec<Effect> {
        self.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
        self.mouse(MouseEventKind::Up(MouseButton::Left), column, row)
    }

    /// Sends an agent event.
    pub fn agent(&mut self, mut kind: AgentEvent) -> Vec<Effect> {
        self.counter.count(&kind, self.now);
        match &mut kind {
            AgentEvent::AgentStart => self.said.clear(),
            AgentEvent::MessageEnd { message } => self.said.push(Arc::clone(message)),
            AgentEvent::AgentEnd {
                totals, messages, ..
            } => {
                *totals = self.counter.totals(self.now);
                let mut said = messages.end().to_vec();
                said.append(&mut self.said);
                *messages = said.into();
            }
            _ => {}
        }
        self.seq += 1;
        self.send(Msg::Agent(Arc::new(Event {
            seq: self.seq,
            time: self.now,
            run: None,
            kind,
        })))
    }

    /// Sends the agent's state.
    pub fn state(&mut self, state: RunState) {
        self.agent(AgentEvent::State(state));
    }

    /// Starts a run in this phase.
    pub fn running(&mut self, phase: Phase) {
        self.state(RunState::Running { phase });
    }

    /// Puts these messages in the queue.
    pub fn waiting(&mut self, steering: &[&str], follow_up: &[&str]) {
        self.agent(AgentEvent::QueueUpdate {
            steering: queued(QueueKind::Steering, steering),
            follow_up: queued(QueueKind::FollowUp, follow_up),
        });
    }

    /// Lets time pass.
    pub fn wait(&mut self, millis: i64) {
        self.now += millis;
        self.send(Msg::Tick);
    }

    /// The text in the editor.
    pub fn text(&self) -> String {
        self.app.composer.text()
    }

    /// The screen as text once pictures have loaded, without trailing spaces.
    pub fn frame(&mut self) -> String {
        text_of(&self.draw())
    }

    /// The same with styles.
    pub fn styled_frame(&mut self) -> String {
        styled_text_of(&self.draw())
    }

    /// Paints the screen into `buffer` and returns the caret's position.
    pub fn paint(&mut self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let drawn = view(&self.app, &mut self.cache, buffer);
        let cursor = drawn.cursor;
        self.send(Msg::Drawn(Box::new(drawn)));
        cursor
    }

    /// Draws until all pictures have loaded.
    pub fn settle(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            self.draw();
            if !self.cache.transcript.pictures.is_busy() {
                return;
            }
            while !self.cache.transcript.poll() {
                assert!(Instant::now() < deadline, "the picture never arrived");
                std::thread::yield_now();
            }
        }
    }

    /// The bytes that draw the frame in the terminal, and the frame.
    pub fn bytes(&mut self, screen: &mut ScreenBuffer) -> (Vec<u8>, Buffer) {
        let buffer = screen.begin();
        let cursor = self.paint(buffer);
        let frame = buffer.clone();
        let mut bytes = Vec::new();
        screen.finish(cursor, &LinkTable::default(), &mut bytes);
        (bytes, frame)
    }

    /// The bytes sent to the terminal before the frame.
    pub fn outgoing(&mut self) -> Vec<u8> {
        self.cache.transcript.pictures.take_outgoing()
    }

    fn draw(&mut self) -> Buffer {
        let size = self.app.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        let drawn = view(&self.app, &mut self.cache, &mut buffer);
        if let Some((x, y)) = drawn.cursor {
            assert!(
                x < size.width && y < size.height,
                "the cursor must be on the screen"
            );
        }
        self.settled = self.send(Msg::Drawn(Box::new(drawn)));
        buffer
    }
}

/// The text of a buffer, then a grid with a letter for each cell's style, then a legend.
pub fn styled_text_of(buffer: &Buffer) -> String {
    let mut styles = Vec::new();
    let mut grid = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let mut line = String::new();
        for cell in row {
            let style = cell.style();
            let at = styles.iter().position(|known| *known == style);
            let at = at.unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            let mut letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
            line.push(letters.nth(at).unwrap_or('?'));
        }
        grid.push_str(&line);
        grid.push('\n');
    }
    let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    let legend = letters.zip(&styles).map(|(letter, style)| {
        let color = |color: Option<Color>| color.unwrap_or_default();
        format!(
            "{letter}  {} on {}  {:?}\n",
            color(style.fg),
            color(style.bg),
            style.add_modifier
        )
    });
    format!(
        "{}\n\n{grid}\n{}",
        text_of(buffer),
        legend.collect::<String>()
    )
}

/// The text of a buffer without trailing spaces.
pub fn text_of(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    if width == 0 {
        return String::new();
    }
    let rows = buffer.content.chunks(width).map(|row| {
        let mut text = String::new();
        let mut skip = 0;
        for cell in row {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            text.push_str(cell.symbol());
            skip = tiller::app::tui::text::width(cell.symbol()).saturating_sub(1);
        }
        text.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

pub fn queued(kind: QueueKind, texts: &[&str]) -> Vec<Queued> {
    let with_id = |(id, text): (usize, &&str)| Queued {
        id: id as u64,
        kind,
        content: vec![Content::text(*text)],
        origin: None,
    };
    texts.iter().enumerate().map(with_id).collect()
}

pub fn model() -> Model {
    Model {
        name: "Claude Sonnet".into(),
        context_window: 200_000,
        max_output: 32_000,
        reasoning: true,
        vision: true,
        ..Model::new(
            "anthropic",
            "claude-sonnet-5-5",
            Api::AnthropicMessages,
            "http://127.0.0.1:1",
        )
    }
}

/// The action of a command that every front end runs.
pub fn command(line: &str) -> Action {
    commands::find(line).expect("a command").0.spec.action
}

/// The effect that runs a command.
pub fn run_command(line: &str) -> Effect {
    let (command, argument) = commands::find(line).expect("a command");
    Effect::RunCommand(command, argument.to_owned())
}

pub fn prompt(text: &str) -> Effect {
    Effect::Prompt(vec![Content::text(text)])
}

/// Answers that the user has no file for a typed command. Returns the other effects.
pub fn no_file_defines(tui: &mut TestTui, effects: Vec<Effect>) -> Vec<Effect> {
    let mut others = Vec::new();
    for effect in effects {
        match effect {
            Effect::FindCustomCommand(lookup) => {
                let found = EffectResult::CustomCommand(lookup, Ok(None));
                others.extend(tui.send(Msg::Done(found)));
            }
            other => others.push(other),
        }
    }
    others
}
