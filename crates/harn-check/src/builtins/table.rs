//! The tables as one, sorted while compiling: a table that is out of order does not compile.

use super::{Area, Builtin, Effect, signature};
use super::{
    agents, collections, concurrency, data, encoding, files, http, intrinsics, llm, mcp, numbers,
    observability, output, people, process, state, text, time, tools, transcripts, transport,
    triggers, unlisted, values, workflows,
};

/// Declares builtins that the checker knows: signature, result, effect, documentation.
macro_rules! builtins {
    ($($signature:literal [$($result:ident)*] $effect:ident $doc:literal;)*) => {
        pub(super) const TABLE: &[$crate::builtins::Builtin] = &[$(
            $crate::builtins::table::declare(
                $signature,
                &[$(stringify!($result)),*],
                $crate::builtins::Effect::$effect,
                $doc,
            ),
        )*];
    };
}
pub(super) use builtins;

pub(super) const fn declare(
    declaration: &'static str,
    result: &'static [&'static str],
    effect: Effect,
    doc: &'static str,
) -> Builtin {
    Builtin {
        name: signature::name(declaration),
        signature: declaration,
        type_parameters: signature::type_parameters(declaration),
        result,
        effect,
        doc,
        known: true,
    }
}

/// Declares the areas: the module of each, and what it is about.
macro_rules! areas {
    ($($module:ident $title:literal;)*) => {
        pub(super) const AREAS: &[Area] = &[$(
            Area { name: stringify!($module), title: $title, builtins: $module::TABLE },
        )*];
        const TABLES: &[&[Builtin]] = &[$($module::TABLE,)*];
    };
}

areas! {
    agents "Agents, their sessions, workers and daemons";
    collections "Lists, dicts, sets, iterators and streams";
    concurrency "Tasks and what they share";
    data "Data formats and schemas";
    encoding "Bytes, encodings, digests, signatures, compression, URLs, cookies, UUIDs";
    files "Files and paths";
    http "HTTP: requests, mocks, where requests may go, and servers";
    llm "Asking models";
    mcp "Servers of the Model Context Protocol. What a program offers itself is not served yet";
    numbers "Numbers and chance";
    observability "What can be seen of a run: traces, the event log, safety checks, metrics";
    output "Output, input, logging, timers, and what tests put in their place";
    people "Looking at a project, asking people, waiting for the world";
    process "Processes, the environment, the host, and which commands may run";
    state "What outlives a run: databases, the store, checkpoints, templates";
    text "Texts: strings, Unicode, spelling of names, regular expressions";
    time "Dates, clocks and durations";
    tools "Tools, skills and plans";
    transcripts "Conversations and transcripts";
    transport "Server-sent events and web sockets";
    triggers "Triggers and trust";
    values "Values whatever their kind: conversion, results, errors, assertions";
    workflows "Artifacts, handoffs, workflows, run records and evaluations";
}

/// Sorted by name.
pub(super) static BUILTINS: [Builtin; count(TABLES)] = merge(TABLES);

const UNLISTED_TABLES: &[&[Builtin]] = &[intrinsics::TABLE, unlisted::TABLE];

/// Sorted by name.
pub(super) static UNLISTED: [Builtin; count(UNLISTED_TABLES)] = {
    let mut table = merge(UNLISTED_TABLES);
    let mut at = 0;
    while at < table.len() {
        table[at].known = false;
        at += 1;
    }
    table
};

const fn count(tables: &[&[Builtin]]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < tables.len() {
        count += tables[at].len();
        at += 1;
    }
    count
}

/// All entries of sorted tables, sorted.
const fn merge<const COUNT: usize>(tables: &[&[Builtin]]) -> [Builtin; COUNT] {
    let mut merged = [tables[0][0]; COUNT];
    let mut taken = [0; TABLES.len()];
    let mut at = 0;
    while at < COUNT {
        let table = smallest(tables, &taken);
        merged[at] = tables[table][taken[table]];
        taken[table] += 1;
        assert!(
            at == 0 || precedes(merged[at - 1].name, merged[at].name),
            "a table is not sorted, or a name is declared twice"
        );
        at += 1;
    }
    merged
}

/// The table whose next entry comes first.
const fn smallest(tables: &[&[Builtin]], taken: &[usize]) -> usize {
    let mut smallest = tables.len();
    let mut at = 0;
    while at < tables.len() {
        let left = taken[at] < tables[at].len();
        if left
            && (smallest == tables.len()
                || precedes(
                    tables[at][taken[at]].name,
                    tables[smallest][taken[smallest]].name,
                ))
        {
            smallest = at;
        }
        at += 1;
    }
    smallest
}

/// Whether `a` comes before `b`, byte by byte as binary search wants it.
const fn precedes(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}
