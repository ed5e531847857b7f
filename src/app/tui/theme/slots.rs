//! The slots: every place on the screen that has a style of its own, as one field each, so that a
//! slot the code needs and the theme lacks cannot compile, and a slot a theme names and the code
//! lacks is refused.

use ratatui::style::Style;

/// One rule of a theme's syntax map.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxRule {
    /// TextMate scope selectors, separated by commas.
    pub scopes: String,
    /// How text of these scopes looks.
    pub style: Style,
}

macro_rules! theme {
    ($($(#[doc = $doc:literal])+ $slot:ident,)+) => {
        /// One style for each slot of the screen.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Theme {
            /// The name it was loaded by.
            pub name: String,
            /// Styles of highlighted code, by scope.
            pub syntax: Vec<SyntaxRule>,
            $($(#[doc = $doc])+ pub $slot: Style,)+
        }

        /// The names of all slots, in the order they are documented.
        pub(super) const SLOTS: &[&str] = &[$(stringify!($slot)),+];

        impl Theme {
            /// A theme without any color or modifier.
            pub(super) fn plain(name: &str) -> Self {
                Self {
                    name: name.to_owned(),
                    syntax: Vec::new(),
                    $($slot: Style::new(),)+
                }
            }

            /// The slot called `name`.
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
    /// Ordinary text.
    text,
    /// Text that matters less.
    dim,
    /// Text and lines that should almost disappear.
    faint,
    /// What draws the eye.
    accent,
    /// A user's message.
    user,
    /// The mark before a user's message.
    user_mark,
    /// The folded line of a model's thinking.
    thinking,
    /// The thinking itself, opened.
    thinking_text,
    /// A tool's name in its title row.
    tool_name,
    /// What the call is about.
    tool_subject,
    /// What it came to, at the right.
    tool_summary,
    /// How long it took.
    tool_time,
    /// The mark of a running call.
    tool_running,
    /// The mark of a call that went well.
    tool_ok,
    /// The mark of a failed call.
    tool_error,
    /// The mark of a call that was skipped or stopped.
    tool_skipped,
    /// What a tool printed or read.
    tool_output,
    /// `path:line:` before a match.
    match_location,
    /// The line saying how much is folded away.
    fold_hint,
    /// An added line.
    diff_added,
    /// A removed line.
    diff_removed,
    /// Words that were added within a line.
    diff_added_word,
    /// Words that were removed within a line.
    diff_removed_word,
    /// Line numbers.
    line_number,
    /// Line number and sign of an added line.
    diff_added_number,
    /// Line number and sign of a removed line.
    diff_removed_number,
    /// Good to know.
    info,
    /// Something was refused or limited.
    warning,
    /// Something failed.
    error,
    /// The way out of a failure.
    hint,
    /// A heading.
    heading,
    /// A heading below the second level.
    subheading,
    /// Emphasised text.
    emphasis,
    /// Strongly emphasised text.
    strong,
    /// RedactingWriter out text.
    strike,
    /// Code within a line.
    code,
    /// Lines of a code block.
    code_block,
    /// The language above a code block.
    code_lang,
    /// The text of a link.
    link,
    /// The address of a link.
    link_url,
    /// Quoted text.
    quote,
    /// The bar before quoted text.
    quote_bar,
    /// Bullets and numbers of lists.
    list_marker,
    /// The mark of a task that is done.
    task_done,
    /// Lines within a table.
    table_border,
    /// The head of a table.
    table_head,
    /// A rule.
    rule,
    /// The mark of a waiting steering message.
    queue_steer,
    /// The mark of a waiting follow-up.
    queue_follow_up,
    /// A waiting message.
    queue_text,
    /// The activity line.
    activity,
    /// The mark that something runs.
    activity_mark,
    /// A key that is offered.
    key_hint,
    /// Border of the editor when the mode is full.
    editor_full,
    /// Border of the editor when the mode is auto.
    editor_auto,
    /// Border of the editor when the mode is ask.
    editor_ask,
    /// Border of the editor when the mode is plan.
    editor_plan,
    /// Text in the editor.
    editor_text,
    /// What an empty editor says.
    editor_placeholder,
    /// A pasted block.
    editor_paste,
    /// The status line.
    status,
    /// The folder and branch in the status line.
    status_place,
    /// The model in the status line.
    status_model,
    /// The filled part of the context bar.
    context_used,
    /// The same, when it is getting full.
    context_high,
    /// The same, when it is nearly full.
    context_full,
    /// The empty part of the context bar.
    context_free,
    /// The pill saying that there are new lines below.
    pill,
    /// Inside of a popup.
    popup,
    /// Border of a popup.
    popup_border,
    /// Title of a popup.
    popup_title,
    /// The chosen line of a popup.
    popup_selected,
}
