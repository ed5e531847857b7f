//! What a package installs beside the program: shell completions and man pages.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::Args;
use crate::app::outcome::StartError;

/// The script of `tiller completions SHELL`.
pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tiller", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The man page of tiller, or of the sub-command that `path` names.
pub fn man(path: &[String]) -> Result<String, StartError> {
    // The page leaves out what the short help hides.
    let mut command = Args::command().mut_args(|arg| arg.hide_short_help(false));
    command.build();
    let mut named: &Command = &command;
    for name in path {
        named = named.find_subcommand(name).ok_or_else(|| {
            let path = path.join(" ");
            StartError::usage(format!("no sub-command '{path}': tiller --help lists them"))
        })?;
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(named.clone()).render(&mut text);
    rendered.map_err(|error| StartError::failed(error.to_string()))?;
    // clap_mangen puts all that follows the options under "EXTRA".
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\nExamples:", ".SH EXAMPLES");
    let text = text.replace("\nExit codes:", "\n.SH \"EXIT STATUS\"");
    let text: String = text.lines().map(hanging).collect();
    Ok(match path {
        [] => text.replace(".SH VERSION", &format!("{PLACES}.SH VERSION")),
        _ => text,
    })
}

/// What the page of tiller itself also names; `tiller docs settings` has all of it.
const PLACES: &str = r#".SH ENVIRONMENT
.TP
\fBANTHROPIC_API_KEY\fR, \fBOPENAI_API_KEY\fR, ...
API keys
.TP
\fBVISUAL\fR, \fBEDITOR\fR
Your editor
.TP
\fBHTTPS_PROXY\fR, \fBNO_PROXY\fR
The proxy, and the hosts that need none
.TP
\fBNO_COLOR\fR
No colors
.TP
\fBTILLER_LOG\fR
What the log contains, for example tiller=debug
.TP
\fBTILLER_CONFIG_DIR\fR, \fBTILLER_DATA_DIR\fR
The folders for settings and data
.SH FILES
.TP
\fI~/.config/tiller/config.toml\fR
Your settings; models.toml, keymap.toml and auth.toml are next to it
.TP
\fI.tiller/config.toml\fR
The settings of a project
.TP
\fI~/.local/share/tiller\fR
Sessions, and copies of files for undo
.TP
\fI~/.local/state/tiller/log\fR
The log
.SH "SEE ALSO"
\fBtiller docs\fR lists the pages of the documentation. \fBtiller docs settings\fR has all variables and files.
"#;

/// A line of the page. The rows of a table and the items of a list become paragraphs with a hanging
/// indent.
fn hanging(line: &str) -> String {
    if let Some(item) = line.strip_prefix("\\- ") {
        return format!(".RS\n.IP \\(bu 2\n{item}\n.RE\n");
    }
    match line.strip_prefix("  ") {
        Some(row) => {
            let (term, text) = row.split_once("  ").unwrap_or((row, ""));
            let text = format!("\n{}", text.trim_start());
            format!(".TP\n\\fB{term}\\fR{}\n", text.trim_end())
        }
        None => format!("{line}\n"),
    }
}
