//! The tools that a coding agent expects to be there: read, write, edit, list, glob, grep, run.
//!
//! ```text
//! arguments ──► Workspace ── inside a root? ──► Place ── opened step by step ──► file
//! ```
//!
//! They are safe by default. A path must stay inside the roots of the [`Workspace`] after all
//! links are resolved. The place is then opened folder by folder without following links, so a
//! link that is put there between the check and the use is refused as well. Files are replaced whole or not at all. Everything that could be large has a limit,
//! and everything that could take long runs on a thread and stops when nobody waits for it.
//!
//! Not kept in by the roots is `run`: a command can do what its user can do. Whoever wants to
//! forbid that leaves the tool out, by a policy or by name.

mod arguments;
mod background;
mod capture;
mod declare;
mod edit;
mod glob;
mod grep;
mod lent;
mod limits;
mod list;
mod near_miss;
mod offer;
mod place;
mod process;
mod read;
mod replace;
mod run;
#[cfg(test)]
mod scene;
mod walk;
mod workspace;
mod write;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::callback::BoxFuture;
use crate::shown::Showing;
use crate::tool::{Declaration, Tool, ToolCall, ToolError};

pub use lent::{Lines, TerminalCommand, TerminalEnd, Terminals, TextFiles};
pub use limits::Limits;
pub use workspace::Workspace;

pub(crate) use offer::{Workshop, offer};

use arguments::Arguments;
use background::{Cancelled, in_background};

/// The tools, for one workspace.
///
/// ```
/// use harn_agent::coding::{Workspace, tools};
///
/// let workspace = Workspace::new(["."])?.with_variable("CI", "1");
/// let names = tools(workspace).iter().map(|tool| tool.declaration().name.clone()).collect::<Vec<_>>();
/// assert_eq!(names, ["read", "write", "edit", "list", "glob", "grep", "run"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn tools(workspace: Workspace) -> Vec<Arc<dyn Tool>> {
    let workspace = Arc::new(workspace);
    let files: [(Declaration, Work); 6] = [
        (read::declaration(&workspace.limits), read::read),
        (write::declaration(), write::write),
        (edit::declaration(), edit::edit),
        (list::declaration(&workspace.limits), list::list),
        (glob::declaration(), glob::glob),
        (grep::declaration(&workspace.limits), grep::grep),
    ];
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for (declaration, work) in files {
        tools.push(Arc::new(FileTool {
            declaration,
            workspace: Arc::clone(&workspace),
            work,
        }));
    }
    tools.push(Arc::new(run::Run::new(workspace)));
    tools
}

/// What a tool does, on a thread of its own.
type Work = fn(&Workspace, Arguments<'_>, &Cancelled) -> Result<String, ToolError>;

/// A tool that works on files.
struct FileTool {
    declaration: Declaration,
    workspace: Arc<Workspace>,
    work: Work,
}

impl Tool for FileTool {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let (workspace, work) = (Arc::clone(&self.workspace), self.work);
            let arguments: Value = call.arguments.clone();
            in_background(move |cancelled| work(&workspace, Arguments(&arguments), cancelled))
                .await?
        })
    }

    fn takes_declared_only(&self) -> bool {
        true
    }

    /// A file that gets new content as a whole is shown before and after.
    fn call_showing<'a>(
        &'a self,
        call: ToolCall<'a>,
        showing: &'a Showing,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        if self.declaration.name != write::NAME {
            return self.call(call);
        }
        Box::pin(async move {
            let (workspace, arguments) = (Arc::clone(&self.workspace), call.arguments.clone());
            let edit = in_background(move |_| write::shown(&workspace, Arguments(&arguments)));
            let edit = edit.await?;
            let said = self.call(call).await?;
            if let Some(edit) = edit {
                showing.show(edit);
            }
            Ok(said)
        })
    }
}

/// The tool could not do it, for this reason.
fn failed(reason: impl Into<String>) -> ToolError {
    ToolError::Failed(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_events::{SideEffectLevel, ToolKind};

    #[test]
    fn every_tool_says_what_it_does_to_the_world() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(Workspace::new([folder.path()]).unwrap());
        let rows = [
            (
                "read",
                ToolKind::Read,
                SideEffectLevel::ReadOnly,
                &["path"][..],
            ),
            (
                "write",
                ToolKind::Edit,
                SideEffectLevel::WorkspaceWrite,
                &["path", "content"],
            ),
            (
                "edit",
                ToolKind::Edit,
                SideEffectLevel::WorkspaceWrite,
                &["path", "old_text", "new_text"],
            ),
            ("list", ToolKind::Read, SideEffectLevel::ReadOnly, &[]),
            (
                "glob",
                ToolKind::Search,
                SideEffectLevel::ReadOnly,
                &["pattern"],
            ),
            (
                "grep",
                ToolKind::Search,
                SideEffectLevel::ReadOnly,
                &["pattern"],
            ),
            (
                "run",
                ToolKind::Execute,
                SideEffectLevel::ProcessExec,
                &["command"],
            ),
        ];
        assert_eq!(tools.len(), rows.len());
        for (tool, (name, kind, level, required)) in tools.iter().zip(rows) {
            let declaration = tool.declaration();
            assert_eq!(declaration.name, name);
            let annotations = declaration.annotations.as_ref().unwrap();
            assert_eq!(annotations.kind, kind, "{name}");
            assert_eq!(annotations.side_effect_level, level, "{name}");
            assert_eq!(annotations.arg_schema.required, required, "{name}");
            let takes_path = name != "run";
            assert_eq!(
                annotations.arg_schema.path_params == ["path"],
                takes_path,
                "{name}"
            );
            for (parameter, schema) in declaration.parameters.as_object().unwrap() {
                assert!(schema["description"].is_string(), "{name} {parameter}");
                let is_required = required.contains(&parameter.as_str());
                assert_eq!(
                    schema["required"] != false,
                    is_required,
                    "{name} {parameter}"
                );
            }
        }
    }
}
