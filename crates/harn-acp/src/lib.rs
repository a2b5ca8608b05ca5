//! Harn as an agent that editors plug in.
