//! git: its global options, its `-c` settings, and the sub-commands that run other programs.

use super::inner::{Inner, Through, as_script};
use super::word::Word;
use crate::word_list::WordList;

/// Global options that take the next word.
const VALUED: WordList =
    WordList("-C --git-dir --work-tree --namespace --super-prefix --attr-source");
/// Global options without a value.
const FLAGS: WordList = WordList(
    "-p --paginate -P --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks \
    --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs \
    --version --help -h",
);

/// Sections of settings that start no program, except for the names below.
const HARMLESS_SECTIONS: WordList = WordList(
    "user author committer commit color advice init log gc push pull rebase fetch column status \
    format tag branch safe merge diff http receive index apply checkout stash rerere versionsort \
    blame feature help i18n pack submodule clone",
);
/// The last word of settings that start a program, or name files that do.
const RUNS_SOMETHING: WordList = WordList(
    "command driver external textconv update proxy tool cmd process clean smudge path recurse \
    mergeoptions program packobjectshook prefetch",
);
/// Settings of other sections that start no program.
const HARMLESS: WordList = WordList(
    "core.quotepath core.autocrlf core.ignorecase core.filemode core.eol core.symlinks \
    core.longpaths core.safecrlf core.abbrev core.commentchar core.whitespace \
    core.precomposeunicode core.untrackedcache core.checkstat core.preloadindex protocol.version",
);

pub(super) fn git(words: &[Word]) -> Through {
    let mut through = Through::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let head = word.head();
        if !head.starts_with('-') {
            break;
        }
        at += 1;
        let name = head.split('=').next().unwrap_or_default();
        if head == "-c" && word.exact().is_some() {
            let setting = words.get(at).cloned().unwrap_or_default();
            at += 1;
            through.add(setting_of(&setting, words.get(at..).unwrap_or_default()));
        } else if VALUED.contains(&head) {
            if head == "-C" {
                let folder = words.get(at).cloned().unwrap_or_default();
                through.add(Inner::change_to(folder));
            }
            at += 1;
        } else if !(FLAGS.contains(&head) && word.exact().is_some()
            || VALUED.contains(name) && name.starts_with("--"))
        {
            return Through::doubt(format!("git {word}"));
        }
    }
    let Some(sub) = words.get(at) else {
        return through;
    };
    let Some(name) = sub.exact() else {
        return Through::doubt(format!("git: the command {sub} isn't known until it runs"));
    };
    if at > 1 {
        let rest = [&words[..1], &words[at..]].concat();
        through.add(Inner::Command(rest));
        through.wraps = true;
        return through;
    }
    if !is_known(&name) {
        return Through::doubt(format!("git {name} may be an alias"));
    }
    through.inner.extend(by_sub_command(&name, &words[2..]));
    through
}

/// The commands that one `-c KEY=VALUE` before `rest` runs.
fn setting_of(word: &Word, rest: &[Word]) -> Inner {
    let Some((key, value)) = word.split_once('=') else {
        // Without a value it means true, which runs nothing.
        return match word.exact() {
            Some(_) => nothing(),
            None => Inner::Doubt(format!("git -c {word}")),
        };
    };
    let key = key.to_lowercase();
    let (section, last) = (key.split('.').next(), key.rsplit('.').next());
    let harmless = section.is_some_and(|it| HARMLESS_SECTIONS.contains(it))
        && !last.is_some_and(|it| RUNS_SOMETHING.contains(it))
        || HARMLESS.contains(&key);
    if harmless {
        return nothing();
    }
    if section == Some("alias") {
        let shell = value.strip_prefix("!").and_then(|value| value.pattern());
        let script = shell.or_else(|| Some(format!("git {}", value.pattern()?)));
        let arguments = rest.iter().skip(1).map(|word| format!(" {word}"));
        return match script {
            // With the following words, as git joins them; quoting can't make it safer.
            Some(script) if rest.iter().all(|word| word.exact().is_some()) => {
                Inner::Script(arguments.fold(script, |script, word| script + &word))
            }
            _ => as_script(None),
        };
    }
    match (key.as_str(), value.exact().as_deref()) {
        ("core.pager" | "core.editor" | "sequence.editor", Some("" | "cat" | "true" | ":"))
        | ("core.fsmonitor" | "gpg.program", Some("false" | "")) => nothing(),
        ("core.hookspath", Some("/dev/null" | "")) => nothing(),
        ("core.pager" | "core.editor" | "sequence.editor" | "core.sshcommand", Some(_)) => {
            as_script(Some(&value))
        }
        (key, _) => Inner::Doubt(format!("git -c {key} may run another program")),
    }
}

/// A script without commands runs nothing.
fn nothing() -> Inner {
    Inner::Script(String::new())
}

fn by_sub_command(name: &str, arguments: &[Word]) -> Option<Inner> {
    let has = |wanted: &[&str]| {
        arguments.iter().position(|word| {
            let head = word.head();
            let option = head.split('=').next().unwrap_or_default();
            wanted.contains(&option)
                || wanted.iter().any(|w| {
                    w.len() > 2 && option.len() > 2 && w.starts_with(option)
                        || w.len() == 2 && head.starts_with(w) && !head.starts_with("--")
                })
        })
    };
    let position = |wanted| {
        let is_it = |word: &Word| word.exact().as_deref() == Some(wanted);
        arguments.iter().position(is_it)
    };
    let runs = match name {
        "submodule" if position("foreach").is_some() => {
            let rest = &arguments[position("foreach")? + 1..];
            let is_operand = |word: &Word| !word.head().starts_with('-');
            return Some(match &rest[rest.iter().position(is_operand)?..] {
                [one] => as_script(Some(one)),
                several => Inner::Command(several.to_vec()),
            });
        }
        "bisect" if position("run") == Some(0) => {
            return Some(Inner::Command(arguments[1..].to_vec()));
        }
        "rebase" => {
            let at = has(&["-x", "--exec"])?;
            let attached = arguments[at].split_once('=').map(|(_, value)| value);
            return Some(as_script(attached.as_ref().or(arguments.get(at + 1))));
        }
        "fetch" | "pull" | "clone" | "ls-remote" | "fetch-pack" => {
            has(&["-u", "--upload-pack", "-c", "--config"]).is_some()
        }
        "push" | "send-pack" => has(&["--receive-pack", "--exec"]).is_some(),
        "archive" => has(&["--exec", "--remote"]).is_some(),
        "difftool" => has(&["-x", "--extcmd"]).is_some(),
        "mergetool" | "hook" | "for-each-repo" | "instaweb" | "web--browse" | "filter-branch" => {
            true
        }
        "grep" => has(&["-O", "--open-files-in-pager"]).is_some(),
        _ => false,
    };
    let remote = arguments.iter().any(|word| word.head().contains("ext::"));
    (runs || remote).then(|| Inner::Doubt(format!("git {name} runs another program")))
}

/// Whether it is a built-in git command, which no alias can replace.
fn is_known(name: &str) -> bool {
    const KNOWN: WordList = WordList(
        "add am annotate apply archive bisect blame branch bundle cat-file \
        check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry \
        cherry-pick clean clone column commit commit-graph commit-tree config count-objects \
        credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import \
        fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck \
        fsck-objects gc get-tar-commit-id grep hash-object help hook index-pack init init-db \
        instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit \
        maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree \
        multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune \
        prune-packed pull push range-diff read-tree rebase reflog remote repack replace \
        request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack \
        shortlog show show-branch show-index show-ref sparse-checkout stage stash status \
        stripspace submodule subtree switch symbolic-ref tag unpack-file unpack-objects \
        update-index update-ref update-server-info var verify-commit verify-pack verify-tag \
        version web--browse whatchanged worktree write-tree ",
    );
    KNOWN.contains(name)
}
