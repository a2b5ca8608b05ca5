//! Looking at a project, asking people, waiting for the world, connectors and vision.

use super::table::builtins;

builtins! {
    "__waitpoint_cancel(handle: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Says that what was waited for will not happen, for `std/waitpoint`.";
    "__waitpoint_complete(handle: string | dict, value: any = nil, options: dict | nil = nil) -> dict" [dict] Io "Says that what was waited for has happened, for `std/waitpoint`.";
    "__waitpoint_create(id: string | dict | nil = nil) -> dict" [dict] Io "Makes something to wait for, for `std/waitpoint`.";
    "__waitpoint_wait(handle: string | dict | list, options: dict | nil = nil) -> dict | list" [] Io "Waits until something has happened, for `std/waitpoint`.";
    "ask_user<T>(prompt: string, options: dict | nil = nil) -> T" [] Io "Asks a person and gives the answer.";
    "connector_call(provider: string, method: string, params: dict = {}) -> any" [] Io "Calls a connected service.";
    "dual_control<T>(n: int, m: int, action: fn() -> T, approvers: list<string> = []) -> T" [] Io "Does something after enough people have approved.";
    "escalate_to(role: string, reason: string) -> {request_id: string, role: string, reason: string, trace_id: string, status: string, accepted_at: string | nil, reviewer: string | nil}" [dict] Io "Hands something over to a person.";
    "event_log_emit(topic: string, kind: string, payload: any = nil, headers: dict | nil = nil) -> int" [] Io "Adds an event to a topic of the connector.";
    "hitl_pending(filters: dict | nil = nil) -> list<HitlPendingRequest>" [] Io "Lists what people were asked and have not answered.";
    "list_providers_native() -> list<dict>" [list] Io "Lists the services that send events.";
    "metrics_inc(name: string, amount: int | float = 1) -> nil" [] Io "Counts something about the connector.";
    "monitor_wait_for_native(options: dict) -> dict" [] Io "Asks again and again until a condition holds.";
    "project_catalog_native() -> list<dict>" [list] Pure "Lists the kinds of project that are recognised.";
    "project_enrich_native(path: string, options: dict) -> dict" [dict] Model "Lets a model describe a directory of a project.";
    r#"project_fingerprint(path: string = ".") -> {primary_language: string, languages: list<string>, frameworks: list<string>, package_manager: string | nil, package_managers: list<string>, test_runner: string | nil, build_tool: string | nil, vcs: string | nil, ci: list<string>, has_tests: bool, has_ci: bool, lockfile_paths: list<string>}"# [] Io "Tells what a project is made of.";
    r#"project_scan_native(path: string = ".", options: dict | nil = nil) -> dict"# [dict] Io "Tells what a directory of a project holds.";
    r#"project_scan_tree_native(path: string = ".", options: dict | nil = nil) -> dict"# [dict] Io "Tells what the directories of a project hold.";
    r#"project_walk_tree_native(path: string = ".", options: dict | nil = nil) -> list<dict>"# [list] Io "Lists the directories of a project.";
    "request_approval(action: string, options: dict | nil = nil) -> {approved: bool, reviewers: list<string>, approved_at: string, reason: string | nil, signatures: list<{reviewer: string, signed_at: string, signature: string}>}" [dict] Io "Waits until people approve of something.";
    "secret_get(id: string) -> string" [] Io "Gives a secret of the connector.";
    "vision_ocr(image: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Reads the text in an image.";
    "waitpoint_cancel(target: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Says that what was waited for will not happen.";
    "waitpoint_complete(target: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Says that what was waited for has happened.";
    "waitpoint_create(id: string | dict | nil = nil) -> dict" [dict] Io "Makes something to wait for.";
    "waitpoint_wait(target: string | dict | list, options: dict | nil = nil) -> dict" [dict] Io "Waits until something has happened.";
}
