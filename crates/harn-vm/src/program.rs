//! A program, from its path to its outcome.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use harn_agent::llm::catalog::ProjectTrust;
use harn_agent::tool_hooks::ManifestHook;
use harn_check::modules::Workspace;
use harn_machine::{Entry, Isolate, Limits, LoadError, disassemble, inbox};

use crate::agents::manifest_hooks;
use crate::driver::{Outcome, drive_until, rest_until};
use crate::interrupt::Interrupt;
use crate::skills::Skills;
use crate::stuck::{Watch, WhenStuck};
use crate::world::{Sink, World, WorldOptions};

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// What it finds in `argv`.
    pub arguments: Vec<String>,
    /// What it finds in the world.
    pub world: WorldOptions,
    /// The folder it works in; `None`: where the process does.
    pub folder: Option<PathBuf>,
    /// Whether it has no terminal and nothing to read: it may run beside others.
    pub is_detached: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How much memory its values may take, in bytes.
    pub memory: Option<usize>,
    /// Whether it is counted how often the lines of its files run.
    pub counts_lines: bool,
    /// Which pipeline is run.
    pub entry: Entry,
    /// Stops it from another thread.
    pub interrupt: Interrupt,
    /// What is done if it does not notice that its time is over, because it waits for the
    /// system. Called on another thread; without it the program goes on until it notices.
    pub when_stuck: Option<WhenStuck>,
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
        self.load(options, sink).map(|mut loaded| loaded.run())
    }

    /// Loads it, so that it can be run.
    pub fn load(
        &mut self,
        options: &RunOptions,
        sink: Box<dyn Sink>,
    ) -> Result<LoadedProgram, LoadError> {
        let options = &options.judged();
        let models = &options.world.models;
        let (hooks, offers) = match (&models.manifest, models.trust.known()) {
            (Some(manifest), ProjectTrust::Trusted) => manifest_hooks(self.workspace, manifest)?,
            (Some(_), ProjectTrust::Untrusted) | (None, _) => Default::default(),
        };
        let skills = Skills::new(options);
        let mut isolate = isolate(options, sink, hooks, &skills);
        isolate.load_offering(self.workspace, self.path, &options.entry, &offers)?;
        let sources = isolate
            .loaded()
            .map(|file| PathBuf::from(&file.source.path));
        options.world.agents.sources.add(sources);
        skills.discover_for(&mut isolate, options, self.path);
        Ok(LoadedProgram {
            isolate,
            trust: models.trust.known(),
            timeout: options.timeout,
            interrupt: options.interrupt.clone(),
            when_stuck: options.when_stuck.clone(),
        })
    }
}

/// An isolate as the options want it, with nothing to run.
pub(crate) fn isolate(
    options: &RunOptions,
    sink: Box<dyn Sink>,
    hooks: Vec<ManifestHook>,
    skills: &Skills,
) -> Isolate {
    let (outside, inbox) = inbox();
    options.interrupt.attach(outside.clone());
    let mut world = World::new(options.world.clone(), sink, outside)
        .with_hooks(hooks)
        .with_skills(skills.clone())
        .with_memory(options.memory)
        .until(options.interrupt.clone());
    if let Some(folder) = &options.folder {
        world = world.in_folder(folder.clone());
    }
    if options.is_detached {
        world = world.detached();
    }
    let limits = Limits {
        memory: options.memory,
    };
    let registry = Rc::new(crate::registry());
    let mut isolate = Isolate::new(registry, Box::new(world), inbox, &limits);
    isolate.set_arguments(options.arguments.iter().cloned());
    crate::mcp::predefine(&mut isolate, &options.world.agents.servers);
    if options.counts_lines {
        isolate.count_lines();
    }
    isolate
}

/// A program that is loaded.
pub struct LoadedProgram {
    isolate: Isolate,
    /// Whether what came with its project may act.
    trust: ProjectTrust,
    timeout: Option<Duration>,
    interrupt: Interrupt,
    when_stuck: Option<WhenStuck>,
}

impl LoadedProgram {
    /// Runs it to its end.
    pub fn run(&mut self) -> Outcome {
        let _armed = match (self.timeout, &self.when_stuck) {
            (Some(timeout), Some(when_stuck)) => Watch::begin(timeout, when_stuck),
            _ => None,
        };
        drive_until(&mut self.isolate, self.timeout, &self.interrupt)
    }

    /// Whether what came with its project may act.
    pub fn project_trust(&self) -> ProjectTrust {
        self.trust
    }

    /// Binds a parameter of its pipeline to a text, for the next time it runs. A name that the
    /// program does not know is left out.
    pub fn set_parameter(&mut self, name: &str, text: &str) {
        self.isolate.bind_parameter(name, text.into());
    }

    /// Lets what the program has left running go on, until there is something else to do.
    /// Whoever raises or [nudges](Interrupt::nudge) its interrupt has that looked at.
    pub fn rest_until(&mut self, is_over: &dyn Fn() -> bool) {
        rest_until(&mut self.isolate, is_over);
    }

    /// Runs its pipeline once more, without loading anything again. `None` if it has none.
    pub fn run_again(&mut self) -> Option<Outcome> {
        self.isolate.enter_again().then(|| self.run())
    }

    /// The instructions of each file, by path, before it has run. What a file imports comes
    /// before it.
    pub fn disassemble(&self) -> Vec<(String, String)> {
        let files = self.isolate.loaded();
        let files = files.map(|file| (file.source.path.clone(), disassemble(file)));
        files.collect()
    }

    /// How often the lines of each file have run, by path, if they were counted.
    pub fn counted_lines(&self) -> Vec<(String, BTreeMap<u32, u64>)> {
        let counted = self.isolate.covered().filter_map(|source| {
            let lines = source.coverage.as_ref()?.lines();
            Some((source.path.clone(), lines))
        });
        counted.collect()
    }
}
