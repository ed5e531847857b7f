//! Switching to another session: what happens to the editor's text, and to input before the other
//! session is on the screen. Other code decides about opening it.

use super::terminal::input::{InputEvent, KeyCode, KeyModifiers, KeyPress};

/// How the editor's text is treated when another session opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// It comes along: the other session continues from here.
    #[default]
    WithText,
    /// It comes along, but the output of commands stays: the other session is new.
    Anew,
    /// It joins the unsent text of the other session.
    Together,
    /// It stays with its session.
    WithoutText,
}

/// The progress of the switch. The agent sends the conversation, the opener the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is being opened.
    #[default]
    Stays,
    Opening,
    HalfOpen,
}

/// A switch to another session. Input meanwhile is meant for that session, so it waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionSwitch {
    pub arriving: Arriving,
    stage: Stage,
    held: Vec<InputEvent>,
}

impl SessionSwitch {
    pub fn begin(&mut self, arriving: Arriving) {
        self.arriving = arriving;
        self.stage = Stage::Opening;
    }

    /// Whether this screen is opening the other session.
    pub fn is_under_way(&self) -> bool {
        self.stage != Stage::Stays
    }

    /// Holds input during the switch; returns events that aren't for the other session.
    pub fn hold(&mut self, event: InputEvent) -> Option<InputEvent> {
        let is_typed = matches!(event, InputEvent::Key(_) | InputEvent::Paste(_));
        if !self.is_under_way() || !is_typed {
            return Some(event);
        }
        // The second Enter of a double press has no text to send.
        let enter = KeyPress::new(KeyCode::Enter, KeyModifiers::NONE);
        if !self.held.is_empty() || event != InputEvent::Key(enter) {
            self.held.push(event);
        }
        None
    }

    /// One of the two parts of the switch is done; returns the held input after the second.
    pub fn step(&mut self) -> Vec<InputEvent> {
        self.stage = match self.stage {
            Stage::Opening => Stage::HalfOpen,
            Stage::HalfOpen | Stage::Stays => Stage::Stays,
        };
        match self.stage {
            Stage::Stays => std::mem::take(&mut self.held),
            _ => Vec::new(),
        }
    }

    /// Whether a key that stops things was held: the user no longer wants to wait.
    pub fn is_given_up(&self) -> bool {
        let stops = [
            KeyPress::new(KeyCode::Esc, KeyModifiers::NONE),
            KeyPress::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
        ];
        matches!(self.held.last(), Some(InputEvent::Key(press)) if stops.contains(press))
    }

    /// Ends a failed switch. Returns the held input.
    pub fn fail(&mut self) -> Vec<InputEvent> {
        self.stage = Stage::Stays;
        std::mem::take(&mut self.held)
    }

    /// The text in the held input.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for event in &self.held {
            match event {
                InputEvent::Paste(pasted) => text += pasted,
                InputEvent::Key(press) if press.code == KeyCode::Enter => text.push('\n'),
                InputEvent::Key(press) => text.extend(press.text()),
                _ => {}
            }
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Vec<InputEvent> {
        let key = |c| match c {
            '\n' => KeyPress::new(KeyCode::Enter, KeyModifiers::NONE),
            c => KeyPress::new(KeyCode::Char(c), KeyModifiers::NONE),
        };
        text.chars().map(|c| InputEvent::Key(key(c))).collect()
    }

    #[test]
    fn input_during_a_switch_waits_for_its_end() {
        let mut switch = SessionSwitch::default();
        let [first] = &typed("a")[..] else { panic!() };
        assert_eq!(switch.hold(first.clone()), Some(first.clone()));
        switch.begin(Arriving::Anew);
        // A bouncing Enter sends nothing.
        for event in typed("\nhi\n") {
            assert_eq!(switch.hold(event), None);
        }
        assert_eq!(switch.text(), "hi");
        let focus = InputEvent::Focus(true);
        assert_eq!(switch.hold(focus.clone()), Some(focus));
        assert_eq!(switch.step(), []);
        assert_eq!(switch.step(), typed("hi\n"));
        assert_eq!(switch.hold(first.clone()), Some(first.clone()));
    }

    #[test]
    fn input_for_a_session_that_does_not_open_comes_back() {
        let mut switch = SessionSwitch::default();
        switch.begin(Arriving::WithText);
        for event in typed("fix it\n") {
            assert_eq!(switch.hold(event), None);
        }
        switch.hold(InputEvent::Paste("pasted".into()));
        assert_eq!(switch.text(), "fix it\npasted");
        assert_eq!(switch.fail().len(), 8);
        assert_eq!(switch.step(), []);
    }
}
