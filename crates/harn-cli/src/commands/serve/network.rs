//! Serves on the network until somebody asks us to stop.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use harn_acp::{Network, Server};
use harn_listen::Policy;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::output::{Output, Untrusted};

/// Serves clients on the network; ends, in good order, with the first signal.
///
/// # Errors
/// Why nothing was served, for a person.
pub(super) fn serve(
    server: &Arc<Server>,
    policy: Policy,
    network: Network,
    clock: Clock,
    output: &mut Output,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let is_insecure = policy.credentials.is_empty() && policy.insecure_no_auth;
    let opening = policy.open(Arc::new(move || clock.now_ms()));
    let listener = runtime
        .block_on(opening)
        .map_err(|error| error.to_string())?;
    let stop = signalled().map_err(|error| error.to_string())?;
    let base = listener.url().trim_end_matches('/');
    let token = listener.token_query().unwrap_or_default();
    let address = writeln!(output, "listening on {base}{}{token}", network.path);
    address.map_err(|error| error.to_string())?;
    if let Some(file) = listener.token_file() {
        output.note(format_args!(
            "note: the token in the address is also in {}, for as long as it listens",
            Untrusted(file.display())
        ));
    }
    if let Some(fingerprint) = listener.certificate_fingerprint() {
        output.note(format_args!(
            "note: the certificate has the fingerprint {fingerprint}"
        ));
    }
    if is_insecure {
        output.note(format_args!(
            "warning: everybody who can reach this address may use the agent"
        ));
    }
    output.flush().map_err(|error| error.to_string())?;
    let stop = async {
        // Nobody but the signals can end it.
        let _ = stop.await;
    };
    let counted = runtime.block_on(server.listen(listener, network, stop));
    runtime.shutdown_background();
    for (name, count) in counted.iter().filter(|(_, count)| *count > 0) {
        output.note(format_args!("{name}: {count}"));
    }
    Ok(())
}

/// Resolves with the first signal. A second one does not wait.
fn signalled() -> io::Result<oneshot::Receiver<()>> {
    let (stop, stopped) = oneshot::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let thread = thread::Builder::new().name("harn-signals".to_owned());
    thread.spawn(move || {
        let mut stop = Some(stop);
        for signal in signals.forever() {
            match stop.take() {
                Some(stop) => {
                    let _it_may_be_over = stop.send(());
                }
                None => std::process::exit(128 + signal),
            }
        }
    })?;
    Ok(stopped)
}
