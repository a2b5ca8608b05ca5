//! How models that have no channel for calls write them in text.
