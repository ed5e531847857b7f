//! Reads a session file into a tree in one pass. Parses only the head of each message line, so the
//! time depends on the number of lines, not their content. Reports what it can't parse.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::entry::{Body, Header, Kind, VERSION};
use super::tree::{NodeId, Place, Tree};
use tiller_llm::Usage;

const MIB: u64 = 1024 * 1024;
/// Bytes to read at once.
const CHUNK: usize = MIB as usize;
/// Longest line to hold in memory, in bytes. Of longer ones it reads only the beginning.
const LONGEST: usize = 32 * 1024 * 1024;

/// The content of a session file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its first line.
    pub header: Header,
    pub tree: Tree,
    pub usage: Usage,
    pub header_length: u64,
    /// Bytes up to the end of the last complete entry.
    pub length: u64,
    /// Bytes after that: a torn entry.
    pub torn: u64,
    /// Whether the last complete entry lacks its newline.
    pub unterminated: bool,
    /// The skipped parts, for the user.
    pub problems: Vec<String>,
}

/// Reads the session in `file`.
///
/// # Errors
/// The file is unreadable, or its first line isn't a session header.
pub fn read(file: &File) -> io::Result<Loaded> {
    let mut reader = Reader::default();
    reader.lines(file)?;
    let header = reader.header.ok_or_else(|| {
        let text = "it isn't a session file: its first line isn't a session header";
        io::Error::new(io::ErrorKind::InvalidData, text)
    })?;
    let mut tree = reader.tree;
    let mut orphans = reader.orphans;
    let mut adopted = Vec::with_capacity(reader.forward.len());
    for (node, parent) in reader.forward {
        match tree.find(&parent) {
            Some(parent) => adopted.push((node, parent)),
            None => orphans += 1,
        }
    }
    orphans += tree.adopt(&adopted);
    let mut problems = Vec::new();
    let count = |count: usize| match count {
        1 => String::from("1 line"),
        count => format!("{count} lines"),
    };
    if reader.unreadable > 0 {
        let lines = count(reader.unreadable);
        problems.push(format!(
            "tiller can't read {lines}, which the file keeps unchanged"
        ));
    }
    if orphans > 0 {
        let lines = count(orphans);
        problems.push(format!("branches begin at {lines} with a missing parent"));
    }
    if header.version > VERSION {
        let version = header.version;
        problems.push(format!(
            "the file has format version {version}; this tiller knows version {VERSION}"
        ));
    }
    if let Some(before) = &header.usage_before {
        reader.usage.take_off(before);
    }
    Ok(Loaded {
        header,
        tree,
        usage: reader.usage,
        header_length: reader.header_length,
        length: reader.length,
        torn: reader.torn,
        unterminated: reader.unterminated,
        problems,
    })
}

impl Loaded {
    /// The line of a version 1 entry, with the id and parent assigned here.
    pub fn with_id(&self, file: &File, node: NodeId) -> io::Result<Vec<u8>> {
        let Place::File { offset, length } = self.tree.node(node).place else {
            return Ok(Vec::new());
        };
        let mut entry: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&line(file, offset, length)?)?;
        let parent = self
            .tree
            .node(node)
            .parent
            .map(|parent| self.tree.id(parent));
        entry.insert("id".into(), self.tree.id(node).into());
        entry.insert("parentId".into(), parent.into());
        // Version 1 compactions referred to entries by line number.
        let kept = entry.remove("firstKeptEntryIndex");
        let kept = kept.and_then(|kept| usize::try_from(kept.as_u64()?).ok()?.checked_sub(1));
        if let Some(kept) = kept.and_then(|kept| self.tree.nodes().nth(kept)) {
            entry.insert("firstKeptEntryId".into(), self.tree.id(kept).into());
        }
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// True if `line` itself gives its entry this id and parent.
pub fn names(line: &[u8], id: &str, parent: Option<&str>) -> bool {
    Head::of(line).is_some_and(|head| {
        let same_parent = match &head.parent {
            Parent::Id(named) => Some(&**named) == parent,
            Parent::Root(()) => parent.is_none(),
            Parent::Unnamed => false,
        };
        head.id.as_deref() == Some(id) && same_parent
    })
}

/// The content of the entry at `place` in `file`.
pub fn load(place: &Place, file: Option<&File>) -> io::Result<Arc<Body>> {
    let (offset, length) = match place {
        Place::Memory(body) => return Ok(Arc::clone(body)),
        Place::File { offset, length } => (*offset, *length),
    };
    let line = line(file.ok_or(io::ErrorKind::NotFound)?, offset, length)?;
    Body::read(&line).map(Arc::new).ok_or_else(|| {
        let text = format!("can't read the entry at byte {offset}");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

pub fn can_load(length: u64) -> bool {
    length <= LONGEST as u64
}

/// Reads the line at `offset` again.
///
/// # Errors
/// The file is unreadable, or the line is too long for memory.
pub fn line(file: &File, offset: u64, length: u32) -> io::Result<Vec<u8>> {
    if !can_load(length.into()) {
        let (size, most) = (u64::from(length) / MIB, LONGEST as u64 / MIB);
        let text = format!("the entry at byte {offset} has {size} MB; the limit is {most} MB");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    let mut line = vec![0; length as usize];
    file.read_exact_at(&mut line, offset)?;
    Ok(line)
}

/// Opens a session file. Rejects devices, pipes and folders, because reading one may never end.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        let text = "it isn't a session file: it isn't a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    options.open(path)
}

#[derive(Default)]
struct Reader {
    header: Option<Header>,
    tree: Tree,
    usage: Usage,
    /// Entries with a later or unknown parent.
    forward: Vec<(NodeId, String)>,
    orphans: usize,
    unreadable: usize,
    header_length: u64,
    length: u64,
    torn: u64,
    unterminated: bool,
}

impl Reader {
    fn lines(&mut self, mut file: &File) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(CHUNK);
        // File offset of the buffer, and bytes of the current line already discarded.
        let (mut offset, mut dropped) = (0, 0);
        loop {
            let searched = buffer.len();
            let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)?;
            if read == 0 {
                break;
            }
            let mut start = 0;
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &buffer[searched..]).collect();
            for end in ends {
                let end = searched + end;
                let length = dropped + (end - start) as u64;
                self.line(&buffer[start..end], offset, length);
                offset += length + 1;
                self.length = offset;
                (start, dropped) = (end + 1, 0);
            }
            buffer.drain(..start);
            if buffer.len() > LONGEST {
                dropped += (buffer.len() - CHUNK) as u64;
                buffer.truncate(CHUNK);
            }
        }
        let length = dropped + buffer.len() as u64;
        if dropped == 0 && serde_json::from_slice::<IgnoredAny>(&buffer).is_ok() {
            self.line(&buffer, offset, length);
            self.length = offset + length;
            self.unterminated = true;
        } else {
            self.torn = length;
        }
        Ok(())
    }

    /// Handles the line of `length` bytes at `offset`, which starts with `line`.
    fn line(&mut self, line: &[u8], offset: u64, length: u64) {
        if self.header.is_none() {
            self.header = Header::read(line);
            self.header_length = offset + length + 1;
            return;
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(head) = Head::of(line) else {
            self.unreadable += 1;
            return;
        };
        // Deterministic, because later lines refer to it.
        let nameless = || format!("#{}", self.tree.nodes().len());
        let id = head.id.map_or_else(nameless, Cow::into_owned);
        let parent = match &head.parent {
            // Version 1 had no tree: each entry continues the one before.
            Parent::Unnamed => self.tree.leaf(),
            Parent::Root(()) => None,
            Parent::Id(parent) => self.tree.find(parent),
        };
        let place = Place::in_file(offset, length);
        let node = self.tree.push(&id, parent, head.kind, place);
        if let (None, Parent::Id(parent)) = (parent, head.parent) {
            self.forward.push((node, parent.into_owned()));
        }
        if head.kind.may_have_usage()
            && let Some(usage) = usage(line)
        {
            self.usage.add(&usage);
        }
        if head.about_tree {
            match Body::read(line) {
                Some(Body::Label { target_id, label }) => {
                    if let Some(target) = self.tree.find(&target_id) {
                        self.tree.set_label(target, label);
                    }
                }
                Some(Body::SessionInfo { name }) => self.tree.set_name(Some(name)),
                _ => {}
            }
        }
    }
}

/// The tokens that an entry reports, found at the end of its line without parsing it.
fn usage(line: &[u8]) -> Option<Usage> {
    let at = memchr::memmem::rfind(line, br#""usage":{"#)?;
    let rest = &line[at + br#""usage":"#.len()..];
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter();
    values.next()?.ok()
}

/// The parts of a line that the tree needs.
struct Head<'a> {
    id: Option<Cow<'a, str>>,
    parent: Parent<'a>,
    kind: Kind,
    /// Whether it names the session or labels an entry.
    about_tree: bool,
}

/// A line's information about its parent.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Parent<'a> {
    Id(#[serde(borrow)] Cow<'a, str>),
    Root(()),
    #[default]
    #[serde(skip)]
    Unnamed,
}

impl<'a> Head<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        Self::of_message(line).or_else(|| Self::of_any(line))
    }

    /// The head of a message in tiller's and pi's own layout: type, id, parent, timestamp, role.
    fn of_message(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":"message","id":""#)?;
        let (id, rest) = plain_string(rest)?;
        let rest = rest.strip_prefix(br#","parentId":"#)?;
        let (parent, rest) = match rest.strip_prefix(b"null") {
            Some(rest) => (Parent::Root(()), rest),
            None => {
                let (parent, rest) = plain_string(rest.strip_prefix(b"\"")?)?;
                (Parent::Id(parent.into()), rest)
            }
        };
        let (_, rest) = plain_string(rest.strip_prefix(br#","timestamp":""#)?)?;
        let (role, _) = plain_string(rest.strip_prefix(br#","message":{"role":""#)?)?;
        Some(Self {
            id: Some(id.into()),
            parent,
            kind: Kind::of("message", Some(role), None),
            about_tree: false,
        })
    }

    fn of_any(line: &'a [u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Line<'a> {
            #[serde(borrow)]
            r#type: Cow<'a, str>,
            #[serde(borrow, default)]
            id: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            parent_id: Parent<'a>,
            #[serde(borrow, default)]
            custom_type: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            message: Option<Role<'a>>,
        }
        #[derive(Deserialize)]
        struct Role<'a> {
            #[serde(borrow)]
            role: Cow<'a, str>,
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        let role = line.message.as_ref().map(|message| &*message.role);
        let kind = Kind::of(&line.r#type, role, line.custom_type.as_deref());
        Some(Self {
            id: line.id,
            parent: line.parent_id,
            kind,
            about_tree: matches!(&*line.r#type, "label" | "session_info"),
        })
    }
}

/// Splits off a JSON string without escapes, after its opening quote.
fn plain_string(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', text)?;
    if text[end] == b'\\' {
        return None;
    }
    Some((std::str::from_utf8(&text[..end]).ok()?, &text[end + 1..]))
}
