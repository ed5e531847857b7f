//! Arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A command's supervisor is this same binary. It must be quick and small, so it comes first.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == "__supervise")
    {
        return tiller::agent::process::supervise_main();
    }
    tiller::app::boot::run()
}
