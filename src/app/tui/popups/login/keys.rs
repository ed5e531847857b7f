//! Storing an API key; it's used from the next request on.

use super::state::Login;
use crate::agent::NoticeLevel;
use crate::app::action::Action;
use crate::app::keys::{key_of_another, not_a_key, without_keys};
use crate::app::models::ProviderKey;
use crate::app::tui::app::App;
use crate::app::tui::composer::SavedDraft;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::options::ExitKind;
use crate::app::tui::popups::{Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::stop;
use crate::llm::Secret;

pub fn open(app: &mut App, provider: &str) -> Vec<Effect> {
    let named = Some(provider.to_owned()).filter(|name| !name.is_empty());
    let login = Login {
        named,
        ..Login::default()
    };
    app.overlays.push(login.into());
    vec![Effect::ListProviders]
}

/// `/login` with more than a provider: a key must not stay visible, other text may be a prompt.
pub fn refuse(app: &mut App) -> Vec<Effect> {
    let typed = app.composer.text();
    let kept = without_keys(typed.clone());
    if kept == typed {
        app.say_for("/login takes a provider; //login … sends it as text", 5000);
        return Vec::new();
    }
    app.composer.set(&kept);
    app.transcript.push_notice(
        NoticeLevel::Error,
        "The key was not stored. Type /login PROVIDER, then paste the key when tiller asks for it"
            .to_owned(),
    );
    Vec::new()
}

pub fn read(app: &mut App, providers: Vec<ProviderKey>) {
    topmost!(app, Login).read(providers);
}

impl PopupKeys for Login {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker).filter(|_| self.typing.is_none())
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let login = topmost!(app, Login);
        if login.typing.is_none() {
            return list::press(app, press, action);
        }
        match action {
            Some(Action::Back | Action::Interrupt) => login.typing = None,
            Some(Action::Accept) => return store(app),
            Some(Action::DeleteBackward) => login.delete_backward(),
            Some(Action::CutToStart | Action::CutWordBackward | Action::CutToSpaceBackward) => {
                if let Some((_, key)) = &mut login.typing {
                    *key = Secret::new("");
                }
            }
            Some(_) => {}
            None => {
                if let Some(c) = press.text() {
                    login.type_key(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Vec::new()
    }

    fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
        let login = topmost!(app, Login);
        if login.typing.is_none() {
            return list::paste(app, text);
        }
        login.type_key(text);
        Some(Vec::new())
    }

    fn query_changed(app: &mut App) {
        let login = topmost!(app, Login);
        login.fault = None;
        login.search();
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let login = topmost!(app, Login);
        if login.refuse_key() {
            return Vec::new();
        }
        if let Some(provider) = login.chosen() {
            login.typing = Some((provider.name.clone(), Secret::new("")));
            login.fault = None;
        }
        Vec::new()
    }
}

fn store(app: &mut App) -> Vec<Effect> {
    let login = topmost!(app, Login);
    let Some((provider, key)) = &login.typing else {
        return Vec::new();
    };
    let text = key.expose().trim_end();
    if text.is_empty() {
        login.fault = Some("Type or paste a key first".to_owned());
        return Vec::new();
    }
    if let Some(why) = not_a_key(provider, text) {
        login.fault = Some(format!("That doesn't look like an API key: {why}"));
        return Vec::new();
    }
    if let Some(other) = key_of_another(provider, text) {
        let enter = app.keymap.label(Action::Accept).unwrap_or_default();
        let fault =
            format!("This looks like a key for {other}. {enter} again stores it for {provider}");
        if login.fault.as_ref() != Some(&fault) {
            login.fault = Some(fault);
            return Vec::new();
        }
    }
    let effect = Effect::StoreKey(provider.clone(), Secret::new(text));
    app.overlays.pop();
    vec![effect]
}

pub fn stored(app: &mut App, stored: Result<String, String>) -> Vec<Effect> {
    match stored {
        Ok(text) if app.status.is_demo() => {
            let notice = Some(text);
            let draft = SavedDraft {
                notice,
                ..app.draft()
            };
            stop::end(app, ExitKind::Anew(None, draft))
        }
        Ok(text) => {
            app.start.no_key = None;
            app.transcript.push_notice(NoticeLevel::Info, text);
            // The model list shows which providers have a key.
            vec![Effect::ListModels]
        }
        Err(error) => {
            app.transcript.push_notice(NoticeLevel::Error, error);
            Vec::new()
        }
    }
}
