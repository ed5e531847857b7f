//! Words that users type for tiller's actions, settings and pages, often from other programs. F1,
//! `/settings`, `tiller docs` and the errors about unknown settings share them.

/// Rows of a name and its other words, without blanks, `_` and `-`. A name without a dot is an action's,
/// one with blanks says what to do instead of a setting.
const TABLE: &str = "\
theme: dark light color colour scheme appearance
permission_mode: sandbox rules allow command deny approve approval yolo bypass safe security stopasking askbefore allowcommand dontask acceptedits autoaccept bash asking
settings: preferences options config configuration vim permission rules sandbox
status: price money usage bill tokens window cost stats cheap expensive spending
login: provider token sign in account apikey
rewind: checkpoint restore revert
undo_turn: revert restore reset edit
edit_prompt: message correct resend
models: switch select pick cheap
session_remove: delete erase
copy_reply: answer response message
budget: cost limit money dollars spending
help: documentation manual
export: save share markdown
resume: continue history previous
submit: resume continue retry
newline: newline linebreak multiline shiftenter return
init: memory instructions
cancel: abort interrupt kill
budget.tokens: tokenlimit maxtokens tokenbudget
agent.max_iterations: maxturns turns maxsteps steps maxcalls
budget.usd: cost maxcost costlimit spendinglimit limit budget spending money dollars maxbudgetusd
compaction.enabled: autocompact compact autocompactenabled autocompaction
models.default: model modelname defaultmodel
models.max_output: maxtokens maxoutputtokens
models.thinking: thinking reasoning effort thinkingeffort reasoningeffort modelreasoningeffort
models.servers.ollama: ollama local
permission.mode: permissions approval approvals approvalpolicy defaultmode sandbox sandboxmode permissionmode yolo askbefore network autoaccept autoapprove acceptedits
permission.rules: allow deny ask allowlist denylist whitelist blacklist allowedtools disallowedtools network
permission.writable: additionaldirectories writableroots adddir
retry.max: attempts maxattempts retries maxretries
tools.bash.timeout_seconds: timeout
tools.set: tool toolset
ui.motion: animation animations flicker flickering ssh slow
ui.notify: notification notifications sound bell
ui.vim: vi vimmode modal editormode editingmode keybindingmode
ui.theme: dark light darkmode lightmode color colors colour colours colorscheme
ui.title: tmux
`tiller auth add PROVIDER` stores API keys: key keys apikey apikeys token
tiller's status line can't be changed; ui.title sets the window title: statusline status
set the variable VISUAL or EDITOR instead: editor visual
set the variable HTTPS_PROXY instead: proxy httpproxy httpsproxy
set the variable TILLER_LOG to tiller=debug, and read ~/.local/state/tiller/log: log logs logging loglevel verbose debug
keys are in keymap.toml, next to config.toml: keymap keybindings keybinding bindings
write providers into models.toml, next to config.toml: providers modelproviders baseurl
tiller has no hooks; `tiller docs hooks` says what replaces them: hooks hook
tiller has no MCP; `tiller docs mcp` says what replaces it: mcp mcpservers
tiller has no web search; a rule allows curl, see `tiller docs network`: websearch webfetch
tiller sends no telemetry; `tiller docs telemetry` says what it sends: telemetry analytics
write it into AGENTS.md, or into APPEND_SYSTEM.md next to config.toml: outputstyle persona personality memory claude
your terminal sets it: font fontsize
install tiller again, as you did before: update autoupdate upgrade
tiller has no subagents; /try works in a copy: subagent subagents
tiller has no skills; mention a file with @, or name it in AGENTS.md: skill skills plugin plugins
tiller has no profiles; put flags into a shell alias: profile profiles
export variables before you start tiller: env environment
write it into AGENTS.md: language commit attribution coauthor
start with --no-session to save nothing: history savehistory
tiller covers every change; /undo and /rewind bring files back: checkpoint checkpoints";

/// Rows of a section of the documentation, as a link names it, and other words for its subject.
const SECTIONS: &str = "\
scripting#run-one-prompt: headless noninteractive unattended automation automate batch oneshot cron
scripting#limits-time-cost-and-calls: maxturns
scripting#json: outputformat
permissions#rules: whitelist allowlist blacklist denylist regex wildcard
permissions#keep-it-away-from-something: env
permissions#answer-a-request: approve
troubleshooting#sent-nothing-for-300-s: hang hanging stuck freeze frozen reconnect
reference/cli#tiller-completions: autocomplete
permissions#modes: yolo autoapprove autoaccept approveautomatically automaticallyapprove
acp: ide vscode neovim nvim emacs jetbrains intellij
terminal#vs-code-and-alt-on-a-mac: vscode
terminal#copy-text-to-the-clipboard: osc52
context#secrets: secret
models#api-keys: vault secret 1password keychain
security#what-leaves-your-machine: privacy telemetry analytics tracking phonehome
settings: managedsettings enterprise policyfile
keys: shortcut newline multiline
keys#change-keys-keymaptoml: keybinding rebind
coming-from#what-tiller-doesnt-have: mcp hook subagent plugin skill websearch statusline outputstyle customcommand background
coming-from#your-permission-lists: settingsjson
context#agentsmd: memory
permissions#git: githook
sessions#see-cost-context-and-model-calls: money spending
models#what-it-may-cost: money cheap";

/// The shortest beginning of a word that finds it.
const MIN: usize = 3;

/// The rows of the table.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter_map(|line| line.split_once(": "))
}

/// The links to sections, and the other words for each.
pub(crate) fn section_rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    SECTIONS.lines().filter_map(|line| line.split_once(": "))
}

/// What to do instead of a setting that the user looks for.
pub(crate) fn instead_of(typed: &str) -> Option<&'static str> {
    let typed = plain(typed);
    let mut rows = rows().filter(|(name, _)| name.contains(' '));
    let found = rows.find(|(_, words)| words.split(' ').any(|word| word == typed));
    found.map(|(advice, _)| advice)
}

/// The other words for `name`, or an empty text.
pub(crate) fn words_for(name: &str) -> &'static str {
    let row = rows().find(|(of, _)| *of == name);
    row.map_or("", |(_, words)| words)
}

/// True if what the user typed begins a word for `name`.
pub(crate) fn begins_one(name: &str, typed: &str) -> bool {
    let typed = plain(typed);
    let mut words = words_for(name).split(' ');
    typed.len() >= MIN && words.any(|word| word.starts_with(&typed))
}

/// The text as the table writes words.
pub(crate) fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-', ' '], "")
}
