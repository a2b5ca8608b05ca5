//! Long conversations over the network, and the handles that programs hold of connections and
//! servers of every kind.

pub(crate) mod client;
pub(crate) mod handles;
pub(crate) mod server;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    client::register(registry);
    server::register(registry);
}
