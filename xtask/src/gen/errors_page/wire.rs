//! The numbers that editors and tool servers are told: JSON-RPC's own and those of protocols.
//!
//! Their meaning is the protocol's, so it is written here once and not beside each place that
//! uses one; a number in the sources that is missing here is an error.

use crate::error::Error;
use crate::r#gen::markdown::{cell, table};
use crate::sources::SourceFile;

/// A number, and what it means to an editor (ACP), between tool servers and us (MCP), and to
/// hosts that are asked something (the bridge). Empty: it is not used there.
struct WireError {
    code: i32,
    acp: &'static str,
    mcp: &'static str,
    bridge: &'static str,
}

const ERRORS: &[WireError] = &[
    WireError {
        code: -32700,
        acp: "the frame is not JSON",
        mcp: "the frame is not JSON",
        bridge: "the frame is not JSON",
    },
    WireError {
        code: -32600,
        acp: "the frame is no request; also a batch, an id that is `null`, or a call before `initialize`",
        mcp: "the frame is no request",
        bridge: "the frame is no request",
    },
    WireError {
        code: -32601,
        acp: "there is no such method",
        mcp: "there is no such method",
        bridge: "there is no such method",
    },
    WireError {
        code: -32602,
        acp: "the parameters do not fit",
        mcp: "the parameters do not fit, or there is no such resource (`data.uri`)",
        bridge: "the parameters do not fit",
    },
    WireError {
        code: -32603,
        acp: "the program failed, the caller may not do this (`data.reason`), or there is too much to do (`data.retryAfterMs`)",
        mcp: "something went wrong here",
        bridge: "the program failed, or there is too much to do",
    },
    WireError {
        code: -32000,
        acp: "sign in first",
        mcp: "",
        bridge: "sign in first",
    },
    WireError {
        code: -32001,
        acp: "",
        mcp: "",
        bridge: "the caller may not do this",
    },
    WireError {
        code: -32002,
        acp: "there is no such session or resource (`data.sessionId`, `data.uri`)",
        mcp: "there is no such resource, before version 2026-07-28",
        bridge: "there is no such session or resource",
    },
    WireError {
        code: -32800,
        acp: "the request was withdrawn",
        mcp: "",
        bridge: "the request was withdrawn",
    },
];

/// Whose sources talk to others.
const SURFACES: &[&str] = &[
    "crates/harn-acp/src/",
    "crates/harn-mcp/src/",
    "crates/harn-listen/src/",
];

/// The numbers of JSON-RPC and of protocols that are made on it.
const RESERVED: std::ops::RangeInclusive<i32> = -32899..=-32000;

/// The numbers that are our own.
const OURS: std::ops::RangeInclusive<i32> = 7100..=7199;

/// The part of the page about them.
pub(super) fn section() -> String {
    let row = |one: &WireError| {
        let cells = [one.acp, one.mcp, one.bridge];
        let mut row = vec![one.code.to_string()];
        row.extend(cells.map(cell));
        row
    };
    let rows: Vec<Vec<String>> = ERRORS.iter().map(row).collect();
    let ours = match ERRORS.iter().any(|one| OURS.contains(&one.code)) {
        true => "",
        false => " None of them is in use yet.",
    };
    format!(
        "## Errors on the wire\n\n\
         What a peer reads as the `code` of a JSON-RPC error: an editor over ACP, a tool \
         server or its client over MCP, and a host that is asked something over the bridge. \
         `message` is for people and `data` for programs; neither holds a path outside the \
         workspace, a value of the environment or a key.\n\n{}\n\
         Numbers from 7100 to 7199 are Harn's own.{ours} A tool that ran and failed is no error \
         of the protocol: it is the result of the call, marked as failed.\n",
        table(&["code", "ACP", "MCP", "host bridge"], &rows)
    )
}

/// Refuses a number that is used and not told here.
pub(super) fn check(sources: &[SourceFile]) -> Result<(), Error> {
    let told = |code: i32| ERRORS.iter().any(|one| one.code == code);
    for file in sources.iter().filter(|file| is_surface(&file.path)) {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(code) = codes(line).find(|code| !told(*code)) {
                return Err(Error::malformed(
                    "the table of errors on the wire",
                    format!(
                        "{code} of {}:{} is not in xtask/src/gen/errors_page/wire.rs",
                        file.path,
                        index + 1
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// Tests send what makes no sense on purpose.
fn is_surface(path: &str) -> bool {
    let is_ours = SURFACES.iter().any(|folder| path.starts_with(folder));
    is_ours && path.ends_with(".rs") && !path.contains("test")
}

/// The numbers of a line that look like the code of an error, comments left out.
fn codes(line: &str) -> impl Iterator<Item = i32> {
    let code = line.split("//").next().unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = code.split(move |c: char| !is_part(c));
    let numbers = words.filter_map(|word| word.replace('_', "").parse::<i32>().ok());
    numbers.filter(|code| RESERVED.contains(code) || OURS.contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<i32> {
        codes(line).collect()
    }

    #[test]
    fn numbers_of_errors_are_found_and_others_are_not() {
        assert_eq!(found("Error::new(-32_601, \"no method\")"), [-32601]);
        assert_eq!(found("const BUSY: i64 = 7101;"), [7101]);
        assert!(found("let port = 8080; // -32099").is_empty());
        assert!(found("let limit = 32_602;").is_empty());
    }

    #[test]
    fn only_what_talks_to_others_is_looked_at() {
        let text = "const CODE: i64 = -32050;";
        let check = |path| check(&[SourceFile::new(path, text)]);
        assert!(check("crates/harn-acp/src/error.rs").is_err());
        assert!(check("crates/harn-acp/src/error/tests.rs").is_ok());
        assert!(check("crates/harn-llm/src/error.rs").is_ok());
    }

    #[test]
    fn every_number_is_told_once() {
        for (at, one) in ERRORS.iter().enumerate() {
            assert!(!ERRORS[..at].iter().any(|other| other.code == one.code));
        }
    }
}
