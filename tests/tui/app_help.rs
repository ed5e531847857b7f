//! The help: what a search finds, what Enter runs, and that no key reaches the screen below.

use tiller::app::action::Action;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::popups::{HelpList, HelpRow, Overlay};
use tiller::app::tui::terminal::input::InputEvent;

use super::app_kit::{TestTui, command, run_command};

fn opened(query: &str) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    tui.key("f1");
    tui.write(query);
    tui
}

fn list(tui: &TestTui) -> &HelpList {
    match tui.app.overlays.last() {
        Some(Overlay::Help(list)) => list,
        other => panic!("{other:?}"),
    }
}

fn chosen(tui: &TestTui) -> Option<Action> {
    let spec = list(tui).chosen().and_then(|entry| entry.spec);
    spec.map(|spec| spec.action)
}

#[test]
fn every_shortcut_opens_the_help_at_the_first_task() {
    for command in ["", "/help", "/keys", "?"] {
        let mut tui = TestTui::new(80, 24);
        tui.write(command);
        match command {
            "" => drop(tui.key("f1")),
            "?" => {}
            _ => drop(tui.key("enter")),
        }
        let frame = tui.frame();
        for words in [
            "─ Help ─",
            "Send and steer",
            "Enter ",
            "Send. While the agent",
        ] {
            assert!(frame.contains(words), "{command}: {words}\n{frame}");
        }
        assert_eq!(chosen(&tui), Some(Action::Submit));
        assert_eq!(tui.text(), "");
        tui.key("f1");
        assert!(tui.app.overlays.is_empty());
    }
}

#[test]
fn typing_finds_an_entry_by_its_command_alias_key_or_words() {
    for (query, action) in [
        ("undo", Action::UndoTurn),
        ("/undo", Action::UndoTurn),
        ("clear", Action::NewSession),
        ("effort", Action::Thinking),
        ("ctrl+o", Action::ToggleOutput),
        ("Ctrl+O", Action::ToggleOutput),
        ("api key", Action::Login),
        ("clipboard image", Action::PasteImage),
        ("budget", command("/budget")),
        ("stop", command("/stop")),
        // Synonyms and typos.
        ("dark", Action::Theme),
        ("sandbox", Action::PermissionMode),
        ("rule", command("/permissions")),
        ("plan", Action::PermissionMode),
        ("memory", command("/init")),
        ("resume", Action::Resume),
        ("bypass", Action::PermissionMode),
        ("cost", Action::Status),
        ("/context", Action::Status),
        ("commit", command("/commit")),
        ("git commit", command("/commit")),
        ("git commit message", command("/commit")),
        ("setings", Action::Settings),
        ("/comapct", command("/compact")),
        ("toggle_output", Action::ToggleOutput),
    ] {
        let tui = opened(query);
        assert_eq!(chosen(&tui), Some(action), "{query}");
    }
    let mut tui = opened("undo");
    let frame = tui.frame();
    assert!(frame.contains("Undo the file changes"), "{frame}");
    assert!(!frame.contains("Send and steer"), "{frame}");
    tui.key("ctrl+u");
    assert!(tui.frame().contains("Send and steer"));
    let mut tui = opened("zzqqj");
    let none = "No match. Try another word, or `tiller docs` in a shell for all pages";
    assert!(tui.frame().contains(none), "{}", tui.frame());
    // A key is that key, and no longer one.
    for (key, action) in [("ctrl+b", Some(Action::TreeLabel)), ("alt+9", None)] {
        let mut tui = opened(key);
        assert_eq!(chosen(&tui), action, "{key}");
        assert!(!tui.frame().contains("Backspace"), "{}", tui.frame());
    }
    // Letters scattered over a text or in the middle of a word don't match.
    for query in ["ndo", "sdbx", "ark"] {
        assert_eq!(chosen(&opened(query)), None, "{query}");
    }
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.app.overlays.len(), 1);
}

/// What the slash command would say.
#[test]
fn a_search_finds_the_commands_of_other_agents() {
    for (query, told) in [
        ("plugin", "docs skills"),
        ("output-style", "APPEND_SYSTEM.md"),
        ("btw", "/clone asks in a copy"),
    ] {
        let mut tui = opened(query);
        let frame = tui.frame();
        assert!(frame.contains(told), "{query}: {frame}");
        assert_eq!(tui.key("enter"), [], "{query}");
    }
    let mut tui = opened("resume");
    assert!(
        tui.frame().contains("Send. While the agent works"),
        "{}",
        tui.frame()
    );
}

#[test]
fn a_search_finds_settings_and_pages() {
    for (query, told) in [
        ("notify", "/settings ui.not"),
        ("max tokens", "models.max_output"),
        ("network", "permissions › Let it use the network"),
        ("git", "permissions › Git"),
        ("gateway", "models › "),
        ("tmux", "terminal › "),
        ("web search", "tiller has no web search"),
        ("stop asking", "/permission MODE"),
        ("new line", "Ctrl+J"),
        ("docs", "reference/cli › tiller docs"),
        ("bubblewrap", "troubleshooting › "),
        ("netwrk", "permissions › Let it use the network"),
        ("headless", "scripting"),
        ("yolo", "permissions › Modes"),
        ("phone home", "security › What leaves your machine"),
        ("apiKeyHelper", "Not a setting: write api_key"),
        ("zzqqj network", "permissions › Let it use the network"),
    ] {
        let frame = opened(query).frame();
        assert!(frame.contains(told), "{query}: {frame}");
    }
    let mut tui = opened("ui.notify");
    assert_eq!(tui.key("enter"), [Effect::ReadSettings]);
    assert!(
        matches!(&tui.app.overlays[..], [Overlay::Settings(list)] if list.picker.query() == "ui.notify")
    );
}

/// What strangers type, and the first row: its command, its section, or what it does.
const QUESTIONS: &str = "\
undo -> /undo
rollback -> /undo
revert changes -> /undo
stop it -> /stop
cancel -> Stop the agent
cost -> /status
tokens -> /status
price -> /model
cheap -> /model
cheaper -> /model
cheaper model -> /model
local model -> /model
ollama -> /model
offline -> /model
api key -> /login
login -> /login
change model -> /model
proxy -> models › Recipe: behind a corporate proxy
vim -> /settings ui.vim
copy -> /copy
paste image -> Paste the image
screenshot -> context › Files and pictures in your prompt
dark mode -> /theme
colors -> /theme
font -> terminal › The font and its size
font size -> terminal › The font and its size
notify -> /settings ui.notify
bell -> /settings ui.notify
sound -> /settings ui.notify
fork -> /fork
branch -> /clone
rename -> /name
history -> Search your earlier prompts
delete history -> Move the session to the trash
memory -> /init
CLAUDE.md -> coming-from › Your CLAUDE.md
context full -> context
compact -> /compact
clear -> /new
new chat -> /new
web search -> web-search
internet -> permissions › Let it use the network
network -> /network
docker -> permissions › Let it use docker, ssh or gh
sandbox -> /permission
sudo -> permissions › How tiller reads a command
git push -> permissions › Let it push
commit -> /commit
ssh -> terminal › ssh
tmux -> terminal › tmux
mouse -> /mouse
scroll -> Scroll to the start
select text -> /select
keybindings -> /keybindings
shortcut -> keys
multi line -> Start a new line
json output -> scripting › JSON
ci -> scripting › CI: GitHub Actions
exit code -> scripting › Exit codes
headless -> scripting › Run one prompt
mcp -> /mcp
hooks -> /hooks
skills -> /skills
plugin -> /plugin
subagent -> /agents
ide -> /ide
vscode -> acp
zed -> acp › Zed
update -> /upgrade
uninstall -> install › Update or uninstall
telemetry -> security › What leaves your machine
logs -> /log
slow -> troubleshooting › It's slow, or seems stuck
hangs -> troubleshooting › \"sent nothing for 300 s\"
timeout -> tools.bash.timeout
rate limit -> troubleshooting › \"too many requests (429)\"
retry -> Send. While the agent works
thinking -> /thinking
effort -> /thinking
budget -> /budget
max turns -> agent.max_iterations
plan mode -> /permission
read only -> /permission
auto accept -> /permission
export chat -> /export
custom command -> skills › Your own slash commands
resume yesterday -> /resume
skip permissions -> /permission
yolo -> /permission
stop asking -> /permission
fewer prompts -> /permission
csv -> context › Tables, notebooks and PDFs
upload -> /image
gitignore -> context › Files that git ignores
conda -> troubleshooting › A command uses the wrong Python
how to exit -> /quit
quit vim -> troubleshooting › I'm in vi and can't leave it
recover -> /undo
where are my sessions -> /resume
see the diff -> /diff
show diff -> /diff
find in chat -> /find
allow always -> permissions › Stop asking for one command
word wrap -> Not a setting: tiller wraps words";

#[test]
fn the_first_row_answers_a_stranger() {
    let mut wrong = Vec::new();
    for question in QUESTIONS.lines() {
        let (query, wanted) = question.split_once(" -> ").unwrap();
        let tui = opened(query);
        let list = list(&tui);
        let row = |at: &usize| match &list.rows[*at] {
            HelpRow::Heading(title) => (*title).to_owned(),
            HelpRow::Entry(entry) => format!("{} {}", entry.command, entry.text),
        };
        let rows = list.picker.matches().iter().map(row);
        let rows: Vec<String> = rows.filter(|row| row != "Documentation").take(3).collect();
        if !rows.first().is_some_and(|row| row.contains(wanted)) {
            wrong.push(format!("{question}: {rows:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The row that a user looks for is the first or the second.
#[test]
fn a_search_in_other_words_finds_the_row_at_the_top() {
    for (query, wanted) in [
        ("change model", "Choose a model"),
        ("switch model", "Choose a model"),
        ("How do I change the model?", "Choose a model"),
        ("edit last message", "Edit your last prompt"),
        ("exit", "/quit"),
        ("quit", "/quit"),
        ("delete session", "Move the session to the trash"),
        ("cost", "/status"),
        ("money", "/status"),
        ("cheap", "/status"),
        ("max tokens", "/settings models.max_output"),
        ("vim mode", "/settings ui.vim"),
        ("auto accept", "/permission"),
        ("cost limit", "/budget"),
        ("keybindings", "change keys in keymap.toml"),
        ("allow rules", "/permission"),
        ("allow bash without asking", "/permission"),
        ("stop asking", "/permission"),
        ("undo last edit", "Undo the last edit"),
        ("paste image", "Paste the image"),
        ("newline", "Start a new line"),
        ("multiline", "Start a new line"),
        ("copy answer", "Copy the last reply"),
    ] {
        let tui = opened(query);
        let list = list(&tui);
        let rows = list.picker.matches().iter().take(2);
        let rows: Vec<String> = rows.map(|at| format!("{:?}", list.rows[*at])).collect();
        let has = rows.iter().any(|row| row.contains(wanted));
        assert!(has, "{query}: {rows:#?}");
    }
}

#[test]
fn the_arrows_skip_the_headings() {
    let mut tui = opened("");
    for _ in 0..300 {
        let before = list(&tui).picker.selected();
        tui.key("down");
        let after = list(&tui).picker.selected();
        assert!(list(&tui).chosen().is_some());
        assert!((before..=before + 2).contains(&after));
    }
    let last = list(&tui).chosen().map(|entry| &*entry.command);
    assert_eq!(last, Some("docs reference/cli"));
    for _ in 0..300 {
        tui.key("up");
        assert!(list(&tui).chosen().is_some());
    }
    assert_eq!(chosen(&tui), Some(Action::Submit));
    let frame = tui.frame();
    assert!(frame.contains("Send and steer"), "{frame}");
}

#[test]
fn enter_runs_the_selected_entry() {
    for (query, effects) in [
        ("compact", vec![run_command("/compact")]),
        ("paste image", vec![Effect::PastePicture]),
    ] {
        let mut tui = opened(query);
        assert_eq!(tui.key("enter"), effects, "{query}");
        assert!(tui.app.overlays.is_empty(), "{query}");
        assert_eq!(tui.text(), "");
    }
    let mut tui = opened("settings");
    assert_eq!(tui.key("enter"), [Effect::ReadSettings]);
    assert!(matches!(tui.app.overlays[..], [Overlay::Settings(_)]));
    // Editing actions change the draft.
    let mut tui = TestTui::new(80, 24);
    tui.write("one two");
    tui.key("f1");
    tui.write("cut word backward");
    assert_eq!(tui.key("enter"), []);
    assert_eq!(tui.text(), "one ");
    // A command that needs an argument waits for it in the editor, and the draft isn't lost.
    for (query, text) in [("/name", "/name "), ("/permission", "/permission ")] {
        let mut tui = TestTui::new(80, 24);
        tui.write("a draft");
        tui.key("f1");
        tui.write(query);
        assert_eq!(tui.key("enter"), []);
        assert_eq!(tui.text(), text);
        assert!(tui.app.overlays.is_empty());
        tui.key("ctrl+u");
        tui.key("up");
        assert_eq!(tui.text(), "a draft");
    }
    // An action of a list opens that list.
    let mut tui = opened("/resume rename");
    assert_eq!(tui.key("enter"), []);
    let frame = tui.frame();
    assert!(frame.contains("so it has no sessions"), "{frame}");
    // An accidental Enter sends nothing. Keys of every popup don't run.
    for query in ["", "list_next", "shift+drag"] {
        let mut tui = TestTui::new(80, 24);
        tui.write("a draft");
        tui.key("f1");
        tui.write(query);
        assert_eq!(tui.key("enter"), [], "{query}");
        assert_eq!(tui.text(), "a draft");
        assert_eq!(tui.app.overlays.len(), 1, "{query}");
    }
}

#[test]
fn no_key_reaches_the_screen_below() {
    let mut tui = TestTui::new(80, 24);
    tui.write("a draft");
    tui.key("f1");
    tui.write("quick fix? yes");
    tui.send(Msg::Input(InputEvent::Paste("pasted".into())));
    for key in [
        "ctrl+o",
        "ctrl+l",
        "ctrl+s",
        "alt+e",
        "tab",
        "shift+tab",
        "left",
        "alt+enter",
    ] {
        assert_eq!(tui.key(key), [], "{key}");
        assert_eq!(tui.app.overlays.len(), 1, "{key}");
    }
    assert_eq!(list(&tui).picker.query(), "quick fix? yespasted");
    assert_eq!(tui.text(), "a draft");
    assert_eq!(tui.key("esc"), []);
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.text(), "a draft");
}
