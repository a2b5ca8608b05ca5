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

fn file(name: &str, extension: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(format!("{name}.{extension}"))
}

impl Row {
    /// The program in one language.
    pub(crate) fn file(&self, extension: &str) -> PathBuf {
        file(self.name, extension)
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

    use harn_check::modules::{Disk, Workspace};
    use harn_check::{CheckOptions, check_types};
    use harn_syntax::{FormatOptions, format};

    use super::*;

    /// What the programs share: how their work is timed.
    const TIMING: &str = "timing";

    #[test]
    fn every_row_has_a_program_in_every_language_and_no_other_file_is_there() {
        let names = ROWS.iter().map(|row| row.name).chain([TIMING]);
        let mut expected: Vec<PathBuf> = names
            .flat_map(|name| ["harn", "py", "js"].map(|extension| file(name, extension)))
            .collect();
        let entries = fs::read_dir(FOLDER).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn there_is_nothing_to_say_about_the_harn_programs() {
        let mut workspace = Workspace::new(Box::new(Disk));
        for row in ROWS {
            let file = row.file("harn");
            let parsed = workspace.parsed(&file).unwrap();
            assert_eq!(parsed.parsed.errors, [], "{}", row.name);
            let imported = workspace.imported(&file);
            let module = &parsed.parsed.module;
            let found = check_types(module, &imported, CheckOptions::default());
            assert_eq!(found, [], "{}", row.name);
            let formatted = format(&parsed.text, &FormatOptions::default());
            assert_eq!(formatted.unwrap(), *parsed.text, "{}", row.name);
        }
    }
}
