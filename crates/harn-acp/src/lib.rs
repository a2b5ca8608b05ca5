//! Harn as an agent that editors plug in.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "sessions are connected to it next")
)]
mod client;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "connections are made of it next")
)]
mod error;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "connections are made of it next")
)]
mod peer;
