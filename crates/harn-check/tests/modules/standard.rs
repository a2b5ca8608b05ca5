//! The modules that come with the language.

use harn_check::modules::{MemoryFiles, Workspace, standard_modules};

fn path(name: &str) -> String {
    format!("<stdlib>/{name}.harn")
}

/// 11.2, the list.
#[test]
fn there_are_exactly_the_modules_of_the_specification() {
    let expected = "acp agent_state agents async checkpoint collections \
        connectors/github connectors/linear connectors/notion connectors/slack context experiments \
        graphql hitl host json math memory monitors path plan postgres project prompt_library \
        review runtime schema testing text triggers vision waitpoint waitpoints worktree";
    let names: Vec<_> = standard_modules().collect();
    assert_eq!(names.join(" "), expected);
    assert_eq!(names.len(), 34);
}

#[test]
fn they_are_programs_and_load() {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    for name in standard_modules() {
        let file = workspace.parsed(path(name)).unwrap();
        assert_eq!(file.parsed.errors, [], "{name}");
        assert_eq!(*workspace.import_problems(path(name)), [], "{name}");
        assert_eq!(workspace.load_plan(path(name)).failure, None, "{name}");
        let exports = workspace.exports(path(name));
        assert!(
            !exports.functions.is_empty() || !exports.types.is_empty(),
            "{name}"
        );
    }
}

/// 32: a few names of each module that the documents print.
#[test]
fn they_export_what_the_specification_names() {
    let expected = [
        (
            "text",
            "int_to_string parse_float_or extract_paths format_test_errors",
        ),
        ("collections", "filter_nil store_stale store_refresh"),
        (
            "math",
            "clamp mean kmeans normal_quantile chebyshev_distance",
        ),
        ("path", "ext stem normalize workspace_info list_dirs"),
        ("json", "pretty safe_parse merge pick omit"),
        (
            "schema",
            "schema_any schema_array from_openapi_schema is_type get_typed_value",
        ),
        (
            "testing",
            "with_mocks host_was_called assert_host_call_count llm_calls",
        ),
        (
            "async",
            "wait_for retry_until retry_with_backoff circuit_call",
        ),
        ("checkpoint", "checkpoint_stage checkpoint_stage_retry"),
        (
            "runtime",
            "runtime_task process_exec interaction_ask record_run_metadata",
        ),
        ("host", "host_tools host_tool_lookup host_tool_available"),
        ("worktree", "worktree_create worktree_shell"),
        (
            "context",
            "clip_text section context context_render prompt_compose",
        ),
        ("graphql", "graphql_request graphql_generate_client"),
        ("connectors/github", "configure comment wait_until_ci_green"),
        ("connectors/slack", "post_message wait_for_reaction"),
        (
            "connectors/linear",
            "operation execute wait_until_issue_state",
        ),
        ("connectors/notion", "get_page query_database"),
        ("prompt_library", "prompt_fragment prompt_library_hotspots"),
        ("acp", "tool_call handoff_update ToolCall PipelineResult"),
        ("experiments", "message chain_of_draft append_message"),
        ("plan", "plan_from request_plan_approval PlanArtifact"),
        ("review", "review_rubrics review_rubric ReviewResult"),
        (
            "hitl",
            "HitlPendingRequest AskUserOptions ApprovalDeniedError",
        ),
        (
            "waitpoint",
            "create wait complete cancel WaitpointTimeoutError",
        ),
        ("waitpoints", "WaitpointWaitResult"),
        ("monitors", "wait_for MonitorWaitOptions"),
        ("postgres", "PgHandle PgExecuteResult"),
        ("vision", "ocr StructuredText VisionBox"),
        ("memory", "memory_store memory_forget"),
        ("agent_state", "agent_state_init agent_state_handoff_key"),
        (
            "project",
            "project_scan project_requires_refresh ProjectFingerprint",
        ),
        (
            "triggers",
            "list_providers llm_classify TriggerEvent LinearIssueSortOrderChange",
        ),
        (
            "agents",
            "task_run workflow_session_persist worker_action_items action_graph_run",
        ),
    ];
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    for (module, names) in expected {
        let exports = workspace.exports(path(module));
        let functions = exports.functions.iter().map(|it| it.name.as_str());
        let exported: Vec<_> = functions
            .chain(exports.types.iter().map(|it| it.name.as_str()))
            .collect();
        for name in names.split(' ') {
            assert!(exported.contains(&name), "{module} has no {name}");
        }
    }
}

/// Appendix B of the builtins: `std/review` uses a type of `std/triggers`.
#[test]
fn a_type_brings_those_of_other_modules_along() {
    let files = MemoryFiles::new();
    files.write("/main.harn", "import { ReviewResult } from \"std/review\"");
    let mut workspace = Workspace::new(Box::new(files));
    let imported = workspace.imported("/main.harn");
    assert_eq!(imported.names.join(" "), "ReviewResult");
    // ReviewResult, ReviewFinding, ReviewSeverity, ReviewRound, TrustRecord and its three.
    assert_eq!(imported.types.len(), 7);
}
