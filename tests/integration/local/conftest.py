"""One twin of the small fixture system for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.local.socket_api import SocketLimits
from infra.local.stack import LocalStack

FIXTURE = Path(__file__).parent / "fixture" / "template.yaml"


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    with LocalStack(
        FIXTURE,
        tmp_path_factory.mktemp("twin"),
        environment={
            "ANTHROPIC_API_KEY": "a-key",
            "WERKBANK_PRIVATE_LLM_URL": "http://127.0.0.1:1/v1",
            "WERKBANK_PRIVATE_LLM_TOOLS": "false",
        },
        socket_limits=SocketLimits(idle_seconds=3.0, lifetime_seconds=7200.0),
        retry_seconds=(0.1, 0.1),
    ) as stack:
        yield stack


@pytest.fixture(scope="session")
def page(twin: LocalStack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=twin.url, timeout=30) as client:
        yield client
