//! `harn events stats`.

use std::fs;

use serde_json::json;

use super::{BACKENDS, Backend, HOUR, NOW_MS, ORDERS, Project, SECOND, SESSION};

#[test]
fn json_counts_records_types_and_bytes() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let answer = project.harn(&["stats", "--json"]).exits_with(0).json();
        let name = match backend {
            Backend::Sqlite => "sqlite",
            Backend::File => "file",
        };
        assert_eq!(answer["backend"], name);
        assert_eq!(answer["location"], project.log_name());
        assert!(answer["size_bytes"].as_u64().unwrap() > 500);
        assert_eq!(answer["records"], 6);
        let orders = json!({
            "topic": ORDERS, "records": 2, "newest_id": 2,
            // {"id":7} and {"by":"Post","id":7}
            "payload_bytes": 8 + 20,
            "first_at_ms": NOW_MS - 2 * HOUR, "last_at_ms": NOW_MS - 3 * SECOND,
            "kinds": {"placed": 1, "shipped": 1},
        });
        assert_eq!(answer["topics"][1], orders);
        let session = &answer["topics"][0];
        assert_eq!(session["topic"], SESSION);
        let kinds = json!({"agent_message_chunk": 2, "tool_call": 1, "user_message": 1});
        assert_eq!(session["kinds"], kinds);
        let bytes = session["payload_bytes"].as_u64().unwrap() + 28;
        assert_eq!(answer["payload_bytes"], bytes);
    }
}

#[test]
fn people_get_the_most_frequent_types_first() {
    let project = Project::with_records(Backend::File);
    project.append_one(ORDERS, "shipped", json!({"id": 8}));
    let size = fs::metadata(project.topic_file(ORDERS)).unwrap().len()
        + fs::metadata(project.topic_file(SESSION)).unwrap().len();
    let tenths = size * 10 / 1024;
    let call = project.harn(&["stats", ORDERS]).exits_with(0);
    let expected = format!(
        "\
backend   file
location  .harn/events
size      {}.{} KiB
records   3
payload   36 bytes

orders
  3 records, 36 bytes of payload, first 2h ago, last just now
         2  shipped
         1  placed
",
        tenths / 10,
        tenths % 10
    );
    assert_eq!(call.stdout, expected);
    assert_eq!(call.stderr, "");
    let call = project.harn(&["stats", ORDERS, "--absolute"]);
    let times = ", first 2026-01-31T10:00:00.000Z, last 2026-01-31T12:00:00.000Z\n";
    assert!(call.stdout.contains(times), "{call:?}");
}
