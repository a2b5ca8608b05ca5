//! What stands between a call and its execution.

use harn_events::{MutationSessionRecord, ToolAnnotations, ToolCallErrorCategory};
use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::{Call, Turn};
use super::approval::check_approval;
use super::events::Ending;
use super::tell_answer;
use crate::policy::{
    DeclaredParameters, PermissionCall, PermissionRecord, coerce_integers, denied_result, evaluate,
    is_read_only, missing_arguments, policy_reason, rewrite_aliases, unknown_argument,
};
use crate::registry::Backend;
use crate::session::{About, Change};
use crate::tool_hooks::PreToolOutcome;
use crate::{loop_detector, own_tools};

/// A call that was admitted.
pub(super) struct Started {
    pub(super) call: Call,
    pub(super) backend: Backend,
    pub(super) began_ms: i64,
    /// The call has given the same result so often that it is not made.
    pub(super) skip: Option<loop_detector::SkippedCall>,
}

/// A call that was not.
pub(super) struct Refused {
    pub(super) reason: String,
    /// What the model reads.
    pub(super) result: String,
    pub(super) category: ToolCallErrorCategory,
    /// What the transcript says about it besides.
    pub(super) metadata: Box<Value>,
    /// Whether it counts as rejected.
    pub(super) is_denial: bool,
}

/// Leads a call through the gates; `None` if it was refused, which is told and recorded.
pub(super) async fn pass(
    run: &Run<'_>,
    turn: &mut Turn,
    call: &Call,
) -> Result<Option<Started>, Thrown> {
    let began_ms = run.runtime.now_ms();
    run.announce(call).await;
    let mut call = call.clone();
    if run.asks_before_calls() {
        run.secure_answers().await;
    }
    if let Err(refused) = admit(run, &mut call).await? {
        refuse(run, turn, &call, refused).await;
        return Ok(None);
    }
    let backend = run.backend_of(&call.name);
    run.note_intent(&call);
    run.session.record(Change::CallStarted {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    });
    let skip = run.session.read(|state| {
        let detector = &state.run.loop_detector;
        detector.should_skip(run.options.loop_detection, &call.name, &call.arguments)
    });
    let annotations = run.annotations_of(&call.name);
    let only_reads = annotations.is_some_and(|known| is_read_only(known.kind));
    match (&skip, only_reads) {
        (Some(_), _) => {}
        (None, true) => run.secure_answers().await,
        // If the process dies now, the call must be known to have begun.
        (None, false) => run.before_side_effect(&call.name).await?,
    }
    // Only now: what a host is told must not be lost with this process.
    run.tell_running(&call, backend.executor()).await;
    Ok(Some(Started {
        call,
        backend,
        began_ms,
        skip,
    }))
}

async fn admit(run: &Run<'_>, call: &mut Call) -> Result<Result<(), Refused>, Thrown> {
    if let Some(error) = call.arguments.get("__parse_error") {
        let error = error.as_str().unwrap_or_default();
        return Ok(Err(Refused::unreadable(error)));
    }
    if run.servers.withholds(&call.name) {
        return Ok(Err(Refused::changed(&call.name)));
    }
    let annotations = run.annotations_of(&call.name).cloned();
    coerce_integers(&mut call.arguments);
    if let Some(annotations) = &annotations {
        rewrite_aliases(annotations, &mut call.arguments);
    }
    if let Err(refused) = check_rules(run, call, annotations.as_ref()).await? {
        return Ok(Err(refused));
    }
    let hooks = run.runtime.hook_chain();
    match hooks.pre_tool(&call.name, &call.arguments).await? {
        PreToolOutcome::Run(arguments) if arguments == call.arguments => {}
        PreToolOutcome::Run(arguments) => {
            call.arguments = arguments;
            // What was judged is not what would run.
            if let Err(refused) = check_rules(run, call, annotations.as_ref()).await? {
                return Ok(Err(refused));
            }
        }
        PreToolOutcome::Denied(reason) => return Ok(Err(Refused::by_hook(&call.name, reason))),
    }
    Ok(check_required(run, call))
}

/// All that is decided about a call by what is written down, and by people.
async fn check_rules(
    run: &Run<'_>,
    call: &mut Call,
    annotations: Option<&ToolAnnotations>,
) -> Result<Result<(), Refused>, Thrown> {
    if let Err(refused) = check_known(run, call) {
        return Ok(Err(refused));
    }
    if let Err(refused) = check_policy(run, call) {
        return Ok(Err(refused));
    }
    if let Err(refused) = check_permissions(run, call).await? {
        return Ok(Err(refused));
    }
    Ok(check_approval(run, call, annotations).await)
}

/// Our own tools take what they declare and nothing else. Whoever is asked about a call sees
/// its arguments, and one that does nothing can only mislead.
pub(super) fn check_known(run: &Run<'_>, call: &Call) -> Result<(), Refused> {
    let unknown = match run.backend_of(&call.name) {
        Backend::Own => own_tools::first_unknown(&call.name, &call.arguments),
        Backend::Here(tool) if tool.takes_declared_only() => {
            run.parameters_of(&call.name).first_unknown(&call.arguments)
        }
        Backend::Here(_)
        | Backend::Host
        | Backend::Mcp { .. }
        | Backend::Provider
        | Backend::Nobody(_) => None,
    };
    match unknown {
        None => Ok(()),
        Some(argument) => Err(Refused::unfit(call, unknown_argument(&call.name, argument))),
    }
}

pub(super) fn check_policy(run: &Run<'_>, call: &Call) -> Result<(), Refused> {
    let checked = run.check_ceilings(call);
    checked.map_err(|message| {
        run.note_permission(&PermissionRecord::denial(
            &call.name,
            &call.arguments,
            &message,
        ));
        Refused {
            result: denied_result(&call.name, &policy_reason(&message)),
            reason: message,
            category: ToolCallErrorCategory::PermissionDenied,
            metadata: Box::new(json!({"arguments": call.arguments})),
            is_denial: true,
        }
    })
}

async fn check_permissions(run: &Run<'_>, call: &Call) -> Result<Result<(), Refused>, Thrown> {
    if run.ambient.permissions.is_empty() {
        return Ok(Ok(()));
    }
    let grants = run.session.read(|state| state.grants.clone());
    let parameters = run.parameters_of(&call.name);
    let arguments = run.judged_arguments(call);
    let place = run.command_place(&call.name);
    let asked = PermissionCall {
        tool: &call.name,
        arguments: &arguments,
        parameters: &parameters,
        annotations: run.annotations_of(&call.name),
        session_id: run.session.id(),
        place: &place,
        dispatch: None,
    };
    let verdict = evaluate(&run.ambient.permissions, asked, &grants).await?;
    for grant in verdict.session_grants {
        run.session.record(Change::Granted { grant });
    }
    for record in &verdict.records {
        run.note_permission(record);
    }
    if verdict.granted {
        return Ok(Ok(()));
    }
    Ok(Err(Refused {
        result: denied_result(&call.name, &verdict.reason),
        reason: verdict.reason,
        category: ToolCallErrorCategory::PermissionDenied,
        metadata: Box::new(json!({
            "arguments": call.arguments,
            "permission": "denied",
            "escalated": verdict.escalated,
        })),
        is_denial: true,
    }))
}

fn check_required(run: &Run<'_>, call: &Call) -> Result<(), Refused> {
    let Some(entry) = run.tool(&call.name) else {
        return Ok(());
    };
    let is_own = own_tools::is_own_tool(&call.name);
    let required = match is_own {
        true => Vec::new(),
        false => entry.required(),
    };
    match missing_arguments(&call.name, &required, &call.arguments) {
        None => Ok(()),
        Some(result) => Err(Refused::unfit(call, result)),
    }
}

impl Refused {
    /// The arguments are not those of the tool.
    fn unfit(call: &Call, result: String) -> Self {
        Self {
            reason: result.strip_prefix("ERROR: ").unwrap_or(&result).to_owned(),
            result,
            category: ToolCallErrorCategory::SchemaValidation,
            metadata: Box::new(json!({"arguments": call.arguments})),
            is_denial: false,
        }
    }

    fn unreadable(error: &str) -> Self {
        Self {
            reason: error.to_owned(),
            result: format!("ERROR: {error}"),
            category: ToolCallErrorCategory::SchemaValidation,
            metadata: Box::new(json!({})),
            is_denial: false,
        }
    }

    /// The tool is withheld.
    fn changed(tool: &str) -> Self {
        let reason = format!("tool '{tool}' has changed since it was approved");
        Self::denied(tool, reason)
    }

    fn by_hook(tool: &str, reason: String) -> Self {
        Self::denied(tool, reason)
    }

    fn denied(tool: &str, reason: String) -> Self {
        Self {
            result: denied_result(tool, &reason),
            reason,
            category: ToolCallErrorCategory::PermissionDenied,
            metadata: Box::new(json!({})),
            is_denial: true,
        }
    }
}

/// Tells and records that a call is not made.
async fn refuse(run: &Run<'_>, turn: &mut Turn, call: &Call, refused: Refused) {
    let Refused {
        reason,
        result,
        category,
        mut metadata,
        is_denial,
    } = refused;
    if is_denial {
        run.session.record(Change::CallRefused {
            name: call.name.clone(),
        });
        run.trace(json!({
            "type": "tool_rejected",
            "tool_name": call.name,
            "reason": reason,
            "iteration": turn.iteration,
        }));
    }
    turn.had_refusal = true;
    metadata["tool_name"] = json!(call.name);
    metadata["tool_use_id"] = json!(call.model_id);
    metadata["rejected"] = json!(true);
    metadata["error_category"] = json!(category);
    run.note_execution(&result, About::Other(*metadata));
    run.tell_ending(
        call,
        Ending {
            raw_output: None,
            error: Some(reason),
            category: Some(category),
            duration_ms: None,
            execution_duration_ms: None,
            executor: None,
        },
    )
    .await;
    tell_answer(run, turn, call, &result);
}

impl Run<'_> {
    /// Whether functions of the program, or people, hear of a call before it is made.
    fn asks_before_calls(&self) -> bool {
        !self.runtime.hook_chain().is_empty()
            || !self.ambient.permissions.is_empty()
            || self.ambient.approval.is_some()
    }

    /// What is known about a tool: what the policy says, else what the tool says about itself.
    pub(in crate::run) fn annotations_of(&self, name: &str) -> Option<&ToolAnnotations> {
        let own = self.own_annotations(name);
        match &self.ambient.policy {
            Some(policy) => policy.annotations_for(name, own),
            None => own,
        }
    }

    pub(super) fn own_annotations(&self, name: &str) -> Option<&ToolAnnotations> {
        self.tool(name)?.annotations.as_ref()
    }

    /// What a tool says it takes.
    pub(super) fn parameters_of(&self, name: &str) -> DeclaredParameters {
        let entry = self.tool(name);
        entry.map_or_else(DeclaredParameters::default, |entry| {
            DeclaredParameters::of(&entry.declared)
        })
    }

    /// The arguments of a tool that are commands.
    pub(super) fn commands_of(&self, name: &str) -> Vec<String> {
        self.parameters_of(name).commands(self.annotations_of(name))
    }

    pub(super) fn note_permission(&self, record: &PermissionRecord) {
        let kind = record.kind.as_str();
        let metadata = Some(record.metadata());
        self.note(kind, "tool", "internal", &record.reason, metadata);
    }

    /// The mutation session in force.
    pub(in crate::run) fn audit(&self) -> Option<MutationSessionRecord> {
        self.runtime.bus.current_mutation_session()
    }
}
