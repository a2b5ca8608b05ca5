//! Who answers instead of a provider: the mock, a recording or a scenario.

use std::time::Duration;

use super::{Desk, State};
use crate::exchange::Listener;
use crate::options::CallOptions;
use crate::reply::Collector;
use crate::scenario::{Piece, Scenario};
use crate::{Error, Reply};

/// A scenario that answers every call.
#[derive(Clone, Debug)]
pub struct Staged {
    /// What is answered.
    pub scenario: Scenario,
    /// Whether it takes as long as a real model would.
    pub in_real_time: bool,
}

impl State {
    /// Whether the mock answers. Its default answer is for those who have no scenario.
    pub(super) fn is_mocked(&self, provider: &str) -> bool {
        match self.staged {
            Some(_) => self.mock.is_scripted(),
            None => self.mock.intercepts(provider),
        }
    }

    /// Whether no provider is asked, whoever is meant.
    pub(super) fn is_scripted(&self) -> bool {
        self.mock.is_scripted() || self.recording.replays() || self.staged.is_some()
    }

    /// Whether whoever answers wants to be waited for.
    pub(super) fn is_patient(&self, provider: &str) -> bool {
        let in_real_time = self
            .staged
            .as_ref()
            .is_none_or(|staged| staged.in_real_time);
        in_real_time && !self.is_mocked(provider)
    }
}

impl Desk {
    /// What the scenario answers, if there is one.
    pub(super) async fn play(
        &self,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Option<Result<Reply, Error>> {
        let (pieces, in_real_time) = {
            let state = &mut *self.state();
            let staged = state.staged.as_mut()?;
            (staged.scenario.next(&call.request), staged.in_real_time)
        };
        Some(match pieces {
            Ok(pieces) => perform(pieces, in_real_time, listener).await,
            Err(error) => Err(error),
        })
    }
}

async fn perform(
    pieces: Vec<Piece>,
    in_real_time: bool,
    listener: &mut Listener<'_>,
) -> Result<Reply, Error> {
    let mut collector = Collector::default();
    for Piece { pause_ms, event } in pieces {
        if in_real_time && pause_ms > 0 {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        }
        let event = event?;
        listener(&event);
        collector.push(event);
    }
    Ok(collector.finish())
}
