//! Reads the tools in a folder, without running any.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::manifest::{self, OwnTool};
use tiller_llm::read_small::{open_plain, read_small};

/// Most files that are looked at.
const MAX_FILES: usize = 500;
/// How much of a program may have a manifest, in bytes.
const HEAD: u64 = 64 * 1024;
/// How much of a program's first line counts. Linux reads less.
const LINE: u64 = 512;

/// The tools in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnFolder {
    /// In the order of their file names.
    pub tools: Vec<OwnTool>,
    /// A line for each file that can't be used.
    pub faults: Vec<String>,
}

/// Reads the tools in `folder`. If it belongs to the project at `project`, no link may lead to it or out of it:
/// where a link leads, commands can change the program.
pub fn read_folder(folder: &Path, project: Option<&Path>) -> OwnFolder {
    let mut found = OwnFolder::default();
    let names = match file_names(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return found,
        Err(error) => {
            found.faults.push(error.to_string());
            return found;
        }
    };
    let within = match project.map(|root| plain_folder(folder, root)) {
        None => None,
        Some(Ok(real)) => Some(real),
        Some(Err(why)) => {
            found.faults.push(why);
            return found;
        }
    };
    let reader = Reader {
        folder,
        names: &names,
        within,
    };
    let mut claimed = BTreeSet::new();
    let manifests = names.iter().filter(|name| extension(name) == "toml");
    let described = manifests.map(|name| {
        let program = reader.program_of(name);
        claimed.extend(program.ok());
        (*name).clone()
    });
    let described: Vec<String> = described.collect();
    for name in names.iter().filter(|name| !claimed.contains(*name)) {
        let tool = if described.contains(name) {
            reader.described(name).map(Some)
        } else {
            reader.alone(name)
        };
        match tool {
            Ok(None) => {}
            Ok(Some(tool)) => match found.tools.iter().find(|it| it.name == tool.name) {
                Some(first) => found.faults.push(format!(
                    "{name}: {} has the name '{}' too; rename one",
                    file_name(&first.program),
                    tool.name
                )),
                None => found.tools.push(tool),
            },
            Err(why) => found.faults.push(format!("{name}: {why}")),
        }
    }
    found
}

/// The real path of `folder`, if no link in the project leads there.
fn plain_folder(folder: &Path, project: &Path) -> Result<PathBuf, String> {
    let fault = |error: io::Error| error.to_string();
    let real = folder.canonicalize().map_err(fault)?;
    let root = project.canonicalize().map_err(fault)?;
    let is_plain = (folder.strip_prefix(project)).is_ok_and(|inside| root.join(inside) == real);
    is_plain.then_some(real).ok_or_else(|| {
        "a link leads to this folder, so its tools aren't used: make it a plain folder".to_owned()
    })
}

/// The files of a folder, sorted, without hidden ones and backups.
fn file_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.take(MAX_FILES) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && !name.ends_with('~') && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

struct Reader<'a> {
    folder: &'a Path,
    names: &'a [String],
    within: Option<PathBuf>,
}

impl Reader<'_> {
    /// The program that the manifest `name` describes: the file of the same name, with or without an extension.
    fn program_of(&self, name: &str) -> Result<String, String> {
        let wanted = stem(name);
        let is_program =
            |it: &&String| stem(it) == wanted && !["toml", "json", "md"].contains(&extension(it));
        let mut programs = self.names.iter().filter(is_program);
        let Some(program) = programs.next() else {
            return Err(format!("there is no program '{wanted}' beside it"));
        };
        match programs.next() {
            // The sorted first has no extension.
            Some(other) if program != wanted => Err(format!(
                "{program} and {other} could both be its program; rename one"
            )),
            _ => Ok(program.clone()),
        }
    }

    fn described(&self, name: &str) -> Result<OwnTool, String> {
        let path = self.folder.join(name);
        self.real(&path)?;
        let text = read_small(&path).map_err(|error| error.to_string())?;
        let program = self.program_of(name)?;
        self.tool(&text, &program)
    }

    /// A program with its manifest inside; `None` if it is another kind of file.
    fn alone(&self, name: &str) -> Result<Option<OwnTool>, String> {
        let path = self.folder.join(name);
        let mut head = Vec::new();
        let read = open_plain(&path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.map_err(|error| error.to_string())?;
        let head = String::from_utf8_lossy(&head);
        match manifest::in_comments(&head)? {
            Some(text) => self.tool(&text, name).map(Some),
            None if is_executable(&path) => Err(format!(
                "it has no manifest: add {}.toml, or a block '# /// tool' to its head",
                stem(name)
            )),
            None => Ok(None),
        }
    }

    fn tool(&self, text: &str, program: &str) -> Result<OwnTool, String> {
        let path = self.folder.join(program);
        let real = self.real(&path)?;
        let schema = |file: &str| self.schema(file);
        let mut tool = manifest::parse(text, stem(program), real, schema)?;
        tool.interpreter = interpreter(&path).map_err(|error| error.to_string())?;
        if !is_executable(&path) {
            return Err(format!(
                "{program} isn't executable: chmod +x {}",
                path.display()
            ));
        }
        Ok(tool)
    }

    fn schema(&self, file: &str) -> Result<Value, String> {
        if file.contains('/') {
            return Err(format!(
                "parameters = \"{file}\": name a file in the same folder"
            ));
        }
        let path = self.folder.join(file);
        let fault = |why: String| format!("{file}: {why}");
        self.real(&path).map_err(fault)?;
        let text = read_small(&path).map_err(|error| fault(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| fault(format!("not valid JSON: {error}")))
    }

    /// The real path of a file, which must not lead out of a project's folder of tools.
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        let real = path.canonicalize().map_err(|error| error.to_string())?;
        match &self.within {
            Some(within) if !real.starts_with(within) => {
                Err("it is a link out of the tools folder: move the file itself there".to_owned())
            }
            _ => Ok(real),
        }
    }
}

/// The first line of a program that names what runs it, or nothing.
fn interpreter(program: &Path) -> io::Result<String> {
    let mut head = Vec::new();
    open_plain(program)?.take(LINE).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let line = head.lines().next().unwrap_or_default();
    Ok(line.strip_prefix("#!").unwrap_or_default().to_owned())
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|it| it.permissions().mode() & 0o111 != 0)
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const HEADED: &str = "#!/bin/sh\n# /// tool\n# description = 'x'\n# ///\n";

    fn write(folder: &Path, name: &str, text: &str, mode: u32) {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn tools_have_a_manifest_beside_or_inside() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "weather", "#!/bin/sh\n", 0o755);
        write(
            at,
            "weather.toml",
            "description = 'x'\nparameters = 'weather.json'",
            0o644,
        );
        write(at, "weather.json", "{\"type\": \"object\"}", 0o644);
        write(at, "deploy.sh", "#!/bin/sh\n", 0o755);
        write(at, "deploy.toml", "description = 'x'", 0o644);
        write(at, "head.py", HEADED, 0o755);
        write(at, "helper.py", "x = 1\n", 0o644);
        write(at, ".hidden", "#!/bin/sh\n", 0o755);
        write(at, "head.py~", HEADED, 0o755);
        fs::create_dir(at.join("lib")).unwrap();
        let found = read_folder(at, None);
        assert_eq!(found.faults, Vec::<String>::new());
        let names: Vec<&str> = found.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["deploy", "head", "weather"]);
        assert_eq!(found.tools[0].interpreter, "/bin/sh");
        assert_eq!(read_folder(&at.join("none"), None), OwnFolder::default());
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("tools");
        fs::create_dir(&at).unwrap();
        write(&at, "bare", "#!/bin/sh\n", 0o755);
        write(&at, "idle.sh", HEADED, 0o644);
        write(&at, "lone.toml", "description = 'x'", 0o644);
        write(&at, "two.py", "", 0o755);
        write(&at, "two.sh", "", 0o755);
        write(&at, "two.toml", "description = 'x'", 0o644);
        write(
            &at,
            "same_a",
            &HEADED.replace("# desc", "# name = 'same'\n# desc"),
            0o755,
        );
        write(
            &at,
            "same_b",
            &HEADED.replace("# desc", "# name = 'same'\n# desc"),
            0o755,
        );
        write(&at, "up", "#!/bin/sh\n", 0o755);
        write(
            &at,
            "up.toml",
            "description = 'x'\nparameters = '../s.json'",
            0o644,
        );
        write(folder.path(), "outside", HEADED, 0o755);
        symlink(folder.path().join("outside"), at.join("out")).unwrap();
        let project = Some(folder.path());
        let found = read_folder(&at, project);
        let names: Vec<&str> = found.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["same"]);
        let expected = [
            "bare: it has no manifest",
            "idle.sh: idle.sh isn't executable: chmod +x ",
            "lone.toml: there is no program 'lone'",
            "out: it is a link out of the tools folder",
            "same_b: same_a has the name 'same' too",
            "two.py: it has no manifest",
            "two.sh: it has no manifest",
            "two.toml: two.py and two.sh could both be its program",
            "up.toml: parameters = \"../s.json\": name a file in the same folder",
        ];
        assert_eq!(found.faults.len(), expected.len(), "{:#?}", found.faults);
        for (fault, expected) in found.faults.iter().zip(expected) {
            assert!(fault.starts_with(expected), "{fault}");
        }
        let linked = folder.path().join("linked");
        symlink(&at, &linked).unwrap();
        let found = read_folder(&linked, project);
        assert!(found.tools.is_empty());
        assert!(found.faults[0].starts_with("a link leads to this folder"));
    }
}
