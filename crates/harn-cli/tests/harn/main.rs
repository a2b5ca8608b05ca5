//! Runs the real program and looks at what a person or a script would see.
//!
//! What is expected follows from the help pages and the log format, never from
//! an earlier run.

mod agents;
mod attacks;
mod chat;
mod check;
mod coding_tools;
mod completions;
mod crashes;
mod event_log;
mod examples;
mod help;
mod hitl;
mod killed;
mod language;
mod live;
mod log_file;
mod mcp;
mod models;
mod owners;
mod program;
mod pseudo_terminal;
mod serve;
mod sessions;
mod skills;
mod streams;
mod tmux;
mod types;
mod unwritable_log;
