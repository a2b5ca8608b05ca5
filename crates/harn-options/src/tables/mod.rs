//! The tables, one file for what belongs together.

mod agent_loop;
mod judges;
mod middleware;
mod model_call;
mod policies;
mod skills;
mod tools;
mod workers;

pub use agent_loop::*;
pub use judges::*;
pub use middleware::*;
pub use model_call::*;
pub use policies::*;
pub use skills::*;
pub use tools::*;
pub use workers::*;

use crate::dict::OptionDict;

/// Dicts that programs pass around: what is written for one of their builtins is often given to
/// another one as well.
pub(crate) static FAMILY: [&OptionDict; 7] = [
    &MODEL_CALL,
    &STRUCTURED_CALL,
    &AGENT_LOOP,
    &SUB_AGENT,
    &WORKER,
    &DAEMON,
    &STAGE,
];

/// Every table.
pub const TABLES: &[&OptionDict] = &[
    &AGENT_DONE_CONTRACT,
    &AGENT_LOOP,
    &AGENT_SESSION_COMPACT,
    &AGENT_SESSION_REANCHOR,
    &ANNOTATIONS,
    &APPROVAL_POLICY,
    &ARGUMENT_CONSTRAINT,
    &ARGUMENT_MATCHER,
    &ARGUMENT_SCHEMA,
    &BUDGET,
    &CADENCE,
    &CARRY,
    &CODING_TOOLS,
    &COMMAND_POLICY,
    &COMPACTION,
    &COMPLETION_JUDGE,
    &CONSECUTIVE_FAILURES,
    &DAEMON,
    &EGRESS_POLICY,
    &EXECUTION,
    &ITERATION_BUDGET,
    &MODEL_CALL,
    &OUTPUT_FORMAT,
    &PERMISSIONS,
    &POLICY,
    &PROGRESS_TOOL,
    &RATE_LIMIT,
    &REPAIR,
    &REQUEST_APPROVAL,
    &RESUMPTION,
    &RESUMPTION_EVENT,
    &RESUMPTION_TIMEOUT,
    &RETURNS,
    &ROUTE_POLICY,
    &SCOPE_CLASSIFIER,
    &SKILL,
    &SKILL_MATCH,
    &STAGE,
    &STRUCTURAL_EXPERIMENT,
    &STRUCTURED_CALL,
    &SUB_AGENT,
    &TASK_LEDGER,
    &THINKING,
    &TOOL,
    &TOOL_HOOK,
    &TOOL_SEARCH,
    &TRANSCRIPT_PROJECTION,
    &TURN_END_CONDITION,
    &TURN_POLICY,
    &VALIDATOR_RULE,
    &WITH_CONSENT,
    &WITH_DRY_RUN,
    &WITH_IDEMPOTENCY,
    &WITH_REDACTION,
    &WITH_REQUIRED_REASON,
    &WITH_SCOPED_EXECUTOR,
    &WITH_STRUCTURAL_VALIDATOR,
    &WITH_TELEMETRY,
    &WORKER,
    &WORKTREE,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::dict::Holds;

    #[test]
    fn no_table_has_a_key_twice() {
        for table in TABLES {
            let mut seen = BTreeSet::new();
            for key in table.keys {
                assert!(seen.insert(key.name), "{}.{}", table.name, key.name);
            }
        }
    }

    #[test]
    fn every_dict_that_an_option_holds_is_listed() {
        let listed = |dict: &OptionDict| TABLES.iter().any(|table| table.name == dict.name);
        for table in TABLES {
            assert!(table.family.iter().all(|one| listed(one)), "{}", table.name);
            for key in table.keys {
                match key.holds {
                    Holds::Nothing => {}
                    Holds::Dict(dict) | Holds::ListOf(dict) | Holds::DictOf(dict) => {
                        assert!(listed(dict), "{}.{}", table.name, key.name);
                    }
                }
            }
        }
    }
}
