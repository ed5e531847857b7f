//! How a run uses MCP servers: it starts them beside everything else, and takes their tools before its
//! first request. Later changes wait for the next run.

use super::link::{RunLink, RunMessage};
use crate::event::NoticeLevel;

impl RunLink {
    /// Starts the servers that are new, and waits for none.
    pub(super) async fn begin_mcp(&self) {
        self.unless_cancelled(self.env.mcp.begin()).await;
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
