//! The limits of the built-in tools, as the settings have them. Plain data.

/// The limits of the built-in tools (`[tools]` in the settings).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSettings {
    /// Seconds a command may run when the call does not say.
    pub bash_timeout_s: u64,
    /// Most seconds a call may ask for.
    pub bash_max_timeout_s: u64,
    /// Characters of a command's output for the model.
    pub bash_max_output_chars: usize,
    /// Lines of a command's output for the model.
    pub bash_max_output_lines: usize,
    /// Bytes of output kept in a spill file.
    pub bash_max_spill_bytes: u64,
    /// Names of environment variables that commands must not see: globs, any case.
    pub bash_secret_env: Vec<String>,
    /// Lines `read` gives at most.
    pub read_max_lines: usize,
    /// Bytes `read` gives at most.
    pub read_max_bytes: usize,
    /// Bytes `grep`, `find` and `ls` give at most.
    pub search_max_bytes: usize,
    /// Seconds `grep` and `find` may take.
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
            read_max_lines: 2_000,
            read_max_bytes: 50 * 1024,
            search_max_bytes: 50 * 1024,
            search_timeout_s: 30,
        }
    }
}
