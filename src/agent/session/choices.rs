//! What the user chose for a session with all its branches: the budget and the permission mode.

use serde::Deserialize;
use serde_json::Value;

use super::entry::{Body, Kind};
use super::kind::{BUDGET, PERMISSION};
use super::store::{SaveNotice, Session};
use super::tree::NodeId;
use crate::budget::Budget;
use crate::permission::PermissionMode;

impl Session {
    /// Stores the budget that the user sets, for all its branches.
    pub fn set_budget(&mut self, budget: Budget) -> SaveNotice {
        self.append(Body::custom(BUDGET, budget))
    }

    /// The budget that the user last set in it, if any.
    pub fn budget(&self) -> Option<Budget> {
        Budget::deserialize(self.last_data(Kind::Budget)?).ok()
    }

    /// Stores the permission mode that the user chose, for all its branches.
    pub fn set_permission(&mut self, mode: PermissionMode) -> SaveNotice {
        self.append(Body::custom(PERMISSION, mode.name()))
    }

    /// The permission mode that the user last chose in it, if any.
    pub fn permission(&self) -> Option<PermissionMode> {
        self.last_data(Kind::Permission)?.as_str()?.parse().ok()
    }

    /// The data of the last entry of this kind.
    fn last_data(&self, kind: Kind) -> Option<Value> {
        let is_such = |node: &NodeId| self.tree().node(*node).kind == kind;
        let last = self.tree().nodes().filter(is_such).last()?;
        match &*self.load(last).ok()? {
            Body::Custom { data, .. } => Some(data.clone()),
            _ => None,
        }
    }
}
