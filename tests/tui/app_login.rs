//! Adding API keys, messages for unbound keys, the bell, the mouse and `/stats`.

use tiller::agent::{AgentEvent, Phase, RunState};
use tiller::app::models::ProviderKey;
use tiller::app::notify::Notify;
use tiller::app::tui::app::Start;
use tiller::app::tui::composer::SavedDraft;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::keymap::Keymap;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::options::ExitKind;
use tiller::app::tui::terminal::input::InputEvent;
use tiller::llm::Secret;

use super::app_kit::TestTui;

fn command(tui: &mut TestTui, text: &str) -> Vec<Effect> {
    tui.write(text);
    tui.key("enter")
}

pub(super) fn providers() -> Msg {
    let provider = |name: &str, place: Option<&str>| ProviderKey {
        name: name.into(),
        place: place.map(str::to_owned),
    };
    Msg::Done(EffectResult::Providers(vec![
        provider("openai", Some("environment variable OPENAI_API_KEY")),
        provider("anthropic", None),
        provider("google", None),
    ]))
}

#[test]
fn a_key_is_stored_and_never_shown() {
    let mut tui = TestTui::new(80, 24);
    assert_eq!(command(&mut tui, "/login"), [Effect::ListProviders]);
    tui.send(providers());
    insta::assert_snapshot!("login_providers", tui.frame());
    tui.write("anth");
    assert_eq!(tui.key("enter"), []);
    tui.now += 300;
    assert_eq!(tui.key("enter"), [], "no key is typed yet");
    assert!(
        tui.frame().contains("Type or paste a key"),
        "{}",
        tui.frame()
    );
    tui.write("sk-an");
    tui.send(Msg::Input(InputEvent::Paste("t-secret\u{e9}\n".into())));
    assert_eq!(tui.key("enter"), []);
    assert!(tui.frame().contains("doesn't look like"), "{}", tui.frame());
    tui.key("backspace");
    insta::assert_snapshot!("login_key", tui.frame());
    assert!(!format!("{:?}", tui.app).contains("secret"));
    let stored = Effect::StoreKey("anthropic".into(), Secret::new("sk-ant-secret"));
    assert_eq!(tui.key("enter"), [stored]);
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.text(), "");
    let done = EffectResult::KeyStored(Ok("The key for anthropic is stored".into()));
    assert_eq!(tui.send(Msg::Done(done)), [Effect::ListModels]);
    assert!(tui.frame().contains("The key for anthropic is stored"));
}

#[test]
fn the_login_command_takes_a_provider() {
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/login google");
    tui.send(providers());
    assert!(tui.frame().contains("Key for google"), "{}", tui.frame());
    tui.key("esc");
    assert!(tui.frame().contains("API keys"), "{}", tui.frame());
    tui.key("esc");
    command(&mut tui, "/login gogle");
    tui.send(providers());
    assert!(
        tui.frame()
            .contains("No provider 'gogle'; did you mean google?"),
        "{}",
        tui.frame()
    );
}

#[test]
fn the_list_finds_the_provider_of_a_product_and_servers_without_keys() {
    for (typed, expected) in [
        ("claude", "anthropic  "),
        ("chatgpt", "openai  "),
        ("gpt", "openai  "),
        ("gemini", "google  "),
        ("ollama", "ollama needs no key: start it"),
        ("LM Studio", "lmstudio needs no key: start it"),
        ("llama.cpp", "llamacpp needs no key: start it"),
        ("nobody", "No match. Choose the provider first"),
    ] {
        let mut tui = TestTui::new(80, 24);
        command(&mut tui, "/login");
        tui.send(providers());
        tui.write(typed);
        let frame = tui.frame();
        let names = ["anthropic  ", "openai  ", "google  "];
        let listed = names.iter().filter(|name| frame.contains(**name)).count();
        assert!(frame.contains(expected), "{typed}: {frame}");
        assert_eq!(listed, usize::from(names.contains(&expected)), "{frame}");
    }
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/login ollama");
    tui.send(providers());
    let frame = tui.frame();
    assert!(frame.contains("ollama needs no key"), "{frame}");
}

#[test]
fn a_key_in_the_list_of_providers_is_not_shown() {
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/login");
    tui.send(providers());
    tui.send(Msg::Input(InputEvent::Paste("sk-ant-secret".into())));
    let frame = tui.frame();
    assert!(frame.contains("› •••••••••••••"), "{frame}");
    assert!(!frame.contains("secret"), "{frame}");
    tui.now += 300;
    assert_eq!(tui.key("enter"), []);
    let frame = tui.frame();
    assert!(frame.contains("Choose the provider first"), "{frame}");
    assert!(frame.contains("google  "), "{frame}");
}

/// Storing a key ends the demo, so the next screen shows the notice.
#[test]
fn a_stored_key_is_confirmed_on_the_next_screen() {
    for text in ["", "fix the bug"] {
        let mut tui = TestTui::new(80, 24);
        tui.send(Msg::Done(EffectResult::Draft(SavedDraft {
            notice: Some("Stored the key for anthropic".into()),
            text: text.into(),
            ..SavedDraft::default()
        })));
        let frame = tui.frame();
        assert!(frame.contains("Stored the key for anthropic"), "{frame}");
        assert!(!frame.contains("commands' output"), "{frame}");
        assert_eq!(tui.text(), text);
        // The notice shows once, even if the user types nothing.
        tui.now += 1000;
        let saved = SavedDraft {
            text: text.into(),
            taken: 1,
            ..SavedDraft::default()
        };
        assert_eq!(tui.send_all(Msg::Tick), [Effect::SaveDraft(saved)]);
    }
}

/// The history is a file, so a key must not get into it.
#[test]
fn a_key_after_the_command_is_refused_and_not_saved() {
    for (typed, kept) in [
        ("/login anthropic sk-ant-1234", "/login anthropic "),
        ("/login sk-ant-1234", "/login "),
    ] {
        let mut tui = TestTui::new(80, 24);
        assert_eq!(command(&mut tui, typed), []);
        assert_eq!(tui.text(), kept);
        let frame = tui.frame();
        assert!(frame.contains("The key was not stored"), "{frame}");
        assert!(!frame.contains("sk-ant"), "{frame}");
        tui.key("up");
        assert!(!tui.frame().contains("sk-ant"), "{}", tui.frame());
    }
}

/// A prompt may start with the word login or mention keys.
#[test]
fn a_prompt_about_keys_is_saved() {
    let typed = "/login returns 500 when the form is posted twice";
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, typed);
    assert_eq!(tui.text(), typed);
    let frame = tui.frame();
    assert!(frame.contains("//login … sends it as text"), "{frame}");
    for typed in [typed, "Mend tiller auth add in /srv/2026-11-24/auth_add.rs"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(typed);
        assert_eq!(tui.app.draft().text, typed);
        tui.key("ctrl+c");
        tui.key("up");
        assert_eq!(tui.text(), typed);
    }
}

/// The draft and the history are files, so a key being typed must not get into them.
#[test]
fn a_key_being_typed_is_in_neither_draft_nor_history() {
    for typed in [
        "/login anthropic sk-ant-1234",
        "!tiller auth add x sk-ant-1234",
    ] {
        let mut tui = TestTui::new(80, 24);
        tui.write(typed);
        let mut effects = tui.send_all(Msg::End(ExitKind::Quit));
        let clear = "ctrl+c".parse().unwrap();
        effects.extend(tui.send_all(Msg::Input(InputEvent::Key(clear))));
        assert_eq!(tui.text(), "");
        assert!(!format!("{effects:?}").contains("sk-ant"), "{effects:?}");
    }
}

#[test]
fn a_key_of_another_provider_is_stored_only_on_a_second_enter() {
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/login anthropic");
    tui.send(providers());
    let frame = tui.frame();
    let page = "Get one at https://console.anthropic.com/settings/keys";
    assert!(frame.contains(page), "{frame}");
    tui.write("sk-proj-x");
    tui.now += 300;
    assert_eq!(tui.key("enter"), []);
    let asks = "This looks like a key for openai. Enter again stores it for anthropic";
    assert!(tui.frame().contains(asks), "{}", tui.frame());
    tui.now += 300;
    assert_eq!(tui.key("enter").len(), 1);
}

#[test]
fn an_unbound_key_says_so() {
    let mut tui = TestTui::new(80, 24);
    tui.key("f9");
    assert!(
        tui.frame()
            .contains("F9 does nothing here; F1 shows the keys"),
        "{}",
        tui.frame()
    );
}

#[test]
fn hints_only_name_keys_that_the_terminal_can_send() {
    let keymap = Keymap::with("", "steer_now = [\"ctrl+enter\", \"alt+j\"]").0;
    let mut tui = TestTui::with_keys(80, 24, Start::default(), keymap);
    tui.waiting(&["go on"], &[]);
    assert!(tui.frame().contains("\n Ctrl+Enter "), "{}", tui.frame());
    tui.app.tells_keys = false;
    assert!(tui.frame().contains("\n Alt+J "), "{}", tui.frame());
}

#[test]
fn the_bell_rings_after_a_run_if_the_window_lost_focus() {
    let idle = |tui: &mut TestTui| tui.agent(AgentEvent::State(RunState::Idle));
    let mut tui = TestTui::new(80, 24);
    tui.running(Phase::Requesting);
    assert_eq!(idle(&mut tui), [], "the window has the focus");
    tui.send(Msg::Input(InputEvent::Focus(false)));
    tui.running(Phase::Requesting);
    let call = TerminalEffect::Notify(Notify::Bell, "tiller is done");
    assert_eq!(idle(&mut tui), [Effect::Terminal(call)]);
    assert_eq!(idle(&mut tui), [], "once");
    tui.app.notify = Notify::Off;
    tui.running(Phase::Requesting);
    assert_eq!(idle(&mut tui), []);
}

#[test]
fn the_mouse_command_toggles_mouse_capture() {
    let mut tui = TestTui::new(80, 24);
    let mouse = |on| [Effect::Terminal(TerminalEffect::Mouse(on))];
    assert_eq!(command(&mut tui, "/mouse"), mouse(false));
    assert_eq!(command(&mut tui, "/mouse"), mouse(true));
}

#[test]
fn stats_show_the_cost_of_the_session() {
    let mut tui = TestTui::new(80, 24);
    command(&mut tui, "/cost");
    assert!(tui.frame().contains("model calls"), "{}", tui.frame());
    tui.key("esc");
    command(&mut tui, "/stats");
    insta::assert_snapshot!("stats_empty", tui.frame());
}
