//! LaTeX formulas as readable text: Greek letters, signs, powers and indices, fractions, roots.
//! Unknown commands stay as written, and the layout has one dimension.

use std::ops::Range;

/// The first formula in `$$` that starts in `range` of `source` and ends before `end`. A single
/// dollar is never a delimiter: variables, makefiles, patterns and sums of money are full of them.
pub fn between_dollars(source: &str, range: &Range<usize>, end: usize) -> Option<Range<usize>> {
    memchr::memchr(b'$', source.get(range.clone())?.as_bytes())?;
    let end = source.floor_char_boundary(end.min(range.end + MAX_BRACKETED));
    let inside = source.get(range.start..end)?;
    let mut dollars = inside.match_indices("$$");
    let mut open = dollars.next()?.0;
    for (close, _) in dollars {
        let pair = range.start + open..range.start + close + 2;
        if pair.start >= range.end {
            break;
        }
        if is_formula(source, &pair) {
            return Some(pair);
        }
        open = close;
    }
    None
}

/// Whether the text between dollars at `range` of `source` is a formula, and not a shell's `$$` in
/// the middle of a command.
fn is_formula(source: &str, range: &Range<usize>) -> bool {
    let (before, behind) = (&source[..range.start], &source[range.end..]);
    let text = source[range.clone()].trim_matches('$');
    // Enough of the line to tell.
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(MAX_BRACKETED))..];
    let behind = &behind[..behind.floor_char_boundary(MAX_BRACKETED)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = behind.split('\n').next().unwrap_or_default();
    let alone = !line.contains(char::is_alphabetic) && !rest.contains(char::is_alphabetic);
    let begins = text.starts_with(|c: char| c.is_alphanumeric() || "([{|+-".contains(c));
    let ends = text.ends_with(|c: char| c.is_alphanumeric() || ")]}|'!".contains(c));
    // In commands, makefiles and patterns, the dollars touch other characters.
    let apart =
        before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "([".contains(c));
    let apart = apart
        && behind
            .chars()
            .next()
            .is_none_or(|c| c.is_whitespace() || ".,;:!?)]".contains(c));
    !text.is_empty() && (alone || apart && (begins && ends || text.contains(['\\', '^'])))
}

/// The formula in `source` between `\(` and `\)` or `\[` and `\]`, where `at` is the first bracket:
/// to the parser, these are escaped brackets.
pub fn bracketed(source: &str, at: usize) -> Option<Range<usize>> {
    let inside = &source[at..];
    let close = match inside.chars().next()? {
        '(' => "\\)",
        '[' => "\\]",
        _ => return None,
    };
    let before = source[..at].strip_suffix('\\')?;
    let inside = &inside[1..inside.floor_char_boundary(MAX_BRACKETED)];
    let formula = &inside[..inside.find(close)?];
    let commands = formula
        .match_indices('\\')
        .map(|(at, _)| &formula[at + 1..]);
    let has_command = commands
        .into_iter()
        .any(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    let is_name = close == "\\)" && (1..=3).contains(&formula.trim().len());
    let is_it = has_command || is_name || formula.contains(['^', '=']);
    let apart = !before.ends_with(|c: char| c.is_alphanumeric() || c == '\\');
    let one_block = !formula.contains("\n\n") && !formula.contains('`');
    (is_it && apart && one_block).then_some(at - 1..at + 1 + formula.len() + close.len())
}

/// The most bytes between such brackets.
const MAX_BRACKETED: usize = 2000;

/// A formula as one line of text.
pub fn readable(formula: &str) -> String {
    let mut reader = Reader {
        rest: formula.trim(),
        depth: 0,
    };
    let text = reader.group(None);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// The deepest nesting of groups; deeper formulas stay as written.
const MAX_DEPTH: usize = 24;

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    /// Everything up to `end`, or to the end of the formula.
    fn group(&mut self, end: Option<char>) -> String {
        self.depth += 1;
        let mut out = String::new();
        while let Some(c) = self.next() {
            match c {
                c if Some(c) == end => break,
                '{' if self.depth > MAX_DEPTH => out.push('{'),
                '{' => out.push_str(&self.group(Some('}'))),
                '}' => {}
                '^' | '_' => {
                    let argument = self.argument();
                    out.truncate(out.trim_end().len());
                    out.push_str(&shifted(&argument, c == '^'));
                }
                '~' | '&' => out.push(' '),
                '\'' => out.push('′'),
                '\\' => self.command(&mut out),
                c => out.push(c),
            }
        }
        self.depth -= 1;
        out
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// The argument of a command, a `^` or a `_`: a group, a command or a character.
    fn argument(&mut self) -> String {
        self.rest = self.rest.trim_start();
        match self.next() {
            Some('{') if self.depth <= MAX_DEPTH => self.group(Some('}')),
            Some('\\') if self.depth <= MAX_DEPTH => {
                let mut out = String::new();
                self.depth += 1;
                self.command(&mut out);
                self.depth -= 1;
                out.trim().to_owned()
            }
            Some(c) => c.to_string(),
            None => String::new(),
        }
    }

    /// The optional argument in brackets after a command.
    fn option(&mut self) -> Option<String> {
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.rest = self.rest.trim_start().strip_prefix('[')?;
        Some(self.group(Some(']')))
    }

    /// A command, after its backslash.
    fn command(&mut self, out: &mut String) {
        let letters = |c: char| c.is_ascii_alphabetic();
        let name = &self.rest[..self.rest.len() - self.rest.trim_start_matches(letters).len()];
        if name.is_empty() {
            match self.next() {
                Some('\\' | ',' | ';' | ':' | ' ' | '!') | None => out.push(' '),
                Some('|') => out.push('‖'),
                Some(c) => out.push(c),
            }
            return;
        }
        self.rest = &self.rest[name.len()..];
        match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" => {
                let (top, bottom) = (self.argument(), self.argument());
                out.extend([&*enclosed(&top), "/", &*enclosed(&bottom)]);
            }
            "binom" => {
                let (top, bottom) = (self.argument(), self.argument());
                out.extend(["(", &*top, " over ", &*bottom, ")"]);
            }
            "sqrt" => {
                let degree = self.option();
                let degree = degree.map_or(String::new(), |degree| shifted(&degree, true));
                let argument = enclosed(&self.argument());
                out.extend([&*degree, "√", &*argument]);
            }
            "text" | "mathrm" | "mathbf" | "mathit" | "mathsf" | "mathtt" | "mathcal"
            | "operatorname" | "textbf" | "textit" | "boldsymbol" | "bm" | "mbox" | "textrm" => {
                out.push_str(&self.argument());
            }
            "mathbb" => {
                let text = self.argument();
                out.extend(text.chars().map(double_struck));
            }
            "hat" | "bar" | "vec" | "dot" | "ddot" | "tilde" | "overline" | "widehat" => {
                let mark = match name {
                    "hat" | "widehat" => '\u{302}',
                    "bar" | "overline" => '\u{304}',
                    "vec" => '\u{20d7}',
                    "dot" => '\u{307}',
                    "ddot" => '\u{308}',
                    _ => '\u{303}',
                };
                for c in self.argument().chars() {
                    out.push(c);
                    if c.is_alphanumeric() {
                        out.push(mark);
                    }
                }
            }
            "begin" | "end" => {
                self.argument();
                out.push(' ');
            }
            "left" | "right" | "big" | "Big" | "bigg" | "Bigg" | "bigl" | "bigr" | "Bigl"
            | "Bigr" | "limits" | "nolimits" | "displaystyle" | "textstyle" => {
                // A dot means no bracket.
                if matches!(name, "left" | "right") {
                    self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
                }
            }
            name => match SIGNS.iter().find(|(known, _)| *known == name) {
                Some((_, sign)) => out.push_str(sign),
                None if FUNCTIONS.contains(&name) => {
                    // A space separates a function from its argument.
                    if out.ends_with(char::is_alphanumeric) {
                        out.push(' ');
                    }
                    out.push_str(name);
                    if self
                        .rest
                        .starts_with(|c: char| c.is_alphanumeric() || c == '\\')
                    {
                        out.push(' ');
                    }
                }
                None => out.extend(["\\", name]),
            },
        }
    }
}

/// `text` in parentheses, unless it's a single term.
fn enclosed(text: &str) -> String {
    let text = text.trim();
    let is_shifted = |c| SHIFTED.iter().any(|(_, up, down)| *up == c || *down == c);
    let is_plain = |c: char| c.is_alphanumeric() || is_shifted(c) || c == '.';
    let is_one = text.chars().count() < 2 || text.chars().all(is_plain);
    if is_one {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// `text` as a power or index, in small letters if all of them exist.
fn shifted(text: &str, up: bool) -> String {
    let text = text.trim();
    match small(text, up) {
        Some(small) if !small.is_empty() => return small,
        _ => {}
    }
    match text {
        "′" => text.to_owned(),
        "∘" | "°" if up => "°".to_owned(),
        _ => format!("{}{}", if up { '^' } else { '_' }, enclosed(text)),
    }
}

/// `text` in superscript or subscript letters, if all of them exist.
pub fn small(text: &str, up: bool) -> Option<String> {
    let small = text.chars().map(|c| {
        let (_, above, below) = SHIFTED.iter().find(|(plain, ..)| *plain == c)?;
        Some(if up { *above } else { *below }).filter(|c| *c != ' ')
    });
    small.collect()
}

fn double_struck(c: char) -> char {
    match c {
        'R' => 'ℝ',
        'N' => 'ℕ',
        'Z' => 'ℤ',
        'Q' => 'ℚ',
        'C' => 'ℂ',
        'P' => 'ℙ',
        'E' => '𝔼',
        other => other,
    }
}

/// Characters with their superscript and subscript forms; a blank if there is none.
#[rustfmt::skip]
const SHIFTED: &[(char, char, char)] = &[
    ('0', '⁰', '₀'), ('1', '¹', '₁'), ('2', '²', '₂'), ('3', '³', '₃'), ('4', '⁴', '₄'),
    ('5', '⁵', '₅'), ('6', '⁶', '₆'), ('7', '⁷', '₇'), ('8', '⁸', '₈'), ('9', '⁹', '₉'),
    ('+', '⁺', '₊'), ('-', '⁻', '₋'), ('−', '⁻', '₋'), ('=', '⁼', '₌'), ('(', '⁽', '₍'), (')', '⁾', '₎'),
    ('a', 'ᵃ', 'ₐ'), ('b', 'ᵇ', ' '), ('c', 'ᶜ', ' '), ('d', 'ᵈ', ' '), ('e', 'ᵉ', 'ₑ'), ('f', 'ᶠ', ' '),
    ('g', 'ᵍ', ' '), ('h', 'ʰ', 'ₕ'), ('i', 'ⁱ', 'ᵢ'), ('j', 'ʲ', 'ⱼ'), ('k', 'ᵏ', 'ₖ'), ('l', 'ˡ', 'ₗ'),
    ('m', 'ᵐ', 'ₘ'), ('n', 'ⁿ', 'ₙ'), ('o', 'ᵒ', 'ₒ'), ('p', 'ᵖ', 'ₚ'), ('r', 'ʳ', 'ᵣ'), ('s', 'ˢ', 'ₛ'),
    ('t', 'ᵗ', 'ₜ'), ('u', 'ᵘ', 'ᵤ'), ('v', 'ᵛ', 'ᵥ'), ('w', 'ʷ', ' '), ('x', 'ˣ', 'ₓ'), ('y', 'ʸ', ' '),
    ('z', 'ᶻ', ' '), ('T', 'ᵀ', ' '),
];

const FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "log", "ln", "exp", "lim", "max", "min", "sup", "inf", "det", "dim",
    "ker", "gcd", "arg", "deg", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "mod", "Pr",
];

#[rustfmt::skip]
const SIGNS: &[(&str, &str)] = &[
    ("alpha", "α"), ("beta", "β"), ("gamma", "γ"), ("delta", "δ"), ("epsilon", "ε"), ("varepsilon", "ε"),
    ("zeta", "ζ"), ("eta", "η"), ("theta", "θ"), ("vartheta", "ϑ"), ("iota", "ι"), ("kappa", "κ"),
    ("lambda", "λ"), ("mu", "μ"), ("nu", "ν"), ("xi", "ξ"), ("pi", "π"), ("rho", "ρ"), ("sigma", "σ"),
    ("tau", "τ"), ("upsilon", "υ"), ("phi", "φ"), ("varphi", "φ"), ("chi", "χ"), ("psi", "ψ"), ("omega", "ω"),
    ("Gamma", "Γ"), ("Delta", "Δ"), ("Theta", "Θ"), ("Lambda", "Λ"), ("Xi", "Ξ"), ("Pi", "Π"), ("Sigma", "Σ"),
    ("Upsilon", "Υ"), ("Phi", "Φ"), ("Psi", "Ψ"), ("Omega", "Ω"),
    ("times", "×"), ("cdot", "·"), ("div", "÷"), ("pm", "±"), ("mp", "∓"), ("ast", "∗"), ("star", "⋆"),
    ("circ", "∘"), ("bullet", "•"), ("oplus", "⊕"), ("otimes", "⊗"),
    ("le", "≤"), ("leq", "≤"), ("ge", "≥"), ("geq", "≥"), ("ne", "≠"), ("neq", "≠"), ("approx", "≈"),
    ("equiv", "≡"), ("sim", "∼"), ("simeq", "≃"), ("cong", "≅"), ("propto", "∝"), ("ll", "≪"), ("gg", "≫"),
    ("prec", "≺"), ("succ", "≻"), ("mid", "|"), ("parallel", "∥"), ("perp", "⊥"),
    ("in", "∈"), ("notin", "∉"), ("ni", "∋"), ("subset", "⊂"), ("subseteq", "⊆"), ("supset", "⊃"),
    ("supseteq", "⊇"), ("cup", "∪"), ("cap", "∩"), ("setminus", "∖"), ("emptyset", "∅"), ("varnothing", "∅"),
    ("forall", "∀"), ("exists", "∃"), ("nexists", "∄"), ("neg", "¬"), ("lnot", "¬"), ("land", "∧"),
    ("wedge", "∧"), ("lor", "∨"), ("vee", "∨"), ("top", "⊤"), ("bot", "⊥"), ("vdash", "⊢"), ("models", "⊨"),
    ("to", "→"), ("rightarrow", "→"), ("leftarrow", "←"), ("gets", "←"), ("leftrightarrow", "↔"),
    ("Rightarrow", "⇒"), ("Leftarrow", "⇐"), ("Leftrightarrow", "⇔"), ("iff", "⇔"), ("implies", "⇒"),
    ("mapsto", "↦"), ("longrightarrow", "⟶"), ("uparrow", "↑"), ("downarrow", "↓"), ("hookrightarrow", "↪"),
    ("sum", "∑"), ("prod", "∏"), ("int", "∫"), ("iint", "∬"), ("oint", "∮"), ("partial", "∂"), ("nabla", "∇"),
    ("infty", "∞"), ("hbar", "ℏ"), ("ell", "ℓ"), ("Re", "ℜ"), ("Im", "ℑ"), ("aleph", "ℵ"), ("angle", "∠"),
    ("degree", "°"), ("prime", "′"), ("dots", "…"), ("ldots", "…"), ("cdots", "⋯"), ("vdots", "⋮"), ("ddots", "⋱"),
    ("langle", "⟨"), ("rangle", "⟩"), ("lfloor", "⌊"), ("rfloor", "⌋"), ("lceil", "⌈"), ("rceil", "⌉"),
    ("lvert", "|"), ("rvert", "|"), ("vert", "|"), ("lVert", "‖"), ("rVert", "‖"), ("Vert", "‖"),
    ("lbrace", "{"), ("rbrace", "}"), ("backslash", "\\"), ("therefore", "∴"), ("because", "∵"),
    ("quad", "  "), ("qquad", "    "), ("checkmark", "✓"), ("dagger", "†"), ("blacksquare", "∎"),
];

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn formulas_become_readable() {
        let cases = [
            ("a_1 + b_2", "a₁ + b₂"),
            (r"E = mc^2", "E = mc²"),
            (r"\alpha \le \beta_{ij}", "α ≤ βᵢⱼ"),
            (r"\frac{1}{2}", "1/2"),
            (r"\frac{a + b}{c}", "(a + b)/c"),
            (
                r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
                "x = (-b ± √(b² - 4ac))/2a",
            ),
            (r"\sqrt[3]{x}", "³√x"),
            (r"\sum_{i=0}^{n} i^2", "∑ᵢ₌₀ⁿ i²"),
            (r"\int_0^\infty e^{-x^2} dx", "∫₀^∞ e^(-x²) dx"),
            (r"O(n \log n)", "O(n log n)"),
            (r"\mathbb{R}^n \to \mathbb{R}", "ℝⁿ → ℝ"),
            (r"\left( x \right)", "( x )"),
            (r"\text{if } x \in S", "if x ∈ S"),
            (r"\unknown{x}", r"\unknownx"),
            (r"\vec{v} \cdot \hat{n}", "v\u{20d7} · n\u{302}"),
            (r"a\,b\\c", "a b c"),
            (r"\{1, 2\}", "{1, 2}"),
            ("", ""),
            ("^", "^"),
            (r"\", ""),
        ];
        for (formula, expected) in cases {
            assert_eq!(readable(formula), expected, "{formula}");
        }
        let deep = "{".repeat(10_000) + r"\frac" + &"^{".repeat(10_000);
        assert!(!readable(&deep).contains('}'));
        assert!(readable(&r"\sqrt[".repeat(200_000)).contains("√["));
    }
}
