//! Creates namespaces for this process, with the same user and group, and a loopback.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use fork::Fork;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use nix::unistd::{Pid, getegid, geteuid, setsid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::shared::{Namespaces, Share};
use super::spec::Network;

/// Which process continues after [`fork()`].
pub(in crate::process) enum Side {
    /// The one that confines itself and starts the command.
    Inside,
    /// The one that waits for this child.
    Outside(Pid),
}

/// Enters new user, mount, IPC and UTS namespaces, a pid namespace if `processes` (for children
/// only), and a network namespace unless the host's is requested. Returns the user and network
/// namespaces if others are to join them.
pub(super) fn enter(
    network: Network,
    processes: bool,
    share: Share,
) -> Result<Option<Namespaces>, String> {
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    if processes {
        flags |= CloneFlags::CLONE_NEWPID;
    }
    if let Share::Join(shared) = &share
        && join(shared, flags).is_ok()
    {
        return Ok(None);
    }
    let (user, group) = (geteuid(), getegid());
    flags |= CloneFlags::CLONE_NEWUSER;
    if network != Network::Host {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(|error| format!("no user namespaces: {}", error.desc()))?;
    // Without this, unprivileged processes can't map their group.
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    if network != Network::Host {
        raise_loopback().map_err(|error| format!("can't set up the loopback: {}", error.desc()))?;
    }
    let made = matches!(share, Share::Make).then(own);
    Ok(made.and_then(Result::ok))
}

/// Enters these namespaces, and new ones inside them.
fn join(shared: &Namespaces, own: CloneFlags) -> nix::Result<()> {
    setns(&shared.user, CloneFlags::CLONE_NEWUSER)?;
    setns(&shared.network, CloneFlags::CLONE_NEWNET)?;
    unshare(own)
}

/// Forks the first process of the new pid namespace. When it ends, the kernel kills all others in
/// it. A fork, because starting the program again costs three times as much. This process must be
/// single-threaded.
pub(super) fn fork() -> Result<Side, String> {
    match fork::fork().map_err(|error| format!("can't create a process namespace: {error}"))? {
        Fork::Parent(child) => Ok(Side::Outside(Pid::from_raw(child))),
        Fork::Child => {
            let _ = setsid();
            Ok(Side::Inside)
        }
    }
}

fn own() -> io::Result<Namespaces> {
    Ok(Namespaces {
        user: File::open("/proc/self/ns/user")?.into(),
        network: File::open("/proc/self/ns/net")?.into(),
    })
}

fn write(file: &str, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("no user namespaces: {file}: {error}"))
}

/// Asks the kernel by netlink to bring the loopback up (it is always number 1).
fn raise_loopback() -> nix::Result<()> {
    const LENGTH: u32 = 32;
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;

    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // sequence, port
    message.extend([0; 4]); // family, padding, type of device
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // the flags
    message.extend(UP.to_ne_bytes()); // which of them change

    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    send(netlink.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 128];
    let count = recv(netlink.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // A header of 16 bytes, then the negative error.
    let error = answer[..count]
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok());
    match i32::from_ne_bytes(error.unwrap_or([0xff; 4])) {
        0 => Ok(()),
        error => Err(nix::errno::Errno::from_raw(-error)),
    }
}

/// Drops all capabilities for good, including those that a program of user 0 would get.
pub(super) fn drop_capabilities() {
    // Including unknown ones, up to the first that the kernel doesn't have.
    for bit in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        if remove_capability_from_bounding_set(one) == Err(Errno::INVAL) {
            break;
        }
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let _ = set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    );
}
