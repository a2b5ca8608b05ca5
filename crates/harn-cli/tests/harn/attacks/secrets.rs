//! Secrets, and everywhere they must not be found.
