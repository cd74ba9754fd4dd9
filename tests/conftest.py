"""One scripted system for all tests that use the whole of it: starting it takes longer than most of them."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from infra.local.client import Client
from infra.local.stack import LocalStack
from tests.stack import Script, scripted_stack

# A time limit for examples would be an assertion on timings.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def script() -> Script:
    return Script()


@pytest.fixture(scope="session")
def stack(script: Script) -> Iterator[LocalStack]:
    with scripted_stack(script) as stack:
        yield stack


@pytest.fixture(scope="session")
def client(stack: LocalStack) -> Client:
    client = Client(stack.url, zone="Europe/Zurich")
    client.sign_in()
    return client
