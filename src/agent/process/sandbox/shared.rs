//! The network shared by commands with the same rights: a server that one leaves running answers
//! the next.
//!
//! The first command creates the namespaces and passes them on as descriptors; others join. That is
//! also cheaper, because creating a network is the most expensive part of a sandbox.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::sync::Mutex;

use super::spec::{Network, Sandbox};

/// Most sets of rights with a shared network.
const KEPT: usize = 8;

#[cfg(target_os = "linux")]
const CLOSED_IN_PROGRAMS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSED_IN_PROGRAMS: RecvFlags = RecvFlags::empty();

/// A network and its user namespace.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there are none"))]
pub(in crate::process) struct Namespaces {
    pub user: OwnedFd,
    pub network: OwnedFd,
}

/// The role of a command in the shared network.
#[derive(Clone, Debug)]
pub(in crate::process) enum Share {
    /// Nothing; it has its own.
    Alone,
    /// Creates it for all of them.
    Make,
    /// Joins this one, or creates its own if that fails.
    Join(Arc<Namespaces>),
}

/// Holds the namespaces once created. The command that creates them locks it.
pub(in crate::process) type Slot = Arc<Mutex<Option<Arc<Namespaces>>>>;

/// The networks of one program, by rights: commands must not reach servers with more rights.
#[derive(Debug, Default)]
pub(in crate::process) struct Networks(Vec<(Rights, Slot)>);

type Rights = (Vec<PathBuf>, Vec<PathBuf>, Option<PathBuf>);

impl Networks {
    /// The slot for the network of commands in `sandbox`. `None` if they share none, or if a layer
    /// is missing: then processes in one user namespace aren't isolated from each other.
    pub fn of(&mut self, sandbox: &Sandbox) -> Option<Slot> {
        let shares = sandbox.network == Network::Loopback
            && sandbox.without.is_empty()
            && sandbox.bwrap.is_none();
        if !(shares && cfg!(target_os = "linux")) {
            return None;
        }
        let Sandbox {
            writable,
            hidden,
            tmp,
            ..
        } = sandbox.clone();
        let rights = (writable, hidden, tmp);
        let known = self.0.iter().position(|(these, _)| *these == rights);
        let network = match known {
            Some(index) => self.0.remove(index),
            None => (rights, Slot::default()),
        };
        let slot = Arc::clone(&network.1);
        self.0.push(network);
        if self.0.len() > KEPT {
            self.0.remove(0);
        }
        Some(slot)
    }
}

impl Namespaces {
    /// The namespaces from a message's descriptors; `None` unless there are two.
    pub fn received(descriptors: &mut Vec<OwnedFd>) -> Option<Self> {
        let [user, network] = std::mem::take(descriptors).try_into().ok()?;
        Some(Self { user, network })
    }

    /// Sends `bytes` with these descriptors.
    pub fn send(&self, to: impl AsFd, bytes: &[u8]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        let descriptors = [self.user.as_fd(), self.network.as_fd()];
        with.push(SendAncillaryMessage::ScmRights(&descriptors));
        let (to, part) = (to.as_fd(), [IoSlice::new(bytes)]);
        let sent = retry_on_intr(|| sendmsg(to, &part, &mut with, SendFlags::empty()))?;
        (sent == bytes.len())
            .then_some(())
            .ok_or_else(|| io::Error::new(io::ErrorKind::WriteZero, "a message was not sent whole"))
    }
}

/// Reads available data into `bytes`, and its descriptors into `descriptors`.
pub(in crate::process) fn receive(
    from: impl AsFd,
    bytes: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let (from, mut parts) = (from.as_fd(), [IoSliceMut::new(bytes)]);
    let got = retry_on_intr(|| recvmsg(from, &mut parts, &mut with, CLOSED_IN_PROGRAMS))?;
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    Ok(got.bytes)
}
