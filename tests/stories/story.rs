//! One story: a project, a model, a screen, and a user who does random things.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::laws;
use super::model;
use super::random::Random;
use crate::support::model_server::{ModelServer, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen, View};

/// A key has had its effect after the screen was still for this long.
const STILL: Duration = Duration::from_millis(25);
/// The effect of a key shows within this time.
const EFFECT: Duration = Duration::from_millis(400);
/// Characters that words begin with: everything a keyboard types that has no special meaning at the
/// beginning of a prompt.
const FIRST: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:-+*=~%&_()[]{}'\"^|<>$#`\\?@";

/// Keys that change no text, stop nothing and send nothing.
const HARMLESS: &[&str] = &[
    "<up>", "<down>", "<left>", "<right>", "<home>", "<end>", "<c-a>", "<c-e>", "<a-b>", "<a-f>",
    "<pgup>", "<pgdn>", "<c-home>", "<c-end>", "<c-up>", "<c-down>", "<c-j>", "<c-o>", "<c-t>",
    "<a-o>", "<a-t>", "<c-x>",
];
/// Keys that cut text from the editor, each with the key that restores it.
const CUT_AND_BACK: &[(&str, &str)] = &[
    ("<c-u>", "<c-y>"),
    ("<c-k>", "<c-y>"),
    ("<c-w>", "<c-y>"),
    ("<a-d>", "<c-y>"),
    ("<c-_>", "<a-_>"),
];
/// Commands that open a list, which then takes what the user types.
const OPENS_A_LIST: &[&str] = &[
    "/resume",
    "/tree",
    "/rewind",
    "/settings",
    "/fork",
    "/model",
];
/// Commands that replace the conversation.
const TURNS: &[&str] = &["/new", "/compact"];
/// How external editors exit: without a change, with a failure, killed.
const EDITORS: &[&str] = &["exit 0", "exit 1", "kill -9 $$"];

pub struct Story {
    random: Random,
    pub server: ModelServer,
    pub sandbox: Sandbox,
    screen: Option<Screen>,
    /// Every word the user typed as text for the model.
    pub words: Vec<String>,
    /// True if Enter was pressed on the empty editor below a question, which may allow a call.
    pub may_have_allowed: bool,
    /// True after the conversation went back, changed to another session, or was compacted.
    pub turned: bool,
    /// True if the user opened a list that isn't on the screen yet. Once it is, it takes what the
    /// user types.
    list_comes: bool,
    /// The number of requests when a run was stopped. None after something is sent again.
    stopped_at: Option<usize>,
    log: Vec<String>,
}

impl Story {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let server = ModelServer::start(model::script(&mut random));
        server.expect_refusals();
        let mut sandbox = Sandbox::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
        sandbox.use_server(&server);
        Self {
            random,
            server,
            sandbox,
            screen: None,
            words: Vec::new(),
            may_have_allowed: false,
            turned: false,
            list_comes: false,
            stopped_at: None,
            log: Vec::new(),
        }
    }

    /// Tells the story. Fails with the first broken promise.
    pub fn tell(&mut self) -> Result<(), String> {
        self.open(&[]);
        for _ in 0..self.random.below(18) + 4 {
            self.act()?;
        }
        self.end()?;
        laws::hold(self)
    }

    /// What the user did, and the last screen.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the lifetimes need it"
    )]
    pub fn account(&self) -> String {
        let mut text = self.log.join("\n");
        if let Some(screen) = &self.screen {
            let _ = write!(text, "\n{}", screen.look(|view| view.picture()));
        }
        text
    }

    fn screen(&self) -> &Screen {
        self.screen.as_ref().expect("it was opened")
    }

    fn open(&mut self, mut arguments: &[&str]) {
        // A session killed while it created its file has nothing to resume.
        let holds_something = |file: &PathBuf| file.metadata().is_ok_and(|data| data.len() > 0);
        if !self.sandbox.session_files().iter().any(holds_something) {
            arguments = &[];
        }
        self.log.push(format!("start {arguments:?}"));
        let wire = Wire::ALL[self.random.below(Wire::ALL.len())];
        let end = *self.random.pick(EDITORS);
        let log = self.edited().display().to_string();
        let editor = format!("sh -c 'echo >>{log}; {end}' editor");
        let screen = Launch::new(&self.sandbox)
            .args(&["-m", wire.model(), "--permission", "ask"])
            .args(arguments)
            .env("VISUAL", &editor)
            .size(100, 30)
            .start();
        self.screen = Some(screen);
        self.list_comes = false;
        // Sometimes the user types before anything shows.
        if self.random.once_in(3) {
            self.type_words();
        }
        self.screen().wait_for("─ ask");
        // Another wire writes the conversation in another form, and another session has another
        // one.
        self.turned |= self.log.len() > 1;
        self.stopped_at = None;
    }

    fn act(&mut self) -> Result<(), String> {
        if self.screen().has_exited() {
            self.log.push("(it has ended)".to_owned());
            self.open(&["-c"]);
        }
        match self.random.below(100) {
            0..=29 => self.type_words(),
            30..=47 => self.send("<enter>")?,
            48..=52 => self.send("<a-enter>")?,
            53..=55 => self.send("<c-enter>")?,
            56..=63 => self.stop("<esc>"),
            64..=66 => self.stop("<c-c>"),
            67..=70 => self.press("<a-up>"),
            71..=73 => {
                let key = *self.random.pick(HARMLESS);
                self.press(key);
            }
            74 => self.cut_and_bring_back(),
            75..=77 => {
                let key = *self
                    .random
                    .pick(&["<c-r>", "<c-l>", "<f1>", "<c-f>", "<a-i>", "<a-s>"]);
                self.press(key);
                self.settle();
                self.stop("<esc>");
            }
            78..=80 => self.paste(),
            81..=84 => self.open_gate(),
            85..=87 => self.slash()?,
            88..=90 => self.steer_from_outside(),
            91..=92 => self.resize(),
            93..=95 => self.kill(),
            96 => self.leave(),
            97 => self.next_mode(),
            98 => self.edit_elsewhere(),
            99 => self.quit(),
            _ => self.settle(),
        }
        Ok(())
    }

    fn settle(&self) {
        self.screen().settle(STILL, EFFECT);
    }

    fn press(&mut self, keys: &str) {
        self.log.push(format!("press {keys}"));
        self.screen().keys(keys);
        if !self.random.once_in(4) || keys.ends_with("<esc>") {
            self.settle();
        }
    }

    fn word(&mut self) -> String {
        let first: Vec<char> = FIRST.chars().collect();
        let first = *self.random.pick(&first);
        let number = self.words.len();
        format!("{first}w{number:03}k")
    }

    fn type_words(&mut self) {
        self.settle();
        // An open list takes what the user types, as its search.
        let has_list = self.screen().look(has_popup);
        self.list_comes &= !has_list;
        let is_text = !has_list && !self.list_comes;
        if is_text {
            // Not into the middle of another word.
            self.screen().keys("<end>");
        }
        let count = self.random.below(3) + 1;
        for _ in 0..count {
            let word = self.word();
            self.log.push(format!(
                "type {word:?}{}",
                if is_text { "" } else { " into a popup" }
            ));
            let keys = word.replace('<', "<lt>");
            self.screen().keys(&format!("{keys} "));
            if is_text {
                self.words.push(word);
            }
        }
        if !self.random.once_in(4) {
            self.settle();
        }
    }

    fn paste(&mut self) {
        self.settle();
        if self.list_comes || self.screen().look(has_popup) {
            return;
        }
        let (one, two) = (self.word(), format!("pw{:03}k", self.words.len() + 1));
        // Not into the middle of another word.
        self.screen().keys("<end>");
        self.log.push(format!("paste {one:?} {two:?}"));
        self.screen().paste(&format!("{one}\nand {two}\nend "));
        self.words.extend([one, two]);
    }

    /// A file that grows with each external editor started.
    fn edited(&self) -> PathBuf {
        self.sandbox.path().with_file_name("edited")
    }

    fn cut_and_bring_back(&mut self) {
        self.settle();
        if self.list_comes || self.screen().look(has_popup) {
            return;
        }
        let (cut, back) = *self.random.pick(CUT_AND_BACK);
        self.press(cut);
        self.press(back);
    }

    /// Switches to another permission mode, in which calls may run without a question.
    fn next_mode(&mut self) {
        self.may_have_allowed = true;
        self.press("<s-tab>");
    }

    /// Sends the draft to an external editor, which returns it or fails.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the lifetimes need it"
    )]
    fn edit_elsewhere(&mut self) {
        self.settle();
        if self.list_comes || self.screen().look(has_popup) {
            return;
        }
        let log = self.edited();
        let runs = || std::fs::metadata(&log).map_or(0, |it| it.len());
        let before = runs();
        self.log.push("press <c-g>".to_owned());
        self.screen().keys("<c-g>");
        // The editor owns the terminal meanwhile, so tiller doesn't get what the user types.
        let begun = std::time::Instant::now();
        while runs() == before && begun.elapsed() < Duration::from_secs(2) {
            self.settle();
        }
        self.screen()
            .wait_until("the screen is back", |view| view.is_alternate());
        self.settle();
    }

    /// Presses a key that sends the editor's text, or starts or continues a run.
    fn send(&mut self, key: &str) -> Result<(), String> {
        self.nothing_was_sent()?;
        self.settle();
        let (asks, empty) = self.screen().look(|view| (asks(view), is_empty(view)));
        self.may_have_allowed |= asks && empty;
        // Esc twice opens the tree, where the key goes back to a prompt.
        self.turned |= self.screen().look(|view| view.contains("╭─ Tree"));
        self.press(key);
        self.stopped_at = None;
        Ok(())
    }

    fn stop(&mut self, key: &str) {
        if key == "<c-c>" {
            // Waits, to see whether a second one would exit.
            self.settle();
        }
        let runs = self.screen().look(|view| view.contains("Esc stops"));
        let popup = self.screen().look(has_popup);
        let leaves = self.screen().look(|view| view.contains("again to exit"));
        self.press(key);
        if leaves && self.has_left() {
            return;
        }
        if runs && !popup && !self.screen().look(|view| view.contains("Esc stops")) {
            self.stopped_at = Some(self.server.requests().len());
        }
    }

    fn quit(&mut self) {
        // Inside a text, the key deletes the character after the caret.
        self.press("<c-e>");
        self.settle();
        if !self.screen().look(is_empty) {
            return;
        }
        let leaves = self
            .screen()
            .look(|view| !has_popup(view) && !view.contains("Esc stops"));
        self.press("<c-d>");
        if leaves {
            self.has_left();
        }
    }

    /// True if the program exits. Nobody types into a program they left.
    fn has_left(&self) -> bool {
        let begun = std::time::Instant::now();
        while !self.screen().has_exited() && begun.elapsed() < Duration::from_secs(2) {
            self.settle();
        }
        self.screen().has_exited()
    }

    /// No request may leave between the end of a stopped run and the next thing the user sends.
    fn nothing_was_sent(&self) -> Result<(), String> {
        let now = self.server.requests().len();
        match self.stopped_at {
            Some(then) if then != now => Err(format!("{} requests left after a stop", now - then)),
            _ => Ok(()),
        }
    }

    fn slash(&mut self) -> Result<(), String> {
        self.nothing_was_sent()?;
        self.settle();
        if self
            .screen()
            .look(|view| has_popup(view) || asks(view) || !is_empty(view))
        {
            return Ok(());
        }
        let commands = [
            "/new",
            "/undo",
            "/stats",
            "/name wordless",
            "/queue",
            "/resume",
            "/compact",
            "/tree",
            "/rewind",
            "/settings",
            "/permission full",
            "/keys",
            "/context",
            "/fork",
            "/redo",
            "/model",
        ];
        let command = *self.random.pick(&commands);
        self.log.push(format!("command {command}"));
        self.turned |= TURNS.contains(&command) || OPENS_A_LIST.contains(&command);
        self.list_comes |= OPENS_A_LIST.contains(&command);
        self.stopped_at = None;
        self.screen().keys(&format!("{command}<enter>"));
        if self.random.once_in(2) {
            // Typed ahead, over whatever the command opens.
            if command == "/new" {
                self.words.push(format!("tw{:03}k", self.words.len()));
                let word = self.words.last().expect("just pushed").clone();
                self.log.push(format!("type ahead {word:?}"));
                self.screen().keys(&format!("{word}<enter>"));
            }
        } else {
            self.settle();
        }
        Ok(())
    }

    fn steer_from_outside(&mut self) {
        let number = self.words.len();
        let begins = ["!touch ", "/new ", "//", "plain ", "/", "y "];
        let text = format!("{}xw{number:03}k", self.random.pick(&begins));
        let ran = self.sandbox.run(&["steer", &text]);
        self.log.push(format!("steer {text:?}: {:?}", ran.code));
        if ran.code == Some(0) {
            self.words.push(format!("xw{number:03}k"));
            self.stopped_at = None;
        }
    }

    fn open_gate(&mut self) {
        let reached =
            (0..model::REPLIES).find(|number| self.server.has_reached(&model::gate(*number)));
        if let Some(number) = reached {
            self.log
                .push(format!("the model goes on with answer {number}"));
            self.server.release(&model::gate(number));
        }
    }

    fn resize(&mut self) {
        let (columns, rows) = *self
            .random
            .pick(&[(100, 30), (60, 14), (140, 50), (40, 10)]);
        self.log.push(format!("resize {columns}x{rows}"));
        self.screen().resize(columns, rows);
        self.settle();
    }

    fn kill(&mut self) {
        self.wait_kept();
        self.log.push("kill -9".to_owned());
        self.screen().signal(Signal::SIGKILL);
        self.screen().wait_dead();
        let arguments: &[&str] = if self.random.once_in(4) { &[] } else { &["-c"] };
        self.open(arguments);
    }

    fn leave(&mut self) {
        self.wait_kept();
        self.log.push("SIGTERM".to_owned());
        self.screen().signal(Signal::SIGTERM);
        self.screen().wait_dead();
        self.open(&["-c"]);
    }

    /// Waits until what the user typed is on disk or on its way.
    fn wait_kept(&self) {
        let begun = std::time::Instant::now();
        while !laws::lost(self).is_empty() && begun.elapsed() < Duration::from_secs(3) {
            self.screen().settle(STILL, STILL);
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.settle();
        self.nothing_was_sent()?;
        self.wait_kept();
        self.log.push("the end".to_owned());
        self.screen().signal(Signal::SIGTERM);
        self.screen().wait_dead();
        Ok(())
    }
}

/// True if something is open that takes text for itself. Its title begins with a capital letter,
/// but the editor's title is a mode.
fn has_popup(view: &View) -> bool {
    let titled = |line: &String| {
        let title = line.split("╭─ ").nth(1).and_then(|it| it.chars().next());
        title.is_some_and(char::is_uppercase)
    };
    view.lines().iter().any(titled) || view.contains("⌕") || view.contains("search: ")
}

/// True if a call waits for the user.
fn asks(view: &View) -> bool {
    view.lines().iter().any(|line| {
        line.trim_start().starts_with("? ") || line.contains("▌? ") || line.starts_with("│? ")
    })
}

/// True if nothing is before the caret, so that the editor may be empty.
fn is_empty(view: &View) -> bool {
    view.cursor().is_none_or(|(_, column)| column <= 2)
}
