//! Secrets of the environment, taken out of it.
//!
//! ```text
//! block of the environment ──► variables with secrets ──► our memory
//!        └─ overwritten: `/proc/PID/environ` and what a child inherits have them no more
//! ```
//!
//! What is started for an agent can read the environment of the process that started it, and
//! inherits it where somebody forgets to say otherwise. So keys do not stay there. Whoever may
//! have them asks [`super`], which has them still.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use harn_events::is_secret_variable;

static WITHHELD: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// The variables that were taken out.
pub(super) fn variables() -> Option<&'static BTreeMap<String, String>> {
    WITHHELD.get()
}

/// Takes the secrets out of the environment.
///
/// To be called while there is no other thread: who reads the environment meanwhile would read
/// what is being overwritten.
pub(crate) fn take_secrets() {
    let variables = super::of_process();
    let secrets = variables.into_iter();
    let secrets: BTreeMap<String, String> = secrets
        .filter(|(name, value)| !value.is_empty() && is_secret_variable(name, value))
        .collect();
    secrets.keys().for_each(|name| take(name));
    let _they_are_taken_once = WITHHELD.set(secrets);
}

#[expect(
    unsafe_code,
    reason = "nothing else reaches the memory that the system shows to others"
)]
mod block {
    use super::{CStr, c_char};

    unsafe extern "C" {
        static environ: *mut *mut c_char;
    }

    /// Overwrites the value of a variable and removes it.
    pub(super) fn take(name: &str) {
        // SAFETY: `environ` is null, or an array of strings that ends with a null pointer; the
        // strings end with a zero byte and may be written to, as `putenv` allows it. There is one
        // thread, so nobody else reads or changes them now.
        unsafe {
            let mut entry = environ;
            while !entry.is_null() && !(*entry).is_null() {
                let bytes = CStr::from_ptr(*entry).to_bytes();
                let value = bytes.strip_prefix(name.as_bytes());
                if let Some([b'=', value @ ..]) = value {
                    let (start, length) = (bytes.len() - value.len(), value.len());
                    (*entry).add(start).write_bytes(0, length);
                }
                entry = entry.add(1);
            }
            std::env::remove_var(name);
        }
    }
}

use block::take;
