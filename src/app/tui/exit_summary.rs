//! What is said on the normal screen when the screen has ended.

use super::app::App;
use crate::agent::session::StoredSession;
use crate::app::humanize::dollars;
use crate::app::sessions::short_id;

/// The lines printed on the main screen at the end.
pub fn summary(app: &App) -> String {
    let mut lines = Vec::new();
    if let Some(session) = &app.status.session
        && session.file.exists()
    {
        let id = StoredSession::at(&session.file).id;
        lines.push(format!("resume   tiller --session {}", short_id(&id)));
    }
    if app.trial.is_some() {
        lines.push("trial    open, and goes on with the session".to_owned());
    }
    let total = &app.status.total;
    // A script counts tokens that nobody pays for.
    if total.output > 0 && !app.status.is_demo() {
        let tokens = format!(
            "{} in, {} out",
            total.input + total.cache_read,
            total.output
        );
        lines.push(format!("tokens   {tokens}"));
    }
    if total.cost.total > 0.0 {
        lines.push(format!("cost     {}", dollars(total.cost.total)));
    }
    lines.join("\n")
}
