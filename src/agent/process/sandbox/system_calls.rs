//! The system call filter. Blocks calls that could undo the other layers or reach rare parts of the
//! kernel. Allows all others, so that any program works.
//!
//! Blocked calls return an error. Only programs of another architecture (32 bits) are killed,
//! because their calls have other numbers.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

type Result<T> = std::result::Result<T, String>;
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What other layers already handle.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// Outside processes can't be traced, so debuggers may work inside.
    pub tracing: bool,
    /// The network is private, or unrestricted.
    pub network: bool,
    /// Other programs' sockets in the file system are hidden.
    pub sockets: bool,
}

/// Flags of `clone` and `unshare` for new namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64;
/// Only for `unshare`: `clone` uses these bits for its signal.
const NEW_TIME: u64 = 0x80;
/// Inject terminal input; paste the console selection.
const TYPING: [u64; 2] = [libc::TIOCSTI, 0x541c];
/// `open_tree_attr`, which the C library doesn't define yet.
const MOUNT_TREE_WITH_ATTRIBUTES: i64 = 467;

const ALWAYS: &[i64] = &[
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    MOUNT_TREE_WITH_ATTRIBUTES,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Ways around a system call filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Session keys, shared by all of the user's programs.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_lookup_dcookie,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

const TRACING: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

/// Installs the filter for this thread and everything it starts.
pub(super) fn refuse(kept: Kept) -> Result<()> {
    let not_permitted = compile(refused(kept)?, libc::EPERM)?;
    // No filter can follow `clone3`'s pointer to flags. On ENOSYS the C library uses `clone`.
    let mut unknown = other_numbering();
    unknown.extend(compile(
        Rules::from([(libc::SYS_clone3, vec![])]),
        libc::ENOSYS,
    )?);
    for filter in [unknown, not_permitted] {
        apply_filter(&filter).map_err(|error| format!("can't filter system calls: {error}"))?;
    }
    Ok(())
}

fn compile(rules: Rules, error: i32) -> Result<BpfProgram> {
    let architecture = std::env::consts::ARCH.try_into();
    architecture
        .and_then(|architecture| {
            let refuse = SeccompAction::Errno(error as u32);
            SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)
        })
        .and_then(TryInto::try_into)
        .map_err(|error| format!("can't filter system calls: {error}"))
}

fn refused(kept: Kept) -> Result<Rules> {
    let mut rules: Rules = ALWAYS.iter().map(|call| (*call, vec![])).collect();
    if !kept.tracing {
        rules.extend(TRACING.iter().map(|call| (*call, vec![])));
    }
    let mut when = |call: i64, conditions: Vec<SeccompCondition>| -> Result<()> {
        let rule = SeccompRule::new(conditions).map_err(|error| error.to_string())?;
        rules.entry(call).or_default().push(rule);
        Ok(())
    };
    // One rule per flag; any of them matches.
    for bit in (0..32).map(|bit| 1_u64 << bit) {
        if NAMESPACES & bit != 0 {
            when(libc::SYS_clone, vec![has(0, bit)?])?;
        }
        if (NAMESPACES | NEW_TIME) & bit != 0 {
            when(libc::SYS_unshare, vec![has(0, bit)?])?;
        }
    }
    for request in TYPING {
        when(libc::SYS_ioctl, vec![is(1, request)?])?;
    }
    let mut families = vec![libc::AF_NETLINK];
    if kept.sockets {
        families.push(libc::AF_UNIX);
    }
    if kept.network {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let other = families.iter().map(|family| is_not(0, *family as u64));
    when(libc::SYS_socket, other.collect::<Result<_>>()?)?;
    // Allows netlink for listing interface addresses, as many programs do.
    let route = is_not(2, libc::NETLINK_ROUTE as u64)?;
    when(
        libc::SYS_socket,
        vec![is(0, libc::AF_NETLINK as u64)?, route],
    )?;
    Ok(rules)
}

/// Blocks calls with "x32" numbers: same architecture, but this bit hides them from the filter.
#[cfg(target_arch = "x86_64")]
fn other_numbering() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jt: u8, jf: u8, k: u32| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbering() -> BpfProgram {
    Vec::<sock_filter>::new()
}

// The kernel reads only the low half of these arguments, so the filter does too.

fn is(argument: u8, value: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn has(argument: u8, bit: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::MaskedEq(bit), bit)
}

fn condition(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
        .map_err(|error| error.to_string())
}
