//! Hears when another process has appended, so that nobody has to ask again and again.

use std::sync::{Mutex, PoisonError};

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::LogError;
use crate::log::Result;

use super::store::Watched;

/// Watches the files of a log once somebody follows it.
pub(super) struct Watch {
    state: Mutex<State>,
}

enum State {
    /// Nobody has followed the log yet.
    Idle(Watched),
    /// The system tells us of changes.
    Watching { _watcher: RecommendedWatcher },
}

impl Watch {
    pub(super) fn new(watched: Watched) -> Self {
        Self {
            state: Mutex::new(State::Idle(watched)),
        }
    }

    /// From now on `hear` is called with the name of every file that changes.
    pub(super) fn follow(&self, hear: impl Fn(&str) + Send + 'static) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Idle(watched) = &*state {
            let watcher = watch(watched, hear).map_err(LogError::Watch)?;
            *state = State::Watching { _watcher: watcher };
        }
        Ok(())
    }
}

fn watch(
    watched: &Watched,
    hear: impl Fn(&str) + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    let hear = move |event: notify::Result<Event>| match event {
        Ok(event) if !is_change(&event.kind) => {}
        Ok(event) if !event.need_rescan() => {
            let names = event.paths.iter().filter_map(|path| path.file_name());
            names.filter_map(|name| name.to_str()).for_each(&hear);
        }
        // Something was missed; no name stands for all of them.
        Ok(_) | Err(_) => hear(""),
    };
    let mut watcher = notify::recommended_watcher(hear)?;
    watcher.watch(&watched.folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Reading changes nothing, and if it did count, readers would wake themselves for ever.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Modify(ModifyKind::Metadata(_)) | EventKind::Access(_) => false,
        EventKind::Modify(_)
        | EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Any
        | EventKind::Other => true,
    }
}
