//! `harn parse`: how a program is read.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use harn_check::modules::SourceFile;
use harn_syntax::lex;

use super::findings::Findings;
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn parse --tree main.harn          The tree of a program
  harn parse --tokens main.harn        What it is made of";

/// Show how a program is read
///
/// Prints the tree of a program: every node is a list in parentheses that begins with its
/// kind. Statements that cannot be read are reported and missing in the tree.
///
/// With --json the answer is {"tree": TEXT, "errors": [MESSAGE, …]}, or with --tokens
/// {"tokens": [{"kind", "text", "line", "column"}, …], "errors": [MESSAGE, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// A program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Show the tree; this is the default
    #[arg(long, conflicts_with = "tokens")]
    tree: bool,

    /// Show the tokens
    #[arg(long)]
    tokens: bool,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let name = arguments.file.display().to_string();
    let text = match fs::read_to_string(&arguments.file) {
        Ok(text) => text,
        Err(error) => {
            output.error(format_args!("{}: {error}", Untrusted(name)));
            return Ok(Outcome::Problems);
        }
    };
    let file = SourceFile::of_text(&text);
    let errors = &file.parsed.errors;
    let messages: Vec<_> = errors.iter().map(|error| &error.message).collect();
    match (arguments.tokens, form) {
        (false, Form::Text) => write!(output, "{}", file.parsed.module)?,
        (false, Form::Json) => output.json(&serde_json::json!({
            "tree": file.parsed.module.to_string(),
            "errors": messages,
        }))?,
        (true, Form::Text) => {
            for token in lex(&text).tokens {
                let place = file.lines.position(&text, token.span.start).to_string();
                let kind = format!("{:?}", token.kind);
                let text = Untrusted(token.span.of(&text));
                let line = format!("{place:<7} {kind:<19} {text}");
                writeln!(output, "{}", line.trim_end())?;
            }
        }
        (true, Form::Json) => {
            let tokens = lex(&text).tokens.into_iter().map(|token| {
                let place = file.lines.position(&text, token.span.start);
                serde_json::json!({
                    "kind": format!("{:?}", token.kind),
                    "text": token.span.of(&text),
                    "line": place.line,
                    "column": place.column,
                })
            });
            let tokens: Vec<_> = tokens.collect();
            output.json(&serde_json::json!({"tokens": tokens, "errors": messages}))?;
        }
    }
    if errors.is_empty() {
        return Ok(Outcome::Done);
    }
    if form == Form::Text {
        let diagnostics = errors
            .iter()
            .map(|error| error.diagnostic.clone())
            .collect();
        Findings { name, diagnostics }.show(&file, output);
    }
    Ok(Outcome::Problems)
}
