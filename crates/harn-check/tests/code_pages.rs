//! Every code has a page, and what the page shows is true: its wrong example is told exactly
//! what the page says, its right example nothing at all, not even by the lint.
//!
//! A page that needs other files shows them in blocks that begin with `// NAME.harn`; they
//! stand beside the example, in `/project`. A page that names `--strict-types` is about that
//! mode.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use harn_check::modules::{Disk, MemoryFiles, Workspace};
use harn_check::{CheckOptions, LintOptions, analyse, code_groups, explain, lint, pages};
use harn_syntax::Diagnostic;

const INDEX: &str = include_str!("../../../docs/src/explain/index.md");
const SUMMARY: &str = include_str!("../../../docs/src/SUMMARY.md");

/// What the compiler refuses although the checker has only warned of it, and with what code.
const WARNED_BEFORE: (&str, &str) = ("attribute-needs-function", "attribute-use");

/// Every code that is not only a lint rule, once.
fn codes() -> BTreeSet<&'static str> {
    let groups = code_groups();
    let groups = groups.iter().filter(|group| group.title != "Lint rules");
    let codes = groups.flat_map(|group| group.codes.iter().map(|(code, _)| code.0));
    codes.collect()
}

fn page(code: &str) -> &'static str {
    explain(code).unwrap_or_else(|| panic!("{code} has no page"))
}

/// The blocks of a text as what they are and what they say.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let fenced = text.split("```").skip(1).step_by(2);
    let parts = fenced.map(|block| block.split_once('\n').expect("a block has an info string"));
    parts.collect()
}

/// The part of a page below a heading, or above the first one.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let mut sections = page.split("\n### ");
    let found = match heading {
        "" => sections.next(),
        _ => sections.find_map(|section| section.strip_prefix(heading)),
    };
    found.unwrap_or_else(|| panic!("there is no `### {heading}` in\n{page}"))
}

/// The blocks of text in a section.
fn texts<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let blocks = blocks(section(page, heading)).into_iter();
    let texts = blocks.filter(|(info, _)| *info == "text");
    texts.map(|(_, text)| text).collect()
}

/// An example and the files beside it.
struct Example {
    workspace: Workspace,
    options: CheckOptions,
}

const MAIN: &str = "/project/main.harn";

impl Example {
    fn read(page: &str, heading: &str) -> Self {
        let files = MemoryFiles::new();
        let blocks = blocks(section(page, heading)).into_iter();
        for (_, text) in blocks.filter(|(info, _)| *info == "harn") {
            let first = text.lines().next().unwrap_or("");
            let name = first.strip_prefix("// ").filter(|it| it.ends_with(".harn"));
            files.write(format!("/project/{}", name.unwrap_or("main.harn")), text);
        }
        let strict_types = page.contains("--strict-types");
        Self {
            workspace: Workspace::new(Box::new(files)),
            options: CheckOptions {
                strict_types,
                before_a_run: true,
            },
        }
    }

    /// What is said about it before it runs.
    fn diagnostics(&mut self) -> Vec<Diagnostic> {
        diagnostics(&mut self.workspace, Path::new(MAIN), self.options)
    }

    /// What the lint says about it.
    fn findings(&mut self) -> Vec<Diagnostic> {
        let file = self.workspace.parsed(MAIN).expect("it has an example");
        let imported = self.workspace.imported(MAIN);
        let options = LintOptions::default();
        lint(&file.text, &file.parsed.module, &imported, &options)
    }
}

/// What is said about a file before it runs.
fn diagnostics(workspace: &mut Workspace, path: &Path, options: CheckOptions) -> Vec<Diagnostic> {
    let file = workspace.parsed(path).expect("the file can be read");
    let imported = workspace.imported(path);
    let mut diagnostics = workspace.import_diagnostics(path);
    diagnostics.extend(analyse(&file, &imported, options).diagnostics);
    diagnostics
}

/// Diagnostics as pages show them.
fn shown(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for one in diagnostics {
        text += &format!("{}: {}\n", one.severity.text(), one.message);
        if let Some(help) = &one.help {
            text += &format!("help: {help}\n");
        }
    }
    text
}

/// Whether a message is of a form in which words in capitals stand for anything.
fn has_form(message: &str, form: &str) -> bool {
    let fixed = fixed_parts(form);
    let (Some(first), Some(last)) = (fixed.first(), fixed.last()) else {
        return false;
    };
    if fixed.len() == 1 {
        return message == first;
    }
    let inner = message.strip_prefix(&**first);
    let Some(mut inner) = inner.and_then(|rest| rest.strip_suffix(&**last)) else {
        return false;
    };
    for part in &fixed[1..fixed.len() - 1] {
        let Some(at) = inner.find(&**part) else {
            return false;
        };
        inner = &inner[at + part.len()..];
    }
    true
}

/// What stands between the words in capitals. A single capital is a name such as `T`.
fn fixed_parts(form: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in form.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let end = word.find(|letter: char| !letter.is_alphanumeric());
        let (word, sign) = word.split_at(end.unwrap_or(word.len()));
        let varies = word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase());
        match parts.last_mut() {
            Some(_) if varies => parts.push(sign.to_owned()),
            Some(part) => *part += &format!("{word}{sign}"),
            None => {}
        }
    }
    parts
}

#[test]
fn words_in_capitals_stand_for_anything() {
    for (message, form, expected) in [
        ("can't add int and nil", "can't add TYPE and TYPE", true),
        ("can't add int and nil!", "can't add TYPE and TYPE!", true),
        ("can't add int or nil", "can't add TYPE and TYPE", false),
        (
            "`f` is old (since 2.0)",
            "`NAME` is old (since VERSION)",
            true,
        ),
        ("`f` is old (since 2.0)", "`NAME` is old", false),
        ("'T' (as Stream<T>)", "'NAME' (as Stream<T>)", true),
        ("so: unexpected", "unexpected", false),
    ] {
        assert_eq!(has_form(message, form), expected, "{message} / {form}");
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let groups = code_groups();
    let codes = groups.iter().flat_map(|group| &group.codes);
    let codes: BTreeSet<&str> = codes.map(|(code, _)| code.0).collect();
    let pages: BTreeSet<&str> = pages().iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, pages);
}

#[test]
fn no_group_has_a_code_twice() {
    for group in code_groups() {
        let once: BTreeSet<&str> = group.codes.iter().map(|(code, _)| code.0).collect();
        assert_eq!(once.len(), group.codes.len(), "{}", group.title);
    }
}

/// Looks at every page and tells everything that is wrong with them at once.
#[track_caller]
fn check(look: impl Fn(&'static str, &'static str) -> Result<(), String>) {
    let looks = codes()
        .into_iter()
        .map(|code| (code, look(code, page(code))));
    let wrong: Vec<String> = looks
        .filter_map(|(code, result)| result.err().map(|why| format!("{code}: {why}")))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[test]
fn wrong_examples_are_told_what_their_page_says() {
    check(|_, page| {
        let said = shown(&Example::read(page, "Wrong").diagnostics());
        let shown = texts(page, "Wrong");
        expect(shown == [&*said], || format!("{shown:#?} is really {said}"))
    });
}

#[test]
fn wrong_examples_are_told_in_a_form_their_page_lists() {
    check(|_, page| {
        let said = Example::read(page, "Wrong").diagnostics();
        expect(said.iter().all(is_listed), || shown(&said))
    });
}

#[test]
fn wrong_examples_are_wrong_in_no_other_way() {
    check(|code, page| {
        let said = Example::read(page, "Wrong").diagnostics();
        let mut told = said.iter().map(|one| one.code.0).peekable();
        if code == WARNED_BEFORE.0 {
            told.next_if_eq(&WARNED_BEFORE.1);
        }
        let told: Vec<&str> = told.collect();
        let only_this = !told.is_empty() && told.iter().all(|it| *it == code);
        expect(only_this, || format!("{told:?}"))
    });
}

/// Whether the page of a diagnostic lists the form of its message, before the first example.
fn is_listed(one: &Diagnostic) -> bool {
    let forms = texts(page(one.code.0), "");
    let mut forms = forms.iter().flat_map(|text| text.lines());
    forms.any(|form| has_form(&one.message, form))
}

const BEFORE_A_RUN: CheckOptions = CheckOptions {
    strict_types: false,
    before_a_run: true,
};

/// The conformance programs break every rule in many ways.
#[test]
fn whatever_is_said_has_a_form_its_page_lists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut workspace = Workspace::new(Box::new(Disk));
    let mut unlisted = BTreeSet::new();
    for path in programs(&folder) {
        for one in diagnostics(&mut workspace, &path, BEFORE_A_RUN) {
            if !is_listed(&one) {
                unlisted.insert(format!("{}: {}", one.code.0, one.message));
            }
        }
    }
    assert_eq!(unlisted, BTreeSet::new());
}

/// Every program below a folder.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => programs(&path),
            Some(extension) if extension == "harn" => vec![path],
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn right_examples_are_fine() {
    check(|_, page| {
        let mut example = Example::read(page, "Right");
        let said = shown(&example.diagnostics()) + &shown(&example.findings());
        expect(said.is_empty(), || said)
    });
}

/// The list of `harn explain` shows the first sentence.
#[test]
fn pages_begin_with_a_sentence_on_one_line() {
    check(|_, page| {
        let first = page.lines().nth(2).unwrap_or("");
        let is_sentence = first.contains(". ") || first.ends_with('.');
        expect(is_sentence, || first.to_owned())
    });
}

#[test]
fn the_index_lists_every_code_in_its_group() {
    for group in code_groups() {
        let below = INDEX.split(&format!("\n## {}\n", group.title)).nth(1);
        let below = below.unwrap_or_else(|| panic!("there is no `## {}`", group.title));
        let below = below.split("\n## ").next().unwrap_or("");
        let listed: Vec<&str> = below
            .lines()
            .filter(|line| line.starts_with("- "))
            .collect();
        let line = |(code, summary): &(harn_syntax::Code, &str)| {
            format!("- [`{0}`]({0}.md): {summary}", code.0)
        };
        let expected: Vec<String> = group.codes.iter().map(line).collect();
        assert_eq!(listed, expected, "{}", group.title);
    }
}

#[test]
fn the_book_has_every_page_in_order() {
    let chapters = SUMMARY.lines().filter(|line| line.starts_with("  - "));
    let chapters: Vec<&str> = chapters.filter(|line| line.contains("(explain/")).collect();
    let chapter = |(code, _): &(&str, &str)| format!("  - [{code}](explain/{code}.md)");
    let expected: Vec<String> = pages().iter().map(chapter).collect();
    assert_eq!(chapters, expected);
}
