//! The kinds of artifacts, other names for them, and how much each matters.

/// The kind of artifacts that say nothing about their kind.
const PLAIN: &str = "artifact";

/// The kind that a name stands for. Names that nobody knows are kept: programs have kinds of
/// their own.
pub(super) fn normalised(name: &str) -> &str {
    match name.trim() {
        "" => PLAIN,
        "file" => "workspace_file",
        "transcript" => "transcript_summary",
        "verification" => "verification_result",
        "test" => "test_result",
        _ => name,
    }
}

/// How much artifacts of a kind matter if they do not say so themselves. What proves something
/// comes before what changes something, and that before what merely tells.
pub(super) fn priority(kind: &str) -> i64 {
    match kind {
        "verification_result" | "test_result" => 100,
        "verification_bundle" => 95,
        "handoff" => 92,
        "diff" | "git_diff" | "patch" | "patch_set" | "patch_proposal" | "diff_review"
        | "review_decision" | "apply_intent" => 90,
        "plan" => 80,
        "workspace_file" | "workspace_snapshot" | "editor_selection" | "resource" => 70,
        "summary" | "transcript_summary" => 60,
        "command_result" => 50,
        _ => 40,
    }
}
