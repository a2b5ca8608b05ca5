//! What can be typed.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::commands::Command;

/// Told by every help page, because scripts depend on them.
pub(crate) const EXIT_CODES: [(u8, &str); 3] = [
    (0, "done"),
    (1, "the command found problems, or failed"),
    (2, "wrong usage"),
];

const EXAMPLES: &str = "  \
  harn new script hello                A new project
  harn run main.harn                   A program, run
  harn chat                            An agent to talk with
  harn test                            The tests below here
  harn check main.harn                 Whether a program can run
  harn fmt .                           All programs below here in canonical form
  harn explain shadow-variable         What a message means
  harn doc split                       What a builtin does
  harn repl                            A prompt to try things
  harn models list                     Which models can be asked
  harn doctor                          What keeps programs from working
  harn sessions list                   What agents have done here
  harn hitl list                       What programs ask people
  harn events types                    What can happen in an agent session
  harn events check logs/              Whether the logs in a folder are whole
  harn events topics                   What is in the event log
  harn events show --session s1        What happened in a session
  harn events tail -f --json           What happens now, for a program to read";

/// What a help page ends with.
pub(crate) fn after_help(examples: &str) -> String {
    format!("EXIT CODES\n{}\nEXAMPLES\n{examples}", exit_codes())
}

fn exit_codes() -> String {
    let lines = EXIT_CODES.iter();
    lines
        .map(|(code, meaning)| format!("  {code}  {meaning}\n"))
        .collect()
}

/// A small language and runtime for agent harnesses.
///
/// Data goes to standard output and everything else to standard error.
#[derive(Debug, Parser)]
#[command(name = "harn", version, after_help = after_help(EXAMPLES))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Answer in JSON on standard output; `run`, `chat`, `repl` and `serve` have no answer of their own
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colours; `auto` is on terminals, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The arguments, or what to show instead: help, the version, a usage mistake.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches_from(words)?;
    Cli::from_arg_matches(&matches)
}

/// The value of `--color`, found without parsing the rest. A value that is no
/// good counts as `auto`; the parser will say what is wrong with it.
pub(crate) fn color_of(words: &[OsString]) -> Color {
    let mut texts = words.iter().skip(1).map(|word| word.to_str().unwrap_or(""));
    let mut color = Color::default();
    while let Some(text) = texts.next() {
        let value = match text {
            "--" => break,
            "--color" => texts.next(),
            _ => text.strip_prefix("--color="),
        };
        if let Some(value) = value {
            color = Color::from_str(value, false).unwrap_or_default();
        }
    }
    color
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_page_ends_with_examples() {
        let mut pages = vec![Cli::command()];
        let mut seen = 0;
        while let Some(mut page) = pages.pop() {
            let help = page.render_long_help().to_string();
            let (_, last) = help.rsplit_once("\n\n").unwrap();
            assert!(last.starts_with("EXAMPLES\n  harn "), "{help}");
            assert!(help.contains(&exit_codes()), "{help}");
            // `help` is the parser's own.
            let ours = page
                .get_subcommands()
                .filter(|one| one.get_name() != "help");
            pages.extend(ours.cloned());
            seen += 1;
        }
        // `harn`; commands without commands, `reference` among them; `test`, `doctor`, `events`,
        // `models`, `sessions`, `hitl`, `serve` and `mcp` with one, one, nine, three, four, two,
        // one and four of their own.
        assert_eq!(
            seen,
            1 + 15 + 2 + 2 + 10 + 4 + 5 + 3 + 2 + 5,
            "a page is missing here, or there is a new one"
        );
    }

    #[track_caller]
    fn check_color(words: &[&str], expected: Color) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        assert_eq!(color_of(&words), expected, "{words:?}");
    }

    #[test]
    fn the_colour_is_known_before_anything_is_parsed() {
        check_color(&["harn", "--color", "never", "--help"], Color::Never);
        check_color(&["harn", "events", "--color=always"], Color::Always);
        check_color(&["harn", "events", "--", "--color=always"], Color::Auto);
        check_color(&["harn", "--color", "pink"], Color::Auto);
        check_color(&["harn", "--color"], Color::Auto);
        check_color(&["--color=never"], Color::Auto);
    }
}
