"""Which addresses are the open web, however they are written (TB-07)."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.domain.errors import ToolError
from werkbank.web.addresses import is_public, resolve


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "100.127.255.255", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "224.0.0.251", "239.255.255.250", "240.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.7", "::", "::1",
        "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1",
        "ff02::1", "100::1", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "4000::1", "1::1", "e000::1", "200::1",
    ],
)  # fmt: skip
def test_inner_addresses_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1",
        "8.8.8.8",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ],
)
def test_the_open_web_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@given(st.integers(0, 2**32 - 1))
def test_wrapping_changes_nothing(number: int) -> None:
    address = IPv4Address(number)
    for prefix in (0xFFFF << 32, 0x0064_FF9B << 96):
        assert is_public(IPv6Address(prefix | number)) == is_public(address)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "localhost"])
def test_spellings_of_loopback_resolve_to_it(host: str) -> None:
    assert not any(map(is_public, resolve(host, 80)))


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 300, "x..y", "a%20b"])
def test_unknown_hosts_give_a_sentence(host: str) -> None:
    with pytest.raises(ToolError, match="There is no host"):
        resolve(host, 80)
