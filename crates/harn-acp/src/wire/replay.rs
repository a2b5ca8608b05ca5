//! What a session has said so far.

use harn_vm::agent::Subscription;

use super::{Mapping, Outgoing, Profile};

/// Says what a session has said after an index, or all of it, and gives the mapping back: it has
/// seen everything up to here, and live records go through it from now on.
///
/// The subscription must begin with the first record, also where only what follows an index is
/// wanted: what a record says depends on those before it.
///
/// `is_running` says whether somebody works in the session. Where nobody does, calls that a
/// process has left open are ended here; nobody else would do it.
///
/// `say` may take its time: the client perhaps reads slowly.
pub(crate) async fn replay<F: Future<Output = ()>>(
    subscription: &mut Subscription,
    mut mapping: Mapping,
    profile: &Profile,
    after: Option<u64>,
    is_running: bool,
    mut say: impl FnMut(Outgoing) -> F,
) -> Mapping {
    while let Some(seen) = subscription.next_replayed().await {
        let said = mapping.of(&seen, profile);
        if Some(seen.index) > after {
            for outgoing in said {
                say(outgoing).await;
            }
        }
    }
    if !is_running {
        for outgoing in mapping.settle(true) {
            say(outgoing).await;
        }
    }
    mapping
}
