"""A provider's server, for all tests of adapters."""

from collections.abc import Iterator

import pytest

from tests.bench.wire_server import WireServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server
