//! Programs and what they are compiled to.
