//! Where workers are kept and where they work.

use std::path::{Path, PathBuf};

/// Where workers are kept between runs, and where they work. Both may be relative to the folder
/// of the runtime.
#[derive(Clone, Debug)]
pub struct WorkerPlaces {
    /// One file per worker.
    pub state: PathBuf,
    /// Worktrees that nobody named a path for.
    pub worktrees: PathBuf,
}

impl Default for WorkerPlaces {
    fn default() -> Self {
        Self {
            state: PathBuf::from(".harn/workers"),
            worktrees: PathBuf::from(".harn/worktrees"),
        }
    }
}

impl WorkerPlaces {
    /// The file of a worker. An id that is no plain name has none: it must not lead elsewhere.
    pub(crate) fn snapshot(&self, id: &str) -> Option<PathBuf> {
        is_plain(id).then(|| self.state.join(format!("{id}.json")))
    }

    /// Where a worker works in a repository, if nobody says.
    pub fn worktree(&self, repository: &str, worker_id: &str) -> PathBuf {
        let name = Path::new(repository).file_name();
        let name = name.map_or_else(|| "repository".into(), |name| name.to_os_string());
        self.worktrees.join(name).join(worker_id)
    }
}

fn is_plain(id: &str) -> bool {
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet);
    !id.is_empty() && !id.starts_with('.') && id.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_have_a_file() {
        let places = WorkerPlaces::default();
        let file = places.snapshot("worker_1-a.b");
        assert_eq!(file, Some(PathBuf::from(".harn/workers/worker_1-a.b.json")));
        for id in ["", "..", ".hidden", "a/b", "../a", "a\\b", "a b"] {
            assert_eq!(places.snapshot(id), None, "{id}");
        }
        let tree = places.worktree("/home/me/project", "w");
        assert_eq!(tree, PathBuf::from(".harn/worktrees/project/w"));
    }
}
