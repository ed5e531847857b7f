//! The limits of the built-in tools, as the settings have them. Plain data.

/// The limits of the built-in tools (`[tools]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSettings {
    /// The default timeout of a command in seconds.
    pub bash_timeout_s: u64,
    /// The most seconds that a call can ask for.
    pub bash_max_timeout_s: u64,
    /// Characters of a command's output for the model.
    pub bash_max_output_chars: usize,
    /// Lines of a command's output for the model.
    pub bash_max_output_lines: usize,
    /// Bytes of output saved in a spill file.
    pub bash_max_spill_bytes: u64,
    /// Names of environment variables that commands must not see: globs, any case.
    pub bash_secret_env: Vec<String>,
    /// The variables of tiller's environment that those globs hide.
    pub bash_hidden: Vec<String>,
    /// The most lines that `read` returns.
    pub read_max_lines: usize,
    /// The most bytes that `read` returns.
    pub read_max_bytes: usize,
    /// The most bytes that `grep`, `find` and `ls` return.
    pub search_max_bytes: usize,
    /// The time limit of `grep` and `find` in seconds.
    pub search_timeout_s: u64,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            bash_timeout_s: 120,
            bash_max_timeout_s: 600,
            bash_max_output_chars: 30_000,
            bash_max_output_lines: 2_000,
            bash_max_spill_bytes: 256 * 1024 * 1024,
            bash_secret_env: [
                "*API_KEY",
                "*TOKEN",
                "*SECRET*",
                "*PASSWORD*",
                "*PASSWD*",
                "*PASSPHRASE*",
                "*_PASS",
                "*_PAT",
                "*DSN",
                "*WEBHOOK*",
                "*CREDENTIAL*",
                "*_ACCESS_KEY",
                "*_PRIVATE_KEY",
            ]
            .map(String::from)
            .to_vec(),
            bash_hidden: Vec::new(),
            read_max_lines: 2_000,
            read_max_bytes: 50 * 1024,
            search_max_bytes: 50 * 1024,
            search_timeout_s: 30,
        }
    }
}
