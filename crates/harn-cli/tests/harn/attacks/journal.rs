//! Journals that cannot be written, and journals that were altered.
