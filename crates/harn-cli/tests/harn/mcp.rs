//! `harn mcp`, against servers on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod doctor;
mod people;
mod suite;
mod tracker;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::program::{Call, finished, program};
use tracker::Tracker;

/// A project with servers, and a person whose browser is a program.
struct Project {
    folder: TempDir,
}

impl Project {
    fn with(manifest: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("harn.toml"), manifest).unwrap();
        fs::write(folder.path().join("browser.harn"), "http_get(argv[0])\n").unwrap();
        let project = Self { folder };
        // The servers of a project are used once somebody trusts it.
        project.harn(&["trust", "yes"]).exits_with(0);
        project
    }

    fn of(tracker: &Tracker) -> Self {
        Self::with(&format!(
            "[[mcp]]\nname = \"tracker\"\nurl = \"{}\"\n",
            tracker.url()
        ))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn program(&self) -> Command {
        let browser = self.path().join("browser.harn");
        let mut program = program();
        program
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("HARN_MCP_CREDENTIALS", "file")
            .env(
                "BROWSER",
                format!(
                    "{} run {} --",
                    env!("CARGO_BIN_EXE_harn"),
                    browser.display()
                ),
            );
        program
    }

    fn harn(&self, arguments: &[&str]) -> Call {
        finished(self.program().args(arguments))
    }

    /// The files in which logins are kept.
    fn logins(&self) -> Vec<String> {
        let folder = self.path().join(".config/harn/mcp-logins");
        let Ok(files) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let files = files.map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        files
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    }
}

#[test]
fn servers_are_listed_without_being_started() {
    let project = Project::with(
        "[[mcp]]\nname = \"files\"\ncommand = \"no-such-program\"\nargs = [\"x\"]\nlazy = true\n\
         [[mcp]]\nname = \"web\"\nurl = \"https://a.test/mcp\"\n\
         [[mcp]]\nname = \"key\"\nurl = \"https://b.test/mcp\"\nauth_token = \"s3cret\"\n",
    );
    project
        .harn(&["mcp", "list"])
        .exits_with(0)
        .prints("NAME   TRANSPORT  LOGIN   PLACE")
        .prints("files  stdio      -       no-such-program x")
        .prints("web    http       none    https://a.test/mcp")
        .prints("key    http       header  https://b.test/mcp");
    let listed = project.harn(&["mcp", "list", "--json"]).exits_with(0);
    assert!(!listed.stdout.contains("s3cret"));
    assert_eq!(
        listed.json()["servers"][0],
        json!({
            "name": "files", "transport": "stdio", "place": "no-such-program x",
            "is_lazy": true, "login": null,
        })
    );
}

#[test]
fn a_name_that_is_unknown_is_told_with_those_that_are_not() {
    let project = Project::with("[[mcp]]\nname = \"a\"\nurl = \"https://a.test\"\n");
    let call = project.harn(&["mcp", "probe", "b"]).exits_with(1);
    assert_eq!(call.stderr, "error: no server is called `b`; there are a\n");
    let empty = Project::with("");
    let call = empty.harn(&["mcp", "probe", "b"]).exits_with(1);
    let expected = "error: no server is called `b`: harn.toml has no table [[mcp]]\n";
    assert_eq!(call.stderr, expected);
}

#[test]
fn a_probe_tells_generation_version_capabilities_and_tools() {
    let tracker = Tracker::open_to_all();
    let project = Project::of(&tracker);
    project
        .harn(&["mcp", "probe", "tracker"])
        .exits_with(0)
        .prints("tracker: tracker 1.2")
        .prints("protocol      2026-07-28 (modern)")
        .prints("capabilities  tools")
        .prints("tools         1")
        .prints("  whoami  Tells who asks.");
    // A URL does as well.
    let url = tracker.url();
    let told = project
        .harn(&["mcp", "probe", &url, "--json"])
        .exits_with(0)
        .json();
    assert_eq!(told["ok"], true);
    assert_eq!(told["generation"], "modern");
    assert_eq!(told["tools"][0]["name"], "whoami");
}

#[test]
fn a_probe_asks_nobody_to_log_in() {
    let tracker = Tracker::for_members();
    let project = Project::of(&tracker);
    let call = project.harn(&["mcp", "probe", "tracker"]).exits_with(1);
    let expected =
        "error: mcp server 'tracker' needs authorization; run `harn mcp login tracker`\n";
    assert_eq!(call.stderr, expected);
    let told = project
        .harn(&["mcp", "probe", "tracker", "--json"])
        .exits_with(1)
        .json();
    assert_eq!(told["error"]["category"], "auth");
    assert_eq!(tracker.count("/authorize"), 0);
}

#[test]
fn a_login_is_kept_used_and_forgotten() {
    let tracker = Tracker::for_members();
    let project = Project::of(&tracker);
    project
        .harn(&["mcp", "login", "tracker"])
        .exits_with(0)
        .prints("logged in to tracker");
    assert!(project.logins()[0].contains(tracker::TOKEN));
    project
        .harn(&["mcp", "list"])
        .prints(&format!("tracker  http       kept   {}", tracker.url()));
    project
        .harn(&["mcp", "probe", "tracker"])
        .exits_with(0)
        .prints("tools         1");
    // Somebody who is logged in already is not sent anywhere.
    project.harn(&["mcp", "login", "tracker"]).exits_with(0);
    assert_eq!(tracker.count("/authorize"), 1);
    project
        .harn(&["mcp", "login", "tracker", "--again"])
        .exits_with(0);
    assert_eq!(tracker.count("/authorize"), 2);
    project
        .harn(&["mcp", "logout", "tracker"])
        .exits_with(0)
        .prints("logged out of tracker");
    assert!(project.logins().is_empty());
    project
        .harn(&["mcp", "logout", "tracker"])
        .exits_with(0)
        .prints("nobody was logged in to tracker");
}

#[test]
fn a_server_for_everybody_wants_no_login() {
    let tracker = Tracker::open_to_all();
    let project = Project::of(&tracker);
    let told = project
        .harn(&["mcp", "login", "tracker", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        told,
        json!({"server": "tracker", "url": tracker.url(), "logged_in": false})
    );
    assert!(project.logins().is_empty());
}

const PROGRAM: &str = r#"
let client = mcp_connect(argv[0])
println(mcp_call(client, "whoami"))
mcp_disconnect(client)
"#;

#[test]
fn a_program_uses_the_login_and_never_shows_it() {
    let tracker = Tracker::for_members();
    let project = Project::of(&tracker);
    fs::write(project.path().join("main.harn"), PROGRAM).unwrap();
    project.harn(&["mcp", "login", "tracker"]).exits_with(0);
    let url = tracker.url();
    let ran = project
        .harn(&["run", "main.harn", "--", &url])
        .exits_with(0);
    assert_eq!(ran.stdout, "a member\n");
    assert!(!ran.stderr.contains(tracker::TOKEN));
    // The token is in its file, and nowhere else in the folder.
    let found = Command::new("grep")
        .args(["-rl", tracker::TOKEN, "."])
        .current_dir(project.path())
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.starts_with("./.config/harn/mcp-logins/"), "{found}");
}

#[test]
fn a_run_without_a_terminal_does_not_wait_for_anybody() {
    let tracker = Tracker::for_members();
    let project = Project::of(&tracker);
    fs::write(project.path().join("main.harn"), PROGRAM).unwrap();
    let ran = project
        .harn(&["run", "main.harn", "--", &tracker.url()])
        .exits_with(1);
    assert!(ran.stderr.contains("needs authorization"), "{}", ran.stderr);
    assert_eq!(tracker.count("/authorize"), 0);
}

/// A program that looks at the servers of its project.
const LOOKING: &str = r#"
fn attempt(f) {
  try { return f() } catch (e) { return e }
}
println(mcp.keys())
println(type_of(mcp.waiter))
println(mcp.waiter)
println(mcp_registry_status())
println(mcp_call(mcp.waiter, "seat"))
println(mcp_server_card("waiter").title)
println(mcp_server_card("./card.json").title)
println(attempt({ -> mcp_server_card("other") }))
println(attempt({ -> mcp_server_card("nobody") }))
"#;

#[test]
fn a_program_finds_the_servers_of_its_project_and_their_cards() {
    let project = Project::with(
        "[[mcp]]\nname = \"waiter\"\ncommand = \"python3\"\nargs = [\"waiter.py\", \"table\"]\n\
         lazy = true\ncard = \"card.json\"\n\
         [[mcp]]\nname = \"other\"\ncommand = \"no-such-program\"\nlazy = true\n",
    );
    fs::write(project.path().join("waiter.py"), people::SERVER).unwrap();
    fs::write(project.path().join("card.json"), r#"{"title": "At table"}"#).unwrap();
    fs::write(project.path().join("main.harn"), LOOKING).unwrap();
    let mut program = project.program();
    program
        .args(["run", "main.harn"])
        .env("HARN_EVENT_LOG_BACKEND", "memory");
    let ran = finished(&mut program).exits_with(0);
    let expected = "\
[other, waiter]
mcp_client
<mcp_client:waiter>
[{active: false, card: card.json, lazy: true, name: waiter, ref_count: 0}, \
{active: false, lazy: true, name: other, ref_count: 0}]
nobody can be asked
At table
At table
mcp_server_card: server 'other' has no 'card' field in harn.toml
mcp_server_card: no MCP server 'nobody' registered (check harn.toml) — pass a URL or path directly \
instead
";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn a_card_is_fetched_from_where_people_may_be_sent_and_from_what_is_named() {
    let tracker = Tracker::for_members();
    let project = Project::with("");
    // Any document will do that is an object.
    let place = "/.well-known/oauth-authorization-server";
    let url = tracker.url().replace("/mcp", place);
    let text = "println(mcp_server_card(argv[0]).issuer)\n";
    fs::write(project.path().join("main.harn"), text).unwrap();
    let arguments = ["run", "main.harn", "--", &url];
    let refused = project.harn(&arguments).exits_with(1);
    assert!(
        refused.stderr.contains("mcp_server_card"),
        "{}",
        refused.stderr
    );
    assert_eq!(tracker.count(place), 0);
    let mut program = project.program();
    let origin = tracker.url().replace("/mcp", "");
    program.args(arguments).env("HARN_FETCH_ALLOW", &origin);
    let fetched = finished(&mut program).exits_with(0);
    assert_eq!(fetched.stdout, format!("{origin}\n"));
    assert_eq!(tracker.count(place), 1);
}
