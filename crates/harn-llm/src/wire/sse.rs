//! Server-sent events: bytes become frames.
