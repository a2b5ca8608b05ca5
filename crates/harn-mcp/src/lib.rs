//! Tool servers for agents.
