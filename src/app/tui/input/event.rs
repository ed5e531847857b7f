//! What comes from the terminal, as plain data.

use super::key::{KeyPress, Mods};

/// One thing the terminal told us, in the order it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// A key was pressed or repeated.
    Key(KeyPress),
    /// A bracketed paste, whole and as sent (line ends and control characters included).
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal got (true) or lost the focus.
    Focus(bool),
    /// An answer to a query; never typed text.
    Report(TerminalReport),
    /// The terminal is gone; nothing follows.
    Closed,
}

/// A press, a release, a drag or a turn of the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MouseEvent {
    /// What happened.
    pub kind: MouseKind,
    /// The column, 0 is the leftmost.
    pub col: u16,
    /// The row, 0 is the topmost.
    pub row: u16,
    /// The modifiers held.
    pub mods: Mods,
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MouseKind {
    /// A button went down.
    Down(MouseButton),
    /// A button came up.
    Up(MouseButton),
    /// The mouse moved with a button down.
    Drag(MouseButton),
    /// The wheel turned by one step.
    Wheel(WheelDirection),
}

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MouseButton {
    /// The first, also where the terminal does not say which one.
    Left,
    /// The wheel pressed.
    Middle,
    /// The second.
    Right,
    /// A side button: back.
    Back,
    /// A side button: forward.
    Forward,
}

/// Where the wheel turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WheelDirection {
    /// Away from the person: towards earlier lines.
    Up,
    /// Towards the person: towards later lines.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// An answer of the terminal to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalReport {
    /// `CSI ? flags u`: the kitty keyboard protocol is understood, with these flags now in force.
    KittyFlags(u8),
    /// `CSI ? ... c`: the answer every terminal gives, so the one that ends a round of queries.
    PrimaryAttributes,
    /// OSC 11: the default background color, 8 bits for each of red, green, blue.
    Background(u8, u8, u8),
}
