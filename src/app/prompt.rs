//! Builds the prompt from the command line: piped stdin, then words. Each `@FILE` is a separate
//! block after them, like a mention in a message.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::attachments::{has_lines, mention, near_miss};
use super::commands::{self, CustomCommands};
use super::outcome::StartError;
use super::resources::as_resource;
use crate::agent::tools;
use crate::llm::Content;

/// Most bytes of stdin, or of one text `@FILE`, in a prompt.
const MAX_TEXT_BYTES: u64 = 1024 * 1024;

/// Advice for a file that is too large.
const LEAVE_IT: &str = "leave out the @ and let the model read it";

/// Builds the prompt from `words` and from piped stdin. May be empty.
pub fn build(
    words: &[String],
    stdin: Option<&str>,
    cwd: &Path,
    custom: &CustomCommands,
) -> Result<Vec<Content>, StartError> {
    let mut paragraphs = Vec::new();
    let (mut files, mut images) = (Vec::new(), Vec::new());
    if let Some(text) = stdin
        .map(str::trim_end)
        .filter(|text| !text.trim().is_empty())
    {
        paragraphs.push(text.to_owned());
    }
    let mut typed = Vec::new();
    for word in words {
        match whole_file(word, cwd) {
            Some(path) => match read_file(path, cwd)? {
                Content::Text(file) => {
                    files.push(Content::text(file_block(path, None, &file.text)));
                    typed.push(mention(path, ""));
                }
                image => images.push(image),
            },
            None => typed.push(word.clone()),
        }
    }
    let typed = typed.join(" ");
    if !typed.trim().is_empty() {
        let prompt = match commands::expand(&typed) {
            Some(prompt) => Some(prompt),
            None => custom
                .prompt(&typed)
                .map_err(|why| StartError::usage(why.to_string()))?,
        };
        paragraphs.push(prompt.unwrap_or(typed));
    }
    let mut content = Vec::new();
    if !paragraphs.is_empty() {
        content.push(Content::text(paragraphs.join("\n\n")));
    }
    content.extend(files);
    content.extend(images);
    Ok(content)
}

/// The path of a word that is only `@FILE`. Text that mentions files, such as `@a.rs explain this` and
/// `@a.rs:7`, is none.
pub fn whole_file<'a>(word: &'a str, cwd: &Path) -> Option<&'a str> {
    let path = word.strip_prefix('@').filter(|path| !path.is_empty())?;
    let path = Some(path).filter(|path| as_resource(path).is_none())?;
    let is_sentence = path.contains(char::is_whitespace) && !resolve(path, cwd).exists();
    (!is_sentence && !has_lines(path, cwd)).then_some(path)
}

/// How to treat an open pipe on stdin that stays empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing was piped; the parent process just left it open.
    Empty,
    /// Wait for it, and say so on stderr.
    Said,
}

/// Reads stdin to its end, unless it is a terminal.
pub fn piped_stdin(
    silence: Silence,
    deadline: Option<Instant>,
) -> Result<Option<String>, StartError> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let patience: u16 = match silence {
        Silence::Empty => 200,
        Silence::Said => 1000,
    };
    let left = || deadline.map(|end| end.saturating_duration_since(Instant::now()));
    let patience = Duration::from_millis(patience.into());
    let patience = left().map_or(patience, |left| left.min(patience));
    match (poll(&mut fds, timeout(patience)), silence) {
        (Ok(0) | Err(_), Silence::Empty) => return Ok(None),
        (Ok(0), Silence::Said) => {
            let _ = writeln!(
                io::stderr(),
                "tiller: waiting for stdin; use --no-stdin to skip it"
            );
        }
        _ => {}
    }
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    while bytes.len() as u64 <= MAX_TEXT_BYTES {
        match poll(&mut fds, left().map_or(PollTimeout::NONE, timeout)) {
            Ok(0) => return Err(StartError::timed_out("stdin didn't end")),
            Err(Errno::EINTR) => continue,
            _ => {}
        }
        match stdin.lock().read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A background job's terminal, or a closed descriptor: nothing was piped.
            Err(_) if bytes.is_empty() => return Ok(None),
            Err(error) => return Err(StartError::failed(format!("can't read stdin: {error}"))),
        }
    }
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(StartError::usage(
            "stdin is larger than 1 MiB: write it to a file and name the file in the prompt",
        ));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn timeout(time: Duration) -> PollTimeout {
    // Rounded up, because a poll with no timeout would spin.
    PollTimeout::try_from(time.as_millis() + 1).unwrap_or(PollTimeout::MAX)
}

/// The block for a text file, or for these lines of it.
pub(super) fn file_block(name: &str, lines: Option<(usize, usize)>, text: &str) -> String {
    let lines = lines.map(|(first, last)| format!(" lines=\"{first}-{last}\""));
    format!(
        "<file path=\"{name}\"{}>\n{}\n</file>",
        lines.unwrap_or_default(),
        text.trim_end_matches('\n')
    )
}

/// Reads a text file or picture.
pub(super) fn read_file(name: &str, cwd: &Path) -> Result<Content, StartError> {
    let file = read_large_file(name, cwd)?;
    match &file {
        Content::Text(it) if it.text.len() as u64 > MAX_TEXT_BYTES => Err(StartError::usage(
            format!("can't use @{name}: it is larger than 1 MiB; {LEAVE_IT}"),
        )),
        _ => Ok(file),
    }
}

/// The same for a text of any length that fits in memory, of which only some lines are used.
pub(super) fn read_large_file(name: &str, cwd: &Path) -> Result<Content, StartError> {
    let path = resolve(name, cwd);
    let fault = |what: String| StartError::usage(format!("can't use @{name}: {what}"));
    let meta = fs::metadata(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let near = near_miss(name, cwd).map(|near| format!("; did you mean @{near}?"));
            let near = near.unwrap_or_else(|| ". Without the @ it is text".to_owned());
            fault(format!("no such file{near}"))
        }
        _ => fault(error.to_string()),
    })?;
    if !meta.is_file() {
        let what = if meta.is_dir() {
            "it is a folder; name its files, or leave out the @: the model can list it"
        } else {
            "it is not a file"
        };
        return Err(fault(what.to_owned()));
    }
    if meta.len() > tools::MAX_PICTURE_FILE {
        return Err(fault(format!("it is larger than 64 MiB; {LEAVE_IT}")));
    }
    let mut bytes = Vec::new();
    fs::File::open(&path)
        .and_then(|file| file.take(tools::MAX_PICTURE_FILE).read_to_end(&mut bytes))
        .map_err(|error| fault(error.to_string()))?;
    if let Some(picture) = tools::image_of(&bytes) {
        return picture.map(Content::Image).map_err(fault);
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| fault("it is neither UTF-8 text nor a picture".to_owned()))?;
    Ok(Content::text(text))
}

pub(super) fn resolve(name: &str, cwd: &Path) -> PathBuf {
    if let Some(rest) = name.strip_prefix("~/")
        && let Some(home) = std::env::home_dir()
    {
        return home.join(rest);
    }
    cwd.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::dirs::Dirs;

    fn build(
        words: &[String],
        stdin: Option<&str>,
        cwd: &Path,
    ) -> Result<Vec<Content>, StartError> {
        let home = ("HOME".to_owned(), cwd.display().to_string());
        let dirs = Dirs::from_env(&[home].into(), || None).unwrap();
        super::build(words, stdin, cwd, &CustomCommands::new(&dirs, cwd, true))
    }

    use crate::llm::message::content_text;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn stdin_then_words_then_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
        let file = "<file path=\"a.txt\">\none\ntwo\n</file>";
        for (typed, stdin, expected) in [
            (
                &["fix", "@a.txt", "this"][..],
                Some("piped\n"),
                format!("piped\n\nfix @a.txt this\n{file}"),
            ),
            (&["look", "@", "it"], None, "look @ it".to_owned()),
            // The mention is read with the message.
            (&["look", "@a.txt:2"], None, "look @a.txt:2".to_owned()),
            (&["@a.txt fix it"], None, "@a.txt fix it".to_owned()),
            (&[], Some(" \n"), String::new()),
            (&[], None, String::new()),
        ] {
            let content = build(&words(typed), stdin, dir.path()).unwrap();
            assert_eq!(content_text(&content), expected);
            assert_eq!(content.is_empty(), expected.is_empty());
        }
    }

    #[test]
    fn pictures_ride_behind_the_text() {
        let dir = tempfile::tempdir().unwrap();
        let wide = image::RgbImage::new(9000, 9);
        wide.save_with_format(dir.path().join("p"), image::ImageFormat::Bmp)
            .unwrap();
        let content = build(&words(&["what", "@p"]), None, dir.path()).unwrap();
        // Shrunk, as `read` does.
        assert!(
            matches!(&content[..], [Content::Text(_), Content::Image(image)] if image.mime_type == "image/png")
        );
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("blob"), [0xff, 0, 0xfe]).unwrap();
        fs::write(dir.path().join("big"), vec![b'a'; 1024 * 1024 + 1]).unwrap();
        fs::write(dir.path().join("cut"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        fs::File::create(dir.path().join("huge"))
            .and_then(|file| file.set_len(1 << 40))
            .unwrap();
        for (name, why) in [
            ("@cut", "can't use"),
            ("@huge", "larger than 64 MiB"),
            ("@missing", "no such file. Without the @ it is text"),
            ("@bolb", "no such file; did you mean @blob?"),
            ("@big/x", "can't use @big/x: Not a directory"),
            ("@.", "it is a folder; name its files"),
            ("@blob", "neither UTF-8 text"),
            ("@big", "larger than 1 MiB"),
            ("@/dev/zero", "not a file"),
        ] {
            let error = build(&words(&[name]), None, dir.path())
                .unwrap_err()
                .message;
            assert!(error.contains(name) && error.contains(why), "{error}");
            assert!(!error.contains("os error"), "{error}");
        }
    }
}
