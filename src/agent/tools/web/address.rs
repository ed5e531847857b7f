//! Tells the public Internet from this machine and its networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is on the public Internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_reserved = match (a, b) {
        (0 | 10 | 127 | 224.., _) | (169, 254) | (192, 168) | (198, 18 | 19) => true,
        (100, b) => (64..128).contains(&b),
        (172, b) => (16..32).contains(&b),
        // Protocol assignments, and addresses for documentation.
        (192, 0) => matches!(c, 0 | 2),
        (198, 51) => c == 100,
        (203, 0) => c == 113,
        _ => false,
    };
    !is_reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Translated addresses lead to those inside them.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, and addresses for documentation.
        [0x2001, 0 | 0xdb8, ..] => false,
        // Only these are given out.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_count() {
        for (public, addresses) in [
            (
                true,
                "1.1.1.1 93.184.216.34 172.32.0.1 100.128.0.1 192.0.1.1 223.255.255.255",
            ),
            (
                true,
                "2606:4700::1111 2a00:1450::1 64:ff9b::101:101 2002:101:101::1 ::ffff:1.1.1.1",
            ),
            (
                false,
                "0.0.0.0 127.0.0.1 127.9.9.9 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1",
            ),
            (
                false,
                "169.254.169.254 100.64.0.1 192.0.0.8 198.18.0.1 224.0.0.1 255.255.255.255",
            ),
            (
                false,
                ":: ::1 fe80::1 fec0::1 fc00::1 fd12::1 ff02::1 2001:db8::1 2001::1 ::ffff:127.0.0.1",
            ),
            (
                false,
                "64:ff9b::a00:1 2002:7f00:1::1 ::7f00:1 ::ffff:169.254.169.254 64:ff9b:1::a00:1",
            ),
        ] {
            for address in addresses.split(' ') {
                assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
            }
        }
    }
}
