"""How property tests are run."""

from hypothesis import settings


def test_examples_may_take_as_long_as_a_busy_machine_needs() -> None:
    assert settings().deadline is None
