//! How hooks reach prompts before they are sent, and learn of what happens between runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::task::Actor;
use crate::event::NoticeLevel;
use crate::hooks::{HOOK_ORIGIN, HookInput, HookPoint};
use crate::runner::PromptVerdict;
use tiller_llm::Content;
use tiller_llm::message::content_text;

/// How long the user does nothing after a run until hooks learn it.
const IDLE: Duration = Duration::from_mins(1);

/// Ends at this time.
pub(super) async fn reached(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

impl Actor {
    /// Returns the prompts that the next turn would send and no hook has seen, by number.
    pub(super) fn prompts_to_check(&mut self) -> Vec<(u64, String)> {
        let unchecked = self.queues.unchecked(self.rules.steering_mode);
        unchecked
            .map(|it| (it.id, content_text(&it.content)))
            .collect()
    }

    /// Sends a prompt with what hooks say to it, or gives it back with the reason.
    pub(super) fn prompt_checked(&mut self, id: u64, verdict: PromptVerdict) {
        match verdict {
            PromptVerdict::Sent(texts) => {
                self.queues.note_checked(id);
                for text in texts {
                    self.note_from_hooks(text);
                }
            }
            PromptVerdict::Blocked(reason) => {
                let blocked = self.queues.block(id);
                if self.env.permissions.has_user() {
                    self.give_back(blocked.into_iter().collect(), 0);
                } else {
                    // Nobody takes it, and a later run must not send it.
                    self.let_go(&[id]);
                }
                let text = format!("A hook blocked your message: {reason}");
                self.conversation.notice(NoticeLevel::Warning, &text);
            }
        }
    }

    /// Runs the hooks for the session's end. None runs if no run has begun in it.
    pub(super) async fn end_hooks(&self) {
        let hooks = &self.env.hooks;
        let reason = if self.env.permissions.has_user() {
            "prompt_input_exit"
        } else {
            "other"
        };
        if hooks.ends(&self.env.conversation_id) {
            let ended = HookInput::session_end(reason);
            self.env.fire_hooks(ended).await;
        }
        hooks.settle().await;
    }

    /// Like [`Self::end_hooks`], but doesn't wait: the agent opens another session.
    pub(super) fn end_hooks_in_background(&self, reason: &str) {
        if self.env.hooks.ends(&self.env.conversation_id) {
            let (env, ended) = (Arc::clone(&self.env), HookInput::session_end(reason));
            tokio::spawn(async move { env.fire_hooks(ended).await });
        }
    }

    /// Begins to wait until the user has been idle for a while, if a hook wants to know.
    pub(super) fn await_idle(&mut self) {
        let has_hook = self.env.hooks.has(HookPoint::Notification);
        let waits = has_hook && self.env.permissions.has_user();
        self.idle_at = waits.then(|| Instant::now() + IDLE);
    }

    /// Tells hooks that the user is idle.
    pub(super) fn on_idle(&mut self) {
        self.idle_at = None;
        let idle = HookInput::notification("tiller is waiting for your input", "idle_prompt");
        self.env.tell_hooks(idle);
    }

    pub(super) fn note_from_hooks(&mut self, text: String) {
        let content = vec![Content::text(text)];
        self.conversation.tell_model(content, HOOK_ORIGIN);
    }
}
