//! A program, from its path to its outcome.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use harn_check::modules::Workspace;
use harn_machine::{Entry, Isolate, Limits, LoadError, inbox};

use crate::driver::{Outcome, drive};
use crate::world::{Sink, World, WorldOptions};

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// What it finds in `argv`.
    pub arguments: Vec<String>,
    /// What it finds in the world.
    pub world: WorldOptions,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How much memory its values may take, in bytes.
    pub memory: Option<usize>,
    /// Which pipeline is run.
    pub entry: Entry,
}

/// A program that can be run.
pub struct Program<'a> {
    workspace: &'a mut Workspace,
    path: &'a Path,
}

impl<'a> Program<'a> {
    /// A program that starts with a file.
    pub fn new(workspace: &'a mut Workspace, path: &'a Path) -> Self {
        Self { workspace, path }
    }

    /// Runs it to its end.
    pub fn run(&mut self, options: &RunOptions, sink: Box<dyn Sink>) -> Result<Outcome, LoadError> {
        let (outside, inbox) = inbox();
        let world = World::new(options.world.clone(), sink, outside);
        let limits = Limits {
            memory: options.memory,
        };
        let registry = Rc::new(harn_stdlib::registry());
        let mut isolate = Isolate::new(registry, Box::new(world), inbox, &limits);
        isolate.set_arguments(options.arguments.iter().cloned());
        isolate.load(self.workspace, self.path, &options.entry)?;
        Ok(drive(&mut isolate, options.timeout))
    }
}
