//! Runs agents while everything around them misbehaves, and checks what is left.
//!
//! ```text
//!            ┌ model     answers, nonsense, errors before and in the middle, silence
//!            ├ tools     well, badly, slowly, too much, panics
//! seed ─────►├ readers   slow, failing, panicking, answering back
//!            ├ schedule  which session goes on, and where a run is dropped
//!            └ log       none, in memory, or on a disk that breaks
//! ```
//!
//! A seed decides all of it, so a seed that fails can be run again: time stands still unless
//! somebody sleeps, and nothing else than the seed has a say. After the wild runs, each session
//! gets a run with a good model, which has to end well. What readers saw, what the log holds
//! and what the model was asked is then checked against the promises of the architecture.

mod answer;
mod calls;
mod check;
mod children;
mod demands;
mod executor;
mod journal;
mod model;
mod plan;
mod readers;
mod session;
mod speech;
mod tools;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use harn_agent::llm::catalog::{Capabilities, Config};

use executor::Interleaved;
use plan::{LogPlan, Plan};
use world::World;

/// Simulates agents. What takes long to make is made once.
pub struct Simulation {
    /// Whether agents start agents.
    has_children: bool,
    config: Config,
    capabilities: Capabilities,
}

/// What came of a seed.
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Promises that were broken; none if all is well.
    pub problems: Vec<String>,
    /// What happened, in order, for whoever looks for the reason.
    pub story: Vec<String>,
    /// What readers saw, as JSON lines.
    pub events: Vec<String>,
    /// How often things happened, to know that they do.
    pub counts: BTreeMap<String, u64>,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            has_children: false,
            config: Config::built_in(),
            capabilities: Capabilities::default(),
        }
    }
}

impl Simulation {
    /// A simulation in which agents start agents.
    pub fn with_children() -> Self {
        Self {
            has_children: true,
            ..Self::default()
        }
    }

    /// Runs a seed.
    ///
    /// # Panics
    /// There is no memory for a thread.
    pub fn run(&self, seed: u64) -> Report {
        let time = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without files needs only memory");
        time.block_on(self.run_inside(seed))
    }

    /// Whether a seed decides everything that happens. With a log on a disk its threads have a
    /// say: a loop waits for them before a call that may change something, and what comes from
    /// outside meanwhile comes before the call or after it.
    pub fn is_decided_by(&self, seed: u64) -> bool {
        match Plan::new(seed).log {
            Some(LogPlan::Disk(_)) => false,
            Some(LogPlan::Memory) | None => true,
        }
    }

    async fn run_inside(&self, seed: u64) -> Report {
        let plan = Plan {
            has_children: self.has_children,
            ..Plan::new(seed)
        };
        let world = World::new(seed, &plan, &self.config, &self.capabilities);
        let scripts = session::scripts(&world, &plan);
        if plan.log.is_some() {
            // Threads of the log have a say in who goes on, so there is only one who can.
            for script in scripts {
                script.await;
            }
        } else {
            Interleaved::new(scripts, world.random()).await;
        }
        world.calm_down();
        children::end_all(&world).await;
        session::run_well(&world, &plan).await;
        journal::check(&world, &plan).await;
        session::close_all(&world, &plan).await;
        check::check(&world, &plan);
        world.report(seed)
    }
}

/// What the parts of a simulation share.
type Shared = Arc<World>;
