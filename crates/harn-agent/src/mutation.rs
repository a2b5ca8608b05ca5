//! Who is held to account for what is changed.

use harn_events::MutationSessionRecord;
use harn_llm::options::value::Options;

use crate::policy::ApprovalPolicy;
use crate::runtime::{Ambient, Runtime};

/// The scope where nobody says one.
const SCOPE: &str = "read_only";

/// What the options of a loop say about it; `None`: nothing.
pub(crate) fn of_options(options: Options<'_>) -> Option<MutationSessionRecord> {
    let audit = options.given("audit");
    let scope = options.given_text("mutation_scope");
    if audit.is_none() && scope.is_none() {
        return None;
    }
    let audit = audit.and_then(|audit| serde_json::from_value(audit.clone()).ok());
    let mut given: MutationSessionRecord = audit.unwrap_or_default();
    if let Some(scope) = scope {
        given.mutation_scope = scope;
    }
    Some(given)
}

/// Completes what was given with what holds around, and with what nobody has to say.
pub(crate) fn session(
    runtime: &Runtime,
    given: MutationSessionRecord,
    ambient: &Ambient,
    asking: Option<&str>,
) -> MutationSessionRecord {
    let outer = ambient.audit.clone().unwrap_or_default();
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let scope = [given.mutation_scope, outer.mutation_scope];
    let scope = scope.into_iter().find(|scope| !scope.is_empty());
    let approval = match (&ambient.approval, given.approval_policy) {
        (Some(outer), Some(inner)) => {
            Some(ApprovalPolicy::intersect(outer, &ApprovalPolicy(inner)).0)
        }
        (Some(outer), None) => Some(outer.0.clone()),
        (None, inner) => inner,
    };
    MutationSessionRecord {
        session_id: match given.session_id.is_empty() {
            true => format!("session_{}", runtime.new_id()),
            false => given.session_id,
        },
        parent_session_id: filled(given.parent_session_id)
            .or_else(|| asking.map(str::to_owned))
            .or(outer.parent_session_id),
        run_id: filled(given.run_id).or(outer.run_id),
        worker_id: filled(given.worker_id).or(outer.worker_id),
        execution_kind: filled(given.execution_kind).or(outer.execution_kind),
        mutation_scope: scope.unwrap_or_else(|| SCOPE.to_owned()),
        approval_policy: approval,
    }
}
