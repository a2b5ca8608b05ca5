//! Which addresses a stranger may send us to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anybody can reach it, so being sent there gives nothing away.
    Public,
    /// This machine.
    Loopback,
    /// A network that is not everybody's: private, shared by a carrier, or unique-local.
    Private,
    /// Where no server of a user is: link-local, which is where clouds hand out the
    /// credentials of a machine, and what is no address of one machine at all.
    Closed,
}

/// IPv6 addresses of cloud metadata services; those of IPv4 are link-local or listed below.
const METADATA_V6: [Ipv6Addr; 2] = [
    // Amazon.
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254),
    // Google.
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254),
];

/// Metadata services that live at addresses of other kinds.
const METADATA_V4: [Ipv4Addr; 2] = [
    // Alibaba, in the range that carriers share.
    Ipv4Addr::new(100, 100, 100, 200),
    // Azure's WireServer, which is public by its number.
    Ipv4Addr::new(168, 63, 129, 16),
];

impl Place {
    pub(super) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => match inside(address) {
                Some(address) => Self::of_v4(address),
                None => Self::of_v6(address),
            },
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [first, second, third, _] = address.octets();
        match (first, second, third) {
            _ if METADATA_V4.contains(&address) => Self::Closed,
            (127, _, _) => Self::Loopback,
            _ if address.is_private() => Self::Private,
            (100, 64..=127, _) => Self::Private,
            // "This" network, link-local, protocol assignments, benchmarks, documentation,
            // multicast, reserved and broadcast.
            (0, _, _) | (169, 254, _) | (192, 0, 0) | (198, 18 | 19, _) | (224.., _, _) => {
                Self::Closed
            }
            _ if address.is_documentation() => Self::Closed,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let segments = address.segments();
        match segments[0] {
            _ if METADATA_V6.contains(&address) => Self::Closed,
            _ if address.is_loopback() => Self::Loopback,
            0xfc00..=0xfdff => Self::Private,
            // Only 2000::/3 is given to anybody; of it, Teredo hides an IPv4 address that
            // cannot be seen, and 2001:db8::/32 is for documentation.
            0x2001 if matches!(segments[1], 0 | 0x0db8) => Self::Closed,
            0x2000..=0x3fff => Self::Public,
            _ => Self::Closed,
        }
    }
}

/// The IPv4 address that packets to an IPv6 address end up at: mapped, compatible, translated
/// by NAT64, or 6to4.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(joined(high, low))
        }
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], expected: Place) {
        for address in addresses {
            assert_eq!(Place::of(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn public_addresses_are_open() {
        check(
            &[
                "93.184.216.34",
                "1.1.1.1",
                "2606:4700::1111",
                "64:ff9b::5db8:d822",
            ],
            Place::Public,
        );
    }

    #[test]
    fn this_machine_is_recognised_in_every_disguise() {
        check(
            &[
                "127.0.0.1",
                "127.8.8.8",
                "::1",
                "::ffff:127.0.0.1",
                "::127.0.0.1",
                "2002:7f00:1::",
                "64:ff9b::7f00:1",
            ],
            Place::Loopback,
        );
    }

    #[test]
    fn networks_of_somebody_are_private() {
        check(
            &[
                "10.0.0.9",
                "172.16.0.1",
                "192.168.1.1",
                "100.64.0.1",
                "fd00::1",
                "fc00::1",
                "::ffff:10.0.0.1",
                "64:ff9b::a00:9",
            ],
            Place::Private,
        );
    }

    #[test]
    fn metadata_services_and_odd_ranges_are_closed() {
        check(
            &[
                "169.254.169.254",
                "169.254.170.2",
                "::ffff:169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "2002:a9fe:a9fe::",
                "fd00:ec2::254",
                "fd20:ce::254",
                "100.100.100.200",
                "168.63.129.16",
                "fe80::1",
                "0.0.0.0",
                "::",
                "255.255.255.255",
                "224.0.0.1",
                "ff02::1",
                "198.18.0.1",
                "192.0.2.1",
                "2001:db8::1",
                "2001:0:4136:e378::1",
                "64:ff9b:1::a9fe:a9fe",
                "fec0::1",
            ],
            Place::Closed,
        );
    }
}
