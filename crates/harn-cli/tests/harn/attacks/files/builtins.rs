//! All builtins with a path or a command in them.

use std::collections::BTreeSet;
use std::fs;

use super::{Place, in_a_tool};

/// What a builtin does with the path or the command that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It looks at files. `P` stands for the path.
    Reads(&'static str),
    /// It changes files.
    Writes(&'static str),
    /// It starts a process. `P` stands for a path among its words.
    Starts(&'static str),
    /// It takes a text, a source of items or a name; no file is touched because of it.
    TouchesNothing,
    /// It has no body yet, or is a part of another one that is tried here.
    NotReachable,
}

use Class::{NotReachable, Reads, Starts, TouchesNothing, Writes};

/// Names of parameters that are a path or a command.
const NAMES: [&str; 22] = [
    "base",
    "command",
    "cwd",
    "dir",
    "directory",
    "file",
    "files",
    "folder",
    "image",
    "line",
    "path",
    "paths",
    "place",
    "program",
    "root",
    "roots",
    "script",
    "snippet",
    "source",
    "target",
    "template",
    "top",
];

/// A new builtin with such a parameter has to be put here.
const CLASSES: &[(&str, Class)] = &[
    ("append_file", Writes("append_file(P, \"x\")")),
    ("copy_file", Reads("copy_file(P, \"in/copy\")")),
    ("delete_file", Writes("delete_file(P)")),
    ("file_exists", Reads("file_exists(P)")),
    ("glob", Reads("glob(\"*\", path_parent(P))")),
    ("list_dir", Reads("list_dir(path_parent(P))")),
    ("mkdir", Writes("mkdir(P + \"-new\")")),
    ("move_file", Writes("move_file(P, \"in/moved\")")),
    ("read_file", Reads("read_file(P)")),
    ("read_file_bytes", Reads("read_file_bytes(P)")),
    ("read_file_result", Reads("read_file_result(P)")),
    ("read_lines", Reads("read_lines(P)")),
    ("stat", Reads("stat(P)")),
    ("walk_dir", Reads("walk_dir(path_parent(P))")),
    ("write_file", Writes("write_file(P, \"x\")")),
    (
        "write_file_bytes",
        Writes("write_file_bytes(P, bytes_from_string(\"x\"))"),
    ),
    (
        "http_download",
        Writes("http_download(\"http://h.test/x\", P)"),
    ),
    ("render", Reads("render(P)")),
    ("render_prompt", Reads("render_prompt(P)")),
    ("render_with_provenance", Reads("render_with_provenance(P)")),
    (
        "compute_content_hash",
        Reads("compute_content_hash(path_parent(P))"),
    ),
    ("scan_directory", Reads("scan_directory(path_parent(P))")),
    (
        "project_fingerprint",
        Reads("project_fingerprint(path_parent(P))"),
    ),
    (
        "project_scan_native",
        Reads("project_scan_native(path_parent(P))"),
    ),
    (
        "project_scan_tree_native",
        Reads("project_scan_tree_native(path_parent(P))"),
    ),
    (
        "project_walk_tree_native",
        Reads("project_walk_tree_native(path_parent(P))"),
    ),
    ("project_enrich_native", NotReachable),
    (
        "agent_session_seed_from_jsonl",
        Reads("agent_session_seed_from_jsonl(P)"),
    ),
    ("daemon_resume", Reads("daemon_resume(path_parent(P))")),
    ("mcp_server_card", Reads("mcp_server_card(P)")),
    ("exec", Starts("exec(\"cat\", P)")),
    ("exec_at", Starts("exec_at(path_parent(P), \"ls\")")),
    ("shell", Starts("shell(\"cat ${P}\")")),
    ("shell_at", Starts("shell_at(path_parent(P), \"ls\")")),
    ("mcp_connect", Starts("mcp_connect(P)")),
    // Sources of items, names of sessions, templates as texts, records of what was done.
    ("__drain", TouchesNothing),
    ("__immediate", TouchesNothing),
    ("__lazy", TouchesNothing),
    ("__lift", TouchesNothing),
    ("agent_session_add_root", TouchesNothing),
    ("agent_session_fork", TouchesNothing),
    ("agent_session_fork_at", TouchesNothing),
    ("agent_session_post_event", TouchesNothing),
    ("agent_session_record_changed_path", TouchesNothing),
    ("agent_session_remove_root", TouchesNothing),
    ("artifact_apply_intent", TouchesNothing),
    ("artifact_command_result", TouchesNothing),
    ("artifact_diff", TouchesNothing),
    ("artifact_diff_review", TouchesNothing),
    ("artifact_editor_selection", TouchesNothing),
    ("artifact_patch_proposal", TouchesNothing),
    ("artifact_review_decision", TouchesNothing),
    ("artifact_workspace_file", TouchesNothing),
    ("artifact_workspace_snapshot", TouchesNothing),
    ("composition_execute", TouchesNothing),
    ("continue_as_new", TouchesNothing),
    ("format", TouchesNothing),
    ("http_server_route", TouchesNothing),
    ("iter", TouchesNothing),
    ("llm_pick_model", TouchesNothing),
    ("mcp_resource_template", TouchesNothing),
    ("pg_connect", TouchesNothing),
    ("pg_pool", TouchesNothing),
    ("pow", TouchesNothing),
    ("render_string", TouchesNothing),
    ("schema_extend", TouchesNothing),
    ("signed_url", TouchesNothing),
    ("stream.broadcast", TouchesNothing),
    ("stream.collect", TouchesNothing),
    ("stream.debounce", TouchesNothing),
    ("stream.filter", TouchesNothing),
    ("stream.first", TouchesNothing),
    ("stream.fold", TouchesNothing),
    ("stream.map", TouchesNothing),
    ("stream.scan", TouchesNothing),
    ("stream.take", TouchesNothing),
    ("stream.take_until", TouchesNothing),
    ("stream.tap", TouchesNothing),
    ("stream.throttle", TouchesNothing),
    ("vision_ocr", TouchesNothing),
    ("waitpoint_cancel", TouchesNothing),
    ("waitpoint_complete", TouchesNothing),
    ("waitpoint_wait", TouchesNothing),
    ("websocket_route", TouchesNothing),
    ("workflow.continue_as_new", TouchesNothing),
    ("workflow.pause", TouchesNothing),
    ("workflow.publish_query", TouchesNothing),
    ("workflow.query", TouchesNothing),
    ("workflow.receive", TouchesNothing),
    ("workflow.respond_update", TouchesNothing),
    ("workflow.resume", TouchesNothing),
    ("workflow.signal", TouchesNothing),
    ("workflow.status", TouchesNothing),
    ("workflow.update", TouchesNothing),
    ("workflow_rewire", TouchesNothing),
    // Parts of builtins and modules.
    ("__agent_state_resume", NotReachable),
    ("__project_ci", NotReachable),
    ("__project_files", NotReachable),
    ("__project_start", NotReachable),
    ("__metadata_folder", NotReachable),
    ("__template_path", NotReachable),
    ("load_run_tree", Reads("load_run_tree(P)")),
    ("run_record_load", Reads("run_record_load(P)")),
    ("run_record_save", Writes("run_record_save({}, P)")),
    // Paths as texts.
    ("basename", TouchesNothing),
    ("dirname", TouchesNothing),
    ("extname", TouchesNothing),
    ("path_basename", TouchesNothing),
    ("path_extension", TouchesNothing),
    ("path_is_absolute", TouchesNothing),
    ("path_is_relative", TouchesNothing),
    ("path_normalize", TouchesNothing),
    ("path_parent", TouchesNothing),
    ("path_parts", TouchesNothing),
    ("path_relative_to", TouchesNothing),
    ("path_segments", TouchesNothing),
    ("path_stem", TouchesNothing),
    ("path_to_native", TouchesNothing),
    ("path_to_posix", TouchesNothing),
    ("path_with_extension", TouchesNothing),
    ("path_with_stem", TouchesNothing),
    // Where in the workspace a path would lie, by its text.
    ("path_workspace_info", TouchesNothing),
    ("path_workspace_normalize", TouchesNothing),
    // Names of folders, as keys of notes.
    ("flow_evidence_metadata", TouchesNothing),
    ("metadata_get", TouchesNothing),
    ("metadata_resolve", TouchesNothing),
    ("metadata_set", TouchesNothing),
];

/// The parameters of a builtin that are a path or a command.
fn takes_one(signature: &str) -> bool {
    let Some((_, parameters)) = signature.split_once('(') else {
        return false;
    };
    NAMES.iter().any(|name| {
        let mut found = parameters.match_indices(name);
        found.any(|(at, _)| {
            let before = parameters[..at].chars().next_back();
            let is_whole = before.is_none_or(|before| " .(".contains(before));
            is_whole && parameters[at + name.len()..].starts_with(':')
        })
    })
}

#[test]
fn every_builtin_with_a_path_or_a_command_in_it_is_known() {
    use harn_check::builtins::{all, unlisted};
    let declared = all().iter().chain(unlisted());
    let declared = declared.filter(|builtin| takes_one(builtin.signature));
    let declared: BTreeSet<&str> = declared.map(|builtin| builtin.name).collect();
    let known: BTreeSet<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
    let new: Vec<_> = declared.difference(&known).collect();
    assert!(new.is_empty(), "put these into CLASSES: {new:?}");
    let gone: Vec<_> = known.difference(&declared).collect();
    assert!(gone.is_empty(), "these take no path any more: {gone:?}");
}

/// The lines of a program that tries what is wanted of all builtins, with a path for `P`.
fn attempts(path: &str, wanted: impl Fn(Class) -> Option<&'static str>) -> Vec<String> {
    let wanted = CLASSES.iter().filter_map(|(name, class)| {
        let call = wanted(*class)?.replace('P', &format!("{path:?}"));
        Some(format!("  attempt(\"{name}\", {{ -> {call} }})"))
    });
    wanted.collect()
}

const MOCK: &str = "  http_mock(\"GET\", \"http://h.test/x\", {status: 200, body: \"x\"})\n";

/// Fails for each line that does not tell of a refusal.
#[track_caller]
fn assert_all_refused(stdout: &str, count: usize, refusals: &[&str]) {
    let lines: Vec<&str> = stdout.lines().collect();
    let held = |line: &&&str| {
        let is_refused = refusals.iter().any(|refusal| line.contains(refusal));
        is_refused || line.contains("is specified and not built")
    };
    let passed: Vec<_> = lines.iter().filter(|line| !held(line)).collect();
    assert!(passed.is_empty(), "{passed:#?}");
    assert_eq!(lines.len(), count, "{stdout}");
}

#[test]
fn no_builtin_leaves_the_roots_of_its_tool() {
    let place = Place::new();
    let outside = place.outside();
    let every = |class| match class {
        Reads(call) | Writes(call) | Starts(call) => Some(call),
        TouchesNothing | NotReachable => None,
    };
    for path in [
        format!("{outside}/file"),
        "in/link/file".to_owned(),
        "in/../link/file".to_owned(),
    ] {
        let lines = attempts(&path, every);
        let work = MOCK.to_owned() + &lines.join("\n");
        let program = in_a_tool(&work, "policy: {workspace_roots: [\"in\"]}");
        let call = place.run(&program, &[]).exits_with(0);
        assert_all_refused(&call.stdout, lines.len(), &["outside workspace_roots"]);
    }
    let left: Vec<_> = fs::read_dir(&outside).expect("it is there").collect();
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(place.programs.text("out/file"), "secret\n");
}

#[test]
fn no_builtin_writes_below_a_ceiling_that_only_reads() {
    let place = Place::new();
    let every = |class| match class {
        Writes(call) | Starts(call) => Some(call),
        Reads(_) | TouchesNothing | NotReachable => None,
    };
    let mut lines = attempts("in/file", every);
    let more = [
        ("copy_file", "copy_file(\"in/file\", \"in/copy\")"),
        ("store_set", "store_set(\"k\", 1)"),
        ("store_delete", "store_delete(\"k\")"),
        ("store_clear", "store_clear()"),
        ("store_save", "store_save()"),
        ("checkpoint", "checkpoint(\"k\", 1)"),
        ("checkpoint_delete", "checkpoint_delete(\"k\")"),
        ("checkpoint_clear", "checkpoint_clear()"),
        ("metadata_set", "metadata_set(\".\", \"n\", {a: 1})"),
        ("metadata_save", "metadata_save()"),
        (
            "friction_record",
            "friction_record({kind: \"repeated_query\", summary: \"s\"}, {log_path: \"in/log\"})",
        ),
    ];
    lines.extend(more.map(|(name, call)| format!("  attempt(\"{name}\", {{ -> {call} }})")));
    let program = in_a_tool(
        &lines.join("\n"),
        "policy: {side_effect_level: \"read_only\"}",
    );
    let call = place.run(&program, &[]).exits_with(0);
    let refusals = ["ceiling", "lets nothing be written"];
    assert_all_refused(&call.stdout, lines.len(), &refusals);
    let left = fs::read_dir(place.programs.path("work/in")).expect("it is there");
    assert_eq!(left.count(), 2, "a file and a link");
    assert!(!place.programs.path("work/.harn/store.json").exists());
}

#[test]
fn builtins_inside_a_loop_leave_the_memory_of_harn_alone() {
    let place = Place::new();
    place.programs.add("work/.harn/store.json", "{\"k\": 1}");
    place.programs.add("work/.harn/skills/x/SKILL.md", "skill");
    place.programs.add("work/moved/store.json", "{}");
    let work = r#"
  attempt("read", { -> read_file(".harn/store.json") })
  attempt("write", { -> write_file(".HARN/store.json", "x") })
  attempt("delete", { -> delete_file(".harn") })
  attempt("move", { -> move_file(".harn", "mine") })
  attempt("hook", { -> write_file(".git/hooks/pre-commit", "x") })
  attempt("program", { -> write_file("main.harn", "x") })
  attempt("manifest", { -> append_file("./in/../harn.toml", "x") })
  attempt("store", { -> store_get("k") })
  attempt("skill", { -> read_file(".harn/skills/x/SKILL.md") })
"#;
    let call = place.run(&in_a_tool(work, ""), &[]).exits_with(0);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert_eq!(lines.len(), 9, "{call:?}");
    for line in &lines[..4] {
        assert!(line.ends_with(", which belongs to Harn"), "{line}");
    }
    assert!(lines[4].ends_with(", which belongs to git"), "{}", lines[4]);
    for line in &lines[5..7] {
        assert!(line.contains("which Harn acts upon"), "{line}");
    }
    assert_eq!(lines[7..], ["store: done 1", "skill: done skill"]);
    assert!(!place.programs.path("work/harn.toml").exists());
}
