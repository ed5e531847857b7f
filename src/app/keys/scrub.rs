//! Takes secret variables out of what other processes can read of this one's environment
//! (`/proc/PID/environ`, `ps e`).
//!
//! A command that the model runs belongs to the same user and may read that file; so may
//! everything else of the user. The kernel reads it out of this process's first pages, so what is
//! written over there is gone. The other ways were weighed: a process that is not dumpable hides
//! the file, but not from root, and with it its memory figures from every monitor; starting
//! tiller again without the variables costs every start a second one. Linux only: elsewhere nothing
//! happens. What is in the heap stays there, out of reach of all but a debugger.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// Wipes every variable whose name `hide` says yes to; they are gone from this process's
/// environment as well. To be called while there is one thread, after what is needed was copied.
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
        // The whole entry: an empty string is no variable, for us and for what we start.
        memory.write_all_at(&vec![0; range.len()], start + range.start as u64)?;
    }
    Ok(())
}

/// Where the entries to be hidden are.
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

/// The address of the first entry, as `stat` of a process tells its own (field 50).
fn environment_start(stat: &[u8]) -> io::Result<u64> {
    let stat = String::from_utf8_lossy(stat);
    // The second field is the name, which may hold anything.
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
