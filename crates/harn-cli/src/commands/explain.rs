//! `harn explain`: what a code means.

use std::io::{self, Write};

use clap::Args;
use harn_check::{explain, pages};

use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};
use crate::suggestion;

const EXAMPLES: &str = "  \
  harn explain shadow-variable         What a code means, with a wrong and a right example
  harn explain                         All codes";

/// Explain what `harn check` and `harn lint` say
///
/// Every diagnostic has a code, which `--json` shows; for a lint rule it is the name of the
/// rule. Prints the page about a code, or a list of all codes.
///
/// With --json the answer is {"code", "page"}, or {"codes": [{"code", "summary"}, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// A code
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let Some(code) = &arguments.code else {
        return list(form, output);
    };
    let Some(page) = explain(code) else {
        let codes = pages().iter().map(|(code, _)| *code);
        output.error(format_args!("there is no code `{}`", Untrusted(code)));
        match suggestion::closest(code, codes) {
            Some(other) => output.note(format_args!("did you mean `{other}`?")),
            None => output.note(format_args!("`harn explain` lists all codes")),
        }
        return Ok(Outcome::Problems);
    };
    match form {
        Form::Text => write!(output, "{page}")?,
        Form::Json => output.json(&serde_json::json!({"code": code, "page": page}))?,
    }
    Ok(Outcome::Done)
}

fn list(form: Form, output: &mut Output) -> io::Result<Outcome> {
    let codes = pages().iter().map(|(code, page)| (*code, summary(page)));
    match form {
        Form::Json => {
            let codes =
                codes.map(|(code, summary)| serde_json::json!({"code": code, "summary": summary}));
            output.json(&serde_json::json!({"codes": codes.collect::<Vec<_>>()}))?;
        }
        Form::Text => {
            let palette = output.palette();
            for (code, summary) in codes {
                let code = format!("{code:<30}");
                writeln!(output, "{} {summary}", palette.name(code))?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// The first sentence of a page.
fn summary(page: &str) -> String {
    let lines = page
        .lines()
        .skip_while(|line| line.is_empty() || line.starts_with('#'));
    let paragraph: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_the_first_sentence() {
        assert_eq!(summary("# code\n\nOne\ntwo. Three.\n\nFour.\n"), "One two.");
        assert_eq!(summary("# code\n\nOnly one.\n"), "Only one.");
        assert_eq!(summary(""), "");
    }
}
