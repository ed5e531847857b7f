//! Joining, recognizing and displaying addresses.

use tiller::llm::http::{is_loopback, join, shown};

#[test]
fn addresses_are_joined_with_any_slashes() {
    let messages = "/v1/messages";
    let chat = "/chat/completions";
    for (base, path, expected) in [
        ("https://a", messages, "https://a/v1/messages"),
        ("https://a/", messages, "https://a/v1/messages"),
        ("https://a/v1", messages, "https://a/v1/messages"),
        ("https://a/v1/", messages, "https://a/v1/messages"),
        ("https://a/v1/v1", messages, "https://a/v1/messages"),
        ("https://a/v1/messages", messages, "https://a/v1/messages"),
        (
            "https://a/anthropic",
            messages,
            "https://a/anthropic/v1/messages",
        ),
        ("https://a/v1", chat, "https://a/v1/chat/completions"),
        ("https://a/v1/v1/", chat, "https://a/v1/chat/completions"),
        (
            "https://a/api/coding/paas/v4",
            chat,
            "https://a/api/coding/paas/v4/chat/completions",
        ),
        ("https://a", chat, "https://a/chat/completions"),
        (
            " https://a/v1/chat/completions/ ",
            chat,
            "https://a/v1/chat/completions",
        ),
    ] {
        assert_eq!(join(base, path), expected, "{base}");
    }
}

#[test]
fn local_addresses_are_recognized() {
    for url in [
        "http://127.0.0.1:11434/v1",
        "http://127.1.2.3",
        "http://LOCALHOST:1/v1",
        "https://localhost.",
        "http://a.localhost:8080",
        "http://[::1]:8080/v1",
        "http://[::ffff:127.0.0.1]",
        "http://me:pw@127.0.0.1",
        " http://2130706433/ ",
    ] {
        assert!(is_loopback(url), "{url}");
    }
    for url in [
        "https://api.openai.com/v1",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://192.168.1.2",
        "http://0.0.0.0:1",
        "http://[::2]",
        "http://127.0.0.1@example.com/",
        "localhost:1",
        "",
    ] {
        assert!(!is_loopback(url), "{url}");
    }
}

#[test]
fn displayed_addresses_have_no_secrets() {
    assert_eq!(shown("https://me:pw@host:1/p?key=1#x"), "https://host:1/p");
    assert_eq!(shown("http://host"), "http://host");
    assert_eq!(shown("nonsense?x"), "nonsense");
}
