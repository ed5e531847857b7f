//! Numbers as people read them.

/// A count in at most four characters or so: `950`, `4.1k`, `38k`, `1.2M`.
pub fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{:.1}k", count as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// An amount of money, finer while it is small.
pub fn dollars(amount: f64) -> String {
    if amount < 0.1 {
        format!("${amount:.3}")
    } else {
        format!("${amount:.2}")
    }
}

/// A measured time, exact where it is short: `12 ms`, `6.2 s`, `2 min 05 s`.
pub fn millis(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => duration((millis / 1000) as i64),
    }
}

/// A time in seconds: `6 s`, `2 min 05 s`, `1 h 10 min`.
pub fn duration(seconds: i64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}
