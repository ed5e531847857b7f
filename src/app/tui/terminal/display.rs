//! Draws frames: on the alternate screen, or inline, into the last rows of the normal screen with
//! settled rows printed above. Inline mode also uses the full screen for lists, questions and
//! reading.

use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};
use tokio::time::Instant;

use super::inline_buffer::{InlineBuffer, Reflow};
use super::screen_buffer::{FrameCost, ScreenBuffer};
use super::screen_mode::ScreenMode;
use crate::agent::RunState;
use crate::app::manners::Links;
use crate::app::tui::app::App;
use crate::app::tui::picture::{PictureCache, Wake};
use crate::app::tui::terminal::Terminal;
use crate::app::tui::text::link::LinkTable;
use crate::app::tui::transcript::{Printing, Transcript};
use crate::app::tui::view::transcript::{Printed, Ready, print, unprinted};
use crate::app::tui::view::{LivePlan, ScreenDrawn, ViewCache, divider, view};

/// How long code waits for its colors before it's printed plain.
const COLORS: Duration = Duration::from_millis(400);
/// How long the first rows wait for the terminal to report its background.
const ANSWERS: Duration = Duration::from_millis(150);

/// After a resize, inline mode draws nothing for this long. A frame for an outdated size would be
/// wrapped, and its rows lost track of. tmux reports quick resizes up to 250 ms late.
const SIZE: Duration = Duration::from_millis(60);
const SIZE_IN_TMUX: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub struct Display {
    full: ScreenBuffer,
    inline: Option<Inline>,
    in_tmux: bool,
}

#[derive(Debug)]
struct Inline {
    region: InlineBuffer,
    /// The last printed conversation, and how far it is printed.
    printed: Option<(u32, Printed)>,
    is_alternate: bool,
    /// Nothing is printed before this.
    held: Option<Instant>,
    /// How long to wait for the colors of code, while some are missing.
    colors: Option<Instant>,
    /// Nothing is drawn before this, because of a resize.
    sized: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Drawn {
    pub screen: ScreenDrawn,
    pub cost: FrameCost,
    /// Whether another frame should follow soon, even without changes.
    pub has_more: bool,
}

impl Display {
    /// Creates a display for a terminal with this environment.
    pub fn new(app: &App, env: impl Fn(&str) -> Option<String>) -> Self {
        let inline = (app.screen != ScreenMode::Full).then(|| Inline {
            region: InlineBuffer::new(reflow(&env)),
            printed: None,
            is_alternate: false,
            held: Some(Instant::now() + ANSWERS),
            colors: None,
            sized: None,
        });
        Self {
            full: ScreenBuffer::new(app.size),
            inline,
            in_tmux: env("TMUX").is_some(),
        }
    }

    /// The start state for this terminal.
    pub fn cache(
        app: &App,
        links: Links,
        wake: Wake,
        env: impl Fn(&str) -> Option<String>,
    ) -> ViewCache {
        let mut cache = ViewCache {
            links: LinkTable::new(links, &app.status.cwd, &env),
            ..ViewCache::default()
        };
        let prints = app.screen != ScreenMode::Full;
        cache.transcript.pictures = PictureCache::new(wake, prints, env);
        cache
    }

    pub fn size(&self) -> Size {
        self.full.size()
    }

    pub fn resize(&mut self, size: Size) {
        self.full.resize(size);
        self.size_changed();
    }

    /// Notes a resize, even one back to the same size.
    pub fn size_changed(&mut self) {
        self.forget();
        let wait = if self.in_tmux { SIZE_IN_TMUX } else { SIZE };
        if let Some(inline) = &mut self.inline {
            inline.sized = Some(Instant::now() + wait);
        }
    }

    /// When the next frame may be drawn, if not now.
    pub fn waits(&mut self) -> Option<Instant> {
        let inline = self.inline.as_mut()?;
        inline.sized = inline.sized.filter(|until| *until > Instant::now());
        inline.sized
    }

    /// Writes the next frame in full, because the terminal's content may have changed.
    pub fn forget(&mut self) {
        self.full.forget();
        if let Some(inline) = &mut self.inline {
            inline.region.forget();
        }
    }

    /// The terminal has sent all its reports: stop waiting.
    pub fn answered(&mut self) {
        if let Some(inline) = &mut self.inline {
            inline.held = None;
        }
    }

    /// Whether the size may have changed without a report: rows of another width would wrap.
    pub fn checks_size(&self) -> bool {
        self.inline.is_some()
    }

    /// When to draw an unchanged frame; never for printing while the full screen is in use.
    pub fn next_wake(&self) -> Option<Instant> {
        let inline = self.inline.as_ref().filter(|it| !it.is_alternate)?;
        [inline.held, inline.colors].into_iter().flatten().min()
    }

    pub fn draw(
        &mut self,
        app: &App,
        cache: &mut ViewCache,
        terminal: &Terminal,
        out: &mut Vec<u8>,
    ) -> Drawn {
        let Some(inline) = &mut self.inline else {
            return self.draw_full(app, cache, out);
        };
        let fills = app.is_reading() || !app.overlays.is_empty();
        if fills != inline.is_alternate {
            inline.is_alternate = fills;
            out.extend(terminal.switch(fills));
            self.full.forget();
            cache.transcript.pictures.forget_sent();
        }
        if fills {
            return self.draw_full(app, cache, out);
        }
        let drawn = inline.draw(app, cache, out);
        terminal.set_rows_below(inline.region.rows_below());
        drawn
    }

    fn draw_full(&mut self, app: &App, cache: &mut ViewCache, out: &mut Vec<u8>) -> Drawn {
        let screen = view(app, cache, self.full.begin());
        out.extend(cache.transcript.pictures.take_outgoing());
        let cost = self.full.finish(screen.cursor, &cache.links, out);
        Drawn {
            screen,
            cost,
            has_more: false,
        }
    }

    /// Appends bytes that clear the screen for another program: everything not printed goes. At the
    /// end of the program, prints everything first.
    pub fn stand_aside(
        &mut self,
        app: &mut App,
        cache: &mut ViewCache,
        terminal: &Terminal,
        is_end: bool,
        out: &mut Vec<u8>,
    ) {
        cache.transcript.pictures.withdraw(out);
        let Some(inline) = &mut self.inline else {
            return;
        };
        if std::mem::take(&mut inline.is_alternate) {
            out.extend(terminal.switch(false));
            self.full.forget();
        }
        if is_end {
            cache.transcript.pictures.be_patient();
        }
        let mut has_more = is_end;
        while has_more {
            let drawn = inline.print(app, cache, Ready::All, out);
            app.transcript.after_draw(&drawn.screen.transcript);
            has_more = app.transcript.read_unprinted() || drawn.has_more;
        }
        inline.region.leave(app.size.width, out);
        terminal.set_rows_below(0);
    }

    /// Another program used the terminal, so the cursor position is unknown.
    pub fn lost(&mut self, cache: &mut ViewCache) {
        cache.transcript.pictures.forget_sent();
        if let Some(inline) = &mut self.inline {
            inline.region.leave(0, &mut Vec::new());
            inline.is_alternate = false;
        }
    }
}

impl Inline {
    fn draw(&mut self, app: &App, cache: &mut ViewCache, out: &mut Vec<u8>) -> Drawn {
        let now = Instant::now();
        let passed = |until: Option<Instant>| until.is_none_or(|until| until <= now);
        if passed(self.held) {
            self.held = None;
        }
        let ready = if self.held.is_some() {
            Ready::Nothing
        } else {
            Ready::Settled {
                is_running: app.run != RunState::Idle,
                waits_for_colors: self.colors.is_none() || !passed(self.colors),
            }
        };
        self.print(app, cache, ready, out)
    }

    /// Prints settled rows and draws the rest below.
    fn print(
        &mut self,
        app: &App,
        cache: &mut ViewCache,
        ready: Ready,
        out: &mut Vec<u8>,
    ) -> Drawn {
        let (theme, width) = (&app.theme, app.size.width);
        // First print what the previous conversation still has, from the time on the full screen.
        let was_printed =
            |it: &&Transcript| self.printed.is_some_and(|(of, _)| of == it.generation());
        let replaced = app.transcript.replaced().filter(was_printed);
        let (transcript, ready) = match replaced {
            // Unsettled cells come with the next conversation.
            Some(replaced) if app.transcript.continues_at().is_some() => {
                let settled = Ready::Settled {
                    is_running: false,
                    waits_for_colors: false,
                };
                (replaced, settled)
            }
            Some(replaced) => (replaced, Ready::All),
            None => (&app.transcript, ready),
        };
        let generation = transcript.generation();
        let (printed, is_other) = match (self.printed, transcript.continues_at()) {
            (Some((of, printed)), _) if of == generation => (printed, false),
            (Some((of, _)), Some(cell)) if of.wrapping_add(1) == generation => {
                (Printed::up_to(cell), false)
            }
            (printed, _) => (Printed::before(transcript), printed.is_some()),
        };
        let rows = &mut cache.transcript;
        let mut found = unprinted(transcript, rows, theme, width, printed, ready);
        let mut above = if is_other {
            divider(app, width)
        } else {
            Buffer::empty(Rect::new(0, 0, width, 0))
        };
        let settled = print(&found.rows, transcript, rows, &mut cache.links, width);
        above.content.extend(settled.content);
        above.area.height += settled.area.height;
        let mut printing = Printing {
            generation,
            page: found.next.page(),
            unread: found.unread,
        };
        if replaced.is_some() && found.unread.is_none() && !found.has_more {
            // The next frame continues with the current conversation.
            printing.generation = app.transcript.generation();
            found.has_more = true;
        }
        if !found.lacks_colors {
            self.colors = None;
        } else if self.colors.is_none() {
            self.colors = Some(Instant::now() + COLORS);
        }
        let least = self.region.height().saturating_sub(above.area.height);
        let plan = LivePlan::new(app, found.live, least);
        let buffer = self.region.begin(plan.size());
        let mut screen = plan.draw(app, cache, buffer);
        screen.transcript.printing = Some(printing);
        let (cursor, height) = (screen.cursor, app.size.height);
        out.extend(cache.transcript.pictures.take_outgoing());
        let cost = self
            .region
            .finish(&mut above, cursor, height, &cache.links, out);
        self.printed = Some((generation, found.next));
        Drawn {
            screen,
            cost,
            has_more: found.has_more,
        }
    }
}

/// How a terminal with these variables treats rows that become too long. Most wrap them.
fn reflow(var: impl Fn(&str) -> Option<String>) -> Reflow {
    let term = var("TERM").unwrap_or_default();
    let in_tmux = var("TMUX").is_some();
    let cuts = var("XTERM_VERSION").is_some()
        || var("STY").is_some()
        || term == "linux"
        || term.starts_with("screen")
        || term.starts_with("vt");
    if cuts && !in_tmux {
        Reflow::Cuts
    } else {
        Reflow::Wraps
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::agent::permission::PermissionMode;
    use crate::agent::session::{Body, Session};
    use crate::agent::{AgentEvent, Budget, SessionInfo, Snapshot};
    use crate::app::tui::app::Status;
    use crate::app::tui::keymap::Keymap;
    use crate::app::tui::msg::Msg;
    use crate::app::tui::theme::{ColorDepth, Theme};
    use crate::app::tui::update::update;
    use crate::llm::{Api, AssistantMessage, Content, Message, Model, ThinkingLevel, Usage};

    fn inline() -> Inline {
        Inline {
            region: InlineBuffer::new(Reflow::Wraps),
            printed: None,
            is_alternate: false,
            held: None,
            colors: None,
            sized: None,
        }
    }

    /// Draws until nothing is due; returns the bytes written.
    fn drawn(inline: &mut Inline, app: &mut App, cache: &mut ViewCache) -> String {
        let mut out = Vec::new();
        loop {
            let drawn = inline.draw(app, cache, &mut out);
            update(app, 0, Msg::Drawn(Box::new(drawn.screen)));
            if !drawn.has_more {
                return String::from_utf8(out).unwrap();
            }
        }
    }

    /// After missed events, printed rows aren't printed again.
    #[test]
    fn a_reloaded_conversation_continues_where_it_was() {
        let model = Model::new("p", "m", Api::AnthropicMessages, "");
        let status = Status::new(Path::new("/w"), model, ThinkingLevel::Off);
        let theme = Theme::load("dark", ColorDepth::None).unwrap();
        let mut app = App::new(Size::new(80, 24), 0, Keymap::default(), theme, status);
        app.screen = ScreenMode::Inline;
        let mut cache = ViewCache::default();
        let mut inline = inline();
        let mut session = Session::unstored(Path::new("/w"));
        let mut said = |text: &str| {
            let content = vec![Content::text(text)];
            let message = Arc::new(Message::Assistant(AssistantMessage {
                content,
                ..AssistantMessage::default()
            }));
            let stored = Arc::clone(&message);
            session.append(Body::Message { message: stored });
            (message, Arc::new(session.branch()))
        };
        for text in ["alpha", "beta"] {
            let (message, _) = said(text);
            app.transcript.apply(&AgentEvent::MessageEnd { message }, 0);
            assert!(drawn(&mut inline, &mut app, &mut cache).contains(text));
        }
        let (_, branch) = said("gamma");
        let snapshot = Snapshot {
            facts: Arc::default(),
            branch,
            state: RunState::Idle,
            questions: Vec::new(),
            steering: Vec::new(),
            follow_up: Vec::new(),
            model: Arc::clone(&app.status.model),
            thinking: ThinkingLevel::Off,
            permission: PermissionMode::Auto,
            budget: Budget::default(),
            usage: Usage::default(),
            rules: Arc::default(),
            session: SessionInfo {
                id: String::new(),
                path: None,
                name: None,
                first_prompt: None,
                read_only: false,
            },
        };
        update(&mut app, 0, Msg::Resubscribed(Arc::new(snapshot)));
        let out = drawn(&mut inline, &mut app, &mut cache);
        for (text, times) in [("alpha", 0), ("beta", 0), ("═", 0), ("gamma", 1)] {
            assert_eq!(out.matches(text).count(), times, "{text}: {out:?}");
        }
        assert!(out.contains("reloaded"), "{out:?}");
    }

    /// A frame that is due but never drawn would be due again at once, forever.
    #[test]
    fn nothing_is_due_on_the_full_screen() {
        let now = Instant::now();
        for (is_alternate, expected) in [(false, Some(now)), (true, None)] {
            let inline = Inline {
                is_alternate,
                colors: Some(now),
                ..inline()
            };
            let display = Display {
                in_tmux: false,
                full: ScreenBuffer::new(Size::new(80, 24)),
                inline: Some(inline),
            };
            assert_eq!(display.next_wake(), expected);
        }
    }
}
