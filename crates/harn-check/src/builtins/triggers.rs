//! Triggers and trust.

use super::table::builtins;

builtins! {
    "handler_context() -> HandlerContext | nil" [dict] Pure "Tells which event is being handled.";
    "trigger_fire(trigger: dict | string, event: dict) -> DispatchHandle" [dict] Io "Sends an event to a trigger.";
    "trigger_inspect_action_graph(trace_id: string | nil = nil) -> list<TriggerActionGraphEvent>" [list] Io "Lists what events have led to.";
    "trigger_inspect_dlq() -> list<DlqEntry>" [list] Io "Lists the events no handler could deal with.";
    "trigger_inspect_lifecycle(kind: string | nil = nil) -> list<dict>" [list] Io "Lists what happened to events.";
    "trigger_list() -> list<TriggerBinding>" [list] Io "Lists the triggers.";
    "trigger_register(config: dict) -> TriggerHandle" [dict] Io "Calls a handler for events.";
    "trigger_replay(event_id: string) -> DispatchHandle" [dict] Io "Sends an event to its trigger again.";
    "trigger_test_harness(name: string) -> dict" [dict] Io "Runs a test of triggers.";
    "trust_graph_policy_for(agent: string) -> CapabilityPolicy" [dict] Io "Gives what an agent is trusted to do.";
    "trust_graph_query(agent: string, action: string | nil = nil) -> TrustScore" [dict] Io "Tells how far an agent can be trusted.";
    "trust_graph_record(record: dict) -> TrustEntryId" [string] Io "Notes how something an agent did ended, and gives the id of the note.";
    "trust_graph_verify_chain() -> TrustChainReport" [dict] Io "Checks that the notes about trust were not changed.";
    "trust_query(filters: dict | nil = nil) -> list" [list] Io "Lists how things agents did ended.";
    "trust_record(agent: string, action: string, approver: string | nil, outcome: string, tier: string) -> TrustRecord" [dict] Io "Notes how something an agent did ended.";
}
