//! The policy, where the agent runtime reaches out on behalf of a program.

use std::path::{Path, PathBuf};

use harn_agent::Fence;
use harn_agent::real_path::resolve;

use super::{Access, Policy, Refusal};

/// The policy of a run, for its agents.
pub(crate) struct AgentFence {
    pub(crate) policy: Policy,
    /// Where programs are looked for.
    pub(crate) path: Option<String>,
}

impl AgentFence {
    fn check(&self, access: Access, path: &Path) -> Result<(), String> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from("/").join(path));
        let real = resolve(&absolute).map_or(absolute, |real| real.path);
        said(self.policy.check_path(access, &real, path))
    }
}

impl Fence for AgentFence {
    fn read(&self, path: &Path) -> Result<(), String> {
        self.check(Access::Read, path)
    }

    fn write(&self, path: &Path) -> Result<(), String> {
        self.check(Access::Write, path)
    }

    fn run(&self, program: &str) -> Result<(), String> {
        let path = self.path.as_deref();
        said(
            self.policy
                .check_program(program, Path::new("/"), path)
                .map(drop),
        )
    }

    fn reach(&self, url: &str) -> Result<(), String> {
        said(self.policy.check_url(url))
    }
}

fn said(checked: Result<(), Refusal>) -> Result<(), String> {
    checked.map_err(|refusal| format!("sandbox violation: the agent runtime {refusal}"))
}
