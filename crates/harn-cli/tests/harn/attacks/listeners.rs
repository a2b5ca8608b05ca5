//! Callers of listeners: without a credential, with another's, or far too many.
