//! What readers say about a log that is not what was written.

use super::{Backend, ORDERS, Project, SESSION, ids};

/// Three orders, of which the second cannot be read.
fn damaged() -> Project {
    let project = Project::with_records(Backend::File);
    project.append_one(ORDERS, "paid", serde_json::json!({"id": 7}));
    project.tamper(ORDERS, |bytes| {
        let second = second_line(bytes);
        bytes[second + 30] ^= 1;
    });
    project
}

/// What is said about it.
fn place(project: &Project) -> String {
    let bytes = std::fs::read(project.topic_file(ORDERS)).expect("the topic has a file");
    let second = second_line(&bytes);
    format!(".harn/events/topics/orders.jsonl is damaged at byte {second}: its checksum is wrong")
}

/// Where the second line begins.
fn second_line(bytes: &[u8]) -> usize {
    let first = bytes.iter().position(|byte| *byte == b'\n');
    first.expect("records end in a line break") + 1
}

#[test]
fn readers_show_what_is_before_damage_then_its_place_and_what_to_do() {
    let project = damaged();
    let call = project.harn(&["show", ORDERS, "--json"]).exits_with(1);
    assert_eq!(ids(&call), [1]);
    let lines: Vec<&str> = call.stderr.lines().collect();
    assert_eq!(lines[0], format!("error: {}", place(&project)));
    assert!(lines[1].contains("`harn events repair`"), "{call:?}");
    assert!(lines[1].contains("--skip-damage"), "{call:?}");
    for command in [&["export", ORDERS][..], &["stats"]] {
        let call = project.harn(command).exits_with(1);
        assert!(call.stderr.contains(&place(&project)), "{call:?}");
    }
}

#[test]
fn damage_can_be_skipped() {
    let project = damaged();
    for command in ["show", "export"] {
        let arguments = [command, ORDERS, "--json", "--skip-damage"];
        let call = project.harn(&arguments).exits_with(0);
        assert_eq!(ids(&call), [1, 3]);
    }
}

#[test]
fn what_is_after_damage_and_other_topics_can_be_read() {
    let project = damaged();
    let call = project
        .harn(&["tail", ORDERS, "-n", "1", "--json"])
        .exits_with(0);
    assert_eq!(ids(&call), [3]);
    project.harn(&["tail", ORDERS, "-n", "2"]).exits_with(1);
    project.harn(&["show", SESSION]).exits_with(0);
    project.harn(&["topics"]).exits_with(0);
}

#[test]
fn verifying_tells_the_place() {
    let project = damaged();
    let call = project.harn(&["verify"]).exits_with(1);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert!(lines[0].starts_with("✓ observability"), "{lines:?}");
    // One could be read before the damage.
    assert_eq!(lines[1], "✗ orders                          1 record");
    assert_eq!(lines[2], format!("    {}", place(&project)));
}

#[test]
fn a_topic_that_has_lost_its_end_does_not_hide_the_others() {
    let project = Project::with_records(Backend::File);
    project.tamper(ORDERS, |bytes| bytes.truncate(bytes.len() - 10));
    let call = project.harn(&["topics"]).exits_with(1);
    assert!(
        call.stdout
            .contains("\nobservability.agent_events.s_1         4"),
        "{call:?}"
    );
    let row = "orders                                 ?         ?  cannot be read";
    let call = call.prints(row);
    assert!(
        call.stderr
            .starts_with("error: .harn/events/topics/orders.jsonl is damaged")
    );
    project.harn(&["show", SESSION]).exits_with(0);
    let call = project.harn(&["verify"]).exits_with(1);
    assert!(call.stdout.starts_with("✓ observability"), "{call:?}");
}

#[test]
fn a_file_that_is_no_database_any_more_is_told() {
    let project = Project::with_records(Backend::Sqlite);
    let path = project.log_path();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[16..].fill(7);
    std::fs::write(&path, bytes).unwrap();
    let call = project.harn(&["topics"]).exits_with(1);
    assert!(
        call.stderr.starts_with("error: .harn/events.sqlite: "),
        "{call:?}"
    );
}
