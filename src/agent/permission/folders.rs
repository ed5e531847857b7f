//! The folders that a command line works in, besides its starting folder.

use super::shell::{SimpleCommand, Word, read};

/// The folders that `line` changes to, or points git at, as written. None if one of them isn't known.
pub fn folders(line: &str) -> Option<Vec<String>> {
    let mut folders = Vec::new();
    for command in &read(line).commands {
        match command.name()?.as_str() {
            "cd" | "pushd" => folders.extend(changed_to(command)?),
            "git" => folders.extend(folder_of_git(command)?),
            _ => {}
        }
    }
    folders.sort();
    folders.dedup();
    Some(folders)
}

fn changed_to(command: &SimpleCommand) -> Option<Vec<String>> {
    let words: Option<Vec<String>> = command.words[1..].iter().map(Word::exact).collect();
    let mut operands = words?.into_iter().filter(|word| !word.starts_with('-'));
    let is_home = command.words.len() == 1 && command.name()? == "cd";
    let home = is_home.then(|| String::from("~"));
    Some(operands.next().or(home).into_iter().collect())
}

fn folder_of_git(command: &SimpleCommand) -> Option<Vec<String>> {
    const OPTION: &str = "--git-dir";
    let words = &command.words;
    let Some(at) = words.iter().position(|it| it.head().starts_with(OPTION)) else {
        return Some(Vec::new());
    };
    let attached = words[at].strip_prefix(OPTION)?.exact()?;
    match attached.strip_prefix('=') {
        Some(folder) => Some(vec![folder.to_owned()]),
        None => Some(words.get(at + 1)?.exact().into_iter().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::folders;

    #[test]
    fn folders_are_found_wherever_they_stand() {
        for (line, expected) in [
            ("git push", Some(&[][..])),
            ("cd a && git -C b push", Some(&["a", "b"])),
            (
                "(pushd -n '/a b'; x) | git --git-dir=c push",
                Some(&["/a b", "c"]),
            ),
            ("git --git-dir d push; cd", Some(&["d", "~"])),
            ("env -C e git push; cd -", Some(&["e"])),
            ("bash -c 'cd f; git push'", Some(&["f"])),
            ("cd $x; git push", None),
            ("$x", None),
        ] {
            let found = folders(line);
            let found = found
                .as_ref()
                .map(|it| it.iter().map(String::as_str).collect());
            assert_eq!(found, expected.map(<[&str]>::to_vec), "{line}");
        }
    }
}
