//! How many updates a second reach a client.

use std::process::Command;

use harn_bench::{Effort, Goal, Samples, Table, process};

use crate::flood;
use crate::stage::{self, Stage};

const UPDATES: usize = 20_000;

const ROUNDS: usize = 7;

/// Our speed is at least this share of what the library takes in.
const GOAL: f64 = 0.8;

pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let (count, rounds) = match effort {
        Effort::Full => (UPDATES, ROUNDS),
        Effort::Smoke => (100, 1),
    };
    let stage = Stage::thinking(count)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(per_update(&stage, &stage.ours()?, count)?);
        let mut flood = Command::new(std::env::current_exe().map_err(|why| why.to_string())?);
        flood.args(flood::arguments(count));
        theirs.push(per_update(&stage, &flood, count)?);
    }
    table.times(
        "an update through the TypeScript SDK",
        "the same frames from memory",
        &(Samples::of(ours), Samples::of(theirs)),
        Goal::SpeedAtLeast(GOAL),
    );
    Ok(())
}

/// Nanoseconds for each update.
fn per_update(stage: &Stage, agent: &Command, count: usize) -> Result<f64, String> {
    let mut client = Command::new("node");
    client.arg(stage::source("count.mjs"));
    client.arg(agent.get_program()).args(agent.get_args());
    client.current_dir(stage.folder());
    client.env("HARN_BENCH_PACKAGES", stage::peers()?.join("acp"));
    let run = process::run(client)?;
    let mut numbers = run.output.split(' ').map(str::parse::<f64>);
    let (Some(Ok(took)), Some(Ok(updates))) = (numbers.next(), numbers.next()) else {
        return Err(format!("the client printed `{}`", run.output));
    };
    if updates < count as f64 {
        return Err(format!("{updates} of {count} updates came"));
    }
    Ok(took / updates)
}
