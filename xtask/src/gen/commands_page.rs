//! The reference of the command line: what the declarations of its commands say.

use serde::Deserialize;

use super::markdown::{cell, code, in_cell, prose, table};
use crate::error::Error;
use crate::markdown::anchor;

/// A part of the answer of `harn reference`.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) commands: Vec<Command>,
}

/// A command, with or without commands of its own.
#[derive(Deserialize)]
pub(super) struct Command {
    /// The words one types.
    pub(super) name: String,
    about: String,
    long_about: String,
    usage: String,
    arguments: Vec<Argument>,
    pub(super) options: Vec<Argument>,
    examples: String,
}

/// An argument or an option.
#[derive(Deserialize)]
pub(super) struct Argument {
    /// How it is written, as in `-n, --last <N>`.
    pub(super) form: String,
    help: String,
    default: String,
    values: Vec<(String, String)>,
    global: bool,
}

impl Answer {
    /// Reads an answer.
    pub(super) fn parse(answer: &str) -> Result<Self, Error> {
        serde_json::from_str(answer).map_err(|why| malformed(&why))
    }
}

fn malformed(why: &dyn std::fmt::Display) -> Error {
    Error::malformed("the answer of `harn reference`", why.to_string())
}

/// The page for the answer of `harn reference`.
pub(super) fn render(answer: &str) -> Result<String, Error> {
    let answer = Answer::parse(answer)?;
    let Some((root, commands)) = answer.commands.split_first() else {
        return Err(malformed(&"it describes no command"));
    };
    let mut sections = vec![intro(root, commands)];
    sections.extend(commands.iter().map(section));
    Ok(sections.join("\n"))
}

fn intro(root: &Command, commands: &[Command]) -> String {
    let row = |one: &Command| {
        let link = format!("[`{}`](#{})", one.name, anchor(&one.name));
        vec![link, cell(&one.about)]
    };
    let rows: Vec<Vec<String>> = commands.iter().map(row).collect();
    format!(
        "<!-- Written by `cargo xtask gen` from the declarations in crates/harn-cli. \
         Edit the declarations, not this page. -->\n\n\
         # Commands\n\n\
         Everything is one program, `harn`. Data goes to standard output and everything else \
         to standard error; what the exit codes mean is in the \
         [error index](errors.md#exit-codes). `harn COMMAND --help` shows what is written \
         here.\n\n{}\n\
         Every command has these options:\n\n{}\n\
         ## Examples\n\n```text\n{}\n```\n",
        table(&["command", "what it does"], &rows),
        arguments(root.options.iter()),
        root.examples.trim_end(),
    )
}

fn section(command: &Command) -> String {
    let mut text = format!("## {}\n\n", command.name);
    text += &format!("```text\n{}\n```\n\n", command.usage);
    let about = match command.long_about.is_empty() {
        true => &command.about,
        false => &command.long_about,
    };
    for paragraph in about.split("\n\n") {
        text += &format!("{}\n\n", ended(&prose(paragraph)));
    }
    let own = command.options.iter().filter(|one| !one.global);
    let own = own.filter(|one| !one.form.contains("--help"));
    let listed: Vec<&Argument> = command.arguments.iter().chain(own).collect();
    if !listed.is_empty() {
        text += &format!("{}\n", arguments(listed.into_iter()));
    }
    if !command.examples.is_empty() {
        text += &format!(
            "Examples:\n\n```text\n{}\n```\n",
            command.examples.trim_end()
        );
    }
    text
}

fn arguments<'a>(arguments: impl Iterator<Item = &'a Argument>) -> String {
    let rows: Vec<Vec<String>> = arguments
        .map(|one| vec![in_cell(&code(&one.form)), in_cell(&meaning(one))])
        .collect();
    table(&["argument", "meaning"], &rows)
}

fn meaning(argument: &Argument) -> String {
    let mut text = ended(&prose(&argument.help));
    if !argument.values.is_empty() {
        let values = argument
            .values
            .iter()
            .map(|(value, help)| match help.as_str() {
                "" => code(value),
                help => format!("{} ({})", code(value), prose(help)),
            });
        text += &format!(" One of {}.", values.collect::<Vec<_>>().join(", "));
    }
    if !argument.default.is_empty() {
        text += &format!(" Without it: {}.", code(&argument.default));
    }
    text
}

/// A sentence with a stop at its end; help pages have none where a line says it all.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', ':', '?', '!', '…']) || text.is_empty() {
        true => text.to_string(),
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"commands": [
      {"name": "harn", "about": "A language", "long_about": "", "usage": "harn <COMMAND>",
       "arguments": [], "options": [
         {"form": "--json", "help": "Answer in JSON", "default": "", "values": [], "global": true}],
       "examples": "  harn run a.harn", "commands": 1},
      {"name": "harn run", "about": "Run a program", "long_about": "Run a program\n\nWith [x] and <y>.",
       "usage": "harn run [OPTIONS] <FILE>",
       "arguments": [{"form": "<FILE>", "help": "The program", "default": "", "values": [], "global": false}],
       "options": [
         {"form": "-p, --progress <HOW>", "help": "How much to tell", "default": "auto",
          "values": [["auto", "on terminals"], ["none", ""]], "global": false},
         {"form": "-h, --help", "help": "Print help", "default": "", "values": [], "global": false},
         {"form": "--json", "help": "Answer in JSON", "default": "", "values": [], "global": true}],
       "examples": "  harn run a.harn   A | B", "commands": 0}
    ]}"#;

    #[track_caller]
    fn check(expected: &str) {
        let page = render(ANSWER).unwrap();
        assert!(page.contains(expected), "no {expected} in\n{page}");
    }

    #[test]
    fn commands_are_listed_with_links() {
        check("| [`harn run`](#harn-run) | Run a program |");
        check("| `--json` | Answer in JSON. |\n");
    }

    #[test]
    fn a_command_is_told_in_full() {
        check("## harn run\n\n```text\nharn run [OPTIONS] <FILE>\n```\n");
        check("Run a program.\n\nWith \\[x\\] and &lt;y&gt;.\n");
        check("| `<FILE>` | The program. |\n");
        check(
            "| `-p, --progress <HOW>` | How much to tell. One of `auto` (on terminals), `none`. \
             Without it: `auto`. |\n",
        );
        check("```text\n  harn run a.harn   A | B\n```\n");
    }

    #[test]
    fn what_every_command_has_is_told_once() {
        let page = render(ANSWER).unwrap();
        assert_eq!(page.matches("`--json`").count(), 1, "{page}");
        assert!(!page.contains("-h, --help"), "{page}");
    }

    #[test]
    fn an_answer_without_commands_is_refused() {
        assert!(render(r#"{"commands": []}"#).is_err());
    }
}
