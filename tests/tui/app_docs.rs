//! The page of the documentation inside the program: where it opens, how it scrolls, its search.

use tiller::app::tui::popups::{DocsPage, Overlay};

use super::app_kit::TestTui;

/// The page of the first hit for `query`.
fn opened(query: &str, (width, height): (u16, u16)) -> TestTui {
    let mut tui = TestTui::new(width, height);
    tui.write(&format!("/help {query}"));
    tui.key("enter");
    tui.frame();
    tui.wait(1000);
    // Actions come before the documentation.
    while !is_section(&tui) {
        tui.key("down");
    }
    assert_eq!(tui.key("enter"), []);
    tui.frame();
    tui
}

fn is_section(tui: &TestTui) -> bool {
    let Some(Overlay::Help(list)) = tui.app.overlays.last() else {
        panic!("the help is closed");
    };
    let chosen = list.chosen().expect("a row");
    chosen.spec.is_none() && chosen.command.is_empty()
}

fn page(tui: &TestTui) -> &DocsPage {
    match tui.app.overlays.last() {
        Some(Overlay::Docs(page)) => page,
        other => panic!("{other:?}"),
    }
}

#[test]
fn enter_opens_the_page_at_the_section_and_esc_returns_to_the_search() {
    for size in [(40, 10), (80, 24), (200, 60)] {
        let mut tui = opened("bubblewrap", size);
        let frame = tui.frame();
        let chosen = "Troubleshooting › ";
        assert!(frame.contains(chosen), "{size:?}\n{frame}");
        assert!(frame.contains("Esc back"), "{size:?}\n{frame}");
        assert!(!frame.contains("Ask for anything"), "{size:?}\n{frame}");
        tui.key("esc");
        let frame = tui.frame();
        assert!(frame.contains("› bubblewrap"), "{size:?}\n{frame}");
        assert!(matches!(tui.app.overlays[..], [Overlay::Help(_)]));
    }
}

#[test]
fn keys_scroll_as_in_a_pager_and_stop_at_the_ends() {
    let mut tui = opened("permissions rules git", (80, 24));
    tui.key("home");
    assert_eq!(page(&tui).pager.top, 0);
    let mut tops = vec![0];
    for key in ["down", "j", "pagedown", "space", "end"] {
        tui.key(key);
        tui.frame();
        tops.push(page(&tui).pager.top);
    }
    assert_eq!(tops[..3], [0, 1, 2]);
    assert!(tops.is_sorted_by(|a, b| a < b), "{tops:?}");
    tui.key("down");
    assert_eq!(page(&tui).pager.top, tops[5]);
    tui.key("k");
    assert_eq!(page(&tui).pager.top, tops[5] - 1);
    tui.key("g");
    assert_eq!(page(&tui).pager.top, 0);
    // Other letters neither close it nor get into the prompt.
    tui.key("x");
    page(&tui);
    tui.key("q");
    assert!(matches!(tui.app.overlays[..], [Overlay::Help(_)]));
    assert_eq!(tui.text(), "");
}

#[test]
fn a_search_in_the_page_goes_from_place_to_place() {
    let mut tui = opened("permissions", (80, 24));
    tui.key("home");
    tui.key("/");
    tui.write("docker");
    let frame = tui.frame();
    assert!(
        frame.contains("Find docker") && frame.contains("1 of "),
        "{frame}"
    );
    let first = page(&tui).pager.top;
    assert!(first > 0 && frame.matches("docker").count() > 1, "{frame}");
    tui.key("enter");
    let frame = tui.frame();
    assert!(frame.contains("2 of "), "{frame}");
    tui.key("up");
    assert!(tui.frame().contains("1 of "));
    assert_eq!(page(&tui).pager.top, first);
    tui.write("zz");
    assert!(tui.frame().contains("no match"));
    tui.key("esc");
    let frame = tui.frame();
    assert!(
        !frame.contains("Find ") && page(&tui).find.is_none(),
        "{frame}"
    );
}
