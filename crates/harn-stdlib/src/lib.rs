//! What builtins and methods do.
//!
//! ```text
//! harn-check: what they are called and take ─┐
//! this crate: what they do ──────────────────┴─► Registry ─► Isolate
//! ```
//!
//! What needs no callback is Rust; what calls a function of the program is Harn, in
//! `harn/*.harn`, so that the callback is a call like any other: it can fail, wait and be
//! interrupted.

mod expect;
mod growing;

mod atomics;
mod breakers;
mod channels;
mod command_policy;
mod context;
mod conversion;
mod dates;
mod dicts;
mod encoding;
mod environment;
mod errors;
mod files;
mod formats;
mod friction;
mod host;
mod http;
mod intrinsics;
mod iterators;
mod json;
mod lists;
mod locks;
mod mailboxes;
mod math;
mod memory;
mod observability;
mod output;
mod people;
mod process;
mod project;
mod providers;
mod random;
mod ranges;
mod regex;
mod runtime_context;
mod safety;
mod schema;
mod scopes;
mod server;
mod sets;
mod shared;
mod state;
mod streams;
mod strings;
mod supervisors;
mod surroundings;
mod tasks;
mod templates;
mod transport;
mod unicode;

mod agents;
mod eval_packs;
mod offers;
mod registries;
mod skills;
mod tools;

use harn_machine::Registry;

pub use command_policy::{
    CommandRefusal, command_refusal, scope_command_policy, with_command_policy,
};
pub use dates::clock::now_ms;
pub use encoding::uuid_of_time;
pub use files::background::{LONG_RUNNING, Sighted, Sought};
pub use files::root::resolve as resolve_path;
pub use formats::yaml_value;
pub use host::EFFECT as HOST_EFFECT;
pub use observability::{event_log, spans};
pub use people::EFFECT as PEOPLE_EFFECT;
pub use schema::schema_errors;
pub use server::tls::CERTIFICATE as CERTIFICATE_EFFECT;
pub use state::{WorkerFolders, worker_folders};
pub use surroundings::{AGENT_SESSION, EXECUTION, WORKER};
pub use tools::bound_tools;
pub use transport::server::sockets::EFFECT as WEB_SERVER_EFFECT;

/// Every body.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    conversion::register(&mut registry);
    dates::register(&mut registry);
    environment::register(&mut registry);
    errors::register(&mut registry);
    files::register(&mut registry);
    json::register(&mut registry);
    math::register(&mut registry);
    safety::register(&mut registry);
    output::register(&mut registry);
    process::register(&mut registry);
    project::register(&mut registry);
    providers::register(&mut registry);
    random::register(&mut registry);
    regex::register(&mut registry);
    schema::register(&mut registry);
    strings::register(&mut registry);
    unicode::register(&mut registry);
    intrinsics::register(&mut registry);
    lists::register(&mut registry);
    dicts::register(&mut registry);
    sets::register(&mut registry);
    ranges::register(&mut registry);
    iterators::register(&mut registry);
    streams::register(&mut registry);
    atomics::register(&mut registry);
    breakers::register(&mut registry);
    channels::register(&mut registry);
    locks::register(&mut registry);
    mailboxes::register(&mut registry);
    runtime_context::register(&mut registry);
    scopes::register(&mut registry);
    shared::register(&mut registry);
    supervisors::register(&mut registry);
    tasks::register(&mut registry);
    offers::register(&mut registry);
    // What these are given they write out, or hand to those who do.
    registry.begin_writing_out();
    command_policy::register(&mut registry);
    context::register(&mut registry);
    encoding::register(&mut registry);
    formats::register(&mut registry);
    friction::register(&mut registry);
    host::register(&mut registry);
    http::register(&mut registry);
    memory::register(&mut registry);
    observability::register(&mut registry);
    people::register(&mut registry);
    eval_packs::register(&mut registry);
    server::register(&mut registry);
    skills::register(&mut registry);
    state::register(&mut registry);
    templates::register(&mut registry);
    tools::register(&mut registry);
    transport::register(&mut registry);
    agents::register(&mut registry);
    registry
}
