//! Words that users type for tiller's actions, settings and pages, often from other programs. F1,
//! `/settings`, `tiller docs` and the errors about unknown settings share them.

use super::manual::whole_word;

/// Rows of a name and its other words, without blanks, `_` and `-`. A name without a dot is an action's,
/// one with blanks says what to do instead of a setting.
const TABLE: &str = "\
theme: dark light color colour scheme appearance darkmode lightmode darktheme lighttheme switchtheme changecolor accessibility
permission_mode: sandbox allow command deny approve approval yolo bypass safe security stopasking acceptedits autoaccept bash asking skippermission fullauto readonly planmode askless
settings: preferences options config configuration permission rules sandbox managedpolicy
status: costpersession price money usage bill tokens window cost stats cheap expensive spending pricing
login: provider token sign in account apikey logout
rewind: checkpoint restore revert
undo_turn: revert restore recover reset edit rollback undochange undoeverything discardchange backup
edit_prompt: editpreviousmessage editpreviousprompt editmessage message correct resend
models: switch select pick cheap cheaper cheapest price pricing local offline ollama changemodel localmodel
session_remove: delete erase deletehistory deletesession deletechat remove clearhistory
copy_reply: answer response message clipboard
permissions: allow deny allowlist whitelist allowcommand stopasking askless fewerprompts
new_session: newchat newconversation startover clearchat clearcontext
history_search: previousprompt
budget: cost limit money dollars spending
help: documentation manual
export: transcript save share markdown exportchat savechat sharechat
resume: continue previous lastsession previousconversation oldconversation previouschat oldchat seepreviouschat reopen reopenyesterday
submit: resume continue retry
newline: newline linebreak multiline shiftenter return
init: remember memory instructions globalinstruction globalinstructions
search: findchat findinchat findconversation searchchat searchconversation
diff: seediff showdiff viewdiff gitdiff seechange showchange viewchange whatchanged changedfile
commit: gitcommit gitcommitmessage commitmessage
cancel: abort interrupt kill
budget.tokens: tokenlimit maxtokens tokenbudget tokens limit
agent.max_iterations: maxturns turns maxsteps steps maxcalls
budget.usd: cost maxcost costlimit spendinglimit limit budget spending money dollars maxbudgetusd
compaction.enabled: autocompact compact autocompactenabled autocompaction
models.default: model modelname defaultmodel switchmodel changemodel
models.max_output: maxtokens maxoutputtokens tokens outputtokens
models.thinking: thinkingbudget budgettokens ultrathink alwaysthinking alwaysthinkingenabled thinking reasoning effort thinkingeffort reasoningeffort modelreasoningeffort
models.servers.ollama: ollama local port localhost
permission.mode: confirm approval approvalpolicy defaultmode sandbox sandboxmode permissionmode yolo askbefore network autoaccept autoapprove acceptedits stopasking askless fewerprompts dontask readonly skippermission askmebeforechanging
permission.rules: allow deny ask allowlist denylist whitelist blacklist allowedtools disallowedtools network stopasking askless askingless fewerprompts lessprompts dontask allowcommand always
permission.protected: private privatefile hidefile hidefolder hidedata
permission.writable: additionaldirectories writableroots adddir
retry.max: attempts maxattempts retries maxretries
tools.bash.timeout_seconds: timeout shell bash
tools.set: tool toolset
ui.inline: fullscreen scrollback screenreader altscreen
ui.motion: spinner spinnertipsenabled prefersreducedmotion animation animations flicker flickering ssh slow
ui.notify: notification notifications sound bell
ui.vim: vi vimmode modal editormode editingmode keybindingmode
ui.theme: dark light darkmode lightmode color colors colour colours colorscheme
ui.title: tmux
`tiller auth add PROVIDER` stores API keys, and so does /login: apikey apikeys token login signin
tiller's status line can't be changed; ui.title sets the window title: statusline status
/login stores API keys; keymap.toml, next to config.toml, has shortcuts: key keys
set the variable VISUAL or EDITOR instead: editor visual
set the variable HTTPS_PROXY instead: proxy httpproxy httpsproxy
set the variable NODE_EXTRA_CA_CERTS to the file of the certificate: selfsigned selfsignedcertificate ssl certificate certificates sslcertificate sslcertificates cacert
set the variable TILLER_LOG to tiller=debug, and read ~/.local/state/tiller/log: log logs logging loglevel verbose debug
write api_key = \"!COMMAND\" into models.toml, next to config.toml: apikeyhelper
keys are in keymap.toml, next to config.toml: shortcut shortcuts hotkey hotkeys keymap keybindings keybinding bindings
write providers into models.toml, next to config.toml: providers modelproviders baseurl endpoint gateway header headers customheader customheaders
hooks are in hooks.json, next to config.toml; /hooks lists them: hooks hook autoformat formatter posttooluse pretooluse
MCP servers are in mcp.json, next to config.toml; /mcp lists them: mcp mcpservers enableallprojectmcpservers enabledmcpjsonservers
tiller has no web search, but the tool web_fetch reads pages: websearch
the tool web_fetch reads pages, and rules allow hosts; `tiller docs tools` says more: webfetch browse browser fetch
your own tools are programs in the folder tools, next to config.toml; /tools lists them: customtool customtools owntool owntools
tiller sends no telemetry; `tiller docs telemetry` says what it sends: telemetry analytics privacy
write it into AGENTS.md, or into APPEND_SYSTEM.md next to config.toml: outputstyle outputstyles persona personality memory claude
your terminal sets it; `tiller docs font` says more: font fontsize ligatures
install tiller again, as you did before: update autoupdate upgrade
tiller has no subagents; /try works in a copy: subagent subagents
skills and your own commands are files; `tiller docs skills` says where: skill skills customcommand slashcommand
tiller has no plugins; `tiller docs skills` says what it reads: plugin plugins
tiller asks before docker; `tiller docs docker` has a rule for it: docker
selected text is copied at once; `tiller docs clipboard` says more: clipboard copyonselect
the network is a rule's; `tiller docs network` shows how: allowinternet allownetwork allowweb internet
Shift+Tab changes the mode, and full asks nothing; rules allow single commands: alloweverything allowall approveeverything neverask
/todo shows the list: todo todolist
git's own .gitignore counts for searches; a rule or permission.protected hides files: gitignore
the themes colorblind-dark and colorblind-light: colorblind colourblind
tiller hides secrets that it knows; `tiller docs secrets` says more: password passwords
activate the environment before you start tiller: python virtualenv venv conda
models choose their own temperature; thinking has a level, /thinking: temperature topp
tiller wraps words at the window's edge; a wide code block continues on the next row: wordwrap wrap linewrap linewrapping softwrap
tiller has no profiles; put flags into a shell alias: profile profiles
export variables before you start tiller: env environment
write it into AGENTS.md: remember language instruction instructions claude.md claudemd agents.md agentsmd
write it into SYSTEM.md or APPEND_SYSTEM.md, next to config.toml: systemprompt appendsystemprompt
/trust decides whether the project's own files count: trust trustfolder trustproject
rules allow it; /permissions lists them, and `tiller policy allow` adds one: push gitpush git
start tiller with `--mode json`: json jsonoutput outputjson outputformat
tiller adds no trailer to commits; to have one, write it into AGENTS.md: commit attribution coauthor coauthoredby includecoauthoredby trailer
tiller deletes no sessions; `tiller sessions rm ID` does: cleanup cleanupperioddays sessioncleanup prune retention
start with --no-session to save nothing; `tiller docs delete history` says more: history savehistory deletehistory clearhistory
Ctrl+O shows whole diffs; ui.preview also shows what read and grep return: diff diffs
your system or terminal sets how fast the wheel scrolls: scrollspeed wheelspeed mousespeed
tiller runs nothing in the background; start a server in another terminal: movebackground movetobackground
tiller covers every change; /undo and /rewind bring files back: checkpoint checkpoints";

/// Rows of a section of the documentation, as a link names it, and other words for its subject.
const SECTIONS: &str = "\
permissions#work-in-a-container: kubernetes k8s podman devcontainer dockerfile nonroot
permissions#keep-my-data-private: private privatedata hidedata
permissions#connect-to-a-database: database sql postgres postgresql mysql bigquery snowflake
permissions#let-it-install-packages-npm-pip-cargo: pipinstall pipinstallpandas installpackage cannotinstallpackage pandas
models#gateways-litellm-openrouter-azure-bedrock: endpoint openaicompatible
models#a-gateway-in-front-of-a-built-in-vendor: customheader extraheader header
scripting#run-one-prompt: saveanswer saveanswertofile saveoutput headless noninteractive unattended automation automate batch oneshot cron print oneprompt stdin sigterm printmode
scripting#limits-time-cost-and-calls: maxturns timeout timelimit turnlimit
scripting#many-runs: parallel loopoverfiles loopfiles manyfiles eachfile foreachfile runoverfiles runmanyfiles batch
scripting#sessions: resumescript continuescript
scripting#json: outputformat jsonoutput outputjson structuredoutput
scripting#exit-codes: exitcode returncode exitstatus
permissions#rules: whitelist allowlist blacklist denylist regex wildcard
permissions#let-it-write-in-another-folder: adddirectory adddir secondfolder anotherdirectory additionaldirectory
scripting#watch-it-and-answer: detach attach secondterminal otherterminal anotherterminal twoterminal concurrent
permissions#keep-it-away-from-something: hidefolder env protectfile hidefile ignorefile protectenv block forbid prevent disallow denycommand blockcommand excludefile
permissions#answer-a-request: approve switchtoask makeitask makeitaskme
permissions#modes: yolo autoapprove autoaccept approveautomatically automaticallyapprove skippermission dangerouslyskippermission bypass bypasspermission fullauto planmode acceptedits approveall allowall turnoffthesandbox sandboxoff nosandbox disablesandbox approveeverything alloweverything
permissions#recipes: yolo skippermission dangerouslyskippermission bypasspermission
permissions#stop-asking-for-one-command: askless askingless fewerprompts lessprompts dontask stopprompting allowcommand alwaysallow allowalways neverask
permissions#let-it-use-the-network: internet networkaccess internetaccess online web
permissions#let-it-push: gitpush push
permissions#git: githook commit gitcommit gitcommitmessage commitmessage coauthor coauthoredby attribution trailer
permissions#how-tiller-reads-a-command: sudo root
permissions#read-only: readonly lookonly dryrun
security#the-sandbox: sandbox isolation
undo: undo undoeverything undochange revertchange revert rollback rollbackchange restorefile recover recoverfile discardchange undolastprompt checkpoint backup deletedfile restoredeletedfile recoverdeletedfile deletefile
keys#while-tiller-works: stop stopagent stoprun steer cancel interrupt abort pause queue queuemessage
keys#the-first-character-of-a-message: bashmode shellmode shellcommand runcommand newline multiline linebreak
keys: shortcut keyboard hotkey cheatsheet
keys#change-keys-keymaptoml: keybinding rebind remap customkey
undo#see-what-changed: diff seediff showdiff viewdiff gitdiff seechange showchange viewchange whatchanged changedfile reviewchange
tutorial: getstarted gettingstarted quickstart
tutorial#9-leave-and-come-back: quit leave exit close
sessions#see-cost-context-and-model-calls: costpersession sessioncost cost money token usage bill stats costsofar
sessions#continue-a-session: resume continue resumesession lastsession continuelastsession newchat newsession newconversation clear clearchat clearconversation resumename previousconversation oldconversation previouschat oldchat seepreviouschat reopen autosave
sessions#branches: fork branch branching
sessions#where-sessions-are-stored: wheresession wherearesession wherearemysession sessionfolder sessionfile sessionlocation
sessions#the-list-of-sessions: rename renamesession namesession
sessions#search-sessions-and-conversations: history searchhistory chathistory findsession searchchat
sessions#delete-sessions-and-history: retention sessionretention deletehistory deletesession removesession removehistory clearhistory deletechat deleteconversation deletedata incognito cleanup sessioncleanup sessionscleanup cleansession prune cleanupperioddays
sessions#export-and-import: transcript exportchat exportsession exportconversation export share sharechat savechat saveconversation
models#api-keys: token login sign signup auth authentication subscription vault secret 1password keychain
models#choose-a-model: thinkingbudget thinkingtoken model switchmodel pickmodel modelname thinking effort reasoning thinkinglevel reasoningeffort switchmodelsession ultrathink thinkharder alwaysthinking alwaysthinkingenabled
models#prices-and-cheaper-models: price pricing cheap cheaper cheapest cheapermodel cheapmodel savemoney expensive money
models#local-servers: airgapped airgap localmodel locally offline ollama lmstudio llamacpp selfhosted
models#what-it-may-cost: spendingcap spendinglimit spending budget costlimit money limitcost limitspending tokenlimit costperrun
models#recipe-behind-a-corporate-proxy: selfsigned selfsignedcertificate proxy httpproxy certificate
troubleshooting#too-many-requests-429-the-server-is-overloaded-the-server-failed-500: ratelimit 429 overloaded throttle
troubleshooting#a-request-failed-and-tiller-doesnt-retry: retry retries
troubleshooting#its-slow-or-seems-stuck: slow tooslow veryslow stuck hang hanging frozen speed faster fast
troubleshooting#sent-nothing-for-300-s: hang hanging freeze frozen reconnect unresponsive
troubleshooting#tiller-asks-about-the-same-command-again-and-again: keepsasking keepasking askstoooften askstoomuch tooquestions tooprompts toorequests askseverytime
troubleshooting#i-deleted-a-session: recover restoresession undelete
troubleshooting#im-in-vi-and-cant-leave-it: quitvim exitvim leavevim quitvi exitvi
troubleshooting#everything-is-gone-after-a-crash: recover recoversession lostwork losework lostmywork workgone crashed
troubleshooting#my-browser-cant-reach-the-server-that-the-model-started: localhost notreachable reachserver exposeport port devserver npmrundev
troubleshooting#report-a-bug: bug bugreport reportbug feedback issue debug log logging verbose logfile loglevel
troubleshooting#it-flickers-or-is-slow-over-ssh: lag flicker flickering
context: contextfull
context#agentsmd: remember monorepo nestedagentsmd memory instruction rule language init projectrules
context#compaction-when-the-window-fills-up: compact contextfull contextwindow contextlimit autocompact summarize outofcontext
context#files-and-pictures-in-your-prompt: plot chart screenshot pasteimage pastescreenshot uploadfile uploadimage attachimage attachfile addfile mentionfile includefile dragdrop drag vision seeplot showplot image picture
context#secrets: secret
context#tables-notebooks-and-pdfs: upload csv excel xlsx spreadsheet ipynb jupyter docx word
context#files-that-git-ignores: gitignore gitignored
models#limits: maxtoken maxoutput
context#trust: trustfolder trustproject
sessions#a-session-that-is-open-elsewhere: multiplesession sessionlocked locksession
undo#rewind-go-back-to-an-earlier-prompt: editmessage editprompt editpreviousmessage editlastmessage goback
troubleshooting#the-terminal-is-broken-after-a-crash: garbled
themes: dark light darkmode lightmode darktheme lighttheme color colour colorscheme changetheme switchtheme changecolor appearance accessibility
settings#environment-variables: nocolor envvariable envvar
settings#where-the-files-are: configfile configlocation whereconfig settingsfile dotfile configfolder wherearefiles wheremyfiles
settings: config configuration managedsettings enterprise policyfile preferences options
terminal#notifications: notify notification bell sound alert beep
terminal#the-font-and-its-size: font fontsize ligature zoom
terminal#inline-mode-keep-the-scrollback: screenreader fullscreen altscreen alternatescreen accessibility
terminal#mouse: mouse scroll scrolling
terminal#copy-text-to-the-clipboard: osc52 copytext selecttext copypaste clipboard
terminal#vs-code-and-alt-on-a-mac: vscode vscodeterminal
mcp: mcp mcpserver mcpservers
mcp#files: disablemcp disablemcpserver mcpservers
troubleshooting#a-hook-doesnt-run: hooknotrunning debughook hooknotworking
troubleshooting#an-mcp-server-doesnt-start: mcptimeout mcpnotstarting mcpfails mcpnotworking
security#what-can-go-wrong: promptinjection
acp: ide vscode neovim nvim emacs jetbrains intellij editor
install: install installtiller installation download release setup arm64 aarch64 musl alpine homebrew brew apt deb checksum sha256
install#update-or-uninstall: update upgrade uninstall removetiller
security#what-leaves-your-machine: datago privacy telemetry analytics tracking phonehome codesent datasent sendcode uploadcode whatissent whatsent senttoanthropic sent
reference/cli#tiller-completions: autocomplete shellcompletion
reference/settings#uimotion: spinner
coming-from: migrate migration movefrom comingfrom switchfrom switchclaudecode switchfromclaudecode switchcodex switchfromcodex
hooks: formatsave formatonsave hook autoformat formatter formatafteredit prettier audit auditlog
hooks#events: posttooluse pretooluse sessionstart userpromptsubmit
skills: skill skills
tools#your-own-tools: customtool customtools owntool owntools
tools#read-web-pages: webfetch browse browseweb fetchurl
skills#your-own-slash-commands: customcommand customslashcommand customslash prompttemplate
coming-from#what-tiller-doesnt-have: subagent plugin extension websearch statusline outputstyle background backgroundtask movebackground movetobackground windows wsl voice dictation
settings#project-settings: localsetting settingslocal settingslocaljson projectconfig
coming-from#your-permission-lists: settingsjson
coming-from#your-claudemd: claudemd userlevel userlevelclaude";

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

/// True if what the user typed is one of the other words for `name`.
pub(crate) fn is_one(name: &str, typed: &str) -> bool {
    let typed = plain(typed);
    let mut words = words_for(name).split(' ');
    !typed.is_empty() && words.any(|word| whole_word(word, &typed))
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
