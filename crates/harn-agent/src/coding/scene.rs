//! A workspace in a scratch folder, for tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Limits, Workspace, tools};
use crate::shown::{Showing, Shown};
use crate::tool::{ToolCall, ToolError};

/// A workspace that is gone when the test is over.
pub(super) struct Scene {
    pub(super) workspace: Workspace,
    _folder: tempfile::TempDir,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self::with_limits(|_| {})
    }

    pub(super) fn with_limits(change: impl FnOnce(&mut Limits)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Inside of the scratch folder, so that what is beside the workspace is gone as well.
        let root = folder.path().join("workspace");
        fs::create_dir(&root).unwrap();
        let mut workspace = Workspace::new([root]).unwrap();
        change(&mut workspace.limits);
        Self {
            workspace,
            _folder: folder,
        }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.workspace.roots()[0].clone()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(super) fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.root().join(path)).unwrap();
    }

    /// Everything in the workspace, to see that nothing is left behind.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(super) fn call(&self, name: &str, arguments: Value) -> Result<String, ToolError> {
        let tools = tools(self.workspace.clone());
        let tool = tools.iter().find(|tool| tool.declaration().name == name);
        let call = ToolCall {
            id: "call-1",
            session_id: "session",
            name,
            arguments: &arguments,
        };
        harn_log::block_on(tool.expect("there is such a tool").call(call))
    }

    /// What a call shows besides its text.
    pub(super) fn shows(&self, name: &str, arguments: Value) -> Vec<Shown> {
        let tools = tools(self.workspace.clone());
        let tool = tools.iter().find(|tool| tool.declaration().name == name);
        let call = ToolCall {
            id: "call-1",
            session_id: "session",
            name,
            arguments: &arguments,
        };
        let showing = Showing::default();
        let tool = tool.expect("there is such a tool");
        let _refused_or_not = harn_log::block_on(tool.call_showing(call, &showing));
        showing.all()
    }

    #[track_caller]
    pub(super) fn says(&self, name: &str, arguments: Value, expected: &str) {
        assert_eq!(self.call(name, arguments).as_deref(), Ok(expected));
    }

    #[track_caller]
    pub(super) fn fails(&self, name: &str, arguments: Value, expected: &str) {
        let expected = ToolError::Failed(expected.to_owned());
        assert_eq!(self.call(name, arguments), Err(expected));
    }

    #[track_caller]
    pub(super) fn rejects(&self, name: &str, arguments: Value) {
        let result = self.call(name, arguments);
        assert!(matches!(result, Err(ToolError::Rejected(_))), "{result:?}");
    }
}
