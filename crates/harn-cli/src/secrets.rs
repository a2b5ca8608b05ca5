//! What this process is told in confidence, and how it keeps that.
//!
//! ```text
//! start ─► nobody can look into the process ─► keys leave its environment
//!      └─► first text that leaves ─► variables and files of credentials are read ─► known
//! ```

mod files;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use harn_events::{KnownSecret, KnownSecrets, is_secret_variable};
use harn_vm::agent::process_guard;

use crate::environment;

/// To be called first of all, while there is one thread.
pub(crate) fn guard() {
    // Where the system does not allow it, keys are still not in the environment.
    let _better_than_nothing = process_guard::close_to_other_processes();
    environment::take_secrets();
    KnownSecrets::of_process().learn_from(Box::new(all));
    tell_panics_without_secrets();
}

/// The message of a panic may hold whatever a function was given.
fn tell_panics_without_secrets() {
    std::panic::set_hook(Box::new(|panicked| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        let told = format!("thread '{name}' {panicked}");
        let told = KnownSecrets::of_process().redact(&told);
        let _nobody_may_listen = writeln!(io::stderr(), "{told}");
    }));
}

/// What the environment and the files of credentials hold.
fn all() -> Vec<KnownSecret> {
    let mut secrets = of_environment();
    let home = environment::variable("HOME").map(PathBuf::from);
    if let Some(home) = home.filter(|home| home.is_absolute()) {
        secrets.extend(files::of_home(&home));
    }
    secrets.extend(files::of_root(Path::new(".")));
    secrets
}

fn of_environment() -> Vec<KnownSecret> {
    let variables = environment::all().into_iter();
    let secrets = variables.filter(|(name, value)| is_secret_variable(name, value));
    let secrets = secrets.flat_map(|(name, value)| {
        let name = format!("env {name}");
        // Lists of keys, as `HARN_API_KEYS` has them, are secrets one by one.
        let items = value
            .split([',', ';', ' ', '\n'])
            .filter(|item| *item != value);
        let items = items.chain(files::password_of_url(&value));
        let mut all: Vec<_> = items.map(|item| KnownSecret::found(&name, item)).collect();
        all.push(KnownSecret::found(name, value));
        all
    });
    secrets.collect()
}
