//! Which commands may run.
//!
//! ```text
//! host_call("process.exec", params), exec(…), shell(…)
//!     ─► the policy on top of the stack, if there is one
//!          deny patterns ─► risks that need approval ─► pre ─► the command ─► post
//!     ─► host: the command itself
//! ```
//!
//! What is decided and in which order is written in Harn, in `harn/command_policy.harn`,
//! because hooks are functions of the program. What is recognised is written here.

mod config;
mod parts;
mod patterns;
mod request;
mod result_scan;
mod risks;
mod scans;
mod stack;

use harn_machine::Registry;

pub use scans::{CommandRefusal, command_refusal};
pub use stack::{scope_command_policy, with_command_policy};

pub(crate) fn register(registry: &mut Registry) {
    registry.file(
        "command_policy",
        include_str!("../../harn/command_policy.harn"),
    );
    registry.harn(
        "command_policy",
        &[
            ("exec", "exec"),
            ("exec_at", "exec_at"),
            ("host_call", "host_call"),
            ("shell", "shell"),
            ("shell_at", "shell_at"),
        ],
    );
    config::register(registry);
    patterns::register(registry);
    request::register(registry);
    scans::register(registry);
    stack::register(registry);
}
