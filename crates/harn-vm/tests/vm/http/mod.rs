//! Programs that use the network, with servers on this machine.

mod bodies;
mod cancellation;
mod connections;
mod events;
mod programs;
mod redirects;
mod server;
mod sockets;
mod streams;
mod tls;
