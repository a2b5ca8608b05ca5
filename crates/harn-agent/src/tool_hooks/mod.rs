//! Functions that see tool calls, turns and workers go by, and may interfere with calls.
//!
//! ```text
//! manifest [[hooks]] ──┐
//! Rust embedder      ──┼──► HookChain ──► before a call: deny it, change its arguments
//! register_tool_hook ──┘              └─► after it: change its text
//! ```
//!
//! Hooks run in the order in which they were registered. Each sees what the one before made of
//! the call, and the first denial ends the chain.

mod answer;
mod chain;
mod hook;
mod manifest;
mod pattern;
mod registered;

pub use chain::{HookChain, PreToolOutcome};
pub use hook::{Hook, HookEvent, PostTool, PreTool, ToolUse};
pub use manifest::{HandlerName, ManifestHook, missing_handler};
pub use pattern::Pattern;
pub use registered::RegisteredHook;
