//! `harn events repair`.

use std::fs;

use serde_json::json;

use super::{BACKENDS, Backend, ORDERS, Project, SESSION};

const TORN: &[u8] = br#"{"id":3,"ev"#;

#[test]
fn a_torn_end_is_cut_and_told() {
    let project = Project::with_records(Backend::File);
    let whole = fs::read(project.topic_file(ORDERS)).unwrap();
    project.tamper(ORDERS, |bytes| bytes.extend(TORN));
    project.harn(&["show", ORDERS]).exits_with(0);
    let call = project.harn(&["repair"]).exits_with(0);
    let end = whole.len();
    let expected =
        format!("orders: cut 11 bytes at byte {end} of .harn/events/topics/orders.jsonl\n");
    assert_eq!(call.stdout, expected);
    assert_eq!(call.stderr, "topics: 2, torn ends cut: 1, damaged: 0\n");
    assert_eq!(fs::read(project.topic_file(ORDERS)).unwrap(), whole);
    let call = project.harn(&["repair"]).exits_with(0);
    assert_eq!(call.stdout, "", "once is enough");
}

#[test]
fn json_tells_what_was_cut_and_what_is_left() {
    let project = Project::with_records(Backend::File);
    let end = fs::read(project.topic_file(ORDERS)).unwrap().len();
    project.tamper(ORDERS, |bytes| bytes.extend(TORN));
    project.tamper(SESSION, |bytes| bytes[40] ^= 1);
    let damaged = fs::read(project.topic_file(SESSION)).unwrap();
    let answer = project.harn(&["repair", "--json"]).exits_with(1).json();
    assert_eq!(answer["ok"], false);
    let path = ".harn/events/topics/orders.jsonl";
    let cut = json!([{"topic": ORDERS, "path": path, "offset": end, "bytes_cut": 11,
        "records_cut": 0}]);
    assert_eq!(answer["cut"], cut);
    let damage = &answer["damage"][0];
    assert_eq!(damage["topic"], SESSION);
    assert_eq!(damage["offset"], 0);
    assert_eq!(damage["problem"], "its checksum is wrong");
    let length = damaged.iter().position(|byte| *byte == b'\n').unwrap();
    assert_eq!(damage["length"], length);
    assert_eq!(fs::read(project.topic_file(SESSION)).unwrap(), damaged);
}

#[test]
fn damage_elsewhere_is_told_with_its_place_and_left_alone() {
    let project = Project::with_records(Backend::File);
    project.tamper(ORDERS, |bytes| bytes[40] ^= 1);
    let before = fs::read(project.topic_file(ORDERS)).unwrap();
    let call = project.harn(&["repair"]).exits_with(1);
    let expected = "orders: damaged, left as it is: .harn/events/topics/orders.jsonl at byte 0: \
                    its checksum is wrong\n";
    assert_eq!(call.stdout, expected);
    assert_eq!(call.stderr, "topics: 2, torn ends cut: 0, damaged: 1\n");
    assert_eq!(fs::read(project.topic_file(ORDERS)).unwrap(), before);
}

#[test]
fn a_topic_that_has_lost_its_end_is_left_alone() {
    let project = Project::with_records(Backend::File);
    project.tamper(ORDERS, |bytes| bytes.truncate(bytes.len() - 10));
    let before = fs::read(project.topic_file(ORDERS)).unwrap();
    let call = project.harn(&["repair"]).exits_with(1);
    assert!(
        call.stdout.starts_with("orders: damaged, left as it is: "),
        "{call:?}"
    );
    assert_eq!(fs::read(project.topic_file(ORDERS)).unwrap(), before);
}

#[test]
fn a_whole_log_stays_as_it_is() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let before = project.harn(&["export", "--all"]).stdout;
        let call = project.harn(&["repair"]).exits_with(0);
        assert_eq!(call.stdout, "");
        assert_eq!(call.stderr, "topics: 2, torn ends cut: 0, damaged: 0\n");
        assert_eq!(project.harn(&["export", "--all"]).stdout, before);
        let answer = project.harn(&["repair", "--json"]).exits_with(0).json();
        assert_eq!(answer, json!({"ok": true, "cut": [], "damage": []}));
    }
}

#[test]
fn what_is_configured_to_go_stays() {
    let project = Project::with_records(Backend::File);
    let manifest = "[event_log]\nbackend = \"file\"\n\
                    [[event_log.retention]]\ntopics = \"*\"\nmax_count = 1\n";
    fs::write(project.folder().join("harn.toml"), manifest).unwrap();
    project.harn(&["repair"]).exits_with(0);
    let call = project.harn(&["show", "--json"]);
    assert_eq!(call.stdout.lines().count(), 6);
}
