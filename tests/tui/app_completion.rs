//! Completion of commands, their arguments, files and paths.

use insta::assert_snapshot;
use tiller::agent::permission::PermissionMode;
use tiller::agent::{Phase, RunState};
use tiller::app::action::Action;
use tiller::app::models::ProviderKey;
use tiller::app::tui::completion::CompletionKind;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::msg::{EffectResult, FoundFiles, Msg};
use tiller::app::tui::terminal::input::{InputEvent, KeyCode, KeyPress};

use super::app_kit::{TestTui, command, no_file_defines, prompt, run_command};

fn test_tui() -> TestTui {
    TestTui::new(80, 24)
}

fn files(tui: &mut TestTui, typed: &str, paths: &[&str]) {
    let found = FoundFiles {
        typed: typed.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        waits: false,
    };
    tui.send(Msg::Done(EffectResult::Files(found)));
}

fn labels(tui: &TestTui) -> Vec<String> {
    let list = tui.app.completion.iter().flat_map(|list| &list.candidates);
    list.map(|candidate| candidate.insert.clone()).collect()
}

#[test]
fn a_slash_lists_commands_and_typing_narrows_the_list() {
    let mut tui = test_tui();
    tui.write("/");
    assert!(labels(&tui).len() > 20);
    assert_snapshot!("commands", tui.frame());
    tui.write("mdl");
    assert_eq!(labels(&tui), ["/model"]);
    tui.write("xyz");
    assert!(labels(&tui).is_empty());
    assert!(
        !tui.frame().contains("Commands"),
        "the list closes when nothing matches"
    );
    for _ in 0..3 {
        tui.key("backspace");
    }
    assert_eq!(labels(&tui), ["/model"]);
    tui.key("ctrl+c");
    assert!(tui.app.completion.is_none());
}

#[test]
fn enter_runs_the_chosen_command_and_tab_completes_it() {
    let mut tui = test_tui();
    tui.write("/qu");
    let effects = tui.key("enter");
    let exits = |effect: &Effect| matches!(effect, Effect::Terminal(TerminalEffect::Exit(_)));
    assert!(effects.iter().any(exits), "{effects:?}");

    let mut tui = test_tui();
    tui.write("/comp");
    assert_eq!(tui.key("tab"), []);
    assert_eq!(tui.text(), "/compact ");
    tui.write("the tests");
    assert_eq!(tui.key("enter"), [run_command("/compact the tests")]);

    // A command that needs an argument waits for it.
    let mut tui = test_tui();
    tui.write("/nam");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "/name ");
}

#[test]
fn keys_move_through_the_list_and_esc_closes_it() {
    let mut tui = test_tui();
    tui.running(Phase::Streaming);
    tui.write("/");
    let first = labels(&tui);
    let chosen = |tui: &TestTui| tui.app.completion.as_ref().and_then(|list| list.selected);
    for (key, at) in [
        ("down", 1),
        ("ctrl+n", 2),
        ("up", 1),
        ("ctrl+p", 0),
        ("up", first.len() - 1),
        ("down", 0),
    ] {
        tui.key(key);
        assert_eq!(chosen(&tui), Some(at), "{key}");
    }
    assert_eq!(tui.key("esc"), [], "Esc closes the list, the run continues");
    assert!(tui.app.completion.is_none());
    tui.write("n");
    assert!(tui.app.completion.is_none(), "it stays closed");
    assert_eq!(tui.key("esc"), [Effect::Abort]);
    tui.key("ctrl+u");
    tui.write("/");
    assert!(tui.app.completion.is_some());
}

#[test]
fn argument_lists_mark_the_current_value() {
    let mut tui = test_tui();
    tui.write("/perm");
    tui.key("enter");
    assert_eq!(labels(&tui), ["plan", "ask", "auto", "full"]);
    assert_snapshot!("arguments", tui.frame());
    tui.write("a");
    assert_eq!(labels(&tui), ["ask", "auto"]);
    tui.key("down");
    assert_eq!(
        tui.key("enter"),
        [Effect::SetPermission(PermissionMode::Auto)]
    );
    assert_eq!(tui.text(), "");
    // A typed model name is accepted without the list.
    tui.write("/model");
    let effects = {
        tui.write(" ");
        tui.write("son");
        tui.key("enter")
    };
    assert_eq!(effects, [Effect::FindModel("son".to_owned())]);
}

#[test]
fn an_at_sign_finds_files() {
    let mut tui = test_tui();
    tui.write("fix ");
    tui.write("@");
    tui.write("au");
    let kind = tui.app.completion.as_ref().map(|list| list.kind);
    assert_eq!(kind, Some(CompletionKind::File));
    files(&mut tui, "a", &["stale"]);
    assert!(
        labels(&tui).is_empty(),
        "the results are for an older query"
    );
    files(&mut tui, "au", &["src/auth/", "src/auth.rs", "my auth.rs"]);
    assert_snapshot!("files", tui.frame());
    tui.key("enter");
    assert_eq!(tui.text(), "fix @src/auth/");
    files(&mut tui, "src/auth/", &["src/auth/mod.rs"]);
    tui.key("tab");
    assert_eq!(tui.text(), "fix @src/auth/mod.rs ");
    assert!(tui.app.completion.is_none());
    tui.write(":9-12");
    assert_eq!(tui.text(), "fix @src/auth/mod.rs:9-12");
    for _ in 0..5 {
        tui.key("backspace");
    }
    tui.write(" and @au:3-9");
    files(&mut tui, "au", &["my auth.rs"]);
    tui.key("enter");
    assert_eq!(tui.text(), "fix @src/auth/mod.rs and @\"my auth.rs\":3-9 ");
    let all = "fix @src/auth/mod.rs and @\"my auth.rs\":3-9 ";
    assert_eq!(tui.key("enter"), [Effect::CheckMentions(all.to_owned())]);
    let found = EffectResult::Mentions(all.to_owned(), None);
    assert_eq!(tui.send(Msg::Done(found)), [prompt(all)]);
}

#[test]
fn a_missing_file_is_named_before_its_message_is_sent() {
    let mut tui = test_tui();
    let typed = "see @no.rs ";
    let missing = || EffectResult::Mentions(typed.to_owned(), Some("No file no.rs.".to_owned()));
    let check = [Effect::CheckMentions(typed.to_owned())];
    tui.write(typed);
    assert_eq!(tui.key("enter"), check);
    assert_eq!(tui.send(Msg::Done(missing())), []);
    let frame = tui.frame();
    let warning = "No file no.rs. Enter again sends it as text";
    assert!(frame.contains(warning), "{frame}");
    tui.wait(1000);
    assert_eq!(tui.key("enter"), [prompt(typed)]);
    // The same message later isn't confirmed.
    tui.state(RunState::Idle);
    tui.write(typed);
    tui.wait(1000);
    assert_eq!(tui.key("enter"), check);
    // Typed before the file was looked up, so it follows the message.
    tui.write("!");
    assert_eq!(tui.text(), typed);
    assert_eq!(tui.send(Msg::Done(missing())), []);
    assert_eq!(tui.text(), "see @no.rs !");
}

#[test]
fn enter_sends_a_fully_typed_mention() {
    let mut tui = test_tui();
    tui.write("see @a.rs");
    files(&mut tui, "a.rs", &["a.rs", "src/a.rs"]);
    let check = Effect::CheckMentions("see @a.rs".to_owned());
    assert_eq!(tui.key("enter"), [check]);
    let found = EffectResult::Mentions("see @a.rs".to_owned(), None);
    assert_eq!(tui.send(Msg::Done(found)), [prompt("see @a.rs")]);
    tui.write("see @zzz");
    files(&mut tui, "zzz", &[]);
    assert_eq!(tui.key("enter"), [prompt("see @zzz")]);
}

#[test]
fn tab_completes_paths() {
    let mut tui = test_tui();
    tui.write("look at src/ma");
    assert_eq!(tui.key("tab"), [Effect::ReadFolder("src/ma".to_owned())]);
    let read = |tui: &mut TestTui, typed: &str, names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        tui.send(Msg::Done(EffectResult::Folder(typed.to_owned(), names)));
    };
    read(&mut tui, "src/ma", &["main.rs", "main_test.rs"]);
    assert_eq!(tui.text(), "look at src/main");
    assert_eq!(labels(&tui), ["src/main.rs", "src/main_test.rs"]);
    tui.key("down");
    tui.key("enter");
    assert_eq!(tui.text(), "look at src/main_test.rs");
    tui.write(" src");
    tui.key("tab");
    read(&mut tui, "src", &["src/"]);
    assert_eq!(tui.text(), "look at src/main_test.rs src/");
    tui.key("tab");
    read(&mut tui, "src/", &[]);
    assert!(tui.frame().contains("No path starts with src/"));
    // These results are late: the text has changed.
    tui.write("x ");
    read(&mut tui, "src/", &["lib.rs"]);
    assert_eq!(tui.text(), "look at src/main_test.rs src/x ");
}

/// File names are escaped so the shell can't run them, and the user can keep completing.
#[test]
fn tab_escapes_paths_for_the_shell() {
    for (typed, read, names, text) in [
        (
            "cat e",
            "e",
            &["ev;touch PWNED;.txt"][..],
            r"cat ev\;touch\ PWNED\;.txt",
        ),
        (
            "cat e",
            "e",
            &["e $(id) `x` 'a' \"b\" *?~{}|&<>#!"],
            r#"cat e\ \$\(id\)\ \`x\`\ \'a\'\ \"b\"\ \*\?\~\{\}\|\&\<\>\#\!"#,
        ),
        ("cat e", "e", &["e a", "e;b"], "cat e"),
        ("cat e", "e", &["egal größe"], r"cat egal\ größe"),
        (
            r"rm my\ dir/k",
            "my dir/k",
            &["keep a"],
            r"rm my\ dir/keep\ a",
        ),
        ("cat >ma", "ma", &["main.rs"], "cat >main.rs"),
        ("X=ma", "ma", &["main.rs"], "X=main.rs"),
    ] {
        let mut tui = test_tui();
        tui.write(&format!("!{typed}"));
        assert_eq!(
            tui.key("tab"),
            [Effect::ReadFolder(read.to_owned())],
            "{typed}"
        );
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        tui.send(Msg::Done(EffectResult::Folder(read.to_owned(), names)));
        assert_eq!(tui.text(), format!("!{text}"));
    }
    // In a `!` command `@t` is a path: the shell would not understand a mention.
    let mut tui = test_tui();
    for c in "!cat @t".chars() {
        let key = KeyPress::plain(KeyCode::Char(c));
        let effects = tui.send(Msg::Input(InputEvent::Key(key)));
        assert!(
            !effects.contains(&Effect::FindFiles("t".into())),
            "{effects:?}"
        );
    }
    assert_eq!(tui.key("tab"), [Effect::ReadFolder("@t".to_owned())]);
    let mut tui = test_tui();
    tui.write("!ls ");
    let dropped = r"/tmp/\$\(id\).png";
    tui.send(Msg::Input(InputEvent::Paste(dropped.into())));
    assert_eq!(tui.text(), format!("!ls {dropped}"));
    let mut tui = test_tui();
    tui.write("!rm \"my dir/k");
    assert_eq!(tui.key("tab"), [], "escaping differs within quotes");
}

#[test]
fn command_names_of_other_agents_work() {
    for (typed, action) in [
        ("clear", Action::NewSession),
        ("exit", Action::Quit),
        ("status", Action::Status),
        ("config", Action::Settings),
        ("models", Action::Models),
        ("rename", command("/name")),
        ("effort", Action::Thinking),
        ("resume", Action::Resume),
        ("continue", Action::Resume),
        ("approvals", command("/permissions")),
        ("hotkeys", Action::Help),
        ("branch", Action::CloneSession),
    ] {
        assert_eq!(Action::from_slash(typed), Some((action, "")), "{typed}");
        let mut tui = test_tui();
        tui.write(&format!("/{}", &typed[..typed.len() - 1]));
        let command = format!("/{}", action.spec().slash.unwrap());
        let first = labels(&tui).remove(0);
        assert!(first.starts_with(&command), "{typed}: {first}");
    }
}

#[test]
fn an_alias_can_have_an_argument() {
    let plan = [Effect::SetPermission(PermissionMode::Plan)];
    for typed in ["/plan", "/pla", "/plan "] {
        let mut tui = test_tui();
        tui.write(typed);
        assert_eq!(tui.key("enter"), plan, "{typed}");
    }
    for (typed, tab) in [
        ("/stats", "prompts"),
        ("/context", "Counting"),
        ("/session", "isn't stored"),
        ("/iterations", "No model calls yet"),
    ] {
        let mut tui = test_tui();
        tui.write(typed);
        tui.key("enter");
        assert!(tui.frame().contains(tab), "{typed}: {}", tui.frame());
    }
    let mut tui = test_tui();
    tui.write("/p");
    let first = ["/permission", "/permissions", "/permission plan"];
    assert_eq!(labels(&tui)[..3], first);
    let mut tui = test_tui();
    tui.write("/plan the work");
    assert_eq!(tui.key("enter"), []);
    assert!(tui.frame().contains("/plan takes no argument"));
}

#[test]
fn commands_of_other_agents_say_what_to_do_instead() {
    let mut tui = test_tui();
    tui.write("/mem");
    assert_eq!(labels(&tui), ["/memory", "/memories"]);
    assert!(tui.frame().contains("edit AGENTS.md; /init writes one"));
    let effects = tui.key("enter");
    assert_eq!(no_file_defines(&mut tui, effects), []);
    assert!(tui.frame().contains("No command /mem"), "{}", tui.frame());
    let mut tui = test_tui();
    tui.write("/plan");
    assert!(tui.frame().contains("Switch to plan"), "{}", tui.frame());
}

/// Letters scattered through a command name are too weak a match to run it.
#[test]
fn enter_does_not_run_a_weak_match() {
    for (typed, words) in [
        ("/bug", "/bug: tiller sends no reports"),
        ("/mdl", "No command /mdl; F1 lists all"),
        ("/port", "No command /port; F1 lists all"),
    ] {
        let mut tui = test_tui();
        tui.write(typed);
        assert!(tui.app.completion.is_some(), "{typed}");
        let effects = tui.key("enter");
        assert_eq!(no_file_defines(&mut tui, effects), [], "{typed}");
        assert!(tui.frame().contains(words), "{typed}: {}", tui.frame());
        // An answer is all there is; a typo stays.
        assert_eq!(tui.text(), if typed == "/bug" { "" } else { typed });
    }
    let mut tui = test_tui();
    tui.write("/fix 12");
    let effects = tui.key("enter");
    let Some(Effect::FindCustomCommand(lookup)) = effects.into_iter().next() else {
        panic!("nothing is looked up");
    };
    let found = EffectResult::CustomCommand(lookup, Ok(Some("/fix 12\n\nFix 12".to_owned())));
    let effects = tui.send(Msg::Done(found));
    assert!(format!("{effects:?}").contains("Fix 12"), "{effects:?}");
    assert_eq!(tui.text(), "");
    let mut tui = test_tui();
    tui.write("/mdl");
    tui.key("tab");
    assert_eq!(tui.text(), "/model ");
}

#[test]
fn a_recalled_command_opens_no_list() {
    let mut tui = test_tui();
    tui.write("/status");
    tui.key("enter");
    tui.key("esc");
    tui.key("up");
    assert_eq!(tui.text(), "/status");
    assert!(tui.app.completion.is_none());
}

#[test]
fn a_click_chooses_a_row() {
    let mut tui = test_tui();
    tui.write("@a");
    files(&mut tui, "a", &["a.rs", "b/a.rs"]);
    tui.frame();
    let list = tui.app.areas.completion;
    tui.click(list.x + 1, list.y + 1);
    assert_eq!(tui.text(), "@b/a.rs ");
}

#[test]
fn arguments_are_completed_from_existing_values() {
    let mut tui = test_tui();
    tui.write("/theme ");
    assert!(labels(&tui).len() > 5, "{:?}", labels(&tui));
    tui.write("light");
    assert!(labels(&tui).iter().all(|name| name.starts_with("light")));
    tui.key("enter");
    assert_eq!(tui.app.themes.wanted, "light");

    let provider = |name: &str| ProviderKey {
        name: name.to_owned(),
        place: None,
    };
    let providers = || EffectResult::Providers(vec![provider("anthropic"), provider("openai")]);
    tui.write("/login");
    let effects = tui.key("space");
    assert_eq!(effects, [Effect::ListProviders]);
    tui.send(Msg::Done(providers()));
    assert_eq!(labels(&tui), ["anthropic", "openai"]);
    tui.write("ope");
    assert_eq!(labels(&tui), ["openai"]);
    assert_eq!(tui.key("enter"), [Effect::ListProviders]);
    tui.key("esc");

    tui.write("/export --branch ");
    assert_eq!(labels(&tui)[0], "--branch");
    tui.write("session.m");
    assert_eq!(labels(&tui), ["session.md"]);
    tui.key("tab");
    assert_eq!(tui.text(), "/export --branch session.md");
    tui.key("ctrl+u");

    tui.write("/settings notify");
    assert_eq!(labels(&tui), ["ui.notify"]);
}

#[test]
fn an_empty_list_says_why() {
    let mut tui = test_tui();
    tui.write("@");
    assert!(tui.frame().contains("Reading the folder"));
    files(&mut tui, "", &[]);
    assert!(tui.frame().contains("No files here"));
    tui.write("x");
    files(&mut tui, "x", &[]);
    let told = "No match. Files that git ignores aren't listed: type the path, Tab completes";
    assert!(tui.frame().contains(told), "{}", tui.frame());
    assert_eq!(tui.key("enter"), [prompt("@x")]);
}

#[test]
fn the_list_closes_when_the_caret_leaves_the_word() {
    for key in ["left", "ctrl+a"] {
        let mut tui = test_tui();
        tui.write("/thinking ");
        assert!(tui.app.completion.is_some());
        tui.key(key);
        assert!(tui.app.completion.is_none(), "{key}");
    }
    let mut tui = test_tui();
    tui.write("/thinking ");
    tui.send(Msg::Input(InputEvent::Paste("hi".into())));
    assert!(tui.app.completion.is_none());
    let mut tui = test_tui();
    tui.write("/export --branch ");
    assert!(tui.app.completion.is_some(), "it completes the last word");
}

#[test]
fn tab_completes_a_mention_after_its_list_was_closed() {
    let mut tui = test_tui();
    tui.write("@Car");
    tui.key("esc");
    assert_eq!(tui.key("tab"), [Effect::ReadFolder("@Car".to_owned())]);
    let names = ["Cargo.lock", "Cargo.toml"].map(str::to_owned).to_vec();
    tui.send(Msg::Done(EffectResult::Folder("@Car".to_owned(), names)));
    assert_eq!(tui.text(), "@Cargo.");
}
