//! Makes agents that nobody runs.

use std::hint::black_box;

use harn_bench::{Effort, Goal, Table, time, versus};

use crate::peer::Peer;
use crate::{kept_by, ours};

/// An agent with one tool: what it is called, told and able to do. Like the peer's, it shares
/// the model with others; unlike the peer's, it has a tool of its own.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let count = effort.operations(10_000);
    let mut peer = Peer::start("agno", None)?;
    let samples = versus(
        effort,
        count,
        |count| {
            time(|| {
                for _ in 0..count {
                    black_box(ours::agent(ours::add()));
                }
            })
        },
        |count| peer.time(count),
    );
    table.times(
        "create an agent with one tool",
        "Agno",
        &samples,
        Goal::SpeedAtLeast(3.0),
    );
    let theirs = Peer::start("agno_memory", None)?.ask(count) as usize / count;
    let (ours, agents) = kept_by(|| {
        let mut agents = Vec::with_capacity(count);
        agents.extend((0..count).map(|_| ours::agent(ours::add())));
        agents
    });
    let ours = ours / agents.len();
    table.row(
        "an agent with one tool: memory",
        "Agno",
        &format!("{ours} B"),
        &format!("{theirs} B"),
        &format!("{:.0} %", ours as f64 / theirs as f64 * 100.0),
        "< 100 %",
        ours < theirs,
    );
    Ok(())
}
