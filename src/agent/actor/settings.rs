//! Changes during a session: the model, the budget, and the permission policy.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::task::Actor;
use crate::event::{AgentEvent, NoticeLevel};
use crate::permission::{PermissionMode, Rule};
use tiller_llm::{Model, ThinkingLevel};

impl Actor {
    /// Switches to the model that the user chose, even if a fallback answers for it now.
    pub(super) fn choose_model(&mut self, model: Model) {
        if let Some(run) = self.activity.run() {
            run.fallback = None;
            run.model_chosen = true;
        }
        self.change_model(Arc::new(model), self.thinking);
    }

    /// Makes the current fallback model the chosen one.
    pub(super) fn keep_fallback(&mut self) {
        if let Some(model) = self.activity.run().and_then(|run| run.fallback.take()) {
            self.change_model(model, self.thinking);
        }
    }

    pub(super) fn change_model(&mut self, model: Arc<Model>, thinking: ThinkingLevel) {
        self.conversation.store_model(&model, thinking);
        self.model = model;
        self.thinking = thinking;
        self.show_model();
    }

    pub(super) fn show_model(&mut self) {
        self.conversation.send(AgentEvent::ModelChanged {
            model: Arc::clone(&self.model),
            thinking: self.thinking,
        });
    }

    /// Corrects the context window of `model`, here and on the screen.
    pub(super) fn correct_window(&mut self, model: Arc<Model>) {
        let fallback = self.activity.run().and_then(|run| run.fallback.as_mut());
        if let Some(asked) = fallback
            && asked.full_id() == model.full_id()
        {
            *asked = Arc::clone(&model);
        }
        if self.model.full_id() == model.full_id() {
            self.model = model;
            self.show_model();
        }
    }

    /// Stores the budget that the user has set for this session.
    pub(super) fn keep_budget(&mut self) {
        let notice = (self.conversation.session).set_budget(self.env.account.limit());
        self.conversation.report(notice);
        self.show_budget();
    }

    pub(super) fn show_budget(&mut self) {
        let limit = self.env.account.limit();
        self.conversation.send(AgentEvent::Budget(limit));
    }

    /// Sets the mode for calls that start from now on, and stores it. The next message tells the model.
    pub(super) fn set_permission(&mut self, mode: PermissionMode) {
        if self.conversation.session.permission() != Some(mode) {
            let notice = self.conversation.session.set_permission(mode);
            self.conversation.report(notice);
        }
        self.use_permission(mode);
    }

    /// Restores the mode that the user chose in the session just opened, if it's stricter.
    pub(super) fn restore_permission(&mut self) {
        let policy = self.policy.get();
        let own = self.conversation.session.permission();
        if let Some(mode) = own.filter(|mode| *mode < policy.mode && !policy.keeps_mode) {
            self.use_permission(mode);
            self.conversation.notice(NoticeLevel::Info, mode.restored());
        }
    }

    fn use_permission(&mut self, mode: PermissionMode) {
        self.policy.change(|policy| policy.mode = mode);
        self.env.mcp.follow_rights();
        self.conversation.prompts.mode = told(mode);
        self.conversation.send(AgentEvent::PermissionMode(mode));
    }

    pub(super) fn add_rules(&mut self, rules: &[Rule]) {
        self.policy
            .change(|policy| rules.iter().for_each(|rule| policy.add(rule.clone())));
    }

    /// Drops a rule of the user from the calls that start from now on.
    pub(super) fn remove_rule(&mut self, rule: &Rule) {
        self.policy.change(|policy| policy.remove(rule));
    }

    /// Answers with the rules that the next call would follow.
    pub(super) fn tell_rules(&self, answer: oneshot::Sender<Vec<Rule>>) {
        let policy = self.policy.clone();
        tokio::spawn(async move {
            let _ = policy.follow().await;
            let policy = policy.get();
            answer.send(policy.own_rules().map(|rule| Rule::clone(rule)).collect())
        });
    }
}

/// Describes a mode to the model.
pub(super) fn told(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Plan => {
            "plan. Change nothing: look around, then propose a plan under the heading `## Plan`. Put \
             only actionable steps there. Just answer plain questions. Commands run in a sandbox without \
             network that can write only to its own /tmp. The user decides whether to run the plan"
        }
        PermissionMode::Ask => "ask. The user confirms every change and command",
        PermissionMode::Auto => {
            "auto. You can change files of the project. Commands run in a sandbox that can write to the \
             project, temporary folders and build caches. Their only network is localhost, which your \
             commands share. Anything else asks the user"
        }
        PermissionMode::Full => "full. Everything is allowed; commands run without a sandbox",
    }
}
