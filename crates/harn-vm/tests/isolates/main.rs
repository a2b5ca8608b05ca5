//! Whole programs in isolates whose world the tests decide.

mod determinism;
mod limits;
mod world;
