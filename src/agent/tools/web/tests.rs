//! What becomes of pages, and of servers that want something else.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Url;

use super::content::{PageContent, content};
use super::markdown::to_text;
use super::request::{Fetched, Lookup, MAX_BODY, Page, fetch, is_local, parse};
use crate::lock::lock;

fn text(page: &str) -> String {
    to_text(page, &Url::parse("https://example.org/a/b").unwrap())
}

#[test]
fn pages_become_readable_text() {
    for (page, expected) in [
        ("<p>One\n  two</p><p>three", "One two\n\nthree"),
        (
            "<title>T &amp; t</title><style>p{}</style><script>x<y</script><h1>A</h1>b<h2>C</h2>",
            "T & t\n\n# A\n\nb\n\n## C",
        ),
        ("<title>A</title><h1>A</h1>b", "# A\n\nb"),
        (
            "<ul><li>a<li>b<ol start=3><li>c</li><li>d</li></ol></li></ul>e",
            "- a\n- b\n  3. c\n  4. d\n\ne",
        ),
        (
            "See <a href='../x?a=1&amp;b=2'>the <b>docs</b></a>, <a href='#y'>here</a><a href='/z'></a>.",
            "See [the docs](https://example.org/x?a=1&b=2), here.",
        ),
        (
            "<pre><code>fn a() {\n    b(&lt;c&gt;);\n}\n</code></pre>x <code>y</code>",
            "```\nfn a() {\n    b(<c>);\n}\n```\n\nx `y`",
        ),
        (
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td>1<td><p>2</p></tr></table>z",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nz",
        ),
        (
            "&eacute;&hellip;&#8364;&#x41;&nbsp;&bogus; & &amp",
            "é…€A &bogus; & &amp",
        ),
        ("a<br>b<hr>c<img alt='pic' src=x>", "a\nb\n\n---\n\nc[pic]"),
        (
            "a<div style='display: none'>x<div>y</div>z</div><span hidden>w</span>b<!-- c -->",
            "ab",
        ),
        ("<svg><text>x</text></svg>a<select><option>b</select>", "a"),
        ("a\u{1b}[2Jb\0c", "a[2Jbc"),
        ("", ""),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
    let main = "word ".repeat(60);
    let page = format!("<nav>menu</nav><main><p>{main}</main><footer>foot</footer>");
    assert_eq!(text(&page), main.trim());
}

#[test]
fn no_page_is_slow_or_deep() {
    for page in [
        "<div>".repeat(300_000),
        "<ul><li>".repeat(100_000),
        "<table><tr><td>".repeat(100_000),
        "<a href=x>".repeat(100_000),
        "<".repeat(1_000_000),
        "&".repeat(1_000_000),
        "<!--".repeat(300_000),
        "<script>".repeat(100_000),
        "</script".repeat(100_000),
        "<a b='".repeat(100_000),
        "<pre>".repeat(100_000),
    ] {
        text(&page);
    }
}

fn page(content_type: &str, body: &[u8]) -> Page {
    Page {
        url: Url::parse("https://example.org/a").unwrap(),
        status: 200,
        content_type: content_type.to_owned(),
        body: body.to_vec(),
        is_cut: false,
    }
}

#[test]
fn the_type_and_the_encoding_decide_how_a_page_is_read() {
    let read = |content_type: &str, body: &[u8]| match content(&page(content_type, body)) {
        Ok(PageContent::Text(text)) => text,
        Ok(PageContent::Picture(picture)) => picture.mime_type,
        Err(why) => why,
    };
    for (content_type, body, expected) in [
        ("text/plain", &b"<p>a"[..], "<p>a"),
        ("text/html; charset=utf-8", b"<p>a", "a"),
        ("application/json", b"{\"a\": 1}", "{\"a\": 1}"),
        ("application/ld+json", b"{}", "{}"),
        ("", b"<!DOCTYPE html><p>a", "a"),
        ("", b"plain", "plain"),
        ("text/plain; charset=ISO-8859-1", b"caf\xe9", "café"),
        (
            "text/html",
            b"<meta charset=\"windows-1251\"><p>\xe4\xe0",
            "да",
        ),
        // The server is wrong, and nobody else knows better.
        ("text/plain; charset=nonsense", "né".as_bytes(), "né"),
        ("text/plain", b"na\xefve", "naïve"),
        ("text/plain", b"\xff\xfea\0b\0", "it is text/plain"),
        (
            "application/pdf",
            b"%PDF-1.7 ...",
            "it is application/pdf (12 bytes)",
        ),
        ("text/plain. Now obey: x", b"plain", "plain"),
        ("application/octet-stream", b"PK\x03\x04\0\0", "it is "),
        ("image/png", b"no picture\0", "it is image/png"),
    ] {
        let read = read(content_type, body);
        let fits = if expected.starts_with("it is") {
            read.starts_with(expected)
        } else {
            read == expected
        };
        assert!(fits, "{content_type}: {read}");
    }
    let mut png = io::Cursor::new(Vec::new());
    let picture = image::DynamicImage::new_rgb8(2, 2);
    picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
    assert_eq!(read("image/png", png.get_ref()), "image/png");
}

#[test]
fn only_plain_urls_are_fetched() {
    for (url, fault) in [
        ("ftp://example.org/", "http and https only"),
        ("file:///etc/passwd", "http and https only"),
        ("https://me:pw@example.org/", "user name or a password"),
        ("example.org", "not a valid URL"),
        ("", "not a valid URL"),
    ] {
        assert!(parse(url).unwrap_err().contains(fault), "{url}");
    }
    for (url, local) in [
        ("http://localhost:3000/", true),
        ("http://a.localhost./", true),
        ("http://127.1/", true),
        ("http://2130706433/", true),
        ("http://0x7f000001/", true),
        ("http://[::1]/", true),
        ("http://[::ffff:10.0.0.1]/", true),
        ("http://169.254.169.254/latest", true),
        ("http://example.org/", false),
        ("http://1.1.1.1/", false),
        ("http://localhost.example.org/", false),
    ] {
        assert_eq!(is_local(&parse(url).unwrap()), local, "{url}");
    }
}

#[test]
fn no_page_becomes_much_larger_or_slower() {
    let base = Url::parse(&format!("https://example.org/{}/b", "a".repeat(7000))).unwrap();
    let links = to_text(&"<a href=x>l</a> ".repeat(300_000), &base);
    assert!(links.len() < 3 << 20, "{}", links.len());
    assert!(links.ends_with("[the rest of the page is left out]"));
    let link = links.split(' ').next().unwrap();
    assert!(link.len() < 520 && link.ends_with("a…)"), "{link}");
    // Each of these would look at all line breaks before it.
    let breaks = format!(
        "<pre>x{}{}",
        "\n".repeat(1 << 20),
        "<p>\u{1}".repeat(1 << 18)
    );
    assert!(to_text(&breaks, &base).len() < 2 << 20);
    assert_eq!(text("<title>a&#27;[2Jb</title>c"), "a[2Jb\n\nc");
    assert_eq!(text("<a href='mailto:a@b'>mail</a> me"), "mail me");
    assert_eq!(text("a<svg class=icon />b"), "ab");
    let long = format!("http://example.org/{}", "a".repeat(9000));
    assert!(parse(&long).unwrap_err().contains("longer than 8192 bytes"));
}

/// A server on this machine that answers each connection with the next of these, and stops then. Its requests.
fn server(answers: Vec<Vec<u8>>) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                request.push(byte[0]);
            }
            lock(&requests).push(String::from_utf8_lossy(&request).into_owned());
            // One that has read enough hangs up.
            match stream.write_all(&answer) {
                Err(error) if error.kind() == ErrorKind::InvalidInput => panic!("{error}"),
                _ => {}
            }
        }
    });
    (port, seen)
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").into_bytes();
    answer.extend_from_slice(body);
    answer
}

/// A name server that knows these addresses, one after the other, for every host.
fn names(addresses: &[[u8; 4]]) -> Lookup {
    let addresses: Vec<IpAddr> = addresses.iter().map(|it| IpAddr::from(*it)).collect();
    let next = AtomicUsize::new(0);
    Arc::new(move |_| {
        let at = next
            .fetch_add(1, Ordering::Relaxed)
            .min(addresses.len() - 1);
        Ok(vec![addresses[at]])
    })
}

const HERE: [u8; 4] = [127, 0, 0, 1];

async fn fetched(url: &str, private: bool, lookup: &Lookup) -> Result<Fetched, String> {
    fetch(parse(url).unwrap(), private, lookup).await
}

#[tokio::test]
async fn redirects_stay_on_the_host_and_are_limited() {
    let moved = |to: &str| answer(&format!("302 Found\r\nlocation: {to}"), b"");
    let (port, seen) = server(vec![moved("/b?c=1"), answer("200 OK", b"here")]);
    let url = format!("http://site.test:{port}/a");
    let Fetched::Page(page) = fetched(&url, true, &names(&[HERE])).await.unwrap() else {
        panic!("it redirected");
    };
    assert_eq!((page.url.path(), &*page.body), ("/b", &b"here"[..]));
    assert!(lock(&seen)[1].starts_with("GET /b?c=1 "), "{seen:?}");

    let (port, _) = server(vec![moved("http://other.test/x")]);
    let url = format!("http://site.test:{port}/a");
    match fetched(&url, true, &names(&[HERE])).await.unwrap() {
        Fetched::Elsewhere(next) => assert_eq!(next.as_str(), "http://other.test/x"),
        Fetched::Page(page) => panic!("{page:?}"),
    }
    for (to, why) in [
        (
            "http://me:pw@site.test/",
            "it redirects, but the URL has a user name",
        ),
        (
            "file:///etc/passwd",
            "it redirects, but web_fetch reads http",
        ),
    ] {
        let (port, _) = server(vec![moved(to)]);
        let url = format!("http://site.test:{port}/a");
        let error = fetched(&url, true, &names(&[HERE])).await.unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
    let (port, _) = server(vec![moved("/again"); 11]);
    let url = format!("http://site.test:{port}/a");
    let error = fetched(&url, true, &names(&[HERE])).await.unwrap_err();
    assert_eq!(error, "more than 10 redirects");
}

#[tokio::test]
async fn private_addresses_are_refused_however_they_come() {
    let why = "is on this machine or in a private network";
    let (port, seen) = server(vec![answer("302 Found\r\nlocation: /b", b"")]);
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://site.test:{port}/"),
    ] {
        let error = fetched(&url, false, &names(&[HERE])).await.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(lock(&seen).is_empty());
    // The name had a public address when it was looked up before; the connection's own lookup counts.
    let rebinding = names(&[[93, 184, 216, 34], HERE]);
    rebinding("site.test").unwrap();
    let url = format!("http://site.test:{port}/");
    let error = fetched(&url, false, &rebinding).await.unwrap_err();
    assert!(error.contains(why), "{error}");
    assert!(
        error.contains("path = \"site.test\", network = true"),
        "{error}"
    );
    assert!(lock(&seen).is_empty());
}

#[tokio::test]
async fn endless_bodies_and_bombs_are_cut() {
    let body = vec![b'x'; MAX_BODY + 100_000];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    io::copy(&mut io::repeat(0).take(200 << 20), &mut encoder).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let gzip = "200 OK\r\ncontent-encoding: gzip\r\ncontent-type: text/plain";
    for answer in [answer("200 OK", &body), answer(gzip, &bomb)] {
        let (port, _) = server(vec![answer]);
        let url = format!("http://site.test:{port}/");
        let Fetched::Page(page) = fetched(&url, true, &names(&[HERE])).await.unwrap() else {
            panic!("it redirected");
        };
        assert_eq!((page.body.len(), page.is_cut), (MAX_BODY, true));
    }
}
