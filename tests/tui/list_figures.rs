//! Measures the cost of a frame and a key while a list of a hundred or very many entries is open:
//! `cargo test --test main list_figures -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use std::path::Path;
use tiller::agent::session::{Body, Session, SessionState};
use tiller::app::branches::Outline;
use tiller::app::models::ModelList;
use tiller::app::sessions::SessionScope;
use tiller::app::tui::composer::History;
use tiller::app::tui::effects::session_effect::SessionResult;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::llm::Message;

use super::app_kit::TestTui;
use super::{app_sessions, models};

const FRAMES: u32 = 20;

fn done(tui: &mut TestTui, result: EffectResult) {
    tui.send(Msg::Done(result));
}

fn paths(tui: &mut TestTui, count: usize) {
    tui.write("look at src/");
    tui.key("tab");
    let names = (0..count).map(|n| format!("name_{n}.rs")).collect();
    done(tui, EffectResult::Folder("src/".into(), names));
}

fn sessions(tui: &mut TestTui, count: usize) {
    tui.write("/resume");
    tui.key("enter");
    let row = |n| {
        app_sessions::row(
            &format!("s{n}"),
            &format!("Do {n}"),
            SessionState::Closed,
            0,
        )
    };
    let rows = (0..count).map(row).collect();
    let listed = SessionResult::List(SessionScope::Folder, Ok(rows));
    done(tui, EffectResult::Session(listed));
}

/// Every entry starts a branch below the previous one, and none is on the current path.
fn tree(tui: &mut TestTui, count: usize) {
    let mut session = Session::unstored(Path::new("/w"));
    let mut say = |text: &str| {
        let message = json!({"role": "user", "content": text, "timestamp": 1});
        let message: Message = serde_json::from_value(message).expect("a message");
        let message = Arc::new(message);
        session.append(Body::Message { message });
        session.tree().leaf().expect("said")
    };
    let first = say("first");
    for n in 0..count {
        say(&format!("Say {n}"));
    }
    session.go_to(Some(first));
    let message = json!({"role": "user", "content": "other", "timestamp": 1});
    let message: Message = serde_json::from_value(message).expect("a message");
    let message = Arc::new(message);
    session.append(Body::Message { message });
    tui.write("/tree");
    tui.key("enter");
    let outline = Box::new(Outline::of(&session.snapshot()));
    done(tui, EffectResult::Tree(outline));
    tui.key("end");
}

fn history(tui: &mut TestTui, count: usize) {
    let prompts = (0..count.min(10_000)).map(|n| format!("Do {n}\n{}", "more\n".repeat(300)));
    done(tui, EffectResult::History(History::new(prompts.collect())));
    tui.key("ctrl+r");
}

fn model_list(tui: &mut TestTui, count: usize) {
    tui.key("ctrl+l");
    let listing = models::listing();
    let rows = listing.rows.iter().cycle().take(count).cloned().collect();
    done(
        tui,
        EffectResult::Models(Arc::new(ModelList { rows, error: None })),
    );
}

#[test]
#[ignore = "measures only; it checks nothing"]
fn figures() {
    type Open = fn(&mut TestTui, usize);
    let lists: [(&str, Open); 5] = [
        ("Tab in a folder", paths),
        ("/resume", sessions),
        ("/tree", tree),
        ("Ctrl+R", history),
        ("/model", model_list),
    ];
    for (name, open) in lists {
        for count in [100, 100_000] {
            let mut tui = TestTui::new(120, 40);
            open(&mut tui, count);
            tui.frame();
            let begun = Instant::now();
            (0..FRAMES).for_each(|_| drop(tui.frame()));
            let frame = begun.elapsed() / FRAMES;
            let begun = Instant::now();
            tui.key("down");
            let down = begun.elapsed();
            let begun = Instant::now();
            tui.write("4");
            let key = begun.elapsed();
            println!(
                "{name:16} {count:7} entries: {frame:10.1?} a frame, {down:10.1?} down, {key:10.1?} a letter"
            );
        }
    }
}
