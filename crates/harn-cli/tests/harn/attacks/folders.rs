//! Folders that somebody else has made, and what starts when one works in them.

mod keys;
mod listener;
mod skill_variables;
mod trust;
