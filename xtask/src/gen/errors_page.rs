//! The index of everything that can go wrong and has a name or a number.

mod wire;

use serde::Deserialize;

use super::markdown::{cell, code, table};
use crate::error::Error;
use crate::sources::SourceFile;

/// A part of the answer of `harn reference`.
#[derive(Deserialize)]
struct Answer {
    exit_codes: Vec<ExitCode>,
    diagnostics: Vec<Group>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct ExitCode {
    code: u8,
    meaning: String,
}

/// Codes of one phase.
#[derive(Deserialize)]
struct Group {
    title: String,
    codes: Vec<Code>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
    summary: String,
}

#[derive(Deserialize)]
struct Category {
    category: String,
    meaning: String,
}

/// The page for the answer of `harn reference`; the sources tell which codes go over the wire.
pub(super) fn render(answer: &str, sources: &[SourceFile]) -> Result<String, Error> {
    let answer: Answer = serde_json::from_str(answer)
        .map_err(|why| Error::malformed("the answer of `harn reference`", why))?;
    wire::check(sources)?;
    Ok([
        "<!-- Written by `cargo xtask gen` from what `harn reference` says. Edit the \
         declarations, not this page. -->\n\n\
         # Error index\n\n\
         Everything that can go wrong has a name or a number that stays the same: programs \
         and scripts may depend on it, and on nothing else of a message.\n"
            .to_string(),
        exit_codes(&answer.exit_codes),
        diagnostics(&answer.diagnostics),
        categories(&answer.categories),
        wire::section(),
    ]
    .join("\n"))
}

fn exit_codes(codes: &[ExitCode]) -> String {
    let mut rows: Vec<Vec<String>> = codes
        .iter()
        .map(|one| vec![one.code.to_string(), cell(&one.meaning)])
        .collect();
    rows.push(vec![
        "others".to_string(),
        "[`harn run`](cli.md#harn-run) gives what the program gives to `exit()` or returns \
         from its pipeline, 124 if its time was over, and 130 if Ctrl-C ended it"
            .to_string(),
    ]);
    format!(
        "## Exit codes\n\nEvery command ends with one of these:\n\n{}",
        table(&["code", "meaning"], &rows)
    )
}

fn diagnostics(groups: &[Group]) -> String {
    let mut text = String::from(
        "## Diagnostics\n\n\
         What [`harn check`](cli.md#harn-check) and [`harn lint`](cli.md#harn-lint) say about \
         a program before it runs. Each code has a page with a wrong and a right example, \
         which `harn explain CODE` prints; [Diagnostics](../explain/index.md) tells how to \
         read them.\n",
    );
    for group in groups {
        let row = |one: &Code| {
            let link = format!("[`{0}`](../explain/{0}.md)", one.code);
            vec![link, cell(&one.summary)]
        };
        let rows: Vec<Vec<String>> = group.codes.iter().map(row).collect();
        text += &format!(
            "\n### {}\n\n{}",
            group.title,
            table(&["code", "what is wrong"], &rows)
        );
    }
    text
}

fn categories(categories: &[Category]) -> String {
    let row = |one: &Category| vec![code(&one.category), cell(&one.meaning)];
    let rows: Vec<Vec<String>> = categories.iter().map(row).collect();
    format!(
        "## Categories of errors\n\n\
         An error that a program catches belongs to a category, which \
         [`error_category`](builtins/values.md#error_category) tells; `throw_error` throws one \
         of a category. Errors of models also carry it as `category`, with `kind` (whether \
         trying again may help) and `reason` beside it.\n\n{}",
        table(&["category", "meaning"], &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"exit_codes": [{"code": 0, "meaning": "done"}],
      "diagnostics": [{"title": "Types", "codes": [{"code": "binding-type", "summary": "a | b"}]}],
      "categories": [{"category": "timeout", "meaning": "Time was over."}]}"#;

    #[test]
    fn everything_with_a_name_is_on_the_page() {
        let page = render(ANSWER, &[]).unwrap();
        for expected in [
            "| 0 | done |\n",
            "### Types\n",
            "| [`binding-type`](../explain/binding-type.md) | a \\| b |\n",
            "| `timeout` | Time was over. |\n",
            "| -32601 |",
        ] {
            assert!(page.contains(expected), "no {expected} in\n{page}");
        }
    }

    #[test]
    fn a_code_on_the_wire_that_nobody_explains_is_refused() {
        let source = "fn refuse() -> i64 {\n    -32099\n}\n";
        let source = SourceFile::new("crates/harn-acp/src/error.rs", source);
        let why = render(ANSWER, &[source]).unwrap_err().to_string();
        assert!(why.contains("-32099"), "{why}");
    }
}
