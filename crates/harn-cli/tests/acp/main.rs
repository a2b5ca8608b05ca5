//! `harn serve acp` and the editors of other people.
//!
//! The clients are the SDKs from npm and PyPI and the command line client `acpx`, as `cargo xtask
//! peers` installs them. The model is scripted. Everything the agent says is written down and held
//! against the schema that the npm package ships.

mod acpx;
mod bare;
mod crash;
mod host;
mod network;
mod sdk;
mod stage;
