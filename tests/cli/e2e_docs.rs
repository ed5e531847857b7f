//! `tiller docs` in a pipe: pages, sections, the search, and names that don't exist.

use crate::support::sandbox::Sandbox;

#[test]
fn a_page_or_a_section_is_printed_as_markdown() {
    let sandbox = Sandbox::new();
    for (name, start) in [
        ("permissions", "# Permissions\n"),
        ("commands", "# Commands\n"),
        ("Keys.md", "# Keys\n"),
        (
            "permissions#let-it-use-docker-ssh-or-gh",
            "### Let it use docker, ssh or gh\n",
        ),
        ("headless", "## Run one prompt\n"),
        ("telemetry", "## What leaves your machine\n"),
    ] {
        let words: Vec<&str> = name.split(' ').collect();
        let ran = sandbox.run(&[&["docs"], &words[..]].concat());
        assert_eq!(ran.code, Some(0), "{name}: {ran:#?}");
        assert!(ran.stdout.starts_with(start), "{name}: {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'), "{name}");
    }
    let ran = sandbox.run(&["docs", "permissions#let-it-use-docker-ssh-or-gh"]);
    assert!(!ran.stdout.contains("### Let it write"), "{}", ran.stdout);
    // A section has its parts.
    let ran = sandbox.run(&["docs", "coming-from#from-codex"]);
    let (from, to) = ("### Codex: command line", "## From pi");
    assert!(
        ran.stdout.contains(from) && !ran.stdout.contains(to),
        "{}",
        ran.stdout
    );
}

#[test]
fn words_list_the_sections_and_how_to_open_them() {
    let sandbox = Sandbox::new();
    for (words, first) in [
        (
            "ci",
            "scripting › CI: GitHub Actions\n      tiller docs scripting#ci-github-actions",
        ),
        ("json", "scripting › JSON"),
        ("sandbox", "security › The sandbox"),
        ("docker", "permissions › Let it use docker, ssh or gh"),
        ("mcp servers", "mcp"),
        ("network access", "permissions › Let it use the network"),
        // Only one section has it, and not in its heading.
        ("mosh", "terminal › Inline mode: keep the scrollback"),
    ] {
        let ran = sandbox.run(&["docs", words]);
        assert_eq!(ran.code, Some(0), "{words}: {ran:#?}");
        let start = format!("Sections about '{words}':\n\n  {first}");
        assert!(ran.stdout.starts_with(&start), "{words}: {}", ran.stdout);
    }
    for (words, part) in [
        (
            "proxy",
            "\nNot a setting: set the variable HTTPS_PROXY instead\n",
        ),
        ("apiKeyHelper", "Not a setting: write api_key"),
    ] {
        let ran = sandbox.run(&["docs", words]);
        assert_eq!(ran.code, Some(0), "{words}: {ran:#?}");
        assert!(ran.stdout.contains(part), "{words}: {}", ran.stdout);
    }
    let ran = sandbox.run(&["docs"]);
    assert!(ran.stdout.contains("reference/commands"), "{}", ran.stdout);
}

#[test]
fn unknown_words_get_the_nearest_sections_or_all_pages() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["docs", "netwrk"]);
    let nearest = "No exact match for 'netwrk'. The nearest sections:\n\n  permissions › Let it use the network";
    assert!(
        ran.code == Some(0) && ran.stdout.starts_with(nearest),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["docs", "network zzqqj"]);
    let nearest = "No section has all these words. The nearest to 'network zzqqj':\n\n  permissions › Let it use";
    assert!(
        ran.code == Some(0) && ran.stdout.starts_with(nearest),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["docs", "zzqqj"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let told = "error: no page or section about 'zzqqj'. The pages are:";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    assert!(ran.stderr.contains("troubleshooting"), "{}", ran.stderr);
}

#[test]
fn an_unknown_section_of_a_page_gets_the_nearest_ones() {
    let sandbox = Sandbox::new();
    for (link, told) in [
        (
            "permissions#network",
            "The nearest are:\n  permissions › Let it use the network",
        ),
        (
            "permissions#foo",
            "Its sections are:\n  permissions › Modes",
        ),
    ] {
        let ran = sandbox.run(&["docs", link]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:#?}");
        let begins = format!(
            "error: permissions has no section '{}'. {told}",
            &link[12..]
        );
        assert!(ran.stderr.starts_with(&begins), "{}", ran.stderr);
    }
}
