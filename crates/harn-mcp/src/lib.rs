//! Tool servers for agents.

pub mod fetcher;

#[cfg(test)]
mod testing;
