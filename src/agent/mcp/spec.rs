//! How to start a server, and where that is known from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::hooks::quoted;
use tiller_llm::Secret;
use tiller_llm::http::shown;

/// A server, as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in the names of its tools.
    pub name: String,
    /// How to reach it.
    pub transport: Transport,
    /// Whether a project brings it, so that it runs in the sandbox of the model's commands.
    pub of_project: bool,
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program on this machine.
    Stdio(Program),
    /// A URL.
    Http(Endpoint),
}

/// A program that talks on its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name or path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides those that all commands see.
    pub env: BTreeMap<String, String>,
    /// The working folder, relative to the agent's, which is also the default.
    pub cwd: PathBuf,
}

/// A server that answers at a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Where it answers.
    pub url: String,
    /// Headers of each request. Their values may be keys.
    pub headers: BTreeMap<String, Secret>,
}

impl Program {
    /// Its command line for a shell.
    pub(super) fn line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        let words = words.map(|word| {
            if is_plain(word) {
                word.clone()
            } else {
                quoted(word)
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The same with its variables, which may change what the command does.
    pub(super) fn line_with_env(&self) -> String {
        let env = self.env.iter();
        let env = env.map(|(name, value)| format!("{name}={} ", quoted(value)));
        env.collect::<String>() + &self.line()
    }
}

/// How names of tools have a name: letters, digits, `_` and `-`.
pub fn name_in_tools(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = name.chars().map(|c| if fits(c) { c } else { '_' });
    name.collect()
}

/// A text of a file, on one line.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether a shell takes a word as it is.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

impl McpServer {
    /// Its command line or its URL, for users.
    pub fn what(&self) -> String {
        on_one_line(&match &self.transport {
            Transport::Stdio(program) => {
                let words = std::iter::once(&program.command).chain(&program.args);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Transport::Http(endpoint) => shown(&endpoint.url),
        })
    }

    /// Replaces `${NAME}` and `${NAME:-default}` in its texts by the variables that `var` knows.
    ///
    /// # Errors
    /// Returns the name of a variable that isn't set and has no default.
    pub fn expanded(&self, var: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let expand = |text: &str| expand(text, &var);
        let transport = match &self.transport {
            Transport::Stdio(program) => {
                let env = program.env.iter();
                let env = env.map(|(name, value)| Ok((name.clone(), expand(value)?)));
                let args = program.args.iter().map(|arg| expand(arg));
                Transport::Stdio(Program {
                    command: expand(&program.command)?,
                    args: args.collect::<Result<_, String>>()?,
                    env: env.collect::<Result<_, String>>()?,
                    cwd: expand(&program.cwd.to_string_lossy())?.into(),
                })
            }
            Transport::Http(endpoint) => {
                let headers = endpoint.headers.iter();
                let headers = headers.map(|(name, value)| {
                    let value = expand(value.expose())?;
                    Ok((name.clone(), Secret::new(value)))
                });
                Transport::Http(Endpoint {
                    url: expand(&endpoint.url)?,
                    headers: headers.collect::<Result<_, String>>()?,
                })
            }
        };
        Ok(Self {
            name: self.name.clone(),
            transport,
            of_project: self.of_project,
        })
    }
}

fn expand(text: &str, var: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else {
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        // As in a shell, an empty variable has the default too.
        let value = var(name).filter(|value| default.is_none() || !value.is_empty());
        let value = value.or_else(|| default.map(str::to_owned));
        expanded.push_str(before);
        expanded.push_str(&value.ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Reads the servers that apply, while an agent runs.
pub trait McpSource: Send {
    /// Returns the servers if they may have changed since the last call. The first call returns them all.
    fn changed(&mut self) -> Option<FoundServers>;
}

/// The servers that apply.
#[derive(Clone, Debug, Default)]
pub struct FoundServers {
    /// In the order of their files, with their variables expanded. Names are unique.
    pub servers: Vec<McpServer>,
    /// What the user should know: files with errors, variables that aren't set.
    pub notices: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_values_or_defaults() {
        let var = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("pre${A}post", Ok("pre1post")),
            ("${B:-dflt}${A}", Ok("dflt1")),
            ("${EMPTY:-x}", Ok("x")),
            ("${EMPTY}", Ok("")),
            ("$A ${A", Ok("$A ${A")),
            ("${B}", Err("B")),
        ] {
            let expanded = expand(text, var);
            let expanded = expanded.as_deref().map_err(String::as_str);
            assert_eq!(expanded, expected, "{text}");
        }
    }
}
