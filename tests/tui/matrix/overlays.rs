//! Scenes with every overlay.

use std::sync::Arc;

use tiller::agent::AgentEvent;
use tiller::agent::session::SessionState;
use tiller::agent::tool::FileChange;
use tiller::agent::undo::{Direction, FilePreview, Kept, Preview, RewindPoint};
use tiller::app::branches::Outline;
use tiller::app::sessions::{Refusal, SessionFacts, SessionScope};
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::composer::History;
use tiller::app::tui::effects::session_effect::SessionResult;
use tiller::app::tui::msg::{EffectResult, FoundFiles, Msg};
use tiller::llm::{AssistantMessage, Content, Message};

use super::super::app_kit::TestTui;
use super::super::{
    app_context, app_login, app_sessions, app_settings, app_timeline, app_tree, models,
};
use super::Scene;

pub const SCENES: &[Scene] = &[
    ("help", |tui| {
        tui.key("f1");
    }),
    ("help_found", |tui| {
        tui.key("f1");
        tui.write("copy");
    }),
    ("docs_page", |tui| {
        command(tui, "/help let it use the network");
        tui.frame();
        tui.wait(1000);
        tui.key("enter");
    }),
    ("docs_page_search", |tui| {
        command(tui, "/help let it use the network");
        tui.frame();
        tui.wait(1000);
        tui.key("enter");
        tui.frame();
        tui.write("/allow");
    }),
    ("status_cost", |tui| command(tui, "/stats")),
    ("status_context", |tui| {
        command(tui, "/context");
        done(tui, EffectResult::Context(Some(app_context::usage())));
    }),
    ("settings", |tui| {
        command(tui, "/settings");
        tui.send(app_settings::rows());
    }),
    ("settings_typing", |tui| {
        command(tui, "/settings");
        tui.send(app_settings::rows());
        tui.wait(300);
        tui.key("enter");
    }),
    ("login", |tui| {
        command(tui, "/login");
        tui.send(app_login::providers());
    }),
    ("login_typing", |tui| {
        command(tui, "/login google");
        tui.send(app_login::providers());
        tui.write("sk-secret");
    }),
    ("models", |tui| {
        tui.key("ctrl+l");
        done(tui, EffectResult::Models(models::listing()));
    }),
    ("models_details", |tui| {
        tui.key("ctrl+l");
        done(tui, EffectResult::Models(models::listing()));
        tui.frame();
        tui.key("tab");
    }),
    ("models_none_fits", |tui| {
        tui.key("ctrl+l");
        done(tui, EffectResult::Models(models::listing()));
        tui.write("no such model");
    }),
    ("themes", |tui| command(tui, "/theme")),
    ("history", |tui| {
        let prompts = ["Fix the login", "Write the docs\nin two lines", "日本語"];
        done(
            tui,
            EffectResult::History(History::new(prompts.map(String::from).into())),
        );
        tui.key("ctrl+r");
    }),
    ("search", |tui| {
        talked(tui);
        tui.frame();
        tui.key("ctrl+f");
        tui.write("token");
        tui.frame();
        tui.key("enter");
    }),
    ("selecting", |tui| {
        talked(tui);
        tui.frame();
        tui.key("alt+s");
        tui.frame();
        tui.key("v");
        tui.frame();
        tui.key("left");
    }),
    ("copy", |tui| {
        talked(tui);
        tui.key("alt+x");
    }),
    ("tree", |tui| tree(tui)),
    ("tree_label", |tui| {
        tree(tui);
        tui.frame();
        tui.key("alt+l");
        tui.write("green");
    }),
    ("tree_filtered", |tui| {
        tree(tui);
        tui.frame();
        tui.key("tab");
        tui.write("second");
    }),
    ("status_calls", |tui| {
        stored(tui);
        command(tui, "/iterations");
        let stored = app_timeline::stored(1..=12);
        done(tui, EffectResult::Iterations(Ok(stored)));
    }),
    ("undo", |tui| {
        command(tui, "/undo");
        done(tui, EffectResult::Undo(Direction::Undo, Some(preview())));
        tui.wait(500);
    }),
    ("rewind", |tui| rewind(tui)),
    ("rewind_chosen", |tui| {
        rewind(tui);
        tui.frame();
        tui.wait(300);
        tui.key("enter");
        done(tui, EffectResult::RewindPreview("b".into(), preview()));
    }),
    ("sessions", |tui| sessions(tui)),
    ("sessions_naming", |tui| {
        sessions(tui);
        tui.frame();
        tui.key("ctrl+r");
        tui.write("Docs");
    }),
    ("sessions_removing", |tui| {
        sessions(tui);
        tui.frame();
        tui.key("ctrl+d");
    }),
    ("status_session", |tui| {
        stored(tui);
        command(tui, "/session");
        let facts = SessionResult::Facts(Ok(Box::new(facts())));
        done(tui, EffectResult::Session(facts));
    }),
    ("opening", |tui| {
        let refused = app_sessions::refused(Refusal::InUse { pid: Some(4711) });
        let opened = SessionResult::Opened(Err(refused));
        done(tui, EffectResult::Session(opened));
        tui.wait(500);
    }),
    ("complete_command", |tui| tui.write("/")),
    ("complete_argument", |tui| tui.write("/thinking ")),
    ("complete_file", |tui| {
        tui.write("look at @au");
        let paths = ["src/auth.rs", "tests/auth/", "docs/日本語/author.md"];
        let found = FoundFiles {
            typed: "au".into(),
            paths: paths.map(String::from).into(),
            waits: false,
        };
        done(tui, EffectResult::Files(found));
    }),
];

/// Makes the session a stored one.
fn stored(tui: &mut TestTui) {
    tui.app.status.session = Some(SessionInfo {
        file: "/s/own.jsonl".into(),
        ..SessionInfo::default()
    });
}

fn command(tui: &mut TestTui, text: &str) {
    tui.write(text);
    tui.key("enter");
}

fn done(tui: &mut TestTui, result: EffectResult) {
    tui.send(Msg::Done(result));
}

/// A prompt and its answer.
fn talked(tui: &mut TestTui) {
    for message in [
        Message::user("Where is the token checked?", 1),
        Message::Assistant(AssistantMessage {
            content: vec![Content::text(
                "The token is checked in `auth.rs`:\n\n```rust\nlet token = read();\n```\n\nThat is all of the token.",
            )],
            ..AssistantMessage::default()
        }),
    ] {
        let message = Arc::new(message);
        tui.agent(AgentEvent::MessageStart {
            message: Arc::clone(&message),
        });
        tui.agent(AgentEvent::MessageEnd { message });
    }
}

fn tree(tui: &mut TestTui) {
    command(tui, "/tree");
    let outline = Outline::of(&app_tree::session().snapshot());
    done(tui, EffectResult::Tree(Box::new(outline)));
}

fn preview() -> Preview {
    let file = |path: &str, change, lines| FilePreview {
        path: path.into(),
        change,
        lines,
        diff: "-1 old\n+1 new".into(),
    };
    Preview {
        direction: Direction::Undo,
        turn: "t".into(),
        prompt: "Fix the login bug in auth.rs; keep the tests green".into(),
        files: vec![
            file("src/auth.rs", FileChange::Changed, Some((1, 3))),
            file("tests/auth.rs", FileChange::Deleted, Some((0, 14))),
            file("logo.png", FileChange::Added, None),
        ],
        kept: vec![Kept {
            path: "src/main.rs".into(),
            why: "changed since".into(),
        }],
    }
}

fn rewind(tui: &mut TestTui) {
    command(tui, "/rewind");
    let point = |entry: &str, prompt: &str, files| RewindPoint {
        entry: entry.into(),
        prompt: prompt.into(),
        all_turns: [].into(),
        first: 0,
        files,
    };
    let points = vec![
        point("a", "Fix the login bug in auth.rs; keep the tests green", 3),
        point("b", "Now the docs", 0),
    ];
    done(tui, EffectResult::RewindPoints(points));
}

fn facts() -> SessionFacts {
    let mut facts = SessionFacts {
        path: "/s/own.jsonl".into(),
        id: "8dddd54b358f".into(),
        cwd: "/home/me/shop".into(),
        began: "2026-11-22T10:00:00Z".into(),
        model: Some("lab/one".into()),
        prompts: 1_200,
        answers: 3_000,
        branches: 2,
        entries: 40,
        size: 1_200_000,
        first_prompt: "The first thing".into(),
        last_prompt: "The last thing".into(),
        last_answer: "An answer\nin two lines".into(),
        ..SessionFacts::default()
    };
    facts.usage.input = 12_000;
    facts.usage.cost.total = 0.25;
    facts
}

fn sessions(tui: &mut TestTui) {
    stored(tui);
    command(tui, "/resume");
    let now = tui.now;
    let rows = vec![
        app_sessions::row("a", "Fix the login", SessionState::Closed, now),
        app_sessions::row("b", "Write the docs", SessionState::Idle, now),
        app_sessions::row("c", "日本語で書く", SessionState::Closed, now),
    ];
    let listed = SessionResult::List(SessionScope::Folder, Ok(rows));
    done(tui, EffectResult::Session(listed));
    let known = SessionResult::Preview("/s/a.jsonl".into(), Ok(Arc::new(facts())));
    done(tui, EffectResult::Session(known));
}
