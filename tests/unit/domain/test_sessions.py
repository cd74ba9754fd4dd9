"""Session ids: every form, nothing else, and trust that nobody can claim (AG-16)."""

import uuid

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from werkbank.domain.errors import InvalidInput, TooLarge
from werkbank.domain.sessions import MAX_DEPTH, WORKSPACE, Session, parse_session, sub_session

UUIDS = st.uuids().map(str)
TRUSTED = st.one_of(
    st.just("workspace"),
    st.from_regex(r"teams:[!-~]{1,250}", fullmatch=True),
    st.from_regex(r"slack:[A-Z0-9]{1,32}(:[0-9]{1,16}\.[0-9]{1,10})?", fullmatch=True),
)
TRIGGERS = st.one_of(st.just("email_trigger"), UUIDS.map("event_{}".format))
PARENTS = st.one_of(TRUSTED, TRIGGERS).map(parse_session)


@given(TRUSTED)
def test_chats_are_trusted(text: str) -> None:
    assert parse_session(text) == Session(text, trusted=True)


@given(TRIGGERS)
def test_triggers_are_not_and_cannot_be(text: str) -> None:
    assert parse_session(text) == Session(text, trusted=False)
    with pytest.raises(InvalidInput):
        Session(text, trusted=True)


@given(PARENTS, UUIDS)
def test_helpers_inherit_trust_down_to_a_depth(parent: Session, run_id: str) -> None:
    session = parent
    for depth in range(1, MAX_DEPTH + 1):
        session = sub_session(session, run_id)
        assert session == Session(f"sub-{depth}-{run_id}", trusted=parent.trusted)
        assert session.depth == depth
    with pytest.raises(TooLarge):
        sub_session(session, run_id)


@given(UUIDS, st.integers(1, MAX_DEPTH))
def test_no_text_makes_a_sub_session(run_id: str, depth: int) -> None:
    with pytest.raises(InvalidInput):
        parse_session(f"sub-{depth}-{run_id}")


@st.composite
def nearly(draw: st.DrawFn) -> str:
    """A session id with something put in."""
    text = draw(st.one_of(TRUSTED, TRIGGERS))
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.text(max_size=3)) + text[at:]


@given(st.one_of(st.text(max_size=60), nearly()))
def test_hostile_text_is_refused_or_one_of_the_forms(text: str) -> None:
    try:
        session = parse_session(text)
    except InvalidInput:
        return
    assert session.id == text
    assert text.isascii()
    assert text.isprintable()
    assert len(text) <= 256
    assert session.trusted != text.startswith(("email_trigger", "event_"))


@pytest.mark.parametrize(
    "text",
    [
        "", "Workspace", "workspace ", "workspace\n", " workspace", "workspace:1", "teams:", "teams:a b", "teams:a\n",
        "slack:", "slack:c024", "slack:C024:", "slack:C024:12", "slack:C024:1.2:3", "slack:C024:١.٢", "email_trigger:1",
        "EMAIL_TRIGGER", "event_", "event_1", f"event_{str(uuid.UUID(int=7))[:-1]}G", f"event_{uuid.UUID(int=7).hex}",
        f"sub-0-{uuid.UUID(int=7)}", f"sub-{MAX_DEPTH + 1}-{uuid.UUID(int=7)}", f"sub-01-{uuid.UUID(int=7)}", "sub-1-x",
        "discord:1", "telegram",
    ],
)  # fmt: skip
def test_no_form(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_session(text)
    with pytest.raises(InvalidInput):
        Session(text, trusted=False)


@given(st.text(max_size=40))
def test_helper_is_named_by_an_id(run_id: str) -> None:
    assume(run_id != str(uuid.UUID(int=0)))
    with pytest.raises(InvalidInput):
        sub_session(WORKSPACE, run_id)
