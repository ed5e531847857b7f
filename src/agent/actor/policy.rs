//! The owner of the policy: its mode and its rules, and what the model is told of a mode.

use std::sync::Arc;

use tokio::sync::watch;

use crate::agent::permission::{PermissionMode, Policy};

pub(super) struct PolicyOwner(watch::Sender<Arc<Policy>>);

impl PolicyOwner {
    pub fn new(policy: Policy) -> Self {
        Self(watch::Sender::new(Arc::new(policy)))
    }

    pub fn subscribe(&self) -> watch::Receiver<Arc<Policy>> {
        self.0.subscribe()
    }

    pub fn mode(&self) -> PermissionMode {
        self.0.borrow().mode
    }

    pub fn change(&self, change: impl FnOnce(&mut Policy)) {
        self.0.send_modify(|policy| change(Arc::make_mut(policy)));
    }
}

pub(super) fn told(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Plan => {
            "plan. Nothing may be changed: look around, then propose a plan, under the heading \
             `## Plan` (only what can be carried out as it stands; a question is answered without \
             one). Commands run in a sandbox without network that can write to its own /tmp only. \
             The user decides whether the plan is carried out"
        }
        PermissionMode::Ask => "ask. The user is asked before anything is changed or run",
        PermissionMode::Auto => {
            "auto. Files of the project may be changed. Commands run in a sandbox that can write to \
             the project, to temporary folders and to the caches of build tools, without network \
             but for a loopback that they share (a server left running answers the next \
             command); the user is asked about what needs more"
        }
        PermissionMode::Full => "full. Everything is allowed; commands run without a sandbox",
    }
}
