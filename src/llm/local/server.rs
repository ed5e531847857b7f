//! The known servers and their addresses. Refuses addresses of other machines: the search for servers
//! must stay on this one.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// A program that serves models on its own machine. The order is that of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalServer {
    /// Ollama.
    Ollama,
    /// llama-server of llama.cpp.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
}

pub struct ServerFacts {
    /// The provider id of its models: the part before the slash.
    pub id: &'static str,
    /// Its name for display.
    pub title: &'static str,
    /// Its default port.
    pub port: u16,
    /// The command that starts it.
    pub start_command: &'static str,
    /// The command that gives its models a larger window.
    pub larger_window: &'static str,
}

impl LocalServer {
    /// All servers.
    pub const ALL: [Self; 3] = [Self::Ollama, Self::LlamaCpp, Self::LmStudio];

    /// Its facts.
    pub const fn facts(self) -> ServerFacts {
        match self {
            Self::Ollama => ServerFacts {
                id: "ollama",
                title: "Ollama",
                port: 11434,
                start_command: "ollama serve",
                larger_window: "OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
            },
            Self::LlamaCpp => ServerFacts {
                id: "llamacpp",
                title: "llama.cpp",
                port: 8080,
                start_command: "llama-server -m MODEL.gguf",
                larger_window: "llama-server -m MODEL.gguf -c 32768",
            },
            Self::LmStudio => ServerFacts {
                id: "lmstudio",
                title: "LM Studio",
                port: 1234,
                start_command: "lms server start",
                larger_window: "lms load MODEL --context-length 32768",
            },
        }
    }

    /// The server with this provider id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|server| server.facts().id == id)
    }
}

/// An address on this machine where a server can listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Parses `HOST:PORT`, either of them alone, or either as an `http://` address. A host that means
    /// "all of this machine" (`0.0.0.0`) becomes 127.0.0.1.
    pub fn parse(text: &str, default_port: u16) -> Result<Self, String> {
        let text = text.trim();
        let (rest, default_port) = match text.split_once("://") {
            // Ollama reads its OLLAMA_HOST the same way.
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (rest, 80),
            Some((scheme, _)) => return Err(format!("'{scheme}' isn't http")),
            None => (text, default_port),
        };
        let rest = rest.split('/').next().unwrap_or_default();
        let (host, port) = match rest.rsplit_once(':') {
            // An IPv6 address without a port.
            Some((head, _)) if head.contains(':') && !head.ends_with(']') => (rest, ""),
            Some((host, port)) => (host, port),
            None if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()) => {
                ("", rest)
            }
            None => (rest, ""),
        };
        let port = match port {
            "" => default_port,
            port => match port.parse() {
                Ok(port) if port > 0 => port,
                _ => return Err(format!("'{port}' isn't a port")),
            },
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let host = match bare.parse::<IpAddr>() {
            Ok(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
            Ok(IpAddr::V4(address)) if address.is_loopback() => address.to_string(),
            Ok(IpAddr::V6(address)) if address.is_loopback() => format!("[{address}]"),
            Err(_) if bare.is_empty() => Ipv4Addr::LOCALHOST.to_string(),
            Err(_) if bare.eq_ignore_ascii_case("localhost") => "localhost".to_owned(),
            _ => {
                return Err(format!(
                    "'{host}' isn't this machine. Describe a remote server in models.toml, with api, base_url and models: tiller docs models#ollama-on-another-machine"
                ));
            }
        };
        Ok(Self { host, port })
    }

    /// `http://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("http://{self}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Where to look for each server, if at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerAddrs {
    /// Whether to look for servers at all.
    pub wanted: bool,
    /// The address of each.
    pub addresses: BTreeMap<LocalServer, Address>,
    /// The window that Ollama is configured to load models with, in tokens.
    pub ollama_window: Option<u64>,
}

impl ServerAddrs {
    /// Adds Ollama's own variables. `OLLAMA_HOST` is its address, unless the settings have one; if that
    /// is another machine, tiller doesn't look for Ollama. `OLLAMA_CONTEXT_LENGTH` is the window for its
    /// models.
    pub fn with_ollama_env<'a>(mut self, variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        if !self.addresses.contains_key(&LocalServer::Ollama) {
            let host = variable("OLLAMA_HOST").unwrap_or_default();
            let address = Address::parse(host, LocalServer::Ollama.facts().port);
            let address = address.map(|address| (LocalServer::Ollama, address));
            self.addresses.extend(address.ok());
        }
        let window = variable("OLLAMA_CONTEXT_LENGTH").and_then(|text| text.trim().parse().ok());
        self.ollama_window = window.filter(|tokens| *tokens > 0);
        self
    }

    /// All servers to look for, each with its address.
    pub fn iter(&self) -> impl Iterator<Item = (LocalServer, &Address)> {
        let wanted = self.addresses.iter().filter(|_| self.wanted);
        wanted.map(|(server, address)| (*server, address))
    }
}
