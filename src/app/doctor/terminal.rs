//! Facts about the terminal: from the environment, and its own answers.

use std::collections::HashMap;
use std::fs::File;

use rustix::termios::tcgetwinsize;

use super::report::{Check, Section};
use super::terminal_query::{Answers, query};
use crate::app::color_depth::{ColorDepth, color_depth};

/// Below this, more is cut off than shown.
const SMALLEST: (u16, u16) = (40, 10);

/// This process's terminal, if stdin and stdout are one.
pub fn terminal(env: &HashMap<String, String>, is_there: bool) -> Section {
    let tty = File::options().read(true).write(true).open("/dev/tty");
    let tty = tty.ok().filter(|_| is_there);
    let size = tty.as_ref().and_then(|tty| tcgetwinsize(tty).ok());
    Section {
        title: "Terminal",
        checks: checks(
            env,
            is_there,
            size.map(|size| (size.ws_col, size.ws_row)),
            tty.as_ref().and_then(query),
        ),
    }
}

fn checks(
    env: &HashMap<String, String>,
    is_there: bool,
    size: Option<(u16, u16)>,
    answers: Option<Answers>,
) -> Vec<Check> {
    let var = |name: &str| env.get(name).map_or("", String::as_str);
    let term = var("TERM");
    if !is_there {
        let text = "not checked: stdin or stdout isn't a terminal";
        return vec![Check::note("terminal", text)];
    }
    let mut checks = vec![match term {
        "" | "dumb" => Check::bad(
            "type",
            format!("TERM is '{term}': the full screen can't move the cursor"),
            "export TERM=xterm-256color, or your terminal's name (tiller -p works anyway)",
        ),
        term => Check::good("type", term),
    }];
    if let Some((columns, rows)) = size {
        let text = format!("{columns} columns, {rows} rows");
        checks.push(if columns < SMALLEST.0 || rows < SMALLEST.1 {
            Check::hint(
                "size",
                text,
                "Enlarge it to at least 40 columns and 10 rows",
            )
        } else {
            Check::good("size", text)
        });
    }
    checks.push(colors(color_depth(var)));
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(var);
    let locale = locale
        .into_iter()
        .find(|value| !value.is_empty())
        .unwrap_or("C");
    let utf8 = locale.to_ascii_lowercase().replace('-', "");
    checks.push(if utf8.contains("utf8") {
        Check::good("locale", locale)
    } else {
        Check::hint(
            "locale",
            format!("{locale} isn't UTF-8: programs may print ? for some letters"),
            "export LANG=C.UTF-8",
        )
    });
    let multiplexer = [("TMUX", "tmux"), ("STY", "screen")];
    let multiplexer = multiplexer.iter().find(|(name, _)| !var(name).is_empty());
    if let Some((_, name)) = multiplexer {
        checks.push(Check::good("inside", *name));
    }
    if let Some(answers) = answers {
        checks.extend(answered(answers, multiplexer.map(|(_, name)| *name)));
    }
    checks
}

fn colors(depth: ColorDepth) -> Check {
    let name = "colours";
    match depth {
        ColorDepth::None => Check::good(name, "none (NO_COLOR is set)"),
        ColorDepth::TrueColor => Check::good(name, "16 million"),
        ColorDepth::Indexed256 => Check::good(name, "256"),
        ColorDepth::Ansi16 => Check::hint(
            name,
            "16, according to TERM and COLORTERM",
            "If your terminal has more: export COLORTERM=truecolor",
        ),
    }
}

fn answered(answers: Answers, multiplexer: Option<&str>) -> [Check; 2] {
    let (keys_way, clipboard_way) = if multiplexer == Some("tmux") {
        (
            "In tmux.conf: set -g extended-keys on",
            "In tmux.conf: set -g set-clipboard on",
        )
    } else {
        (
            "Use kitty, foot, Ghostty, WezTerm, Alacritty or iTerm2",
            "If copying fails, hold Shift and drag to copy",
        )
    };
    let keys = if answers.kitty_keys {
        Check::good("keys", "all (kitty keyboard protocol)")
    } else {
        let text = "Ctrl+Enter acts as Enter, and Esc takes 25 ms longer";
        Check::hint("keys", text, keys_way)
    };
    let clipboard = if answers.clipboard {
        Check::good("clipboard", "OSC 52, works over ssh too")
    } else {
        let text = "the terminal doesn't report OSC 52; copying may still work";
        Check::hint("clipboard", text, clipboard_way)
    };
    [keys, clipboard]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_terminal() {
        let all = |env: &[(&str, &str)], is_there, size, answers| {
            let env = env
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            format!("{:?}", checks(&env.collect(), is_there, size, answers))
        };
        let good = [
            ("TERM", "xterm-256color"),
            ("LANG", "de_DE.UTF-8"),
            ("TMUX", "x"),
        ];
        let answers = Some(Answers {
            kitty_keys: false,
            clipboard: true,
        });
        for (text, expected) in [
            (
                all(&good, true, Some((80, 24)), answers),
                "extended-keys on",
            ),
            (all(&good, true, Some((80, 24)), None), "\"256\""),
            (
                all(&good, true, Some((30, 24)), None),
                "Hint, text: \"30 columns",
            ),
            (
                all(&good, true, Some((80, 9)), None),
                "Hint, text: \"80 columns",
            ),
            (all(&good, false, None, None), "Note, text: \"not checked"),
            (all(&[("TERM", "dumb")], true, None, None), "Bad"),
            (all(&[("TERM", "linux")], true, None, None), "C isn't UTF-8"),
            (all(&[("NO_COLOR", "1")], true, None, None), "NO_COLOR"),
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
