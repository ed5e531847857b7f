//! A session as one HTML page that loads nothing. It contains all branches. Without its script it
//! shows them one after the other, linked to each other.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use super::contents::contents;
use super::entry::entries;
use super::escape::{push_element, push_text};
use super::transcript::Transcript;
use crate::app::humanize::{dollars, grouped};

const PAGE: &str = include_str!("../../../assets/export/page.html");
const STYLE: &str = include_str!("../../../assets/export/style.css");
const SCRIPT: &str = include_str!("../../../assets/export/script.js");

pub fn page(transcript: &Transcript) -> String {
    let mut title = String::new();
    push_text(&mut title, title_of(transcript));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let leaf = transcript
        .leaf
        .map_or_else(String::new, |leaf| format!("e{leaf}"));
    let (facts, contents, entries) = (facts(transcript), contents(transcript), entries(transcript));
    let mut page = String::with_capacity(entries.len() + PAGE.len() + STYLE.len() + SCRIPT.len());
    // Each piece ends at a placeholder. Inserted text is never searched for placeholders.
    for piece in PAGE.split("{{") {
        let Some((name, rest)) = piece.split_once("}}") else {
            page.push_str(piece);
            continue;
        };
        page.push_str(match name {
            "policy" => &policy,
            "style" => STYLE,
            "script" => SCRIPT,
            "title" => &title,
            "leaf" => &leaf,
            "facts" => &facts,
            "contents" => &contents,
            "entries" => &entries,
            _ => "",
        });
        page.push_str(rest);
    }
    page
}

/// The content security policy's source expression for an inline script or style.
fn hash(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    format!("sha256-{}", STANDARD.encode(digest.as_ref()))
}

fn title_of(transcript: &Transcript) -> &str {
    match transcript.title.as_str() {
        "" => "Session without a prompt",
        title => title,
    }
}

fn facts(transcript: &Transcript) -> String {
    let usage = &transcript.usage;
    let prompt = usage
        .input
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write);
    let tokens = format!(
        "{} in ({} from a cache), {} out",
        grouped(prompt),
        grouped(usage.cache_read),
        grouped(usage.output)
    );
    let times = times(&transcript.began, &transcript.ended);
    let cost = dollars(usage.cost.total);
    let models = transcript.models.join(", ");
    let mut out = String::new();
    for (name, value) in [
        ("Model", models.as_str()),
        ("Time", &times),
        ("Folder", &transcript.cwd),
        ("Tokens", &tokens),
        ("Cost", &cost),
        ("Session", &transcript.id),
    ] {
        if !value.is_empty() {
            push_fact(&mut out, name, value);
        }
    }
    for problem in &transcript.problems {
        push_fact(&mut out, "Damage", problem);
    }
    out
}

fn push_fact(out: &mut String, name: &str, value: &str) {
    out.push_str("<div>");
    push_element(out, "dt", "", name);
    push_element(out, "dd", "", value);
    out.push_str("</div>\n");
}

/// The time span, with the date only once if it's the same. Invalid times stay unchanged.
fn times(began: &str, ended: &str) -> String {
    let parse = |time: &str| time.parse::<jiff::Timestamp>().ok();
    let (Some(from), Some(to)) = (parse(began), parse(ended)) else {
        return match ended {
            "" => began.to_owned(),
            ended => format!("{began} to {ended}"),
        };
    };
    let (day, next) = (from.strftime("%Y-%m-%d"), to.strftime("%Y-%m-%d"));
    let (begin, end) = (from.strftime("%H:%M"), to.strftime("%H:%M"));
    if day.to_string() == next.to_string() {
        format!("{day} {begin} to {end} UTC")
    } else {
        format!("{day} {begin} to {next} {end} UTC")
    }
}
