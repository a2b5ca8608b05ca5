//! Agents as an embedder has them, from outside the crate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod barriers;
mod interrupted_sessions;
mod outside_feedback;
mod prepared_loops;
mod skill_matching;
mod stored_sessions;
mod two_tools;
