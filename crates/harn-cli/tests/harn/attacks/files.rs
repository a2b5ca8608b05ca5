//! Paths that must not be read or written, by whatever builtin or tool.
