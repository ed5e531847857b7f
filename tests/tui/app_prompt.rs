//! Prompts as they stand in the transcript.

use tiller::app::tui::input::InputEvent;
use tiller::app::tui::msg::Msg;

use super::app_kit::TestTui;

#[test]
fn of_a_long_prompt_beginning_and_end_are_shown_until_it_is_opened() {
    let mut tui = TestTui::new(80, 40);
    let pasted: Vec<String> = (0..300).map(|n| format!("pasted {n}")).collect();
    tui.send(Msg::Input(InputEvent::Paste(pasted.join("\n"))));
    tui.write(" what is this?");
    tui.key("enter");
    let frame = tui.frame();
    let folded = " ❯ pasted 0\n   pasted 1\n   pasted 2\n   … 294 more lines · click or Alt+O\n   \
                  pasted 297\n   pasted 298\n   pasted 299 what is this?\n";
    assert!(frame.contains(folded), "{frame}");
    tui.key("alt+o");
    assert!(tui.frame().contains("pasted 3\n"), "{}", tui.frame());
    tui.key("alt+o");
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    // Ctrl+O is about tools.
    tui.key("ctrl+o");
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    // By a click on the row that says so.
    let frame = tui.frame();
    let row = frame.lines().position(|line| line.contains("… 294 more"));
    tui.click(6, row.unwrap() as u16);
    assert!(tui.frame().contains("pasted 3\n"), "{}", tui.frame());
}
