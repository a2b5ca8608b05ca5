//! What an agent may do: who decides about a tool call before it runs.
//!
//! ```text
//! call ──► aliases ──► CapabilityPolicy ──► Permissions ──► ApprovalPolicy ──► hooks ──► runs
//!                       never more than      what this       what a person
//!                       the host allows      agent may       wants to see
//! ```
//!
//! A capability policy is a ceiling: it only ever gets lower from one loop to the loops inside
//! it. Permissions belong to one agent and may ask a function of the program. Approvals ask the
//! host. Everything here decides and gives its reason as data; writing records, emitting events
//! and talking to the host is left to the loop.

mod annotations;
mod approval;
mod arguments_fit;
mod builtin_needs;
mod capability;
mod command_place;
mod commands;
mod denial;
mod digest;
mod enforcement;
mod evaluation;
mod glob;
mod grants;
mod host_answer;
mod matcher;
mod parameters;
mod permissions;
mod reading;
mod remembered_command;

pub(crate) use annotations::declared_paths;
pub use annotations::{
    coerce_integers, is_read_only, mutation_class, read_annotations, rewrite_aliases,
};
pub use approval::{Approval, ApprovalPolicy, ApprovalStatus};
pub use arguments_fit::arguments_fit;
pub use builtin_needs::{Need, builtin_need, needs_host};
pub use capability::{ArgConstraint, CapabilityPolicy};
pub use command_place::CommandPlace;
pub use denial::{denied_result, missing_arguments, policy_reason, unknown_argument};
pub use evaluation::{PermissionCall, Verdict, evaluate};
pub use glob::{any_glob_matches, first_forbidding, glob_forbids, glob_matches};

pub(crate) use glob::check_pattern;
pub use grants::{PermissionRecord, RecordKind, SessionGrant, SessionGrants};
pub use host_answer::{
    HostAnswer, NO_HOST_BRIDGE, REQUEST_FAILED, Scope, is_for_good, permission_request,
    read_host_answer,
};
pub use matcher::{Matcher, Rule};
pub use parameters::DeclaredParameters;
pub use permissions::Permissions;

pub(crate) use capability::RECURSION_LIMIT;
pub(crate) use digest::digest;
pub(crate) use remembered_command::remembered_call;
