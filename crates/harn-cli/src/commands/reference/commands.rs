//! The commands as their declarations have them.

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};
use serde::Serialize;

use crate::arguments::Cli;

/// A command, with or without commands of its own.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    /// The words one types, as in `harn events show`.
    name: String,
    /// What it does, in a line.
    about: String,
    /// The same at length; empty if the line says it all.
    long_about: String,
    usage: String,
    arguments: Vec<Written>,
    options: Vec<Written>,
    /// The examples of its help page, as they stand there.
    examples: String,
    /// How many commands it has itself.
    commands: usize,
}

/// An argument or an option, as it is written.
#[derive(Debug, Serialize)]
struct Written {
    /// How it is written, as in `-n, --last <N>`.
    form: String,
    help: String,
    /// What holds without it; empty if nothing does.
    default: String,
    /// What it can be, each with what that means; empty if it is free.
    values: Vec<(String, String)>,
    /// Whether every command has it.
    global: bool,
}

/// Every command that is listed, parents before their children.
pub(super) fn all() -> Vec<Described> {
    let mut root = Cli::command();
    root.build();
    let mut described = Vec::new();
    describe(&root, &mut described);
    described
}

fn describe(command: &Command, described: &mut Vec<Described>) {
    let children: Vec<&Command> = command.get_subcommands().filter(is_listed).collect();
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .partition(|argument| argument.is_positional());
    described.push(Described {
        name: command
            .get_bin_name()
            .unwrap_or(command.get_name())
            .to_owned(),
        about: text(command.get_about()),
        long_about: text(command.get_long_about()),
        usage: usage(command),
        arguments: positionals.into_iter().map(option).collect(),
        options: options.into_iter().map(option).collect(),
        examples: examples(command),
        commands: children.len(),
    });
    for child in children {
        describe(child, described);
    }
}

/// `help` is the parser's own, and what is hidden is for us.
fn is_listed(command: &&Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage);
    usage.trim().to_owned()
}

/// What follows `EXAMPLES` at the end of a help page.
fn examples(command: &Command) -> String {
    let after = text(command.get_after_help());
    let examples = after.split_once("EXAMPLES\n");
    examples.map_or(String::new(), |(_, examples)| examples.to_owned())
}

fn option(argument: &Arg) -> Written {
    let long = text(argument.get_long_help());
    let values = argument.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let takes_value = argument.get_action().takes_values();
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<String> = defaults
        .filter(|_| takes_value)
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    Written {
        form: form(argument),
        help: match long.is_empty() {
            true => text(argument.get_help()),
            false => long,
        },
        default: defaults.join(", "),
        values: values
            .filter(|_| takes_value)
            .map(|value| (value.get_name().to_owned(), text(value.get_help())))
            .collect(),
        global: argument.is_global_set(),
    }
}

/// How an argument is written: as in the usage, with the short form before the long one.
fn form(argument: &Arg) -> String {
    if argument.is_positional() {
        return argument.to_string();
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    // What is written after the name that clap shows: a value, in brackets if it may be absent.
    let shown = argument.to_string();
    let value = shown.find(['<', '[', '=']).map_or("", |at| &shown[at..]);
    let gap = match value {
        "" => "",
        _ if value.starts_with(['=', '[']) => "",
        _ => " ",
    };
    format!("{}{gap}{value}", names.join(", "))
}

fn text(styled: Option<&StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(described: &'a [Described], name: &str) -> &'a Described {
        let found = described.iter().find(|one| one.name == name);
        found.unwrap_or_else(|| panic!("there is no {name}"))
    }

    #[test]
    fn every_listed_command_is_described() {
        let all = all();
        assert_eq!(all[0].name, "harn");
        for name in ["harn run", "harn events show", "harn hitl answer"] {
            let one = find(&all, name);
            assert!(one.usage.starts_with(name), "{}", one.usage);
            assert!(one.examples.starts_with("  harn "), "{}", one.examples);
            assert!(
                !one.about.is_empty() && !one.long_about.is_empty(),
                "{name}"
            );
        }
        let hidden = |one: &&Described| one.name.contains("reference") || one.name.contains("help");
        assert_eq!(all.iter().filter(hidden).count(), 0);
    }

    #[test]
    fn options_are_written_as_one_types_them() {
        let all = all();
        let run = find(&all, "harn run");
        let forms: Vec<&str> = run.options.iter().map(|one| one.form.as_str()).collect();
        for form in ["-e, --execute <CODE>", "--timeout <TIME>", "--json"] {
            assert!(forms.contains(&form), "{form} is not in {forms:?}");
        }
        assert_eq!(run.arguments[0].form, "[FILE]");
        let color = run.options.iter().find(|one| one.form.contains("--color"));
        let color = color.unwrap();
        assert_eq!((color.default.as_str(), color.global), ("auto", true));
        assert_eq!(color.values.len(), 3);
    }
}
