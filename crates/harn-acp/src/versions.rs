//! The versions of what is spoken here.

/// The Agent Client Protocol. Whoever asks for another version is told this one.
pub const ACP: u64 = 1;

/// The host bridge.
pub const BRIDGE: u64 = 1;

/// The catalogue of events, as its format says.
pub const EVENT_CATALOGUE: u64 = 1;
