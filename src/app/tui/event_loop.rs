//! The screen's event loop: a single select, in order of importance to the user: signals, keys, due
//! frames, then the agent.
//!
//! Keys and the end of a run are drawn at once; everything else waits for the next frame. Nothing
//! is drawn without a change, and no timer runs while idle.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, raise};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::app::App;
use super::clock::{CALM_FRAME, Clock, FRAME, HEAVY_FRAME, MOST_INPUT, REFINE, reached};
use super::effects::effect::{Effect, TerminalEffect};
use super::effects::effect_runner::EffectRunner;
use super::effects::user_effects::UserEffects;
use super::exit_summary::summary;
use super::msg::{EffectResult, Msg};
use super::options::{ExitKind, TuiOptions};
use super::setup;
use super::subscription::{Received, receive};
use super::terminal::Terminal;
use super::terminal::attached::refused;
use super::terminal::display::Display;
use super::terminal::input::{Input, InputEvent};
use super::terminal::job_control;
use super::terminal::signals::{self, SignalEvent, Source};
use super::terminal::tty::Tty;
use super::terminal::window::Window;
use super::text::HighlightWorker;
use super::update::update;
use super::view::{ScreenDrawn, ViewCache};
use crate::agent::{AgentHandle, Event, NoticeLevel};
use crate::app::manners::Motion;
use crate::app::out;

/// Stop and continue signals this soon after our own suspension belong to it.
const OWN_SIGNALS: Duration = Duration::from_millis(300);
/// Shown when the terminal didn't take everything that was printed.
const NOT_PRINTED: &str = "The terminal was too slow: part of the conversation above is missing";

/// Runs the screen on this thread until the user quits, a signal arrives or the terminal is gone.
/// Restores the terminal before it returns; the caller ends the agent.
pub async fn run(mut options: TuiOptions) -> ExitKind {
    let mut clock = Clock::start();
    let app = setup::app(&mut options, clock.now());
    let tui = app.and_then(|app| Tui::open(options, app, clock).map_err(|error| error.to_string()));
    match tui {
        Ok(tui) => Box::pin(tui.run()).await,
        Err(reason) => ExitKind::Unusable(reason),
    }
}

struct Tui {
    app: App,
    cache: ViewCache,
    display: Display,
    out: Vec<u8>,
    dirty: bool,
    next_frame: Instant,
    unmeasured: bool,
    catches_all_signals: bool,
    away: bool,
    /// When the program last continued after its own suspension.
    resumed: Option<Instant>,
    exit: Option<ExitKind>,
    clock: Clock,
    handle: AgentHandle,
    effects: EffectRunner,
    events: Option<mpsc::Receiver<Arc<Event>>>,
    results: mpsc::UnboundedReceiver<EffectResult>,
    /// Notified when awaited colors or pictures are ready.
    ready: Arc<Notify>,
    keys: mpsc::UnboundedReceiver<InputEvent>,
    signals: Source,
    input: Input,
    /// Time between frames not caused by a key.
    frame: Duration,
    window: Window,
    tty: Arc<Tty>,
    /// Dropped last, so that nothing writes over the restored screen.
    terminal: Terminal,
}

impl Tui {
    /// Sets up the terminal and draws the first frame; everything slow comes later.
    fn open(options: TuiOptions, app: App, clock: Clock) -> io::Result<Self> {
        let (signals, snapshot) = match options.joining {
            Some(joining) => (Source::Client(joining.signals), Some(joining.snapshot)),
            None => (Source::Own(signals::catch()?), None),
        };
        let (manners, tty) = (options.manners, options.tty);
        let env = |name: &str| tty.var(name);
        let terminal = Terminal::enter(Arc::clone(&tty), manners)?;
        let (results_in, results) = mpsc::unbounded_channel();
        let mut display = Display::new(&app, env);
        let ready = Arc::new(Notify::new());
        let wake = Arc::clone(&ready);
        let mut cache = Display::cache(
            &app,
            manners.links,
            Arc::new(move || wake.notify_one()),
            env,
        );
        let mut out = Vec::with_capacity(64 * 1024);
        let drawn = display.draw(&app, &mut cache, &terminal, &mut out);
        terminal.write(&out)?;
        let (input, keys) = Input::start_on(tty.input().try_clone_to_owned()?)?;
        input.expect_replies();
        terminal.query()?;
        let mut tui = Self {
            app,
            cache,
            display,
            out,
            dirty: false,
            next_frame: Instant::now(),
            unmeasured: true,
            catches_all_signals: false,
            away: false,
            resumed: None,
            exit: None,
            clock,
            handle: options.host.handle.clone(),
            effects: EffectRunner::new(
                options.host.clone(),
                options.project,
                UserEffects::new(options.host.dirs, options.overrides),
                results_in,
                Arc::clone(&tty),
            ),
            events: Some(options.events),
            results,
            ready,
            keys,
            signals,
            input,
            frame: match manners.motion {
                Motion::Full => FRAME,
                Motion::Reduced => CALM_FRAME,
            },
            window: Window::new(manners, terminal.cursor_shaped(), env),
            terminal,
            tty,
        };
        tui.settle(drawn.screen);
        tui.start_highlighter();
        tui.update(Msg::Started);
        if let Some(snapshot) = snapshot {
            tui.update(Msg::Joined(snapshot));
        }
        Ok(tui)
    }

    async fn run(mut self) -> ExitKind {
        let kind = loop {
            if let Err(error) = self.turn().await {
                tracing::warn!("the terminal is gone: {error}");
                self.update(Msg::End(ExitKind::TerminalGone));
            }
            if let Some(kind) = self.exit.take() {
                break kind;
            }
        };
        let is_ours = !self.is_client() || self.terminal.is_ours();
        if is_ours && self.stand_aside(true).is_ok_and(|is_printed| !is_printed) {
            self.terminal.print(NOT_PRINTED);
        }
        if is_ours {
            self.terminal.print(&summary(&self.app));
        }
        self.effects.finish();
        kind
    }

    async fn turn(&mut self) -> io::Result<()> {
        let behind = self.terminal.is_behind();
        let frame = (self.dirty && !self.away && !behind).then_some(self.next_frame);
        let wake = self.app.next_wake();
        let wake = wake.map(|at| Instant::now() + self.clock.until(at));
        // If no frame can be drawn, a frame that stays due would starve everything else.
        let print = self.display.next_wake().filter(|_| !self.dirty);
        let wake = wake.into_iter().chain(print).min();
        let refine = self.unmeasured && !self.dirty;
        let mut events = Vec::new();
        tokio::select! {
            biased;
            signal = self.signals.next() => self.on_signal(signal)?,
            // Input read before an editor took the terminal is handled after it.
            event = self.keys.recv(), if !self.away => self.on_input(event)?,
            caught_up = self.terminal.caught_up(), if behind => caught_up?,
            () = reached(frame) => self.draw()?,
            () = reached(wake) => self.update(Msg::Tick),
            Some(result) = self.results.recv() => self.on_effect_result(result)?,
            received = receive(&self.handle, &mut self.events, &mut events) => self.on_agent_events(received, events),
            () = self.ready.notified() => self.dirty |= self.cache.transcript.poll(),
            () = async {}, if refine => self.refine(),
        }
        Ok(())
    }

    /// Handles all input read together, then draws. Endless input must not delay a signal.
    fn on_input(&mut self, first: Option<InputEvent>) -> io::Result<()> {
        let began = Instant::now();
        let mut next = Some(first.unwrap_or(InputEvent::Closed));
        while let Some(event) = next {
            self.update(Msg::Input(event));
            if self.exit.is_some() || self.away {
                return Ok(());
            }
            let more = began.elapsed() < MOST_INPUT;
            next = more.then(|| self.keys.try_recv().ok()).flatten();
        }
        self.draw()
    }

    fn on_agent_events(&mut self, received: Received, events: Vec<Arc<Event>>) {
        let ran = self.app.is_running();
        match received {
            Received::Events => {
                for event in events {
                    self.update(Msg::Agent(event));
                }
            }
            Received::Resubscribed(snapshot, events) => {
                self.events = Some(events);
                self.update(Msg::Resubscribed(snapshot));
            }
            Received::Gone => {
                self.events = None;
                self.update(Msg::AgentGone);
                if self.is_client() {
                    self.update(Msg::End(ExitKind::SessionEnded));
                }
            }
        }
        if ran && !self.app.is_running() {
            self.next_frame = Instant::now();
        }
    }

    fn on_effect_result(&mut self, result: EffectResult) -> io::Result<()> {
        let edited = matches!(
            result,
            EffectResult::Edited(..) | EffectResult::FileClosed(_)
        );
        // Save the text first: the terminal may be gone.
        self.update(Msg::Done(result));
        if edited && std::mem::take(&mut self.away) {
            self.take_terminal_back()?;
        }
        Ok(())
    }

    fn on_signal(&mut self, signal: SignalEvent) -> io::Result<()> {
        let own = self.resumed.is_some_and(|at| at.elapsed() < OWN_SIGNALS);
        match signal {
            SignalEvent::TakenBack => {
                self.terminal.abandon();
                self.update(Msg::End(ExitKind::TerminalGone));
            }
            SignalEvent::End(number) => {
                self.update(Msg::End(ExitKind::Signal(number)));
            }
            // Another program has the terminal and gets the keys; tiller only suspends with it.
            SignalEvent::Interrupt | SignalEvent::Continue if self.away => {}
            SignalEvent::Stop if self.away => {
                if job_control::is_possible() {
                    let _ = raise(Signal::SIGSTOP);
                }
            }
            SignalEvent::Interrupt => self.update(Msg::Interrupt),
            SignalEvent::Stop | SignalEvent::Continue if own => {}
            SignalEvent::Stop => self.suspend()?,
            SignalEvent::Continue => {
                self.display.lost(&mut self.cache);
                self.terminal.set_rows_below(0);
                self.input.pause();
                self.leave(false);
                self.take_terminal_back()?;
            }
            // Even at the same size, the terminal may have changed its rows meanwhile.
            SignalEvent::Resize => {
                self.display.size_changed();
                self.repaint();
            }
        }
        Ok(())
    }

    fn update(&mut self, msg: Msg) {
        let effects = update(&mut self.app, self.clock.now(), msg);
        self.dirty = true;
        for effect in effects {
            match effect {
                Effect::Terminal(effect) => {
                    if self.perform(effect).is_err() {
                        self.exit = Some(ExitKind::TerminalGone);
                    }
                }
                effect => self.effects.run(effect),
            }
        }
    }

    fn perform(&mut self, effect: TerminalEffect) -> io::Result<()> {
        if let Some(refused) = refused(&self.tty, &effect) {
            self.update(Msg::Done(refused));
            return Ok(());
        }
        match effect {
            TerminalEffect::Exit(kind) => self.exit = Some(kind),
            TerminalEffect::Suspend => return self.suspend(),
            TerminalEffect::EnableKitty => return self.terminal.enable_kitty(),
            TerminalEffect::ConfirmKitty => {
                self.terminal.kitty_confirmed();
                self.input.confirm_kitty();
            }
            TerminalEffect::Notify(notify, text) => {
                return self.terminal.write(&notify.bytes(text));
            }
            TerminalEffect::Mouse(on) => return self.terminal.set_mouse(on),
            TerminalEffect::QueryColors => {
                self.input.expect_replies();
                return self.terminal.query_colors();
            }
            TerminalEffect::AskClipboard(bytes) => return self.terminal.write(&bytes),
            TerminalEffect::Answered => {
                self.terminal.answered();
                self.input.answered();
                self.display.answered();
            }
            TerminalEffect::LayOutAnew => self.start_highlighter(),
            TerminalEffect::OpenFile(file, line) => {
                self.stand_aside(false)?;
                self.away = true;
                self.effects.open_file(file, line);
            }
            TerminalEffect::Edit(text) => {
                self.stand_aside(false)?;
                self.away = true;
                self.effects.edit(text);
            }
        }
        Ok(())
    }

    /// Draws a frame, unless the terminal still reads an earlier one.
    fn draw(&mut self) -> io::Result<()> {
        if self.terminal.is_behind() {
            return Ok(());
        }
        if self.display.checks_size() {
            self.resize();
        }
        if let Some(until) = self.display.waits() {
            self.next_frame = until;
            self.dirty = true;
            return Ok(());
        }
        self.out.clear();
        let (display, cache) = (&mut self.display, &mut self.cache);
        let drawn = display.draw(&self.app, cache, &self.terminal, &mut self.out);
        self.settle(drawn.screen);
        self.dirty = drawn.has_more;
        self.unmeasured = true;
        self.next_frame = Instant::now()
            + if drawn.cost.heavy {
                HEAVY_FRAME.max(self.frame)
            } else {
                self.frame
            };
        self.out.extend(self.window.update(&self.app).into_bytes());
        if self.out.is_empty() {
            return Ok(());
        }
        self.terminal.write(&self.out)
    }

    /// Tells the state where the parts of the frame are, and when it was drawn. Anything that
    /// became due since wasn't shown yet.
    fn settle(&mut self, drawn: ScreenDrawn) {
        let now = self.app.now;
        for effect in update(&mut self.app, now, Msg::Drawn(Box::new(drawn))) {
            self.effects.run(effect);
        }
    }

    /// Work for an idle moment.
    fn refine(&mut self) {
        if !std::mem::replace(&mut self.catches_all_signals, true)
            && let Err(error) = signals::catch_rest(&mut self.signals)
        {
            tracing::warn!("can't catch the real-time signals: {error}");
        }
        let App {
            transcript, theme, ..
        } = &self.app;
        let before = self.cache.transcript.rows();
        self.unmeasured = self.cache.transcript.refine(transcript, theme, REFINE);
        // The number of rows below is on the screen.
        self.dirty |= !transcript.is_following() && self.cache.transcript.rows() != before;
    }

    fn resize(&mut self) {
        let size = self.tty.size();
        if let Some(cell) = self
            .tty
            .cell()
            .filter(|cell| self.app.graphics.cell != Some(*cell))
        {
            self.update(Msg::CellSize(cell));
        }
        if size != self.display.size() {
            self.display.resize(size);
            self.update(Msg::Resize(size));
        }
    }

    /// Writes the next frame in full, at the current size.
    fn repaint(&mut self) {
        self.resize();
        self.display.forget();
        self.dirty = true;
    }

    /// Restores the terminal and suspends the program, if a shell can continue it.
    fn suspend(&mut self) -> io::Result<()> {
        if self.is_client() || !job_control::is_possible() {
            self.update(Msg::CannotSuspend);
            return Ok(());
        }
        self.stand_aside(false)?;
        out::eprint_line("tiller is suspended; fg brings it back");
        job_control::stop();
        self.resumed = Some(Instant::now());
        self.terminal.adopt_settings();
        self.take_terminal_back()
    }

    /// Leaves the terminal to another program, or for good. Returns whether the terminal took
    /// everything that was printed.
    fn stand_aside(&mut self, is_end: bool) -> io::Result<bool> {
        // Late replies are discarded: a read that noticed them would wait forever.
        self.input.pause();
        self.out.clear();
        let (display, cache) = (&mut self.display, &mut self.cache);
        display.stand_aside(&mut self.app, cache, &self.terminal, is_end, &mut self.out);
        let written = self.terminal.write(&self.out);
        written.map(|()| self.leave(is_end))
    }

    fn leave(&mut self, is_end: bool) -> bool {
        let is_printed = self.terminal.leave(is_end);
        if !is_printed {
            let text = format!("{NOT_PRINTED}\n/export writes the whole conversation to a file");
            self.app.transcript.push_notice(NoticeLevel::Warning, text);
        }
        is_printed
    }

    /// Sets up the terminal after another program had it.
    fn take_terminal_back(&mut self) -> io::Result<()> {
        self.terminal.resume()?;
        if self.terminal.query_again()? {
            self.input.expect_replies();
        }
        self.input.resume();
        self.window.forget();
        self.repaint();
        Ok(())
    }

    /// Whether the screen is in the terminal of a client that attached.
    fn is_client(&self) -> bool {
        self.tty.client().is_some()
    }

    fn start_highlighter(&mut self) {
        let notify = Arc::clone(&self.ready);
        let worker = HighlightWorker::start(&self.app.theme, move || notify.notify_one());
        self.cache.transcript = self.cache.transcript.with_highlighter(worker);
    }
}

impl Drop for Tui {
    /// Saves unsent text when the screen panics.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (app, effects) = (&self.app, &mut self.effects);
            let save = AssertUnwindSafe(|| effects.save_draft_now(app.draft()));
            let _ = catch_unwind(save);
        }
    }
}
