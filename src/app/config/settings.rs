//! The merged layers as typed settings.

use std::collections::BTreeMap;
use std::time::Duration;

use super::layers::Layers;
use super::places::{PlaceSettings, place_settings};
use super::reader::Reader;
use super::rules::{PermissionRules, permission_rules};
use crate::agent::permission::PermissionMode;
use crate::agent::toolbox::ToolSelection;
use crate::agent::{Budget, CompactionRules, LoopGuardRules, LoopRules, RetryRules, ToolSettings};
use crate::app::args::of_value;
use crate::app::manners::Manners;
use crate::app::notify::Notify;
use crate::llm::local::ServerAddrs;
use crate::llm::{PromptCaching, ThinkingLevel};

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub rules: LoopRules,
    pub tools: ToolSettings,
    pub tool_set: ToolSelection,
    /// The initial model as typed; empty if not set.
    pub model: String,
    pub thinking: ThinkingLevel,
    /// Fallback models, as typed.
    pub fallback: Vec<String>,
    /// The window in tokens for models that don't report it; 0 if not set.
    pub context_window: u64,
    /// The smallest window to accept, in tokens.
    pub min_context_window: u64,
    /// Most tokens of one answer, if set.
    pub max_output: Option<u64>,
    /// How long to wait for a silent provider, if set.
    pub idle_timeout: Option<Duration>,
    /// The URL for `tiller models --refresh`, or empty.
    pub catalogue_url: String,
    pub caching: PromptCaching,
    /// The user's aliases for models.
    pub aliases: BTreeMap<String, String>,
    /// Folders whose `.env` may hold keys, as typed.
    pub env_file_folders: Vec<String>,
    /// The models that a key cycles through, as typed.
    pub favorites: Vec<String>,
    /// The model servers on this machine. Without an address Ollama is where the environment says.
    pub servers: ServerAddrs,
    pub redact: bool,
    /// Rules that decide before the mode does.
    pub permission_rules: PermissionRules,
    pub places: PlaceSettings,
    pub permission: PermissionMode,
    pub budget: Budget,
    /// Most bytes of file copies for undo.
    pub undo_max_bytes: u64,
    /// The theme: `auto`, or a theme's name.
    pub theme: String,
    /// The theme for `auto` on a dark background.
    pub theme_dark: String,
    /// The theme for `auto` on a light background.
    pub theme_light: String,
    pub notify: Notify,
    pub manners: Manners,
}

/// The mode, or an error that names the mode for what other agents call it.
fn permission_mode(text: &str) -> Result<PermissionMode, String> {
    let mode = text.parse::<PermissionMode>();
    mode.map_err(|fault| {
        let of_others = of_value("--permission", text);
        of_others.map_or(fault, |it| it.replace("--permission", "permission.mode"))
    })
}

impl Settings {
    /// Converts the merged layers. Types were checked earlier; this checks whether words are valid.
    pub fn resolve(layers: &Layers) -> Result<Self, String> {
        let read = Reader(layers);
        Ok(Self {
            rules: LoopRules {
                max_iterations: read.get("agent.max_iterations")?,
                skip_on_steering: read.get("agent.skip_on_steering")?,
                steering_mode: read.queue_mode("agent.steering_mode")?,
                follow_up_mode: read.queue_mode("agent.follow_up_mode")?,
                parallel_tools: read.get("agent.parallel_tool_execution")?,
                retry: RetryRules {
                    max: read.get("retry.max")?,
                    base_ms: read.get("retry.base_ms")?,
                    max_wait_s: read.get("retry.max_wait_s")?,
                    jitter: read.get("retry.jitter")?,
                },
                loop_guard: LoopGuardRules {
                    enabled: read.get("agent.loop_guard.enabled")?,
                    window: read.get("agent.loop_guard.window")?,
                    early_trip: read.get("agent.loop_guard.early_trip")?,
                    message: read.get("agent.loop_guard.message")?,
                },
                compaction: CompactionRules {
                    enabled: read.get("compaction.enabled")?,
                    threshold: read.share("compaction.threshold")?,
                    reserve_tokens: read.get("compaction.reserve_tokens")?,
                    thresholds: read.thresholds()?,
                    keep_recent_tokens: read.get("compaction.keep_recent_tokens")?,
                    prune: read.get("compaction.prune")?,
                    prompt: read.get("compaction.prompt")?,
                },
            },
            tools: ToolSettings {
                bash_timeout_s: read.not_zero("tools.bash.timeout_seconds")?,
                bash_max_timeout_s: read.not_zero("tools.bash.max_timeout_seconds")?,
                bash_max_output_chars: read.not_zero("tools.bash.max_output_chars")?,
                bash_max_output_lines: read.not_zero("tools.bash.max_output_lines")?,
                bash_max_spill_bytes: read.get("tools.bash.max_spill_bytes")?,
                bash_secret_env: read.get("tools.bash.secret_env")?,
                bash_hidden: Vec::new(),
                read_max_lines: read.not_zero("tools.read.max_lines")?,
                read_max_bytes: read.not_zero("tools.read.max_bytes")?,
                search_max_bytes: read.not_zero("tools.search.max_bytes")?,
                search_timeout_s: read.not_zero("tools.search.timeout_seconds")?,
            },
            tool_set: read.parsed("tools.set", str::parse)?,
            model: read.get("models.default")?,
            thinking: read.parsed("models.thinking", str::parse)?,
            fallback: read.get("models.fallback")?,
            context_window: read.get("models.context_window")?,
            min_context_window: read.get("models.min_context_window")?,
            max_output: Some(read.get("models.max_output")?).filter(|tokens| *tokens > 0),
            idle_timeout: Some(read.get("models.idle_timeout")?)
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            catalogue_url: read.get("models.catalogue_url")?,
            caching: if read.get("models.auto_cache")? {
                let words = [("5m", PromptCaching::On), ("1h", PromptCaching::Hour)];
                read.one_of("models.cache", &words)?
            } else {
                PromptCaching::Off
            },
            aliases: layers.string_map("models.aliases"),
            env_file_folders: read.get("auth.env_file_folders")?,
            favorites: read.get("models.favorites")?,
            servers: read.servers()?,
            places: place_settings(layers)?,
            permission_rules: permission_rules(layers)?,
            redact: read.get("permission.redact")?,
            permission: read.parsed("permission.mode", permission_mode)?,
            budget: Budget {
                usd: read.dollars("budget.usd")?,
                tokens: read.get("budget.tokens")?,
            },
            undo_max_bytes: read.get("undo.max_bytes")?,
            theme: read.get("ui.theme")?,
            theme_dark: read.get("ui.theme_dark")?,
            theme_light: read.get("ui.theme_light")?,
            notify: read.parsed("ui.notify", str::parse)?,
            manners: Manners {
                mouse: read.get("ui.mouse")?,
                vim: read.get("ui.vim")?,
                title: read.get("ui.title")?,
                progress: read.get("ui.progress")?,
                motion: read.parsed("ui.motion", str::parse)?,
                previews: read.get("ui.preview")?,
                links: read.parsed("ui.links", str::parse)?,
                images: read.parsed("ui.images", str::parse)?,
                inline: read.get("ui.inline")?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers;
    use super::*;
    use crate::agent::permission::{Action, Origin, Rule};
    use crate::agent::{QueueMode, Threshold};
    use crate::app::manners::{Images, Links, Motion};
    use crate::llm::local::{Address, LocalServer};
    use crate::llm::window_check;

    #[test]
    fn the_shipped_defaults_are_the_defaults_of_the_types() {
        let settings = Settings::resolve(&Layers::defaults()).unwrap();
        assert_eq!(settings.rules, LoopRules::default());
        assert_eq!(settings.tools, ToolSettings::default());
        assert_eq!(settings.manners, Manners::default());
        assert_eq!(settings.thinking, ThinkingLevel::Medium);
        assert_eq!(settings.min_context_window, window_check::MIN_CONTEXT);
    }

    #[test]
    fn changed_values_arrive() {
        let mut layers = Layers::defaults();
        for text in [
            "agent.max_iterations=0",
            "agent.skip_on_steering=false",
            "agent.steering_mode=one",
            "agent.follow_up_mode=all",
            "agent.parallel_tool_execution=false",
            "agent.loop_guard.enabled=false",
            "agent.loop_guard.window=5",
            "agent.loop_guard.early_trip=6",
            "agent.loop_guard.message=Think.",
            "retry.max=2",
            "retry.base_ms=3",
            "retry.max_wait_s=4",
            "retry.jitter=false",
            "compaction.enabled=false",
            "compaction.threshold=0.5",
            "compaction.reserve_tokens=12",
            "compaction.keep_recent_tokens=13",
            "compaction.thresholds.\"lab/big\"=\"150000\"",
            "compaction.thresholds.\"lab/small\"=\"0.6\"",
            "compaction.prune=false",
            "compaction.prompt=Sum up.",
            "models.default=lab/scripted",
            "models.thinking=xhigh",
            "auth.env_file_folders=[\"~/work\"]",
            "models.fallback=[\"lab/other\"]",
            "models.context_window=10",
            "models.min_context_window=11",
            "models.max_output=12",
            "models.idle_timeout=13",
            "models.catalogue_url=\"https://h/m.toml\"",
            "models.auto_cache=false",
            "models.cache=1h",
            "models.favorites=[\"lab/scripted\", \"sonnet\"]",
            "models.local=false",
            "models.servers.ollama=:1",
            "models.servers.llamacpp=localhost",
            "models.servers.lmstudio=127.0.0.1:3",
            "models.aliases.fast=\"lab/quick:low\"",
            "models.aliases.\"v1.5\"=lab/old",
            "tools.set=read_only",
            "tools.bash.timeout_seconds=1",
            "tools.bash.max_timeout_seconds=2",
            "tools.bash.max_output_chars=3",
            "tools.bash.max_output_lines=4",
            "tools.bash.max_spill_bytes=5",
            "tools.bash.secret_env=[\"PIN\"]",
            "tools.read.max_lines=6",
            "tools.read.max_bytes=7",
            "tools.search.max_bytes=8",
            "tools.search.timeout_seconds=9",
            "permission.redact=false",
            "budget.usd=2",
            "budget.tokens=10",
            "undo.max_bytes=11",
            "ui.theme=light",
            "ui.theme_dark=nord",
            "ui.theme_light=tokyo-day",
            "ui.notify=desktop",
            "ui.mouse=false",
            "ui.title=false",
            "ui.progress=false",
            "ui.motion=reduced",
            "ui.preview=true",
            "ui.links=off",
            "ui.images=kitty",
            "ui.inline=true",
            "ui.vim=true",
            "permission.mode=plan",
            "permission.writable=[\"/w\"]",
            "permission.protected=[\"/p\"]",
            "permission.caches=[\"/c\"]",
            "permission.rules=[{tool=\"write\", path=\"docs/**\", action=\"deny\"}]",
        ] {
            layers.add_assignment(text).unwrap();
        }
        let changed = layers.entries().into_iter().map(|(_, _, origin)| origin);
        assert!(
            changed
                .into_iter()
                .all(|origin| *origin == layers::Origin::Command),
            "a setting is not tested"
        );
        let expected = Settings {
            rules: LoopRules {
                max_iterations: 0,
                skip_on_steering: false,
                steering_mode: QueueMode::One,
                follow_up_mode: QueueMode::All,
                parallel_tools: false,
                retry: RetryRules {
                    max: 2,
                    base_ms: 3,
                    max_wait_s: 4,
                    jitter: false,
                },
                loop_guard: LoopGuardRules {
                    enabled: false,
                    window: 5,
                    early_trip: 6,
                    message: "Think.".to_owned(),
                },
                compaction: CompactionRules {
                    enabled: false,
                    threshold: 0.5,
                    reserve_tokens: 12,
                    thresholds: BTreeMap::from([
                        ("lab/big".to_owned(), Threshold::Tokens(150_000)),
                        ("lab/small".to_owned(), Threshold::Share(0.6)),
                    ]),
                    keep_recent_tokens: 13,
                    prune: false,
                    prompt: "Sum up.".to_owned(),
                },
            },
            tools: ToolSettings {
                bash_timeout_s: 1,
                bash_max_timeout_s: 2,
                bash_max_output_chars: 3,
                bash_max_output_lines: 4,
                bash_max_spill_bytes: 5,
                bash_secret_env: vec!["PIN".to_owned()],
                bash_hidden: Vec::new(),
                read_max_lines: 6,
                read_max_bytes: 7,
                search_max_bytes: 8,
                search_timeout_s: 9,
            },
            tool_set: "read_only".parse().unwrap(),
            model: "lab/scripted".to_owned(),
            thinking: ThinkingLevel::Xhigh,
            fallback: vec!["lab/other".to_owned()],
            context_window: 10,
            min_context_window: 11,
            max_output: Some(12),
            idle_timeout: Some(Duration::from_secs(13)),
            catalogue_url: "https://h/m.toml".to_owned(),
            caching: PromptCaching::Off,
            aliases: [("fast", "lab/quick:low"), ("v1.5", "lab/old")]
                .map(|(name, target)| (name.to_owned(), target.to_owned()))
                .into(),
            env_file_folders: vec!["~/work".to_owned()],
            favorites: vec!["lab/scripted".to_owned(), "sonnet".to_owned()],
            servers: ServerAddrs {
                wanted: false,
                addresses: [
                    (LocalServer::Ollama, ":1"),
                    (LocalServer::LlamaCpp, "localhost"),
                    (LocalServer::LmStudio, ":3"),
                ]
                .map(|(server, text)| (server, Address::parse(text, 8080).unwrap()))
                .into(),
                ollama_window: None,
            },
            redact: false,
            permission_rules: PermissionRules {
                rules: vec![Rule {
                    path: Some("docs/**".to_owned()),
                    ..Rule::of_tool("write", Action::Deny, Origin::User("--config".to_owned()))
                }],
                dropped: Vec::new(),
            },
            places: PlaceSettings {
                writable: vec!["/w".into()],
                protected: vec!["/p".into()],
                caches: vec!["/c".into()],
            },
            permission: PermissionMode::Plan,
            budget: Budget {
                usd: 2.0,
                tokens: 10,
            },
            undo_max_bytes: 11,
            theme: "light".to_owned(),
            theme_dark: "nord".to_owned(),
            theme_light: "tokyo-day".to_owned(),
            notify: Notify::Desktop,
            manners: Manners {
                mouse: false,
                vim: true,
                title: false,
                progress: false,
                motion: Motion::Reduced,
                previews: true,
                links: Links::Off,
                images: Images::Kitty,
                inline: true,
            },
        };
        assert_eq!(Settings::resolve(&layers).unwrap(), expected);
    }

    #[test]
    fn words_without_meaning_name_key_value_and_choices() {
        for (text, hint) in [
            ("agent.steering_mode=some", "expected one of all, one"),
            ("models.thinking=hard", "unknown thinking level 'hard'"),
            ("permission.mode=off", "use plan, ask"),
            ("permission.mode=acceptEdits", "use permission.mode auto"),
            ("models.servers.lmstudio=example.com:1", "models.toml"),
            ("budget.usd=-1", "setting budget.usd = -1"),
            ("budget.usd=nan", "US dollars from 0"),
            ("budget.usd=inf", "US dollars from 0"),
        ] {
            let mut layers = Layers::defaults();
            layers.add_assignment(text).unwrap();
            let error = Settings::resolve(&layers).unwrap_err();
            assert!(
                error.contains(hint) && error.contains("--config"),
                "{error}"
            );
        }
    }
}
