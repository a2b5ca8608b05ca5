//! What a person is shown before a call is approved, and what "always" means.
