//! What the log holds is what happened.

use harn_agent::session::{SessionState, session_records};
use harn_agent::session_events;

use super::Shared;
use super::plan::Plan;

/// How often a log may fail that nobody disturbs any more.
const SYNC_TRIES_MAX: usize = 8;

/// Compares what is kept with what is.
pub(super) async fn check(world: &Shared, plan: &Plan) {
    let Some(log) = &world.log else {
        return;
    };
    let runtime = world.runtime();
    world.tell(|| format!("the log was {:?}", plan.log));
    if let Some(keeper) = runtime.keeper() {
        // A disk that has begun to fail for a while goes on until the while is over.
        let mut tries = 0;
        while let Err(error) = keeper.sync().await {
            tries += 1;
            if tries > SYNC_TRIES_MAX {
                world.complain(format!("the log does not recover: {error}"));
                return;
            }
        }
    }
    for session in &plan.sessions {
        let id = &*session.id;
        let Some(live) = runtime.session(id) else {
            world.complain(format!("{id} has gone"));
            continue;
        };
        let records = match session_records(&**log, id).await {
            Ok(records) => records,
            Err(error) => {
                world.complain(format!("the journal of {id} cannot be read: {error}"));
                continue;
            }
        };
        let indexes = records.iter().map(|record| record.index);
        if !indexes.eq(0..records.len() as u64) {
            world.complain(format!("the journal of {id} has gaps"));
        }
        let mut folded = SessionState::default();
        for record in records {
            folded.apply(record.change);
        }
        let live = live.read(SessionState::clone);
        if folded != live {
            let at = difference(&folded, &live);
            world.complain(format!("the journal of {id} gives another state: {at}"));
        }
        check_events(world, log, id).await;
    }
}

fn difference(folded: &SessionState, live: &SessionState) -> String {
    let [folded, live] =
        [folded, live].map(|state| serde_json::to_value(state).unwrap_or_default());
    let keys = live.as_object().into_iter().flatten();
    let mut differing = keys.filter(|(key, value)| folded[key.as_str()] != **value);
    match differing.next() {
        Some((key, value)) => format!("{key} is {value}, and was kept as {}", folded[key.as_str()]),
        None => "they look the same".to_owned(),
    }
}

/// The stored events are those that were seen.
async fn check_events(world: &Shared, log: &harn_log::AnyEventLog, id: &str) {
    let stored = match session_events(log, id).await {
        Ok(stored) => stored,
        Err(error) => {
            world.complain(format!("the events of {id} cannot be read: {error}"));
            return;
        }
    };
    let seen = world.seen.seen();
    let seen = seen.iter().filter(|seen| seen.event.session_id() == id);
    let seen: Vec<_> = seen.map(|seen| &seen.event).collect();
    // A sink that could not ask where its session ends has dropped what came meanwhile, and
    // says so. It also says how many snapshots of growing arguments it has left out.
    let health = world.runtime().bus().session_health(id);
    let durable = health.and_then(|health| health.durable);
    let (dropped, skipped) = durable.map_or((0, 0), |durable| (durable.dropped, durable.skipped));
    if stored.len() as u64 + dropped + skipped != seen.len() as u64 {
        let (stored, seen) = (stored.len(), seen.len());
        world.complain(format!(
            "{stored} events of {id} are stored, {dropped} were dropped, {skipped} were left out, \
             {seen} were seen"
        ));
    }
}
