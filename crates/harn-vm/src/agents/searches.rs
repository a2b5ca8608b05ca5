//! What programs look for in the background.
//!
//! One thread works on what was begun, in order. When the loop of a session ends, what it has
//! begun is skipped; when the program ends, so is everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use harn_agent::Operation;
use harn_stdlib::{Sighted, Sought};
use serde_json::{Value, json};

use crate::files::Files;

/// What goes on in the background. The queue has no bound of its own: each entry is an answer
/// that a tool has already given, and a model gives a few of them in a turn.
#[derive(Default)]
pub(super) struct Searches {
    sender: Option<Sender<Search>>,
    is_over: Arc<AtomicBool>,
}

/// Something to look for.
pub(super) struct Search {
    pub(super) operation: Operation,
    pub(super) sought: Sought,
    pub(super) files: Files,
}

impl Searches {
    /// Begins one. Without a thread to work on it, it reports that it was given up.
    pub(super) fn begin(&mut self, search: Search) {
        if self.sender.is_none() {
            self.sender = start(&self.is_over);
        }
        if let Some(sender) = &self.sender {
            // Whoever does not take it drops it, which reports as well.
            let _ = sender.send(search);
        }
    }
}

impl Drop for Searches {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

fn start(is_over: &Arc<AtomicBool>) -> Option<Sender<Search>> {
    let (sender, searches) = mpsc::channel();
    let is_over = Arc::clone(is_over);
    let thread = thread::Builder::new().name("harn-searches".to_owned());
    let started = thread.spawn(move || work(&searches, &is_over));
    started.is_ok().then_some(sender)
}

/// Works until nobody can begin anything.
fn work(searches: &Receiver<Search>, is_over: &AtomicBool) {
    while let Ok(search) = searches.recv() {
        let Search {
            operation,
            sought,
            files,
        } = search;
        let is_wanted = || !operation.is_cancelled() && !is_over.load(Ordering::Acquire);
        let mut perform = |request: &harn_machine::FileRequest| files.perform(request);
        let outcome = match is_wanted() {
            true => sought.look(&mut perform, &is_wanted),
            false => Err("cancelled".to_owned()),
        };
        operation.complete(outcome.map(told));
    }
}

/// What the model is told, as the builtins give it.
fn told(sighted: Sighted) -> Value {
    match sighted {
        Sighted::Paths(paths) => json!(paths),
        Sighted::Entries(entries) => {
            let entries = entries.into_iter().map(|one| {
                json!({
                    "depth": one.depth,
                    "is_dir": one.is_folder,
                    "is_file": one.is_file,
                    "path": one.path,
                })
            });
            entries.collect()
        }
    }
}
