//! What `harn sessions show` makes of many pieces and of long failures.

use super::*;

/// A model that streams what it says in three pieces, and calls a tool that fails at length.
const SCENARIO: &str = "\
[[turn]]
text = \"I look now.\"
piece_chars = 4
call = [{ tool = \"build\", arguments = { target = \"all\" } }]

[[turn]]
text = \"It is broken.\"
piece_chars = 100
";

const BUILDER: &str = r#"
pipeline default() {
  let tools = tool_define(tool_registry(), "build", "Builds", {
    parameters: {target: "string"},
    annotations: {kind: "execute"},
    handler: { a -> throw "building all\none\ntwo\nthree\nfour\nerror: no such crate" },
  })
  agent_loop("Build it.", nil, {tools: tools, session_id: "b", tool_format: "native"})
}
"#;

fn built() -> Project {
    let project = Project::new();
    fs::write(project.path("model.toml"), SCENARIO).expect("the folder is ours");
    let call = project.run(BUILDER, &["--scenario", "model.toml"]);
    call.exits_with(0);
    project
}

/// The lines of a kind.
fn lines<'a>(call: &'a Call, kind: &str) -> Vec<&'a str> {
    let lines = call.stdout.lines();
    let kind = format!("  {kind} ");
    lines.filter(|line| line.contains(&kind)).collect()
}

#[test]
fn streamed_pieces_share_a_line_with_their_number_and_their_time() {
    let project = built();
    let joined = project.harn(&["show", "b", "--events"]).exits_with(0);
    let told = lines(&joined, "agent_message_chunk");
    assert_eq!(told.len(), 2, "{joined:#?}");
    let (start, end) = told[0].split_once(" pieces in ").expect("it is joined");
    assert!(start.ends_with("agent_message_chunk   3"), "{start}");
    let (took, text) = end.split_once(": ").expect("its text comes last");
    assert!(took.ends_with('s') && took.contains('.'), "{took}");
    assert_eq!(text, "I look now.");
    assert!(
        told[1].ends_with("agent_message_chunk   It is broken."),
        "{}",
        told[1]
    );
    let raw = project
        .harn(&["show", "b", "--events", "--raw"])
        .exits_with(0);
    let told = lines(&raw, "agent_message_chunk");
    let texts = told.iter().map(|line| line.rsplit("   ").next());
    let texts: Vec<_> = texts.flatten().collect();
    assert_eq!(texts, ["I lo", "ok n", "ow.", "It is broken."], "{raw:#?}");
    let answer = project
        .harn(&["show", "b", "--events", "--json"])
        .exits_with(0);
    let events = answer.json()["events"].as_array().cloned().expect("a list");
    let pieces = events
        .iter()
        .filter(|one| one["kind"] == "agent_message_chunk");
    assert_eq!(pieces.count(), 4);
    project.harn(&["show", "b", "--raw"]).exits_with(2);
}

#[test]
fn of_a_failure_the_last_line_is_shown_as_well() {
    let project = built();
    let page = project.harn(&["show", "b"]).exits_with(0);
    let shown: Vec<&str> = page.stdout.lines().map(str::trim).collect();
    let at = shown.iter().position(|line| line.ends_with("building all"));
    let at = at.unwrap_or_else(|| panic!("no result in {page:#?}"));
    assert_eq!(shown[at + 1..][..3], ["one", "two", "… 2 more lines"]);
    assert_eq!(shown[at + 4], "error: no such crate");
    let events = project.harn(&["show", "b", "--events"]).exits_with(0);
    let ended = lines(&events, "tool_call_update");
    let ended = ended.last().expect("the call has ended");
    assert!(ended.contains("build failed: "), "{ended}");
    assert!(
        ended.ends_with("building all … error: no such crate"),
        "{ended}"
    );
}
