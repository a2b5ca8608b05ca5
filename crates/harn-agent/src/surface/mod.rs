//! Do tools, policies and prompts fit together?
//!
//! ```text
//! Surface ──► Facts ─┬─ every active tool by itself      `declared`
//!                    ├─ what policies say about tools    `policies`
//!                    └─ what prompts say about tools     `prompts`
//!                             └──► diagnostics
//! ```
//!
//! A tool is active unless the policy names tools and this is none of them. A loop asks before
//! its first turn, with what it holds in its hands; a program asks with one dict, which
//! [`answer`] takes apart.

mod answer;
mod declared;
mod diagnostic;
mod policies;
mod prompts;
mod tool;

use std::collections::HashMap;

use serde_json::{Map, Value};

use tool::Tool;

pub use answer::answer;
pub use diagnostic::{Diagnostic, Severity};

/// A dict of a program.
type Dict = Map<String, Value>;

/// Everything that has to fit together.
#[derive(Clone, Debug, Default)]
pub struct Surface<'a> {
    /// The entries of a registry. What is no dict is no tool.
    pub tools: &'a [Value],
    /// Tools that are described as a provider wants it.
    pub native_tools: &'a [Value],
    /// What tools may do.
    pub policy: Option<&'a Value>,
    /// Which calls somebody has to approve.
    pub approval_policy: Option<&'a Value>,
    /// What this agent may do.
    pub permissions: Option<&'a Value>,
    /// What the model is told.
    pub prompts: Vec<&'a str>,
    /// Whether the model can search for tools that it was not told of.
    pub tool_search_active: bool,
}

/// What does not fit, in the order in which it is reported.
pub fn validate(surface: &Surface<'_>) -> Vec<Diagnostic> {
    let facts = Facts::new(surface);
    let mut found = Vec::new();
    declared::check(&facts, &mut found);
    policies::check(&facts, &mut found);
    prompts::check(&facts, &mut found);
    policies::check_ceiling(&facts, &mut found);
    found
}

/// A surface as the checks look at it.
struct Facts<'a> {
    tools: Vec<Tool<'a>>,
    /// The position of each tool that is active, by its name.
    active: HashMap<String, usize>,
    policy: Option<&'a Dict>,
    approval: Option<&'a Dict>,
    permissions: Option<&'a Dict>,
    prompts: &'a [&'a str],
    /// Whether the model can search for tools that it was not told of.
    searches: bool,
}

impl<'a> Facts<'a> {
    fn new(surface: &'a Surface<'a>) -> Self {
        let policy = surface.policy.and_then(Value::as_object);
        let own = surface.tools.iter().filter_map(Value::as_object);
        let own = own.map(|entry| Tool::own(entry, policy));
        let native = surface.native_tools.iter().filter_map(Value::as_object);
        let native = native.map(|entry| Tool::native(entry, policy));
        let tools: Vec<Tool<'a>> = own.chain(native).collect();
        let active = tools.iter().enumerate().filter(|(_, tool)| tool.is_active);
        Self {
            active: active.map(|(at, tool)| (tool.name.clone(), at)).collect(),
            tools,
            policy,
            approval: surface.approval_policy.and_then(Value::as_object),
            permissions: surface.permissions.and_then(Value::as_object),
            prompts: &surface.prompts,
            searches: surface.tool_search_active,
        }
    }

    fn active_tools(&self) -> impl Iterator<Item = &Tool<'a>> {
        self.tools.iter().filter(|tool| tool.is_active)
    }

    fn active_tool(&self, name: &str) -> Option<&Tool<'a>> {
        self.active.get(name).map(|at| &self.tools[*at])
    }

    fn is_active(&self, name: &str) -> bool {
        self.active.contains_key(name)
    }
}

#[cfg(test)]
mod tests;
