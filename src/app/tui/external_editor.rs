//! The user's editor on the text of the prompt.

use std::process::Stdio;

/// Lets the user edit `text` in `$VISUAL` or `$EDITOR`; the terminal must be given back by now.
pub(super) async fn edit(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        })
        .unwrap_or_else(|| "vi".to_owned());
    let failed = |error: std::io::Error| format!("The editor `{editor}` failed: {error}");
    let file = tempfile::Builder::new()
        .prefix("tiller-")
        .suffix(".md")
        // Not removed when the program ends first: the editor goes on and may still save.
        .disable_cleanup(true)
        .tempfile()
        .map_err(failed)?;
    tokio::fs::write(file.path(), text).await.map_err(failed)?;
    // Through a shell, since users put options into these variables.
    let status = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .stdin(Stdio::inherit())
        .status()
        .await
        .map_err(failed)?;
    let bytes = tokio::fs::read(file.path()).await.map_err(failed)?;
    let _ = tokio::fs::remove_file(file.path()).await;
    if !status.success() {
        return Err(format!(
            "The editor `{editor}` ended with {status}; the text is as it was.\n\
             $VISUAL or $EDITOR names the editor."
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
