//! What a `.gitignore` leaves out.

use globset::{GlobBuilder, GlobMatcher};

/// The rules of one file. The last rule that fits decides.
#[derive(Debug, Default)]
pub(super) struct Ignore(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    pattern: GlobMatcher,
    /// Whether it brings back what an earlier one leaves out.
    is_exception: bool,
    only_folders: bool,
}

impl Ignore {
    /// The rules of a text. Those that make no sense are passed over, as git does.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(rule).collect())
    }

    /// Whether something is left out, by its path from where the file is.
    pub(super) fn covers(&self, path: &str, is_folder: bool) -> bool {
        let fitting = self.0.iter().rev().find(|rule| {
            let kind_fits = is_folder || !rule.only_folders;
            kind_fits && rule.pattern.is_match(path)
        });
        fitting.is_some_and(|rule| !rule.is_exception)
    }
}

fn rule(line: &str) -> Option<Rule> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (is_exception, line) = match line.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let only_folders = line.ends_with('/');
    let line = line.trim_end_matches('/');
    // A slash anywhere but at the end ties a pattern to the folder of the file.
    let pattern = match line.contains('/') {
        true => line.trim_start_matches('/').to_owned(),
        false => format!("**/{line}"),
    };
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .ok()?;
    Some(Rule {
        pattern: glob.compile_matcher(),
        is_exception,
        only_folders,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_fit_as_git_reads_them() {
        let ignore = Ignore::parse("# note\n\n*.log\n/out\ntmp/\nsrc/*.bak\n!keep.log\n");
        for (path, is_folder, expected) in [
            ("a.log", false, true),
            ("deep/a.log", false, true),
            ("keep.log", false, false),
            ("out", true, true),
            ("deep/out", true, false),
            ("tmp", true, true),
            ("deep/tmp", true, true),
            ("tmp", false, false),
            ("src/a.bak", false, true),
            ("src/deep/a.bak", false, false),
            ("a.txt", false, false),
        ] {
            assert_eq!(ignore.covers(path, is_folder), expected, "{path}");
        }
    }
}
