//! What can be seen of a run: traces, the event log, safety checks, friction, context packs, metrics.

use super::table::builtins;

builtins! {
    "assemble_context(options: dict) -> dict" [dict] Pure "Packs artifacts into a budget of tokens.";
    "context_pack_manifest(payload: dict) -> dict" [dict] Pure "Describes a context pack.";
    "context_pack_manifest_parse(text: string) -> dict" [dict] Pure "Reads the description of a context pack.";
    "context_pack_suggestions(events: list | nil = nil, options: dict | nil = nil) -> list<dict>" [list] Pure "Suggests context packs for what got in the way.";
    "enable_tracing(on: bool = true) -> nil" [nil] Pure "Begins to keep spans.";
    "eval_metric(name: string, value: any, metadata: dict | nil = nil) -> nil" [nil] Pure "Notes a measurement.";
    "eval_metrics() -> list<dict>" [list] Pure "Lists the measurements.";
    "event_log.emit(topic: string, kind: string, payload: any = nil, headers: dict = {}) -> int" [int] Io "Adds an event to a topic and gives its id.";
    "event_log.latest(topic: string) -> int | nil" [int nil] Io "Gives the id of a topic's last event.";
    "event_log.subscribe(topic: string | dict, cursor: int | nil = nil) -> stream" [stream] Io "Gives the events of a topic after a cursor, and then those that come.";
    "flow_evidence_atom(atom: string, start: int, end: int) -> dict" [dict] Pure "Points at a piece of a change.";
    "flow_evidence_citation(url: string, quote: string, fetched_at: string) -> dict" [dict] Pure "Points at something read elsewhere.";
    "flow_evidence_metadata(directory: string, namespace: string, key: string) -> dict" [dict] Pure "Points at something noted about a directory.";
    "flow_evidence_transcript(id: string, start: int, end: int) -> dict" [dict] Pure "Points at a piece of a transcript.";
    "flow_invariant_allow() -> dict" [dict] Pure "Says that a change is fine.";
    "flow_invariant_block(code: string, message: string) -> dict" [dict] Pure "Says that a change must not be made.";
    "flow_invariant_confidence(result: dict) -> float" [float] Pure "Tells how sure a verdict is.";
    "flow_invariant_is_blocking(result: dict) -> bool" [bool] Pure "Tells whether a verdict forbids a change.";
    "flow_invariant_kind(result: dict) -> string" [string] Pure "Names the kind of a verdict.";
    r#"flow_invariant_require_approval(kind: "principal" | "role", id: string) -> dict"# [dict] Pure "Says that somebody must approve of a change.";
    "flow_invariant_warn(reason: string) -> dict" [dict] Pure "Says that a change is doubtful.";
    "flow_remediation(description: string) -> dict" [dict] Pure "Says how to put a change right.";
    "flow_with_confidence(result: dict, confidence: int | float) -> dict" [dict] Pure "Gives a verdict with how sure it is.";
    "flow_with_evidence(result: dict, evidence: list<dict>) -> dict" [dict] Pure "Gives a verdict with evidence.";
    "flow_with_remediation(result: dict, remediation: dict) -> dict" [dict] Pure "Gives a verdict with a way to put it right.";
    "friction_clear() -> nil" [nil] Pure "Forgets what got in the way.";
    "friction_eval_fixture(fixture: dict) -> dict" [dict] Pure "Checks what is suggested about things that got in the way.";
    "friction_event(payload: dict) -> dict" [dict] Pure "Describes something that got in the way.";
    "friction_events() -> list<dict>" [list] Pure "Lists what got in the way.";
    "friction_record(payload: dict, options: dict | nil = nil) -> dict" [dict] Io "Keeps something that got in the way.";
    "secret_scan(text: string) -> list<dict>" [list] Io "Finds what looks like a secret in a text.";
    r#"self_review(diff: string, rubric: string = "default", max_rounds: int = 1) -> dict"# [dict] Model "Lets a model review a change.";
    "trace_end(span: dict) -> nil" [nil] Clock "Closes a span and logs how long it took.";
    "trace_id() -> string | nil" [string nil] Pure "Gives the id of the current trace.";
    "trace_spans() -> list<dict>" [list] Pure "Lists the spans that were kept.";
    "trace_start(name: string) -> dict" [dict] Clock "Opens a span.";
    "trace_summary() -> string" [string] Pure "Shows the spans that were kept as text.";
}
