//! The list of settings: searching, changing by keys, saving to the file, and taking effect at
//! once.

use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::popups::{Overlay, SettingOverride, SettingRow};
use tiller::app::tui::terminal::input::InputEvent;
use tiller::llm::ThinkingLevel;
use toml::Value;

use super::app_kit::{TestTui, run_command};

fn row(key: &str, value: impl Into<Value>, is_set: bool, about: &str) -> SettingRow {
    SettingRow {
        key: key.into(),
        value: value.into(),
        is_set,
        overridden: None,
        about: about.into(),
    }
}

pub(super) fn rows() -> Msg {
    Msg::Done(EffectResult::Settings(Ok(vec![
        row(
            "agent.max_iterations",
            100,
            false,
            "Model calls since your last message; 0 is no limit.",
        ),
        row(
            "agent.skip_on_steering",
            true,
            true,
            "Whether a message skips calls.",
        ),
        row(
            "agent.loop_guard.window",
            20,
            false,
            "Neither for daily use nor in the file.",
        ),
        row("models.default", "", false, "The model to start with."),
        row(
            "models.thinking",
            "medium",
            true,
            "How hard the model thinks.",
        ),
        row("ui.theme", "auto", false, "The colors."),
        row("ui.mouse", true, false, "Whether the mouse scrolls."),
        row("ui.vim", false, false, "Vim keys for the mode you type in."),
        row(
            "permission.mode",
            "auto",
            false,
            "The mode of new sessions.",
        ),
        row("budget.usd", 0.0, false, "The most to spend."),
    ])))
}

fn opened(typed: &str) -> TestTui {
    let mut tui = TestTui::new(100, 30);
    tui.write("/settings");
    assert_eq!(tui.key("enter"), [Effect::ReadSettings]);
    tui.send(rows());
    tui.write(typed);
    tui
}

#[test]
fn a_setting_is_found_by_its_key_and_by_other_words() {
    for (typed, key) in [
        ("ui.theme dark", "ui.theme"),
        ("reasoning", "models.thinking"),
        ("max turns", "agent.max_iterations"),
        ("how to change the color", "ui.theme"),
        ("theme", "ui.theme"),
        ("dark mode", "ui.theme"),
        ("model default", "models.default"),
        ("mouse turn off", "ui.mouse"),
        ("effort", "models.thinking"),
        ("mode", "permission.mode"),
        ("auto accept", "permission.mode"),
        ("cost limit", "budget.usd"),
        ("editor mode", "ui.vim"),
        ("colour", "ui.theme"),
    ] {
        let tui = opened(typed);
        let Some(Overlay::Settings(list)) = tui.app.overlays.last() else {
            panic!("{typed}");
        };
        assert_eq!(list.chosen().map(|row| &*row.key), Some(key), "{typed}");
    }
    for (typed, told) in [
        (
            "proxy",
            "Not a setting: set the variable HTTPS_PROXY instead",
        ),
        ("log", "Not a setting: set the variable TILLER_LOG"),
        ("status line", "Not a setting: tiller's status line"),
        (
            "cleanupPeriodDays",
            "Not a setting: tiller deletes no sessions",
        ),
    ] {
        let frame = opened(typed).frame();
        assert!(frame.contains(told), "{typed}: {frame}");
    }
    let frame = opened("zzqqj").frame();
    assert!(frame.contains("No match. F1 searches commands"), "{frame}");
}

#[test]
fn a_setting_that_is_changed_elsewhere_leads_there() {
    let mut tui = opened("models.default");
    assert_eq!(tui.key("enter"), [Effect::ListModels]);
    assert!(matches!(tui.app.overlays.last(), Some(Overlay::Models(_))));
    let mut tui = opened("");
    let rules = row(
        "permission.rules",
        Value::Array(Vec::new()),
        false,
        "Rules.",
    );
    tui.send(Msg::Done(EffectResult::Settings(Ok(vec![rules]))));
    tui.write("rules");
    assert_eq!(tui.key("enter"), [run_command("/permissions")]);
    let frame = opened("budget").frame();
    assert!(
        frame.contains("no limit") && !frame.contains("0.0"),
        "{frame}"
    );
}

#[test]
fn an_override_is_shown_and_stays_in_effect() {
    let mut tui = TestTui::new(100, 30);
    tui.write("/settings");
    tui.key("enter");
    let stronger = SettingOverride {
        key: "ui.mouse".into(),
        value: true.into(),
        place: "project: /home/me/shop/.tiller/config.toml:3".into(),
    };
    let rows = vec![SettingRow {
        overridden: Some(stronger),
        ..row("ui.mouse", true, false, "Whether the mouse scrolls.")
    }];
    tui.send(Msg::Done(EffectResult::Settings(Ok(rows))));
    tui.now += 300;
    let frame = tui.frame();
    let told = "project: /home/me/shop/.tiller/config.toml:3 overrides it here: on";
    assert!(frame.contains(told) && frame.contains("! on"), "{frame}");
    assert_eq!(tui.key("enter"), [save("ui.mouse", false)]);
    let effects = saved(&mut tui, "ui.mouse", false);
    assert_eq!(
        effects,
        [Effect::ReadSettings],
        "the mouse setting doesn't change"
    );
    assert!(
        tui.frame().contains("Saved, but project:"),
        "{}",
        tui.frame()
    );
}

fn save(key: &str, value: impl Into<Value>) -> Effect {
    Effect::SaveSetting(key.into(), value.into())
}

fn saved(tui: &mut TestTui, key: &str, value: impl Into<Value>) -> Vec<Effect> {
    let saved = Ok((key.into(), value.into(), "/c/config.toml".into()));
    tui.send(Msg::Done(EffectResult::SettingSaved(saved)))
}

#[test]
fn the_list_of_settings() {
    let mut tui = opened("");
    insta::assert_snapshot!("settings_100x30", tui.frame());
    let mut tui = opened("scrolls");
    assert!(
        tui.frame().contains("ui.mouse"),
        "found by what it is for: {}",
        tui.frame()
    );
    for (width, height) in [(40, 10), (6, 12), (1, 1)] {
        let mut tui = TestTui::new(width, height);
        tui.write("/settings");
        tui.key("enter");
        tui.send(rows());
        tui.frame();
    }
}

#[test]
fn keys_change_values() {
    let mut tui = opened("skip_on");
    assert_eq!(tui.key("enter"), [save("agent.skip_on_steering", false)]);
    let mut tui = opened("thinking");
    assert_eq!(tui.key("right"), [save("models.thinking", "high")]);
    // Before the file is read again.
    assert_eq!(tui.key("right"), [save("models.thinking", "xhigh")]);
    assert_eq!(tui.key("left"), [save("models.thinking", "high")]);
    assert_eq!(
        tui.key("delete"),
        [Effect::UnsetSetting("models.thinking".into())]
    );
    let mut tui = opened("ui.theme");
    assert_eq!(tui.key("delete"), [], "it has its default value");
    assert_eq!(tui.key("right"), [save("ui.theme", "dark")]);
    assert_eq!(tui.key("left"), [save("ui.theme", "auto")]);
    assert_eq!(
        tui.key("left"),
        [save("ui.theme", "system")],
        "the last built-in theme"
    );
}

/// An accidental second Enter after the command changes nothing. A deliberate one does.
#[test]
fn a_repeated_enter_after_the_command_changes_nothing() {
    let opened = || {
        let mut tui = TestTui::new(100, 30);
        tui.write("/settings ui.mouse");
        tui.key("enter");
        tui.send(rows());
        tui.now += 200;
        tui
    };
    let mut tui = opened();
    assert_eq!(tui.key("enter"), []);
    tui.now += 250;
    assert_eq!(tui.key("enter"), [save("ui.mouse", false)]);
    // After any number of accidental repeats, deliberate presses still work.
    let mut tui = opened();
    for (after, expected) in [(0, None), (40, None), (60, Some(false)), (50, Some(true))] {
        tui.now += after;
        let expected = expected.map(|value| save("ui.mouse", value));
        assert_eq!(tui.key("enter"), Vec::from_iter(expected), "{after}");
    }
    let mut tui = opened();
    tui.key("down");
    assert_eq!(tui.key("enter"), [save("ui.mouse", false)]);
    // The field for typing a value ignores an accidental Enter too.
    let mut tui = TestTui::new(100, 30);
    tui.write("/settings max_iter");
    tui.key("enter");
    tui.send(rows());
    tui.now += 300;
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.key("enter"), []);
    tui.now += 300;
    assert_eq!(tui.key("enter").len(), 1);
}

#[test]
fn a_step_starts_from_the_confirmed_value() {
    let mut tui = opened("permission.mode");
    tui.send(Msg::Done(EffectResult::Settings(Ok(vec![row(
        "permission.mode",
        "ask",
        true,
        "How much is done without a question.",
    )]))));
    assert_eq!(tui.key("right"), [save("permission.mode", "auto")]);
    assert_eq!(tui.key("right"), [], "full mode asks first");
    tui.now += 500;
    tui.write("1");
    tui.now += 500;
    assert_eq!(tui.key("enter"), [save("permission.mode", "full")]);
    assert_eq!(tui.key("left"), [save("permission.mode", "auto")]);
}

/// Common settings have names and groups. Either name finds them, and short lists of values show.
#[test]
fn settings_have_names_and_groups() {
    let frame = opened("").frame();
    assert!(!frame.contains("loop_guard"), "{frame}");
    for [group, name, key] in [
        ["Look", "Theme  ", "ui.theme"],
        ["Editor", "Mouse  ", "ui.mouse"],
        [
            "Limits",
            "Max model calls per prompt",
            "agent.max_iterations",
        ],
        ["Advanced", "agent.skip_on_steering", ""],
    ] {
        let row = frame.lines().find(|row| row.contains(name));
        let row = row.unwrap_or_else(|| panic!("{name}: {frame}"));
        assert!(row.contains(group) && row.contains(key), "{row}");
    }
    for typed in ["model calls", "limits", "agent.max"] {
        let frame = opened(typed).frame();
        assert!(frame.contains("agent.max_iterations"), "{typed}: {frame}");
    }
    let frame = opened("thinking").frame();
    assert!(
        frame.contains("off · minimal · low · medium · high"),
        "{frame}"
    );
}

/// A key undoes the last change, and pressing it again redoes it. A setting that wasn't set becomes
/// unset.
#[test]
fn the_last_change_of_a_setting_can_be_undone() {
    let mut tui = opened("thinking");
    assert_eq!(tui.key("ctrl+_"), [], "nothing has changed yet");
    saved(&mut tui, "models.thinking", "high");
    assert_eq!(tui.key("ctrl+_"), [save("models.thinking", "medium")]);
    let mut tui = opened("mouse");
    saved(&mut tui, "ui.mouse", false);
    let unset = Effect::UnsetSetting("ui.mouse".into());
    assert_eq!(tui.key("ctrl+_"), [unset]);
}

#[test]
fn values_can_be_typed() {
    let mut tui = opened("max_iter");
    assert_eq!(tui.key("enter"), []);
    tui.key("backspace");
    tui.write("x");
    assert_eq!(tui.key("enter"), []);
    assert!(
        tui.frame()
            .contains("Expected a whole number from 0, such as 100"),
        "{}",
        tui.frame()
    );
    tui.key("backspace");
    assert!(!tui.frame().contains("Expected a whole"));
    assert_eq!(tui.key("enter"), [save("agent.max_iterations", 10)]);
    // Text typed or pasted first replaces a number, but only then.
    let mut tui = opened("max_iter");
    tui.key("enter");
    tui.write("7");
    tui.write("5");
    assert_eq!(tui.key("enter"), [save("agent.max_iterations", 75)]);
    let mut tui = opened("max_iter");
    tui.key("enter");
    tui.send(Msg::Input(InputEvent::Paste("7".into())));
    assert_eq!(tui.key("enter"), [save("agent.max_iterations", 7)]);
    // The text stays until the value is checked and saved.
    let error = "/c/config.toml: the file is read-only";
    tui.send(Msg::Done(EffectResult::SettingSaved(Err(error.to_owned()))));
    let frame = tui.frame();
    assert!(frame.contains(error) && frame.contains("  7 "), "{frame}");
    assert_eq!(tui.key("enter"), [save("agent.max_iterations", 7)]);
    // Lists and amounts as in `tiller config set`.
    for (key, value, typed, expected) in [
        (
            "permission.protected",
            Value::from(vec!["~/notes"]),
            ", ~/other",
            Ok(Value::from(vec!["~/notes", "~/other"])),
        ),
        (
            "permission.protected",
            Value::Array(Vec::new()),
            "notes",
            Err("isn't an absolute path"),
        ),
        (
            "models.favorites",
            Value::Array(Vec::new()),
            "opus,sonnet",
            Ok(Value::from(vec!["opus", "sonnet"])),
        ),
        ("budget.usd", 0.0.into(), "$5", Ok(5.into())),
        ("budget.usd", 0.0.into(), "two", Err("such as 2.5")),
    ] {
        let mut tui = TestTui::new(100, 30);
        tui.write("/settings");
        tui.key("enter");
        tui.send(Msg::Done(EffectResult::Settings(Ok(vec![row(
            key,
            value,
            true,
            "About it.",
        )]))));
        tui.now += 300;
        tui.key("enter");
        let is_list = !key.starts_with("budget");
        assert_eq!(
            tui.frame().contains("Separate several with commas"),
            is_list
        );
        tui.write(typed);
        let effects = tui.key("enter");
        match expected {
            Ok(value) => assert_eq!(effects, [save(key, value)]),
            Err(told) => assert!(tui.frame().contains(told), "{}", tui.frame()),
        }
    }
    // A value too long for the field is not truncated.
    for long in ["x".repeat(201), "one\ntwo".to_owned()] {
        let mut tui = TestTui::new(100, 30);
        tui.write("/settings");
        tui.key("enter");
        let rows = vec![row("compaction.prompt", long, true, "What a summary is.")];
        tui.send(Msg::Done(EffectResult::Settings(Ok(rows))));
        tui.now += 300;
        tui.key("enter");
        assert!(tui.frame().contains("Too long to edit here"));
        tui.write("x");
        assert_eq!(tui.key("enter"), []);
    }
    // Esc returns to the list, then closes it.
    let mut tui = opened("max_iter");
    tui.key("enter");
    tui.key("esc");
    assert!(tui.frame().contains("Settings"));
    tui.key("esc");
    assert!(tui.app.overlays.is_empty());
}

#[test]
fn settings_take_effect_at_once_where_possible() {
    let mut tui = opened("");
    let anew = Effect::Terminal(TerminalEffect::LayOutAnew);
    assert_eq!(
        saved(&mut tui, "ui.theme", "nord"),
        [anew, Effect::ReadSettings]
    );
    assert_eq!(tui.app.theme.name, "nord");
    assert_eq!(
        saved(&mut tui, "ui.mouse", false),
        [
            Effect::Terminal(TerminalEffect::Mouse(false)),
            Effect::ReadSettings
        ]
    );
    assert_eq!(
        saved(&mut tui, "models.thinking", "low"),
        [
            Effect::SetThinking(ThinkingLevel::Low),
            Effect::ReadSettings
        ]
    );
    let mode = tui.app.status.permission;
    assert_eq!(
        saved(&mut tui, "permission.mode", "plan"),
        [Effect::ReadSettings],
        "it only applies to new sessions"
    );
    assert_eq!(tui.app.status.permission, mode);
    assert_eq!(
        saved(&mut tui, "agent.max_iterations", 3),
        [Effect::ReadSettings]
    );
    assert!(
        tui.frame()
            .contains("Saved: agent.max_iterations (restart tiller to use it)"),
        "{}",
        tui.frame()
    );
    let wrong = EffectResult::SettingSaved(Err("ui.theme: it is read-only".into()));
    tui.send(Msg::Done(wrong));
    assert!(tui.frame().contains("it is read-only"), "{}", tui.frame());
}

/// Neither a key nor a typed value sets full mode without asking.
#[test]
fn a_mode_of_other_agents_leads_to_ours() {
    let mut tui = TestTui::new(100, 30);
    tui.write("/permission acceptEdits");
    tui.key("enter");
    let frame = tui.frame();
    assert!(
        frame.contains("no /permission acceptEdits; use /permission auto"),
        "{frame}"
    );
}

#[test]
fn full_mode_asks_before_it_is_saved() {
    let mut asked = 0;
    for keys in [&["right"][..], &["left"], &["enter"]] {
        for mode in ["plan", "ask", "auto"] {
            let mut tui = TestTui::new(80, 24);
            tui.write("/settings permission.mode");
            tui.key("enter");
            let rows = vec![row(
                "permission.mode",
                mode,
                true,
                "What is done without a question",
            )];
            tui.send(Msg::Done(EffectResult::Settings(Ok(rows))));
            tui.now += 300;
            for key in keys {
                let effects = tui.key(key);
                assert!(
                    !effects.contains(&save("permission.mode", "full")),
                    "{effects:?}"
                );
            }
            if tui.frame().contains("Turn off all safety checks?") {
                asked += 1;
                assert_eq!(tui.key("enter"), []);
                tui.key("up");
                tui.now += 500;
                assert_eq!(tui.key("enter"), [save("permission.mode", "full")]);
            }
        }
    }
    // Right and Enter on auto, and left on plan.
    assert_eq!(asked, 3);
}
