//! Notices that the user's themes change while they are shown. A thread sleeps in the kernel until a
//! file does change; nothing is looked at by the clock. Where the system tells no changes, and for
//! files elsewhere that links lead to, themes are read when the terminal gets the focus.

use std::path::PathBuf;

use tokio::sync::mpsc::UnboundedSender;

use super::msg::EffectResult;

/// Sends the themes in `folder`, which need not exist yet, whenever they have changed.
pub fn watch(folder: PathBuf, results: UnboundedSender<EffectResult>) {
    #[cfg(target_os = "linux")]
    {
        let thread = std::thread::Builder::new().name("themes".to_owned());
        let watch = move || match linux::watch(&folder, &results) {
            Ok(()) => {}
            Err(error) => tracing::info!("changes of themes are not told: {error}"),
        };
        if let Err(error) = thread.spawn(watch) {
            tracing::warn!("themes are not watched: {error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    drop((folder, results));
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CStr, OsStr};
    use std::io;
    use std::mem::MaybeUninit;
    use std::path::Path;
    use std::sync::Arc;

    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use tokio::sync::mpsc::UnboundedSender;

    use super::EffectResult;
    use crate::app::tui::theme::Themes;

    /// A file that is whole: written and closed, or put in the place of another; or gone.
    const CHANGED: WatchFlags = WatchFlags::CLOSE_WRITE
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::DELETE);

    /// Returns when nobody is interested any more, or nothing can be watched.
    pub fn watch(folder: &Path, results: &UnboundedSender<EffectResult>) -> io::Result<()> {
        let watches = init(CreateFlags::CLOEXEC)?;
        // The folder may be made later.
        let above = folder.parent().unwrap_or(folder);
        let begun = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        add_watch(&watches, above, begun)?;
        let name = folder.file_name().map(OsStr::as_encoded_bytes);
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&watches, &mut buffer);
        loop {
            // Once before anything has changed: it may have between the start and now.
            let watched = add_watch(&watches, folder, CHANGED).ok();
            let themes = Arc::new(Themes::read(folder));
            if results.send(EffectResult::Themes(themes)).is_err() {
                return Ok(());
            }
            let mut is_changed = false;
            while !is_changed || !reader.is_buffer_empty() {
                let event = reader.next()?;
                let is_folder = event.file_name().map(CStr::to_bytes) == name;
                is_changed |= is_folder || Some(event.wd()) == watched;
            }
        }
    }
}
