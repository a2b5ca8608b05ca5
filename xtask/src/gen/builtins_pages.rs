//! The reference of builtins, methods and modules: what `harn doc` knows, as pages.
//!
//! ```text
//! reference/builtins.md            the index: areas, and every name with a link
//! reference/builtins/AREA.md       one area of builtins
//! reference/builtins/methods.md    what can be called on values
//! reference/modules.md             the standard modules
//! ```

use harn_syntax::FormatOptions;
use serde::Deserialize;

use super::Page;
use super::markdown::{cell, code, prose, table};
use crate::error::Error;
use crate::markdown::anchor;

const NOTE: &str = "<!-- Written by `cargo xtask gen` from what `harn doc --json` says. \
                    Edit the declarations, not this page. -->\n\n";

/// The answer of `harn doc --json`.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) areas: Vec<Area>,
}

/// What belongs together.
#[derive(Deserialize)]
pub(super) struct Area {
    pub(super) area: String,
    title: String,
    pub(super) entries: Vec<Entry>,
}

/// Something that can be looked up.
#[derive(Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    kind: String,
    signature: String,
    doc: String,
    effect: Option<String>,
    /// Whether a call does something in this version.
    pub(super) available: bool,
}

/// Where the entries of an area are told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Builtins,
    Methods,
    Module,
}

impl Answer {
    /// Reads an answer.
    pub(super) fn parse(answer: &str) -> Result<Self, Error> {
        serde_json::from_str(answer)
            .map_err(|why| Error::malformed("the answer of `harn doc --json`", why))
    }
}

impl Area {
    pub(super) fn place(&self) -> Place {
        if self.area.starts_with("std/") {
            Place::Module
        } else if self.area.ends_with(" methods") {
            Place::Methods
        } else {
            Place::Builtins
        }
    }

    /// The name of a page or a heading.
    fn heading(&self) -> String {
        match self.place() {
            Place::Builtins | Place::Module => self.area.clone(),
            Place::Methods => self.area.trim_end_matches(" methods").to_string(),
        }
    }
}

/// All pages for the answer of `harn doc --json`.
pub(super) fn render(answer: &str) -> Result<Vec<Page>, Error> {
    let answer = Answer::parse(answer)?;
    let mut pages = vec![Page::new(
        "docs/src/reference/builtins.md",
        index(&answer.areas),
    )];
    let (mut methods, mut modules) = (Vec::new(), Vec::new());
    for area in &answer.areas {
        match area.place() {
            Place::Builtins => pages.push(Page::new(&file(area), area_page(area))),
            Place::Methods => methods.push(area),
            Place::Module => modules.push(area),
        }
    }
    pages.push(Page::new(
        "docs/src/reference/builtins/methods.md",
        methods_page(&methods),
    ));
    pages.push(Page::new(
        "docs/src/reference/modules.md",
        modules_page(&modules),
    ));
    Ok(pages)
}

fn file(area: &Area) -> String {
    format!("docs/src/reference/builtins/{}.md", area.area)
}

fn index(areas: &[Area]) -> String {
    let builtins: Vec<&Area> = areas
        .iter()
        .filter(|area| matches!(area.place(), Place::Builtins))
        .collect();
    let count: usize = builtins.iter().map(|area| area.entries.len()).sum();
    let rows: Vec<Vec<String>> = builtins
        .iter()
        .map(|area| {
            vec![
                format!("[{0}](builtins/{0}.md)", area.area),
                prose(&area.title),
                area.entries.len().to_string(),
            ]
        })
        .collect();
    let mut page = format!(
        "{NOTE}# Builtins\n\n\
         {count} functions and values need no import. Each area has its page; methods of \
         values are [on a page of their own](builtins/methods.md), and so are the \
         [standard modules](modules.md). `harn doc NAME` tells the same in a terminal.\n\n{}\n\
         A signature is a declaration in Harn: what has a default may be left out. The \
         *effect* tells what a builtin needs besides its arguments: `pure` needs nothing, \
         `clock` the time, `random` chance, `io` files, processes, the network, the terminal \
         or people, and `model` a model. What is specified and not built is declared, so that \
         programs that use it can be checked, and fails when it is called; \
         [one page](../status.md) lists it.\n\n\
         ## All names\n\n",
        table(&["area", "what it is about", "names"], &rows)
    );
    for area in builtins {
        page += &format!("**[{0}](builtins/{0}.md)**: ", area.area);
        let names = area.entries.iter().map(|entry| {
            let anchor = anchor(&entry.name);
            format!("[`{}`](builtins/{}.md#{anchor})", entry.name, area.area)
        });
        page += &format!("{}\n\n", names.collect::<Vec<_>>().join(", "));
    }
    page.trim_end().to_string() + "\n"
}

fn area_page(area: &Area) -> String {
    let entries = area.entries.iter().map(|one| entry(one, "##"));
    format!(
        "{NOTE}# {}\n\n{}.\n\n{}",
        area.area,
        prose(&area.title),
        entries.collect::<Vec<_>>().join("\n")
    )
}

fn methods_page(areas: &[&Area]) -> String {
    let mut page = format!(
        "{NOTE}# Methods\n\n\
         What can be called on values, by their kind. An alias is listed under its own name.\n"
    );
    for area in areas {
        page += &format!("\n## {}\n\n", area.heading());
        let rows: Vec<Vec<String>> = area
            .entries
            .iter()
            .map(|one| {
                let signature = one.signature.split_once('.');
                let signature = signature.map_or(one.signature.as_str(), |(_, rest)| rest);
                vec![in_table(signature), doing(one)]
            })
            .collect();
        page += &table(&["method", "what it does"], &rows);
    }
    page
}

fn modules_page(areas: &[&Area]) -> String {
    let mut page = format!(
        "{NOTE}# Standard modules\n\n\
         What `import \"std/NAME\"` brings. [Modules](../library/modules.md) shows some of \
         them at work.\n"
    );
    let links = areas.iter().map(|area| {
        let heading = area.heading();
        format!("[`{heading}`](#{})", anchor(&heading))
    });
    page += &format!("\n{}\n", links.collect::<Vec<_>>().join(", "));
    for area in areas {
        page += &format!("\n## {}\n\n", area.heading());
        page += &module(area);
    }
    page
}

/// Functions in a table, because each is a line; types below it, because they are long.
fn module(area: &Area) -> String {
    let mut parts = Vec::new();
    if !area.title.is_empty() {
        parts.push(format!("{}.\n", prose(&area.title)));
    }
    let (types, functions): (Vec<&Entry>, Vec<&Entry>) =
        area.entries.iter().partition(|one| one.kind == "type");
    if !functions.is_empty() {
        let rows: Vec<Vec<String>> = functions
            .iter()
            .map(|one| vec![in_table(&one.signature), doing(one)])
            .collect();
        parts.push(table(&["function", "what it does"], &rows));
    }
    if !types.is_empty() {
        let types = types.iter().map(|one| format!("{}\n", one.signature));
        parts.push(format!(
            "```harn\n{}```\n",
            formatted(&types.collect::<String>())
        ));
    }
    if area.entries.is_empty() {
        parts.push("It passes on what other modules have.\n".to_string());
    }
    parts.join("\n")
}

/// Declarations in canonical form; what does not parse is shown as it is, and the check of
/// blocks says what is wrong with it.
fn formatted(text: &str) -> String {
    harn_syntax::format(text, &FormatOptions::default()).unwrap_or_else(|_| text.to_string())
}

fn entry(entry: &Entry, heading: &str) -> String {
    let effect = entry.effect.as_deref().unwrap_or("pure");
    format!(
        "{heading} `{}`\n\n```text\n{}\n```\n\n{} *Effect: {effect}.*{}\n",
        entry.name,
        entry.signature,
        prose(&entry.doc),
        unavailable(entry)
    )
}

/// What is declared, so that programs can be checked, and fails when it is called.
fn unavailable(entry: &Entry) -> &'static str {
    match entry.available {
        true => "",
        false => " **Specified, and not built in this version.**",
    }
}

/// What an entry does, in a cell.
fn doing(entry: &Entry) -> String {
    format!("{}{}", cell(&entry.doc), unavailable(entry))
        .trim_start()
        .to_string()
}

fn in_table(signature: &str) -> String {
    super::markdown::in_cell(&code(signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"areas": [
      {"area": "files", "title": "Files and paths", "entries": [
        {"name": "stat", "kind": "builtin", "signature": "stat(path: string) -> dict",
         "doc": "Tells about a file.", "area": "files", "import": null, "effect": "io", "known": true, "available": true},
        {"name": "stream.map", "kind": "builtin", "signature": "stream.map(s: stream, f: closure) -> stream",
         "doc": "Maps <each>.", "area": "files", "import": null, "effect": "pure", "known": true, "available": true}
      ]},
      {"area": "list methods", "title": "", "entries": [
        {"name": "list.first", "kind": "method", "signature": "list.first(n: int | nil = nil) -> any",
         "doc": "Gives the first.", "area": "list methods", "import": null, "effect": null, "known": true, "available": true}
      ]},
      {"area": "std/text", "title": "Texts", "entries": [
        {"name": "words", "kind": "function", "signature": "words(text: string)", "doc": "Its words.",
         "area": "std/text", "import": "import", "effect": null, "known": true, "available": false},
        {"name": "Word", "kind": "type", "signature": "type Word = {text: string, }", "doc": "",
         "area": "std/text", "import": "import", "effect": null, "known": true, "available": true}
      ]},
      {"area": "std/all", "title": "", "entries": []}
    ]}"#;

    #[track_caller]
    fn check(file: &str, expected: &[&str]) {
        let pages = render(ANSWER).unwrap();
        let page = pages.iter().find(|page| page.file.ends_with(file));
        let page = page.unwrap_or_else(|| panic!("there is no {file}"));
        for text in expected {
            assert!(page.text.contains(text), "no {text} in\n{}", page.text);
        }
    }

    #[test]
    fn the_index_links_to_every_name() {
        check(
            "reference/builtins.md",
            &[
                "2 functions and values",
                "| [files](builtins/files.md) | Files and paths | 2 |",
                "[`stat`](builtins/files.md#stat)",
                "[`stream.map`](builtins/files.md#streammap)",
            ],
        );
    }

    #[test]
    fn a_builtin_is_told_with_its_signature_and_its_effect() {
        check(
            "builtins/files.md",
            &[
                "# files\n\nFiles and paths.\n",
                "## `stat`\n\n```text\nstat(path: string) -> dict\n```\n\nTells about a file. \
                 *Effect: io.*\n",
                "Maps &lt;each&gt;.",
            ],
        );
    }

    #[test]
    fn methods_and_modules_are_told_by_what_has_them() {
        check(
            "builtins/methods.md",
            &[
                "## list\n",
                "| `first(n: int \\| nil = nil) -> any` | Gives the first. |",
            ],
        );
        check(
            "reference/modules.md",
            &[
                "[`std/text`](#stdtext)",
                "## std/text\n\nTexts.\n",
                "| `words(text: string)` | Its words. **Specified, and not built in this version.** |",
                "```harn\ntype Word = {text: string}\n```\n",
                "## std/all\n\nIt passes on what other modules have.\n",
            ],
        );
    }

    #[test]
    fn an_answer_that_is_none_is_refused() {
        assert!(render("{}").is_err());
    }
}
