//! The page and the Markdown, with every kind of entry and with texts that try to break out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;
use scraper::{Html, Selector};
use serde_json::Value;
use tiller::agent::session::SessionView;
use tiller::app::export::{Export, Format, Scope};
use tiller::llm::auth::Redactor;

use super::sessions::{HOSTILE, body, export, session};

#[test]
fn every_kind_of_entry_is_rendered() {
    let exported = export(&session(str::to_owned), &Redactor::default());
    check_page(&exported.page);
    insta::assert_snapshot!("page", body(&exported.page));
    insta::assert_snapshot!("markdown", exported.markdown);
    let lines: Vec<Value> = exported
        .jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, session(str::to_owned));
}

#[test]
fn the_policy_allows_only_the_pages_own_script_and_style() {
    use base64::Engine;
    let page = export(&session(str::to_owned), &Redactor::default()).page;
    let policy = Regex::new("Content-Security-Policy\" content=\"([^\"]*)\"").unwrap();
    let policy = policy.captures(&page).unwrap()[1].to_owned();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
        let start = page.find(&format!("<{element}>")).unwrap() + element.len() + 2;
        let end = page.find(&format!("</{element}>")).unwrap();
        let digest = ring::digest::digest(&ring::digest::SHA256, &page.as_bytes()[start..end]);
        let hash = base64::engine::general_purpose::STANDARD.encode(digest.as_ref());
        assert!(
            policy.contains(&format!("{directive} 'sha256-{hash}'")),
            "{policy}"
        );
    }
}

#[test]
fn hostile_texts_cannot_break_out() {
    for text in HOSTILE {
        let exported = export(&session(|_| (*text).to_owned()), &Redactor::default());
        check_page(&exported.page);
        check_markdown(&exported.markdown, text);
    }
}

/// The same with a browser's HTML parser. It repairs broken markup, so there may be none.
#[test]
fn an_html_parser_sees_hostile_texts_as_text() {
    let select = |selector: &str| Selector::parse(selector).unwrap();
    for text in HOSTILE {
        let page = export(&session(|_| (*text).to_owned()), &Redactor::default()).page;
        let document = Html::parse_document(&page);
        assert_eq!(document.errors, Vec::<Cow<str>>::new(), "{text}");
        let count = |selector: &str| document.select(&select(selector)).count();
        for (selector, expected) in [
            ("body > main > article", 24),
            ("body > main > article article", 0),
            ("script", 1),
            ("style", 1),
            ("head > meta", 6),
            ("body > :not(header, aside, main, script)", 0),
            (
                "iframe, object, embed, svg, math, base, link, form, template",
                0,
            ),
            ("[style], [srcdoc], [formaction], [http-equiv]:not(meta)", 0),
        ] {
            assert_eq!(count(selector), expected, "{selector}: {text}");
        }
        for element in document.select(&select("*")) {
            let name = element.value().name();
            for (attribute, value) in element.value().attrs() {
                assert!(!attribute.starts_with("on"), "{name} {attribute}: {text}");
                let safe = ["#e", "https://", "http://", "mailto:", "HTTP"];
                let safe = safe.iter().any(|start| value.starts_with(start));
                assert!(attribute != "href" || safe, "{value}: {text}");
            }
        }
        let hidden = |c: char| c.is_control() || !c.is_ascii();
        if !text.replace('\n', "").contains(hidden) {
            let said = document.select(&select("#e0 .said")).next().unwrap();
            assert_eq!(said.text().collect::<String>(), *text);
            let wanted = select("#e5 .tool > pre:not(.command)");
            let output = document.select(&wanted);
            let outputs: Vec<String> = output.map(|it| it.text().collect()).collect();
            assert_eq!(outputs, [*text], "{text}");
        }
    }
}

/// Lines that no program should write: half characters, no characters, entries of the wrong form.
#[test]
fn unreadable_lines_are_shown_verbatim() {
    let mut lines: Vec<Vec<u8>> = session(str::to_owned)
        .iter()
        .map(|line| line.to_string().into_bytes())
        .collect();
    let half = br#"{"type":"message","id":"h","parentId":null,"message":{"role":"user","content":"\ud800<script>"}}"#;
    lines.push(half.to_vec());
    let mut raw =
        br#"{"type":"message","id":"r","parentId":null,"message":{"role":"user","content":"<b>"#
            .to_vec();
    raw.extend(b"\xff\xfe\"}}");
    lines.push(raw);
    lines.push(
        br#"{"type":"compaction","id":"c","parentId":null,"summary":["</script><script>"]}"#
            .to_vec(),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, [lines.join(&b'\n'), b"\n".to_vec()].concat()).unwrap();
    let session = SessionView::open(&path).unwrap();
    for format in Format::ALL {
        let export = Export::new(&session, format, Scope::All, &Redactor::default()).unwrap();
        match format {
            Format::Html => {
                let page = String::from_utf8(export.bytes).unwrap();
                check_page(&page);
                assert!(page.contains("&lt;/script&gt;&lt;script&gt;"), "{page}");
            }
            Format::Md => drop(String::from_utf8(export.bytes).unwrap()),
            Format::Jsonl => assert_eq!(export.bytes, fs::read(&path).unwrap()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_text_can_break_out(
        texts in prop::collection::vec(
            prop_oneof!["[<>/\"'&a-z=!\\-`*_|#\\[\\]():\n {}]{0,40}", ".{0,20}"], 8)
    ) {
        let next = std::cell::Cell::new(0);
        let text = |_: &str| {
            next.set(next.get() + 1);
            texts[next.get() % texts.len()].clone()
        };
        let exported = export(&session(text), &Redactor::default());
        check_page(&exported.page);
        check_markdown(&exported.markdown, &format!("{texts:?}"));
    }
}

/// Fails unless the page is well-formed and contains only elements, attributes and addresses that
/// tiller writes.
fn check_page(page: &str) {
    static TAG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^<(/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>"#).unwrap()
    });
    static ATTRIBUTE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#" ([a-z-]+)(?:="([^"<>]*)")?"#).unwrap());
    static VALUES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        [
            ("class", "^[a-z0-9 ]+$"),
            (
                "id",
                "^(e[0-9]+|bar|side|tools|find|search|found|contents|theme|keys|transcript)$",
            ),
            ("dir", "^auto$"),
            ("data-preview", "(?s)^.+$"),
            ("tabindex", "^-?[01]$"),
            ("target", "^_blank$"),
            ("loading", "^lazy$"),
            ("popover", "^$"),
            ("popovertarget", "^side$"),
            ("name", "^theme$"),
            ("value", "^(auto|light|dark)$"),
            ("checked", "^$"),
            ("autocomplete", "^off$"),
            ("spellcheck", "^false$"),
            ("data-parent", "^e[0-9]+$"),
            ("data-leaf", "^(e[0-9]+)?$"),
            ("href", "^(#e[0-9]+|(?i:https?:|mailto:)[^\u{0}-\u{1f}']*)$"),
            ("rel", "^noopener noreferrer$"),
            (
                "src",
                "^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$",
            ),
            ("alt", r"^A picture \([a-z]+\)$"),
            ("start", "^[0-9]+$"),
            ("type", "^(search|button|radio)$"),
            ("placeholder", "^Search$"),
            (
                "aria-label",
                "^(Search all branches, including folded text|Prompts and branches|Branches|Colors)$",
            ),
            ("role", "^status$"),
            ("hidden", "^$"),
        ]
        .map(|(name, value)| (name, Regex::new(value).unwrap()))
        .into()
    });
    let known: HashSet<&str> =
        "body aside input p ol ul li main h1 h2 h3 h4 h5 h6 dl dt dd article \
        header b span a nav div details summary pre code ins del em strong table tr td th \
        blockquote hr br img button footer fieldset label kbd time"
            .split_whitespace()
            .collect();
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<meta").count(), 6);
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body(page);
    while let Some(at) = rest.find(['<', '>']) {
        rest = &rest[at..];
        let shown = &rest[..rest.floor_char_boundary(200)];
        let tag = TAG
            .captures(rest)
            .unwrap_or_else(|| panic!("no tag: {shown}"));
        let name = tag.get(2).unwrap().as_str();
        assert!(known.contains(name), "unknown element: {shown}");
        for attribute in ATTRIBUTE.captures_iter(&tag[3]) {
            let value = attribute.get(2).map_or("", |value| value.as_str());
            let allowed = VALUES.iter().find(|(name, _)| *name == &attribute[1]);
            let allowed = allowed.unwrap_or_else(|| panic!("unknown attribute: {shown}"));
            assert!(allowed.1.is_match(value), "bad value: {shown}");
        }
        if &tag[1] == "/" {
            assert_eq!(open.pop(), Some(name), "{shown}");
        } else if !["input", "hr", "br", "img"].contains(&name) {
            open.push(name);
        }
        rest = &rest[tag[0].len()..];
    }
    assert_eq!(open, ["body"], "every element must be closed");
    let hostile =
        |c: char| (c.is_control() && !"\n\t".contains(c)) || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!body(page).contains(hostile));
}

/// Fails unless every heading is one in the Markdown, and nothing is HTML.
fn check_markdown(markdown: &str, text: &str) {
    use pulldown_cmark::{Event, HeadingLevel, Parser, Tag};
    let mut depth = 0;
    let mut headings = Vec::new();
    let mut at = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html:?} of {text}\n{markdown}"),
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                depth += 1;
                at = (level == HeadingLevel::H2).then(String::new);
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth -= 1;
                headings.extend(at.take().filter(|_| depth == 0));
            }
            Event::Text(text) => {
                if let Some(at) = &mut at {
                    at.push_str(&text);
                }
            }
            _ => {}
        }
    }
    // The headings of the branch: three messages, by the user or as answers, and those of the last
    // section.
    let ours = |heading: &&String| *heading == "User" || heading.starts_with("Assistant (");
    assert!(
        headings.iter().filter(ours).count() >= 4,
        "{text}\n{markdown}"
    );
}
