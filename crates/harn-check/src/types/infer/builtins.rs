//! What builtins give: the table, and those whose result depends on their arguments.

use harn_syntax::tree::{Argument, Call, Entry, ExpressionKind};

use super::blocks::result_of as result_with;
use super::schemas::entry;
use crate::builtins::{self, Builtin};
use crate::types::checker::Checker;
use crate::types::ty::{ShapeField, Ty};

/// How many type parameters a builtin declares.
pub(in crate::types) fn type_parameter_count(name: &str) -> usize {
    match name {
        "schema_parse"
        | "schema_check"
        | "schema_expect"
        | "llm_call"
        | "llm_completion"
        | "llm_call_structured"
        | "llm_call_structured_result"
        | "ask_user"
        | "dual_control" => 1,
        _ => 0,
    }
}

/// The type the table gives for the result of a builtin.
pub(super) fn result_of(builtin: &Builtin) -> Ty {
    let named = |name: &&'static str| match *name {
        "never" => Ty::Never,
        name => Ty::named(name),
    };
    match builtin.result {
        [] => Ty::Dynamic,
        names => Ty::union(names.iter().map(named).collect()),
    }
}

impl Checker {
    pub(super) fn infer_builtin(&mut self, call: &Call) -> Ty {
        let Some(builtin) = builtins::find(&call.name.text) else {
            return Ty::Dynamic;
        };
        let generic = self.infer_generic_builtin(call);
        generic.unwrap_or_else(|| result_of(builtin))
    }

    /// The type of a builtin whose result depends on its arguments or is declared by a
    /// module.
    fn infer_generic_builtin(&mut self, call: &Call) -> Option<Ty> {
        let string_or_nil = || Ty::union(vec![Ty::STRING, Ty::NIL]);
        Some(match call.name.text.as_str() {
            "schema_of" => Ty::applied("Schema", vec![self.schema_of(call)?]),
            "schema_parse" | "schema_check" => {
                result_with(self.described(call, Described::Argument(1))?, Ty::STRING)
            }
            "schema_expect" => self.described(call, Described::Argument(1))?,
            "llm_call" | "llm_completion" => {
                let option = Described::Option(2, "output_schema");
                llm_reply(self.described(call, option)?)
            }
            "llm_call_structured" => self.described(call, Described::Argument(1))?,
            "llm_call_structured_result" => {
                structured_reply(self.described(call, Described::Argument(1))?)
            }
            "ask_user" => match self.described(call, Described::Option(1, "schema")) {
                Some(ty) => ty,
                None => self.default_answer(call)?,
            },
            "dual_control" => self.approved_result(call)?,
            "request_approval" => approval(string_or_nil()),
            "escalate_to" => escalation(&string_or_nil()),
            "project_fingerprint" => fingerprint(&string_or_nil()),
            name => declared_by_modules(name)?,
        })
    }

    fn schema_of(&mut self, call: &Call) -> Option<Ty> {
        match call.arguments.as_slice() {
            [Argument::One(argument)] if matches!(argument.kind, ExpressionKind::Name(_)) => {
                self.schema_type(argument)
            }
            _ => None,
        }
    }

    /// The type a call is asked for: its type argument, or what its schema denotes.
    fn described(&mut self, call: &Call, place: Described) -> Option<Ty> {
        if let [explicit] = call.type_arguments.as_slice() {
            return Some(Ty::from(explicit));
        }
        match place {
            Described::Argument(at) => self.schema_argument(call, at),
            Described::Option(at, name) => {
                let schema = entry(options(call, at)?, name)?;
                self.schema_type(schema)
            }
        }
    }

    fn default_answer(&mut self, call: &Call) -> Option<Ty> {
        let default = entry(options(call, 1)?, "default")?;
        let ty = self.infer(default);
        (ty != Ty::Dynamic).then_some(ty)
    }

    fn approved_result(&mut self, call: &Call) -> Option<Ty> {
        if let [explicit] = call.type_arguments.as_slice() {
            return Some(Ty::from(explicit));
        }
        let Some(Argument::One(action)) = call.arguments.get(2) else {
            return None;
        };
        match self.infer(action) {
            Ty::Function(function) => Some(function.result.clone().as_whole()),
            _ => None,
        }
    }
}

/// Where the schema of a call is.
enum Described {
    Argument(usize),
    Option(usize, &'static str),
}

/// The entries of the dict that is the argument at that place.
fn options(call: &Call, at: usize) -> Option<&[Entry]> {
    match call.arguments.get(at)? {
        Argument::One(argument) => match &argument.kind {
            ExpressionKind::Dict(entries) => Some(entries),
            _ => None,
        },
        Argument::Spread(_) => None,
    }
}

fn declared_by_modules(name: &str) -> Option<Ty> {
    let list_of = |name| Ty::list_of(Ty::named(name));
    Some(match name {
        "hitl_pending" => list_of("HitlPendingRequest"),
        "handler_context" => Ty::union(vec![Ty::named("HandlerContext"), Ty::NIL]),
        "trigger_list" => list_of("TriggerBinding"),
        "trigger_register" => Ty::named("TriggerHandle"),
        "trigger_fire" | "trigger_replay" => Ty::named("DispatchHandle"),
        "trigger_inspect_dlq" => list_of("DlqEntry"),
        "trigger_inspect_lifecycle" => list_of("dict"),
        "trigger_inspect_action_graph" => list_of("TriggerActionGraphEvent"),
        "trust_record" => Ty::named("TrustRecord"),
        "trust_query" => Ty::LIST,
        "trust_graph_record" => Ty::named("TrustEntryId"),
        "trust_graph_query" => Ty::named("TrustScore"),
        "trust_graph_policy_for" => Ty::named("CapabilityPolicy"),
        "trust_graph_verify_chain" => Ty::named("TrustChainReport"),
        _ => return None,
    })
}

/// A shape; names that end in `?` are optional.
fn shape<const N: usize>(fields: [(&'static str, Ty); N]) -> Ty {
    let field = |(name, ty): (&'static str, Ty)| ShapeField {
        name: name.trim_end_matches('?').into(),
        optional: name.ends_with('?'),
        ty,
    };
    Ty::shape(fields.into_iter().map(field).collect())
}

fn llm_reply(data: Ty) -> Ty {
    shape([
        ("text", Ty::STRING),
        ("model", Ty::STRING),
        ("provider", Ty::STRING),
        ("input_tokens", Ty::INT),
        ("output_tokens", Ty::INT),
        ("data", data),
        ("visible_text?", Ty::STRING),
        ("tool_calls?", Ty::LIST),
        ("thinking?", Ty::STRING),
        ("stop_reason?", Ty::STRING),
    ])
}

fn structured_reply(data: Ty) -> Ty {
    let usage = shape([
        ("input_tokens", Ty::INT),
        ("output_tokens", Ty::INT),
        ("cache_read_tokens", Ty::INT),
        ("cache_write_tokens", Ty::INT),
    ]);
    shape([
        ("ok", Ty::BOOL),
        ("data", Ty::merged([data, Ty::NIL])),
        ("raw_text", Ty::STRING),
        ("error", Ty::STRING),
        ("error_category", Ty::union(vec![Ty::STRING, Ty::NIL])),
        ("attempts", Ty::INT),
        ("repaired", Ty::BOOL),
        ("extracted_json", Ty::BOOL),
        ("usage", usage),
        ("model", Ty::STRING),
        ("provider", Ty::STRING),
    ])
}

fn approval(string_or_nil: Ty) -> Ty {
    let signature = shape([
        ("reviewer", Ty::STRING),
        ("signed_at", Ty::STRING),
        ("signature", Ty::STRING),
    ]);
    shape([
        ("approved", Ty::BOOL),
        ("reviewers", Ty::list_of(Ty::STRING)),
        ("approved_at", Ty::STRING),
        ("reason", string_or_nil),
        ("signatures", Ty::list_of(signature)),
    ])
}

fn escalation(string_or_nil: &Ty) -> Ty {
    shape([
        ("request_id", Ty::STRING),
        ("role", Ty::STRING),
        ("reason", Ty::STRING),
        ("trace_id", Ty::STRING),
        ("status", Ty::STRING),
        ("accepted_at", string_or_nil.clone()),
        ("reviewer", string_or_nil.clone()),
    ])
}

fn fingerprint(string_or_nil: &Ty) -> Ty {
    let strings = || Ty::list_of(Ty::STRING);
    shape([
        ("primary_language", Ty::STRING),
        ("languages", strings()),
        ("frameworks", strings()),
        ("package_manager", string_or_nil.clone()),
        ("package_managers", strings()),
        ("test_runner", string_or_nil.clone()),
        ("build_tool", string_or_nil.clone()),
        ("vcs", string_or_nil.clone()),
        ("ci", strings()),
        ("has_tests", Ty::BOOL),
        ("has_ci", Ty::BOOL),
        ("lockfile_paths", strings()),
    ])
}
