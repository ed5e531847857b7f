//! The pages below docs/src/reference, made from the tables that the program itself reads.

use std::fmt::Write as _;

use clap::CommandFactory;
use toml::Value;

use super::{records, root};
use crate::app::action::{ALIASES, ActionSpec, Group, actions};
use crate::app::args::Args;
use crate::app::commands as slash_commands;
use crate::app::config::{Layers, setting_rows, words_of};
use crate::app::outcome::EXIT_CODES;
use crate::app::tui::keymap::{Keymap, label};

const MADE: &str = "<!-- Made from the program's own tables. To update it: \
                    TILLER_WRITE_DOCS=1 cargo test --lib docs -->\n\n";

/// Every reference page matches the tables.
#[test]
fn the_reference_is_up_to_date() {
    let mut stale = Vec::new();
    for (name, text) in [
        ("keys", keys()),
        ("commands", commands()),
        ("settings", settings()),
        ("exit-codes", exit_codes()),
        ("records", records::page()),
        ("cli", cli()),
    ] {
        let (title, rest) = text.split_once('\n').unwrap();
        let text = format!("{title}\n\n{MADE}{}\n", rest.trim());
        let path = root().join(format!("docs/src/reference/{name}.md"));
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if std::env::var_os("TILLER_WRITE_DOCS").is_some() {
            std::fs::write(&path, text).unwrap();
        } else {
            stale.push(format!("docs/src/reference/{name}.md"));
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {}. Run TILLER_WRITE_DOCS=1 cargo test --lib docs",
        stale.join(", ")
    );
}

/// Text for a cell of a table: no bar ends it, and `<` begins no tag.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        // Every other part is code.
        let part = part.replace('|', "\\|");
        if at > 0 {
            out.push('`');
        }
        out += &if at % 2 == 1 {
            part
        } else {
            part.replace('<', "&lt;").replace('*', "\\*")
        };
    }
    out
}

/// A key as code. A backquote needs two around it.
fn key(name: &str) -> String {
    if name.contains('`') {
        format!("`` {name} ``")
    } else {
        format!("`{}`", name.replace('|', "\\|"))
    }
}

fn of_group(group: Group) -> impl Iterator<Item = &'static ActionSpec> {
    actions().filter(move |spec| spec.group == group)
}

fn keys() -> String {
    let keymap = Keymap::default();
    let keys = |spec: &ActionSpec| {
        let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
        let keys: Vec<String> = keys.iter().map(|name| key(name)).collect();
        keys.join(", ")
    };
    let mut out = String::from(
        "# Keys\n\
         The default keys. F1 lists all of them in tiller, with your own bindings.\n\n\
         The name in the last column is the action's name in `keymap.toml`. [Keys](../keys.md) explains how \
         to bind other keys. The actions at the end have no default key.\n",
    );
    for group in Group::ALL {
        let with_key: Vec<_> = of_group(group)
            .filter(|spec| !keys(spec).is_empty())
            .collect();
        if with_key.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n## {}\n\n| Key | What it does | Action |\n| --- | --- | --- |",
            group.title()
        );
        for spec in with_key {
            let _ = writeln!(
                out,
                "| {} | {} | `{}` |",
                keys(spec),
                cell(spec.help),
                spec.name
            );
        }
    }
    out += "\n## Without a key\n\n\
            Each of these has a [command](commands.md), and takes a key in `keymap.toml`.\n\n\
            | Command | What it does | Action |\n| --- | --- | --- |\n";
    for spec in actions().filter(|spec| keys(spec).is_empty()) {
        let slash = spec
            .slash
            .map_or(String::new(), |slash| format!("`/{slash}`"));
        let _ = writeln!(out, "| {slash} | {} | `{}` |", cell(spec.help), spec.name);
    }
    out
}

fn commands() -> String {
    let keymap = Keymap::default();
    let mut out = String::from(
        "# Commands\n\
         Type `/` at the start of the prompt to list the commands, and keep typing to filter. Words in \
         capitals are arguments. Most are optional; a command that needs one says so.\n\n\
         To send a prompt that begins with a slash, type two: `//etc is a folder`.\n\n",
    );
    let anywhere: Vec<String> = slash_commands::all()
        .map(|command| format!("`/{}`", command.name()))
        .collect();
    let _ = writeln!(
        out,
        "These also run without the screen, with [`tiller -p`](../scripting.md#slash-commands), in \
         [RPC](../rpc.md) and in [editors](../acp.md): {}.",
        anywhere.join(", ")
    );
    for group in Group::ALL {
        let with_command: Vec<_> = of_group(group)
            .filter_map(|spec| Some((spec, spec.slash?)))
            .collect();
        if with_command.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n## {}\n\n| Command | What it does | Key |\n| --- | --- | --- |",
            group.title()
        );
        for (spec, slash) in with_command {
            let mut ways = match spec.argument {
                Some(argument) => format!("`/{slash} {argument}`"),
                None => format!("`/{slash}`"),
            };
            for (alias, _) in ALIASES
                .iter()
                .filter(|(_, command)| command.split(' ').next() == Some(slash))
            {
                let _ = write!(ways, ", `/{alias}`");
            }
            let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
            let keys: Vec<String> = keys.iter().map(|name| key(name)).collect();
            let _ = writeln!(
                out,
                "| {ways} | {} | {} |",
                cell(spec.help),
                keys.join(", ")
            );
        }
    }
    out
}

/// A value in TOML. Long lists get a line per item.
fn value(value: &Value) -> String {
    let short = value.to_string();
    match value {
        Value::Array(items) if short.len() > 60 => {
            let items: Vec<String> = items.iter().map(|item| format!("    {item},\n")).collect();
            format!("[\n{}]", items.concat())
        }
        _ => short,
    }
}

const RULE: &str = r#"[[permission.rules]]
tool = "bash"
prefix = ["npm", "test"]
action = "allow""#;

/// Values for settings that are empty by default.
const EXAMPLES: [(&str, &str); 7] = [
    ("models.default", "\"sonnet\""),
    ("models.fallback", "[\"gpt-6.1-sol\"]"),
    ("models.favorites", "[\"sonnet\", \"gpt-6\"]"),
    ("auth.env_file_folders", "[\"~/work\"]"),
    ("permission.writable", "[\"~/notes\"]"),
    ("permission.protected", "[\"~/clients\", \"/srv/secrets\"]"),
    ("budget.usd", "5.0"),
];

fn settings() -> String {
    let layers = Layers::defaults();
    let mut rows = setting_rows(&layers, &[]);
    // Keeps the order of the file.
    let file = include_str!("../../assets/config.toml");
    rows.sort_by_key(|row| {
        let (table, name) = row.key.rsplit_once('.').unwrap();
        let start = file.find(&format!("\n[{table}]\n")).unwrap();
        start + file[start..].find(&format!("\n{name} = ")).unwrap()
    });
    let mut out = String::from(
        "# Settings\n\
         Every setting with its default. They go into `config.toml`; `tiller config path` prints where that \
         is, and `tiller config show --origin` where each value comes from. \
         [Settings](../settings.md) is the guide.\n",
    );
    let mut last = String::new();
    let (mut about, mut first) = (String::new(), String::new());
    for row in rows {
        let (table, name) = row.key.rsplit_once('.').unwrap();
        if table != last {
            let _ = writeln!(out, "\n## `[{table}]`");
            table.clone_into(&mut last);
            about.clear();
        }
        let _ = writeln!(out, "\n### `{}`\n", row.key);
        if row.about == about {
            let anchor = first.replace('.', "");
            let _ = writeln!(out, "See [`{first}`](#{anchor}).\n");
        } else {
            // Cuts off an example in the comment and the sentence that announces it.
            let text = match row.about.split_once("[[") {
                Some((text, _)) => {
                    let text = text.rsplit_once(". ").map_or(text, |(text, _)| text);
                    format!("{text}. [Permissions](../permissions.md) shows how to write one.")
                }
                None => plain(&row.about),
            };
            let _ = writeln!(out, "{text}\n");
            about.clone_from(&row.about);
            first.clone_from(&row.key);
        }
        if let Some(words) = words_of(&row.key) {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let _ = writeln!(out, "Values: {}.\n", words.join(", "));
        }
        let example = EXAMPLES.iter().find(|(key, _)| *key == row.key);
        let example = example.map_or(String::new(), |(_, value)| format!("   # such as {value}"));
        // An empty list beside the tables of a list would set it twice.
        let lines = match &*row.key {
            "permission.rules" => RULE.to_owned(),
            _ => format!("[{last}]\n{name} = {}{example}", value(&row.value)),
        };
        let _ = writeln!(out, "```toml\n{lines}\n```");
    }
    out += "\n## Tables of names\n\n\
            Two tables start empty. You name their entries.\n\n\
            ```toml\n[models.aliases]\nfast = \"openai/gpt-6-luna:low\"   # then: tiller -m fast\n\n\
            [compaction.thresholds]\n\"anthropic/claude-sonnet-5-5\" = \"150000\"\n```\n";
    out
}

/// Text outside code, with Markdown's special characters escaped.
fn plain(text: &str) -> String {
    text.replace('<', "&lt;")
        .replace('*', "\\*")
        .replace('[', "\\[")
}

fn exit_codes() -> String {
    let mut out = String::from(
        "# Exit codes\n\
         What `tiller` exits with. [Scripting](../scripting.md) shows how to use it.\n\n\
         | Code | Meaning |\n| --- | --- |\n",
    );
    for (code, _, meaning) in EXIT_CODES {
        let _ = writeln!(out, "| {code} | {} |", cell(meaning));
    }
    out
}

fn cli() -> String {
    let mut out = String::from(
        "# Command line\n\
         Everything `tiller --help` and `tiller COMMAND --help` print, on one page. \
         The exit codes have [their own page](exit-codes.md).\n",
    );
    let mut program = Args::command().term_width(100);
    program.build();
    of_command(&mut out, &program, "tiller");
    out
}

fn of_command(out: &mut String, command: &clap::Command, name: &str) {
    let about = command.get_long_about().or(command.get_about());
    let about = about.map_or(String::new(), |about| plain(&about.to_string()));
    let about = format!("{}.", about.trim_end_matches('.'));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:");
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    let _ = writeln!(
        out,
        "\n## {name}\n\n{about}\n\n```text\n{}\n```",
        usage.join("\n")
    );
    let of_group = |wanted: Option<&str>, positional: bool| {
        let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let args = args.filter(|arg| arg.get_id() != "help" && arg.get_id() != "version");
        let args = args.filter(|arg| arg.is_positional() == positional);
        let args = args.filter(|arg| positional || arg.get_help_heading() == wanted);
        args.map(row).collect::<Vec<String>>().concat()
    };
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in command.get_arguments() {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    headings.sort();
    let mut table = |title: &str, rows: String| {
        if !rows.is_empty() {
            let _ = writeln!(out, "\n| {title} | |\n| --- | --- |\n{}", rows.trim_end());
        }
    };
    table("Argument", of_group(None, true));
    for heading in headings {
        table(heading.unwrap_or("Option"), of_group(heading, false));
    }
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        of_command(out, sub, &format!("{name} {}", sub.get_name()));
    }
}

/// A table row: how to write an argument, and its help.
fn row(arg: &clap::Arg) -> String {
    let mut names: Vec<String> = arg
        .get_short()
        .map(|short| format!("-{short}"))
        .into_iter()
        .collect();
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let values = arg.get_num_args().is_some_and(|count| count.takes_values());
    let values = values.then(|| arg.get_value_names().unwrap_or_default().join(" "));
    let mut written = names.join(", ");
    if let Some(values) = values.filter(|values| !values.is_empty()) {
        let is_optional = arg
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        if arg.is_require_equals_set() {
            let _ = write!(written, "[={values}]");
        } else if is_optional && !arg.is_positional() {
            let _ = write!(written, " [{values}]");
        } else {
            let _ = write!(written, " {values}");
        }
    }
    // A long help names the values itself.
    let long = arg
        .get_long_help()
        .filter(|_| !arg.is_hide_possible_values_set());
    let help = long.or(arg.get_help());
    let mut help = help.map_or(String::new(), |help| cell(&help.to_string()));
    let words: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|word| match word.get_help() {
            Some(help) => {
                let help = help.to_string();
                format!("`{}`: {}", word.get_name(), help.trim_end_matches('.'))
            }
            None => format!("`{}`", word.get_name()),
        })
        .collect();
    if !words.is_empty() && values_are_words(arg) {
        let _ = write!(help, "<br>{}.", words.join("; "));
    }
    let defaults: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|it| it.display().to_string())
        .collect();
    if !defaults.is_empty() && arg.get_num_args().is_some_and(|count| count.takes_values()) {
        let _ = write!(
            help,
            "{} Default: `{}`.",
            if help.ends_with('.') { "" } else { "." },
            defaults.join(" ")
        );
    }
    format!(
        "| {} | {} |\n",
        key(written.trim()),
        help.replace('\n', " ")
    )
}

/// True if the values are words, and not just `true` and `false`.
fn values_are_words(arg: &clap::Arg) -> bool {
    let words = arg.get_possible_values();
    words
        .iter()
        .all(|word| !matches!(word.get_name(), "true" | "false"))
}
