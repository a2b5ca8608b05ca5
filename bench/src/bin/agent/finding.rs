//! Finds skills among a thousand, and tools among five thousand.
//!
//! On paper: a thousand skills have 150 kB of text, which an automaton of the prompt's words
//! goes through at some hundred megabytes a second, so a match should take half a millisecond
//! or so. A search for three words goes through three lists of at most five thousand places and
//! sorts what it found: a tenth of a millisecond.

use std::hint::black_box;

use harn_agent::Functions;
use harn_agent::skills::{Matcher, SkillRegistry, Strategy};
use harn_bench::{Effort, Table, time};
use harn_llm::options::tools;
use harn_llm::tool_search::{self, Corpus};
use serde_json::{Value, json};

const SKILLS: usize = 1000;
const TOOLS: usize = 5000;

/// How long each may take.
const MATCH_MS_MAX: f64 = 2.0;
const SEARCH_MS_MAX: f64 = 5.0;

const PROMPT: &str = "Please look at the migration of the orders table that failed last night, find \
                      out why it was slow, and write a test so that it does not happen again. The \
                      report should name the columns and the queries that took longest.";

/// Words that descriptions are made of.
const WORDS: [&str; 32] = [
    "write",
    "review",
    "table",
    "column",
    "query",
    "slow",
    "test",
    "release",
    "notes",
    "deploy",
    "server",
    "backup",
    "restore",
    "image",
    "colour",
    "letter",
    "report",
    "invoice",
    "customer",
    "browser",
    "latency",
    "pipeline",
    "cache",
    "schema",
    "index",
    "migration",
    "parser",
    "module",
    "screen",
    "layout",
    "translate",
    "summary",
];

/// So many words, others for each number.
fn text(number: usize, count: usize) -> String {
    let words = (0..count).map(|at| WORDS[(number * 7 + at * 11 + number * at) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let rounds = effort.operations(100);
    for strategy in [Strategy::Metadata, Strategy::Bm25] {
        skills(strategy, rounds, table);
    }
    search(rounds, table)
}

fn skills(strategy: Strategy, rounds: usize, table: &mut Table) {
    let skills: Vec<Value> = (0..SKILLS)
        .map(|number| {
            json!({
                "name": format!("skill-{number}"), "description": text(number, 14),
                "when_to_use": text(number + 1, 8),
                "paths": [format!("src/part{number}/**"), format!("**/*.x{number}")],
            })
        })
        .collect();
    let registry = SkillRegistry::parse(Some(&json!(skills)), &Functions::default());
    let files = ["src/part7/a/b.rs", "docs/notes.md"].map(str::to_owned);
    let matcher = Matcher::new(&registry, strategy);
    let found = matcher.rank(PROMPT, &files).len();
    let made = median_ms(rounds, || {
        black_box(Matcher::new(&registry, strategy));
    });
    let matched = median_ms(rounds, || {
        black_box(matcher.rank(black_box(PROMPT), &files));
    });
    table.row(
        &format!("match {SKILLS} skills, {}", strategy.word()),
        "–",
        &format!("{matched:.3} ms"),
        "–",
        &format!("{found} found; made ready once a loop in {made:.3} ms"),
        &format!("≤ {MATCH_MS_MAX} ms"),
        matched <= MATCH_MS_MAX,
    );
}

fn search(rounds: usize, table: &mut Table) -> Result<(), String> {
    let declared: Vec<Value> = (0..TOOLS)
        .map(|number| {
            json!({
                "name": format!("tool_{number}"), "description": text(number, 16),
                "parameters": {"path": {"type": "string", "description": text(number + 3, 6)}},
                "defer_loading": true,
            })
        })
        .collect();
    let declared = tools::parse(&json!(declared)).map_err(|error| error.to_string())?;
    let corpus = Corpus::new(&declared);
    let made = median_ms(rounds.min(10), || {
        black_box(Corpus::new(&declared));
    });
    for (strategy, query) in [
        (
            tool_search::Strategy::Bm25,
            "restore backup of a customer table",
        ),
        (tool_search::Strategy::Regex, "restore|backup"),
    ] {
        let searched = median_ms(rounds, || {
            black_box(corpus.search(strategy, black_box(query)));
        });
        table.row(
            &format!("search {TOOLS} tools, {}", strategy.word()),
            "–",
            &format!("{searched:.3} ms"),
            "–",
            &format!("made ready once a loop in {made:.3} ms"),
            &format!("≤ {SEARCH_MS_MAX} ms"),
            searched <= SEARCH_MS_MAX,
        );
    }
    Ok(())
}

/// How long it takes in the middle of so many rounds.
fn median_ms(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| time(&mut work).as_secs_f64() * 1e3)
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
