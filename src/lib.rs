//! tiller: a full-screen terminal coding agent.
//!
//! This page is the architecture: what there is, where it is, what holds everywhere.
//!
//! # Bird's eye view
//!
//! A user types; a model answers and asks for tools; the user sees everything as it happens and
//! can speak at any time. Three layers, one direction: **[`llm`] <- [`agent`] <- [`app`]**.
//!
//! - [`llm`] speaks to models: messages, APIs, the catalogue of models. It runs no tool, reads no
//!   project file and draws nothing.
//! - [`agent`] runs turns and tools and keeps the session. It knows no terminal and no vendor.
//! - [`app`] is for users and other programs: command line, settings, screen.
//!
//! The layers meet in plain data. `llm` gives a stream of [`llm::StreamEvent`]; the agent gives
//! [`agent::AgentEvent`]s, the only thing that leaves it, and takes `Command`s through
//! [`agent::AgentHandle`], the only way in. The full screen, print mode and JSON mode are clients of
//! that handle, and none has a private way in.
//!
//! # The two journeys
//!
//! *A key to the model and back*: terminal bytes -> `app::tui::input` -> `Msg::Key` -> `update` -> the
//! first context that takes it (popup, question, completion, editor: `update/keys`) -> `keymap` ->
//! `Action::Submit` -> `Effect` -> `EffectRunner` -> `AgentHandle` -> `Command` -> `actor`
//! (idle: start a run; busy: steer) -> `AgentEvent` -> `Msg::Agent` -> `update` -> next frame. The
//! letter itself is on the screen in the next frame, before any network.
//!
//! *A token from the socket to the screen*: bytes -> `llm::sse` -> a protocol's `decode` ->
//! `StreamEvent` -> `agent::runner` (fold, send) -> `Msg::Agent` -> `update` (the same fold) -> next
//! frame: only the open block of the live cell is laid out anew, only changed cells are written.
//!
//! # Code map
//!
//! Read `agent/runner/run.rs` first: THE LOOP, from top to bottom. `agent/runner` is one run, in a
//! task of its own: `lookout` (what the model is told of the place), `turn` (one model response, with
//! as many attempts as it takes), `retry` (what a failure calls for), `dispatch` (the tool calls of a
//! turn). `agent/actor` owns the state and decides what comes next: `task` (commands and the run's
//! questions), `turns` (what a run is given for a turn), `queue`, `conversation` (stores what was said
//! before any subscriber is told).
//!
//! `agent/process` starts commands, if asked in a sandbox (`process/sandbox`: namespaces, Landlock, a
//! filter of system calls), and ends whole trees; `agent/tools` has a folder for each kind of tool;
//! what a call may do ([`agent::Effects`]) is known before it runs, and `agent/workspace` knows where
//! the paths in it lead: inside, outside, to what is protected. `agent/permission` decides
//! about it from rules and mode (`auto` by default), without any IO (`permission/shell` reads command lines). `agent/session` is the
//! append-only file, the tree of its entries and the conversation at a leaf (`session/live`: what
//! other programs see of an open one), and `agent/memory` the prompt that was stored with it;
//! `memory/compaction` says when a conversation fills the window, where it is cut and what is asked for
//! (`runner/compact` has `runner/summary` ask, `actor/compaction` puts the summary in place).
//! `actor/branches` goes on from any entry of the tree (`runner/leave_branch` has a summary of what is
//! left made in the same way). `agent/trial`
//! copies the user's files to a git worktree and merges them back; it knows no conversation.
//! `agent/undo` keeps what turns are about to change (`runner/cover` asks it to, right before a call
//! runs) and brings it back; `actor/undo` names the turns in the tree of the session. Whoever writes
//! the user's files (file tools, undo, trials) does it by `agent/new_file`.
//!
//! In `llm`, each protocol is a folder with `request` (ours to theirs) and `decode` (theirs to ours);
//! `handoff` makes any stored conversation valid for a protocol; `auth` knows where keys are and
//! redacts them in every text that leaves; what is known of a host is data (`assets/models.toml`).
//!
//! In `app`, `args` is the command line as typed and `boot` the only place that puts parts together;
//! `action.rs` is the table of everything a user can trigger; `serve` is for other programs: the socket
//! and the file that steer a session, the file of its events; `sessions` is which one is opened,
//! listed and found; `export` makes pages and Markdown of sessions, `branches` says in short what
//! stands in their trees and how two branches differ; `tui/update` changes the screen's state
//! (`tui/transcript` is the conversation's part of it: `pages` of the past are read where somebody looks, and `sealing` makes pages of what came
//! live; a selection is recorded there, and resolved by the frame that knows the rows), `tui/view` lays
//! it out and paints it, `tui/display` says where a frame goes (the whole screen; or, inline, printed once
//! above the rows of `tui/inline_buffer`, which knows no absolute row), `tui/text` wraps and styles
//! (each part of a row knows the bytes of its source, which is what copying and searching go by; `row_log`
//! packs the many rows of a long answer, whose text is that of the agent's message; a link is a number on
//! cells, written out by `tui/cell_writer`),
//! `tui/picture` knows how pictures get among it (their rows are reserved by what their heads say, a
//! thread decodes what is on the screen), `tui/theme` has the colors by named slots.
//! `files` is the index behind `@`, `tui/completion` what is offered while something is typed,
//! `clipboard` the ways out for what is copied.
//!
//! # What holds everywhere
//!
//! - Imports point downwards; `tests/tidy.rs` fails otherwise.
//! - There is one fold from deltas to a message, [`llm::AssistantMessage`]'s `apply`; agent and
//!   screen use the same.
//! - A tool's result is split: `content` goes to the model, [`agent::Details`] to the screen.
//!   Neither is made from the other, details are never sent, and the view never reads arguments.
//! - Failures are data: a stream ends with a stop reason, a tool with an error result. Nothing
//!   below `app` decides how the program ends.
//! - Every tool call gets exactly one result, whatever happens: skipped, cancelled, refused, lost.
//! - A message is in the session file before anything that depends on it is shown as done. What was
//!   typed and not sent is on disk too (`tui/composer/draft_file`), and what waits to be delivered is
//!   in the session (`session/queued`).
//! - What was sent once is sent again in the same bytes, with everything before it: system prompt,
//!   tools, messages. Providers cache by prefix, and signed reasoning is bound to it. What changes
//!   later is a stored message; nothing is invented while a request is written.
//! - What the agent is doing is one enum, [`agent::RunState`], sent by the actor. Nobody keeps a
//!   flag beside it. The screen sets it ahead of the agent on Enter and on the first token, so that
//!   it shows at once; the agent's next word corrects it.
//! - `update` does no IO and reads no clock; `view` changes nothing. Cost per token and per frame
//!   does not depend on the length of the transcript.
//! - A key is shown to its provider and to nobody else: not to commands, nor in their environment or
//!   in tiller's own as others read it, nor in a log, a session, a record, an error or a panic.
//! - A known secret in what a tool answers is gone before anybody sees it (`runner/redaction`, and
//!   where output is cut or kept on disk before that); `llm::auth` has the one redactor.
//! - Every model call is booked in one account, which is looked at before the next
//!   (`agent::budget::Account`).
//! - Text from outside (models, tools, files) never reaches the terminal as an escape sequence.
//! - There are no globals that hold state, no `unsafe`, no async runtime in the supervisor.

pub mod llm;
pub mod agent;
pub mod app;
