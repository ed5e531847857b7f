//! The slots: one field for every place on the screen with its own style. A slot missing in the
//! code doesn't compile, and tiller reports theme entries for unknown slots.

use ratatui_core::style::{Color, Style};

use super::source::Kind;

#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxRule {
    /// TextMate scope selectors, separated by commas.
    pub scopes: String,
    pub style: Style,
}

macro_rules! theme {
    ($($slot:ident,)+) => {
        /// One style for each slot of the screen.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Theme {
            /// The name it was loaded by.
            pub name: String,
            /// The kind of terminal it's made for.
            pub kind: Kind,
            /// Styles of highlighted code, by scope.
            pub(crate) syntax: Vec<SyntaxRule>,
            $(pub(crate) $slot: Style,)+
        }

        impl Theme {
            /// The names of all slots, in documented order.
            pub(super) const SLOTS: &[&str] = &[$(stringify!($slot)),+];

            /// A theme without colors or modifiers.
            pub(super) fn plain(name: &str) -> Self {
                Self {
                    name: name.to_owned(),
                    kind: Kind::default(),
                    syntax: Vec::new(),
                    $($slot: Style::new(),)+
                }
            }

            /// Whether the theme paints the whole screen.
            pub(crate) fn paints(&self) -> bool {
                let of_terminal = [None, Some(Color::Reset)];
                !of_terminal.contains(&self.screen.bg) || !of_terminal.contains(&self.screen.fg)
            }

            pub(super) fn slot_mut(&mut self, name: &str) -> Option<&mut Style> {
                match name {
                    $(stringify!($slot) => Some(&mut self.$slot),)+
                    _ => None,
                }
            }
        }
    };
}

theme! {
    // The whole screen, below everything else; a background here paints it.
    screen,
    text,
    dim,
    faint,
    accent,
    user,
    user_mark,
    // The folded line of thinking, and its text.
    thinking,
    thinking_text,
    // The title row of a tool call.
    tool_name,
    tool_subject,
    tool_summary,
    tool_time,
    tool_running,
    tool_ok,
    tool_error,
    tool_skipped,
    // The body below it.
    tool_output,
    match_location,
    fold_hint,
    diff_added,
    diff_removed,
    diff_added_word,
    diff_removed_word,
    line_number,
    // Line number and sign.
    diff_added_number,
    diff_removed_number,
    info,
    warning,
    error,
    // What to do about an error.
    hint,
    // Markdown.
    heading,
    subheading,
    emphasis,
    strong,
    strike,
    code,
    code_block,
    code_lang,
    link,
    link_url,
    quote,
    quote_bar,
    list_marker,
    task_done,
    table_border,
    table_head,
    rule,
    queue_steer,
    queue_follow_up,
    queue_text,
    activity,
    activity_mark,
    key_hint,
    // The editor's border, by mode.
    editor_full,
    editor_auto,
    editor_ask,
    editor_plan,
    editor_text,
    editor_placeholder,
    editor_paste,
    status,
    status_place,
    status_model,
    // The context bar: its filled part, from 60% and from 80%, and its empty part.
    context_used,
    context_high,
    context_full,
    context_free,
    pill,
    popup,
    popup_border,
    popup_title,
    popup_selected,
}
