//! pip outside a virtual environment writes where the sandbox can't. In one, the same command works.

use super::shell::{Word, read};

/// The commands that install in a virtual environment what `line` installs outside of one.
pub fn in_venv(line: &str) -> Option<String> {
    // After `. .venv/bin/activate` something else is wrong.
    if !line.contains("install") || line.contains("activate") {
        return None;
    }
    read(line).commands.iter().find_map(|command| {
        let words: Option<Vec<String>> = command.words.iter().map(Word::exact).collect();
        let words = words?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (["pip" | "pip3", "install", rest @ ..]
        | ["python" | "python3", "-m", "pip", "install", rest @ ..]) = words.as_slice()
        else {
            return None;
        };
        // Too much quoting for a suggestion.
        if rest.iter().any(|it| it.contains('\'')) {
            return None;
        }
        // In a virtual environment pip refuses the first, and the second does nothing.
        let kept = rest
            .iter()
            .filter(|it| !matches!(**it, "--user" | "--break-system-packages"));
        let kept = kept.map(|it| {
            let needs_quotes = it.contains(|c: char| !is_plain(c));
            let quote = if needs_quotes { "'" } else { "" };
            format!("{quote}{it}{quote}")
        });
        let kept: Vec<String> = kept.collect();
        Some(format!(
            "python3 -m venv .venv && .venv/bin/pip install {}",
            kept.join(" ")
        ))
    })
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "_-./:@%+,=".contains(c)
}

#[cfg(test)]
mod tests {
    use super::in_venv;

    #[test]
    fn pip_outside_a_virtual_environment_has_another_way() {
        let venv = |rest| {
            Some(format!(
                "python3 -m venv .venv && .venv/bin/pip install {rest}"
            ))
        };
        for (line, expected) in [
            ("pip install requests", venv("requests")),
            ("cd x && pip3 install --user 'a>=1' b", venv("'a>=1' b")),
            (
                "python3 -m pip install -r requirements.txt",
                venv("-r requirements.txt"),
            ),
            (".venv/bin/pip install requests", None),
            (". .venv/bin/activate; pip install requests", None),
            ("pip install \"it's\"", None),
            ("pip list", None),
            ("npm install x", None),
        ] {
            assert_eq!(in_venv(line), expected, "{line}");
        }
    }
}
