//! Which addresses only this machine can reach.

use std::net::IpAddr;

/// Whether only programs on this machine can connect to the address.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_what_never_leaves_the_machine() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.8.9.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.168.1.2", false),
            ("::ffff:10.0.0.1", false),
            ("169.254.1.1", false),
        ] {
            assert_eq!(is_loopback(address.parse().unwrap()), expected, "{address}");
        }
    }
}
