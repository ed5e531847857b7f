//! Erases secret variables from the parts of this process that others can read
//! (`/proc/PID/environ`, `ps e`).
//! A command that the model runs belongs to the same user and may read that file. The kernel serves
//! it from this process's first pages, so overwriting them erases it. There were two alternatives.
//! A non-dumpable process hides the file, but not from root, and hides its memory use from every
//! monitor. Restarting tiller without the variables would double its start-up time. This works on
//! Linux only and does nothing elsewhere. The copies on the heap stay, which only a debugger can
//! read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// Wipes every variable whose name `hide` accepts, also from `std::env`. Call it while there is
/// only one thread, after copying the values you need.
pub fn scrub_environ(hide: impl Fn(&OsStr) -> bool) -> io::Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let environ = fs::read("/proc/self/environ")?;
    let hidden = ranges(&environ, hide);
    if hidden.is_empty() {
        return Ok(());
    }
    let start = environment_start(&fs::read("/proc/self/stat")?)?;
    let memory = File::options().write(true).open("/proc/self/mem")?;
    for range in hidden {
        // Erases the whole entry, so that no empty variable remains for us or our children.
        memory.write_all_at(&vec![0; range.len()], start + range.start as u64)?;
    }
    Ok(())
}

/// Locates the entries to erase.
fn ranges(environ: &[u8], hide: impl Fn(&OsStr) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for entry in environ.split(|byte| *byte == 0) {
        let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
        if !name.is_empty() && hide(OsStr::from_bytes(name)) {
            ranges.push(start..start + entry.len());
        }
        start += entry.len() + 1;
    }
    ranges
}

/// The address of the first entry: field 50 of this process's `stat`.
fn environment_start(stat: &[u8]) -> io::Result<u64> {
    let stat = String::from_utf8_lossy(stat);
    // The second field is the process name, which may contain anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let start = fields.split_whitespace().nth(50 - 3);
    match start.and_then(|start| start.parse().ok()) {
        Some(start @ 1..) => Ok(start),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_name() {
        let environ = b"A=1\0LAB_KEY=sk-1\0B=LAB_KEY=x\0LAB_KEY\0\0C";
        let hidden = ranges(environ, |name| name == "LAB_KEY");
        let text: Vec<&[u8]> = hidden.into_iter().map(|range| &environ[range]).collect();
        assert_eq!(text, [&b"LAB_KEY=sk-1"[..], b"LAB_KEY"]);
    }

    #[test]
    fn the_address_is_found_behind_any_name() {
        let numbers: Vec<String> = (4..=52).map(|field| (field * 10).to_string()).collect();
        let stat = format!("12 (a) b 7) S {}", numbers.join(" "));
        assert_eq!(environment_start(stat.as_bytes()).unwrap(), 500);
        assert!(environment_start(b"12 (a) S 0 0").is_err());
    }
}
