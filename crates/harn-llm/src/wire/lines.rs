//! One JSON value per line: bytes become frames.
