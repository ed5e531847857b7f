//! The loop of the screen: one select, in the order of what matters to a person. Signals, keys,
//! the frame that is due, then the agent.
//!
//! A key is drawn at once, and so is a prompt that is free again; everything else waits for the
//! frame clock. Nothing is drawn when nothing changed, and no timer runs when nothing does.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill, raise};
use nix::unistd::{Pid, getpgrp, getpid};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use super::app::App;
use super::canvas::Canvas;
use super::effect::Effect;
use super::input::{Input, InputEvent};
use super::msg::{EffectResult, Msg, MsgKind, TerminalMsg};
use super::options::{ExitKind, TuiOptions};
use super::perform::World;
use super::setup;
use super::signals::{Caught, Signals};
use super::terminal::Terminal;
use super::text::HighlightWorker;
use super::update::update;
use super::view::transcript::TranscriptCache;
use super::view::{ViewCache, view};
use crate::agent::Event;
use crate::app::humanize::dollars;

/// Time between frames that are not for a key.
const FRAME: Duration = Duration::from_millis(16);
/// The same, while each frame replaces nearly the whole screen: nobody can read faster, and a
/// terminal has better things to do.
const HEAVY_FRAME: Duration = Duration::from_millis(36);
/// Events of the agent taken in one turn of the loop.
const EVENTS_A_TURN: usize = 256;
/// Time given to measuring unseen cells in one turn of an idle loop.
const REFINE: Duration = Duration::from_millis(2);
/// Stop and continue signals so soon after our own suspension are its echo.
const ECHO: Duration = Duration::from_millis(300);

/// Runs the screen on this thread until the person leaves, a signal asks or the terminal is gone.
/// The terminal is restored when it returns; the agent is left running for the caller to end.
pub async fn run(mut options: TuiOptions) -> ExitKind {
    let clock = Clock::start();
    let app = match setup::app(&mut options, Terminal::size(), clock.now()) {
        Ok(app) => app,
        Err(kind) => return kind,
    };
    match Screen::open(options, app, clock) {
        Ok(screen) => screen.run().await,
        Err(error) => ExitKind::Unusable(error.to_string()),
    }
}

/// Unix time that never runs backwards.
#[derive(Clone, Copy, Debug)]
struct Clock {
    start: Instant,
    unix: i64,
}

impl Clock {
    fn start() -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            start: Instant::now(),
            unix: unix.as_millis() as i64,
        }
    }

    fn now(&self) -> i64 {
        self.unix + self.start.elapsed().as_millis() as i64
    }

    fn instant(&self, at: i64) -> Instant {
        self.start + Duration::from_millis(at.saturating_sub(self.unix).max(0) as u64)
    }
}

struct Screen {
    app: App,
    cache: ViewCache,
    canvas: Canvas,
    /// Bytes of the frame being written.
    out: Vec<u8>,
    /// Whether something changed since the last frame.
    dirty: bool,
    /// When the next frame may be drawn.
    next_frame: Instant,
    /// Whether unseen cells are still to be measured.
    unmeasured: bool,
    /// Whether another program has the terminal.
    away: bool,
    /// When we last continued after a suspension of our own.
    resumed: Option<Instant>,
    exit: Option<ExitKind>,
    clock: Clock,
    world: World,
    events: Option<mpsc::Receiver<Arc<Event>>>,
    results: mpsc::UnboundedReceiver<EffectResult>,
    highlighted: Arc<Notify>,
    keys: mpsc::UnboundedReceiver<InputEvent>,
    signals: Signals,
    input: Input,
    /// Dropped last, so that nothing is left that could write over the restored screen.
    terminal: Terminal,
}

impl Screen {
    /// Takes the terminal and draws the first frame; whatever is slow comes after it.
    fn open(options: TuiOptions, app: App, clock: Clock) -> io::Result<Self> {
        let signals = Signals::new()?;
        let terminal = Terminal::enter()?;
        let (results_in, results) = mpsc::unbounded_channel();
        let mut canvas = Canvas::new(app.size);
        let mut cache = ViewCache::default();
        let mut out = Vec::with_capacity(64 * 1024);
        let drawn = view(&app, &mut cache, canvas.begin());
        canvas.finish(drawn.cursor, &mut out);
        terminal.write(&out)?;
        let (input, keys) = Input::start()?;
        terminal.ask()?;
        let mut screen = Self {
            app,
            cache,
            canvas,
            out,
            dirty: false,
            next_frame: Instant::now(),
            unmeasured: false,
            away: false,
            resumed: None,
            exit: None,
            clock,
            world: World::new(
                options.handle,
                options.models,
                options.cwd,
                options.history_file,
                results_in,
            ),
            events: Some(options.events),
            results,
            highlighted: Arc::new(Notify::new()),
            keys,
            signals,
            input,
            terminal,
        };
        screen.app.settle(drawn.areas, &drawn.transcript);
        screen.start_highlighter();
        screen.update(MsgKind::Started);
        Ok(screen)
    }

    async fn run(mut self) -> ExitKind {
        let kind = loop {
            if let Err(error) = self.turn().await {
                tracing::warn!("the terminal is gone: {error}");
                self.update(MsgKind::Terminal(TerminalMsg::End(ExitKind::TerminalGone)));
            }
            if let Some(kind) = self.exit.take() {
                break kind;
            }
        };
        self.terminal.leave();
        self.terminal.say(&summary(&self.app));
        self.world.finish().await;
        kind
    }

    /// Waits for the next thing and takes it in.
    async fn turn(&mut self) -> io::Result<()> {
        let behind = self.terminal.is_behind();
        let frame = (self.dirty && !self.away && !behind).then_some(self.next_frame);
        let wake = self.app.next_wake().map(|at| self.clock.instant(at));
        let refine = self.unmeasured && !self.dirty;
        let mut events = Vec::new();
        tokio::select! {
            biased;
            caught = self.signals.next() => self.caught(caught)?,
            event = self.keys.recv() => self.typed(event)?,
            caught_up = self.terminal.caught_up(), if behind => caught_up?,
            () = reached(frame) => self.draw()?,
            () = reached(wake) => self.update(MsgKind::Tick),
            Some(result) = self.results.recv() => self.came_back(result)?,
            count = receive(&mut self.events, &mut events) => self.heard(count, events),
            () = self.highlighted.notified() => self.dirty |= self.cache.transcript.poll(),
            () = async {}, if refine => self.refine(),
        }
        Ok(())
    }

    /// Input, and everything that came right behind it; then a frame at once.
    fn typed(&mut self, first: Option<InputEvent>) -> io::Result<()> {
        let mut next = Some(first.unwrap_or(InputEvent::Closed));
        while let Some(event) = next {
            let kind = match event {
                InputEvent::Key(press) => MsgKind::Key(press),
                InputEvent::Paste(text) => MsgKind::Paste(text),
                InputEvent::Mouse(event) => MsgKind::Mouse(event),
                InputEvent::Focus(focus) => MsgKind::Terminal(TerminalMsg::Focus(focus)),
                InputEvent::Report(report) => MsgKind::Terminal(TerminalMsg::Report(report)),
                InputEvent::Closed => MsgKind::Terminal(TerminalMsg::End(ExitKind::TerminalGone)),
            };
            self.update(kind);
            if self.exit.is_some() || self.away {
                return Ok(());
            }
            next = self.keys.try_recv().ok();
        }
        self.draw()
    }

    fn heard(&mut self, count: usize, events: Vec<Arc<Event>>) {
        if count == 0 {
            self.events = None;
            self.update(MsgKind::AgentGone);
        }
        let ran = self.app.is_running();
        for event in events {
            self.update(MsgKind::Agent(event));
        }
        if ran && !self.app.is_running() {
            self.next_frame = Instant::now();
        }
    }

    fn came_back(&mut self, result: EffectResult) -> io::Result<()> {
        if matches!(result, EffectResult::Edited(_)) && std::mem::take(&mut self.away) {
            self.terminal.resume()?;
            self.input.resume();
            self.repaint();
        }
        self.update(MsgKind::Done(result));
        Ok(())
    }

    fn caught(&mut self, caught: Caught) -> io::Result<()> {
        let echo = self.resumed.is_some_and(|at| at.elapsed() < ECHO);
        match caught {
            Caught::End(number) => {
                self.update(MsgKind::Terminal(TerminalMsg::End(ExitKind::Signal(
                    number,
                ))));
            }
            // Another program has the terminal: its signals are not for us, except to stop with it.
            Caught::Interrupt | Caught::Continue if self.away => {}
            Caught::Stop if self.away => drop(raise(Signal::SIGSTOP)),
            Caught::Interrupt => self.update(MsgKind::Terminal(TerminalMsg::Interrupt)),
            Caught::Stop | Caught::Continue if echo => {}
            Caught::Stop => self.update(MsgKind::Terminal(TerminalMsg::Stop)),
            Caught::Continue => {
                self.terminal.reenter()?;
                self.repaint();
            }
            Caught::Resize => self.resize(),
        }
        Ok(())
    }

    /// Changes the state and has done what that calls for.
    fn update(&mut self, kind: MsgKind) {
        let at = self.clock.now();
        let theme = self.app.theme.name.clone();
        let effects = update(&mut self.app, Msg { at, kind });
        self.dirty = true;
        if theme != self.app.theme.name {
            self.cache.transcript.clear();
            self.start_highlighter();
        }
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        let done = match effect {
            Effect::Exit(kind) => {
                self.exit = Some(kind);
                Ok(())
            }
            Effect::Suspend => self.suspend(),
            Effect::EnableKitty => self.terminal.enable_kitty(),
            Effect::ConfirmKitty => {
                self.input.confirm_kitty(true);
                Ok(())
            }
            Effect::Answered => {
                self.terminal.answered();
                Ok(())
            }
            Effect::Edit(text) => {
                self.input.pause();
                self.terminal.leave();
                self.away = true;
                self.world.perform(Effect::Edit(text));
                Ok(())
            }
            other => {
                self.world.perform(other);
                Ok(())
            }
        };
        if done.is_err() {
            self.exit = Some(ExitKind::TerminalGone);
        }
    }

    /// Draws what is, unless the terminal still reads an earlier frame: then the next one shows it.
    fn draw(&mut self) -> io::Result<()> {
        if self.terminal.is_behind() {
            return Ok(());
        }
        let drawn = view(&self.app, &mut self.cache, self.canvas.begin());
        self.out.clear();
        let cost = self.canvas.finish(drawn.cursor, &mut self.out);
        self.app.settle(drawn.areas, &drawn.transcript);
        self.dirty = false;
        self.unmeasured = true;
        self.next_frame = Instant::now() + if cost.heavy { HEAVY_FRAME } else { FRAME };
        if self.out.is_empty() {
            return Ok(());
        }
        self.terminal.write(&self.out)
    }

    fn refine(&mut self) {
        let App {
            transcript, theme, ..
        } = &self.app;
        self.unmeasured = self.cache.transcript.refine(transcript, theme, REFINE);
    }

    fn resize(&mut self) {
        let size = Terminal::size();
        if size != self.canvas.size() {
            self.canvas.resize(size);
            self.update(MsgKind::Terminal(TerminalMsg::Resize(size)));
        }
    }

    /// Writes everything anew, at the size of now.
    fn repaint(&mut self) {
        self.resize();
        self.canvas.forget();
        self.dirty = true;
    }

    /// Gives the terminal back and stops, with the whole job (`cargo run` has a parent in it).
    fn suspend(&mut self) -> io::Result<()> {
        self.input.pause();
        self.terminal.leave();
        if getpgrp() != getpid() {
            let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        }
        let _ = raise(Signal::SIGSTOP);
        // Continued.
        self.resumed = Some(Instant::now());
        self.terminal.resume()?;
        self.input.resume();
        self.repaint();
        Ok(())
    }

    fn start_highlighter(&mut self) {
        let notify = Arc::clone(&self.highlighted);
        let worker = HighlightWorker::start(&self.app.theme, move || notify.notify_one());
        self.cache.transcript = TranscriptCache::new(Some(worker));
    }
}

/// Waits until then; forever when there is no then. What is due now is due at once: the timer would
/// round it up to its next millisecond.
async fn reached(at: Option<Instant>) {
    match at {
        Some(at) if at <= Instant::now() => {}
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// The agent's next events, as many as there are; none ever when it is gone.
async fn receive(
    events: &mut Option<mpsc::Receiver<Arc<Event>>>,
    into: &mut Vec<Arc<Event>>,
) -> usize {
    match events {
        Some(events) => events.recv_many(into, EVENTS_A_TURN).await,
        None => pending().await,
    }
}

/// What stays on the main screen.
fn summary(app: &App) -> String {
    let mut lines = Vec::new();
    if let Some(session) = &app.status.session
        && session.file.exists()
    {
        lines.push(format!("session  {}", session.file.display()));
    }
    let total = &app.status.total;
    if total.output > 0 {
        let tokens = format!(
            "{} in, {} out",
            total.input + total.cache_read,
            total.output
        );
        lines.push(format!("tokens   {tokens}"));
    }
    if total.cost.total > 0.0 {
        lines.push(format!("cost     {}", dollars(total.cost.total)));
    }
    lines.join("\n")
}
