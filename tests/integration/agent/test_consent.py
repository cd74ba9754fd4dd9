"""Calls that need consent: asked once, decided once, never run without it (AG-24, TB-01)."""

from dataclasses import dataclass, field

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.conftest import new_member
from werkbank.agent.consent import Consent
from werkbank.agent.round import Step
from werkbank.database.connection import Database
from werkbank.domain.errors import Conflict, NotFound
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.sessions import WORKSPACE, Session, parse_session
from werkbank.domain.trace import NOT_ALLOWED
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool

SEND = ToolCall(id="s", name="sendMail", arguments='{"to": "anna@example.org"}')


@dataclass
class Waker:
    """Stands where the state machine waits."""

    woken: list[str] = field(default_factory=list)

    def wake(self, task_token: str) -> None:
        self.woken.append(task_token)


class Desk:
    """A run whose model wants to send a mail, and the mails that were sent."""

    def __init__(
        self, database: Database, principal: Principal, call: ToolCall = SEND, origin: Session = WORKSPACE
    ) -> None:
        self.sent: list[str] = []

        @tool(needs_confirmation=True)
        def send_mail(context: ToolContext, to: str) -> str:
            """Send a mail."""
            self.sent.append(to)
            return "sent"

        self.harness = Harness(database, [[call], ["Done."]], Registry([send_mail]))
        self.waker = Waker()
        self.consent = Consent(database, self.waker)
        self.ref: RunRef = self.harness.start(principal, origin=origin)
        self.step: Step = self.harness.rounds.run(self.ref, 1, 30)

    def ask(self, token: str = "token-1") -> None:
        self.harness.tools.ask_consent(self.ref, 1, "s", token)

    def run(self) -> str:
        self.harness.run_tools(self.ref, self.step)
        (result,) = (event for event in self.harness.events(self.ref) if event.type == "toolResult")
        return str(result.data["summary"])


@pytest.fixture
def desk(database: Database, principal: Principal) -> Desk:
    return Desk(database, principal)


def test_round_says_which_calls_wait(desk: Desk) -> None:
    assert (desk.step.batches, desk.step.confirm) == ((("s",),), frozenset({"s"}))


def test_nothing_runs_without_consent_whatever_the_loop_does(desk: Desk) -> None:
    assert desk.run() == NOT_ALLOWED
    assert desk.sent == []


def test_allowed_call_runs(desk: Desk, principal: Principal) -> None:
    desk.ask()
    (waiting,) = desk.consent.waiting(principal)
    assert (waiting.name, waiting.arguments, waiting.title) == ("sendMail", SEND.arguments, "What is in my files?")
    assert "token-1" not in waiting.model_dump_json()
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=True)
    assert desk.waker.woken == ["token-1"]
    assert desk.consent.waiting(principal) == ()
    assert desk.run() == "sent"
    assert desk.sent == ["anna@example.org"]


def test_long_arguments_are_told_in_part_and_listed_whole(database: Database, principal: Principal) -> None:
    # nobody should allow what they cannot read
    long = SEND.model_copy(update={"arguments": f'{{"to": "{"a" * 5_000}@example.org"}}'})
    asked = {}
    for call in (SEND, long):
        desk = Desk(database, principal, call)
        desk.ask()
        (event,) = (event for event in desk.harness.events(desk.ref) if event.type == "confirmation")
        asked[desk.ref.run_id] = event.data["truncated"], len(str(event.data["arguments"]))
    listed = {waiting.run_id: waiting.arguments for waiting in desk.consent.waiting(principal)}
    assert list(asked.values()) == [(False, len(SEND.arguments)), (True, 2_000)]
    assert list(listed.values()) == [SEND.arguments, long.arguments]
    assert list(listed) == list(asked)


@pytest.mark.parametrize("origin", [WORKSPACE, parse_session("slack:C01"), parse_session("email_trigger")])
def test_user_is_told_whose_words_ask(database: Database, principal: Principal, origin: Session) -> None:
    # AG-16: who writes a mail could word the call that its reader is to allow
    desk = Desk(database, principal, origin=origin)
    desk.ask()
    (event,) = (event for event in desk.harness.events(desk.ref) if event.type == "confirmation")
    (waiting,) = desk.consent.waiting(principal)
    assert (event.data["sessionId"], event.data["trusted"]) == (origin.id, origin.trusted)
    assert (waiting.session_id, waiting.trusted) == (origin.id, origin.trusted)


def test_declined_call_does_not_run_and_the_run_goes_on(desk: Desk, principal: Principal) -> None:
    desk.ask()
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=False)
    assert desk.run() == NOT_ALLOWED
    desk.harness.drive(desk.ref)
    assert desk.harness.events(desk.ref)[-1].data["status"] == "completed"
    assert desk.sent == []


def test_user_is_asked_once_and_the_latest_token_counts(desk: Desk, principal: Principal) -> None:
    desk.ask("token-1")
    desk.ask("token-2")
    assert [event.type for event in desk.harness.events(desk.ref)].count("confirmation") == 1
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=True)
    assert desk.waker.woken == ["token-2"]


def test_state_that_asks_again_after_the_decision_goes_on_at_once(desk: Desk, principal: Principal) -> None:
    desk.ask("token-1")
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=True)
    with pytest.raises(Conflict):
        desk.ask("token-2")


def test_word_that_was_given_is_not_taken_back_but_may_be_repeated(desk: Desk, principal: Principal) -> None:
    desk.ask()
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=False)
    desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=False)  # the first wake-up may have been lost
    assert desk.waker.woken == ["token-1", "token-1"]
    with pytest.raises(NotFound):
        desk.consent.decide(principal, desk.ref.run_id, 1, "s", approved=True)


def test_stranger_can_neither_see_nor_decide(desk: Desk, database: Database, principal: Principal) -> None:
    desk.ask()
    stranger = new_member(database, principal.mandate_id, "admin")
    assert desk.consent.waiting(stranger) == ()
    with pytest.raises(NotFound):
        desk.consent.decide(stranger, desk.ref.run_id, 1, "s", approved=True)
