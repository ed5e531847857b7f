//! The exported page in a browser. Its controls work, and nothing in a session runs.

use std::fs;

use serde_json::Value;
use tiller::llm::auth::Redactor;

use super::sessions::{HOSTILE, export, session};
use crate::support::browser::Browser;

/// Opens a session's page in a browser. None where there's no browser.
fn open(lines: &[Value]) -> Option<(Browser, tempfile::TempDir)> {
    let mut browser = Browser::start()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, export(lines, &Redactor::default()).page).unwrap();
    browser.open(&file);
    Some((browser, folder))
}

/// The ids of the visible entries.
const SHOWN: &str = "[...document.querySelectorAll('article')].filter(it => it.checkVisibility()).map(it => it.id).join(' ')";

#[test]
fn hostile_texts_do_nothing_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let all = HOSTILE.join("\n\n");
    for text in HOSTILE.iter().copied().chain([all.as_str()]) {
        let lines = session(|_| text.to_owned());
        let file = folder.path().join("page.html");
        fs::write(&file, export(&lines, &Redactor::default()).page).unwrap();
        browser.open(&file);
        // Opens everything, and moves the pointer and the keyboard focus over all of it.
        browser.eval(
            "for (const it of document.querySelectorAll('details')) it.open = true;
             for (const it of document.querySelectorAll('main *')) {
                 for (const kind of ['mouseover', 'focus', 'load', 'error', 'toggle', 'animationend'])
                     it.dispatchEvent(new Event(kind, {bubbles: true}));
             }",
        );
        browser.type_text("x");
        let count = "document.querySelectorAll('main > article').length";
        assert_eq!(browser.eval(count), 24, "{text}");
        let strange = "[...document.querySelectorAll('*')].filter(it => \
            /^(iframe|object|embed|svg|math|base|link|form|template|portal)$/i.test(it.localName) || \
            [...it.attributes].some(at => /^on|^style$|^srcdoc$/i.test(at.name))).length";
        assert_eq!(browser.eval(strange), 0, "{text}");
        assert_eq!(browser.eval("document.scripts.length"), 1, "{text}");
        let misdeeds = browser.misdeeds();
        assert!(misdeeds.is_empty(), "{text}: {misdeeds:#?}");
    }
}

/// If a text did get out of its place, the policy would refuse to run it and report that.
#[test]
fn the_policy_runs_no_other_script() {
    let Some((mut browser, folder)) = open(&session(str::to_owned)) else {
        return;
    };
    let file = folder.path().join("page.html");
    let page = fs::read_to_string(&file).unwrap();
    for evil in [
        "<script>window.evil = 1</script>",
        "<img src=\"data:image/png;base64,x\" onerror=\"window.evil = 1\">",
        "<iframe srcdoc=\"<script>parent.evil = 1</script>\"></iframe>",
        "<a id=\"a\" href=\"javascript:window.evil = 1\">x</a>",
        "<img src=\"https://example.org/x.png\">",
        "<p style=\"background: url(https://example.org/x.png)\">",
    ] {
        fs::write(&file, page.replace("</main>", &format!("{evil}</main>"))).unwrap();
        browser.open(&file);
        browser.eval("document.getElementById('a')?.click()");
        browser.wait_until("document.readyState === 'complete'");
        assert_eq!(browser.eval("typeof window.evil"), "undefined", "{evil}");
        assert!(!browser.misdeeds().is_empty(), "{evil}");
    }
}

#[test]
fn branches_can_be_switched_and_search_covers_all_of_them() {
    let Some((mut browser, _folder)) = open(&session(str::to_owned)) else {
        return;
    };
    let shown = browser.eval(SHOWN);
    let shown = shown.as_str().unwrap();
    assert!(
        shown.contains("e13") && !shown.contains("e6"),
        "the page must show the current branch: {shown}"
    );
    // Switches by the link at the fork, and back by the list.
    browser.eval("document.querySelector('#e5 nav a').click()");
    browser.wait_until("document.getElementById('e6').checkVisibility()");
    assert_eq!(
        browser.eval("document.getElementById('e13').checkVisibility()"),
        false
    );
    browser.eval("document.querySelector('#contents a[href=\"#e13\"]').click()");
    browser.wait_until("document.getElementById('e13').checkVisibility()");
    assert_eq!(browser.eval("location.hash"), "#e13");

    // Search finds and opens folded text, even on a hidden branch.
    browser.eval("document.body.focus()");
    browser.key("/");
    assert_eq!(browser.eval("document.activeElement.id"), "search");
    browser.type_text("WHAT *WAS");
    browser.wait_until("document.getElementById('found').textContent === 'No match'");
    browser.eval("document.getElementById('search').select()");
    browser.type_text("what was DONE");
    browser.wait_until("document.getElementById('found').textContent.startsWith('1 of')");
    assert_eq!(browser.eval(SHOWN), "e8");
    assert_eq!(
        browser.eval("document.querySelector('#e8 details').open"),
        true
    );
    browser.key("Enter");
    browser.wait_until("document.getElementById('found').textContent === '1 of 1 matches'");
    let marked = "[...CSS.highlights.get('hit')].map(it => it.toString()).join()";
    assert_eq!(browser.eval(marked), "What was done");
    // Leaving the search stays at the match and on its branch.
    browser.key("Escape");
    browser.wait_until("document.getElementById('e6').checkVisibility()");
    assert_eq!(
        browser.eval("document.querySelector('#e8 details').open"),
        false
    );
    assert_eq!(browser.misdeeds(), [""; 0]);
}

#[test]
fn keys_fold_and_move_and_colors_follow_the_chosen_theme() {
    let Some((mut browser, _folder)) = open(&session(str::to_owned)) else {
        return;
    };
    let open = "[...document.querySelectorAll('article > details')].filter(it => it.checkVisibility() && it.open).length";
    assert_eq!(browser.eval(open), 0);
    browser.key("o");
    assert_eq!(browser.eval(&format!("{open} > 3")), true);
    browser.key("o");
    assert_eq!(browser.eval(open), 0);
    browser.eval("document.querySelector('#e4 summary').click()");
    assert_eq!(
        browser.eval("document.querySelector('#e4 details').open"),
        true
    );
    for (key, entry) in [("k", "e0"), ("j", "e13"), ("k", "e0")] {
        browser.key(key);
        browser.wait_until(&format!("document.activeElement.id === '{entry}'"));
    }

    let page = "getComputedStyle(document.body).backgroundColor";
    let mut color = |scheme: &str, choice: &str| {
        browser.set_media("prefers-color-scheme", scheme);
        browser.eval(&format!(
            "document.querySelector('[name=theme][value={choice}]').click()"
        ));
        browser.eval(page)
    };
    let (light, dark) = (color("light", "auto"), color("dark", "auto"));
    assert_ne!(light, dark);
    assert_eq!(color("dark", "light"), light);
    assert_eq!(color("light", "dark"), dark);
    assert_eq!(browser.misdeeds(), [""; 0]);
}

#[test]
fn small_windows_fit_and_pages_work_without_scripts() {
    let Some((mut browser, folder)) = open(&session(str::to_owned)) else {
        return;
    };
    browser.set_size(400, 800);
    browser.key("o");
    let wide = "document.documentElement.scrollWidth <= 400";
    assert_eq!(browser.eval(wide), true);
    let list = "document.getElementById('side').checkVisibility()";
    assert_eq!(browser.eval(list), false);
    browser.eval("document.querySelector('#bar button').click()");
    assert_eq!(browser.eval(list), true);
    browser.eval("document.querySelector('#contents a').click()");
    assert_eq!(browser.eval(list), false);

    browser.set_scripts(false);
    browser.open(&folder.path().join("page.html"));
    assert_eq!(
        browser.eval("document.getElementById('find').checkVisibility()"),
        false
    );
    let all = "document.querySelectorAll('article').length";
    let shown = format!("{SHOWN}.split(' ').length === {all}");
    assert_eq!(browser.eval(&shown), true);
    browser.eval("document.querySelector('#bar button').click()");
    assert_eq!(browser.eval(list), true);
    assert_eq!(browser.misdeeds(), [""; 0]);
}
