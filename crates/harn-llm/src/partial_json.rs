//! Reads JSON that is still being written.
