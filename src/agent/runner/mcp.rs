//! How a run gets the tools that aren't built in, before its first request: those of the user, and those of MCP
//! servers, which it starts beside everything else. Later changes wait for the next run.

use super::link::{RunLink, RunMessage};
use crate::event::NoticeLevel;

impl RunLink {
    /// Starts the servers that are new, and waits for none.
    pub(super) async fn begin_mcp(&self) {
        self.unless_cancelled(self.env.mcp.begin()).await;
    }

    /// Reports the tools of the user if they have changed.
    pub(super) async fn take_own_tools(&self) {
        let changed = self.unless_cancelled(self.env.own_tools.changed()).await;
        let Some(Some((tools, notices))) = changed else {
            return;
        };
        for (level, text) in notices {
            if self.env.tells_first(&text) {
                self.notice(level, text).await;
            }
        }
        self.report(RunMessage::OwnTools(tools)).await;
    }

    /// Waits a little for servers that start, and reports the tools of those that run.
    pub(super) async fn take_mcp_tools(&self) {
        self.unless_cancelled(self.env.mcp.settled()).await;
        for text in self.env.mcp.notices() {
            if self.env.tells_first(&text) {
                self.notice(NoticeLevel::Warning, text).await;
            }
        }
        self.report(RunMessage::McpTools(self.env.mcp.tools()))
            .await;
    }
}
