//! What the parts of a simulation share, and the runtime that is put to the test.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_agent::llm::catalog::{Capabilities, Config};
use harn_agent::llm::desk::{Desk, Ports, Recording, Setup};
use harn_agent::llm::mock::Mock;
use harn_agent::llm::transport::Transport;
use harn_agent::{Runtime, RuntimeOptions};
use harn_log::{AnyEventLog, FileEventLog, FileOptions, MemoryEventLog};
use tokio::time::Instant;

use super::model::SimModel;
use super::plan::{LogPlan, Plan};
use super::readers::{Host, Recorder, WildHook};
use super::{Report, Shared};
use crate::disk::SimDisk;
use crate::random::Random;

/// The time at which every simulation begins.
const BEGINNING_MS: i64 = 1_700_000_000_000;

/// What the parts of a simulation share.
pub(super) struct World {
    random: Mutex<Random>,
    story: Mutex<Vec<String>>,
    problems: Mutex<Vec<String>>,
    counts: Mutex<BTreeMap<String, u64>>,
    /// How often somebody has waited.
    waits: AtomicU64,
    is_calm: AtomicBool,
    runtime: Mutex<Option<Arc<Runtime>>>,
    /// What was seen of all sessions.
    pub(super) seen: Arc<Recorder>,
    /// What was seen of each session alone.
    pub(super) seen_apart: Mutex<BTreeMap<String, Arc<Recorder>>>,
    /// The sessions whose end was told to hooks, in order.
    pub(super) ends: Arc<Mutex<Vec<String>>>,
    /// The sessions of the runs that began.
    pub(super) begun: Mutex<Vec<String>>,
    /// Whether agents start agents, and the sessions of those that were started.
    pub(super) has_children: bool,
    pub(super) children: Mutex<Vec<String>>,
    pub(super) log: Option<Arc<AnyEventLog>>,
    pub(super) disk: Option<Arc<SimDisk>>,
}

impl World {
    pub(super) fn new(
        seed: u64,
        plan: &Plan,
        config: &Config,
        capabilities: &Capabilities,
    ) -> Shared {
        let (log, disk) = open_log(seed, plan);
        let world = Arc::new(Self {
            random: Mutex::new(Random::new(seed)),
            story: Mutex::default(),
            problems: Mutex::default(),
            counts: Mutex::default(),
            waits: AtomicU64::new(0),
            is_calm: AtomicBool::new(false),
            runtime: Mutex::default(),
            seen: Arc::default(),
            seen_apart: Mutex::default(),
            ends: Arc::default(),
            begun: Mutex::default(),
            has_children: plan.has_children,
            children: Mutex::default(),
            log,
            disk,
        });
        let runtime = make_runtime(&world, plan, config, capabilities);
        let ends = Arc::clone(&world.ends);
        let hook = move |session_id: &str| lock(&ends).push(session_id.to_owned());
        runtime.bus().register_session_end_hook(Arc::new(hook));
        *lock(&world.runtime) = Some(runtime);
        world
    }

    /// The runtime that is put to the test.
    pub(super) fn runtime(&self) -> Arc<Runtime> {
        let runtime = lock(&self.runtime);
        Arc::clone(runtime.as_ref().expect("it was made with the world"))
    }

    /// A source of chance of one's own.
    pub(super) fn random(&self) -> Random {
        Random::new(lock(&self.random).number())
    }

    /// Decides something by chance.
    pub(super) fn choose<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        choose(&mut lock(&self.random))
    }

    /// Whether that happens which happens so many times in a hundred. Nothing wild does
    /// once the world is calm.
    pub(super) fn wild(&self, chance: u64) -> bool {
        !self.is_calm() && self.choose(|random| random.percent(chance))
    }

    /// From now on everybody behaves.
    pub(super) fn calm_down(&self) {
        self.is_calm.store(true, Ordering::SeqCst);
        self.tell(|| "--- calm ---".to_owned());
        if let Some(disk) = &self.disk {
            disk.heal();
        }
    }

    pub(super) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::SeqCst)
    }

    /// Adds to the story.
    pub(super) fn tell(&self, words: impl FnOnce() -> String) {
        lock(&self.story).push(words());
    }

    /// A promise was broken.
    pub(super) fn complain(&self, problem: impl Into<String>) {
        let problem = problem.into();
        self.tell(|| format!("PROBLEM {problem}"));
        lock(&self.problems).push(problem);
    }

    /// Counts something that happened.
    pub(super) fn count(&self, what: impl Into<String>) {
        *lock(&self.counts).entry(what.into()).or_default() += 1;
    }

    /// Somebody waits: a run may be dropped here.
    pub(super) async fn pause(&self) {
        self.waits.fetch_add(1, Ordering::SeqCst);
        let millis = self.choose(|random| match random.percent(30) {
            true => random.between(1, 90),
            false => 0,
        });
        match millis {
            0 => super::executor::step_aside().await,
            millis => tokio::time::sleep(std::time::Duration::from_millis(millis)).await,
        }
    }

    /// How often somebody has waited.
    pub(super) fn waits(&self) -> u64 {
        self.waits.load(Ordering::SeqCst)
    }

    /// What came of it.
    pub(super) fn report(&self, seed: u64) -> Report {
        // The runtime knows parts that know the world.
        *lock(&self.runtime) = None;
        Report {
            seed,
            problems: lock(&self.problems).clone(),
            story: lock(&self.story).clone(),
            events: self.seen.lines(),
            counts: lock(&self.counts).clone(),
        }
    }
}

/// A lock that a panic of somebody else does not take away.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Log = (Option<Arc<AnyEventLog>>, Option<Arc<SimDisk>>);

fn open_log(seed: u64, plan: &Plan) -> Log {
    match &plan.log {
        None => (None, None),
        Some(LogPlan::Memory) => {
            let log = AnyEventLog::Memory(MemoryEventLog::new(64));
            (Some(Arc::new(log)), None)
        }
        Some(LogPlan::Disk(faults)) => {
            let disk = Arc::new(SimDisk::new(seed));
            let log = FileEventLog::open_on(
                Arc::clone(&disk) as Arc<_>,
                "/state/events",
                FileOptions::default(),
            );
            let log = log.expect("nothing has gone wrong yet");
            let begun = disk.operations();
            for fault in faults {
                let at = begun + fault.at;
                disk.plan(crate::Fault { at, ..*fault });
            }
            (Some(Arc::new(AnyEventLog::File(log))), Some(disk))
        }
    }
}

fn make_runtime(
    world: &Shared,
    plan: &Plan,
    config: &Config,
    capabilities: &Capabilities,
) -> Arc<Runtime> {
    let began = Instant::now();
    let now = move || {
        let since = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        BEGINNING_MS + since
    };
    let ids = AtomicU64::new(0);
    let new_id = move || format!("id-{}", ids.fetch_add(1, Ordering::SeqCst));
    let chance = Mutex::new(world.random());
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let environment = keys.map(|name| (name.to_owned(), "sim".to_owned()));
    let model: Arc<dyn Transport> = Arc::new(SimModel::new(Arc::downgrade(world)));
    let desk = Desk::new(Setup {
        environment: environment.into(),
        config: config.clone(),
        capabilities: capabilities.clone(),
        mock: Mock::default(),
        transport: model,
        ports: Ports {
            now: Arc::new(now),
            chance: Arc::new(move || lock(&chance).below(1000) as f64 / 1000.0),
            new_id: Arc::new(new_id),
            schema_errors: Arc::new(|_, _| Vec::new()),
            warn: Arc::new(|_| {}),
        },
        recording: Recording::default(),
        staged: None,
    });
    let seen = Arc::clone(&world.seen);
    let hook = WildHook(Arc::downgrade(world));
    let host = Host(Arc::downgrade(world));
    Runtime::new(
        Arc::new(desk),
        RuntimeOptions {
            log: world.log.clone(),
            bridge: plan.has_host.then(|| Arc::new(host) as _),
            folder: PathBuf::from("/nowhere"),
            hooks: match plan.has_hooks {
                true => vec![Arc::new(hook)],
                false => Vec::new(),
            },
            observer: Some(seen),
            ..RuntimeOptions::default()
        },
    )
}
