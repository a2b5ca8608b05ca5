//! `harn run --bridge`: a host at the standard input and output.

use std::io;
use std::sync::Arc;

use harn_acp::{Bridge, BridgeOptions};
use harn_log::{AnyEventLog, DEFAULT_QUEUE_DEPTH, MemoryEventLog};
use harn_vm::RunOptions;
use tokio::fs::File;

use crate::commands::serve::take_streams;

/// Waits for the host to say what it can do, and lets the program use it. From then on the
/// standard streams are the host's: what the program prints goes to standard error.
///
/// # Errors
/// The host has gone before it said anything, or it cannot be served.
pub(super) fn attach(options: &mut RunOptions) -> io::Result<Option<Bridge>> {
    let opened = options
        .world
        .event_log
        .keep
        .as_ref()
        .and_then(|open| open());
    let in_memory = || {
        Arc::new(AnyEventLog::Memory(MemoryEventLog::new(
            DEFAULT_QUEUE_DEPTH,
        )))
    };
    let log = opened.unwrap_or_else(in_memory);
    let (input, output) = take_streams()?;
    let bridge = Bridge::start(
        File::from_std(input),
        File::from_std(output),
        BridgeOptions {
            log: Arc::clone(&log),
            roots: vec![std::path::absolute(".")?],
            now: Arc::new(harn_vm::now_ms),
        },
    )?;
    if !bridge.wait() {
        let why = "it has closed the connection before `initialize`";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
    }
    options.is_detached = true;
    options.world.agents.bridge = Some(bridge.host());
    options.world.event_log.open = Some(Arc::new(move || Some(Arc::clone(&log))));
    Ok(Some(bridge))
}
