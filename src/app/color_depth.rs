//! The colors of a terminal, by its environment.

/// How many colors the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorDepth {
    /// None (`NO_COLOR`); bold, dim, underline and reverse stay.
    None,
    /// The sixteen colors the user's terminal defines.
    Ansi16,
    /// The 256 colors of xterm.
    Indexed256,
    /// All of them.
    #[default]
    TrueColor,
}

/// How many colors a terminal with these variables has.
pub fn color_depth<S: AsRef<str>>(var: impl Fn(&str) -> S) -> ColorDepth {
    let is_set = |name: &str| !var(name).as_ref().is_empty();
    let term = var("TERM");
    let term = term.as_ref();
    // GNU screen takes numbers of RGB colors for styles, even if the outer terminal knows them.
    let in_screen = is_set("STY") && !is_set("TMUX");
    let colorterm = matches!(var("COLORTERM").as_ref(), "truecolor" | "24bit") && !in_screen;
    if is_set("NO_COLOR") {
        ColorDepth::None
    } else if colorterm || term.ends_with("-direct") {
        ColorDepth::TrueColor
    } else if term.contains("256color") {
        ColorDepth::Indexed256
    } else {
        ColorDepth::Ansi16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_depth_matches_the_terminal() {
        for (variables, wanted) in [
            (
                "NO_COLOR=1 COLORTERM=truecolor TERM=xterm-256color",
                ColorDepth::None,
            ),
            ("COLORTERM=truecolor TERM=xterm", ColorDepth::TrueColor),
            ("TERM=tmux-256color", ColorDepth::Indexed256),
            ("TERM=xterm-direct", ColorDepth::TrueColor),
            ("TERM=linux", ColorDepth::Ansi16),
            ("", ColorDepth::Ansi16),
            (
                "COLORTERM=truecolor TERM=screen.xterm-256color STY=1.a",
                ColorDepth::Indexed256,
            ),
            (
                "COLORTERM=truecolor TERM=screen STY=1.a TMUX=x",
                ColorDepth::TrueColor,
            ),
        ] {
            let var = |name: &str| {
                let mut vars = variables.split(' ').filter_map(|var| var.split_once('='));
                let found = vars.find(|(known, _)| *known == name);
                found.map_or(String::new(), |(_, value)| value.to_owned())
            };
            assert_eq!(color_depth(var), wanted, "{variables:?}");
        }
    }
}
