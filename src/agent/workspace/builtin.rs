//! The built-in lists of protected places, and of places in a workspace that are read-only
//! regardless of the settings. Data only.

/// Below the home folder: keys, tokens, passwords, cookies and shell histories. Omits files that
/// build tools need and that rarely hold a secret (`.gradle/gradle.properties`, `.m2/settings.xml`,
/// `.config/pip`), because sandboxed commands can't see the listed places at all.
pub(super) const PROTECTED_IN_HOME: &[&str] = &[
    // Keys and passwords.
    ".ssh",
    ".gnupg",
    ".netrc",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".vault-token",
    ".pki",
    "Library/Keychains",
    // Clouds and hosts.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/doctl",
    ".config/rclone",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".huggingface",
    ".cache/huggingface/token",
    // Registries and version control.
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings-security.xml",
    // Databases.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    // Other agents.
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
    // Browsers, mail and messengers.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".config/Signal",
    "snap/firefox",
    "snap/chromium",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Signal",
    "Library/Cookies",
    "Library/Safari",
    "Library/Messages",
    "Library/Mail",
    // Wallets.
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".config/solana",
    // Histories: they contain passwords more often than one thinks.
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".local/share/atuin",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
];

/// Anywhere. Files for root only are readable if tiller runs as root, in a container.
pub(super) const PROTECTED: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/run/secrets",
    "/root/.ssh",
];

/// Protected places whose settings name programs.
pub(super) const NAME_PROGRAMS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".npmrc",
    ".aws/config",
    ".kube/config",
    ".docker/config.json",
];

/// Below the home folder: files that run automatically at the next login, shell or use of git. They
/// are outside every workspace except one that contains the home folder.
pub(super) const START_UP_IN_HOME: &[&str] = &[
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".pam_environment",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".config/plasma-workspace",
    ".local/bin",
    ".local/share/systemd",
    "bin",
    ".vimrc",
    ".vim",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
    ".tmux.conf",
    ".config/tmux",
    ".cargo/config.toml",
    ".cargo/bin",
    "Library/LaunchAgents",
];

/// In a folder of the workspace: files that an editor, a shell or git runs automatically, without
/// being asked to run the project. Programs that the user runs (`make`, `npm test`, a build) run what
/// the project contains; that is what a project is.
pub(super) const START_UP_IN_PROJECT: &[&str] = &[
    // husky's hooks, through git's core.hooksPath.
    ".husky",
    // Loaded at the next prompt in the folder.
    ".envrc",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
    ".mise.local.toml",
    "mise/config.toml",
    ".mise",
    ".config/mise.toml",
    ".config/mise",
    // Loaded when the folder is opened.
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".idea/watcherTasks.xml",
    ".idea/startup.xml",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".helix/languages.toml",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".devcontainer.json",
    ".devcontainer/devcontainer.json",
    // Hooks of agents, tiller among them, and where people put the scripts.
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".codex/hooks.json",
    ".codex/hooks",
    // Other version control systems whose settings name programs.
    ".hg/hgrc",
    ".jj/repo/config.toml",
];

/// Names of folders and files that are read-only in a workspace at any depth, with everything below them.
/// This includes all of `.git`: besides hooks and config, some of its files name another config
/// (`commondir`, `modules`, or `.git` itself if it is a file), and only git needs to write there.
pub(super) const READ_ONLY_NAMES: &[&str] = &[".git", OWN_FOLDER];

/// tiller's own files in a project.
pub(super) const OWN_FOLDER: &str = ".tiller";
