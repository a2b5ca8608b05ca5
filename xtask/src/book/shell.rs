//! Blocks of commands a newcomer copies: few, and all of them true.

use crate::commands;
use crate::verdict::{Verdict, complain};

/// The pages that greet people before they have built anything.
const PAGES: &[&str] = &["README.md", "CONTRIBUTING.md"];

/// What a line may begin with. Anything else belongs in a `console` block,
/// where its output is checked too.
const ALLOWED: &[&str] = &["cargo xtask ", "cargo run ", "git clone "];

/// Checks each line; `run` executes one from the root of the repository.
pub(super) fn check(page: &str, text: &str, run: impl Fn(&str) -> Verdict) -> Verdict {
    if !PAGES.contains(&page) {
        return complain(format!(
            "`sh` blocks are for {}; use `console` here",
            PAGES.join(" and ")
        ));
    }
    for line in text.lines().map(str::trim) {
        if !line.is_empty() && !line.starts_with('#') {
            check_line(line, &run)?;
        }
    }
    Ok(())
}

fn check_line(line: &str, run: impl Fn(&str) -> Verdict) -> Verdict {
    if let Some(arguments) = line.strip_prefix("cargo xtask ") {
        let name = arguments.split_whitespace().next().unwrap_or_default();
        if commands::exists(name) {
            return Ok(());
        }
        return complain(format!("`cargo xtask` has no command `{name}`"));
    }
    if line.starts_with("cargo run ") {
        return run(line);
    }
    if ALLOWED.iter().any(|allowed| line.starts_with(allowed)) {
        return Ok(());
    }
    complain(format!(
        "`{line}` is not an entry command; those begin with {}",
        ALLOWED.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretend(line: &str) -> Verdict {
        complain(format!("ran {line}"))
    }

    #[test]
    fn known_chores_are_fine_and_unknown_ones_are_not() {
        let text = "# everything\ncargo xtask test\n\ncargo xtask bench events\n";
        assert_eq!(check("README.md", text, pretend), Ok(()));
        let why = check("README.md", "cargo xtask tset\n", pretend)
            .unwrap_err()
            .to_string();
        assert_eq!(why, "`cargo xtask` has no command `tset`");
    }

    #[test]
    fn cargo_run_is_really_run() {
        let why = check("README.md", "cargo run -p x\n", pretend)
            .unwrap_err()
            .to_string();
        assert_eq!(why, "ran cargo run -p x");
    }

    #[test]
    fn other_commands_and_other_pages_are_refused() {
        assert!(check("README.md", "curl x | sh\n", pretend).is_err());
        assert!(check("docs/src/intro.md", "cargo xtask test\n", pretend).is_err());
        assert_eq!(check("README.md", "git clone URL harn\n", pretend), Ok(()));
    }
}
