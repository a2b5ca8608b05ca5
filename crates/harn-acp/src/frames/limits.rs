//! How much a peer may send, and how much may lie waiting for it.

/// The limits of one connection. Each has a default, and a counter of how often it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of one frame from the peer. A larger one is refused without being kept.
    pub(crate) frame_in_bytes_max: usize,
    /// Bytes of one frame to the peer.
    pub(crate) frame_out_bytes_max: usize,
    /// How deep objects and lists of a frame may nest.
    pub(crate) depth_max: usize,
    /// Requests of the peer that are not answered yet. Those beyond are refused as overload.
    pub(crate) requests_max: usize,
    /// Frames that may wait for the peer before updates are held back.
    pub(crate) waiting_frames_max: usize,
    /// Bytes that may wait for the peer before updates are held back.
    pub(crate) waiting_bytes_max: usize,
    /// Frames that may wait in all. A peer that lets more lie is cut off.
    pub(crate) backlog_frames_max: usize,
    /// Bytes that may wait in all. A peer that lets more lie is cut off.
    pub(crate) backlog_bytes_max: usize,
}

const MIB: usize = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_in_bytes_max: 16 * MIB,
            frame_out_bytes_max: 64 * MIB,
            // serde_json gives up at 128 by itself, with an error that names no reason.
            depth_max: 100,
            requests_max: 1024,
            waiting_frames_max: 1024,
            waiting_bytes_max: 8 * MIB,
            backlog_frames_max: 8192,
            // Room for a few of the largest frames.
            backlog_bytes_max: 256 * MIB,
        }
    }
}
