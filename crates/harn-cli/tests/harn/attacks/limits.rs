//! Builtins that work for long or on much, under a small limit.
