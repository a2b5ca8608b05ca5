//! The rows of the table.

use std::path::PathBuf;

/// Where the programs are.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/stdlib/programs");

/// The same work in several languages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// What the table says about it.
    pub(crate) about: &'static str,
    /// How many things it works on, where the material does not say; full and in a smoke test.
    count: [usize; 2],
    /// How often the work is done in one process, so that a clock of milliseconds is enough.
    rounds: usize,
}

/// Everything the table shows.
pub(crate) const ROWS: &[Row] = &[
    row("json_parse", "JSON parse, 5 MB", [0, 0], 10),
    row("json_stringify", "JSON stringify, 5 MB", [0, 0], 20),
    row("json_query", "JSON query over 5 MB", [0, 0], 50),
    row("schema", "schema check, 10,000 objects", [10_000, 10], 10),
    row("regex", "regex over 10 MB", [0, 0], 5),
    row("csv_parse", "CSV parse, 10 MB", [0, 0], 5),
    row("sha256", "SHA-256, 100 MB", [0, 0], 2),
    row(
        "read_files",
        "read 10,000 files",
        [SMALL_FILES, SMALL_FILES_SMOKE],
        5,
    ),
    row("glob_files", "glob over 50,000 files", [0, 0], 5),
    row("spawn", "spawn 200 processes", [200, 3], 1),
    row("http_get", "1,000 requests, 64 in flight", [1_000, 10], 3),
    row("template", "render 10,000 templates", [10_000, 10], 3),
];

/// How many small files there are.
pub(crate) const SMALL_FILES: usize = 10_000;
pub(crate) const SMALL_FILES_SMOKE: usize = 20;

const fn row(name: &'static str, about: &'static str, count: [usize; 2], rounds: usize) -> Row {
    Row {
        name,
        about,
        count,
        rounds,
    }
}

impl Row {
    /// The program in one language.
    pub(crate) fn file(&self, extension: &str) -> PathBuf {
        PathBuf::from(FOLDER).join(format!("{}.{extension}", self.name))
    }

    /// How many things, and how often.
    pub(crate) fn size(&self, smoke: bool) -> (usize, usize) {
        match smoke {
            true => (self.count[1], 1),
            false => (self.count[0], self.rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use harn_check::{CheckOptions, Imported, check_types};
    use harn_syntax::{FormatOptions, format, parse};

    use super::*;

    #[test]
    fn every_row_has_a_program_in_every_language_and_no_other_file_is_there() {
        let mut expected: Vec<PathBuf> = ROWS
            .iter()
            .flat_map(|row| ["harn", "py", "js"].map(|extension| row.file(extension)))
            .collect();
        let entries = fs::read_dir(FOLDER).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn there_is_nothing_to_say_about_the_harn_programs() {
        for row in ROWS {
            let text = fs::read_to_string(row.file("harn")).unwrap();
            let parsed = parse(&text);
            assert_eq!(parsed.errors, [], "{}", row.name);
            let imported = Imported::default();
            let found = check_types(&parsed.module, &imported, CheckOptions::default());
            assert_eq!(found, [], "{}", row.name);
            let formatted = format(&text, &FormatOptions::default());
            assert_eq!(formatted.unwrap(), text, "{}", row.name);
        }
    }
}
