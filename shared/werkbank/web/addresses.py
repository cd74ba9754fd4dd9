"""Which addresses are the open web. The rest is ours, our cloud's or our neighbours': a model must not reach it.

Checked on what a name resolves to, so the spelling of a host (decimal, octal, hexadecimal, mapped) does not matter.
https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry
"""

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from werkbank.domain.errors import ToolError

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[Address]]

# Not left to `is_global` alone, whose tables differ between Python versions.
# 168.63.129.16 is a public address behind which Azure keeps the services of a machine.
_NETWORKS = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "2001::/23", "2001:db8::/32", "3fff::/20",
)  # fmt: skip
_NOT_PUBLIC = tuple(map(ip_network, _NETWORKS))
_GLOBAL_UNICAST = ip_network(
    "2000::/3"
)  # all of IPv6 that is given out; https://www.iana.org/assignments/ipv6-address-space
_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Tell whether an address belongs to the open web, also when it only wraps an IPv4 address."""
    wrapped = _wrapped(address)
    if wrapped is not None:
        return is_public(wrapped)
    if address.version == 6 and address not in _GLOBAL_UNICAST:
        return False
    listed = any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    return address.is_global and not address.is_multicast and not listed


def _wrapped(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to: mapped, 6to4, NAT64 (RFC 4291, 3056, 6052)."""
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def resolve(host: str, port: int) -> list[Address]:
    """Ask the system's resolver. Raises ToolError when there is no such host."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"There is no host “{host[:100]}”. Check the address.") from error
    # A link-local address may carry its interface: fe80::1%eth0.
    return list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))
