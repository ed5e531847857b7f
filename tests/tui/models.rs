//! Choosing a model on the screen: the list, favourites and thinking levels.

use std::sync::Arc;

use ratatui_core::layout::Size;
use tiller::agent::{Phase, RunState};
use tiller::app::models::{KeyState, ModelEntry, ModelList};
use tiller::app::tui::composer::SavedDraft;
use tiller::app::tui::effects::effect::{Direction, Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, FoundModel, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::popups::{ModelPicker, ModelsState, Overlay};
use tiller::app::tui::terminal::input::{InputEvent, MouseEventKind};
use tiller::llm::{Api, Model, PriceTier, Prices, ThinkingLevel};

use super::app_kit::{TestTui, model};

fn row(full_id: &str, window: u64, prices: (f64, f64), key: KeyState) -> ModelEntry {
    let (provider, id) = full_id.split_once('/').expect("provider/id");
    let mut model = Model::new(provider, id, Api::OpenAiChat, "https://api.example/v1");
    model.name = format!("Name of {id}");
    model.context_window = window;
    (model.prices.input, model.prices.output) = prices;
    model.vision = window > 100_000;
    model.reasoning = window > 200_000;
    ModelEntry {
        model: Arc::new(model),
        key,
        origin: "built in".into(),
    }
}

fn missing() -> KeyState {
    KeyState::Missing("Set it with: export OPENAI_API_KEY=YOUR_KEY".into())
}

pub(super) fn listing() -> Arc<ModelList> {
    let mut own = row("anthropic/x", 0, (0.0, 0.0), KeyState::Ready);
    own.model = Arc::new(Model {
        prices: Prices {
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
            tiers: vec![PriceTier {
                above: 200_000,
                input: 6.0,
                output: 22.5,
                ..PriceTier::default()
            }],
            ..Prices::default()
        },
        ..model()
    });
    let mut rows = vec![
        row("ollama/qwen3:8b", 32_768, (0.0, 0.0), KeyState::Ready),
        own,
        row("openai/gpt-5.5", 400_000, (1.25, 10.0), missing()),
        row(
            "openrouter/openai/gpt-5.5",
            400_000,
            (1.25, 10.0),
            KeyState::Ready,
        ),
    ];
    for number in 0..500 {
        let id = format!("lab/model-{number}");
        rows.push(row(&id, 128_000, (0.1, 0.5), KeyState::Ready));
    }
    Arc::new(ModelList { rows, error: None })
}

/// A screen with the model list open and loaded.
fn open(width: u16, height: u16) -> TestTui {
    let mut tui = TestTui::new(width, height);
    assert_eq!(tui.key("ctrl+l"), [Effect::ListModels]);
    tui.send(Msg::Done(EffectResult::Models(listing())));
    tui.frame();
    tui
}

fn set(full_id: &str) -> impl Fn(&Effect) -> bool {
    move |effect| matches!(effect, Effect::SetModel(model) if model.full_id() == full_id)
}

#[test]
fn the_list_opens_at_once_and_fills_without_moving() {
    let mut tui = TestTui::new(80, 24);
    tui.key("ctrl+l");
    let before = tui.frame();
    assert!(
        before.contains("Models") && before.contains("Reading…"),
        "{before}"
    );
    tui.send(Msg::Done(EffectResult::Models(listing())));
    let after = tui.frame();
    let edges = |frame: &str| -> Vec<usize> {
        let lines = frame.lines().enumerate();
        lines
            .filter(|(_, line)| line.contains('╭') || line.contains('╰'))
            .map(|(y, _)| y)
            .collect()
    };
    assert_eq!(edges(&before), edges(&after));
    assert!(after.contains("● anthropic/claude-sonnet-5-5"), "{after}");
}

#[test]
fn every_size_shows_the_list_and_its_keys() {
    for (width, height) in [(40, 10), (60, 15), (80, 24), (120, 36), (200, 60)] {
        let mut tui = open(width, height);
        tui.running(Phase::Streaming);
        let frame = tui.frame();
        for word in ["anthropic/claude-sonnet-5-5", "200k", "Esc"] {
            assert!(frame.contains(word), "{width}x{height} {word}\n{frame}");
        }
        assert!(frame.contains("Esc stops"), "{width}x{height}\n{frame}");
        if matches!(width, 40 | 80) {
            insta::assert_snapshot!(format!("models_{width}x{height}"), tui.frame());
        }
    }
    for width in [0, 1, 6, 7, 12, 39] {
        for height in [0, 1, 3, 5, 9, 12] {
            let mut tui = open(width, height);
            tui.write("x");
            tui.key("pagedown");
            tui.frame();
        }
    }
}

#[test]
fn typing_filters_and_enter_chooses() {
    let mut tui = open(80, 24);
    tui.write("gpt");
    let frame = tui.frame();
    assert!(
        frame.contains("2 of 504") && !frame.contains("qwen3"),
        "{frame}"
    );
    // The model with a key comes first.
    let effects = tui.key("enter");
    assert!(
        effects.iter().any(set("openrouter/openai/gpt-5.5")),
        "{effects:?}"
    );
    assert!(tui.app.overlays.is_empty());
    let frame = tui.frame();
    assert!(frame.contains("gpt-5.5"), "{frame}");
    // The current model comes first, then the one used before it.
    tui.key("ctrl+l");
    let Some(Overlay::Models(picker)) = tui.app.overlays.last() else {
        panic!("the list must be open")
    };
    let rows = &tui.app.models.listing.rows;
    let first: Vec<String> = picker.picker.matches()[..2]
        .iter()
        .map(|at| rows[*at].model.full_id())
        .collect();
    assert_eq!(
        first,
        ["openrouter/openai/gpt-5.5", "anthropic/claude-sonnet-5-5"]
    );
}

#[test]
fn a_missing_key_says_what_to_set() {
    let mut tui = open(80, 24);
    tui.write("openai/gpt");
    tui.key("down");
    let frame = tui.frame();
    assert!(
        frame.contains("no key") && frame.contains("export OPENAI_API_KEY"),
        "{frame}"
    );
    let effects = tui.key("enter");
    assert!(effects.iter().any(set("openai/gpt-5.5")));
    let frame = tui.frame();
    assert!(frame.contains("yet. Set it with"), "{frame}");
    let found = FoundModel {
        model: Arc::new(model()),
        thinking: None,
        key: KeyState::Missing(
            "Set it with: tiller auth add lab; inside tiller: /login lab".into(),
        ),
    };
    tui.send(Msg::Done(EffectResult::Model("x".into(), Ok(found))));
    let told = format!("No API key for {} yet", model().provider);
    assert!(tui.frame().contains(&told), "{}", tui.frame());
}

#[test]
fn the_details_show_everything_known_about_a_model() {
    // Window, output limit, prices with tiers, inputs, thinking, wire and address.
    for (width, height) in [(100, 30), (80, 24)] {
        let frame = open(width, height).frame();
        let inside = frame.lines().skip_while(|line| !line.starts_with("│ ───"));
        let inside = inside.take_while(|line| !line.contains('╰'));
        let seen: Vec<&str> = inside
            .map(|line| line.trim_matches(|c: char| c == '│' || c == ' '))
            .collect();
        let seen = seen.join(" ");
        let of_others = ["tiller", "for:", "From:"];
        assert!(!of_others.iter().any(|word| seen.contains(word)), "{seen}");
        for word in [
            "window 200,000",
            "output 32,000",
            "text, images",
            "$3 in, $15 out",
            "above 200k: $6 in, $22.5 out",
            "Thinking: off, minimal, low, medium, high",
            "anthropic-messages at http://127.0.0.1:1",
        ] {
            assert!(seen.contains(word), "{width}x{height} {word}\n{seen}");
        }
    }
}

#[test]
fn arrows_pages_and_the_mouse_move_the_selection() {
    let mut tui = open(80, 24);
    let at = |tui: &TestTui| match tui.app.overlays.last() {
        Some(Overlay::Models(picker)) => picker.picker.selected(),
        _ => panic!("the list must be open"),
    };
    // One model has no key and only shows on request.
    tui.key("end");
    assert_eq!(at(&tui), 502);
    tui.key("alt+a");
    for (key, expected) in [
        ("down", 1),
        ("ctrl+n", 2),
        ("ctrl+p", 1),
        ("up", 0),
        ("up", 0),
        ("end", 503),
        ("down", 503),
        ("home", 0),
    ] {
        tui.key(key);
        tui.frame();
        assert_eq!(at(&tui), expected, "{key}");
    }
    tui.key("pagedown");
    let page = at(&tui);
    assert!(page > 3, "{page}");
    tui.key("pageup");
    assert_eq!(at(&tui), 0);
    tui.mouse(MouseEventKind::ScrollDown, 10, 5);
    assert_eq!(at(&tui), 3);
    for _ in 0..30 {
        tui.mouse(MouseEventKind::ScrollDown, 10, 5);
    }
    let frame = tui.frame();
    let list = tui.app.areas.list;
    let third = frame
        .lines()
        .nth(usize::from(list.y) + 2)
        .expect("an entry");
    let id = third
        .split_whitespace()
        .find(|word| word.contains("lab/"))
        .expect("an id");
    let effects = tui.click(list.x + 1, list.y + 2);
    assert!(effects.iter().any(set(id)), "{id} {effects:?}");
}

#[test]
fn an_error_in_the_models_file_shows_above_the_list() {
    let error = "models.toml: line 3: expected a value. tiller keeps using the last version that it could read.";
    for (width, height) in [(80, 24), (40, 10)] {
        let mut tui = TestTui::new(width, height);
        tui.key("ctrl+l");
        let told = ModelList {
            rows: listing().rows.clone(),
            error: Some(error.into()),
        };
        tui.send(Msg::Done(EffectResult::Models(Arc::new(told))));
        // Local servers answer later. The file still has its error.
        tui.send(Msg::Done(EffectResult::Models(listing())));
        let frame = tui.frame();
        assert!(frame.contains("models.toml: line 3"), "{frame}");
        assert!(frame.contains("claude-sonnet-5-5"), "{frame}");
        tui.key("esc");
        tui.key("ctrl+l");
        assert!(!tui.frame().contains("line 3"));
    }
}

#[test]
fn esc_closes_the_list_and_keeps_the_draft() {
    let mut tui = TestTui::new(80, 24);
    tui.write("a draft");
    tui.key("ctrl+l");
    tui.write("gpt");
    assert_eq!(tui.key("esc"), []);
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.text(), "a draft");
    tui.send(Msg::Done(EffectResult::Models(listing())));
    assert!(
        tui.app.overlays.is_empty(),
        "a late list does not reopen the popup"
    );
}

#[test]
fn a_paste_searches_and_a_resize_keeps_the_selection_visible() {
    let mut tui = open(80, 24);
    tui.send(Msg::Input(InputEvent::Paste("lab/model-4\n".into())));
    tui.key("end");
    tui.send(Msg::Resize(Size::new(40, 10)));
    let frame = tui.frame();
    let Some(Overlay::Models(picker)) = tui.app.overlays.last() else {
        panic!("the list must be open")
    };
    let id = picker
        .entry(&tui.app.models.listing)
        .expect("an entry")
        .model
        .full_id();
    assert!(frame.contains(&id), "{id}\n{frame}");
}

#[test]
fn a_name_after_the_command_is_looked_up() {
    let mut tui = TestTui::new(80, 24);
    tui.write("/model opus:high ");
    assert_eq!(tui.key("enter"), [Effect::FindModel("opus:high".into())]);
    assert_eq!(tui.text(), "");
    let found = FoundModel {
        model: listing().rows[3].model.clone(),
        thinking: Some(ThinkingLevel::Low),
        key: KeyState::Ready,
    };
    tui.running(Phase::Streaming);
    let effects = tui.send(Msg::Done(EffectResult::Model("x".into(), Ok(found))));
    assert!(effects.iter().any(set("openrouter/openai/gpt-5.5")));
    assert_eq!(effects[1], Effect::SetThinking(ThinkingLevel::Low));
    let frame = tui.frame();
    assert!(frame.contains("from the next model call on"), "{frame}");
    assert!(frame.contains("low"), "{frame}");
    let error = "'x' can mean several models".to_owned();
    tui.send(Msg::Done(EffectResult::Model("x".into(), Err(error))));
    assert!(tui.frame().contains("can mean several"));
    let error = "unknown model 'sonet': did you mean 'sonnet'?\nLooked in the built-in models";
    tui.send(Msg::Done(EffectResult::Model(
        "x".into(),
        Err(error.to_owned()),
    )));
    tui.state(RunState::Idle);
    let frame = tui.frame();
    let said = "unknown model 'sonet': did you mean 'sonnet'? · Ctrl+L lists all models";
    assert!(frame.contains(said), "{frame}");
    assert_eq!(tui.app.status.model.full_id(), "openrouter/openai/gpt-5.5");
    assert_eq!(tui.text(), "/model x", "to correct it");
    tui.write("/model");
    assert_eq!(tui.key("enter"), [Effect::ListModels]);
}

#[test]
fn choosing_a_model_ends_the_demo() {
    let mut tui = open(80, 24);
    let demo = Model {
        provider: "demo".into(),
        ..model()
    };
    tui.app.status.model = Arc::new(demo);
    let exit = |model: Option<&str>, text: &str, notice: Option<&str>| {
        let draft = SavedDraft {
            text: text.to_owned(),
            notice: notice.map(str::to_owned),
            ..SavedDraft::default()
        };
        let kind = ExitKind::Anew(model.map(str::to_owned), draft);
        [Effect::Terminal(TerminalEffect::Exit(kind))]
    };
    tui.write("qwen");
    assert_eq!(tui.key("enter"), exit(Some("ollama/qwen3:8b"), "", None));
    tui.write("not sent yet");
    let notice = "The key is stored";
    let stored = EffectResult::KeyStored(Ok(notice.into()));
    let exit = exit(None, "not sent yet", Some(notice));
    assert_eq!(tui.send(Msg::Done(stored)), exit);
}

#[test]
fn next_favourite_wraps_around() {
    let mut tui = TestTui::new(80, 24);
    assert_eq!(
        tui.key("ctrl+p"),
        [Effect::FindFavorites(Direction::Forward)]
    );
    let listing = listing();
    let favorites = [1, 2, 0].map(|at| FoundModel {
        model: listing.rows[at].model.clone(),
        thinking: None,
        key: listing.rows[at].key.clone(),
    });
    let mut go = |way| {
        let favorites = favorites.to_vec();
        tui.send(Msg::Done(EffectResult::Favorites(favorites, way)));
        let has_key = !tui.frame().contains("No key for");
        (tui.app.status.model.full_id(), has_key)
    };
    for (way, id, has_key) in [
        (Direction::Forward, "openai/gpt-5.5", false),
        (Direction::Forward, "ollama/qwen3:8b", true),
        (Direction::Forward, "anthropic/claude-sonnet-5-5", true),
        (Direction::Back, "ollama/qwen3:8b", true),
    ] {
        assert_eq!(go(way), (id.to_owned(), has_key));
    }
    // Without favourites the key cycles through the session's models.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        tui.send(Msg::Done(EffectResult::Favorites(
            Vec::new(),
            Direction::Forward,
        )));
        seen.insert(tui.app.status.model.full_id());
    }
    assert_eq!(seen.len(), 3);
    let mut alone = TestTui::new(80, 24);
    let effects = alone.send(Msg::Done(EffectResult::Favorites(
        Vec::new(),
        Direction::Forward,
    )));
    assert_eq!(effects, []);
    assert!(
        alone.frame().contains("No other model"),
        "{}",
        alone.frame()
    );
}

#[test]
fn thinking_moves_within_the_models_levels() {
    let mut tui = TestTui::new(100, 24);
    assert!(tui.frame().contains("claude-sonnet-5-5 high"));
    assert_eq!(tui.key("alt+."), [], "high is its maximum");
    assert!(
        tui.frame().contains("high is the highest level"),
        "{}",
        tui.frame()
    );
    assert_eq!(
        tui.key("alt+,"),
        [Effect::SetThinking(ThinkingLevel::Medium)]
    );
    assert!(tui.frame().contains("claude-sonnet-5-5 medium"));
    tui.write("/thinking minimal");
    assert_eq!(
        tui.key("enter"),
        [Effect::SetThinking(ThinkingLevel::Minimal)]
    );
    for (typed, says) in [
        ("/thinking max", "choose off, minimal, low, medium, high"),
        ("/thinking hard", "unknown thinking level"),
        ("/thinking", "Thinking: minimal"),
    ] {
        tui.write(typed);
        assert_eq!(tui.key("enter"), [], "{typed}");
        let frame = tui.frame();
        assert!(frame.contains(says), "{typed}\n{frame}");
    }
}

#[test]
fn the_default_is_saved_only_on_request() {
    let mut tui = open(80, 24);
    tui.write("qwen");
    let save = Effect::SaveDefault("ollama/qwen3:8b".into());
    assert_eq!(tui.key("ctrl+s"), [save]);
    assert!(!tui.app.overlays.is_empty(), "the list stays open");
    assert_eq!(
        tui.app.status.model.full_id(),
        "anthropic/claude-sonnet-5-5"
    );
    tui.key("esc");
    assert_eq!(tui.key("ctrl+s"), [], "only the list shows which one it is");
    tui.send(Msg::Done(EffectResult::Saved(Ok("/c/config.toml".into()))));
    assert!(tui.frame().contains("/c/config.toml"));
}

/// A `ModelsState` with these models; a leading `!` means that the model has no key.
fn models(ids: &[&str], used: &[&str]) -> ModelsState {
    let mut models = ModelsState::new(row("none/none", 0, (0.0, 0.0), KeyState::Ready).model);
    for id in used.iter().rev() {
        models.use_now(&row(id, 0, (0.0, 0.0), KeyState::Ready).model);
    }
    let entry = |id: &&str| match id.strip_prefix('!') {
        Some(id) => row(id, 0, (0.0, 0.0), missing()),
        None => row(id, 0, (0.0, 0.0), KeyState::Ready),
    };
    models.listing = Arc::new(ModelList {
        rows: ids.iter().map(entry).collect(),
        error: None,
    });
    models
}

fn found(query: &str, models: &ModelsState) -> Vec<String> {
    let mut picker = ModelPicker::default();
    picker.picker.type_text(query);
    picker.search(models);
    let ids = picker
        .picker
        .matches()
        .iter()
        .map(|at| &models.listing.rows[*at].model);
    ids.map(|model| model.full_id()).collect()
}

const ALL: &[&str] = &[
    "!openai/gpt-5.5",
    "!openai/gpt-5.5-mini",
    "anthropic/claude-opus-5",
    "anthropic/claude-sonnet-5-5",
    "openrouter/openai/gpt-5.5",
    "ollama/qwen3:8b",
];

#[test]
fn without_a_query_recent_models_come_first_and_keyless_last() {
    let models = models(ALL, &["anthropic/claude-sonnet-5-5", "ollama/qwen3:8b"]);
    assert_eq!(
        found(" ", &models),
        [
            "anthropic/claude-sonnet-5-5",
            "ollama/qwen3:8b",
            "anthropic/claude-opus-5",
            "openrouter/openai/gpt-5.5",
        ]
    );
    let mut picker = ModelPicker {
        all: true,
        ..ModelPicker::default()
    };
    picker.search(&models);
    let last = picker.picker.matches().last();
    assert_eq!(
        (last, picker.hidden),
        (Some(&1), 0),
        "models without a key are last"
    );
}

#[test]
fn word_matches_and_available_keys_rank_first() {
    let models = models(ALL, &[]);
    for (query, expected) in [
        (
            "gpt-5.5",
            &[
                "openrouter/openai/gpt-5.5",
                "openai/gpt-5.5",
                "openai/gpt-5.5-mini",
            ][..],
        ),
        ("MINI gpt", &["openai/gpt-5.5-mini"]),
        (
            "anth",
            &["anthropic/claude-opus-5", "anthropic/claude-sonnet-5-5"],
        ),
        ("claopus", &["anthropic/claude-opus-5"]),
        // Letters from the middle of words are too weak a match.
        ("cldopus", &[]),
        ("qwen3:8", &["ollama/qwen3:8b"]),
        ("!^$'", &[]),
        ("zzz", &[]),
    ] {
        let found = found(query, &models);
        assert_eq!(
            found.first().map(String::as_str),
            expected.first().copied(),
            "{query}"
        );
        let mut found = found;
        let mut expected = expected.to_vec();
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn a_new_listing_keeps_the_selection() {
    let no_models = models(&[], &[]);
    let mut models = models(&["a/one", "a/two", "a/three"], &[]);
    let mut picker = ModelPicker::default();
    for (at, name, added) in [
        (1, "a/two", "ollama/new"),
        (0, "ollama/new", "ollama/newer"),
    ] {
        let mut rows = models.listing.rows.clone();
        rows.insert(0, row(added, 0, (0.0, 0.0), KeyState::Ready));
        let listing = Arc::new(ModelList { rows, error: None });
        picker.search(&models);
        picker.picker.go(at);
        let before = std::mem::replace(&mut models.listing, listing);
        picker.refresh(&before, &models);
        let entry = picker.entry(&models.listing).expect("an entry");
        assert_eq!(entry.model.full_id(), name);
    }
    picker.picker.go(100);
    assert_eq!(picker.picker.selected(), 4);
    picker.picker.go(-100);
    assert_eq!(picker.picker.selected(), 0);
    picker.refresh(&models.listing, &no_models);
    assert!(picker.entry(&ModelList::default()).is_none());
}

#[test]
fn a_prompt_waits_for_a_model_that_the_user_chooses() {
    let mut tui = TestTui::new(80, 20);
    tui.app.start.must_choose = true;
    tui.write("fix it");
    let effects = tui.key("enter");
    assert!(
        !effects.iter().any(|it| matches!(it, Effect::Prompt(_))),
        "{effects:?}"
    );
    assert!(matches!(tui.app.overlays.last(), Some(Overlay::Models(_))));
    assert_eq!(tui.app.composer.text(), "fix it");
    tui.app.overlays.clear();
    tui.app.start.must_choose = false;
    tui.wait(1000);
    let effects = tui.key("enter");
    assert!(
        effects.iter().any(|it| matches!(it, Effect::Prompt(_))),
        "{effects:?}"
    );
}
