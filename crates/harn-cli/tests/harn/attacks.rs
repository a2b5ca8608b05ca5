//! Attacks that once came through a door that stood open, each with the result
//! "held". The book's page about what Harn protects from names them one by one.

mod approvals;
mod commands;
mod files;
mod folders;
mod frames;
mod journal;
mod limits;
mod listeners;
mod rules;
mod secrets;
mod servers;
