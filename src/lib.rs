//! tiller: a full-screen terminal coding agent.
//!
//! This page describes the architecture: the parts, where to find them, and the rules that hold everywhere.
//!
//! # Bird's eye view
//!
//! A user types; a model answers and calls tools. The user sees everything as it happens and can steer at
//! any time. There are three layers, and each uses only those to its left: **[`llm`] <- [`agent`] <- [`app`]**.
//! The first two are crates of their own, `tiller-llm` and `tiller-agent`, so the compiler guards the order.
//!
//! - [`llm`] talks to models: messages, provider APIs, the model catalogue. It runs no tools, reads no
//!   project files and draws nothing.
//! - [`agent`] runs turns and tools and stores the session. It knows no terminal and no vendor.
//! - [`app`] faces users and other programs: command line, settings, screen, RPC.
//!
//! The layers exchange plain data. `llm` yields a stream of [`llm::StreamEvent`]. The agent takes `Command`s
//! through [`agent::AgentHandle`] and emits [`agent::AgentEvent`]s; nothing else enters or leaves it. The full
//! screen, print mode, JSON mode and RPC mode are all clients of that handle, with no private access.
//!
//! # The two journeys
//!
//! *A key to the model and back*: terminal bytes -> `tui/terminal/input` -> `Msg::Input` -> `update/route` ->
//! `update/keys`: its `press` offers the key to a stack of contexts. The `keymap` names the action, the first
//! context that handles it (selection, popup, completion, question, vim, editor) takes it, and `keys::act`
//! carries it out: `Action::Submit` -> `Effect` -> `EffectRunner` -> `AgentHandle` -> `Command` -> `actor`
//! (idle: start a run; busy: steer) -> `AgentEvent` -> `Msg::Agent` -> `update` -> next frame. The typed letter
//! appears in the next frame, before any network access.
//!
//! *A token from the socket to the screen*: bytes -> `llm::sse` -> a protocol's `decode` -> `StreamEvent` ->
//! `agent/runner/attempt` (fold, send) -> `agent/actor`, which numbers the event and sends it to all
//! subscribers -> `Msg::Agent` -> `tui/transcript/apply` (the live cell grows) -> next frame:
//! `view/transcript/rows/cell` lays out only the open block of that cell again, and only changed cells are
//! written.
//!
//! # Code map
//!
//! ## The agent
//!
//! Start with `agent/runner/run.rs`, which holds THE LOOP. `agent/runner` is one run, in its own task:
//!
//! - `lookout`: what the model learns about the folder it works in.
//! - `turn`: one model response, with as many attempts as it takes.
//! - `retry`: what to do after a failure.
//! - `dispatch`: the tool calls of a turn.
//! - `live_policy`: the permission rules, read again after their files have changed.
//! - `cover`, `redaction`, `compact`, `leave_branch`: hooks into undo, secrets and summaries, described below.
//!
//! `agent/actor` owns the state and decides what happens next:
//!
//! - `task`: commands, and the run's questions.
//! - `turns`: what a run gets for each turn.
//! - `queue`: messages that wait to be delivered. `questions`: those to the user that wait for an answer.
//! - `conversation`: stores each message before any subscriber sees it.
//! - `branches`: continues from any entry of the tree. `runner/leave_branch` summarizes the branch it leaves.
//!
//! The folders next to them:
//!
//! - `agent/process` starts commands, optionally in a sandbox (`process/sandbox`: namespaces, Landlock,
//!   seccomp), and kills whole process trees.
//! - `agent/tools` has a folder for each kind of tool. A call declares its [`agent::Effects`] before it runs.
//! - `agent/git` runs git so that nothing in a project starts a program, and reads git's own files.
//! - `agent/workspace` knows where the paths in a call lead: inside the project, outside, or to protected files.
//! - `agent/permission` decides about a call from rules and the mode (`auto` by default), without any IO.
//!   `permission/shell` parses command lines. The way of a call: `runner/gate` (is it valid?), `runner/permissions`
//!   (where do its paths lead?), `permission/decide`, `runner/held` (what the project's files make stricter),
//!   `runner/ask`, `actor/questions`, a front end. `runner/confined` runs it.
//! - `agent/session` is the append-only file, the tree of its entries, and the conversation that ends at a
//!   leaf. `session/presence` is what other programs see of an open session.
//! - `agent/memory` builds the prompt, which the session stores. `memory/compaction` says when a conversation
//!   fills the window, where to cut it and what to ask for; `runner/compact` makes the summary through
//!   `runner/summary`, and `actor/compaction` puts it in place.
//! - `agent/trial` copies the user's files to a git worktree and merges them back. It knows no conversation.
//! - `agent/undo` saves files before a turn changes them and restores them. `runner/cover` triggers the saving
//!   right before a call runs; `actor/undo` maps turns to entries of the session's tree.
//! - `agent/hooks` runs the user's hooks: `point` has the events, `hook_file` reads them, `input` and `answer` are
//!   what they get and say. `runner/hooks` and `actor/hooks` do what they say.
//! - `agent/mcp` talks to MCP servers: a `connection` for each, over `stdio` or `http`, and a `tool` for each of their
//!   tools. `runner/mcp` starts them, takes their tools when a run begins, and has the sandbox for those of a project.
//! - `agent/new_file` writes all of the user's files, for the file tools, undo and trials.
//!
//! ## The models
//!
//! In `llm`, each protocol is a folder with `request` (our messages to theirs) and `decode` (theirs to ours).
//! `handoff` makes any stored conversation valid for a protocol. `auth` finds keys and redacts them from
//! every text that leaves. Facts about a host are data (`assets/models.toml`).
//!
//! ## The app
//!
//! - `args` is the command line as typed. `boot` is the only place that puts the parts together.
//! - `action.rs` is the table of everything a user can trigger. `synonyms` has other words for it and for
//!   settings. `manual` is the documentation, as part of the program.
//! - `commands` has a file for each slash command that every front end runs. Those that only send a prompt are
//!   Markdown files in `assets/prompts`; `custom` has those of the user, and skills (`agent/memory/skills`).
//! - `hook_files` and `mcp_files` are where hooks and MCP servers come from.
//! - `host` is what every front end offers besides the agent: opening sessions, the user's own commands. It
//!   knows no screen and no standard streams.
//! - `serve` is for other programs: `--mode rpc`, editors (`acp`, with an agent for each session), the socket by
//!   which they steer a session or attach to it, the file that steers it, and the events file.
//! - `sessions` finds, lists and opens sessions. `export` turns them into HTML, Markdown or JSON lines.
//!   `branches` outlines a session's tree.
//! - `files` is the index for `@`, `tui/completion` the suggestions while you type, and `clipboard` the
//!   ways to copy.
//!
//! `tui` is the full screen, and the feature `tui`: a build without it has the other front ends. In it,
//! `update` changes the screen's state and `view` lays it out and paints it:
//!
//! - `popups` has a folder for each popup: its `state`, its `keys` (a part of the update) and its `view`. A
//!   small one is a single file. A new one also needs a line in `popups/mod` and in the list in `popups/kinds`.
//! - `transcript` is the conversation's part of the state. It reads `pages` of the past when someone scrolls
//!   there; `sealing` turns live output into pages. It records a selection, which the frame resolves into rows.
//! - `effects` is what `update` asks for, and what runs it on other threads.
//! - `terminal` reads the keys (`input`) and sets the modes. `display` decides where a frame goes: to the whole
//!   screen, or inline below what has been printed (`inline_buffer`, which knows no absolute row). A terminal may
//!   be that of `tiller attach` (`attached`): each has a screen of its own, all with the same agent.
//! - `text` wraps and styles. Each part of a row knows the bytes of its source, which copying and searching
//!   use. `row_log` packs the rows of a long answer. A link is a number on cells; `terminal/cell_writer` writes it out.
//! - `picture` shows pictures: their headers say how many rows to reserve, and a thread decodes the visible ones.
//! - `theme` defines colors by named slots.
//!
//! # What holds everywhere
//!
//! - Imports point downwards: the crates keep `llm` and `agent`, `tests/tidy.rs` the parts of `app`.
//! - There is one fold from deltas to a message, [`llm::AssistantMessage`]'s `apply`. The agent and the
//!   records of RPC and JSON use it; the screen only appends to its live cell until the whole message arrives.
//! - A tool's result has two parts: `content` for the model and [`agent::Details`] for the screen. Neither
//!   derives from the other. Details are never sent, and the view never reads arguments.
//! - Failures are data: a stream ends with a stop reason, a tool with an error result. Nothing below `app`
//!   decides how the program ends.
//! - Every tool call gets exactly one result, even if it was skipped, cancelled, denied or lost.
//! - A message is in the session file before anything that depends on it appears as done. Unsent text is on
//!   disk too (`tui/composer/draft_file`), and queued messages are in the session (`session/queued`).
//! - Anything sent once is sent again in the same bytes, along with everything before it: system prompt,
//!   tools, messages. Providers cache by prefix and bind signed reasoning to it. Later changes are stored
//!   messages; building a request adds nothing.
//! - The agent's activity is one enum, [`agent::RunState`], which the actor sends. No other flag duplicates
//!   it. The screen sets it ahead of the agent on Enter and on the first token, to react at once; the agent's
//!   next event corrects it.
//! - `update` does no IO and reads no clock; `view` changes nothing. The cost per token and per frame
//!   doesn't depend on the length of the transcript.
//! - Only its provider sees a key. Commands don't see it, and neither their environment nor tiller's own
//!   shows it to other processes. It never appears in a log, a session, a record, an error or a panic.
//! - tiller removes known secrets from tool output before anything shows, stores or sends it
//!   (`runner/redaction`, and earlier where output is cut or spilled to disk). `llm::auth` has the one redactor.
//! - One account books every model call, and tiller checks it before the next call
//!   (`agent::budget::Account`).
//! - Text from outside (models, tools, files) never reaches the terminal as an escape sequence.
//! - No global state, no `unsafe`, and no async runtime in the supervisor.

// Without the screen, what only it uses is unused.
#![cfg_attr(not(feature = "tui"), allow(dead_code, unused_imports))]

pub use tiller_agent as agent;
pub use tiller_llm as llm;

pub mod app;
