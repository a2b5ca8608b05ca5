//! Every event there is: sixty-one variants in the order of the catalogue.
//!
//! The words `required`, `nullable` and `omitted` in front of a field say how
//! its key behaves on the wire; see [`define`](crate::define). Field types are
//! those of the catalogue, and a test compares the two field by field.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::define::agent_events;
use crate::wire::MapWriter;
use crate::{
    CompositionChildCall, CompositionChildResult, CompositionRunEnvelope, FsWatchEvent,
    HandoffArtifact, IterationInfo, MutationSessionRecord, ToolCallErrorCategory, ToolCallReceipt,
    ToolCallStatus, ToolExecutor, ToolKind, WorkerEvent,
};

agent_events! {
    /// A piece of assistant prose meant for the reader.
    AgentMessageChunk = "agent_message_chunk" {
        /// Assistant text to append to the reply being shown.
        required content: String,
    }

    /// A piece of model reasoning, kept apart from the reply.
    AgentThoughtChunk = "agent_thought_chunk" {
        /// Reasoning text.
        required content: String,
    }

    /// A user message with an identity entered the transcript.
    UserMessage = "user_message" {
        /// Caller-chosen id that ties the message to the request that delivered it.
        required message_id: String,
        /// Content blocks. A plain string becomes one {type:text,text} block; any other scalar or
        /// object becomes one text block holding its JSON.
        required content: Vec<Value>,
    }

    /// A tool call exists: announced by the stream, spotted as a text candidate, or about to be
    /// dispatched.
    ToolCall = "tool_call" {
        /// Correlation id for every later update, audit and routing event.
        required tool_call_id: String,
        /// Tool as declared to the model. Empty only while a tagged text candidate is still
        /// unnamed.
        required tool_name: String,
        /// Annotated tool class, null when the tool is unannotated.
        nullable kind: Option<ToolKind>,
        /// Normally pending; in_progress for provider-executed tools.
        required status: ToolCallStatus,
        /// Arguments as known now; {} when only the name has streamed.
        required raw_input: Value,
        /// true marks a candidate seen in streaming text whose arguments are not complete; absent
        /// means no candidate phase.
        omitted parsing: Option<bool>,
        /// Mutation session in force at dispatch.
        omitted audit: Option<MutationSessionRecord>,
    }

    /// Progress or outcome of a tool call.
    ToolCallUpdate = "tool_call_update" {
        /// Id of the call being updated.
        required tool_call_id: String,
        /// Tool name (may fill in a name the start left empty).
        required tool_name: String,
        /// pending, in_progress, completed or failed.
        required status: ToolCallStatus,
        /// Result payload on completion; null otherwise.
        nullable raw_output: Option<Value>,
        /// Human-readable failure text.
        nullable error: Option<String>,
        /// Wall time between the call leaving the parser and its outcome being known; orchestration
        /// overhead counts. Terminal updates only.
        omitted duration_ms: Option<u64>,
        /// Wall time inside the backend call alone. Terminal updates only.
        omitted execution_duration_ms: Option<u64>,
        /// Failure class; present only when status is failed.
        omitted error_category: Option<ToolCallErrorCategory>,
        /// Backend that ran the call; absent while no backend was chosen.
        omitted executor: Option<ToolExecutor>,
        /// false closes a candidate phase (promotion or abort); absent elsewhere.
        omitted parsing: Option<bool>,
        /// Best-effort parse of streamed arguments; on promotion the final arguments.
        omitted raw_input: Option<Value>,
        /// Raw accumulated argument text when it could not be parsed. Never together with
        /// raw_input.
        omitted raw_input_partial: Option<String>,
        /// Same record as on the paired start.
        omitted audit: Option<MutationSessionRecord>,
    }

    /// The agent emitted or replaced its plan.
    Plan = "plan" {
        /// Plan artifact; normalised artifacts carry schema_version harn.plan.v1.
        required plan: Value,
    }

    /// The agent reported progress.
    ProgressReported = "progress_reported" {
        /// Narration line.
        nullable message: Option<String>,
        /// Task-list entries: array of {content, status?, priority?}.
        required entries: Value,
        /// true: entries replace the shown list; false: append.
        required replace: bool,
        /// Free-form object.
        required metadata: Value,
    }

    /// The edit compass looked at a free-form edit and advised, rewrote or declined to rewrite it.
    CompassRoutingDecision = "compass_routing_decision" {
        /// Call that was inspected.
        required tool_call_id: String,
        /// Router mode: suggest or rewrite (off emits nothing).
        required mode: String,
        /// suggested, rewritten or fell_back.
        required action: String,
        /// Persona label used for counters.
        required persona: String,
        /// Tool the model called.
        required original_tool: String,
        /// Tool that will run: the new one after a rewrite, otherwise the original.
        required routed_tool: String,
        /// Structural primitive considered: edit_apply_node, edit_rename_symbol, edit_fast_apply or
        /// edit_safe_text_patch.
        required target_tool: String,
        /// Edited path when it could be read from the arguments.
        omitted path: Option<String>,
    }

    /// An attempt to reorganise the session scratchpad ended.
    AgentScratchpadReorganization = "agent_scratchpad_reorganization" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// reorganized, missing_scratchpad, llm_error, invalid_sources or store_error.
        required status: String,
        /// Counts and errors; never the scratchpad body.
        required details: Value,
    }

    /// The agent produced something renderable.
    Artifact = "artifact" {
        /// Artifact id (artifact_`<uuid v7>` unless given).
        required artifact_id: String,
        /// vega-lite, mermaid, table, file or artifact_manifest.
        required kind: String,
        /// Title.
        omitted title: Option<String>,
        /// Media type of the spec.
        required mime_type: String,
        /// Validated declarative spec.
        required spec: Value,
        /// Plain-text rendering, at most 64 KiB.
        required fallback: String,
        /// Encoded spec size, or the referenced file's size.
        required size_bytes: u64,
        /// Object, {} when not given, at most 64 KiB.
        required provenance: Value,
        /// Object, {} when not given, at most 64 KiB.
        required metadata: Value,
    }

    /// One model round trip is about to begin.
    IterationStart = "iteration_start" {
        /// Iteration number; the current loop counts from 1.
        required iteration: usize,
        /// Configured provider for the coming model call; empty when routing decides later.
        omitted provider: String,
        /// Configured model id; same rule as provider.
        omitted model: String,
    }

    /// One model round trip is over.
    IterationEnd = "iteration_end" {
        /// Same number as the paired start.
        required iteration: usize,
        /// Snapshot object. Stable keys: tool_count, text, provider, model, response_ms,
        /// input_tokens, output_tokens, thinking_chars. Keys present only when measured (e.g.
        /// client_first_frame_ms, serving_fingerprint) must not be read as zero. Skipped dispatch
        /// adds dispatch_skipped:true and skip_reason.
        required iteration_info: IterationInfo,
    }

    /// A session was closed explicitly.
    SessionClosed = "session_closed" {
        /// Why; closed when nothing was given.
        required reason: String,
        /// Final status; same as reason unless given.
        required status: String,
        /// Caller's status argument, or null.
        required metadata: Value,
    }

    /// The session's primary workspace changed.
    AnchorChanged = "anchor_changed" {
        /// WorkspaceAnchor before, null when there was none.
        nullable previous: Option<Value>,
        /// WorkspaceAnchor now.
        required current: Value,
        /// Whether history was kept.
        required carry_transcript: bool,
        /// Whether history was compacted on the way.
        required compacted: bool,
        /// Caller's reason.
        nullable reason: Option<String>,
    }

    /// The completion judge ruled on whether the task is finished.
    JudgeDecision = "judge_decision" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// Decision of record, typically done or continue.
        required verdict: String,
        /// Judge explanation.
        required reasoning: String,
        /// Suggested next action.
        nullable next_step: Option<String>,
        /// Time spent judging.
        required judge_duration_ms: u64,
        /// What asked for the judgement, e.g. verify_completion.
        omitted trigger: Option<String>,
    }

    /// A per-step reviewer judged an assistant turn before its tools run.
    StepJudgeDecision = "step_judge_decision" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// pass or revise (unavailable in later revisions).
        required verdict: String,
        /// Explanation.
        required reasoning: String,
        /// Text offered back to the model.
        required critique: String,
        /// 0..1, 1.0 when the judge did not say.
        required confidence: f64,
        /// Time spent.
        required judge_duration_ms: u64,
        /// Whether the turn is rejected.
        required vetoed: bool,
        /// The judge model was not called because of a configured short cut.
        omitted skipped: bool,
        /// Short reason code, e.g. judge_unavailable.
        omitted reason: Option<String>,
        /// The judge failed and the turn went on unreviewed; not a genuine pass.
        omitted judge_error: bool,
        /// Remedy: replace or retain.
        required on_veto: String,
        /// Judge prompt tokens.
        required input_tokens: u64,
        /// Judge completion tokens.
        required output_tokens: u64,
        /// Estimated cost; 0 when pricing is unknown.
        required cost_usd: f64,
        /// Judge provider.
        required provider: String,
        /// Judge model.
        required model: String,
    }

    /// A deterministic, free-of-charge check judged an assistant turn.
    StructuralValidatorDecision = "structural_validator_decision" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// Rule name, e.g. non_empty_when_writes_expected, no_phantom_completion,
        /// tool_calls_well_formed, output_token_cap_with_zero_calls.
        required rule: String,
        /// What was wrong.
        required diagnostic: String,
        /// What to do instead.
        required recommended_action: String,
        /// Whether the turn is rejected.
        required vetoed: bool,
        /// Check not applied.
        omitted skipped: bool,
        /// Why it was skipped.
        omitted reason: Option<String>,
        /// regenerate_with_feedback or raise.
        required on_failure: String,
        /// Retries used.
        required attempts: usize,
        /// Retry ceiling.
        required max_attempts: usize,
    }

    /// The pre-turn scope classifier ruled on the user's request.
    ScopeClassifierVerdict = "scope_classifier_verdict" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// in_scope, out_of_scope or escalate.
        required label: String,
        /// Label before the confidence rule; invalid or error on malformed output.
        required original_label: String,
        /// 0..1.
        required confidence: f64,
        /// Below it, any label but escalate becomes escalate (default 0.65).
        required confidence_threshold: f64,
        /// Short justification.
        required evidence: String,
        /// Whether an out_of_scope verdict replaces the model turn.
        required skip_main_turn: bool,
        /// Implementation label.
        omitted classifier_kind: Option<String>,
        /// Model used, if any.
        omitted model: Option<String>,
        /// Failure text when the classifier failed open.
        omitted error: Option<String>,
    }

    /// A classifier judged whether a text-only turn meant to call a tool.
    MissingToolCallVerdict = "missing_tool_call_verdict" {
        /// Loop iteration the event belongs to.
        required iteration: usize,
        /// tool_call_intended, no_tool_call_intended or ambiguous.
        required action: String,
        /// Action before the confidence rule.
        required original_action: String,
        /// Tool the text seemed to mean; may be empty.
        required tool_name: String,
        /// 0..1.
        required confidence: f64,
        /// Threshold applied.
        required confidence_threshold: f64,
        /// Short justification.
        required evidence: String,
        /// Language of the text when detected.
        omitted language: Option<String>,
        /// Implementation label.
        omitted classifier_kind: Option<String>,
        /// Model used.
        omitted model: Option<String>,
        /// Failure text.
        omitted error: Option<String>,
    }

    /// A script or subsystem recorded a structured checkpoint.
    TypedCheckpoint = "typed_checkpoint" {
        /// Whole host payload; script-authored, self-described by its schema or kind key.
        required checkpoint: Value,
    }

    /// Runtime feedback was placed before the model, or a corrective nudge fired.
    FeedbackInjected = "feedback_injected" {
        /// Feedback class, free text.
        required kind: String,
        /// Text or short derived summary.
        required content: String,
    }

    /// The run stopped because a hard ceiling was reached.
    BudgetExhausted = "budget_exhausted" {
        /// Iteration ceiling in force when the run stopped.
        required max_iterations: usize,
        /// Which ceiling: e.g. max_iterations, wall_clock, deadline, total_cost,
        /// consecutive_failures, unattributed.
        omitted kind: Option<String>,
        /// Session cost so far.
        omitted cost_usd: Option<f64>,
        /// Elapsed time of the run.
        omitted wall_clock_ms: Option<u64>,
    }

    /// A run-level breaker opened after repeated retryable failures.
    BudgetCircuitBreaker = "budget_circuit_breaker" {
        /// Breaker name, e.g. consecutive_failures.
        required kind: String,
        /// Failures in a row that tripped it.
        required consecutive_count: usize,
        /// Back-off honoured before the terminal event, on the runtime clock (virtual in tests).
        required paused_for_ms: u64,
    }

    /// The run ended because text-only turns exceeded the nudge ceiling.
    LoopStuck = "loop_stuck" {
        /// Configured nudge ceiling.
        required max_nudges: usize,
        /// Iteration at which the run gave up.
        required last_iteration: usize,
        /// Trimmed last assistant text, at most 240 characters followed by … when cut.
        required tail_excerpt: String,
    }

    /// A script declared itself stuck and attached its own escalation detail.
    LoopStuckSignal = "loop_stuck_signal" {
        /// Whole host payload.
        required payload: Value,
    }

    /// The reserved-budget guard ran, or granted, a last verification before ending on a budget or
    /// stuck boundary.
    ReservedTerminalVerify = "reserved_terminal_verify" {
        /// Whole host payload; phase is one of verify_started, grant, verify_passed, verify_failed.
        required payload: Value,
    }

    /// A daemon session gave up waiting because no wake source ever answered.
    DaemonWatchdogTripped = "daemon_watchdog_tripped" {
        /// Consecutive empty wake attempts.
        required attempts: usize,
        /// Time since idling began.
        required elapsed_ms: u64,
    }

    /// A skill became active.
    SkillActivated = "skill_activated" {
        /// Skill.
        required skill_name: String,
        /// Iteration at which it took effect.
        required iteration: usize,
        /// Why it matched, so a replayer can explain the activation.
        required reason: String,
    }

    /// A previously active skill no longer applies.
    SkillDeactivated = "skill_deactivated" {
        /// Skill.
        required skill_name: String,
        /// Iteration of the reassessment.
        required iteration: usize,
    }

    /// An activated skill narrowed the tools the model sees.
    SkillScopeTools = "skill_scope_tools" {
        /// Skill.
        required skill_name: String,
        /// Tools left visible by this skill.
        required allowed_tools: Vec<String>,
    }

    /// The loop ratcheted the tool surface narrower from observed usage.
    SkillNarrow = "skill_narrow" {
        /// Why the surface shrank.
        required reason: String,
        /// Tools removed now.
        required removed_tools: Vec<String>,
        /// Tools still visible.
        required remaining_tools: Vec<String>,
        /// Policy that decided.
        omitted policy: Value,
        /// Per-tool detail for removals.
        omitted removed_tool_details: Value,
        /// Per-tool detail for survivors.
        omitted kept_tool_details: Value,
    }

    /// The read-only stance changed state.
    StanceTransition = "stance_transition" {
        /// armed, write_access_granted, write_access_denied or disarmed.
        required phase: String,
        /// Tool that lets the model ask for write access; empty on grant and deny.
        required escape_tool: String,
        /// Permitted window, on armed.
        omitted allowed_tools: Vec<String>,
        /// Model's reason, on grant and deny.
        omitted justification: String,
        /// Kind of consent found, on grant and deny.
        omitted consent: String,
        /// Verdict explanation.
        omitted reason: String,
    }

    /// The model asked for tool search.
    ToolSearchQuery = "tool_search_query" {
        /// Provider or client id of the search call.
        required tool_use_id: String,
        /// Search tool name, e.g. tool_search_tool_bm25.
        required name: String,
        /// Raw search arguments.
        required query: Value,
        /// bm25, regex, hybrid or a custom label; empty for provider-native search.
        required strategy: String,
        /// client, anthropic or openai.
        required mode: String,
    }

    /// A tool search finished.
    ToolSearchResult = "tool_search_result" {
        /// Id of the query.
        required tool_use_id: String,
        /// Tools newly added to the model's surface for the next iteration.
        required promoted: Vec<String>,
        /// As on the query.
        required strategy: String,
        /// As on the query.
        required mode: String,
    }

    /// The transcript was compacted.
    TranscriptCompacted = "transcript_compacted" {
        /// Calling surface: manual, host, auto, preflight, workflow, worker, resume_digest.
        required mode: String,
        /// Pressure: manual, threshold, budget_pressure, or a host reason such as context_overflow.
        required reason: String,
        /// Policy strategy label.
        required strategy: String,
        /// Messages replaced by the summary.
        required archived_messages: usize,
        /// Estimate before.
        required estimated_tokens_before: usize,
        /// Estimate after.
        required estimated_tokens_after: usize,
        /// Asset holding the pre-compaction transcript.
        nullable snapshot_asset_id: Option<String>,
        /// How custom instructions were applied.
        omitted instruction_mode: Option<String>,
        /// Where they came from.
        omitted instruction_source: Option<String>,
        /// Policy object in force.
        omitted compaction_policy: Option<Value>,
    }

    /// A model-visible view was derived from the immutable transcript.
    TranscriptProjected = "transcript_projected" {
        /// raw, clean_tool_repair, squash_failed_calls, summary_prefix, reachability_gc or custom.
        required policy: String,
        /// Why this projection.
        required reason: String,
        /// Hash of the model-visible prefix.
        required prefix_hash: String,
        /// Messages kept.
        required kept_count: usize,
        /// Messages dropped.
        required dropped_count: usize,
        /// A provider-safety rule vetoed part of the projection.
        required provider_safety_blocked: bool,
        /// Messages redacted.
        omitted redacted_count: usize,
        /// Tokens saved.
        omitted reclaimed_tokens: usize,
        /// Reachability roots used.
        omitted roots_consulted: Vec<String>,
        /// Pointers to what was redacted.
        omitted redaction_pointers: Vec<Value>,
    }

    /// A pending system reminder was rendered into the next provider request.
    ReminderEmitted = "reminder_emitted" {
        /// Reminder.
        required reminder_id: String,
        /// Labels.
        required tags: Vec<String>,
        /// Rendered text.
        required body: String,
        /// system, developer, user_block or ephemeral_cache.
        required role_hint: String,
        /// Role actually used for the provider.
        required rendered_role: String,
        /// stdlib_provider, hook, bridge, in_pipeline or inherited.
        required source: String,
        /// Turns left to live; null means until removed.
        nullable ttl_turns: Option<i64>,
    }

    /// Work was handed to another persona, human, worker or remote agent.
    Handoff = "handoff" {
        /// Stored artifact holding the handoff.
        required artifact_id: String,
        /// Normalised handoff record.
        required handoff: Box<HandoffArtifact>,
    }

    /// Watched files changed, or the watcher failed.
    FsWatch = "fs_watch" {
        /// Watch subscription.
        required subscription_id: String,
        /// Coalesced notifications, never empty.
        required events: Vec<FsWatchEvent>,
    }

    /// The staged-write overlay of a session changed.
    StagedWritesPending = "staged_writes_pending" {
        /// Paths with staged changes.
        required pending_count: usize,
        /// Bytes waiting.
        required total_bytes: u64,
    }

    /// Outcome of one safe text patch.
    SafeTextPatchResult = "safe_text_patch_result" {
        /// Patched file.
        required path: String,
        /// applied, stale_base, no_op, or a caller-reported conflict label.
        required result: String,
        /// Hunks in the patch.
        required hunks_count: usize,
        /// Bytes written, 0 when nothing was written.
        required bytes_written: u64,
        /// Zero-based hunk that failed.
        omitted failed_hunk_index: Option<usize>,
    }

    /// A control action on a session was arbitrated.
    ControlOutcome = "control_outcome" {
        /// Control action id.
        required control_id: String,
        /// Wire method, e.g. session/cancel, session/prompt.
        required method: String,
        /// accepted, idempotent or rejected; withdrawn is a tolerated fourth value.
        required outcome: String,
        /// Resulting state.
        required status: String,
        /// Who acted; may be null.
        required actor: Value,
        /// What was acted on, e.g. {sessionId, messageId}.
        required target: Value,
        /// Why it lost or was refused.
        omitted reason: Option<String>,
        /// Extra facts, e.g. action, requestedMode, deliveryMode, recorded.
        omitted metadata: Value,
    }

    /// A delegated or background worker changed state.
    WorkerUpdate = "worker_update" {
        /// Worker.
        required worker_id: String,
        /// Name.
        required worker_name: String,
        /// Task text.
        required worker_task: String,
        /// Execution mode, e.g. delegated_stage.
        required worker_mode: String,
        /// Typed transition (variant name).
        required event: WorkerEvent,
        /// Wire status derived from event.
        required status: String,
        /// Worker metadata object (section 9, Worker metadata).
        required metadata: Value,
        /// MutationSessionRecord as JSON.
        nullable audit: Option<Value>,
    }

    /// A script is suspended waiting for a human.
    HitlRequested = "hitl_requested" {
        /// Request.
        required request_id: String,
        /// question, approval, dual_control or escalation.
        required kind: String,
        /// Primitive-specific request body.
        required payload: Value,
    }

    /// The human wait ended.
    HitlResolved = "hitl_resolved" {
        /// Request.
        required request_id: String,
        /// As requested.
        required kind: String,
        /// answered, timeout or cancelled; error is a tolerated fourth value.
        required outcome: String,
    }

    /// An adaptive budget or loop-control policy changed the limit or ended the run.
    LoopControlDecision = "loop_control_decision" {
        /// Iteration the decision applies to.
        required iteration: usize,
        /// extend or stop; further actions: thrash_rescue, abandon.
        required action: String,
        /// Iteration limit before.
        required old_limit: usize,
        /// Iteration limit after (equal for a stop).
        required new_limit: usize,
        /// Policy reason.
        required reason: String,
        /// Loop status for stops; empty for extensions.
        required status: String,
    }

    /// The stall detector saw repeated work.
    AgentLoopStallWarning = "agent_loop_stall_warning" {
        /// Whole host payload. Expected keys: iteration, tool_name, repeat_count, threshold,
        /// arguments_digest, signature_digest, pattern, signature, count, consecutive_trips,
        /// hard_stop; arguments only when explicitly enabled.
        required warning: Value,
    }

    /// The capability catalogue has no recommendation, so a fallback was chosen.
    CapabilityGap = "capability_gap" {
        /// Severity, e.g. warning.
        required level: String,
        /// Capability asked for, e.g. preferred_tool_format.
        required capability: String,
        /// Provider or unknown.
        required provider: String,
        /// Model or unknown.
        required model: String,
        /// Format chosen instead.
        required fallback_tool_format: String,
        /// Format that was asked for.
        omitted requested_tool_format: Option<String>,
        /// Operator-facing text.
        required message: String,
    }

    /// The caller forced a tool format against the catalogue's advice.
    ToolFormatOverride = "tool_format_override" {
        /// Provider.
        required provider: String,
        /// Model.
        required model: String,
        /// Format the caller forced.
        required requested_format: String,
        /// Format the catalogue prefers.
        required recommended_format: String,
        /// Parity note, e.g. native_only, text_only, native_unreliable, text_unreliable, unknown.
        required catalog_parity: String,
        /// Caller's reason.
        omitted override_reason: Option<String>,
    }

    /// Middleware attached audit information to a tool call.
    ToolCallAudit = "tool_call_audit" {
        /// Call the audit belongs to.
        required tool_call_id: String,
        /// Tool name.
        required tool_name: String,
        /// Free-form middleware record: typically summary, description, kind, hints, consent,
        /// layers, metadata.
        required audit: Value,
        /// Stable privacy-preserving receipt (hashes, no raw arguments or results).
        omitted receipt: Option<ToolCallReceipt>,
    }

    /// A cached value was served.
    CacheHit = "cache_hit" {
        /// Content-addressed key.
        required key: String,
        /// Backend that answered.
        required backend: String,
        /// Cache namespace.
        required namespace: String,
        /// Whole host payload. metrics holds model_calls_avoided, and tokens_saved /
        /// latency_saved_ms when the cached envelope allowed it.
        required payload: Value,
    }

    /// A value was computed and stored.
    CacheMiss = "cache_miss" {
        /// Content-addressed key.
        required key: String,
        /// Backend that answered.
        required backend: String,
        /// Cache namespace.
        required namespace: String,
        /// Whole host payload. metrics.compute_ms is the cost of producing the fresh value.
        required payload: Value,
    }

    /// A tool-composition snippet started.
    CompositionStart = "composition_start" {
        /// Identity and ceiling; outcome fields cleared.
        required run: CompositionRunEnvelope,
    }

    /// A snippet dispatched a child tool binding.
    CompositionChildCall = "composition_child_call" {
        /// The child operation.
        required call: CompositionChildCall,
    }

    /// A child operation reported a status or result.
    CompositionChildResult = "composition_child_result" {
        /// The child outcome or intermediate status.
        required result: CompositionChildResult,
    }

    /// A composition run succeeded.
    CompositionFinish = "composition_finish" {
        /// Terminal envelope with stdout, stderr, artifacts and result.
        required run: CompositionRunEnvelope,
    }

    /// A composition run failed.
    CompositionError = "composition_error" {
        /// Terminal envelope with failure_category and error.
        required run: CompositionRunEnvelope,
    }

    /// The loop reached a named steering seam and drained what was allowed there.
    LoopCheckpoint = "loop_checkpoint" {
        /// Iteration, or 0 on the daemon idle path.
        required iteration: usize,
        /// Seam name: iteration_start, pre_compact, post_compact, pre_tool_dispatch,
        /// post_tool_dispatch, iteration_end, daemon_idle_pre, daemon_idle_post or loop_exit.
        required kind: String,
        /// Bridge injections drained at this seam.
        required delivered: usize,
        /// Inbox feedback notes drained at this seam.
        omitted inbox_delivered: usize,
        /// true only at pre_tool_dispatch when an immediate interrupt cancelled the pending batch.
        omitted dispatch_skipped: bool,
    }

    /// A connected MCP server sent something to the client side.
    McpNotification = "mcp_notification" {
        /// Configured server name.
        required server: String,
        /// JSON-RPC method, verbatim.
        required method: String,
        /// notification or request.
        required direction: String,
        /// Payload, verbatim.
        required params: Value,
    }

    /// The effective MCP catalogue changed.
    McpCatalogChanged = "mcp_catalog_changed" {
        /// Server whose list changed; absent for an allowlist-wide change.
        omitted server: Option<String>,
        /// list_changed or allowlist_updated.
        required reason: String,
    }

    /// An MCP server answered 401 during a session.
    McpAuthRequired = "mcp_auth_required" {
        /// Configured server name.
        required server: String,
        /// Canonical RFC 8707 resource indicator, or the server URL when it cannot be derived.
        required resource: String,
        /// scope parameter of the bearer challenge.
        omitted scope: Option<String>,
    }
}

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_fields(&mut MapWriter(&mut map))?;
        map.end()
    }
}

/// Reads an event of any version. A tag nobody knows is an error here; use
/// [`RecordedEvent`](crate::RecordedEvent) to keep such events instead.
impl<'de> Deserialize<'de> for AgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        crate::decode::event_from_object(object).map_err(serde::de::Error::custom)
    }
}
