//! Servers of tools that change what was approved, or send too much.
