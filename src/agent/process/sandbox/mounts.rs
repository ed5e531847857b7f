//! The file system for a command: the same, but read-only outside the writable folders and empty at
//! hidden paths.
//!
//! Needs its own mount namespace. Mounts inherited from the host keep their flags forever, so
//! nothing here can open up more than before.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc::O_PATH;
use nix::mount::{MsFlags, mount};

use super::mount_table::{self, Mount};
use super::spec::{Sandbox, between};

/// Devices to keep.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// What to keep of `/run`: some systems' programs and settings, DNS settings, removable media.
pub(super) const KEPT_OF_RUN: [&str; 9] = [
    "/run/current-system",
    "/run/booted-system",
    "/run/wrappers",
    "/run/opengl-driver",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/userdb",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
];
/// Folders of sockets, some of which come and go.
pub(super) const SOCKET_FOLDERS: [&str; 2] = ["/tmp/.X11-unix", "/tmp/.ICE-unix"];

type Result<T> = std::result::Result<T, String>;

/// Makes the mounts. `sockets` belong to other programs.
pub(super) fn arrange(sandbox: &Sandbox, sockets: &BTreeSet<PathBuf>) -> Result<()> {
    // Keeps these mounts out of other namespaces.
    change(Path::new("/"), MsFlags::MS_REC | MsFlags::MS_PRIVATE)?;
    let mounts =
        mount_table::read().map_err(|error| format!("can't read the mount table: {error}"))?;
    let writable = outermost(&sandbox.writable);
    let private = Private::hold(sandbox, &mounts)?;
    make_all_read_only(&mounts, &writable)?;
    for folder in &writable {
        make_writable(folder, mount_table::flags_at(&mounts, folder))?;
    }
    let mut pinned = BTreeSet::new();
    for path in &sandbox.read_only {
        keep_read_only(path, &writable, &mounts, &mut pinned)?;
    }
    let mut mask = Mask::default();
    for path in &sandbox.hidden {
        let folder = writable.iter().find(|folder| path.starts_with(folder));
        if let Some(folder) = folder.filter(|_| path.exists()) {
            pin(path, folder, &mut pinned)?;
        }
        let shown = Kept::below(path, sandbox.readable.iter())?;
        if shown.0.is_empty() {
            mask.hide(path)?;
        } else {
            empty(path, "mode=0755,size=64k", MsFlags::empty())?;
            shown.put_back()?;
            seal(path)?;
        }
    }
    for path in sandbox.readable.iter().filter(|path| path.exists()) {
        let flags = mount_table::flags_at(&mounts, path) | MsFlags::MS_RDONLY;
        match remount(path, flags) {
            // Not hidden, and so not a mount.
            Err(Errno::EINVAL) => {}
            other => other.map_err(|error| failed("make read-only", path, error.desc()))?,
        }
    }
    // Also in writable folders, where database servers and terminal multiplexers listen. The
    // command's own sockets aren't included, because they are in another network.
    for path in sockets {
        if fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket()) {
            // Otherwise its folder could be renamed, and another program could listen there.
            if let Some(folder) = writable.iter().find(|folder| path.starts_with(folder))
                && let Err(error) = pin(path, folder, &mut pinned)
                // Removed meanwhile, with its folder.
                && path.symlink_metadata().is_ok()
            {
                return Err(error);
            }
            mask.hide(path)?;
        }
    }
    for path in SOCKET_FOLDERS.map(Path::new) {
        mask.hide(path)?;
    }
    // Parents come first, or they would cover their children again.
    let visible = sandbox.visible.iter().chain(&sandbox.readable);
    let mut visible: Vec<_> = visible.chain(&writable).cloned().collect();
    visible.sort();
    private.cover(visible.iter())?;
    private_run(&writable)?;
    private_dev(&writable, private.shm)
}

/// Without nested and missing paths.
pub(super) fn outermost(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut sorted: Vec<_> = paths.iter().filter(|path| path.exists()).cloned().collect();
    sorted.sort();
    // Sorted, so a folder comes before its content.
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in sorted {
        if !outer.iter().any(|folder| path.starts_with(folder)) {
            outer.push(path);
        }
    }
    outer
}

fn make_all_read_only(mounts: &[Mount], writable: &[PathBuf]) -> Result<()> {
    for Mount { point, flags } in mounts {
        let inside = writable.iter().any(|folder| point.starts_with(folder));
        if inside || flags.contains(MsFlags::MS_RDONLY) {
            continue;
        }
        match remount(point, *flags | MsFlags::MS_RDONLY) {
            // Ignores inaccessible and covered paths, and the sockets of dead servers.
            Err(Errno::EACCES | Errno::ENOENT | Errno::EINVAL | Errno::ENOTDIR) => {}
            Err(Errno::ESTALE | Errno::ENOTCONN | Errno::EIO | Errno::EHOSTDOWN) => {}
            other => other.map_err(|error| failed("make read-only", point, error.desc()))?,
        }
    }
    Ok(())
}

/// Makes `path` a mount. A read-only one from the host stays read-only.
fn make_writable(path: &Path, flags: MsFlags) -> Result<()> {
    bind(path, path)?;
    match remount(path, flags) {
        Err(Errno::EPERM) => Ok(()),
        other => other.map_err(|error| failed("make writable", path, error.desc())),
    }
}

fn keep_read_only(
    path: &Path,
    writable: &[PathBuf],
    mounts: &[Mount],
    pinned: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    let Some(folder) = writable.iter().find(|folder| path.starts_with(folder)) else {
        return Ok(());
    };
    if !path.exists() {
        return Ok(());
    }
    pin(path, folder, pinned)?;
    bind(path, path)?;
    make_read_only(path, mount_table::flags_at(mounts, path))
}

/// Makes every folder between `folder` and `path` a mount, so that none can be renamed and
/// replaced. Each only once, because another mount would copy all mounts in it.
fn pin(path: &Path, folder: &Path, pinned: &mut BTreeSet<PathBuf>) -> Result<()> {
    between(path, folder)
        .into_iter()
        .filter(|it| pinned.insert((*it).to_owned()))
        .try_for_each(|path| bind(path, path))
}

/// Empty files and folders to cover hidden ones.
#[derive(Default)]
struct Mask {
    empty_folder: Option<File>,
}

impl Mask {
    fn hide(&mut self, path: &Path) -> Result<()> {
        // Not a link's target, which is another path.
        let Ok(kind) = fs::symlink_metadata(path).map(|data| data.file_type()) else {
            return Ok(());
        };
        let hidden = if kind.is_symlink() {
            Ok(())
        } else if !kind.is_dir() {
            bind(Path::new("/dev/null"), path)
        } else if let Some(folder) = &self.empty_folder {
            bind(&of_descriptor(folder), path)
        } else {
            // Without permissions, so that an access error shows it is hidden.
            empty(path, "mode=0000,size=4k", MsFlags::MS_RDONLY)?;
            self.empty_folder = Some(hold(path)?);
            Ok(())
        };
        match hidden {
            // Removed meanwhile, as other programs' sockets may be.
            Err(_) if path.symlink_metadata().is_err() => Ok(()),
            other => other.map_err(|error| format!("can't hide it: {error}")),
        }
    }
}

/// A `/proc` with only this namespace's processes. Read-only like the original, because user 0
/// could change kernel settings there even without capabilities.
pub(super) fn fresh_proc() -> Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    let proc = Path::new("/proc");
    mount(Some("proc"), proc, Some("proc"), flags, None::<&str>)
        .map_err(|error| format!("can't mount a private /proc: {}", error.desc()))
}

/// The session's temporary folders, and the shared ones they cover.
pub(super) fn private_folders(sandbox: &Sandbox) -> impl Iterator<Item = (&'static Path, &Path)> {
    let places = [("/tmp", &sandbox.tmp), ("/var/tmp", &sandbox.var_tmp)];
    places.into_iter().filter_map(|(place, folder)| {
        // A link to another one is covered along with it.
        let is_folder = fs::symlink_metadata(place).is_ok_and(|data| data.is_dir());
        Some((Path::new(place), folder.as_deref().filter(|_| is_folder)?))
    })
}

/// The session's own folders, in place of the shared temporary folders.
struct Private {
    places: Vec<(&'static Path, File, MsFlags)>,
    shm: Option<(File, MsFlags)>,
}

impl Private {
    /// Call before anything covers the folders.
    fn hold(sandbox: &Sandbox, mounts: &[Mount]) -> Result<Self> {
        let held = |folder: &Path| {
            let flags = mount_table::flags_at(mounts, folder) - MsFlags::MS_RDONLY;
            Ok::<_, String>((hold(folder)?, flags))
        };
        let mut places = Vec::new();
        for (place, folder) in private_folders(sandbox) {
            let (folder, flags) = held(folder)?;
            places.push((place, folder, flags));
        }
        Ok(Self {
            places,
            shm: sandbox.shm.as_deref().map(held).transpose()?,
        })
    }

    fn cover<'a>(&self, visible: impl Iterator<Item = &'a PathBuf> + Clone) -> Result<()> {
        for (place, folder, flags) in &self.places {
            let kept = Kept::below(place, visible.clone())?;
            bind_writable(folder, place, *flags)?;
            kept.put_back()?;
        }
        Ok(())
    }
}

fn bind_writable(folder: &File, place: &Path, flags: MsFlags) -> Result<()> {
    bind(&of_descriptor(folder), place)?;
    remount(place, flags).map_err(|error| failed("make writable", place, error.desc()))
}

fn private_run(writable: &[PathBuf]) -> Result<()> {
    let run = Path::new("/run");
    if !run.is_dir() {
        return Ok(());
    }
    let settings = KEPT_OF_RUN.map(PathBuf::from);
    let kept = Kept::below(run, settings.iter().chain(writable))?;
    empty(run, "mode=0755", MsFlags::empty())?;
    kept.put_back()?;
    seal(run)
}

/// A private `/dev`: a few devices, pseudo-terminals and shared memory.
fn private_dev(writable: &[PathBuf], memory: Option<(File, MsFlags)>) -> Result<()> {
    let dev = Path::new("/dev");
    let devices = DEVICES.map(|name| dev.join(name));
    let kept = Kept::below(dev, devices.iter().chain(writable))?;
    mount_new(
        "tmpfs",
        dev,
        "mode=0755",
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
    )?;
    kept.put_back()?;
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        symlink(target, dev.join(name)).map_err(|error| failed("link", &dev.join(name), error))?;
    }
    let (pts, shm) = (dev.join("pts"), dev.join("shm"));
    make_folder(&pts)?;
    let options = "newinstance,ptmxmode=0666,mode=0620";
    mount_new(
        "devpts",
        &pts,
        options,
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
    )?;
    if !shm.exists() {
        make_folder(&shm)?;
        match memory {
            Some((folder, flags)) => bind_writable(&folder, &shm, flags)?,
            None => empty(&shm, "mode=1777", MsFlags::empty())?,
        }
    }
    make_read_only(dev, MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC)
}

/// Paths to show again after something covers their folder.
struct Kept(Vec<(PathBuf, File)>);

impl Kept {
    fn below<'a>(cover: &Path, paths: impl Iterator<Item = &'a PathBuf>) -> Result<Self> {
        let below = paths.filter(|path| path.starts_with(cover) && path.exists());
        let held = below.map(|path| Ok((path.clone(), hold(path)?)));
        held.collect::<Result<_>>().map(Self)
    }

    fn put_back(self) -> Result<()> {
        for (path, file) in self.0 {
            if file.metadata().is_ok_and(|data| data.is_dir()) {
                make_folder(&path)?;
            } else {
                make_folder(path.parent().unwrap_or(&path))?;
                File::create(&path).map_err(|error| failed("make", &path, error))?;
            }
            bind(&of_descriptor(&file), &path)?;
        }
        Ok(())
    }
}

fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| failed("make", path, error))
}

/// Keeps `path` reachable when something covers it.
fn hold(path: &Path) -> Result<File> {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(O_PATH)
        .open(path);
    open.map_err(|error| failed("open", path, error))
}

fn of_descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn bind(from: &Path, to: &Path) -> Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(from), to, None::<&str>, flags, None::<&str>)
        .map_err(|error| failed("mount", to, error.desc()))
}

fn empty(path: &Path, options: &str, flags: MsFlags) -> Result<()> {
    mount_new(
        "tmpfs",
        path,
        options,
        flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
    )
}

fn mount_new(kind: &str, path: &Path, options: &str, flags: MsFlags) -> Result<()> {
    mount(Some(kind), path, Some(kind), flags, Some(options))
        .map_err(|error| failed("mount", path, error.desc()))
}

fn seal(path: &Path) -> Result<()> {
    make_read_only(path, MsFlags::MS_NOSUID | MsFlags::MS_NODEV)
}

fn make_read_only(path: &Path, flags: MsFlags) -> Result<()> {
    remount(path, flags | MsFlags::MS_RDONLY)
        .map_err(|error| failed("make read-only", path, error.desc()))
}

fn change(path: &Path, flags: MsFlags) -> Result<()> {
    mount(None::<&str>, path, None::<&str>, flags, None::<&str>)
        .map_err(|error| failed("make private", path, error.desc()))
}

fn remount(path: &Path, flags: MsFlags) -> nix::Result<()> {
    let flags = flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT;
    let set = || mount(None::<&str>, path, None::<&str>, flags, None::<&str>);
    // The kernel refuses while any process writes there, even an access time.
    for _ in 0..50 {
        match set() {
            Err(Errno::EBUSY) => std::thread::sleep(std::time::Duration::from_millis(1)),
            done => return done,
        }
    }
    set()
}

pub(super) fn failed(step: &str, path: &Path, error: impl std::fmt::Display) -> String {
    format!("can't {step} {}: {error}", path.display())
}
