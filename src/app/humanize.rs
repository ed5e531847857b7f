//! Formats numbers, times, amounts and paths for users.

use std::path::Path;

/// A count in about four characters: `950`, `4.1k`, `38k`, `1.2M`.
pub fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{:.1}k", count as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A context window: `200k`, `1M`, or `?` if unknown.
pub fn window(tokens: u64) -> String {
    match tokens {
        0 => "?".to_owned(),
        1..1000 => tokens.to_string(),
        // Multiples of 1024 are divided by 1024, because 131,072 is known as 128k.
        1000..1_000_000 if tokens.is_multiple_of(1024) && !tokens.is_multiple_of(1000) => {
            format!("{}k", tokens / 1024)
        }
        1000..1_000_000 => format!("{}k", tokens / 1000),
        _ => {
            let millions = format!("{:.1}", (tokens / 100_000) as f64 / 10.0);
            format!("{}M", millions.trim_end_matches(".0"))
        }
    }
}

/// A file size: `950 B`, `12 kB`, `1.2 MB`.
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} kB", count / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// A number with thousands separators: `1,234,567`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A path quoted for a shell, for the user to copy.
pub fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%".contains(c);
    if path.chars().all(plain) {
        return path;
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// A count with its noun: `1 line`, `3 lines`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", noun(count, one, many))
}

pub fn noun<'a>(count: u64, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// A cost, more precise while small: `$0.003`, `$1.20`.
pub fn dollars(amount: f64) -> String {
    if amount < 0.1 {
        format!("${amount:.3}")
    } else {
        format!("${amount:.2}")
    }
}

/// A cost to the cent: `$1.20`, `<$0.01`.
pub fn cents(amount: f64) -> String {
    if amount > 0.0 && amount < 0.005 {
        return "<$0.01".to_owned();
    }
    format!("${amount:.2}")
}

/// A price without trailing zeros: `$3`, `$0.25`.
pub fn price(amount: f64) -> String {
    format!("${}", decimal(amount))
}

/// A number without trailing zeros: `3`, `0.25`, `0.006`.
pub fn decimal(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A duration from milliseconds, exact if short: `12 ms`, `6.2 s`, `2 min 05 s`.
pub fn measured(millis: u64) -> String {
    match millis {
        0 => "<1 ms".to_owned(),
        1..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => duration((millis / 1000) as i64),
    }
}

/// A duration from whole seconds: `6 s`, `2 min 05 s`, `1 h 10 min`.
pub fn duration(seconds: i64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// A duration in its largest unit.
pub fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The first `most` characters of `text`, the last of them `…` if it is cut.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Abbreviates the home folder to `~`, unless it is the root.
pub fn abbreviate_home(path: &Path, home: Option<&Path>) -> String {
    let home = home.filter(|home| *home != Path::new("/"));
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// The number that users write as `100000`, `500k` or `1.5m`.
pub fn count_of(text: &str) -> Option<u64> {
    let units = [(['k', 'K'], 1e3), (['m', 'M'], 1e6)];
    let mut units = units.into_iter();
    let split = units.find_map(|(unit, times)| Some((text.strip_suffix(unit)?.trim(), times)));
    let Some((number, times)) = split else {
        return text.parse().ok();
    };
    let count = number.parse::<f64>().ok()? * times;
    (0.0..1e15).contains(&count).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [
            (0, "<1 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (6_249, "6.2 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min 00 s"),
            (125_000, "2 min 05 s"),
            (7_265_000, "2 h 01 min"),
        ];
        for (millis, expected) in cases {
            assert_eq!(measured(millis), expected);
        }
    }

    #[test]
    fn paths_begin_at_home() {
        for (path, home, expected) in [
            ("/home/me", "/home/me", "~"),
            ("/home/me/shop", "/home/me", "~/shop"),
            ("/home/mellow", "/home/me", "/home/mellow"),
            ("/srv", "/", "/srv"),
        ] {
            assert_eq!(
                abbreviate_home(Path::new(path), Some(Path::new(home))),
                expected
            );
        }
    }

    #[test]
    fn windows_are_told_in_few_characters() {
        for (tokens, expected) in [
            (0, "?"),
            (512, "512"),
            (4096, "4k"),
            (8192, "8k"),
            (131_072, "128k"),
            (128_000, "128k"),
            (200_000, "200k"),
            (262_144, "256k"),
            (400_000, "400k"),
            (1_000_000, "1M"),
            (1_047_576, "1M"),
            (1_048_576, "1M"),
            (1_500_000, "1.5M"),
            (2_000_000, "2M"),
        ] {
            assert_eq!(window(tokens), expected, "{tokens}");
        }
    }

    #[test]
    fn amounts() {
        for (amount, expected) in [
            (3.0, "$3"),
            (12.5, "$12.5"),
            (0.25, "$0.25"),
            (0.0375, "$0.0375"),
            (100.0, "$100"),
            (0.0, "$0"),
        ] {
            assert_eq!(price(amount), expected);
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
    }
}
