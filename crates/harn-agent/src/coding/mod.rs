//! The tools that a coding agent expects to be there: read, write, edit, list, glob, grep, run.
//!
//! ```text
//! arguments ──► Workspace ── inside a root? ──► Place ── opened step by step ──► file
//! ```
//!
//! They are safe by default. A path must stay inside the roots of the [`Workspace`] after all
//! links are resolved. The place is then opened without following links, so a link that is put
//! there between the check and the use is refused as well. The memory of Harn is closed to them,
//! and what Harn itself or others will act upon is written only if a person agrees to that call.
//! Files are replaced whole or not at all. Everything that could be large has a limit, and
//! everything that could take long runs on a thread and stops when nobody waits for it.
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
#[cfg(all(test, target_os = "linux"))]
mod races;
mod read;
mod replace;
mod run;
#[cfg(test)]
mod scene;
mod walk;
mod workspace;
mod write;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::callback::BoxFuture;
use crate::shown::Showing;
use crate::tool::{Caution, Declaration, Tool, ToolCall, ToolError};

pub use lent::{Lines, TerminalCommand, TerminalEnd, Terminals, TextFiles};
pub use limits::Limits;
pub use workspace::Workspace;

pub(crate) use run::DEFAULT_PATH;

pub(crate) use offer::{Workshop, offer};

use arguments::Arguments;
use background::{Cancelled, in_background};
use workspace::Use;

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
            agreed: Mutex::default(),
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
    /// The calls that a person has agreed to, and the file of each.
    agreed: Mutex<VecDeque<(String, PathBuf)>>,
}

/// How many calls that were agreed to are remembered. More do not wait for their turn.
const AGREED_MAX: usize = 64;

impl FileTool {
    fn usage(&self) -> Use {
        match self.declaration.name.as_str() {
            write::NAME | edit::NAME => Use::Write,
            _ => Use::Read,
        }
    }

    /// The workspace as it is for a call.
    fn workspace_for(&self, call: ToolCall<'_>) -> Arc<Workspace> {
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut agreed = agreed.iter();
        match agreed.find(|(id, _)| id == call.id) {
            Some((_, file)) => Arc::new(self.workspace.agreed(file.clone())),
            None => Arc::clone(&self.workspace),
        }
    }
}

impl Tool for FileTool {
    fn declaration(&self) -> Cow<'_, Declaration> {
        Cow::Borrowed(&self.declaration)
    }

    fn caution(&self, call: ToolCall<'_>) -> Option<Caution> {
        let path = call.arguments.get("path")?.as_str()?;
        self.workspace.caution(path, self.usage())
    }

    fn allow(&self, call: ToolCall<'_>, agreed: &Caution) {
        let mut calls = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == AGREED_MAX {
            calls.pop_front();
        }
        calls.push_back((call.id.to_owned(), agreed.path.clone()));
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let (workspace, work) = (self.workspace_for(call), self.work);
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
            let (workspace, arguments) = (self.workspace_for(call), call.arguments.clone());
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
    use serde_json::json;

    /// What a tool is cautious about, and what comes of a call before and after a person agrees.
    #[track_caller]
    fn asked_about(scene: &scene::Scene, name: &str, arguments: &Value, reason: &str) {
        let tools = tools(scene.workspace.clone());
        let mut tools = tools.iter();
        let tool = tools.find(|tool| tool.declaration().name == name).unwrap();
        let call = |id| ToolCall {
            id,
            session_id: "session",
            name,
            arguments,
        };
        let made = |id| harn_log::block_on(tool.call(call(id)));
        assert!(matches!(made("one"), Err(ToolError::Rejected(_))));
        let caution = tool.caution(call("one")).expect("a person is asked");
        assert_eq!(caution.reason, reason);
        tool.allow(call("one"), &caution);
        assert!(made("one").is_ok(), "{:?}", made("one"));
        // For that call alone.
        assert!(matches!(made("two"), Err(ToolError::Rejected(_))));
    }

    #[test]
    fn what_is_acted_upon_is_written_only_if_a_person_agrees() {
        let scene = scene::Scene::new();
        scene.write("AGENTS.md", "a");
        scene.link("AGENTS.md", "innocent.md");
        let by_harn = "which Harn itself acts upon at its next start";
        let by_others = "which editors, shells or servers act upon by themselves";
        for (path, shown, why) in [
            ("harn.toml", "harn.toml", by_harn),
            ("./sub/../HARN.toml", "HARN.toml", by_harn),
            ("innocent.md", "AGENTS.md", by_harn),
            (
                ".harn/skills/x/SKILL.md",
                ".harn/skills/x/SKILL.md",
                by_harn,
            ),
            (".vscode/tasks.json", ".vscode/tasks.json", by_others),
            (".bashrc", ".bashrc", by_others),
        ] {
            let arguments = json!({"path": path, "content": "x"});
            asked_about(
                &scene,
                "write",
                &arguments,
                &format!("writes '{shown}', {why}"),
            );
        }
        scene.write("CLAUDE.md", "aaa");
        let arguments =
            json!({"path": "CLAUDE.md", "old_text": "a", "new_text": "aa", "replace_all": true});
        asked_about(
            &scene,
            "edit",
            &arguments,
            &format!("writes 'CLAUDE.md', {by_harn}"),
        );
        scene.says("read", json!({"path": "CLAUDE.md"}), "1\taaaaaa");
    }

    #[test]
    fn what_probably_holds_secrets_is_read_only_if_a_person_agrees() {
        let scene = scene::Scene::new();
        scene.write(".env", "KEY=needle\n");
        scene.write(".env.example", "KEY=needle\n");
        let reason = "reads '.env', which probably holds secrets";
        asked_about(&scene, "read", &json!({"path": ".env"}), reason);
        let arguments = json!({"pattern": "needle", "path": ".env"});
        asked_about(&scene, "grep", &arguments, reason);
        scene.says(
            "grep",
            json!({"pattern": "needle"}),
            ".env.example:1:KEY=needle\n\n[1 files that may hold secrets were passed over]",
        );
    }

    #[test]
    fn an_agreement_is_about_the_file_that_was_asked_about() {
        let scene = scene::Scene::new();
        scene.write("AGENTS.md", "a");
        scene.write("harn.toml", "b");
        scene.link("AGENTS.md", "link");
        let tools = tools(scene.workspace.clone());
        let arguments = json!({"path": "link", "content": "x"});
        let call = ToolCall {
            id: "one",
            session_id: "session",
            name: "write",
            arguments: &arguments,
        };
        let caution = tools[1].caution(call).expect("a person is asked");
        tools[1].allow(call, &caution);
        std::fs::remove_file(scene.root().join("link")).unwrap();
        scene.link("harn.toml", "link");
        let made = harn_log::block_on(tools[1].call(call));
        assert!(matches!(made, Err(ToolError::Rejected(_))), "{made:?}");
        assert_eq!(scene.content("harn.toml"), "b");
    }

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
