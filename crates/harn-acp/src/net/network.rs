//! What can be set about the network.

use std::time::Duration;

use crate::frames::Limits;

/// Deeper than this the parser gives up by itself.
const PARSER_DEPTH_MAX: usize = 120;

/// How an agent is served on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The path of the endpoint.
    pub path: String,
    /// Connections at a time, of either kind.
    pub(crate) connections_max: usize,
    /// The same, of one caller.
    pub(crate) caller_connections_max: usize,
    /// Sessions of one HTTP connection that have a stream of their own.
    pub(crate) streams_max: usize,
    /// How long an HTTP connection may be without a stream and a request.
    pub(crate) idle: Duration,
    /// How often web sockets are pinged.
    pub(crate) ping_every: Duration,
    /// How long a web socket has to answer a ping.
    pub(crate) pong_within: Duration,
    /// The limits of frames.
    pub(crate) frames: Limits,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            path: "/acp".to_owned(),
            connections_max: 256,
            caller_connections_max: 64,
            streams_max: 256,
            idle: Duration::from_secs(30),
            ping_every: Duration::from_secs(30),
            pong_within: Duration::from_secs(10),
            frames: Limits::default(),
        }
    }
}

impl Network {
    /// The limits that can be set by name.
    pub const NAMES: [&str; 11] = [
        "frame_in_bytes",
        "frame_out_bytes",
        "depth",
        "requests",
        "waiting_frames",
        "waiting_bytes",
        "backlog_frames",
        "backlog_bytes",
        "acp_connections",
        "acp_caller_connections",
        "acp_streams",
    ];

    /// Sets a limit by its name; `false` if there is none of that name.
    pub fn set(&mut self, name: &str, value: u32) -> bool {
        let value = usize::try_from(value).unwrap_or(usize::MAX);
        let Some(limit) = self.named(name) else {
            return false;
        };
        *limit = match name {
            "depth" => value.min(PARSER_DEPTH_MAX),
            _ => value,
        };
        true
    }

    /// All limits that can be set, by name.
    pub fn limits(mut self) -> Vec<(&'static str, u64)> {
        let names = Self::NAMES.into_iter();
        let all = names.filter_map(|name| Some((name, *self.named(name)? as u64)));
        all.collect()
    }

    fn named(&mut self, name: &str) -> Option<&mut usize> {
        let frames = &mut self.frames;
        Some(match name {
            "frame_in_bytes" => &mut frames.frame_in_bytes_max,
            "frame_out_bytes" => &mut frames.frame_out_bytes_max,
            "depth" => &mut frames.depth_max,
            "requests" => &mut frames.requests_max,
            "waiting_frames" => &mut frames.waiting_frames_max,
            "waiting_bytes" => &mut frames.waiting_bytes_max,
            "backlog_frames" => &mut frames.backlog_frames_max,
            "backlog_bytes" => &mut frames.backlog_bytes_max,
            "acp_connections" => &mut self.connections_max,
            "acp_caller_connections" => &mut self.caller_connections_max,
            "acp_streams" => &mut self.streams_max,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_can_be_set_by_its_name() {
        for name in Network::NAMES {
            let mut network = Network::default();
            assert!(network.set(name, 7), "{name}");
            assert!(network.limits().contains(&(name, 7)), "{name}");
        }
        assert!(!Network::default().set("none", 1));
    }
}
