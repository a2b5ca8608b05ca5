//! What callers of a listener may name, besides what is their own.
//!
//! A client at our standard input has started us and could do without us whatever it lets us do.
//! A caller of a listener could not: it works below the folders that the operator has named, and
//! has no processes started but those of the program, unless the operator says so.

use std::path::{Path, PathBuf};

use harn_vm::agent::real_path;
use harn_vm::agent::tool_servers::{Endpoint, ServerConfig};
use harn_vm::agent::{Principal, PrincipalKind};
use serde_json::json;

use crate::error::Refusal;

/// How the client at our standard input comes.
pub(crate) const STDIO: &str = "stdio";

/// What callers of a listener may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The folders below which they may work. None: nowhere.
    pub roots: Vec<PathBuf>,
    /// The names of the keys whose callers may have tool servers started.
    pub control: Vec<String>,
}

impl Access {
    /// Whether somebody may work in a folder.
    ///
    /// # Errors
    /// It is below none of the roots. Whether it exists is not said.
    pub(crate) fn check_folder(&self, who: &Principal, folder: &Path) -> Result<(), Refusal> {
        let real = real_path::resolve(folder);
        let is_below = |root: &PathBuf| {
            let root = real_path::resolve(root);
            let both = real.as_ref().zip(root);
            both.is_some_and(|(real, root)| real.path.starts_with(root.path))
        };
        if is_at_stdio(who) || self.roots.iter().any(is_below) {
            return Ok(());
        }
        let why = "this folder is outside of those that callers of the listener may work in";
        let data = json!({"reason": "outside_roots", "path": folder});
        Err(Refusal::not_allowed(why).with(data))
    }

    /// Whether somebody may lend these servers to a session.
    ///
    /// # Errors
    /// One of them is a process, and they may start none.
    pub(crate) fn check_servers(
        &self,
        who: &Principal,
        servers: &[ServerConfig],
    ) -> Result<(), Refusal> {
        let is_process = |server: &&ServerConfig| matches!(server.endpoint, Endpoint::Stdio(_));
        match servers.iter().find(is_process) {
            Some(process) if !self.has_control(who) => {
                let why = "callers of the listener may not have MCP servers started";
                let data = json!({"reason": "not_allowed", "server": process.name});
                Err(Refusal::not_allowed(why).with(data))
            }
            _ => Ok(()),
        }
    }

    fn has_control(&self, who: &Principal) -> bool {
        let is_named = who.kind == PrincipalKind::Key && self.control.contains(&who.id);
        is_at_stdio(who) || is_named
    }
}

fn is_at_stdio(who: &Principal) -> bool {
    who.is_operator() && who.via == STDIO
}

#[cfg(test)]
mod tests {
    use harn_vm::agent::tool_servers::{HttpEndpoint, StdioEndpoint};

    use super::*;

    fn ci() -> Principal {
        Principal::new(PrincipalKind::Key, "ci", "key")
    }

    #[test]
    fn a_caller_works_below_the_roots_whatever_links_say() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        for folder in ["project/src", "project-2"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        std::os::unix::fs::symlink(path("project-2"), path("project/link")).unwrap();
        let access = Access {
            roots: vec![path("project")],
            ..Access::default()
        };
        for (folder, is_allowed) in [
            ("project", true),
            ("project/src", true),
            ("project/none", true),
            ("project-2", false),
            ("project/link", false),
            ("project/../project-2", false),
            ("none", false),
            ("", false),
        ] {
            let checked = access.check_folder(&ci(), &path(folder));
            assert_eq!(checked.is_ok(), is_allowed, "{folder}");
        }
        let anywhere = access.check_folder(&Principal::operator(STDIO), &path("none"));
        assert!(anywhere.is_ok());
        let by_token = access.check_folder(&Principal::operator("token"), &path("none"));
        assert_eq!(
            by_token.unwrap_err().data.unwrap()["reason"],
            "outside_roots"
        );
    }

    #[test]
    fn processes_are_started_for_those_with_control_alone() {
        let stdio = Endpoint::Stdio(StdioEndpoint {
            command: "/bin/a".to_owned(),
            arguments: Vec::new(),
            environment: Default::default(),
            folder: None,
        });
        let process = [ServerConfig::new("a", stdio)];
        let web = [ServerConfig::new(
            "b",
            Endpoint::Http(HttpEndpoint::default()),
        )];
        let access = Access {
            control: vec!["cd".to_owned()],
            ..Access::default()
        };
        let cd = Principal::new(PrincipalKind::Key, "cd", "key");
        let claimed = Principal::new(PrincipalKind::Claim, "cd", "claims");
        assert!(access.check_servers(&ci(), &web).is_ok());
        assert!(access.check_servers(&cd, &process).is_ok());
        assert!(
            access
                .check_servers(&Principal::operator(STDIO), &process)
                .is_ok()
        );
        for who in [ci(), claimed, Principal::operator("token")] {
            let refusal = access.check_servers(&who, &process).unwrap_err();
            assert_eq!(
                (refusal.code, refusal.data.unwrap()["reason"].clone()),
                (-32603, json!("not_allowed"))
            );
        }
    }
}
