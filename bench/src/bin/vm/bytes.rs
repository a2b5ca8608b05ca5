//! Where the bytes of the program are: whose code, and what is no code.
//!
//! Code belongs to the crate that a function's name begins with; what is generated for several
//! crates (`core`, `serde`) counts as theirs who wrote it, not theirs who asked for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Owners that are named; all others are told together.
const NAMED: usize = 24;
/// Sections below this are told together.
const SECTION_MIN: u64 = 100_000;

/// Both tables in Markdown.
pub(crate) fn tables(program: &Path) -> Result<String, String> {
    let sizes = output("size", &["-A"], program)?;
    let symbols = output("nm", &["-S", "-C", "--defined-only"], program)?;
    Ok(format!(
        "| section | MB |\n|---|---:|\n{}\n| code of | functions | MB |\n|---|---:|---:|\n{}",
        section_rows(&sections(&sizes)),
        owner_rows(owners(&symbols)),
    ))
}

/// Name and size of each section that is loaded or read by the loader.
fn sections(size: &str) -> Vec<(&str, u64)> {
    size.lines().filter_map(section).collect()
}

/// `.text 24596572 8835456`; a section that is not loaded has no address.
fn section(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_whitespace();
    let (name, size, address) = (words.next()?, words.next()?, words.next()?);
    let is_loaded = address != "0" && name.starts_with('.');
    Some((name, size.parse().ok()?)).filter(|_| is_loaded)
}

fn section_rows(sections: &[(&str, u64)]) -> String {
    let (mut large, small): (Vec<_>, Vec<_>) =
        sections.iter().partition(|(_, size)| *size >= SECTION_MIN);
    large.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let mut rows = String::new();
    for (name, size) in large {
        let _ = writeln!(rows, "| `{name}` | {:.2} |", megabytes(size));
    }
    let rest = small.iter().map(|(_, size)| size).sum();
    let _ = writeln!(rows, "| others | {:.2} |", megabytes(rest));
    rows
}

/// How many functions an owner has, and how large they are together.
#[derive(Clone, Copy, Default)]
struct Share {
    functions: usize,
    bytes: u64,
}

fn owners(symbols: &str) -> BTreeMap<String, Share> {
    let mut owners: BTreeMap<String, Share> = BTreeMap::new();
    for line in symbols.lines() {
        let mut words = line.splitn(4, ' ').skip(1);
        let (Some(size), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if !matches!(kind, "t" | "T" | "w" | "W") {
            continue;
        }
        let share = owners.entry(owner(name)).or_default();
        share.functions += 1;
        share.bytes += u64::from_str_radix(size, 16).unwrap_or(0);
    }
    owners
}

/// The crate in `core::fmt::write`, `<alloc::vec::Vec<T> as Trait>::f` or `<&mut serde::X>::g`.
fn owner(name: &str) -> String {
    const BEFORE_A_PATH: [&str; 8] = ["<", "&", "mut ", "dyn ", "[", "*", "const ", "("];
    let mut path = name;
    while let Some(rest) = BEFORE_A_PATH.iter().find_map(|one| path.strip_prefix(one)) {
        path = rest;
    }
    match path.split_once("::") {
        Some((owner, _)) if owner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            owner.to_string()
        }
        _ => "C, and what has no path".to_string(),
    }
}

fn owner_rows(owners: BTreeMap<String, Share>) -> String {
    let mut owners: Vec<(String, Share)> = owners.into_iter().collect();
    owners.sort_by_key(|(_, share)| std::cmp::Reverse(share.bytes));
    let rest = owners.split_off(NAMED.min(owners.len()));
    let mut rows = String::new();
    for (owner, share) in owners {
        let megabytes = megabytes(share.bytes);
        let _ = writeln!(rows, "| {owner} | {} | {megabytes:.2} |", share.functions);
    }
    let functions: usize = rest.iter().map(|(_, share)| share.functions).sum();
    let bytes = rest.iter().map(|(_, share)| share.bytes).sum();
    let _ = writeln!(
        rows,
        "| {} others | {functions} | {:.2} |",
        rest.len(),
        megabytes(bytes)
    );
    rows
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// What one of the binary utilities says of a program.
fn output(tool: &str, arguments: &[&str], program: &Path) -> Result<String, String> {
    let mut command = Command::new(tool);
    command.args(arguments).arg(program);
    let output = command.output().map_err(|why| {
        format!("cannot start `{tool}`: {why}; it is in the Debian package `binutils`")
    })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "`{tool}`: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_the_crate_its_name_begins_with() {
        for (name, expected) in [
            ("harn_agent::run::Run::go_round::{{closure}}", "harn_agent"),
            (
                "<alloc::vec::Vec<T,A> as core::clone::Clone>::clone",
                "alloc",
            ),
            (
                "<&mut serde_json::de::Deserializer<R> as X>::f",
                "serde_json",
            ),
            ("<&T as core::fmt::Debug>::fmt", "C, and what has no path"),
            ("sqlite3VdbeExec", "C, and what has no path"),
        ] {
            assert_eq!(owner(name), expected, "{name}");
        }
    }

    #[test]
    fn functions_are_added_up_and_data_is_not() {
        let owners = owners(
            "0000000000001000 0000000000000010 t a::x\n\
             0000000000001010 0000000000000020 T a::y\n\
             0000000000002000 0000000000000100 r a::TABLE\n\
             0000000000003000 T b::without_a_size\n",
        );
        assert_eq!(owners.len(), 1);
        assert_eq!((owners["a"].functions, owners["a"].bytes), (2, 0x30));
    }

    #[test]
    fn sections_that_are_not_loaded_do_not_count() {
        let text = "harn  :\nsection size addr\n.text 300000 8192\n.bss 10 4096\n.debug_info 900000 0\nTotal 1200010\n";
        let sections = sections(text);
        assert_eq!(sections, [(".text", 300_000), (".bss", 10)]);
        assert_eq!(
            section_rows(&sections),
            "| `.text` | 0.30 |\n| others | 0.00 |\n"
        );
    }
}
